//! Helpers of all test modules: a model, a folder, runs into a journal.

use nalgebra::{Isometry2, Point2, Vector2};
use std::fs;
use std::path::{Path, PathBuf};
use stiction::planar::{Attached, Body, Joint, Mass, Model, Polygon, Shape, World};
use stiction::{Evidence, Scheme, Simulation, StepReport};
use stiction_journal::{Damage, Journal, JournalHeader, JournalWriter, StepRecord};

/// Step size of all runs [s].
pub(crate) const STEP: f64 = 0.01;

/// Box that falls on a floor, beside a pendulum.
fn model() -> Model {
    let mut world = World::new(Vector2::new(0.0, -9.81));
    world.add_body(Body::fixed("ground").with(Attached::new(Shape::HalfPlane)));
    let shape = Shape::Polygon(Polygon::rectangle([0.2, 0.1]).unwrap());
    let body = Body::rigid("box", Mass::Density(100.0)).at(Isometry2::new(Vector2::new(0.0, 0.3), 0.4));
    world.add_body(body.with(Attached::new(shape)));
    let anchor = world.add_body(Body::fixed("anchor").at(Isometry2::translation(-4.0, 4.0)));
    let bob = world.add_body(Body::rigid("bob", Mass::given(1.0, 0.1)).at(Isometry2::translation(-3.0, 4.0)));
    world.add_joint(Joint::revolute("hinge", &world, anchor, bob, Point2::new(-4.0, 4.0)));
    world.build().unwrap()
}

pub(crate) fn simulation(scheme: Scheme) -> Simulation<Model> {
    let model = model();
    Simulation::new(model).with_scheme(scheme)
}

pub(crate) fn header() -> JournalHeader {
    let scheme = serde_json::to_string(&Scheme::default()).unwrap();
    let [program, name, scene] = ["stiction", "box", "box = true"].map(String::from);
    JournalHeader { program, name, scene, scheme, h: STEP, accuracy: None, until: 1.0 }
}

/// Temporary folder of a test, removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-journal-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Makes some steps, appends them to the journal and returns their records.
pub(crate) fn run(
    simulation: &mut Simulation<Model>,
    writer: &mut JournalWriter,
    steps: usize,
) -> Vec<StepRecord> {
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    let mut records = Vec::new();
    for _ in 0..steps {
        simulation.step_into(STEP, &mut report).unwrap();
        let record = StepRecord { state: simulation.state().clone(), report: report.clone(), accuracy: None };
        writer.append(&record).unwrap();
        records.push(record);
    }
    records
}

/// Reads all steps up to the end or to a damaged record.
pub(crate) fn read(path: &Path) -> (Vec<StepRecord>, Option<Damage>) {
    let mut journal = Journal::open(path).unwrap();
    let records = journal.by_ref().collect::<Result<_, _>>().unwrap();
    (records, journal.damage())
}

/// Writes a journal of some steps with the default scheme, and returns its bytes.
pub(crate) fn written(path: &Path, steps: usize) -> Vec<u8> {
    let mut simulation = simulation(Scheme::default());
    let mut writer = JournalWriter::create(path, &header(), simulation.state()).unwrap();
    run(&mut simulation, &mut writer, steps);
    drop(writer);
    fs::read(path).unwrap()
}
