//! All mistakes at once, each with its line and what may help.

use stiction_scene::{Diagnostics, Scene};

const HEAD: &str = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\n";

fn complaints(text: &str) -> Diagnostics {
    match Scene::from_toml(text, "test.toml").and_then(|scene| scene.build().map(|_| ())) {
        Ok(()) => Diagnostics::default(),
        Err(found) => found,
    }
}

/// Line, column, key and message of each complaint.
fn places(text: &str) -> Vec<(usize, usize, String, String)> {
    complaints(text).0.into_iter().map(|d| (d.line, d.column, d.key, d.message)).collect()
}

#[test]
fn all_kinds_of_mistakes_are_reported_at_once() {
    let text = format!(
        "{HEAD}
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
        "{HEAD}
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
