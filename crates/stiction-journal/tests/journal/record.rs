//! Records: states and reports come back bit by bit.

use crate::common::{Folder, STEP, header, read, run, simulation};
use stiction::{Accuracy, Evidence, Scheme, StepReport};
use stiction_journal::{Journal, JournalWriter, StepRecord};

#[test]
fn states_and_reports_come_back_bit_by_bit() {
    let folder = Folder::new("record");
    let schemes = [
        Scheme::default(),
        Scheme::st00_nonlinear(),
        Scheme::pagt06(),
        Scheme::ap97(),
        Scheme::ap97().post_stabilized(3),
        Scheme::accurate(),
    ];
    for (k, scheme) in schemes.into_iter().enumerate() {
        let path = folder.file(&format!("{k}.journal"));
        let mut simulation = simulation(scheme);
        let start = simulation.state().clone();
        let mut writer = JournalWriter::create(&path, &header(), &start).unwrap();
        let written = run(&mut simulation, &mut writer, 60);
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.header(), &header());
        assert_eq!(journal.start(), &start);
        let (records, damage) = read(&path);
        assert_eq!(damage, None);
        assert_eq!(records, written);
        assert!(records.iter().any(|r| !r.report.contacts.is_empty()));
        // a run restored from a record continues bit by bit
        simulation.restore(records[29].state.clone());
        for record in &written[30..] {
            simulation.step(STEP).unwrap();
            assert_eq!(simulation.state(), &record.state);
        }
    }
}

#[test]
fn residuals_of_contacts_and_stabilization_are_recorded() {
    let folder = Folder::new("fields");
    let path = folder.file("run.journal");
    let mut simulation = simulation(Scheme::ap97().post_stabilized(3));
    let start = simulation.state().clone();
    let mut writer = JournalWriter::create(&path, &header(), &start).unwrap();
    run(&mut simulation, &mut writer, 60);
    let (records, _) = read(&path);
    assert!(records.iter().any(|r| !r.report.certificate.contacts.is_empty()));
    assert!(records.iter().any(|r| r.report.stabilization.is_some()));
}

#[test]
fn reports_of_runs_to_an_accuracy_come_back() {
    let folder = Folder::new("accuracy");
    let path = folder.file("run.journal");
    let mut simulation = simulation(Scheme::accurate());
    let accuracy = Accuracy::of(1e-6);
    let start = simulation.state().clone();
    let mut writer = JournalWriter::create(&path, &header(), &start).unwrap();
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let mut written = Vec::new();
    for k in 1..=10 {
        let made = simulation.run_to_accuracy_into(0.05 * f64::from(k), &accuracy, &mut report).unwrap();
        let state = simulation.state().clone();
        written.push(StepRecord { state, report: report.clone(), accuracy: Some(made) });
    }
    // events that are not those of the step report are written out
    let other = written.iter().position(|r| !r.report.events.is_empty()).expect("an impact on the floor");
    let mut changed = written[other].clone();
    changed.accuracy.as_mut().unwrap().events.clear();
    changed.state.memory.joints.push(1.0);
    written.push(changed);
    written.iter().for_each(|record| writer.append(record).unwrap());
    let (records, damage) = read(&path);
    assert_eq!(damage, None);
    assert_eq!(records, written);
}
