//! Who may know whom: crates by their manifests, modules by the paths in their code.

use crate::none;
use crate::text::{files, is_identifier, is_word, read, sources, split, without_tests};
use std::collections::{BTreeMap, BTreeSet};

/// A crate and the crates of this workspace it may depend on.
const CRATES: &[(&str, &[&str])] = &[
    // its integration tests take their problems from the crate next to it
    ("stiction-lcp", &["stiction-problems"]),
    ("stiction-problems", &["stiction-lcp"]),
    ("stiction-geometry", &[]),
    ("stiction", &["stiction-geometry", "stiction-lcp"]),
    ("stiction-scene", &["stiction", "stiction-geometry", "stiction-lcp"]),
    ("stiction-journal", &["stiction"]),
    ("stiction-view", &["stiction", "stiction-geometry", "stiction-scene"]),
    ("stiction-papers", &["stiction", "stiction-geometry", "stiction-lcp"]),
    (
        "stiction-cli",
        &[
            "stiction",
            "stiction-geometry",
            "stiction-journal",
            "stiction-lcp",
            "stiction-papers",
            "stiction-scene",
            "stiction-view",
        ],
    ),
    (
        "stiction-lab",
        &[
            "stiction",
            "stiction-cli",
            "stiction-geometry",
            "stiction-journal",
            "stiction-lcp",
            "stiction-papers",
            "stiction-problems",
            "stiction-scene",
        ],
    ),
];

