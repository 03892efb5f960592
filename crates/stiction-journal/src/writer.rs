//! Writer of journals: records are appended one by one, so that a crash loses at most the record being written.

use crate::error::JournalError;
use crate::frame::{self, FORMAT};
use crate::reader::Journal;
use crate::record::{JournalHeader, StepRecord};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stiction::State;

/// Longest time between two syncs to the disk. Every record is handed to the operating system at once: a crash of the
/// program loses none of them, a power failure those of this interval.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Older format whose states continue bit by bit: its journals are copied into the format of today when they are resumed.
const RENEWABLE_FORMAT: u32 = 3;

/// Journal open for appending.
#[derive(Debug)]
pub struct JournalWriter {
    path: PathBuf,
    file: File,
    /// Number of complete records.
    records: u64,
    /// End of the complete records in the file [bytes].
    end: u64,
    last_sync: Instant,
    buffer: Vec<u8>,
}

impl JournalWriter {
    /// Creates a journal. An existing file is an error.
    pub fn create(path: &Path, header: &JournalHeader, start: &State) -> Result<Self, JournalError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|e| JournalError::file(path, e))?;
        Self::begin(file, path, header, start)
    }

    /// Creates a journal and overwrites an existing file.
    pub fn replace(path: &Path, header: &JournalHeader, start: &State) -> Result<Self, JournalError> {
        let file = File::create(path).map_err(|e| JournalError::file(path, e))?;
        Self::begin(file, path, header, start)
    }

    fn begin(file: File, path: &Path, header: &JournalHeader, start: &State) -> Result<Self, JournalError> {
        let (path, buffer) = (path.to_path_buf(), frame::preamble());
        let mut writer = Self { path, file, records: 0, end: 0, last_sync: Instant::now(), buffer };
        writer.write(header)?;
        writer.write(start)?;
        writer.sync()?;
        Ok(writer)
    }

    /// Opens a journal for appending: hands every recorded step to `each` and cuts off an incomplete last record.
    /// Damage anywhere else is an error, and nothing is cut off. A journal of format 3 is first copied into the format of
    /// today, beside the file, and the copy takes its place. Format 2 is an error.
    pub fn resume(path: &Path, mut each: impl FnMut(StepRecord)) -> Result<Self, JournalError> {
        // opened for writing before hours of records are read
        let mut file = OpenOptions::new().write(true).open(path).map_err(|e| JournalError::file(path, e))?;
        let mut journal = Journal::open(path)?;
        if journal.format() == RENEWABLE_FORMAT {
            return Self::renew(path, journal, each);
        }
        if journal.format() != FORMAT {
            return Err(JournalError::NotResumable { path: path.to_path_buf(), found: journal.format() });
        }
        for record in &mut journal {
            each(record?);
        }
        let (records, end) = journal.end();
        match journal.damage() {
            Some(damage) if !damage.is_torn() => {
                return Err(JournalError::Damaged { path: path.to_path_buf(), damage });
            }
            Some(_) => file.set_len(end).map_err(|e| JournalError::file(path, e))?,
            None => {}
        }
        file.seek(SeekFrom::Start(end)).map_err(|e| JournalError::file(path, e))?;
        let path = path.to_path_buf();
        Ok(Self { path, file, records, end, last_sync: Instant::now(), buffer: Vec::new() })
    }

    /// Copies a journal of format 3 into the format of today, and opens it for appending.
    fn renew(
        path: &Path,
        mut journal: Journal,
        mut each: impl FnMut(StepRecord),
    ) -> Result<Self, JournalError> {
        let mut beside = path.as_os_str().to_owned();
        beside.push(".new");
        let mut writer = Self::replace(Path::new(&beside), journal.header(), journal.start())?;
        for record in &mut journal {
            let record = record?;
            writer.write(&record)?;
            each(record);
        }
        if let Some(damage) = journal.damage().filter(|damage| !damage.is_torn()) {
            let _ = std::fs::remove_file(&beside);
            return Err(JournalError::Damaged { path: path.to_path_buf(), damage });
        }
        writer.sync()?;
        std::fs::rename(&beside, path).map_err(|e| JournalError::file(path, e))?;
        writer.path = path.to_path_buf();
        Ok(writer)
    }

    /// Appends a step. On an error the journal ends with the last step that was appended.
    pub fn append(&mut self, record: &StepRecord) -> Result<(), JournalError> {
        self.write(record)?;
        if self.last_sync.elapsed() >= SYNC_INTERVAL { self.sync() } else { Ok(()) }
    }

    /// Syncs all records to the disk.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.last_sync = Instant::now();
        match self.file.sync_data() {
            // pipes and terminals cannot be synced
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    /// Number of steps in the journal.
    pub fn steps(&self) -> u64 {
        self.records.saturating_sub(2)
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    fn write(&mut self, record: &impl Serialize) -> Result<(), JournalError> {
        let invalid = |error: postcard::Error| io::Error::new(io::ErrorKind::InvalidData, error.to_string());
        let payload = match postcard::to_stdvec(record) {
            Ok(payload) => payload,
            Err(error) => return Err(self.failed(invalid(error))),
        };
        frame::append(self.records, &payload, &mut self.buffer);
        if let Err(error) = self.file.write_all(&self.buffer) {
            // leave no part of a record behind; where this fails too, the reader finds a torn record
            let _ = self.file.set_len(self.end);
            let _ = self.file.seek(SeekFrom::Start(self.end));
            self.buffer.clear();
            return Err(self.failed(error));
        }
        self.end += self.buffer.len() as u64;
        self.records += 1;
        self.buffer.clear();
        Ok(())
    }

    fn failed(&self, error: io::Error) -> JournalError {
        JournalError::Write { path: self.path.clone(), error, records: self.records }
    }
}
