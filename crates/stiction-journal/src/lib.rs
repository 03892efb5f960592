//! Journals: simulation runs on disk, append-only and checksummed.
//!
//! Computes bytes from states and step reports, and states and step reports from bytes, for programs that run, resume,
//! verify or convert a simulation. A journal is a preamble of 20 bytes (`stiction journal`, then [`FORMAT`]) and
//! numbered records. Record 0 is the [`JournalHeader`], record 1 the [`State`](stiction::State) at the start, every
//! other one a [`StepRecord`]. All numbers are little-endian.
//!
//! | bytes | field |
//! |---|---|
//! | 4 | length n of the payload |
//! | 4 | CRC-32 of the number of the record (8 bytes) and of n |
//! | 4 | CRC-32 of the payload |
//! | n | payload in postcard's wire format |
//!
//! Records are only ever appended. When a run is resumed, an incomplete last record is cut off. Damage anywhere else is
//! reported with the number of its record, and nothing is cut off. A run that is resumed to another end time gets a new
//! header, and without its last step if that was a shorter one: a copy with both takes the place of the file at once.
//! While a journal is written, a file beside it, with the ending `.lock`, names the writer and keeps others out.

mod error;
mod format2;
mod format3;
mod format4;
mod format5;
mod frame;
mod lock;
mod reader;
mod record;
mod writer;

pub use error::JournalError;
pub use frame::{Damage, DamageKind, FORMAT, OLDEST_FORMAT};
pub use reader::Journal;
pub use record::{JournalHeader, StepRecord};
pub use writer::JournalWriter;
