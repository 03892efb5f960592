//! `stiction convert`: a journal as arrays for other programs.

mod arrays;
mod csv;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use crate::run::plan::Plan;
use crate::{BadInput, Outcome, print};
use arrays::{Array, Arrays};
use clap::ValueEnum;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use stiction_journal::{Damage, Journal, JournalError};

const EXAMPLES: &str = "\
Examples:
  stiction convert run.journal --to npz
  stiction convert run.journal --to csv --out table.csv
  stiction convert run.journal --to parquet
  python3 -c 'import numpy; run = numpy.load(\"run.npz\"); print(run[\"time\"], run[\"body_position\"].shape)'

Arrays are float64, samples first: time (T,), body_position (T, bodies, 3), body_quat_wxyz (T, bodies, 4), …
Contacts and joint rows stand one after another, contact_sample and joint_row_sample say at which sample.
What each is measured in, and the names of bodies and joints, are in metadata.json (in JSON: metadata).
CSV has a row per sample and leaves contacts and joint rows to files of their own beside it.
Parquet has the same tables with typed columns: numbers, counts, and names of bodies, joints and modes.
Programs are built without it unless it is asked for: cargo install --path crates/stiction-cli --features parquet";

/// Turn a journal into arrays: npz for NumPy, CSV for spreadsheets, Parquet for data frames, JSON for the rest.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct Arguments {
    /// The journal
    journal: PathBuf,
    /// What to make of it
    #[arg(long, value_enum)]
    to: Format,
    /// Where to write it; beside the journal if not said
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// What a journal is made into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Format {
    /// Arrays of NumPy in one file
    Npz,
    /// Comma-separated values
    Csv,
    /// One JSON object
    Json,
    /// Tables with typed columns, if the program was built with the feature `parquet`
    Parquet,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }

    /// The format of files with this ending.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::value_variants().iter().copied().find(|f| f.extension() == extension)
    }

    /// Whether this program can write it.
    pub(crate) fn check(self) -> Result<(), BadInput> {
        if self == Self::Parquet && !cfg!(feature = "parquet") {
            let how = "cargo install --path crates/stiction-cli --locked --features parquet";
            return Err(BadInput(format!("this program was built without Parquet; with it: {how}")));
        }
        Ok(())
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let Arguments { journal, to, out } = arguments;
    let out = out.clone().unwrap_or_else(|| journal.with_extension(to.extension()));
    let (files, damage) = write(journal, &out, Some(*to))?;
    let mut text = String::new();
    for file in &files {
        let _ = writeln!(text, "{}", file.display());
    }
    if let Some(damage) = &damage {
        let _ = writeln!(text, "{}: {damage}; this is what was before it", journal.display());
    }
    print(&text)?;
    Ok(if damage.is_none_or(|d| d.is_torn()) { Outcome::Solved } else { Outcome::NotSolved })
}

/// Converts a journal, by the ending of the file unless a format is given. Returns the files, and where the journal
/// ends before its time.
pub(crate) fn write(
    journal: &Path,
    out: &Path,
    to: Option<Format>,
) -> Result<(Vec<PathBuf>, Option<Damage>), BadInput> {
    let said = |error: JournalError| BadInput(error.to_string());
    let format = to.or_else(|| Format::of(out)).unwrap_or(Format::Json);
    format.check()?;
    let mut read = Journal::open(journal).map_err(said)?;
    let plan = Plan::of_journal(journal, read.header())?;
    let mut arrays = Arrays::new(&plan);
    for step in &mut read {
        arrays.add(&step.map_err(said)?);
    }
    let arrays = arrays.finish();
    let mut written = vec![out.to_path_buf()];
    match format {
        Format::Npz => replace(out, |file| npz::write(&arrays, file))?,
        Format::Json => replace(out, |file| {
            serde_json::to_writer(&mut *file, &arrays.json()).map_err(std::io::Error::from)?;
            file.write_all(b"\n")
        })?,
        Format::Csv => written = tables(&arrays, out, format, csv::write)?,
        #[cfg(feature = "parquet")]
        Format::Parquet => {
            let metadata = &arrays.metadata;
            written = tables(&arrays, out, format, |table, file| parquet::write(table, metadata, file))?;
        }
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => format.check()?,
    }
    Ok((written, read.damage()))
}

/// Writes a table per file, those of contacts and joint rows beside the one of samples; returns the files.
fn tables(
    arrays: &Arrays,
    out: &Path,
    format: Format,
    write: impl Fn(&[Array], &mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<Vec<PathBuf>, BadInput> {
    let mut written = Vec::new();
    for (name, table) in arrays.tables() {
        let beside = || out.with_extension(format!("{name}{}", format.extension()));
        let path = if name.is_empty() { out.to_path_buf() } else { beside() };
        // a table without rows has no file, but takes the place of another run's
        if table.first().is_some_and(|array| array.len() > 0) || path.exists() {
            replace(&path, |file| write(table, file))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Writes a file under another name first, so that there is never half of one.
fn replace(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<(), BadInput> {
    let mut part = path.as_os_str().to_owned();
    part.push(".part");
    let part = PathBuf::from(part);
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty());
    let written = folder.map_or(Ok(()), std::fs::create_dir_all).and_then(|()| {
        let mut file = BufWriter::new(File::create(&part)?);
        write(&mut file)?;
        file.flush()?;
        std::fs::rename(&part, path)
    });
    written.map_err(|error| {
        // half a file is of no use
        let _ = std::fs::remove_file(&part);
        BadInput::file(path, &error)
    })
}
