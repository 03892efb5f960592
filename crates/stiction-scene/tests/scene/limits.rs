//! Limits of a file: each has a message, and what is refused takes little time and memory.

use std::fmt::Write as _;
use stiction_scene::Scene;

const RUN: &str = "format = 1\ndimension = 2\n[run]\nduration = 0.1\n";

/// First error of a scene in the plane with these bodies.
fn error(rest: &str) -> String {
    let found = Scene::from_toml(&format!("{RUN}{rest}"), "test.toml").and_then(|scene| scene.build());
    found.expect_err("a limit").0[0].message.clone()
}

#[test]
fn a_long_product_is_not_differentiated() {
    let path = |text: &str| {
        format!(
            "[[bodies]]\nname = \"k\"\nmotion = \"kinematic\"\npath = {{ position = [\"{text}\", 0.0] }}\n\
             shapes = [{{ kind = \"disk\", radius = 0.1 }}]\n"
        )
    };
    let factors = |n: usize| vec!["t"; n].join("*");
    assert!(error(&path(&factors(80))).contains("at most 60 operators, functions and variables, not 159"));
    // as many as are allowed, and as deep
    for text in [factors(30), format!("{}t{}", "sin(".repeat(29), ")".repeat(29)), vec!["t"; 30].join("^")] {
        Scene::from_toml(&format!("{RUN}{}", path(&text)), "test.toml").unwrap();
    }
}

#[test]
fn expressions_with_all_copies_have_a_limit() {
    let text = "[[bodies]]\nname = \"k\"\nmotion = \"kinematic\"\n\
                path = { position = [\"sin(t)*sin(t)*sin(t)*sin(t)*sin(t)*sin(t)*sin(t)*sin(t)\", 0.0] }\n\
                copies = { count = 20000, offset = [1.0, 0.0] }\n";
    assert!(error(text).contains("the expressions of this file, with all copies"));
}

#[test]
fn shapes_times_copies_have_a_limit() {
    let shapes = vec!["{ kind = \"disk\", radius = 0.1 }"; 100].join(", ");
    let text = format!(
        "[[bodies]]\nname = \"b\"\ndensity = 1.0\nshapes = [{shapes}]\ncopies = {{ count = 19990, offset = [0.3, 0.0] }}\n"
    );
    assert!(error(&text).contains("more shapes and vertices, with all copies, than the limit of 400000"));
}

#[test]
fn steps_have_a_limit() {
    let text = "format = 1\ndimension = 2\n[run]\nduration = 0.1\nstep = 1e-17\n[[bodies]]\nname = \"b\"\nmass = 1.0\n\
                motion = \"point\"\n";
    let found = Scene::from_toml(text, "test.toml").unwrap_err();
    assert!(found.0[0].message.contains("more than 1e12 steps"), "{found}");
    assert_eq!(found.0[0].line, 5);
}

#[test]
fn ten_thousand_unknown_names_are_compared_with_few() {
    // names that differ in one letter are compared in full
    let stem = "n".repeat(80);
    let mut text = format!(
        "[[bodies]]\nname = \"{stem}\"\nmass = 1.0\nmotion = \"point\"\ncopies = {{ count = 19000, offset = [1.0, 0.0] }}\n"
    );
    for i in 0..8000 {
        let _ = write!(text, "[[joints]]\nkind = \"distance\"\nbodies = [\"{stem}x{i}\", \"{stem}y{i}\"]\n");
    }
    let found = Scene::from_toml(&format!("{RUN}{text}"), "test.toml").unwrap_err();
    assert_eq!(found.0.len(), 101);
    assert!(found.to_string().contains("more findings after this one"));
}

#[test]
fn contacts_of_shapes_in_one_place_have_a_limit() {
    let polygon = |n: u32| {
        let corner = |k: u32| {
            let (sin, cos) = (f64::from(k) * std::f64::consts::TAU / f64::from(n)).sin_cos();
            format!("[{:.9}, {:.9}]", 0.1 * cos, 0.1 * sin)
        };
        (0..n).map(corner).collect::<Vec<_>>().join(", ")
    };
    // a file of 30 kB that stands for some 76 million contacts
    let text = |copies: u32, rounding: &str| {
        format!(
            "[world]\nallow_overlap = true\n[[bodies]]\nname = \"b\"\ndensity = 1.0\n\
             copies = {{ count = {copies}, offset = [1e-4, 0.0] }}\n\
             shapes = [{{ kind = \"polygon\", vertices = [{}]{rounding} }}]\n",
            polygon(1000)
        )
    };
    assert!(error(&text(390, "")).contains("more than 1000000 contacts at the start"));
    assert!(error(&text(390, ", rounding = 0.01")).contains("more than 1000000 contacts at the start"));
    let few = Scene::from_toml(&format!("{RUN}{}", text(20, "")), "test.toml").unwrap();
    few.build().expect("few enough");
}
