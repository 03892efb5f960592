//! `stiction-lab fuzz`: a few hundred pairs and files.

use crate::common::{code, lab, stdout};

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
