//! Journals of format 2: they verify and convert as they did with the program that wrote them.
//!
//! The expected numbers were printed by that program. The journals are in `crates/stiction-journal/tests/data`.

use crate::common::{Folder, code, json, printed, stiction};
use crate::convert::npz;
use std::fs;
use std::path::PathBuf;

/// Journal, and the results of the program that wrote it.
struct OldJournal {
    name: &'static str,
    steps: u64,
    not_verifiable: u64,
    /// CRC-32 of name and data of every array, in the order of their names.
    arrays: u32,
}

const JOURNALS: [OldJournal; 6] = [
    OldJournal { name: "dice3-default", steps: 30, not_verifiable: 0, arrays: 0x3e7f_2655 },
    OldJournal { name: "falling-rod-st00-nonlinear", steps: 200, not_verifiable: 0, arrays: 0x2e18_8135 },
    // its arrays of contacts and joint rows are empty, and have the names of forces since runs to an accuracy record them;
    // where there are none, it cannot be told whether they were right
    OldJournal { name: "pendulum-accuracy", steps: 5, not_verifiable: 5, arrays: 0x0853_5415 },
    OldJournal { name: "rattleback-cp03", steps: 20, not_verifiable: 0, arrays: 0x0227_b281 },
    OldJournal { name: "stick-slip-default", steps: 77, not_verifiable: 0, arrays: 0x2b77_18cc },
    OldJournal { name: "two-carts-accurate", steps: 60, not_verifiable: 1, arrays: 0xffd6_ccfc },
];

/// Whether an array came after format 2: flags of determined forces, and forces and speeds by name.
fn is_newer(name: &str) -> bool {
    let loads = ["joint_speed", "joint_force", "joint_moment", "joint_motor", "contact_force"];
    name.ends_with("_determined") || loads.contains(&name)
}

fn path(name: &str) -> PathBuf {
    let data = concat!(env!("CARGO_MANIFEST_DIR"), "/../stiction-journal/tests/data");
    PathBuf::from(data).join(format!("{name}.journal"))
}

#[test]
fn old_journals_verify_as_before() {
    for old in JOURNALS {
        let output = stiction(&[&"verify", &path(old.name), &"--json"]);
        let expected = if old.not_verifiable > 0 { 3 } else { 0 };
        assert_eq!(code(&output), expected, "{}: {}", old.name, printed(&output));
        let report = json(&output);
        let number = |key: &str| report[key].as_u64().unwrap();
        assert_eq!(number("steps"), old.steps, "{}", old.name);
        assert_eq!(number("verified"), old.steps - old.not_verifiable, "{}", old.name);
        assert_eq!(number("failed"), 0, "{}", old.name);
        assert_eq!(number("not_verifiable"), old.not_verifiable, "{}", old.name);
    }
}

#[test]
fn old_journals_convert_to_the_same_arrays() {
    let folder = Folder::new("format2");
    for old in JOURNALS {
        let out = folder.path(&format!("{}.npz", old.name));
        let output = stiction(&[&"convert", &path(old.name), &"--to", &"npz", &"--out", &out]);
        assert_eq!(code(&output), 0, "{}: {}", old.name, printed(&output));
        let mut checksum = crc32fast::Hasher::new();
        for (name, (_, data)) in npz(&out).0.into_iter().filter(|(name, _)| !is_newer(name)) {
            checksum.update(name.as_bytes());
            data.iter().for_each(|x| checksum.update(&x.to_bits().to_le_bytes()));
        }
        let checksum = checksum.finalize();
        assert_eq!(checksum, old.arrays, "{}: {checksum:#x}", old.name);
    }
}

#[test]
fn old_journals_are_not_resumed_and_not_changed() {
    let folder = Folder::new("format2-resume");
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/stick-slip.toml");
    let copy = folder.path("run.journal");
    fs::copy(path("stick-slip-default"), &copy).unwrap();
    let output = stiction(&[&"run", &root, &"--out", &copy, &"--resume"]);
    assert_eq!(code(&output), 2, "{}", printed(&output));
    let text = printed(&output);
    assert!(text.contains("format 2") && text.contains("--overwrite"), "{text}");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(path("stick-slip-default")).unwrap());
}
