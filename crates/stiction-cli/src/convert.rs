//! `stiction convert`: a journal as arrays for other programs.

mod arrays;
mod csv;
mod npz;

use crate::run::plan::Plan;
use crate::{BadInput, Outcome, print};
use arrays::Arrays;
use std::fmt::Write as _;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use stiction_journal::{Journal, JournalError};

const EXAMPLES: &str = "\
Examples:
  stiction convert run.journal --to npz
  stiction convert run.journal --to csv --out table.csv
  python3 -c 'import numpy; run = numpy.load(\"run.npz\"); print(run[\"time\"], run[\"body_position\"].shape)'

Arrays are float64, samples first: time (T,), body_position (T, bodies, 3), body_quat_wxyz (T, bodies, 4), …
Contacts and joint rows stand one after another, contact_sample and joint_row_sample say at which sample.
What each is measured in, and the names of bodies and joints, are in metadata.json (in JSON: metadata).
CSV has a row per sample and leaves contacts and joint rows to files of their own beside it.";

/// Turn a journal into arrays: npz for NumPy, CSV for spreadsheets, JSON for everything else.
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
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Self::Npz => "npz",
            Self::Csv => "csv",
            Self::Json => "json",
        }
    }

    fn of(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?;
        [Self::Npz, Self::Csv, Self::Json].into_iter().find(|f| f.extension() == extension)
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    let Arguments { journal, to, out } = arguments;
    let out = out.clone().unwrap_or_else(|| journal.with_extension(to.extension()));
    let (text, whole) = write(journal, &out, Some(*to))?;
    print(&text)?;
    Ok(if whole { Outcome::Solved } else { Outcome::NotSolved })
}

/// Converts a journal, by the ending of the file unless a format is given. Returns what to say, and whether the journal
/// was whole.
pub(crate) fn write(journal: &Path, out: &Path, to: Option<Format>) -> Result<(String, bool), BadInput> {
    let said = |error: JournalError| BadInput(error.to_string());
    let mut read = Journal::open(journal).map_err(said)?;
    let plan = Plan::of_journal(journal, read.header())?;
    let mut arrays = Arrays::new(&plan);
    for step in &mut read {
        arrays.add(&step.map_err(said)?);
    }
    let arrays = arrays.finish();
    let format = to.or_else(|| Format::of(out)).unwrap_or(Format::Json);
    let mut written = vec![out.to_path_buf()];
    match format {
        Format::Npz => replace(out, |file| npz::write(&arrays, file))?,
        Format::Json => replace(out, |file| {
            serde_json::to_writer(&mut *file, &arrays.json()).map_err(std::io::Error::from)?;
            file.write_all(b"\n")
        })?,
        Format::Csv => written = csv::write(&arrays, out)?,
    }
    let mut text = String::new();
    for file in &written {
        let _ = writeln!(text, "{}", file.display());
    }
    let damage = read.damage();
    if let Some(damage) = damage {
        let _ = writeln!(text, "{}: {damage}; this is what was before it", journal.display());
    }
    let whole = damage.is_none_or(|d| d.is_torn());
    Ok((text, whole))
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
