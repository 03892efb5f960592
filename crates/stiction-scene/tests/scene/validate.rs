//! Errors of scene files: all at once, each with its line and a suggestion.

use crate::{PLANE, SPACE, errors};
use stiction_scene::Scene;

/// Line, column, key and message of each error.
fn located_errors(text: &str) -> Vec<(usize, usize, String, String)> {
    errors(text).0.into_iter().map(|d| (d.line, d.column, d.key, d.message)).collect()
}

#[test]
fn all_errors_are_reported_at_once() {
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
    let found = errors(&text);
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
fn a_run_to_an_accuracy_takes_no_scheme_that_it_ignores() {
    let scene = |scheme: &str| {
        format!(
            "format = 1\ndimension = 2\n[run]\nduration = 1.0\naccuracy = 1e-6\nscheme = {scheme}\n\
             [[bodies]]\nname = \"a\"\nmass = 1.0\ninertia = 1.0\n"
        )
    };
    for name in ["default", "ah04", "cp03", "st00"] {
        for scheme in [format!("\"{name}\""), format!("{{ name = \"{name}\", passes = 2 }}")] {
            let found = located_errors(&scene(&scheme));
            assert_eq!(found.len(), 1, "{found:?}");
            let (line, column, key, message) = &found[0];
            assert_eq!((*line, *column, key.as_str()), (6, 10, "run.scheme"));
            assert!(message.contains(&format!("does not use the scheme `{name}`")), "{message}");
        }
    }
    let found = located_errors(&scene(
        "{ name = \"accurate\", tolerance = 1e-11, middle = \"tangent\", passes = 1 }",
    ));
    let keys: Vec<&str> = found.iter().map(|f| f.2.as_str()).collect();
    assert_eq!(keys, ["run.scheme.middle", "run.scheme.passes"]);
    assert!(found[0].3.contains("does not use `middle` of a scheme; remove it"), "{}", found[0].3);
    for used in
        ["\"accurate\"", "\"pagt06\"", "{ name = \"accurate\", tolerance = 1e-11, restitution_speed = 0.1 }"]
    {
        assert_eq!(located_errors(&scene(used)), [], "{used}");
    }
}

#[test]
fn errors_of_the_world_have_their_line() {
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
    let found = located_errors(&text);
    assert_eq!(
        found,
        [(11, 8, "bodies[1].name".into(), "bodies a and b: overlap by 1.5 m at the start".into())]
    );
}

/// Asserts that a planar scene with a ball has exactly one error, with this line, key and part of a message.
#[track_caller]
fn assert_error(text: &str, line: usize, key: &str, part: &str) {
    let ball = "bodies = [{ name = \"ball\", mass = 1.0, inertia = 1.0 }]\n";
    let found = errors(&format!("{PLANE}{ball}{text}"));
    let [one] = &found.0[..] else { panic!("{found}") };
    assert_eq!((one.line, one.key.as_str()), (line, key), "{found}");
    assert!(found.to_string().contains(part), "{found}");
}

#[test]
fn the_file_as_a_whole() {
    let found = errors("");
    let messages: Vec<_> = found.0.iter().map(|d| d.message.split(':').next().unwrap()).collect();
    let missing = ["format", "dimension", "run", "bodies"].map(|key| format!("missing key `{key}`"));
    assert_eq!(messages, missing);
    let found = errors("format = 2\ndimension = 2\nrun = { duration = 1.0 }\nbodies = []\n");
    assert!(found.to_string().contains("2 must be 1"), "{found}");
    let found = errors("format = 1\nformat = 1\n= 3\nx = [1, 2\n");
    assert!(found.0.len() >= 3 && found.0.iter().all(|d| d.message.starts_with("not TOML")), "{found}");
    assert_eq!(found.0[0].line, 2);
}

#[test]
fn limits_are_named() {
    let huge = format!("# {}", "x".repeat(9 << 20));
    let found = errors(&huge);
    assert!(found.0[0].message.contains("more than the limit of 8388608 bytes"), "{}", found.0[0].message);
    for deep in [
        format!("x = {}", "[".repeat(100_000)),
        format!("x = {}", "{a=".repeat(100_000)),
        format!("{}b = 1", "a.".repeat(100_000)),
        format!("[{}b]", "a.".repeat(100_000)),
    ] {
        let found = errors(&deep);
        let named =
            found.0.iter().any(|d| d.message == "nested deeper than the limit of 80 tables and lists");
        assert!(named, "{:?}", found.0.iter().map(|d| &d.message).take(3).collect::<Vec<_>>());
    }
    let copies = "[[bodies]]\nname = \"a\"\nmass = 1.0\ninertia = 1.0\n";
    let found = errors(&format!("{PLANE}{copies}copies = [{{ count = 200 }}, {{ count = 200 }}]"));
    assert!(found.to_string().contains("40000 copies exceed the limit of 20000"), "{found}");
    let found = errors(&format!("{PLANE}{copies}copies = {{ count = 20001 }}"));
    assert!(found.to_string().contains("20001 must lie between 1 and 20000"), "{found}");
    assert_error(
        "[world]\ngravity = [0.0, -2e300]",
        6,
        "world.gravity[1]",
        "-2e300 exceeds the limit of 1e30",
    );
    let parentheses = format!("[[forces]]\nbody = \"ball\"\ntorque = \"{}t\"", "(".repeat(31));
    assert_error(&parentheses, 7, "forces[0].torque", "nested deeper than the limit of 30");
    let long = format!("[[forces]]\nbody = \"ball\"\ntorque = \"t{}\"", "+t".repeat(300));
    assert_error(&long, 7, "forces[0].torque", "at most 500 bytes");
}

#[test]
fn a_crowd_in_one_place_is_refused_at_once() {
    let crowd = |shape: &str, count: usize, allow: bool| {
        errors(&format!(
            "{PLANE}world = {{ allow_overlap = {allow} }}\nbodies = [{{ name = \"a\", density = 1.0, shapes = [{{ {shape} }}], copies = {{ count = {count} }} }}]"
        ))
    };
    let disk = "kind = \"disk\", radius = 1.0";
    for allow in [false, true] {
        let found = crowd(disk, 2_000, allow);
        assert_eq!((found.0.len(), found.0[0].key.as_str()), (1, "bodies[0].copies"));
        assert_eq!(found.0[0].message, "more than 300000 pairs of shapes are in one place");
    }
    let found = crowd("kind = \"half_plane\"", 2_000, false);
    assert!(
        found.0[0].message.contains("more than 10000 pairs of shapes that may meet have no gap function"),
        "{found}"
    );
    // shapes that cannot collide are not counted
    assert_eq!(crowd(&format!("{disk}, groups = {{ collides = [] }}"), 2_000, false).0.len(), 0);
    assert_eq!(crowd(disk, 20, true).0.len(), 0);
}

#[test]
fn the_list_of_errors_is_limited() {
    let mut text = PLANE.to_string();
    text.extend((0..300).map(|i| format!("key{i} = 1\n")));
    let found = errors(&text);
    assert_eq!(found.0.len(), 101);
    // 300 unknown keys and the missing list of bodies
    assert_eq!(found.0[100].message, "and 201 more findings after this one");
}

#[test]
fn expressions_are_explained() {
    let torque = |text: &str| format!("[[forces]]\nbody = \"ball\"\ntorque = \"{text}\"");
    assert_error(&torque("sin(omga)"), 7, "forces[0].torque", "did you mean `omega`?");
    assert_error(&torque("wx"), 7, "forces[0].torque", "unknown variable `wx`");
    assert_error(&torque("1 +"), 7, "forces[0].torque", "not an expression");
    assert_error(&torque(""), 7, "forces[0].torque", "not an expression");
    let path = |angle: &str| {
        format!("[[bodies]]\nname = \"k\"\nmotion = \"kinematic\"\npath = {{ angle = \"{angle}\" }}")
            .replace("[[bodies]]", "")
    };
    let kinematic = |angle: &str| {
        let body = path(angle).trim().replace('\n', ", ");
        errors(&format!("{PLANE}bodies = [{{ {body} }}, {{ name = \"b\", mass = 1.0, inertia = 1.0 }}]"))
    };
    assert!(kinematic("x").to_string().contains("unknown variable `x`"));
    for jump in ["floor(t)", "step(t-1)"] {
        let found = kinematic(jump).to_string();
        let name = jump.split('(').next().unwrap();
        assert!(found.contains(&format!("`{name}` jumps, so this has no velocity")), "{found}");
        assert!(found.contains("write a smooth function of t"), "{found}");
    }
    assert!(kinematic("1/t").to_string().contains("must be finite"), "{}", kinematic("1/t"));
    assert_eq!(kinematic("sin(t)^2").0.len(), 0);
}

#[test]
fn names_and_references() {
    let joint = |bodies: &str| format!("[[joints]]\nkind = \"revolute\"\nat = [0.0, 0.0]\nbodies = {bodies}");
    assert_error(&joint("[\"world\", \"bal\"]"), 8, "joints[0].bodies[1]", "did you mean `ball`?");
    assert_error(&joint("[\"world\", \"ball[i]\"]"), 8, "joints[0].bodies[1]", "an entry with no copies");
    assert_error(&joint("[\"ball\", \"ball\"]"), 8, "joints[0].bodies", "on both sides");
    assert_error(&joint("[\"ball\"]"), 8, "joints[0].bodies", "expected a list of 2");
    assert_error("[record]\nbodies = [\"bell\"]", 6, "record.bodies[0]", "there is no body `bell`");
    assert_error("[[forces]]\nbody = \"world\"", 6, "forces[0].body", "there is no body `world`");
    let twice =
        "bodies = [{ name = \"a\", mass = 1.0, inertia = 1.0 }, { name = \"a\", mass = 1.0, inertia = 1.0 }]";
    let found = errors(&format!("{PLANE}{twice}"));
    assert!(found.to_string().contains("another body is named `a`"), "{found}");
    let copied = "bodies = [{ name = \"a\", mass = 1.0, inertia = 1.0, copies = { count = 3 } }]\n\
                  springs = [{ bodies = [\"a\", \"a[3]\"] }]";
    let found = errors(&format!("{PLANE}{copied}")).to_string();
    assert!(
        found.contains("it has copies: `a[0]` to `a[2]`") && found.contains("there is no body `a[3]`"),
        "{found}"
    );
}

#[test]
fn keys_that_depend_on_the_kind_of_body_or_joint() {
    let of = |body: &str| errors(&format!("{PLANE}bodies = [{{ name = \"a\", {body} }}]")).to_string();
    assert!(of("velocity = [1.0, 0.0]").contains("missing key `density` or `mass`"));
    assert!(of("mass = 1.0").contains("missing key `inertia`"));
    assert!(of("mass = 1.0, motion = \"slider\"").contains("missing key `axis`"));
    assert!(of("mass = 1.0, motion = \"slider\", axis = [0.0, 0.0]").contains("an axis must not be 0"));
    assert!(of("motion = \"kinematic\"").contains("missing key `path`"));
    assert!(of("motion = \"fixed\"").contains("no body moves"));
    assert!(of("density = 1.0").contains("total mass"), "{}", of("density = 1.0"));
    assert!(of("rpy_deg = [0.0, 0.0, 0.0]").contains("use `angle` or `angle_deg`"));
    assert_error(
        "[[joints]]\nkind = \"prismatic\"\nbodies = [\"world\", \"ball\"]\nat = [0.0, 0.0]",
        5,
        "joints[0]",
        "missing key `axis`",
    );
    assert_error(
        "[[joints]]\nkind = \"weld\"\nbodies = [\"world\", \"ball\"]",
        5,
        "joints[0]",
        "missing key `at`",
    );
    let motor =
        "[[joints]]\nkind = \"weld\"\nbodies = [\"world\", \"ball\"]\nat = [0.0, 0.0]\nlimits = [0.0, 1.0]";
    assert_error(motor, 9, "joints[0].limits", "a fixed joint has no coordinate");
    let polygon = "shapes = [{ kind = \"polygon\", vertices = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0]] }]";
    assert!(of(&format!("density = 1.0, {polygon}")).contains("clockwise"));
}

#[test]
fn an_impossible_inertia() {
    let text = format!("{SPACE}\n[[bodies]]\nname = \"a\"\nmass = 1.0\ninertia = [1.0, 1.0, 3.0]\n");
    let found = errors(&text);
    assert_eq!((found.0[0].line, found.0[0].key.as_str()), (8, "bodies[0].inertia"));
    assert!(found.0[0].message.contains("two of them are never less than the third"), "{found}");
}

#[test]
fn errors_of_copies_are_merged() {
    let text = format!(
        "{PLANE}bodies = [{{ name = \"a\", density = 1.0, shapes = [{{ kind = \"disk\", radius = 1.0 }}], copies = {{ count = 4 }} }}]"
    );
    let found = errors(&text);
    assert_eq!(found.0.len(), 1, "{found}");
    assert!(found.0[0].message.ends_with("at the start, and 5 more like this"), "{found}");
}

#[test]
fn an_error_is_printed_like_those_of_a_compiler() {
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
