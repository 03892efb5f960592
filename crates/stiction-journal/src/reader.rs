//! Reader of journals: header, start state and steps, record by record, in formats 6 to 2.

use crate::error::JournalError;
use crate::format2;
use crate::format3;
use crate::format4;
use crate::format5;
use crate::frame::{self, Damage, DamageKind, FORMAT, FRAME_BYTES, MAGIC, OLDEST_FORMAT, PREAMBLE_BYTES};
use crate::record::{JournalHeader, StepRecord};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use stiction::State;

/// Journal open for reading. Iterating gives its steps in order, up to the first damaged record.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    format: u32,
    header: JournalHeader,
    start: State,
    records: RecordReader<BufReader<File>>,
    /// End of the header in the file [bytes].
    header_end: u64,
    damage: Option<Damage>,
    ended: bool,
}

impl Journal {
    /// Opens a journal and reads its header and start state.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut file = BufReader::new(File::open(path).map_err(|e| JournalError::file(path, e))?);
        let format = read_format(path, &mut file)?;
        let mut records = RecordReader { file, next: 0, offset: PREAMBLE_BYTES };
        let header = match format {
            2 => records.expect::<format2::HeaderV2>(path)?.into(),
            _ => records.expect(path)?,
        };
        let header_end = records.offset;
        let start = match format {
            2 => records.expect::<format2::StateV2>(path)?.into(),
            3 => records.expect::<format3::StateV3>(path)?.into(),
            4 => records.expect::<format4::StateV4>(path)?.into(),
            _ => records.expect(path)?,
        };
        let (path, damage, ended) = (path.to_path_buf(), None, false);
        Ok(Self { path, format, header, start, records, header_end, damage, ended })
    }

    /// Format of the file.
    pub fn format(&self) -> u32 {
        self.format
    }

    /// Header: scene, scheme and settings of the run.
    pub fn header(&self) -> &JournalHeader {
        &self.header
    }

    /// State at the start.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// Path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Damage that ended the iteration; `None` where the file ended with a complete record.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Number of complete records that were read, and their end in the file [bytes].
    pub fn end(&self) -> (u64, u64) {
        (self.records.next, self.records.offset)
    }

    /// End of the header in the file [bytes].
    pub(crate) fn header_end(&self) -> u64 {
        self.header_end
    }

    fn next_step(&mut self) -> io::Result<ReadRecord<StepRecord>> {
        let accuracy = self.header.accuracy;
        Ok(match self.format {
            2 => self.records.read::<format2::StepV2>()?.map(|step| step.into_record(accuracy.as_ref())),
            3 => self.records.read::<format3::RecordV3>()?.map(Into::into),
            4 => self.records.read::<format4::RecordV4>()?.map(Into::into),
            5 => self.records.read::<format5::RecordV5>()?.map(Into::into),
            _ => self.records.read()?,
        })
    }
}

impl Iterator for Journal {
    type Item = Result<StepRecord, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let error = match self.next_step() {
            Ok(ReadRecord::Complete(record)) => return Some(Ok(record)),
            Ok(ReadRecord::EndOfFile) => None,
            Ok(ReadRecord::Damaged(damage)) => {
                self.damage = Some(damage);
                None
            }
            Err(error) => Some(Err(JournalError::file(&self.path, error))),
        };
        self.ended = true;
        error
    }
}

/// Reads the preamble and returns the format.
fn read_format(path: &Path, file: &mut impl Read) -> Result<u32, JournalError> {
    let mut first = Vec::new();
    file.take(PREAMBLE_BYTES).read_to_end(&mut first).map_err(|e| JournalError::file(path, e))?;
    let magic = first.len().min(MAGIC.len());
    if first[..magic] != MAGIC[..magic] {
        return Err(JournalError::NotAJournal(path.to_path_buf()));
    }
    let Some(&[a, b, c, d]) = first.get(MAGIC.len()..) else {
        return Err(JournalError::Empty(path.to_path_buf()));
    };
    let found = u32::from_le_bytes([a, b, c, d]);
    if (OLDEST_FORMAT..=FORMAT).contains(&found) {
        Ok(found)
    } else {
        Err(JournalError::Format { path: path.to_path_buf(), found })
    }
}

/// Sequence of framed records in a file.
#[derive(Debug)]
struct RecordReader<F> {
    file: F,
    /// Number of the next record.
    next: u64,
    /// Offset of the next record in the file [bytes].
    offset: u64,
}

/// Result of reading one record.
enum ReadRecord<T> {
    Complete(T),
    Damaged(Damage),
    EndOfFile,
}

impl<T> ReadRecord<T> {
    fn map<U>(self, convert: impl FnOnce(T) -> U) -> ReadRecord<U> {
        match self {
            Self::Complete(record) => ReadRecord::Complete(convert(record)),
            Self::Damaged(damage) => ReadRecord::Damaged(damage),
            Self::EndOfFile => ReadRecord::EndOfFile,
        }
    }
}

impl<F: Read> RecordReader<F> {
    /// Reads a record without which the journal is empty.
    fn expect<T: DeserializeOwned>(&mut self, path: &Path) -> Result<T, JournalError> {
        match self.read().map_err(|e| JournalError::file(path, e))? {
            ReadRecord::Complete(record) => Ok(record),
            ReadRecord::EndOfFile | ReadRecord::Damaged(Damage { kind: DamageKind::Torn, .. }) => {
                Err(JournalError::Empty(path.to_path_buf()))
            }
            ReadRecord::Damaged(damage) => Err(JournalError::Damaged { path: path.to_path_buf(), damage }),
        }
    }

    fn read<T: DeserializeOwned>(&mut self) -> io::Result<ReadRecord<T>> {
        let damaged = |kind| Ok(ReadRecord::Damaged(Damage { record: self.next, offset: self.offset, kind }));
        let mut frame = [0; FRAME_BYTES];
        let got = fill(&mut self.file, &mut frame)?;
        if got == 0 {
            return Ok(ReadRecord::EndOfFile);
        }
        if got < FRAME_BYTES {
            return damaged(DamageKind::Torn);
        }
        let Some((length, checksum)) = frame::decode(self.next, frame) else {
            // after a power failure a file may end in zeros that were never written
            let zeros = frame.iter().all(|b| *b == 0) && only_zeros(&mut self.file)?;
            return damaged(if zeros { DamageKind::Torn } else { DamageKind::Length });
        };
        let mut payload = Vec::new();
        self.file.by_ref().take(u64::from(length)).read_to_end(&mut payload)?;
        if payload.len() < length as usize {
            return damaged(DamageKind::Torn);
        }
        if crc32fast::hash(&payload) != checksum {
            return damaged(DamageKind::Contents);
        }
        let Ok((record, [])) = postcard::take_from_bytes(&payload) else {
            return damaged(DamageKind::Meaning);
        };
        self.next += 1;
        self.offset += (FRAME_BYTES + payload.len()) as u64;
        Ok(ReadRecord::Complete(record))
    }
}

/// Fills `buffer` as far as the file reaches and returns the number of bytes.
fn fill(file: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut got = 0;
    while got < buffer.len() {
        match file.read(&mut buffer[got..]) {
            Ok(0) => break,
            Ok(n) => got += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(got)
}

/// `true` when the rest of the file is zeros.
fn only_zeros(file: &mut impl Read) -> io::Result<bool> {
    let mut buffer = [0; 4096];
    loop {
        let got = fill(file, &mut buffer)?;
        if buffer[..got].iter().any(|b| *b != 0) {
            return Ok(false);
        }
        if got < buffer.len() {
            return Ok(true);
        }
    }
}
