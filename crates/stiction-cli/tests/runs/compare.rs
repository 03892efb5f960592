//! `compare`: errors and orders of schemes on one scene.

use crate::common::{FLOOR, Folder, PENDULUM, boxes, code, head, json, printed, stiction};
use std::fs;

/// Scene of a ball that falls on a floor. Every scheme finds the impact, with an error that depends on its order.
fn ball() -> String {
    let ball = r#"
[[bodies]]
name = "ball"
density = 1000.0
position = [0.0, 1.0]
velocity = [0.5, 0.0]
shapes = [{ kind = "disk", radius = 0.1 }]
"#;
    [&head(2, "A ball", 0.8, 0.01), FLOOR, ball].concat()
}

#[test]
fn errors_fall_with_the_order_of_the_scheme() {
    let folder = Folder::new("compared");
    let scene = folder.file("ball.toml", &ball());
    let plot = folder.path("ball.svg");
    let schemes = "ah04,accurate";
    let output = stiction(&[
        &"compare",
        &scene,
        &"--schemes",
        &schemes,
        &"--h",
        &"0.005,0.02,0.01",
        &"--plot",
        &plot,
        &"--json",
    ]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let report = json(&output);
    assert!(report["reference"].as_str().unwrap().contains("accuracy of 1e-10"), "{report}");
    assert!(report["reference_error"].as_f64().unwrap() < 1e-6);
    let runs = report["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6);
    // from the largest step to the smallest
    assert_eq!(runs[0]["h"], 0.02);
    assert_eq!(runs[0]["steps"], 40);
    let error = |k: usize| runs[k]["error"].as_f64().unwrap();
    assert!(error(2) < error(0), "{report}");
    assert!(error(3) < 0.01 * error(0), "{report}");
    let svg = fs::read_to_string(plot).unwrap();
    assert!(svg.contains("Work and precision") && svg.contains("accurate"));

    let output = stiction(&[&"compare", &scene, &"--schemes", &schemes, &"--h", &"0.02"]);
    let text = printed(&output);
    assert!(text.contains("reference: run to an accuracy") && text.contains("error [m]"), "{text}");
}

/// Without other arguments the command says which scheme and step to take on a scene for which error. The error of a swing
/// has the order of the scheme; a ball that falls and rests is exact to round-off, which leaves nothing to advise.
#[test]
fn a_scene_alone_is_compared_and_gets_advice() {
    let folder = Folder::new("advised");
    let swing = [&head(2, "A pendulum", 0.8, 0.01), FLOOR, PENDULUM].concat();
    let scene = folder.file("pendulum.toml", &swing);
    let output = stiction(&[&"compare", &scene, &"--json"]);
    assert_eq!(code(&output), 0, "{}", printed(&output));
    let report = json(&output);
    let runs = report["runs"].as_array().unwrap();
    let of = |key: &str| runs.iter().map(|row| row[key].clone()).collect::<Vec<_>>();
    assert_eq!(of("scheme").iter().filter(|name| *name == "default").count(), 4);
    assert_eq!(of("scheme").iter().filter(|name| *name == "accurate").count(), 4);
    assert_eq!(of("h")[..4], [0.02, 0.01, 0.005, 0.0025]);
    // both schemes are of second order
    for row in runs.iter().filter(|row| !row["order"].is_null()) {
        let order = row["order"].as_f64().unwrap();
        assert!((order - 2.0).abs() < 0.1, "{row}");
    }
    let advice = report["advice"].as_array().unwrap();
    assert!(advice.len() >= 4, "{report}");
    // from the runs, and by their order beyond them
    assert!(
        [true, false].iter().all(|known| advice.iter().any(|row| row["extrapolated"] == *known)),
        "{report}"
    );
    for row in advice {
        let [error, expected] = ["error", "expected"].map(|key| row[key].as_f64().unwrap());
        assert!(expected <= error, "{row}");
        let measured = |run: &&serde_json::Value| run["scheme"] == row["scheme"] && run["h"] == row["h"];
        assert!(row["extrapolated"] == true || runs.iter().any(|run| measured(&run)), "{row}");
    }

    let first_order = stiction(&[&"compare", &scene, &"--schemes", &"first-order", &"--json"]);
    let report = json(&first_order);
    let last = report["runs"].as_array().unwrap().last().unwrap().clone();
    assert!((last["order"].as_f64().unwrap() - 1.0).abs() < 0.1, "{last}");

    let text = printed(&stiction(&[&"compare", &scene]));
    assert!(text.contains("Which scheme to take, and what error to expect:"), "{text}");
}

#[test]
fn wrong_arguments_of_compare_are_refused() {
    let folder = Folder::new("incomparable");
    let scene = folder.file("boxes.toml", &boxes(0.1, 0.4));
    let compare = |arguments: [&str; 4]| {
        stiction(&[&"compare", &scene, &arguments[0], &arguments[1], &arguments[2], &arguments[3]])
    };
    let output = compare(["--schemes", "default,none", "--h", "0.01"]);
    assert_eq!(code(&output), 2);
    assert!(printed(&output).contains("unknown scheme `none`"), "{}", printed(&output));
    let output = compare(["--schemes", "default", "--h", "-1"]);
    assert_eq!(code(&output), 2);
}
