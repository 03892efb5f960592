//! Tests of the built program: output and exit codes.

use serde_json::Value;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Temporary folder of a test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stiction-{}-{name}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn stiction(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(arguments).output().unwrap()
}

fn with_input(arguments: &[&str], input: &str) -> Output {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn code(output: &Output) -> i32 {
    output.status.code().expect("an exit code")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

fn path(path: &Path) -> &str {
    path.to_str().unwrap()
}

const SOLVABLE: &str = r#"{"m": [[2, 1], [1, 2]], "q": [-5, -6]}"#;
const INFEASIBLE: &str = r#"{"m": [[-1]], "q": [-1]}"#;

/// A block of 2 kg on the floor that slides at 0.5 m/s, μ = 0.5, step 10 ms.
const SLIDING: &str = r#"{"step": {
    "bodies": [{"mass": [[2, 0], [0, 2]], "momentum": [1.0, -0.1962]}],
    "contacts": [{"normal": {"row": [{"body": 0, "j": [0, 1]}]},
                  "tangents": [{"row": [{"body": 0, "j": [1, 0]}]}], "mu": 0.5}],
    "speed_scale": 0.0981}}"#;

#[test]
fn a_solved_problem_exits_with_0_and_carries_its_certificate() {
    let folder = Folder::new("solved");
    let file = folder.file("lcp.json", SOLVABLE);
    let output = stiction(&["solve", path(&file), "--json"]);
    assert_eq!(code(&output), 0);
    let answer = json(&output);
    assert_eq!(answer["status"], "solved");
    assert!((answer["z"][0].as_f64().unwrap() - 4.0 / 3.0).abs() < 1e-12);
    assert!((answer["z"][1].as_f64().unwrap() - 7.0 / 3.0).abs() < 1e-12);
    assert_eq!(answer["w"].as_array().unwrap().len(), 2);
    assert!(answer["certificate"]["natural_map"].as_f64().unwrap() <= 1e-10);
    assert!(answer["proof"].is_null());

    let output = stiction(&["solve", path(&file)]);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for words in ["solved", "certified", "natural map", "1.333333", "2.333333"] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    assert!(!text.contains('\x1b'), "no colour when piped");
    assert_eq!(stderr(&output), "");
}

#[test]
fn every_solver_answers_by_its_name_from_standard_input() {
    for solver in ["lemke", "enumerate", "convex", "fixed-point"] {
        let output = with_input(&["solve", "-", "--solver", solver, "--json"], SLIDING);
        assert_eq!(code(&output), 0, "{solver}: {}", stdout(&output));
        let answer = json(&output);
        assert_eq!(answer["solver"], solver);
        assert_eq!(answer["law"], if solver == "convex" { "convex" } else { "coulomb" });
    }
    for arguments in [&["--no-scaling"][..], &["--tolerance", "1e-12"], &["--rounds", "3"]] {
        let output = with_input(&[&["solve", "-"], arguments].concat(), SOLVABLE);
        assert_eq!(code(&output), 0, "{arguments:?}: {}", stderr(&output));
    }
}

