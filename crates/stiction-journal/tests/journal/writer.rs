//! Writer: journals cut anywhere are resumed, and failed writes are reported.

use crate::common::{Folder, header, read, run, simulation, written};
use std::fs;
use std::path::Path;
use stiction::Scheme;
use stiction_journal::{Journal, JournalError, JournalWriter};

#[test]
fn a_journal_cut_anywhere_is_resumed_from_its_last_complete_record() {
    let folder = Folder::new("cut");
    let whole = folder.file("whole.journal");
    let bytes = written(&whole, 12);
    let path = folder.file("cut.journal");
    let mut read_steps = 0;
    // all lengths of the first records, then some of each
    for length in (0..2500).chain((2500..bytes.len()).step_by(29)) {
        fs::write(&path, &bytes[..length]).unwrap();
        match JournalWriter::resume(&path, 1.0, |_| read_steps += 1) {
            Err(JournalError::Empty(_)) => assert!(length < 1500, "{length} bytes"),
            Err(error) => panic!("{length} bytes: {error}"),
            // some are continued, and end as the same file
            Ok(mut writer) if length % 25 == 0 => {
                let done = usize::try_from(writer.steps()).unwrap();
                let mut simulation = simulation(Scheme::default());
                let (records, damage) = read(&path);
                assert_eq!((records.len(), damage), (done, None));
                if let Some(record) = records.last() {
                    simulation.restore(record.state.clone());
                }
                run(&mut simulation, &mut writer, 12 - done);
                assert_eq!(fs::read(&path).unwrap(), bytes, "{length} bytes");
            }
            Ok(_) => {}
        }
    }
    assert!(read_steps > 0);
    // zeros at the end that were never written, as after a power failure
    fs::write(&path, [&bytes[..], &[0; 5000]].concat()).unwrap();
    JournalWriter::resume(&path, 1.0, |_| {}).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn failed_writes_are_reported() {
    let folder = Folder::new("refused");
    let start = simulation(Scheme::default()).state().clone();
    let nowhere = folder.file("no/such/folder/run.journal");
    let error = JournalWriter::create(&nowhere, &header(), &start).expect_err("no folder");
    assert!(matches!(error, JournalError::File { .. }), "{error}");
    let existing = folder.file("existing.journal");
    fs::write(&existing, "precious").unwrap();
    let error = JournalWriter::create(&existing, &header(), &start).expect_err("it exists");
    assert!(matches!(error, JournalError::File { .. }), "{error}");
    assert_eq!(fs::read(&existing).unwrap(), b"precious");
    let error = Journal::open(&existing).expect_err("not a journal");
    assert!(matches!(error, JournalError::NotAJournal(_)), "{error}");
    let full = Path::new("/dev/full");
    if full.exists() {
        let error = JournalWriter::replace(full, &header(), &start).expect_err("full");
        assert!(matches!(error, JournalError::Write { records: 0, .. }), "{error}");
    }
}
