//! Reader: damage is found with its record, and other formats are refused.

use crate::common::{Folder, read, written};
use std::fs;
use stiction_journal::{Journal, JournalError, JournalWriter};

#[test]
fn a_changed_byte_is_found_with_its_record_and_nothing_is_cut_off() {
    let folder = Folder::new("changed");
    let path = folder.file("run.journal");
    let bytes = written(&path, 8);
    for at in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(&path, &changed).unwrap();
        let error = JournalWriter::resume(&path, 1.0, |_| {}).expect_err("a changed byte");
        match error {
            JournalError::NotAJournal(_) => assert!(at < 16),
            JournalError::Format { .. } => assert!((16..20).contains(&at)),
            JournalError::Damaged { damage, .. } => {
                assert!(damage.offset <= at as u64, "{damage} for byte {at}");
            }
            other => panic!("byte {at}: {other}"),
        }
        assert_eq!(fs::read(&path).unwrap(), changed, "nothing is cut off");
    }
    // the unchanged file is complete
    fs::write(&path, &bytes).unwrap();
    let (records, damage) = read(&path);
    assert_eq!((records.len(), damage), (8, None));
}

#[test]
fn unknown_formats_are_refused_by_their_number() {
    let folder = Folder::new("formats");
    let path = folder.file("run.journal");
    for format in [0_u32, 1, 7, 2000] {
        fs::write(&path, [&b"stiction journal"[..], &format.to_le_bytes(), &[0; 40]].concat()).unwrap();
        let error = Journal::open(&path).expect_err("an unknown format");
        assert!(matches!(error, JournalError::Format { found, .. } if found == format), "{error}");
        assert!(error.to_string().contains("reads formats 2 to 6"), "{error}");
    }
}