/// A crate, a module at its root, and the modules of the same crate this one may use. A module without a line
/// here may use any.
const MODULES: &[(&str, &str, &[&str])] = &[
    // factorizations know no problem: callers pass entries and rows, so that problems may use them
    ("stiction-lcp", "factor", &[]),
    ("stiction-lcp", "mode", &[]),
    // a problem factors its mass matrix, which proves it definite; it knows no solver
    ("stiction-lcp", "problem", &["factor"]),
    // the judge knows the problem and no solver
    ("stiction-lcp", "certificate", &["problem", "threads"]),
    // a proof is checked against the problem alone
    ("stiction-lcp", "proof", &["problem"]),
    // pivoting methods know the problem, not who calls them or how they are judged
    ("stiction-lcp", "condense", &["factor", "problem"]),
    ("stiction-lcp", "lemke", &["factor", "problem"]),
    ("stiction-lcp", "chain", &[]),
    // the set of impulses of a motion knows the problem, and no solver of it
    ("stiction-lcp", "linear_program", &[]),
    ("stiction-lcp", "least_norm", &[]),
    ("stiction-lcp", "cone_cuts", &["problem"]),
    (
        "stiction-lcp",
        "impulse_set",
        &["cone_cuts", "factor", "least_norm", "linear_program", "mode", "problem"],
    ),
    // cone problems of slips in space are solved
    ("stiction-lcp", "motions", &["cone_cuts", "factor", "linear_program", "mode", "problem", "solve"]),
    // measurement knows nothing of the code it measures
    ("stiction-lcp", "profile", &[]),
    ("stiction-lcp", "threads", &[]),
    // the oracle reports the residual of each solution
    ("stiction-lcp", "enumerate", &["certificate", "factor", "problem"]),
    ("stiction-lcp", "solution", &["certificate", "lemke", "problem", "proof"]),
    // a task owns the prepared problem and its judge; methods receive it and do not know the dispatcher
    ("stiction-lcp", "task", &["certificate", "problem", "profile", "solution"]),
    (
        "stiction-lcp",
        "structured",
        &["certificate", "chain", "factor", "mode", "problem", "profile", "solution", "task"],
    ),
    (
        "stiction-lcp",
        "newton",
        &["certificate", "factor", "least_norm", "mode", "problem", "solution", "task"],
    ),
    // these are made of solves, which the dispatcher passes to them as functions
    ("stiction-lcp", "local", &["certificate", "lemke", "problem", "proof", "solution", "task"]),
    ("stiction-lcp", "convex", &["problem", "solution", "task"]),
    // the dispatcher stands on top
    (
        "stiction-lcp",
        "solve",
        &[
            "certificate",
            "chain",
            "condense",
            "convex",
            "enumerate",
            "lemke",
            "local",
            "mode",
            "newton",
            "problem",
            "profile",
            "proof",
            "solution",
            "structured",
            "task",
        ],
    ),
    ("stiction-lcp", "pointed", &["certificate", "problem", "proof", "solution", "solve"]),
    // the plane and the space never see each other; what both need stands below them
    ("stiction-geometry", "climb", &[]),
    ("stiction-geometry", "convex", &[]),
    ("stiction-geometry", "ratio", &["climb"]),
    (
        "stiction-geometry",
        "planar",
        &["aabb", "climb", "convex", "error", "events", "gap", "growth", "mass", "ratio", "vertex_list"],
    ),
    (
        "stiction-geometry",
        "spatial",
        &["aabb", "climb", "convex", "error", "events", "gap", "growth", "mass", "ratio", "vertex_list"],
    ),
    ("stiction-geometry", "broad", &["aabb"]),
    // a scheme never sees a world, and neither world sees the other
    ("stiction", "id", &[]),
    ("stiction", "jacobian", &[]),
    ("stiction", "system", &["id", "jacobian"]),
    ("stiction", "material", &[]),
    ("stiction", "state", &["system"]),
    // how far a run is, and whether it is to stop, is asked from inside and outside of it
    ("stiction", "monitor", &["error"]),
    // proofs are checked against rows alone
    ("stiction", "reduce", &["id", "system"]),
    ("stiction", "assemble", &["report", "state", "system"]),
    (
        "stiction",
        "scheme",
        &["assemble", "error", "jacobian", "monitor", "reduce", "report", "state", "system"],
    ),
    // a step is posed again by the code that posed it, and nothing of the loop is asked
    ("stiction", "verify", &["assemble", "id", "reduce", "report", "scheme", "state", "system"]),
    ("stiction", "simulate", &["error", "monitor", "report", "scheme", "state", "system"]),
    // the shared world knows neither dimension; each brings formulas to it, and one type holds both
    ("stiction", "world", WORLD),
    ("stiction", "planar", DIMENSION),
    ("stiction", "spatial", DIMENSION),
    // bytes know no record, and records no bytes
    ("stiction-journal", "frame", &[]),
    ("stiction-journal", "record", &[]),
    // the description of the format knows nothing, and both that lean on it know no world
    ("stiction-scene", "keys", &[]),
    ("stiction-scene", "schema", &["keys"]),
    ("stiction-scene", "hints", &["keys"]),
    ("stiction-scene", "validate", &["diagnostic", "hints", "keys", "node"]),
    ("stiction-scene", "diagnostic", &[]),
    ("stiction-scene", "node", &["diagnostic"]),
    // neither world sees the other here either
    ("stiction-scene", "assembly", SCENE_WORLD),
    ("stiction-scene", "planar", SCENE_DIMENSION),
    ("stiction-scene", "spatial", SCENE_DIMENSION),
    // a page is drawn from descriptions and frames; only the server knows who asks for them
    ("stiction-view", "describe", &["quantity", "stand_in"]),
    ("stiction-view", "quantity", &["describe"]),
    ("stiction-view", "stand_in", &["describe"]),
    ("stiction-view", "frame", &["describe", "quantity"]),
    ("stiction-view", "page", &["describe"]),
    ("stiction-view", "tape", &["describe", "frame", "page"]),
    ("stiction-view", "session", &["describe", "frame"]),
    ("stiction-view", "server", &["describe", "page", "session"]),
];

/// Modules that the shared world uses.
const WORLD: &[&str] =
    &["error", "id", "jacobian", "material", "report", "scheme", "simulate", "state", "system"];

/// Modules that the formulas of a dimension use.
const DIMENSION: &[&str] = &["error", "id", "jacobian", "material", "system", "world"];

/// Modules that read the world of a file.
const SCENE_WORLD: &[&str] = &[
    "controls",
    "copies",
    "diagnostic",
    "expression",
    "keys",
    "node",
    "read",
    "source_map",
    "surface",
    "track",
];

/// Modules that read what a file writes differently in each dimension.
const SCENE_DIMENSION: &[&str] = &["assembly", "expression", "read", "track"];

