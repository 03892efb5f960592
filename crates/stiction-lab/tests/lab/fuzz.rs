//! `stiction-lab fuzz`: a few hundred pairs and files.

use crate::common::{TestFolder, code, lab, stderr, stdout, text};

#[test]
fn fuzz_measures_pairs_in_two_ways_and_repeats_itself() {
    let run = |threads: &str| {
        let output = lab(&["fuzz", "ratio", "--count", "600", "--seed", "5", "--threads", threads]);
        assert_eq!(code(&output), 0, "{}", stdout(&output));
        // without the line with the time
        stdout(&output).lines().filter(|line| !line.contains(" threads")).collect::<Vec<_>>().join("\n")
    };
    let text = run("1");
    assert!(text.contains("600 pairs from seed 5") && text.contains("signs compared"), "{text}");
    assert_eq!(text, run("2"));
}

/// Folder of the gallery.
const SCENES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes");

#[test]
fn mutated_scenes_are_refused_or_run() {
    let folder = TestFolder::new("fuzz-scenes");
    let saved = folder.file("scene.toml");
    let arguments =
        ["fuzz", "scenes", "--count", "3000", "--seed", "7", "--scenes", SCENES, "--out", text(&saved)];
    let output = lab(&arguments);
    let printed = stdout(&output);
    assert_eq!(code(&output), 0, "{printed}{}", stderr(&output));
    // every kind of outcome occurs
    let count = |what: &str| -> u64 {
        let line = printed.lines().find(|line| line.contains(what)).unwrap_or_else(|| panic!("{printed}"));
        line.split_whitespace().next().unwrap().parse().unwrap()
    };
    assert!(count("refused, with a line") > 500, "{printed}");
    assert!(count("refused by the world") > 20 && count("built and run") > 200, "{printed}");
}

#[test]
fn the_same_seed_mutates_files_in_the_same_way() {
    let counts = |threads: &str| {
        let output = lab(&[
            "fuzz",
            "scenes",
            "--count",
            "300",
            "--seed",
            "3",
            "--scenes",
            SCENES,
            "--threads",
            threads,
        ]);
        assert_eq!(code(&output), 0, "{}", stdout(&output));
        stdout(&output).lines().take(7).map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!(counts("1"), counts("2"));
}
