//! `stiction-lab bench`: short versions of the measurements, most of which judge themselves.

use crate::common::{TestFolder, results, text};
use std::fs;
use stiction_lcp::problem::ProblemFile;
use stiction_lcp::{Solver, solve};

#[test]
fn the_benchmark_writes_problems_that_solve() {
    let folder = TestFolder::new("lemke-problems");
    let problems = ["--problems", text(folder.path())];
    let (results, _) =
        results(&[&["bench", "lemke", "--seeds", "1", "--seconds", "0"], &problems[..]].concat());
    let sizes: Vec<u64> = results.iter().map(|r| r["n"].as_u64().unwrap()).collect();
    assert_eq!(sizes, [48, 96, 192, 384]);
    let problem = results[0]["problem"].as_str().unwrap();
    let file = ProblemFile::from_json(&fs::read_to_string(problem).unwrap()).unwrap();
    assert!(solve(&file.problem, &Solver::default(), None).is_ok());
}

#[test]
fn the_benchmark_of_scenes_prints_every_scene_under_every_scheme() {
    let (results, text) = results(&["bench", "scenes", "--runs", "1"]);
    let scenes = [
        ("pendulum", false),
        ("6-link chain", false),
        ("rod", true),
        ("four spheres", true),
        ("ellipse", true),
        ("21 disks", true),
        ("pushed rectangle", true),
        ("sliding box", true),
        ("box on the floor", true),
        ("break shot", true),
    ];
    let schemes = ["default", "first order", "AH04"];
    assert_eq!(results.len(), schemes.len() * scenes.len());
    for (scene, touches) in scenes {
        for scheme in schemes {
            let own = |line: &&str| line.starts_with(scene) && line[scene.len()..].trim().starts_with(scheme);
            assert_eq!(text.lines().filter(own).count(), 1, "{scene}, {scheme}:\n{text}");
            let found = results.iter().find(|r| r["scene"] == scene && r["scheme"] == scheme).unwrap();
            let number = |key: &str| found[key].as_f64().unwrap();
            assert!(number("median_us") > 0.0 && number("problems") >= 1.0, "{found}");
            assert!(number("certificate") <= 1e-8, "{found}");
            assert_eq!(number("contacts_max") > 0.0, touches, "{found}");
            // the impulses of the last step may solve every problem of the default
            let works = number("pivots") + number("factorizations") > 0.0;
            assert!(works == touches || (scheme == "default" && !works), "{found}");
            // AH04 does not mend positions; steps of 1/100 s leave centimetres at most
            assert!(number("infeasibility") < if scheme == "AH04" { 0.1 } else { 1e-9 }, "{found}");
        }
    }
}

#[test]
fn bench_ratio_writes_a_row_per_query() {
    let (rows, table) = results(&["bench", "ratio", "--most", "60", "--poses", "3", "--seconds", "0"]);
    // two sizes, four ratios; Seidel, cold and two motions
    assert_eq!(rows.len(), 2 * 4 * 4);
    assert_eq!(rows[0]["facets"], 6);
    assert_eq!(rows[0]["query"], "Seidel");
    assert!(rows[0]["projections"].as_f64().unwrap() > 5.0);
    assert!(rows[2]["parry_median_us"].as_f64().is_some() && rows[2]["warm"].as_f64().is_some());
    assert!(table.contains("parry"));
}

#[test]
fn a_wall_and_a_drum_are_what_they_were_after_many_steps() {
    let (rows, _) = results(&["bench", "long", "--steps", "200"]);
    assert_eq!(rows.len(), 2);
    assert!(rows.iter().all(|r| r["verdict"] == "holds" && r["steps"] == 200), "{rows:?}");
    let drift = rows[0]["drift"].as_f64().unwrap();
    assert!(drift < 1e-9, "{drift} m");
    assert_eq!(rows[0]["loose"], 0);
}

#[test]
fn jacks_fall_without_gaining_energy() {
    let (rows, _) = results(&["bench", "jacks", "--count", "12", "--seeds", "2", "--time", "1"]);
    assert_eq!(rows.len(), 2);
    for row in rows {
        assert_eq!(row["verdict"], "holds");
        // they met: three boxes each, so contacts are of compound bodies
        assert!(row["contacts_max"].as_u64().unwrap() > 30, "{row}");
    }
}

#[test]
fn chains_are_linear_problems() {
    let (rows, _) = results(&["bench", "chains", "--links", "100", "--steps", "3"]);
    for row in &rows {
        assert!(row["certificate"].as_f64().unwrap() < 1e-10, "{row}");
        // shorter ones may be eliminated densely, which counts none
        let [problems, factorizations] = ["problems", "factorizations"].map(|key| row[key].as_f64().unwrap());
        assert!(factorizations <= problems, "{row}");
    }
    assert!(rows.iter().any(|r| r["factorizations"].as_f64().unwrap() >= 1.0));
}

#[test]
fn a_profile_accounts_for_all_of_a_step() {
    let folder = TestFolder::new("profile-picture");
    let picture = folder.file("profile.svg");
    let (rows, _) = results(&["bench", "profile", "--steps", "2", "--svg", text(&picture)]);
    let scenes: std::collections::BTreeSet<_> = rows.iter().map(|r| r["scene"].as_str().unwrap()).collect();
    assert_eq!(scenes.len(), 6);
    for scene in scenes {
        let of = |phase: &str| {
            let found = rows.iter().find(|r| r["scene"] == scene && r["phase"] == phase);
            found.unwrap()["share"].as_f64().unwrap()
        };
        let all: f64 =
            rows.iter().filter(|r| r["scene"] == scene).map(|r| r["share"].as_f64().unwrap()).sum();
        assert!((all - 1.0).abs() < 1e-9, "{scene}: {all}");
        // time that was measured twice would leave less than nothing somewhere
        assert!(rows.iter().all(|r| r["share"].as_f64().unwrap() >= 0.0));
        assert!(of("certificate") > 0.0 && of("preparation") > 0.0);
        let joined = |s: &str| rows.iter().find(|r| r["scene"] == s && r["phase"] == "joints").unwrap();
        let chain = joined("chain of 100")["share"].as_f64().unwrap();
        assert!(scene == "chain of 100" || of("joints") < chain, "{scene}: {}", of("joints"));
    }
    let drawn = fs::read_to_string(&picture).unwrap();
    assert!(drawn.starts_with("<svg") && drawn.contains("post-stabilization"));
}

#[test]
fn the_search_finds_the_contacts_of_every_scene() {
    let (rows, table) = results(&["bench", "search", "--small"]);
    assert_eq!(rows.len(), 5);
    for row in &rows {
        assert!(
            row["search_us"].as_f64().unwrap() > 0.0 && table.contains(row["scene"].as_str().unwrap()),
            "{row}"
        );
    }
    // four corners of each of ten boxes
    assert_eq!(rows[0]["contacts"], 40);
    assert!(rows[1]["contacts"].as_u64().unwrap() > 0);
}
