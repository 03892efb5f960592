//! `stiction convert`: writes a journal as arrays or tables for other programs.

mod arrays;
mod csv;
mod intervals;
mod npz;
#[cfg(feature = "parquet")]
mod parquet;

use crate::run::plan::RunPlan;
use crate::{BadInput, Outcome, print};
use arrays::{Quantity, RunArrays};
use clap::ValueEnum;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use stiction::StepError;
use stiction_journal::{Damage, Journal, JournalError, StepRecord};

const EXAMPLES: &str = "\
Examples:
  stiction convert run.journal --to npz
  stiction convert run.journal --to csv --out table.csv
  stiction convert run.journal --to parquet
  python3 -c 'import numpy; run = numpy.load(\"run.npz\"); print(run[\"time\"], run[\"body_position\"].shape)'

Arrays are float64, samples first: time (T,), body_position (T, bodies, 3), body_quat_wxyz (T, bodies, 4), …
Contacts and joint rows of all samples are listed one after another: contact_sample and joint_row_sample give the
sample of each. Units, and names of bodies and joints, are in metadata.json (in JSON: metadata).
CSV has a row per sample; contacts and joint rows are in files of their own beside it.
Parquet has the same tables with typed columns: numbers, counts, and names of bodies, joints and modes.
Parquet is a build feature: cargo install --path crates/stiction-cli --features parquet";

/// Convert a journal to arrays: npz for NumPy, CSV for spreadsheets, Parquet for data frames, or JSON.
#[derive(clap::Args)]
#[command(after_help = crate::with_exit_codes(EXAMPLES))]
pub(crate) struct ConvertArguments {
    /// Journal
    journal: PathBuf,
    /// Format of the output
    #[arg(long, value_enum)]
    to: ExportFormat,
    /// Output file [default: the name of the journal with the ending of the format]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Format that a journal is converted to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    /// NumPy arrays in one file
    Npz,
    /// Comma-separated values
    Csv,
    /// One JSON object
    Json,
    /// Tables with typed columns (needs the build feature `parquet`)
    Parquet,
}

impl ExportFormat {
    fn extension(self) -> &'static str {
        match self {
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Parquet => "parquet",
        }
    }

    /// Format of a file, by its ending.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        Self::value_variants().iter().copied().find(|f| f.extension() == extension)
    }

    /// Checks that this program was built with the format.
    pub(crate) fn check(self) -> Result<(), BadInput> {
        if self == Self::Parquet && !cfg!(feature = "parquet") {
            let command = "cargo install --path crates/stiction-cli --locked --features parquet";
            return Err(BadInput(format!(
                "this program was built without Parquet; build it with: {command}"
            )));
        }
        Ok(())
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &ConvertArguments) -> Result<Outcome, BadInput> {
    let ConvertArguments { journal, to, out } = arguments;
    let out = out.clone().unwrap_or_else(|| journal.with_extension(to.extension()));
    let (files, damage) = write(journal, &out, Some(*to))?;
    let mut text = String::new();
    for file in &files {
        let _ = writeln!(text, "{}", file.display());
    }
    if let Some(damage) = &damage {
        let _ = writeln!(text, "{}: {damage}; the files hold the steps before it", journal.display());
    }
    print(&text)?;
    Ok(if damage.is_none_or(|d| d.is_torn()) { Outcome::Solved } else { Outcome::NotSolved })
}

/// Converts a journal to a format, by default that of the file ending. Returns the files written and the damage that
/// ended the journal early.
pub(crate) fn write(
    journal: &Path,
    out: &Path,
    to: Option<ExportFormat>,
) -> Result<(Vec<PathBuf>, Option<Damage>), BadInput> {
    let bad = |error: JournalError| BadInput(error.to_string());
    let format = to.or_else(|| ExportFormat::of(out)).unwrap_or(ExportFormat::Json);
    format.check()?;
    let mut read = Journal::open(journal).map_err(bad)?;
    let plan = RunPlan::of_journal(journal, read.header())?;
    let foreign = |error: StepError| BadInput(format!("{}: {error}", journal.display()));
    let mut arrays = RunArrays::new(&plan).map_err(foreign)?;
    for record in &mut read {
        let StepRecord { state, report, .. } = record.map_err(bad)?;
        arrays.add(&state, &report).map_err(foreign)?;
    }
    let arrays = arrays.finish();
    let mut written = vec![out.to_path_buf()];
    match format {
        ExportFormat::Npz => replace(out, |file| npz::write(&arrays, file))?,
        ExportFormat::Json => replace(out, |file| {
            serde_json::to_writer(&mut *file, &arrays.json()).map_err(std::io::Error::from)?;
            file.write_all(b"\n")
        })?,
        ExportFormat::Csv => written = tables(&arrays, out, format, csv::write)?,
        #[cfg(feature = "parquet")]
        ExportFormat::Parquet => {
            let metadata = &arrays.metadata;
            written = tables(&arrays, out, format, |table, file| parquet::write(table, metadata, file))?;
        }
        #[cfg(not(feature = "parquet"))]
        ExportFormat::Parquet => format.check()?,
    }
    Ok((written, read.damage()))
}

/// Writes one file per table: samples to `out`, contacts and joint rows beside it. Returns the files.
fn tables(
    arrays: &RunArrays,
    out: &Path,
    format: ExportFormat,
    write: impl Fn(&[Quantity], &mut BufWriter<File>) -> std::io::Result<()>,
) -> Result<Vec<PathBuf>, BadInput> {
    let mut written = Vec::new();
    for (name, table) in arrays.tables() {
        let beside = || out.with_extension(format!("{name}{}", format.extension()));
        let path = if name.is_empty() { out.to_path_buf() } else { beside() };
        // an empty table is not written, unless the file of an earlier run would stay behind
        if table.first().is_some_and(|array| array.len() > 0) || path.exists() {
            replace(&path, |file| write(table, file))?;
            written.push(path);
        }
    }
    Ok(written)
}

/// Writes a file under a temporary name and renames it, so that a reader never sees half of it.
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
        // an incomplete file is useless
        let _ = std::fs::remove_file(&part);
        BadInput::file(path, &error)
    })
}
