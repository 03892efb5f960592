//! Reading, record by record.

use crate::frame::{self, Damage, HEAD, Kind, MAGIC, START};
use crate::record::{Header, Step};
use crate::{FORMAT, JournalError};
use serde::de::DeserializeOwned;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use stiction::State;

/// A journal that is read. Iterating gives its steps in their order, up to the first record that is not whole.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: BufReader<File>,
    header: Header,
    start: State,
    /// Number of the next record, and where it begins.
    next: u64,
    offset: u64,
    damage: Option<Damage>,
    ended: bool,
}

impl Journal {
    /// Opens a journal and reads what it is of and how the run starts.
    pub fn open(path: &Path) -> Result<Self, JournalError> {
        let mut file = BufReader::new(File::open(path).map_err(|e| JournalError::file(path, e))?);
        let mut first = Vec::new();
        file.by_ref().take(START).read_to_end(&mut first).map_err(|e| JournalError::file(path, e))?;
        let whole = frame::preamble();
        if first.len() < whole.len() && whole.starts_with(&first) {
            return Err(JournalError::Empty(path.to_path_buf()));
        }
        if !first.starts_with(MAGIC) {
            return Err(JournalError::NotAJournal(path.to_path_buf()));
        }
        let found = u32::from_le_bytes([first[16], first[17], first[18], first[19]]);
        if found != FORMAT {
            return Err(JournalError::Format { path: path.to_path_buf(), found });
        }
        let mut records = Records { file, next: 0, offset: START };
        let header = records.expect(path)?;
        let start = records.expect(path)?;
        let Records { file, next, offset } = records;
        Ok(Self { path: path.to_path_buf(), file, header, start, next, offset, damage: None, ended: false })
    }

    /// What the run is of.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The state at the start.
    pub fn start(&self) -> &State {
        &self.start
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Why there were no more steps, if not because the file ended.
    pub fn damage(&self) -> Option<Damage> {
        self.damage
    }

    /// Whole records that were read, and where they end in the file.
    pub fn end(&self) -> (u64, u64) {
        (self.next, self.offset)
    }
}

impl Iterator for Journal {
    type Item = Result<Step, JournalError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.ended {
            return None;
        }
        let Self { file, next, offset, .. } = self;
        let mut records = Records { file, next: *next, offset: *offset };
        let read = records.read();
        (self.next, self.offset) = (records.next, records.offset);
        match read {
            Ok(Found::Record(step)) => return Some(Ok(step)),
            Ok(Found::End) => {}
            Ok(Found::Damaged(damage)) => self.damage = Some(damage),
            Err(error) => {
                self.ended = true;
                return Some(Err(JournalError::file(&self.path, error)));
            }
        }
        self.ended = true;
        None
    }
}

struct Records<F> {
    file: F,
    next: u64,
    offset: u64,
}

enum Found<T> {
    Record(T),
    End,
    Damaged(Damage),
}

impl<F: Read> Records<F> {
    fn expect<T: DeserializeOwned>(&mut self, path: &Path) -> Result<T, JournalError> {
        match self.read().map_err(|e| JournalError::file(path, e))? {
            Found::Record(record) => Ok(record),
            Found::End | Found::Damaged(Damage { kind: Kind::Torn, .. }) => {
                Err(JournalError::Empty(path.to_path_buf()))
            }
            Found::Damaged(damage) => Err(JournalError::Damaged { path: path.to_path_buf(), damage }),
        }
    }

    fn read<T: DeserializeOwned>(&mut self) -> io::Result<Found<T>> {
        let damaged = |kind| Ok(Found::Damaged(Damage { record: self.next, offset: self.offset, kind }));
        let mut head = [0; HEAD];
        let got = fill(&mut self.file, &mut head)?;
        if got == 0 {
            return Ok(Found::End);
        }
        if got < HEAD {
            return damaged(Kind::Torn);
        }
        let Some((length, sum)) = frame::head(self.next, head) else {
            // after a loss of power a file may end in zeros that nobody wrote
            let zeros = head.iter().all(|b| *b == 0) && only_zeros(&mut self.file)?;
            return damaged(if zeros { Kind::Torn } else { Kind::Length });
        };
        let mut payload = Vec::new();
        self.file.by_ref().take(u64::from(length)).read_to_end(&mut payload)?;
        if payload.len() < length as usize {
            return damaged(Kind::Torn);
        }
        if crc32fast::hash(&payload) != sum {
            return damaged(Kind::Contents);
        }
        let Ok((record, [])) = postcard::take_from_bytes(&payload) else {
            return damaged(Kind::Meaning);
        };
        self.next += 1;
        self.offset += (HEAD + payload.len()) as u64;
        Ok(Found::Record(record))
    }
}

/// Fills `buffer` as far as the file goes.
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
