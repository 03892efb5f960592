//! Helpers of all test modules: folders, the program, scenes.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use stiction_journal::{Journal, StepRecord};

/// Temporary folder of a test, removed at its end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-runs-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Program with arguments, not yet started.
pub(crate) fn command(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_stiction"));
    command.args(arguments.iter().map(AsRef::as_ref));
    command
}

pub(crate) fn stiction(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    command(arguments).output().unwrap()
}

pub(crate) fn code(output: &Output) -> i32 {
    output.status.code().unwrap_or(-1)
}

pub(crate) fn printed(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

pub(crate) fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", printed(output)))
}

/// All steps of an undamaged journal.
pub(crate) fn records(path: &Path) -> Vec<StepRecord> {
    let mut journal = Journal::open(path).unwrap();
    let records = journal.by_ref().collect::<Result<_, _>>().unwrap();
    assert_eq!(journal.damage(), None);
    records
}

/// First lines of a scene, with a run of this duration and step [s].
pub(crate) fn head(dimension: u32, title: &str, duration: f64, step: f64) -> String {
    format!(
        "format = 1\ndimension = {dimension}\ntitle = \"{title}\"\n\
         run = {{ duration = {duration:?}, step = {step:?} }}\n"
    )
}

/// Floor of a planar scene.
pub(crate) const FLOOR: &str = r#"
[[bodies]]
name = "floor"
motion = "fixed"
shapes = [{ kind = "half_plane" }]
"#;

/// Pendulum of a planar scene, hinged to the floor.
pub(crate) const PENDULUM: &str = r#"
[[bodies]]
name = "bob"
mass = 1.0
inertia = 0.1
position = [3.0, 4.0]

[[joints]]
name = "hinge"
kind = "revolute"
bodies = ["floor", "bob"]
at = [2.0, 4.0]
"#;

/// Scene of a stack of boxes on a floor, the top one moving, beside a pendulum.
pub(crate) fn boxes(duration: f64, friction: f64) -> String {
    let head = head(2, "Boxes and a pendulum", duration, 0.002);
    let mut scene = format!("{head}\n[materials.default]\nfriction = {friction}\n{FLOOR}");
    for k in 0..5 {
        let (x, y) = (0.03 * f64::from(k % 2), 0.1 + 0.21 * f64::from(k));
        let _ = write!(
            scene,
            r#"
[[bodies]]
name = "box {k}"
density = 500.0
position = [{x}, {y}]
velocity = [{speed}, 0.0]
shapes = [{{ kind = "polygon", vertices = [[-0.2, -0.1], [0.2, -0.1], [0.2, 0.1], [-0.2, 0.1]] }}]
"#,
            speed = if k == 4 { 2.0 } else { 0.0 }
        );
    }
    scene + PENDULUM
}

/// Scene of two balls that roll and spin towards each other on a floor, with rolling and torsional friction.
pub(crate) fn balls(duration: f64) -> String {
    let floor = r#"
[materials.default]
friction = 0.4
torsion = 0.03
rolling = 0.01

[[bodies]]
name = "floor"
motion = "fixed"
shapes = [{ kind = "half_space" }]
"#;
    let mut scene = head(3, "Balls that spin and roll", duration, 0.002) + floor;
    for (k, x, speed, spin) in [(0, 0.0, 0.5, 8.0), (1, 0.6, -0.3, -5.0)] {
        let _ = write!(
            scene,
            r#"
[[bodies]]
name = "ball {k}"
density = 500.0
position = [{x}, 0.0, 0.2]
velocity = [{speed}, 0.1, 0.0]
angular_velocity = [-0.5, {roll}, {spin}]
shapes = [{{ kind = "sphere", radius = 0.2 }}]
"#,
            roll = speed / 0.2
        );
    }
    scene
}

/// Scene of a ball that bounces and slides, beside a pendulum.
pub(crate) fn bouncing() -> String {
    let head = head(2, "A ball that bounces, and a pendulum", 1.0, 0.01);
    let material = "\n[materials.default]\nfriction = 0.4\nrestitution = 0.6\n";
    let ball = r#"
[[bodies]]
name = "ball"
density = 500.0
position = [0.0, 0.5]
velocity = [6.0, 0.0]
angular_velocity = 3.0
shapes = [{ kind = "disk", radius = 0.1 }]
"#;
    [&head, material, FLOOR, ball, PENDULUM].concat()
}
