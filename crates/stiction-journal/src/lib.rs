//! Runs on disk: append-only, checksummed, readable up to the last whole record whatever happens to the program, and
//! continued bit by bit.
//!
//! A journal is a line that says what it is, then records. Record 0 is the [`Header`] with the text of the scene, record
//! 1 the [`State`](stiction::State) at the start, every other one a [`Step`], or a stretch of steps to an accuracy. All numbers are little-endian.
//!
//! | bytes | what |
//! |---|---|
//! | 4 | length n of the payload |
//! | 4 | CRC-32 of the number of the record (8 bytes) and of n |
//! | 4 | CRC-32 of the payload |
//! | n | the payload, in the wire format of postcard |
//!
//! Records are only ever added. A record that the program had no time to finish is cut off when the run goes on: its
//! end is missing. Damage anywhere else is told with its record, and nothing is cut.

mod frame;
mod reader;
mod record;
mod writer;

pub use frame::{Damage, FORMAT, Kind};
pub use reader::Journal;
pub use record::{AccuracyRun, Header, Step};
pub use writer::Writer;

use std::path::{Path, PathBuf};

/// Why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file system said no.
    #[error("{}: {error}", path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// The disk is full, or something like it. What was written before is whole.
    #[error("{}: {error}; its {records} records are whole", path.display())]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
        /// Whole records in it.
        records: u64,
    },
    /// It does not begin as a journal does.
    #[error("{}: no journal of stiction", .0.display())]
    NotAJournal(PathBuf),
    /// Made by another version of the program.
    #[error("{}: a journal of format {found}, this program reads format {FORMAT}", path.display())]
    Format {
        /// Which file.
        path: PathBuf,
        /// Its format.
        found: u32,
    },
    /// A record is not what was written.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Which record, and how.
        damage: Damage,
    },
    /// There is no header or no state at the start.
    #[error("{}: nothing was recorded before the program ended", .0.display())]
    Empty(PathBuf),
}

impl JournalError {
    fn file(path: &Path, error: std::io::Error) -> Self {
        Self::File { path: path.to_path_buf(), error }
    }
}
