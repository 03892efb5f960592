//! Errors of reading and writing journals, each with its file.

use crate::frame::{Damage, FORMAT, OLDEST_FORMAT};
use std::path::{Path, PathBuf};

/// Reason why a journal could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// Error of the file system.
    #[error("{}: {error}", path.display())]
    File {
        /// File.
        path: PathBuf,
        /// Reason.
        error: std::io::Error,
    },
    /// Failed write, for example to a full disk. All records written before are complete.
    #[error("{}: {error}; the {records} records written before are complete", path.display())]
    Write {
        /// File.
        path: PathBuf,
        /// Reason.
        error: std::io::Error,
        /// Complete records in the file.
        records: u64,
    },
    /// File that does not begin with the preamble of a journal.
    #[error("{}: not a journal: it does not begin with `stiction journal`", .0.display())]
    NotAJournal(PathBuf),
    /// Format that this version of the program does not read.
    #[error("{}: a journal of format {found}; this program reads formats {OLDEST_FORMAT} to {FORMAT}", path.display())]
    Format {
        /// File.
        path: PathBuf,
        /// Format of the file.
        found: u32,
    },
    /// Format that can be read, but not appended to.
    #[error(
        "{}: a journal of format {found} can be read, verified and converted, but not resumed: records of format \
         {FORMAT} cannot follow records of format {found}; start a new journal",
        path.display()
    )]
    NotResumable {
        /// File.
        path: PathBuf,
        /// Format of the file.
        found: u32,
    },
    /// Record that differs from what was written.
    #[error("{}: {damage}", path.display())]
    Damaged {
        /// File.
        path: PathBuf,
        /// Record, and how it is damaged.
        damage: Damage,
    },
    /// Journal that another program writes.
    #[error("{}: another run writes this journal: {holder}; wait for its end, stop it, or write another file", path.display())]
    Locked {
        /// File.
        path: PathBuf,
        /// Process, host and start of the other run.
        holder: String,
    },
    /// File without a complete header and start state.
    #[error("{}: the journal is empty: the program ended before the start state was written", .0.display())]
    Empty(PathBuf),
}

impl JournalError {
    pub(crate) fn file(path: &Path, error: std::io::Error) -> Self {
        Self::File { path: path.to_path_buf(), error }
    }
}
