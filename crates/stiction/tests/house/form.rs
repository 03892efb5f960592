//! The form every file keeps.

use crate::none;
use crate::text::{files, read, root, sources};

/// Text that has no place in the repository: paths of one machine, and work left undone.
const FORBIDDEN: [&str; 7] = ["/tmp/", "/root/", "/home/", "TODO", "FIXME", "todo!(", "unimplemented!("];

/// Files whose text is not ours: lock files, and this test.
const NOT_OURS: [&str; 2] = ["Cargo.lock", "package-lock.json"];
const THIS_TEST: &str = "crates/stiction/tests/house/";

/// Longest source file, in lines.
const LONGEST: usize = 600;

fn forbidden(path: &str, text: &str) -> Vec<String> {
    let lines = text.lines().enumerate();
    let hits = lines.flat_map(|(i, line)| {
        FORBIDDEN.iter().filter(|word| line.contains(**word)).map(move |word| (i + 1, word))
    });
    hits.map(|(n, word)| format!("{path}:{n}: {word} has no place here")).collect()
}

fn too_long(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (lines > LONGEST).then(|| format!("{path}: {lines} lines, at most {LONGEST}"))
}

fn has_workspace_lints(manifest: &str) -> bool {
    let lints = manifest.lines().map(str::trim).skip_while(|l| *l != "[lints]").skip(1);
    lints.take_while(|l| !l.starts_with('[')).any(|l| l.replace(' ', "") == "workspace=true")
}

#[test]
fn no_file_names_a_machine_or_leaves_work_undone() {
    let ours = |p: &&String| !p.starts_with(THIS_TEST) && !NOT_OURS.iter().any(|n| p.ends_with(n));
    let mut complaints = Vec::new();
    for path in files().iter().filter(ours) {
        complaints.extend(forbidden(path, path));
        // pictures and the like are not text
        if let Ok(text) = std::fs::read_to_string(root().join(path)) {
            complaints.extend(forbidden(path, &text));
        }
    }
    none(&complaints);
}

#[test]
fn sources_are_short() {
    none(&sources().iter().filter_map(|p| too_long(p, &read(p))).collect::<Vec<_>>());
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let manifests = files().into_iter().filter(|p| p.starts_with("crates/") && p.ends_with("/Cargo.toml"));
    let without = manifests.filter(|p| !has_workspace_lints(&read(p)));
    none(&without.map(|p| format!("{p}: [lints] workspace = true is missing")).collect::<Vec<_>>());
}

#[test]
fn forbidden_text_is_found() {
    none(&forbidden("a.rs", "let share = mnt / tmp; // to do, srv"));
    assert_eq!(forbidden("a.rs", "read(\"/tmp/x\")\n// TODO\nfine\n").len(), 2);
}

#[test]
fn a_long_file_is_found() {
    assert_eq!(too_long("a.rs", &"\n".repeat(LONGEST)), None);
    assert!(too_long("a.rs", &"\n".repeat(LONGEST + 1)).is_some());
}

#[test]
fn missing_lints_are_found() {
    assert!(has_workspace_lints("[package]\n[lints]\nworkspace = true\n"));
    assert!(!has_workspace_lints("[package]\n"));
    assert!(!has_workspace_lints("[lints]\n[dependencies]\nworkspace = true"));
}