#[test]
fn a_step_problem_is_told_in_words() {
    let output = with_input(&["solve", "-", "--pointed"], SLIDING);
    assert_eq!(code(&output), 0);
    let text = stdout(&output);
    for words in ["1 body", "1 contact", "slip", "0.196200", "-0.098100", "[N s]", "[m/s]", "pointed"] {
        assert!(text.contains(words), "no {words:?} in\n{text}");
    }
    let answer = json(&with_input(&["solve", "-", "--pointed", "--json"], SLIDING));
    assert_eq!(answer["contacts"][0]["mode"], "slip");
    assert_eq!(answer["pointed"]["answer"], "yes");
    assert!((answer["velocity"][0].as_f64().unwrap() - 0.45095).abs() < 1e-12);

    let resting = SLIDING.replace("[1.0, -0.1962]", "[0.01, -0.1962]");
    assert_eq!(json(&with_input(&["solve", "-", "--json"], &resting))["contacts"][0]["mode"], "stick");
    let leaving = SLIDING.replace("[1.0, -0.1962]", "[0.01, 0.2]");
    assert_eq!(json(&with_input(&["solve", "-", "--json"], &leaving))["contacts"][0]["mode"], "open");
    let frictionless = SLIDING.replace(r#", "mu": 0.5"#, "");
    let frictionless =
        frictionless.replace(r#""tangents": [{"row": [{"body": 0, "j": [1, 0]}]}]"#, r#""tangents": []"#);
    assert_eq!(json(&with_input(&["solve", "-", "--json"], &frictionless))["contacts"][0]["mode"], "stick");
}

#[test]
fn an_infeasible_problem_exits_with_1_and_shows_the_proof() {
    let output = with_input(&["solve", "-", "--json"], INFEASIBLE);
    assert_eq!(code(&output), 1);
    let answer = json(&output);
    assert_eq!(answer["status"], "infeasible");
    assert_eq!(answer["proof"]["y"][0], 1.0);
    assert!(answer["certificate"]["natural_map"].as_f64().unwrap() > 0.1);

    let output = with_input(&["solve", "-"], INFEASIBLE);
    assert_eq!(code(&output), 1);
    let text = stdout(&output);
    assert!(text.contains("infeasible") && text.contains("proof") && text.contains("best iterate"), "{text}");
}

#[test]
fn contacts_in_local_form_are_answered_with_impulses_speeds_and_modes() {
    let text = r#"{"dim": 3, "w": {"triplets": [[0, 0, 0.5], [1, 1, 0.5], [2, 2, 0.5]]}, "q": [-0.5, 3, 4], "mu": [0.4]}"#;
    let output = with_input(&["solve", "-"], text);
    assert_eq!(code(&output), 0);
    let words = stdout(&output);
    for part in [
        "local form: 1 contact, friction circles, 3 unknown impulses",
        "slip",
        "r [N s]",
        "contact 0 tangent 1",
        "natural map",
    ] {
        assert!(words.contains(part), "{part} is not in\n{words}");
    }
    assert!(!words.contains("momentum"), "{words}");
    let answer = json(&with_input(&["solve", "-", "--json"], text));
    let near = |key: &str, k: usize, x: f64| (answer[key][k].as_f64().unwrap() - x).abs() < 1e-10;
    assert!(near("r", 0, 1.0) && near("r", 1, -0.24) && near("r", 2, -0.32), "{answer}");
    assert!(near("u", 0, 0.0) && near("u", 1, 2.88) && near("u", 2, 3.84), "{answer}");
    assert_eq!(answer["contacts"][0]["mode"], "slip");
    assert!(answer["worst"].as_f64().unwrap() <= 1e-8);

    let jam = concat!(env!("CARGO_MANIFEST_DIR"), "/../../problems/local-jam.json");
    let output = stiction(&["solve", jam]);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("proof that no solution exists"), "{}", stdout(&output));

    let lopsided = text.replace("[1, 1, 0.5]", "[1, 1, 0.5], [2, 0, 0.1]");
    let output = with_input(&["solve", "-"], &lopsided);
    assert_eq!(code(&output), 2);
    assert!(
        stderr(&output).contains("w[2][0]: is 0.1, and w[0][2] is 0: W must be symmetric"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn what_a_solver_does_not_know_exits_with_1() {
    let output = with_input(&["solve", "-", "--solver", "convex", "--json"], SOLVABLE);
    assert_eq!(code(&output), 1);
    assert_eq!(json(&output)["status"], "unsupported");
    let output = with_input(&["solve", "-", "--solver", "fixed-point", "--rounds", "0"], SLIDING);
    assert_eq!(code(&output), 1);
    assert!(stdout(&output).contains("budget"));
}

#[test]
fn malformed_input_exits_with_2_and_names_the_place() {
    let folder = Folder::new("malformed");
    let nested = format!("{{\"m\": {}1{}, \"q\": [1]}}", "[".repeat(100_000), "]".repeat(100_000));
    let cases = [
        ("not-json", "w = M z + q", "line 1"),
        ("cut-off", r#"{"m": [[1], "q""#, "line 1"),
        ("nan", r#"{"m": [[NaN]], "q": [1]}"#, "line 1"),
        ("infinite", r#"{"m": [[1e999]], "q": [1]}"#, "line 1"),
        ("text", r#"{"m": [["a"]], "q": [1]}"#, "line 1"),
        ("ragged", r#"{"m": [[1, 2], [3]], "q": [1, 2]}"#, "m[1]"),
        ("too-few-rows", r#"{"m": [[1, 2]], "q": [1, 2]}"#, "m: "),
        ("empty", r#"{"m": [], "q": []}"#, "q: the problem is empty"),
        ("empty-file", "", "line 1"),
        ("no-bodies", r#"{"step": {"bodies": []}}"#, "bodies: the problem is empty"),
        ("neither", "{}", "the file"),
        ("both", r#"{"m": [[1]], "q": [1], "step": {"bodies": []}}"#, "the file"),
        ("misspelt", r#"{"m": [[1]], "q": [1], "fre": [0]}"#, "line 1"),
        ("free", r#"{"m": [[1]], "q": [1], "free": [7]}"#, "free[0]"),
        ("nested", &nested, "line 1"),
        ("friction", &SLIDING.replace(r#""mu": 0.5"#, r#""mu": -0.5"#), "contacts[0].mu"),
        ("indefinite", &SLIDING.replace("[[2, 0], [0, 2]]", "[[1, 2], [2, 1]]"), "bodies[0].mass"),
        ("no-such-body", &SLIDING.replacen(r#""body": 0"#, r#""body": 3"#, 1), "contacts[0].normal"),
        ("short-row", &SLIDING.replace("\"j\": [0, 1]", "\"j\": [0]"), "contacts[0].normal.row[0].j"),
    ];
    for (name, text, place) in cases {
        let file = folder.file(name, text);
        let output = stiction(&["solve", path(&file)]);
        assert_eq!(code(&output), 2, "{name}");
        assert_eq!(stdout(&output), "", "{name}");
        let complaint = stderr(&output);
        assert!(complaint.contains(name) && complaint.contains(place), "{name}: {complaint}");
        assert!(!complaint.contains("panicked"), "{name}: {complaint}");
        let output = stiction(&["solve", path(&file), "--json"]);
        assert_eq!(code(&output), 2, "{name}");
        let answer = json(&output);
        assert_eq!(answer["status"], "malformed", "{name}");
        assert!(answer["z"].is_null() && answer["certificate"].is_null(), "{name}");
        assert!(answer["message"].as_str().unwrap().contains(place), "{name}");
    }
    fs::write(folder.0.join("latin"), b"{\"name\": \"\xe9\"}").unwrap();
    let output = stiction(&["solve", path(&folder.0.join("latin"))]);
    assert_eq!((code(&output), stderr(&output).contains("byte 10")), (2, true), "{}", stderr(&output));
}

#[test]
fn files_that_cannot_be_read_exit_with_2() {
    let folder = Folder::new("unreadable");
    for file in [folder.0.join("missing.json"), folder.0.clone()] {
        let output = stiction(&["solve", path(&file)]);
        assert_eq!(code(&output), 2);
        assert_eq!(stdout(&output), "");
        assert!(stderr(&output).contains(path(&file)), "{}", stderr(&output));
    }
}

#[test]
fn unknown_arguments_exit_with_2() {
    for arguments in [
        &["solve", "-", "--solver", "magic"][..],
        &["solve", "-", "--tolerance", "-1"],
        &["solve", "-", "--tolerance", "NaN"],
        &["solve"],
        &["unknown-command"],
        &[],
    ] {
        let output = stiction(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
    }
}

#[test]
fn help_states_the_exit_codes() {
    for arguments in [&["--help"][..], &["solve", "--help"], &["run", "--help"]] {
        let output = stiction(arguments);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Exit codes"));
    }
}

#[test]
fn the_demo_draws_every_contact() {
    let folder = Folder::new("demo");
    let output = stiction(&["demo", "--out", path(&folder.0)]);
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = stdout(&output);
    let svg = fs::read_to_string(folder.0.join("stack.svg")).unwrap();
    assert!(text.contains("stack.svg"));
    for mode in ["stick", "slip", "open"] {
        assert!(text.contains(mode) && svg.contains(mode), "{mode}");
    }
    assert_eq!(well_formed(&svg), Ok(()));
    let problem = folder.0.join("stack.json");
    let solved = stiction(&["solve", path(&problem), "--json"]);
    assert_eq!(code(&solved), 0);
    let labels: Vec<&str> = svg.lines().map(str::trim).collect();
    let contacts = json(&solved)["contacts"].as_array().unwrap().len();
    assert!(contacts > 10);
    for i in 0..contacts {
        assert!(labels.contains(&i.to_string().as_str()), "contact {i}");
    }
}

/// Tags that open are closed in order, attributes are quoted, and no text holds a bare bracket or ampersand.
fn well_formed(xml: &str) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = xml;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        if text.contains('>') || text.matches('&').count() != text.matches(';').count() {
            return Err(format!("text {text:?}"));
        }
        let end = rest[start..].find('>').ok_or("a tag that does not end")? + start;
        let tag = &rest[start + 1..end];
        let name = tag.trim_matches('/').split_whitespace().next().unwrap_or("");
        if !tag.matches('"').count().is_multiple_of(2) {
            return Err(format!("quotes in {tag:?}"));
        }
        if tag.starts_with('/') {
            if open.pop() != Some(name) {
                return Err(format!("{name} is closed and was not open"));
            }
        } else if !tag.ends_with('/') && !tag.starts_with(['?', '!']) {
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    if open.is_empty() { Ok(()) } else { Err(format!("{open:?} not closed")) }
}

#[test]
fn a_reader_that_closes_the_pipe_causes_no_panic() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_stiction"))
        .args(["solve", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(INFEASIBLE.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!((code(&output), stderr(&output)), (1, String::new()));
}

/// The cheapest paper with everything that the command can write. The experiments of all papers are run and checked by
/// the tests of stiction-papers.
#[test]
fn a_paper_is_reproduced_with_numbers_figures_and_a_page() {
    let folder = Folder::new("reproduce");
    let [lines, figures, page] = ["lines.jsonl", "figures", "page.html"].map(|name| folder.0.join(name));
    let [lines_path, figures_path, page_path] = [&lines, &figures, &page].map(|path| path.to_str().unwrap());
    let options = ["--json", lines_path, "--figures", figures_path, "--html", page_path];
    let output = stiction(&[&["reproduce", "ST00"], &options[..]].concat());
    assert_eq!(code(&output), 0, "{}", stderr(&output));
    let text = fs::read_to_string(&lines).unwrap();
    for line in text.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        let keys: Vec<&String> = line.as_object().unwrap().keys().collect();
        let all =
            ["case", "experiment", "paper", "published", "quantity", "remark", "sense", "value", "verdict"];
        assert_eq!(keys, all);
        assert!(line["value"].is_number() && line["paper"] == "ST00", "{line}");
        let verdict = line["verdict"].as_str().unwrap();
        assert!(["reproduced", "close", "differs", "unpublished"].contains(&verdict), "{line}");
        assert_eq!(verdict == "unpublished", line["published"].is_null(), "{line}");
    }
    assert!(text.lines().count() > 50);

    let drawn: Vec<PathBuf> = fs::read_dir(&figures).unwrap().map(|f| f.unwrap().path()).collect();
    assert_eq!(drawn.len(), 12, "{drawn:?}");
    for figure in &drawn {
        let svg = fs::read_to_string(figure).unwrap();
        assert_eq!(well_formed(&svg), Ok(()), "{}", figure.display());
        assert!(svg.starts_with("<svg") && !svg.contains("NaN"), "{}", figure.display());
    }
    let page = fs::read_to_string(&page).unwrap();
    assert_eq!(page.matches("<figure>").count(), drawn.len());
    for word in ["four balls", "rod at impact"] {
        assert!(page.contains(word) && stdout(&output).contains(word), "{word}");
    }
    let linked = page.replace("http://www.w3.org/2000/svg", "");
    assert!(!linked.contains("http"), "the page needs nothing from elsewhere");
}

#[test]
fn what_cannot_be_reproduced_exits_with_2() {
    assert_eq!(code(&stiction(&["reproduce", "nobody99"])), 2);
    assert_eq!(code(&stiction(&["reproduce", "ST00", "--json", "/proc/nowhere/at/all.jsonl"])), 2);
}

#[test]
fn completion_scripts_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let output = stiction(&["completions", shell]);
        assert_eq!(code(&output), 0, "{}", stderr(&output));
        for word in ["solve", "run", "verify", "compare", "--resume"] {
            // fish writes options without their dashes
            let word = if shell == "fish" { word.trim_start_matches('-') } else { word };
            assert!(stdout(&output).contains(word), "{shell}: {word}");
        }
    }
    assert_eq!(code(&stiction(&["completions", "nothing"])), 2);
}
