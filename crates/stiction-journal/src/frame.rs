//! Frame of a record: length and checksums around its payload.

use serde::Serialize;
use std::fmt;

/// Format that is written.
pub const FORMAT: u32 = 6;

/// Oldest format that is read.
pub const OLDEST_FORMAT: u32 = 2;

/// First bytes of every journal; the format follows.
pub(crate) const MAGIC: &[u8; 16] = b"stiction journal";

/// Bytes before the first record.
pub(crate) const PREAMBLE_BYTES: u64 = 20;

/// Bytes of a record before its payload.
pub(crate) const FRAME_BYTES: usize = 12;

/// Record that differs from what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// Number of the record: 0 is the header, 1 the start state, 2 the first step.
    pub record: u64,
    /// Offset of the record in the file [bytes].
    pub offset: u64,
    /// Kind of damage.
    pub kind: DamageKind,
}

/// Kind of damage to a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum DamageKind {
    /// Incomplete record: the program ended while it was written.
    Torn,
    /// Checksum of the length does not match.
    Length,
    /// Checksum of the payload does not match.
    Contents,
    /// Checksums match, but the payload does not decode as a record of its kind.
    Meaning,
}

impl Damage {
    /// `true` for an incomplete last record. All records before it are complete.
    pub fn is_torn(&self) -> bool {
        self.kind == DamageKind::Torn
    }
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { record, offset, kind } = self;
        let reason = match kind {
            DamageKind::Torn => "incomplete: the file ends inside it",
            DamageKind::Length => "damaged: the checksum of its length does not match",
            DamageKind::Contents => "damaged: the checksum of its payload does not match",
            DamageKind::Meaning => "damaged: its checksums match, but its payload cannot be decoded",
        };
        write!(f, "record {record} at byte {offset} is {reason}")
    }
}

/// First bytes of a journal that is written.
pub(crate) fn preamble() -> Vec<u8> {
    [&MAGIC[..], &FORMAT.to_le_bytes()].concat()
}

/// Appends a record to `out`.
pub(crate) fn append(number: u64, payload: &[u8], out: &mut Vec<u8>) {
    // a longer payload would need 4 GiB of contacts in one step
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&frame_checksum(number, length).to_le_bytes());
    out.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    out.extend_from_slice(payload);
}

/// Length and checksum of the payload; `None` where the checksum of the length does not match.
pub(crate) fn decode(number: u64, bytes: [u8; FRAME_BYTES]) -> Option<(u32, u32)> {
    let word = |k: usize| u32::from_le_bytes([bytes[k], bytes[k + 1], bytes[k + 2], bytes[k + 3]]);
    let (length, checksum, payload_checksum) = (word(0), word(4), word(8));
    (checksum == frame_checksum(number, length)).then_some((length, payload_checksum))
}

fn frame_checksum(number: u64, length: u32) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(&number.to_le_bytes());
    hasher.update(&length.to_le_bytes());
    hasher.finalize()
}
