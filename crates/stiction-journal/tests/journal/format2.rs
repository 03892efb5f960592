//! Format 2: journals of that format are read with the states that were written, bit by bit, and not resumed.

use crate::common::{Folder, read};
use std::fs;
use std::path::PathBuf;
use stiction_journal::{FORMAT, Journal, JournalError, JournalWriter};

/// Journal, number of samples with the start, and CRC-32 of all times, coordinates and velocities. Both numbers were
/// computed from arrays that the program of format 2 exported.
const JOURNALS: [(&str, usize, u32); 6] = [
    ("dice3-default", 31, 0xf07e_d3f2),
    ("falling-rod-st00-nonlinear", 201, 0x06cd_b50b),
    ("pendulum-accuracy", 6, 0x412e_838b),
    ("rattleback-cp03", 21, 0xacc4_8528),
    ("stick-slip-default", 78, 0xfe65_d561),
    ("two-carts-accurate", 61, 0xc8ab_487b),
];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.journal"))
}

#[test]
fn states_are_read_bit_by_bit() {
    for (name, samples, expected) in JOURNALS {
        let journal = Journal::open(&path(name)).unwrap();
        assert_eq!(journal.format(), 2);
        let (records, damage) = read(&path(name));
        assert_eq!(damage, None, "{name}");
        let states: Vec<_> =
            std::iter::once(journal.start()).chain(records.iter().map(|r| &r.state)).collect();
        assert_eq!(states.len(), samples, "{name}");
        let mut checksum = crc32fast::Hasher::new();
        let mut add = |x: &f64| checksum.update(&x.to_le_bytes());
        states.iter().for_each(|s| add(&s.t));
        states.iter().for_each(|s| s.q.iter().for_each(&mut add));
        states.iter().for_each(|s| s.v.iter().for_each(&mut add));
        let checksum = checksum.finalize();
        assert_eq!(checksum, expected, "{name}: {checksum:#x}");
    }
}

#[test]
fn reports_are_read_as_far_as_they_were_recorded() {
    let (dice, _) = read(&path("dice3-default"));
    assert!(dice.iter().all(|r| r.report.t == r.state.t && r.accuracy.is_none()));
    assert!(dice.iter().any(|r| r.report.contacts.iter().any(|c| c.normal_impulse > 0.0)));
    assert!(dice.iter().all(|r| r.report.evidence.is_some()));
    // the remembered impulses are those of the report
    assert!(dice.iter().all(|r| r.state.memory.contacts.len() == r.report.contacts.len()));
    let (rattleback, _) = read(&path("rattleback-cp03"));
    assert!(rattleback.iter().any(|r| r.report.stabilization.as_ref().is_some_and(|s| s.passes > 0)));
    let (rod, _) = read(&path("falling-rod-st00-nonlinear"));
    assert!(rod.iter().all(|r| r.report.evidence.as_ref().is_some_and(|e| !e.about.is_empty())));
    let (pendulum, _) = read(&path("pendulum-accuracy"));
    let steps: usize = pendulum.iter().map(|r| r.accuracy.as_ref().expect("a report").steps).sum();
    assert_eq!(steps, 15);
    assert!(pendulum.iter().all(|r| r.accuracy.as_ref().is_some_and(|a| a.requested == 1e-6)));
    let (carts, _) = read(&path("two-carts-accurate"));
    assert!(carts.iter().any(|r| !r.report.events.is_empty()));
    assert!(carts.iter().all(|r| r.report.second_order.is_some()));
}

#[test]
fn a_copy_in_the_format_of_today_has_the_same_records() {
    let folder = Folder::new("copied");
    for (name, ..) in JOURNALS {
        let old = Journal::open(&path(name)).unwrap();
        let (records, _) = read(&path(name));
        let copy = folder.file(name);
        let mut writer = JournalWriter::create(&copy, old.header(), old.start()).unwrap();
        records.iter().for_each(|record| writer.append(record).unwrap());
        assert_eq!(Journal::open(&copy).unwrap().format(), FORMAT);
        assert_eq!(read(&copy).0, records, "{name}");
    }
}

#[test]
fn resuming_is_refused_by_the_format() {
    let folder = Folder::new("old");
    let copy = folder.file("run.journal");
    fs::copy(path("pendulum-accuracy"), &copy).unwrap();
    let error = JournalWriter::resume(&copy, 1.0, |_| {}).expect_err("format 2");
    assert!(matches!(error, JournalError::NotResumable { found: 2, .. }), "{error}");
    assert_eq!(fs::read(&copy).unwrap(), fs::read(path("pendulum-accuracy")).unwrap());
}
