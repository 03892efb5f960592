//! Journals through whatever happens to a file.

use nalgebra::{Isometry2, Vector2};
use std::fs;
use std::path::{Path, PathBuf};
use stiction::planar::{Attached, Body, Joint, Mass, Model, Polygon, Shape, World};
use stiction::{Evidence, Scheme, Simulation, State, StepReport};
use stiction_journal::{Header, Journal, JournalError, Step, Writer};

/// A box that falls on a floor beside a pendulum.
fn model() -> Model {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane)));
    let shape = Shape::Polygon(Polygon::rectangle([0.2, 0.1]).unwrap());
    let body = Body::rigid("box", Mass::Density(100.0)).at(Isometry2::new(Vector2::new(0.0, 0.3), 0.4));
    world.add_body(body.with(Attached::new(shape)));
    let anchor = world.add_body(Body::fixed("anchor").at(Isometry2::translation(-4.0, 4.0)));
    let bob = world.add_body(Body::rigid("bob", Mass::given(1.0, 0.1)).at(Isometry2::translation(-3.0, 4.0)));
    world.add_joint(Joint::revolute("hinge", &world, anchor, bob, nalgebra::Point2::new(-4.0, 4.0)));
    world.build().unwrap()
}

fn simulation(scheme: Scheme) -> Simulation<Model> {
    let model = model();
    Simulation::new(model).with_scheme(scheme)
}

fn header() -> Header {
    let scheme = serde_json::to_string(&Scheme::default()).unwrap();
    let [program, name, scene] = ["stiction", "box", "box = true"].map(String::from);
    Header { program, name, scene, scheme, h: 0.01, accuracy: None, until: 1.0 }
}

/// A folder of its own that goes when it is no longer needed.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-journal-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Goes on for some steps; returns the states.
fn run(simulation: &mut Simulation<Model>, writer: &mut Writer, steps: usize) -> Vec<State> {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let mut states = Vec::new();
    for _ in 0..steps {
        simulation.step_into(0.01, &mut report).unwrap();
        writer.add(&Step::new(simulation.state(), &report)).unwrap();
        states.push(simulation.state().clone());
    }
    states
}

fn read(path: &Path) -> (Vec<Step>, Option<stiction_journal::Damage>) {
    let mut journal = Journal::open(path).unwrap();
    let steps = journal.by_ref().collect::<Result<_, _>>().unwrap();
    (steps, journal.damage())
}

#[test]
fn states_and_reports_come_back_bit_by_bit() {
    let folder = Folder::new("whole");
    let schemes = [Scheme::default(), Scheme::st00_nonlinear(), Scheme::pagt06(), Scheme::ap97()];
    for (k, scheme) in schemes.into_iter().enumerate() {
        let path = folder.file(&format!("{k}.journal"));
        let mut simulation = simulation(scheme);
        let start = simulation.state().clone();
        let mut writer = Writer::create(&path, &header(), &start).unwrap();
        let states = run(&mut simulation, &mut writer, 60);
        let journal = Journal::open(&path).unwrap();
        assert_eq!(journal.header(), &header());
        assert_eq!(journal.start(), &start);
        let (steps, damage) = read(&path);
        assert_eq!((steps.len(), damage), (60, None));
        for (step, state) in steps.iter().zip(&states) {
            assert_eq!(&step.state(), state);
        }
        assert!(steps.iter().any(|s| !s.contacts.is_empty()));
        // and a run that starts there goes the same way
        simulation.restore(steps[29].state());
        for state in &states[30..] {
            simulation.step(0.01).unwrap();
            assert_eq!(simulation.state(), state);
        }
    }
}

#[test]
fn a_journal_cut_anywhere_is_read_to_its_last_whole_record_and_goes_on() {
    let folder = Folder::new("cut");
    let whole = folder.file("whole.journal");
    let mut first = simulation(Scheme::default());
    let start = first.state().clone();
    let mut writer = Writer::create(&whole, &header(), &start).unwrap();
    run(&mut first, &mut writer, 12);
    drop(writer);
    let bytes = fs::read(&whole).unwrap();
    let path = folder.file("cut.journal");
    let mut read_steps = 0;
    // all lengths of the first records, then some of each
    for length in (0..2500).chain((2500..bytes.len()).step_by(29)) {
        fs::write(&path, &bytes[..length]).unwrap();
        match Writer::resume(&path, |_| read_steps += 1) {
            Err(JournalError::Empty(_)) => assert!(length < 1500, "{length} bytes"),
            Err(error) => panic!("{length} bytes: {error}"),
            // some go on, and is the same file in the end
            Ok(mut writer) if length % 25 == 0 => {
                let done = usize::try_from(writer.steps()).unwrap();
                let mut simulation = simulation(Scheme::default());
                let (steps, damage) = read(&path);
                assert_eq!((steps.len(), damage), (done, None));
                if let Some(step) = steps.last() {
                    simulation.restore(step.state());
                }
                run(&mut simulation, &mut writer, 12 - done);
                assert_eq!(fs::read(&path).unwrap(), bytes, "{length} bytes");
            }
            Ok(_) => {}
        }
    }
    assert!(read_steps > 0);
    // zeros that nobody wrote, as after a loss of power
    fs::write(&path, [&bytes[..], &[0; 5000]].concat()).unwrap();
    Writer::resume(&path, |_| {}).unwrap();
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_changed_byte_is_found_with_its_record_and_nothing_is_cut() {
    let folder = Folder::new("changed");
    let path = folder.file("run.journal");
    let mut first = simulation(Scheme::default());
    let start = first.state().clone();
    let mut writer = Writer::create(&path, &header(), &start).unwrap();
    run(&mut first, &mut writer, 8);
    drop(writer);
    let bytes = fs::read(&path).unwrap();
    for at in (0..bytes.len()).step_by(7) {
        let mut changed = bytes.clone();
        changed[at] ^= 0x10;
        fs::write(&path, &changed).unwrap();
        let error = Writer::resume(&path, |_| {}).expect_err("a changed byte");
        match error {
            JournalError::NotAJournal(_) => assert!(at < 16),
            JournalError::Format { .. } => assert!((16..20).contains(&at)),
            JournalError::Damaged { damage, .. } => {
                assert!(damage.offset <= at as u64, "{damage} for byte {at}");
            }
            other => panic!("byte {at}: {other}"),
        }
        assert_eq!(fs::read(&path).unwrap(), changed, "nothing is cut");
    }
    // the file as it was is whole
    fs::write(&path, &bytes).unwrap();
    let (steps, damage) = read(&path);
    assert_eq!((steps.len(), damage), (8, None));
}

#[test]
fn what_cannot_be_written_is_told() {
    let folder = Folder::new("refused");
    let start = simulation(Scheme::default()).state().clone();
    let nowhere = folder.file("no/such/folder/run.journal");
    let error = Writer::create(&nowhere, &header(), &start).expect_err("no folder");
    assert!(matches!(error, JournalError::File { .. }), "{error}");
    let there = folder.file("there.journal");
    fs::write(&there, "precious").unwrap();
    let error = Writer::create(&there, &header(), &start).expect_err("it exists");
    assert!(matches!(error, JournalError::File { .. }), "{error}");
    assert_eq!(fs::read(&there).unwrap(), b"precious");
    let error = Journal::open(&there).expect_err("no journal");
    assert!(matches!(error, JournalError::NotAJournal(_)), "{error}");
    let full = Path::new("/dev/full");
    if full.exists() {
        let error = Writer::replace(full, &header(), &start).expect_err("full");
        assert!(matches!(error, JournalError::Write { records: 0, .. }), "{error}");
    }
}
