//! Writer of journals: records are appended one by one, so that a crash loses at most the record being written.

use crate::error::JournalError;
use crate::frame::{self, FORMAT};
use crate::lock::JournalLock;
use crate::reader::Journal;
use crate::record::{JournalHeader, StepRecord};
use serde::Serialize;
use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use stiction::State;

/// Longest time between two syncs to the disk. Every record is handed to the operating system at once: a crash of the
/// program loses none of them, a power failure those of this interval.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);

/// Oldest format whose states continue bit by bit: its journals are copied into the format of today when they are resumed.
const OLDEST_RENEWABLE_FORMAT: u32 = 3;

/// Part by which a step is shorter than that of the header if it landed on an end time. Smaller: round-off of the clock
/// counts as shorter. Larger: a shorter last step stays where the run goes on.
const SHORT_STEP_RELATIVE: f64 = 1e-9;

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
    /// Keeps other writers out.
    lock: Option<JournalLock>,
}

/// Records of a journal that stay when it is resumed.
struct KeptRecords {
    /// Number of records, header and start state included.
    records: u64,
    /// Their end in the file [bytes].
    end: u64,
    /// End time of the header [s].
    until: f64,
}

impl KeptRecords {
    /// Reads all steps, and hands those to `each` that stay when the run goes on to time `until`.
    fn read(
        journal: &mut Journal,
        until: f64,
        mut each: impl FnMut(StepRecord),
    ) -> Result<Self, JournalError> {
        let (h, asked) = (journal.header().h, journal.header().until);
        let mut before = journal.end();
        let mut last: Option<StepRecord> = None;
        loop {
            let start = journal.end();
            let Some(record) = journal.next().transpose()? else { break };
            if let Some(whole) = last.replace(record) {
                each(whole);
            }
            before = start;
        }
        let (records, end) = journal.end();
        let Some(last) = last else { return Ok(Self { records, end, until }) };
        // a run that is asked to end before its last step keeps its end
        let t = last.state.t;
        let until = if until >= t { until } else { asked };
        if until > t && last.report.h < h * (1.0 - SHORT_STEP_RELATIVE) {
            return Ok(Self { records: before.0, end: before.1, until });
        }
        each(last);
        Ok(Self { records, end, until })
    }
}

/// Path of the copy that takes the place of a file.
fn beside(path: &Path) -> PathBuf {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    PathBuf::from(beside)
}

/// Replaces a journal by its copy with another end time in the header, and of its records those up to `end` alone.
/// Returns the new file, and the end of its records.
fn copy_with_end(path: &Path, journal: &Journal, until: f64, end: u64) -> io::Result<(File, u64)> {
    let mut start = frame::preamble();
    let header = JournalHeader { until, ..journal.header().clone() };
    let payload = postcard::to_stdvec(&header).map_err(io::Error::other)?;
    frame::append(0, &payload, &mut start);
    let mut from = File::open(path)?;
    from.seek(SeekFrom::Start(journal.header_end()))?;
    let beside = beside(path);
    let mut file = File::create(&beside)?;
    file.write_all(&start)?;
    let copied = io::copy(&mut from.take(end - journal.header_end()), &mut file)?;
    file.sync_data()?;
    std::fs::rename(&beside, path)?;
    Ok((file, start.len() as u64 + copied))
}

impl JournalWriter {
    /// Creates a journal. An existing file is an error.
    pub fn create(path: &Path, header: &JournalHeader, start: &State) -> Result<Self, JournalError> {
        // an existing journal keeps the lock of its own writer
        let new = OpenOptions::new().write(true).create_new(true).open(path);
        let file = new.map_err(|e| JournalError::file(path, e))?;
        let lock = JournalLock::acquire(path)?;
        Self::begin(file, path, header, start, lock)
    }

    /// Creates a journal and overwrites an existing file.
    pub fn replace(path: &Path, header: &JournalHeader, start: &State) -> Result<Self, JournalError> {
        let lock = JournalLock::acquire(path)?;
        let file = File::create(path).map_err(|e| JournalError::file(path, e))?;
        Self::begin(file, path, header, start, lock)
    }

    fn begin(
        file: File,
        path: &Path,
        header: &JournalHeader,
        start: &State,
        lock: Option<JournalLock>,
    ) -> Result<Self, JournalError> {
        let (path, buffer) = (path.to_path_buf(), frame::preamble());
        let mut writer = Self { path, file, records: 0, end: 0, last_sync: Instant::now(), buffer, lock };
        writer.write(header)?;
        writer.write(start)?;
        writer.sync()?;
        Ok(writer)
    }

    /// Opens a journal for appending, to end at time `until` [s]: hands every recorded step to `each` and cuts off an
    /// incomplete last record. Damage anywhere else is an error, and nothing is cut off.
    ///
    /// A last step that is shorter than the others, to land on an earlier end, is cut off too where the run goes on: it is
    /// made again as a whole one. For this and for the new end in the header, a copy takes the place of the file. So it
    /// does for a journal of format 3 or 4, which is copied into the format of today. Format 2 is an error.
    pub fn resume(path: &Path, until: f64, each: impl FnMut(StepRecord)) -> Result<Self, JournalError> {
        let lock = JournalLock::acquire(path)?;
        // opened for writing before hours of records are read
        let mut file = OpenOptions::new().write(true).open(path).map_err(|e| JournalError::file(path, e))?;
        let mut journal = Journal::open(path)?;
        if (OLDEST_RENEWABLE_FORMAT..FORMAT).contains(&journal.format()) {
            return Self::renew(path, journal, until, lock, each);
        }
        if journal.format() != FORMAT {
            return Err(JournalError::NotResumable { path: path.to_path_buf(), found: journal.format() });
        }
        let kept = KeptRecords::read(&mut journal, until, each)?;
        match journal.damage() {
            Some(damage) if !damage.is_torn() => {
                return Err(JournalError::Damaged { path: path.to_path_buf(), damage });
            }
            Some(_) => file.set_len(journal.end().1).map_err(|e| JournalError::file(path, e))?,
            None => {}
        }
        let KeptRecords { records, mut end, until } = kept;
        if until != journal.header().until || end < journal.end().1 {
            (file, end) =
                copy_with_end(path, &journal, until, end).map_err(|e| JournalError::file(path, e))?;
        }
        file.seek(SeekFrom::Start(end)).map_err(|e| JournalError::file(path, e))?;
        let path = path.to_path_buf();
        Ok(Self { path, file, records, end, last_sync: Instant::now(), buffer: Vec::new(), lock })
    }

    /// Copies a journal of an older format into the format of today, and opens it for appending.
    fn renew(
        path: &Path,
        mut journal: Journal,
        until: f64,
        lock: Option<JournalLock>,
        mut each: impl FnMut(StepRecord),
    ) -> Result<Self, JournalError> {
        let beside = beside(path);
        let file = File::create(&beside).map_err(|e| JournalError::file(&beside, e))?;
        let (header, start) = (journal.header().clone(), journal.start().clone());
        let KeptRecords { until, .. } = KeptRecords::read(&mut journal, until, |_| ())?;
        let mut writer = Self::begin(file, &beside, &JournalHeader { until, ..header }, &start, lock)?;
        let mut journal = Journal::open(path)?;
        let mut failed = Ok(());
        KeptRecords::read(&mut journal, until, |record| {
            if failed.is_ok() {
                failed = writer.write(&record);
                each(record);
            }
        })?;
        failed?;
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

    /// Whether other writers are kept out: not where the journal is a pipe or a device.
    pub fn is_locked(&self) -> bool {
        self.lock.is_some()
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
