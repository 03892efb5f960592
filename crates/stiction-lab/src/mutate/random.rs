//! Journals changed at random: in some fields, in the bytes of some records with mended checksums, or in the file.

use super::fields::replacements;
use super::journal::JournalParts;
use super::verifier::{ProgramAnswer, Verifier};
use crate::seeds::{Tally, over_seeds, pool};
use crate::{BadInput, Outcome, print};
use rand::seq::IndexedRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

/// Bytes before the first record of a journal.
const PREAMBLE_BYTES: usize = 20;

/// Bytes of a record before its payload.
const FRAME_BYTES: usize = 12;

/// Limit on the failures that are printed.
const MAX_PRINTED: usize = 20;

/// Counts over some copies.
#[derive(Default)]
struct RandomTally {
    codes: BTreeMap<i32, u64>,
    /// Changed fields that no journal can hold; their copies have changed bytes instead.
    broken: Vec<(u64, String)>,
}

impl Tally for RandomTally {
    fn join(&mut self, other: Self) {
        for (code, n) in other.codes {
            *self.codes.entry(code).or_default() += n;
        }
        self.broken.extend(other.broken);
    }
}

/// Judges `count` copies from a seed on.
pub(super) fn run(
    (count, seed): (u64, u64),
    path: &Path,
    original: &JournalParts,
    verifier: &Verifier,
) -> Result<Outcome, BadInput> {
    let bytes = std::fs::read(path).map_err(|error| BadInput::file(path, &error))?;
    let trees: Vec<Value> = (0..original.parts()).map(|part| original.tree(part).1).collect();
    let pool = pool(None)?;
    let judge = |tally: &mut RandomTally, k: u64, thread: usize| {
        let mut rng = ChaCha8Rng::seed_from_u64(seed + k);
        let copy = verifier.copy(thread);
        let written = write_copy(&copy, original, &trees, &bytes, &mut rng);
        match written.and_then(|()| verifier.verify(&copy)) {
            Ok(ProgramAnswer::Code(code)) => *tally.codes.entry(code).or_default() += 1,
            Ok(ProgramAnswer::Broken(how)) => {
                let kept = usize::try_from(seed + k)
                    .map_or_else(|_| Ok(copy.clone()), |number| verifier.keep(&copy, number));
                let place = kept.map_or_else(|BadInput(error)| error, |kept| kept.display().to_string());
                tally.broken.push((seed + k, format!("{how}: {place}")));
            }
            Err(BadInput(error)) => tally.broken.push((seed + k, error)),
        }
    };
    let mut tally = over_seeds(&pool, count, judge, || ());
    (0..pool.current_num_threads()).for_each(|thread| _ = std::fs::remove_file(verifier.copy(thread)));
    tally.broken.sort();
    let mut text = format!("{count} copies of {} from seed {seed}\n\n", path.display());
    for (code, n) in &tally.codes {
        let _ = writeln!(text, "{n:9}  exit code {code}");
    }
    let _ = writeln!(text, "{:9}  panic, abort, hang or more than 1 GB", tally.broken.len());
    for (seed, how) in tally.broken.iter().take(MAX_PRINTED) {
        let _ = writeln!(text, "seed {seed}: {how}");
    }
    print(&text)?;
    Ok(if tally.broken.is_empty() { Outcome::Solved } else { Outcome::NotSolved })
}

/// Writes one changed copy.
fn write_copy(
    copy: &Path,
    original: &JournalParts,
    trees: &[Value],
    bytes: &[u8],
    rng: &mut ChaCha8Rng,
) -> Result<(), BadInput> {
    if rng.random_bool(0.5) {
        let mut changed = original.clone();
        for _ in 0..rng.random_range(1..4) {
            let part = rng.random_range(0..trees.len());
            let mut tree = trees[part].clone();
            change_field(&mut tree, rng);
            changed = changed.with(part, &tree).unwrap_or(changed);
        }
        return changed.write(copy);
    }
    let mut file = bytes.to_vec();
    match rng.random_range(0..10) {
        0 => file.truncate(rng.random_range(0..=file.len())),
        1 => change_bytes(&mut file, rng),
        _ => {
            let records = payloads(&file);
            file = changed_records(&file[..PREAMBLE_BYTES], records, rng);
        }
    }
    std::fs::write(copy, file).map_err(|error| BadInput::file(copy, &error))
}

/// Changes one field of a tree, at random depth.
fn change_field(tree: &mut Value, rng: &mut ChaCha8Rng) {
    let deeper = match tree {
        Value::Array(list) if !list.is_empty() && rng.random_bool(0.9) => {
            let k = rng.random_range(0..list.len());
            list.get_mut(k)
        }
        Value::Object(map) if !map.is_empty() && rng.random_bool(0.97) => {
            let k = rng.random_range(0..map.len());
            map.values_mut().nth(k)
        }
        _ => None,
    };
    match deeper {
        Some(inner) => change_field(inner, rng),
        None => {
            if let Some((_, value)) = replacements(tree).choose(rng) {
                *tree = value.clone();
            }
        }
    }
}

/// Payloads of the records of an undamaged journal.
fn payloads(file: &[u8]) -> Vec<Vec<u8>> {
    let (mut at, mut found) = (PREAMBLE_BYTES, Vec::new());
    while let Some(frame) = file.get(at..at + FRAME_BYTES) {
        let length = u32::from_le_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
        let Some(payload) = file.get(at + FRAME_BYTES..at + FRAME_BYTES + length) else { break };
        found.push(payload.to_vec());
        at += FRAME_BYTES + length;
    }
    found
}

/// Changes some bytes: one value, one bit, or a piece cut out, doubled or made of large numbers.
fn change_bytes(bytes: &mut Vec<u8>, rng: &mut ChaCha8Rng) {
    if bytes.is_empty() {
        return;
    }
    for _ in 0..rng.random_range(1..4) {
        let at = rng.random_range(0..bytes.len());
        let end = (at + rng.random_range(1..12)).min(bytes.len());
        match rng.random_range(0..5) {
            0 => bytes[at] = rng.random(),
            1 => bytes[at] ^= 1 << rng.random_range(0..8),
            // the longest numbers of the wire format
            2 => bytes[at..end].fill(0xff),
            3 => drop(bytes.splice(at..at, [0xff, 0xff, 0xff, 0xff, 0x0f])),
            _ => drop(bytes.drain(at..end)),
        }
        if bytes.is_empty() {
            return;
        }
    }
}

/// File of records, some of them changed, left out, doubled or swapped, all with the checksums of what they are.
fn changed_records(preamble: &[u8], mut records: Vec<Vec<u8>>, rng: &mut ChaCha8Rng) -> Vec<u8> {
    let (a, b) = (rng.random_range(0..records.len()), rng.random_range(0..records.len()));
    match rng.random_range(0..10) {
        0 => records.swap(a, b),
        1 => drop(records.remove(a)),
        2 => records.insert(a, records[b].clone()),
        _ => change_bytes(&mut records[a], rng),
    }
    let mut file = preamble.to_vec();
    for (number, payload) in records.iter().enumerate() {
        let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
        let mut hasher = crc32fast::Hasher::new();
        hasher.update(&(number as u64).to_le_bytes());
        hasher.update(&length.to_le_bytes());
        file.extend(length.to_le_bytes());
        file.extend(hasher.finalize().to_le_bytes());
        file.extend(crc32fast::hash(payload).to_le_bytes());
        file.extend(payload);
    }
    file
}