/// The workspace crates that a manifest depends on, in any of its dependency tables.
fn dependencies(manifest: &str) -> BTreeSet<&str> {
    let mut found = BTreeSet::new();
    let mut inside = false;
    for line in manifest.lines().map(str::trim) {
        if let Some(table) = line.strip_prefix('[') {
            let table = table.trim_end_matches(']');
            inside = table.ends_with("dependencies");
            // [dependencies.stiction]
            if let Some((_, name)) = table.split_once("dependencies.") {
                found.insert(name);
            }
        } else if inside {
            found.insert(line.split(['.', '=', ' ']).next().unwrap_or(""));
        }
    }
    found.into_iter().filter(|name| *name == "stiction" || name.starts_with("stiction-")).collect()
}

fn crate_complaints(name: &str, manifest: &str, rules: &[(&str, &[&str])]) -> Vec<String> {
    let Some((_, allowed)) = rules.iter().find(|(rule, _)| *rule == name) else {
        return vec![format!("crate {name} has no rule")];
    };
    let forbidden = dependencies(manifest).into_iter().filter(|d| !allowed.contains(d));
    forbidden.map(|d| format!("crate {name} must not depend on {d}")).collect()
}

/// Paths from the root of the crate that code uses, each cut to at most its first two names. `module` is where
/// the code stands.
fn used_paths(code: &str, module: &[&str]) -> BTreeSet<String> {
    let mut used = BTreeSet::new();
    for start in ["crate", "super", "self"] {
        for (at, _) in code.match_indices(start) {
            let rest = &code[at..];
            let word = code[..at].chars().next_back().is_some_and(|c| is_word(c) || c == ':' || c == '$');
            if word || rest[start.len()..].chars().next().is_some_and(is_word) {
                continue;
            }
            let mut names = Vec::new();
            tree(&rest[..end_of_path(rest)], &mut Vec::new(), &mut names);
            used.extend(names.iter().filter_map(|path| resolve(path, module)));
        }
    }
    used
}

/// The end of a path and of the braces in it.
fn end_of_path(code: &str) -> usize {
    let mut depth = 0;
    for (i, c) in code.char_indices() {
        match c {
            '{' if depth > 0 || code[..i].ends_with("::") => depth += 1,
            '}' if depth > 0 => depth -= 1,
            _ if depth > 0 || is_word(c) || c == ':' => {}
            _ => return i,
        }
    }
    code.len()
}

/// Unfolds `a::{b, c::d}` into its paths.
fn tree(text: &str, prefix: &mut Vec<String>, paths: &mut Vec<Vec<String>>) {
    let depth = prefix.len();
    if let Some((head, rest)) = text.split_once('{') {
        prefix.extend(head.split("::").map(str::trim).filter(|p| is_identifier(p)).map(str::to_string));
        let inner = &rest[..rest.rfind('}').unwrap_or(rest.len())];
        let mut level = 0;
        let branches = inner.split(|c| {
            level += i32::from(c == '{') - i32::from(c == '}');
            c == ',' && level == 0
        });
        for branch in branches.filter(|b| !b.trim().is_empty()) {
            tree(branch.split(" as ").next().unwrap_or("").trim(), prefix, paths);
        }
    } else {
        let names = text.split("::").map(str::trim).filter(|p| is_identifier(p)).map(str::to_string);
        paths.push(prefix.iter().cloned().chain(names).collect());
    }
    prefix.truncate(depth);
}

/// A path from the root of the crate, or `None` when it does not leave the name it starts from.
fn resolve(path: &[String], module: &[&str]) -> Option<String> {
    let mut from: Vec<&str> = if path[0] == "crate" { Vec::new() } else { module.to_vec() };
    let mut names = path.iter().map(String::as_str).peekable();
    while let Some(step) = names.next_if(|n| ["crate", "super", "self"].contains(n)) {
        if step == "super" {
            from.pop();
        }
    }
    names.peek()?;
    from.extend(names);
    from.truncate(2);
    Some(from.join("::"))
}

/// Where each name that the root of a crate re-exports comes from.
fn reexports(root: &str) -> BTreeMap<String, String> {
    let mut origin = BTreeMap::new();
    for statement in root.split("pub use ").skip(1) {
        let mut paths = Vec::new();
        tree(statement.split(';').next().unwrap_or(""), &mut Vec::new(), &mut paths);
        for path in paths.iter().filter(|p| p.len() > 1) {
            origin.insert(path[path.len() - 1].clone(), path[0].clone());
        }
    }
    origin
}

