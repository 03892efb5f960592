//! Format 5: journals that the program of that format wrote are read, and resumed in the format of today.

use crate::common::{Folder, read};
use std::fs;
use std::path::PathBuf;
use stiction_journal::{FORMAT, Journal, JournalWriter};

/// Journals with their numbers of steps.
const JOURNALS: [(&str, usize); 2] = [("format5-dice3", 3), ("format5-pendulum", 1)];

fn path(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(format!("{name}.journal"))
}

#[test]
fn records_are_read() {
    for (name, steps) in JOURNALS {
        let journal = Journal::open(&path(name)).unwrap();
        assert_eq!(journal.format(), 5, "{name}");
        let (records, damage) = read(&path(name));
        assert_eq!((records.len(), damage), (steps, None), "{name}");
        for record in &records {
            assert_eq!(record.report.t, record.state.t, "{name}");
            assert_eq!(record.report.ledger.is_some(), record.accuracy.is_none(), "{name}");
            assert!(record.report.intervals.is_none(), "{name}");
            assert!(record.report.evidence.is_some(), "{name}");
        }
    }
}

#[test]
fn resuming_writes_the_format_of_today() {
    let folder = Folder::new("format5");
    for (name, steps) in JOURNALS {
        let copy = folder.file(name);
        fs::copy(path(name), &copy).unwrap();
        let (before, _) = read(&copy);
        let mut seen = Vec::new();
        let until = Journal::open(&copy).unwrap().header().until;
        let mut writer = JournalWriter::resume(&copy, until, |record| seen.push(record)).unwrap();
        assert_eq!((writer.steps(), writer.path()), (steps as u64, copy.as_path()), "{name}");
        assert_eq!(seen, before, "{name}");
        writer.append(&before[0]).unwrap();
        drop(writer);
        assert_eq!(Journal::open(&copy).unwrap().format(), FORMAT, "{name}");
        let (after, damage) = read(&copy);
        assert_eq!(damage, None, "{name}");
        assert_eq!((&after[..steps], &after[steps]), (&before[..], &before[0]), "{name}");
    }
}
