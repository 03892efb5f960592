//! All mistakes at once, each with its line and what may help.

use crate::{PLANE, SPACE, complaints};
use stiction_scene::Scene;

/// Line, column, key and message of each complaint.
fn places(text: &str) -> Vec<(usize, usize, String, String)> {
    complaints(text).0.into_iter().map(|d| (d.line, d.column, d.key, d.message)).collect()
}

#[test]
fn all_kinds_of_mistakes_are_reported_at_once() {
    let text = format!(
        "{PLANE}
[materials.ice]
frictoin = 0.1

[[bodies]]
name = \"floor\"
motion = \"fixd\"
shapes = [{{ kind = \"half_plane\", material = \"icy\" }}]

[[bodies]]
name = \"block\"
mass = \"heavy\"
position = [0.0, 1.0, 2.0]
shapes = [{{ kind = \"disk\", radius = -1.0 }}]

[[joints]]
kind = \"revolute\"
bodies = [\"floor\", \"blok\"]
at = [0.0, 0.0]
"
    );
    let found = complaints(&text);
    println!("{found}");
    let lines: Vec<_> = found.0.iter().map(|d| (d.line, d.column, d.key.as_str())).collect();
    assert_eq!(
        lines,
        [
            (6, 1, "materials.ice.frictoin"),
            (10, 10, "bodies[0].motion"),
            (11, 45, "bodies[0].shapes[0].material"),
            (15, 8, "bodies[1].mass"),
            (16, 12, "bodies[1].position"),
            (17, 37, "bodies[1].shapes[0].radius"),
            (21, 20, "joints[0].bodies[1]"),
        ]
    );
    let helps: Vec<_> = found.0.iter().filter_map(|d| d.suggestion.as_deref()).collect();
    assert_eq!(
        helps,
        ["did you mean `friction`?", "did you mean `fixed`?", "did you mean `ice`?", "did you mean `block`?",]
    );
}

#[test]
fn what_the_world_refuses_is_found_in_the_file() {
    let text = format!(
        "{PLANE}
[[bodies]]
name = \"a\"
density = 1.0
shapes = [{{ kind = \"disk\", radius = 1.0 }}]

[[bodies]]
name = \"b\"
density = 1.0
position = [0.5, 0.0]
shapes = [{{ kind = \"disk\", radius = 1.0 }}]
"
    );
    let found = places(&text);
    assert_eq!(
        found,
        [(11, 8, "bodies[1].name".into(), "bodies a and b: overlap by 1.5 m at the start".into())]
    );
}

/// The one complaint about a planar scene with a ball: its line, its key, and a part of what it says.
#[track_caller]
fn complains(text: &str, line: usize, key: &str, part: &str) {
    let ball = "bodies = [{ name = \"ball\", mass = 1.0, inertia = 1.0 }]\n";
    let found = complaints(&format!("{PLANE}{ball}{text}"));
    let [one] = &found.0[..] else { panic!("{found}") };
    assert_eq!((one.line, one.key.as_str()), (line, key), "{found}");
    assert!(found.to_string().contains(part), "{found}");
}

#[test]
fn the_file_as_a_whole() {
    let found = complaints("");
    let messages: Vec<_> = found.0.iter().map(|d| d.message.split(':').next().unwrap()).collect();
    let missing = ["format", "dimension", "run", "bodies"].map(|key| format!("missing key `{key}`"));
    assert_eq!(messages, missing);
    let found = complaints("format = 2\ndimension = 2\nrun = { duration = 1.0 }\nbodies = []\n");
    assert!(found.to_string().contains("2 must be 1"), "{found}");
    let found = complaints("format = 1\nformat = 1\n= 3\nx = [1, 2\n");
    assert!(found.0.len() >= 3 && found.0.iter().all(|d| d.message.starts_with("not TOML")), "{found}");
    assert_eq!(found.0[0].line, 2);
}

#[test]
fn limits_are_named() {
    let huge = format!("# {}", "x".repeat(9 << 20));
    let found = complaints(&huge);
    assert!(found.0[0].message.contains("more than the limit of 8388608 bytes"), "{}", found.0[0].message);
    for deep in [
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}", "{a=".repeat(100_000)),
        format!("{}b = 1", "a.".repeat(100_000)),
        format!("[{}b]", "a.".repeat(100_000)),
    ] {
        let found = complaints(&deep);
        let named =
            found.0.iter().any(|d| d.message == "nested deeper than the limit of 80 tables and lists");
        assert!(named, "{:?}", found.0.iter().map(|d| &d.message).take(3).collect::<Vec<_>>());
    }
    let copies = "[[bodies]]\nname = \"a\"\nmass = 1.0\ninertia = 1.0\n";
    let found = complaints(&format!("{PLANE}{copies}copies = [{{ count = 200 }}, {{ count = 200 }}]"));
    assert!(found.to_string().contains("40000 copies are more than the limit of 20000"), "{found}");
    let found = complaints(&format!("{PLANE}{copies}copies = {{ count = 20001 }}"));
    assert!(found.to_string().contains("20001 must lie between 1 and 20000"), "{found}");
    complains(
        "[world]\ngravity = [0.0, -2e300]",
        6,
        "world.gravity[1]",
        "-2e300 is larger than the limit of 1e30",
    );
    let parentheses = format!("[[forces]]\nbody = \"ball\"\ntorque = \"{}t\"", "(".repeat(31));
    complains(&parentheses, 7, "forces[0].torque", "more than 30 parentheses");
    let long = format!("[[forces]]\nbody = \"ball\"\ntorque = \"t{}\"", "+t".repeat(300));
    complains(&long, 7, "forces[0].torque", "at most 500 bytes");
}

#[test]
fn a_crowd_in_one_place_is_refused_at_once() {
    let crowd = |shape: &str, count: usize, allow: bool| {
        complaints(&format!(
            "{PLANE}world = {{ allow_overlap = {allow} }}\nbodies = [{{ name = \"a\", density = 1.0, shapes = [{{ {shape} }}], copies = {{ count = {count} }} }}]"
        ))
    };
    let disk = "kind = \"disk\", radius = 1.0";
    for allow in [false, true] {
        let found = crowd(disk, 2_000, allow);
        assert_eq!((found.0.len(), found.0[0].key.as_str()), (1, "bodies[0].copies"));
        assert_eq!(found.0[0].message, "more than 300000 pairs of shapes are in one place");
    }
    let found = crowd("kind = \"ellipse\", semi_axes = [1.0, 2.0]", 2_000, false);
    assert!(
        found.0[0].message.contains("more than 10000 pairs of shapes that may meet have no gap function"),
        "{found}"
    );
    // what never meets is no crowd
    assert_eq!(crowd(&format!("{disk}, groups = {{ collides = [] }}"), 2_000, false).0.len(), 0);
    assert_eq!(crowd(disk, 20, true).0.len(), 0);
}

#[test]
fn a_file_full_of_mistakes_is_cut_short() {
    let mut text = PLANE.to_string();
    text.extend((0..300).map(|i| format!("key{i} = 1\n")));
    let found = complaints(&text);
    assert_eq!(found.0.len(), 101);
    // the missing list of bodies is one of them
    assert_eq!(found.0[100].message, "and 201 more findings after this one");
}

#[test]
fn expressions_are_explained() {
    let torque = |text: &str| format!("[[forces]]\nbody = \"ball\"\ntorque = \"{text}\"");
    complains(&torque("sin(omga)"), 7, "forces[0].torque", "did you mean `omega`?");
    complains(&torque("wx"), 7, "forces[0].torque", "`wx` is no variable here");
    complains(&torque("1 +"), 7, "forces[0].torque", "no expression");
    complains(&torque(""), 7, "forces[0].torque", "no expression");
    let path = |angle: &str| {
        format!("[[bodies]]\nname = \"k\"\nmotion = \"kinematic\"\npath = {{ angle = \"{angle}\" }}")
            .replace("[[bodies]]", "")
    };
    let kinematic = |angle: &str| {
        let body = path(angle).trim().replace('\n', ", ");
        complaints(&format!("{PLANE}bodies = [{{ {body} }}, {{ name = \"b\", mass = 1.0, inertia = 1.0 }}]"))
    };
    assert!(kinematic("x").to_string().contains("`x` is no variable here"));
    assert!(kinematic("floor(t)").to_string().contains("no derivative by t"), "{}", kinematic("floor(t)"));
    assert!(kinematic("1/t").to_string().contains("must be finite"), "{}", kinematic("1/t"));
    assert_eq!(kinematic("sin(t)^2").0.len(), 0);
}

#[test]
fn names_and_references() {
    let joint = |bodies: &str| format!("[[joints]]\nkind = \"revolute\"\nat = [0.0, 0.0]\nbodies = {bodies}");
    complains(&joint("[\"world\", \"bal\"]"), 8, "joints[0].bodies[1]", "did you mean `ball`?");
    complains(&joint("[\"world\", \"ball[i]\"]"), 8, "joints[0].bodies[1]", "an entry that has no copies");
    complains(&joint("[\"ball\", \"ball\"]"), 8, "joints[0].bodies", "on both sides");
    complains(&joint("[\"ball\"]"), 8, "joints[0].bodies", "expected a list of 2");
    complains("[record]\nbodies = [\"bell\"]", 6, "record.bodies[0]", "there is no body `bell`");
    complains("[[forces]]\nbody = \"world\"", 6, "forces[0].body", "there is no body `world`");
    let twice =
        "bodies = [{ name = \"a\", mass = 1.0, inertia = 1.0 }, { name = \"a\", mass = 1.0, inertia = 1.0 }]";
    let found = complaints(&format!("{PLANE}{twice}"));
    assert!(found.to_string().contains("another body is named `a`"), "{found}");
    let copied = "bodies = [{ name = \"a\", mass = 1.0, inertia = 1.0, copies = { count = 3 } }]\n\
                  springs = [{ bodies = [\"a\", \"a[3]\"] }]";
    let found = complaints(&format!("{PLANE}{copied}")).to_string();
    assert!(
        found.contains("it has copies: `a[0]` to `a[2]`") && found.contains("there is no body `a[3]`"),
        "{found}"
    );
}

#[test]
fn what_a_kind_of_body_or_joint_needs() {
    let of = |body: &str| complaints(&format!("{PLANE}bodies = [{{ name = \"a\", {body} }}]")).to_string();
    assert!(of("velocity = [1.0, 0.0]").contains("missing key `density` or `mass`"));
    assert!(of("mass = 1.0").contains("missing key `inertia`"));
    assert!(of("mass = 1.0, motion = \"slider\"").contains("missing key `axis`"));
    assert!(of("mass = 1.0, motion = \"slider\", axis = [0.0, 0.0]").contains("an axis must not be 0"));
    assert!(of("motion = \"kinematic\"").contains("missing key `path`"));
    assert!(of("motion = \"fixed\"").contains("no body moves"));
    assert!(of("density = 1.0").contains("total mass"), "{}", of("density = 1.0"));
    assert!(of("rpy_deg = [0.0, 0.0, 0.0]").contains("use `angle` or `angle_deg`"));
    complains(
        "[[joints]]\nkind = \"prismatic\"\nbodies = [\"world\", \"ball\"]\nat = [0.0, 0.0]",
        5,
        "joints[0]",
        "missing key `axis`",
    );
    complains(
        "[[joints]]\nkind = \"weld\"\nbodies = [\"world\", \"ball\"]",
        5,
        "joints[0]",
        "missing key `at`",
    );
    let motor =
        "[[joints]]\nkind = \"weld\"\nbodies = [\"world\", \"ball\"]\nat = [0.0, 0.0]\nlimits = [0.0, 1.0]";
    complains(motor, 9, "joints[0].limits", "a fixed joint has no coordinate");
    let polygon = "shapes = [{ kind = \"polygon\", vertices = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]] }]";
    assert!(of(&format!("density = 1.0, {polygon}")).contains("clockwise"));
}

#[test]
fn an_inertia_that_no_body_has() {
    let text = format!("{SPACE}\n[[bodies]]\nname = \"a\"\nmass = 1.0\ninertia = [1.0, 1.0, 3.0]\n");
    let found = complaints(&text);
    assert_eq!((found.0[0].line, found.0[0].key.as_str()), (8, "bodies[0].inertia"));
    assert!(found.0[0].message.contains("two of them are never less than the third"), "{found}");
}

#[test]
fn mistakes_of_copies_are_one() {
    let text = format!(
        "{PLANE}bodies = [{{ name = \"a\", density = 1.0, shapes = [{{ kind = \"disk\", radius = 1.0 }}], copies = {{ count = 4 }} }}]"
    );
    let found = complaints(&text);
    assert_eq!(found.0.len(), 1, "{found}");
    assert!(found.0[0].message.ends_with("at the start, and 5 more like this"), "{found}");
}

#[test]
fn a_finding_looks_like_a_compiler_s() {
    let text = format!(
        "{PLANE}\n[materials.ice]\nfrictoin = 0.1\n[[bodies]]\nname = \"é\"\nmass = 1.0\ninertia = 1.0\n"
    );
    let found = Scene::from_toml(&text, "ice.toml").unwrap_err();
    let expected = "error: unknown key `frictoin`
 --> ice.toml:6:1 (materials.ice.frictoin)
  |
6 | frictoin = 0.1
  | ^^^^^^^^
  = did you mean `friction`?

1 error";
    assert_eq!(found.to_string(), expected);
    let json = serde_json::to_value(&found).unwrap();
    let first = &json[0];
    assert_eq!(first["severity"], "error");
    assert_eq!((first["line"].as_u64(), first["column"].as_u64()), (Some(6), Some(1)));
    assert_eq!(first["suggestion"], "did you mean `friction`?");
}
