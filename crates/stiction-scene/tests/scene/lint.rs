//! Warnings about likely mistakes.

use crate::{PLANE, SPACE};
use stiction_scene::{Scene, Severity};

/// Key and message of each warning.
fn warnings(text: &str) -> Vec<(String, String)> {
    let scene = Scene::from_toml(text, "test.toml").unwrap_or_else(|e| panic!("{e}"));
    let found = scene.lint();
    assert!(found.iter().all(|d| d.severity == Severity::Warning));
    found.into_iter().map(|d| (d.key, d.message)).collect()
}

/// Asserts that a scene has exactly one warning, with this key and this part of a message.
#[track_caller]
fn assert_warning(text: &str, key: &str, part: &str) {
    let found = warnings(text);
    let [(at, message)] = &found[..] else { panic!("{found:#?}") };
    assert_eq!(at, key);
    assert!(message.contains(part), "{message}");
}

const BALL: &str = "[[bodies]]\nname = \"ball\"\ndensity = 1.0\nposition = [0.0, 5.0]\n\
                    shapes = [{ kind = \"disk\", radius = 0.5 }]\n";

#[test]
fn a_plain_scene_has_no_warnings() {
    assert_eq!(warnings(&format!("{PLANE}{BALL}")), []);
}

#[test]
fn keys_and_materials_without_effect() {
    assert_warning(&format!("{PLANE}{BALL}axis = [1.0, 0.0]\n"), "bodies[0].axis", "no effect");
    assert_warning(
        &format!("{PLANE}{BALL}[materials.ice]\nfriction = 0.0\n"),
        "materials.ice",
        "nothing is made of",
    );
    let spinning =
        format!("{PLANE}{BALL}[[bodies]]\nname = \"wall\"\nmotion = \"fixed\"\nangular_velocity = 1.0\n");
    assert_warning(&spinning, "bodies[1].angular_velocity", "no effect");
}

#[test]
fn overlap_that_is_allowed() {
    let other = BALL.replace("ball", "other").replace("5.0", "5.9");
    let text = format!("{PLANE}world = {{ allow_overlap = true }}\n{BALL}{other}");
    assert_warning(&text, "bodies[1].position", "`ball` and `other` overlap by 1.000e-1 m");
}

#[test]
fn extreme_masses() {
    let heavy = BALL.replace("ball", "anvil").replace("density = 1.0", "density = 1e5").replace("5.0", "9.0");
    assert_warning(&format!("{PLANE}{BALL}{heavy}"), "bodies[1].density", "1.0e5 times that of `ball`");
}

#[test]
fn redundant_joints() {
    // a door on two hinges: ten rows, five of them redundant
    let hinge = |name: &str, z: f64| {
        format!(
            "[[joints]]\nname = \"{name}\"\nkind = \"revolute\"\nbodies = [\"world\", \"door\"]\n\
             at = [0.0, 0.0, {z:?}]\naxis = [0.0, 0.0, 1.0]\n"
        )
    };
    let door = "[[bodies]]\nname = \"door\"\ndensity = 500.0\nposition = [0.5, 0.0, 1.0]\n\
                shapes = [{ kind = \"box\", half_extents = [0.5, 0.02, 1.0] }]\n";
    let found = warnings(&format!("{SPACE}{door}{}{}", hinge("lower", 0.2), hinge("upper", 1.8)));
    let rows = |(_, message): &(String, String)| message.split(' ').next().unwrap().parse::<usize>().unwrap();
    assert!(
        found
            .iter()
            .all(|(key, message)| key.ends_with("].kind")
                && message.contains("are redundant with other joints"))
    );
    assert_eq!(found.iter().map(rows).sum::<usize>(), 5, "{found:#?}");
    assert_eq!(warnings(&format!("{SPACE}{door}{}", hinge("lower", 0.2))), []);
}

#[test]
fn inconsistent_joints() {
    let rod = "[[joints]]\nname = \"rod\"\nkind = \"distance\"\nbodies = [\"world\", \"ball\"]\nat = [0.0, 0.0]\n\
               at_b = [0.0, 5.0]\n";
    assert_warning(
        &format!("{PLANE}{BALL}{rod}length = 5.5\n"),
        "joints[0].length",
        "an error of 5.000e-1 m",
    );
    let moving = format!("{BALL}velocity = [0.0, 2.0]\n");
    assert_warning(
        &format!("{PLANE}{moving}{rod}"),
        "joints[0].bodies",
        "violate joint `rod` by 2.000e0 m/s",
    );
}

#[test]
fn a_wedge_whose_cone_is_not_pointed() {
    // a disk between two parallel walls, whose normal impulses can cancel
    let wall = |name: &str, x: f64, angle: f64| {
        format!(
            "[[bodies]]\nname = \"{name}\"\nmotion = \"fixed\"\nposition = [{x:?}, 0.0]\nangle_deg = {angle:?}\n\
             shapes = [{{ kind = \"half_plane\" }}]\n"
        )
    };
    let text = format!("{PLANE}{}{}{BALL}", wall("left", -0.5, -90.0), wall("right", 0.5, 90.0));
    assert_warning(&text, "bodies[2].name", "the friction cone is not pointed");
    let wide = format!("{PLANE}{}{}{BALL}", wall("left", -0.5, -90.0), wall("right", 0.6, 90.0));
    assert_eq!(warnings(&wide), []);
}

#[test]
fn unusual_run_settings() {
    let run = |run: &str| format!("format = 1\ndimension = 2\nrun = {run}\n{BALL}");
    assert_warning(&run("{ duration = 0.0 }"), "run.duration", "makes no step");
    assert_warning(&run("{ duration = 1e-3 }"), "run", "exceeds the duration");
    assert_warning(
        &run("{ duration = 9.0, step = 0.5 }"),
        "run.step",
        "more than the size of the smallest body",
    );
    assert_warning(&run("{ duration = 1e8 }"), "run", "1.0e10 steps");
    assert_warning(
        &run("{ duration = 1.0, accuracy = 1e-15 }"),
        "run.accuracy",
        "outside the sensible range",
    );
    let record = format!("{}[record]\nevery = 2.0\n", run("{ duration = 1.0 }"));
    assert_warning(&record, "record.every", "nothing is recorded");
}

#[test]
fn forces_that_are_not_finite() {
    let force = "forces = [{ body = \"ball\", force = [\"1/x\", 0.0] }]\n";
    assert_warning(&format!("{PLANE}{force}{BALL}"), "bodies[0].name", "not finite at the start");
}

#[test]
fn idle_or_distant_bodies() {
    assert_warning(
        &format!("{PLANE}bodies = [{{ name = \"a\", mass = 1.0, inertia = 1.0 }}]"),
        "bodies[0].name",
        "has no shapes",
    );
    assert_warning(
        &format!("{PLANE}{}", BALL.replace("5.0", "1e9")),
        "bodies[0].position",
        "gaps lose digits",
    );
    let still = "bodies = [{ name = \"a\", motion = \"fixed\" }]";
    assert_warning(&format!("{SPACE}{still}"), "bodies", "no body can move");
}
