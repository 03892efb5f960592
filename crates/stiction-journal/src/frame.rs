//! The bytes of a record: its length and its checksums.

use serde::Serialize;
use std::fmt;

/// The version of the format.
pub const FORMAT: u32 = 2;

/// How every journal begins; the version of the format follows.
pub(crate) const MAGIC: &[u8; 16] = b"stiction journal";

/// Bytes before the first record.
pub(crate) const START: u64 = 20;

/// Bytes before the payload of a record.
pub(crate) const HEAD: usize = 12;

/// A record that is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Its number: 0 is the header, 1 the start, 2 the first step.
    pub record: u64,
    /// Where it begins in the file [bytes].
    pub offset: u64,
    /// What is wrong with it.
    pub kind: Kind,
}

/// What is wrong with a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Its end is missing: the program ended while it was written.
    Torn,
    /// The checksum of its length does not match.
    Length,
    /// The checksum of its contents does not match.
    Contents,
    /// The checksums match, but it is no record of its kind.
    Meaning,
}

impl Damage {
    /// The program ended while the record was written; all before it is whole.
    pub fn is_torn(&self) -> bool {
        self.kind == Kind::Torn
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { record, offset, kind } = self;
        let what = match kind {
            Kind::Torn => "its end is missing",
            Kind::Length => "the checksum of its length does not match",
            Kind::Contents => "the checksum of its contents does not match",
            Kind::Meaning => "its contents mean nothing",
        };
        write!(f, "record {record}, at byte {offset}: {what}")
    }
}

/// The first bytes of a journal.
pub(crate) fn preamble() -> Vec<u8> {
    [&MAGIC[..], &FORMAT.to_le_bytes()].concat()
}

/// Adds a record to `out`.
pub(crate) fn append(number: u64, payload: &[u8], out: &mut Vec<u8>) {
    // a step of this size would be 4 GiB of contacts
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&head_sum(number, length).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    out.extend_from_slice(payload);
}

/// The length of the payload and its checksum, if the head is whole.
pub(crate) fn head(number: u64, bytes: [u8; HEAD]) -> Option<(u32, u32)> {
    let word = |k: usize| u32::from_le_bytes([bytes[k], bytes[k + 1], bytes[k + 2], bytes[k + 3]]);
    let (length, sum, contents) = (word(0), word(4), word(8));
    (sum == head_sum(number, length)).then_some((length, contents))
}

fn head_sum(number: u64, length: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.finalize()
}
