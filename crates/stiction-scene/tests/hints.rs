//! Words and keys of other simulators: each error says what to write instead; copies of shapes.

use stiction_scene::Scene;

/// Scene in the plane with lines before its tables and an entry at its end.
fn scene(head: &str, tail: &str) -> String {
    format!(
        "format = 1\ndimension = 2\n{head}\n[run]\nduration = 1.0\n\n[[bodies]]\nname = \"box\"\ndensity = 100.0\n\
         position = [0.0, 0.5]\nshapes = [{{ kind = \"rectangle\", half_extents = [0.1, 0.1] }}]\n{tail}\n"
    )
}

fn errors(head: &str, tail: &str) -> String {
    let scene = Scene::from_toml(&scene(head, tail), "test.toml");
    scene.and_then(|scene| scene.build()).unwrap_err().to_string()
}

#[test]
fn words_of_other_simulators_get_those_of_this_format() {
    let joint = |rest: &str| {
        format!("[[joints]]\nname = \"j\"\nbodies = [\"world\", \"box\"]\nat = [0.0, 0.5]\n{rest}")
    };
    let kinematic = |path: &str| {
        format!("[[bodies]]\nname = \"moved\"\nmotion = \"kinematic\"\nposition = [5.0, 5.0]\npath = {path}")
    };
    for (head, tail, found, instead) in [
        ("", joint("kind = \"hinge\""), "`hinge` is not one of", "write `revolute`"),
        ("gravity = 9.81", String::new(), "unknown key `gravity`", "world = { gravity = [0.0, -9.81] }"),
        ("step = 0.01", String::new(), "unknown key `step`", "write it as `step` in `[run]`"),
        (
            "",
            "[[forces]]\nkind = \"torque\"\nbody = \"box\"\ntorque = 3.0".into(),
            "unknown key `kind`",
            "has no kind",
        ),
        (
            "",
            joint("kind = \"revolute\"\nmotor = { kind = \"velocity\", speed = 1.0, torque = 3.0 }"),
            "unknown key `torque`",
            "write `force`: the largest torque",
        ),
        ("", joint("kind = \"revolute\"\nmotor = { speed_rpm = 60.0 }"), "`speed_rpm`", "2π/60 rad/s"),
        ("", kinematic("{ position = [\"step(t-1)\", \"0\"] }"), "`step` jumps", "write a smooth function"),
        ("", kinematic("{ x = \"t\" }"), "unknown key `x`", "as a list"),
        (
            "",
            "[[bodies]]\nname = \"b\"\ndensity = \"2*t\"\nshapes = [{ kind = \"disk\", radius = \"0.1\" }]"
                .into(),
            "expected a number, found a string",
            "a formula is not read here",
        ),
        (
            "",
            "[[bodies]]\nname = \"b\"\ndensity = 2.0\nshapes = [{ kind = \"disk\", radius = \"0.1\" }]"
                .into(),
            "expected a number, found a string",
            "without quotes",
        ),
    ] {
        let text = errors(head, &tail);
        assert!(text.contains(found), "{found}: {text}");
        assert!(text.contains(instead), "{instead}: {text}");
    }
}

#[test]
fn copies_of_a_shape_are_the_shapes_written_out() {
    let body = |shapes: &str| {
        format!("[[bodies]]\nname = \"comb\"\ndensity = 30.0\nposition = [3.0, 1.0]\nshapes = [{shapes}]")
    };
    let copied = body(
        "{ kind = \"rectangle\", half_extents = [0.5, 0.05] }, \
         { kind = \"rectangle\", half_extents = [0.02, 0.1], position = [-0.4, -0.15], copies = { count = 3, offset = [0.4, 0.0] } }",
    );
    let written = body(
        "{ kind = \"rectangle\", half_extents = [0.5, 0.05] }, \
         { kind = \"rectangle\", half_extents = [0.02, 0.1], position = [-0.4, -0.15] }, \
         { kind = \"rectangle\", half_extents = [0.02, 0.1], position = [0.0, -0.15] }, \
         { kind = \"rectangle\", half_extents = [0.02, 0.1], position = [0.4, -0.15] }",
    );
    let built = |tail: &str| Scene::from_toml(&scene("", tail), "test.toml").unwrap().build().unwrap();
    let (one, other) = (built(&copied), built(&written));
    let body = one.model.find_body("comb").unwrap();
    let poses = |model: &stiction_scene::Model| -> Vec<[f64; 3]> {
        model.shapes(body).iter().map(|shape| shape.pose.position).collect()
    };
    assert_eq!(poses(&one.model).len(), 4);
    for (a, b) in poses(&one.model).iter().flatten().zip(poses(&other.model).iter().flatten()) {
        assert!((a - b).abs() < 1e-15, "{a} and {b}");
    }
    // the same mass and centre: 30 kg/m² × (0.1 + 3 × 0.008) m²
    let centre = |built: &stiction_scene::BuiltScene| built.model.centre(&built.state, body).unwrap();
    let (a, b) = (centre(&one), centre(&other));
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-14), "{a:?} and {b:?}");
    // a mistake in a copy is reported at its entry
    let wrong = copied.replace("count = 3", "count = 0");
    assert!(errors("", &wrong).contains("0 must lie between 1"), "{}", errors("", &wrong));
}