/// The names of the modules a file stands in, below `src`.
fn module_of(path: &str) -> Vec<&str> {
    let below = path.split_once("/src/").map_or(path, |(_, below)| below);
    below.trim_end_matches(".rs").split('/').filter(|p| !["lib", "main", "mod"].contains(p)).collect()
}

/// Modules at the root of a crate that a module uses.
fn used_modules(module: &str, sources: &[(String, String)]) -> BTreeSet<String> {
    let root = sources.iter().find(|(path, _)| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"));
    let origin = root.map(|(_, text)| reexports(&split(text).code)).unwrap_or_default();
    let own = sources.iter().filter(|(path, _)| module_of(path).first() == Some(&module));
    let own = own.filter(|(path, _)| !module_of(path).contains(&"tests"));
    let used = own.flat_map(|(path, text)| used_paths(&without_tests(&split(text).code), &module_of(path)));
    used.filter_map(|path| {
        let first = path.split("::").next()?.to_string();
        Some(origin.get(&first).cloned().unwrap_or(first))
    })
    .filter(|used| used != module)
    .collect()
}

/// Complaints about modules of a crate that use each other in a circle. Modules are removed one by one once all modules
/// they use are removed; the rest stands in circles or above them.
fn cycle_complaints(sources: &[(String, String)]) -> Vec<String> {
    let names: BTreeSet<&str> =
        sources.iter().filter_map(|(path, _)| module_of(path).first().copied()).collect();
    let mut uses: BTreeMap<&str, BTreeSet<String>> = BTreeMap::new();
    for &name in &names {
        let used = used_modules(name, sources).into_iter().filter(|used| names.contains(used.as_str()));
        uses.insert(name, used.collect());
    }
    while let Some(name) = uses.iter().find(|(_, used)| used.is_empty()).map(|(name, _)| *name) {
        uses.remove(name);
        uses.values_mut().for_each(|used| {
            used.remove(name);
        });
    }
    uses.into_iter()
        .map(|(name, used)| format!("{name} is in a circle with {used:?}, or above one"))
        .collect()
}

/// Complaints about one module: `sources` are the files of the crate by path.
fn module_complaints(module: &str, allowed: &[&str], sources: &[(String, String)]) -> Vec<String> {
    let root = sources.iter().find(|(path, _)| path.ends_with("src/lib.rs") || path.ends_with("src/main.rs"));
    let origin = root.map(|(_, text)| reexports(&split(text).code)).unwrap_or_default();
    let own: Vec<_> = sources.iter().filter(|(path, _)| module_of(path).first() == Some(&module)).collect();
    let mut complaints = Vec::new();
    if own.is_empty() {
        complaints.push(format!("there is a rule for {module}, which does not exist"));
    }
    for (path, text) in own {
        let place = module_of(path);
        if place.contains(&"tests") {
            continue;
        }
        for used in used_paths(&without_tests(&split(text).code), &place) {
            let first = used.split("::").next().unwrap_or("");
            let first = origin.get(first).map_or(first, String::as_str);
            if first != module && !allowed.contains(&first) {
                complaints.push(format!("{path}: {module} must not know {used}"));
            }
        }
    }
    complaints
}

#[test]
fn crates_depend_only_on_whom_they_may() {
    let manifests: Vec<String> =
        files().into_iter().filter(|p| p.starts_with("crates/") && p.ends_with("/Cargo.toml")).collect();
    assert!(manifests.len() >= CRATES.len());
    let name = |path: &str| path.split('/').nth(1).unwrap_or("").to_string();
    let complaints: Vec<String> =
        manifests.iter().flat_map(|p| crate_complaints(&name(p), &read(p), CRATES)).collect();
    none(&complaints);
}

/// Crates whose root modules must not use each other in circles.
const WITHOUT_CYCLES: &[&str] = &["stiction-lcp"];

#[test]
fn modules_do_not_use_each_other_in_circles() {
    for name in WITHOUT_CYCLES {
        let folder = format!("crates/{name}/src/");
        let sources: Vec<(String, String)> =
            sources().into_iter().filter(|p| p.starts_with(&folder)).map(|p| (p.clone(), read(&p))).collect();
        none(&cycle_complaints(&sources));
    }
}

#[test]
fn a_circle_of_modules_is_found() {
    let source = |path: &str, text: &str| (format!("crates/x/src/{path}"), text.to_string());
    let with = |last: &str| {
        [
            source("lib.rs", "mod a; mod b; mod c; pub use a::Item;"),
            source("a.rs", "use crate::b::X;"),
            source("b.rs", "use crate::c::Y;"),
            source("c.rs", last),
        ]
    };
    none(&cycle_complaints(&with("#[cfg(test)] mod tests { use crate::a; }")));
    // by a re-export of the root
    assert_eq!(cycle_complaints(&with("use crate::Item;")).len(), 3);
    assert_eq!(cycle_complaints(&with("use super::b;")).len(), 3);
}

#[test]
fn modules_know_only_whom_they_may() {
    let mut complaints = Vec::new();
    for (name, module, allowed) in MODULES {
        let folder = format!("crates/{name}/src/");
        let sources: Vec<(String, String)> =
            sources().into_iter().filter(|p| p.starts_with(&folder)).map(|p| (p.clone(), read(&p))).collect();
        complaints.extend(module_complaints(module, allowed, &sources));
    }
    none(&complaints);
}

/// Verification shares the step-problem builder, rows and gaps with the schemes, and no solver: a wrong answer of a
/// solver cannot pass because the same solver gives it again.
#[test]
fn verification_solves_nothing() {
    let mut complaints = Vec::new();
    let own =
        |path: &String| path.starts_with("crates/stiction/src/verify/") || path.contains("/trapezoid/replay");
    for path in sources().into_iter().filter(own) {
        let code = split(&read(&path)).code;
        for word in ["solve", "solved", "solve_in_modes", "Workspace", "lcp"] {
            let called = code.split(|c| !is_word(c)).any(|w| w == word);
            if called {
                complaints.push(format!("{path}: names {word}"));
            }
        }
    }
    none(&complaints);
}

#[test]
fn a_forbidden_crate_is_found() {
    let rules: [(&str, &[&str]); 2] = [("stiction-lcp", &[]), ("stiction", &["stiction-lcp"])];
    let manifest =
        "[package]\nname = \"x\"\n[dependencies]\nserde.workspace = true\nstiction-lcp.workspace = true\n";
    none(&crate_complaints("stiction", manifest, &rules));
    assert_eq!(crate_complaints("stiction-lcp", manifest, &rules).len(), 1);
    assert_eq!(crate_complaints("stiction-new", manifest, &rules).len(), 1);
    let others =
        "[dev-dependencies]\nstiction = { path = \"..\" }\n[dependencies.stiction-geometry]\npath = \"..\"";
    assert_eq!(crate_complaints("stiction-lcp", others, &rules).len(), 2);
}

#[test]
fn a_forbidden_module_is_found() {
    let source = |path: &str, text: &str| (format!("crates/x/src/{path}"), text.to_string());
    let crate_with = |judge: &str| {
        [
            source(
                "lib.rs",
                "mod judge; pub mod lemke; pub use lemke::{Basis, Lemke}; pub use problem::Lcp;",
            ),
            source("judge/mod.rs", "mod inner;"),
            source("judge/inner.rs", judge),
            source("lemke.rs", ""),
        ]
    };
    let complaints = |judge: &str| module_complaints("judge", &["problem"], &crate_with(judge)).len();
    let fine = "use crate::problem::{self, Lcp}; use super::{Row, other::X}; use std::fmt; use crate::Lcp;
        /// see [`crate::lemke`]
        pub(crate) fn f(self) -> Self { self.crate_like(\"crate::lemke\"); self::g(); super::super::problem::f() }
        #[cfg(test)] mod tests { use crate::lemke::Lemke; }";
    assert_eq!(complaints(fine), 0);
    assert_eq!(complaints("use crate::lemke::Lemke;"), 1);
    assert_eq!(complaints("use crate::{problem::Lcp, lemke::{Basis, Lemke}};"), 2);
    assert_eq!(complaints("fn f() { crate::lemke::run() }"), 1);
    assert_eq!(complaints("use super::super::lemke;"), 1);
    assert_eq!(complaints("use crate::Basis;"), 1);
    assert_eq!(module_complaints("gone", &[], &crate_with("")).len(), 1);
}
