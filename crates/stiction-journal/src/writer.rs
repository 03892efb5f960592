//! Writing: records are only ever added.

use crate::JournalError;
use crate::frame;
use crate::reader::Journal;
use crate::record::{Header, Step};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stiction::State;

/// How often records are synced to the disk. They are handed to the system one by one, so that what kills the program
/// takes none of them; what takes the power off takes those of this time.
const SYNCED: Duration = Duration::from_secs(1);

/// A journal that is written.
#[derive(Debug)]
pub struct Writer {
    path: PathBuf,
    file: File,
    /// Whole records, and where they end in the file.
    records: u64,
    end: u64,
    synced: Instant,
    buffer: Vec<u8>,
}

impl Writer {
    /// Begins a journal. A file that exists is an error.
    pub fn create(path: &Path, header: &Header, start: &State) -> Result<Self, JournalError> {
        let file = OpenOptions::new().write(true).create_new(true).open(path);
        let file = file.map_err(|e| JournalError::file(path, e))?;
        Self::begin(file, path, header, start)
    }

    /// Begins a journal in place of whatever is there.
    pub fn replace(path: &Path, header: &Header, start: &State) -> Result<Self, JournalError> {
        let file = File::create(path).map_err(|e| JournalError::file(path, e))?;
        Self::begin(file, path, header, start)
    }

    fn begin(file: File, path: &Path, header: &Header, start: &State) -> Result<Self, JournalError> {
        let (path, buffer) = (path.to_path_buf(), frame::preamble());
        let mut writer = Self { path, file, records: 0, end: 0, synced: Instant::now(), buffer };
        writer.write(header)?;
        writer.write(start)?;
        writer.sync()?;
        Ok(writer)
    }

    /// Goes on with a journal: reads it to its last whole record, hands every step to `each`, and cuts off the record
    /// that was not finished. Damage anywhere else is an error, and nothing is cut.
    pub fn resume(path: &Path, mut each: impl FnMut(Step)) -> Result<Self, JournalError> {
        // whether it can be written is told before it is read
        let mut file = OpenOptions::new().write(true).open(path).map_err(|e| JournalError::file(path, e))?;
        let mut journal = Journal::open(path)?;
        for step in &mut journal {
            each(step?);
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
        Ok(Self { path, file, records, end, synced: Instant::now(), buffer: Vec::new() })
    }

    /// Adds a step. On an error the journal ends with the last one that was added.
    pub fn add(&mut self, step: &Step) -> Result<(), JournalError> {
        self.write(step)?;
        if self.synced.elapsed() >= SYNCED { self.sync() } else { Ok(()) }
    }

    /// Hands everything to the disk.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.synced = Instant::now();
        match self.file.sync_data() {
            // pipes and terminals have nothing to sync
            Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(self.failed(error)),
            _ => Ok(()),
        }
    }

    /// Steps in the journal.
    pub fn steps(&self) -> u64 {
        self.records.saturating_sub(2)
    }

    /// The file.
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
            // half a record would be taken for one that was torn, which it is
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
