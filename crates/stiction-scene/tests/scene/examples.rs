//! Scenes of the repository and of its documents have no errors and no warnings.

use crate::scenes;
use stiction::Simulation;
use stiction_scene::{BuiltScene, Scene};

#[test]
fn scenes_have_neither_errors_nor_warnings() {
    let all = [scenes("scenes"), scenes("scenes/reference")].concat();
    assert!(all.len() >= 17);
    for (path, text) in all {
        let name = path.display().to_string();
        let scene = Scene::from_toml(&text, &name).unwrap_or_else(|e| panic!("{e}"));
        scene.build().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scene.lint().first().map(ToString::to_string), None);
    }
}

#[test]
fn the_reference_scenes_run() {
    for (path, text) in scenes("scenes/reference") {
        let BuiltScene { model, state, scheme, h, accuracy, duration, .. } =
            Scene::from_toml(&text, "reference.toml").unwrap().build().unwrap();
        let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
        let end = match accuracy {
            Some(accuracy) => simulation.run_to_accuracy(duration, &accuracy, &[], |_, _| ()).map(|_| ()),
            None => {
                simulation.record(duration, h, |_, _, _| ()).map(|_| ()).map_err(|stopped| *stopped.error)
            }
        };
        end.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        assert!(simulation.state().q.iter().all(|x| x.is_finite()));
    }
}

/// Fenced blocks of a language in a document.
fn blocks<'a>(markdown: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    markdown.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn the_examples_of_the_book_are_scenes() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src");
    let mut found = 0;
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let (name, text) = (path.display().to_string(), std::fs::read_to_string(&path).unwrap());
        for block in blocks(&text, "toml") {
            assert_valid(block, &name);
            found += 1;
        }
    }
    assert!(found > 8);
}

/// Asserts that a block is a valid scene, if need be with a head added.
fn assert_valid(block: &str, name: &str) {
    if block.contains("format = 1") {
        let scene = Scene::from_toml(block, name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(scene.lint().first().map(ToString::to_string), None);
        scene.build().unwrap_or_else(|e| panic!("{e}"));
        return;
    }
    let space = block.contains("# in space");
    let (dimension, shape) = if space { (3, "sphere") } else { (2, "disk") };
    let run = if block.contains("[run]") { "" } else { "run = { duration = 1.0 }\n" };
    let scene = format!(
        "format = 1\ndimension = {dimension}\n{run}[[bodies]]\nname = \"ball\"\ndensity = 1.0\n\
         shapes = [{{ kind = \"{shape}\", radius = 0.1 }}]\n{block}"
    );
    let built = Scene::from_toml(&scene, name).and_then(|scene| scene.build());
    assert!(built.is_ok(), "{}", built.unwrap_err());
}

#[test]
fn the_functions_of_the_documents_exist() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../book/src/scene-format.md");
    let text = std::fs::read_to_string(path).unwrap();
    let line = text.lines().find(|line| line.starts_with("There are `+ - * / ^`")).unwrap();
    let list = line.split("elsewhere").next().unwrap();
    let is_word = |word: &&str| word.chars().all(|c| c.is_ascii_alphanumeric());
    let words: Vec<&str> = list.split('`').skip(1).step_by(2).filter(is_word).collect();
    assert!(words.len() > 20, "{words:?}");
    let ball = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\nbodies = [{ name = \"a\", mass = 1.0, inertia = 1.0 }]";
    let accepted = |torque: &str| {
        let scene = format!("{ball}\nforces = [{{ body = \"a\", torque = \"{torque}\" }}]");
        Scene::from_toml(&scene, "test.toml").is_ok()
    };
    for word in words {
        let ways = [word.to_string(), format!("{word}(t)"), format!("{word}(t, 1)")];
        assert!(ways.iter().any(|way| accepted(way)), "{word} is not known");
    }
    assert!(accepted("5*step(t-1)") && !accepted("cosine(t)"));
}
