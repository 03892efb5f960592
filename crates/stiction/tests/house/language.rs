//! Names and language: one meaning per name in a crate, and documentation in the field's own words.

use crate::none;
use crate::text::{is_word, read, sources, split, without_tests};
use std::collections::BTreeMap;

/// Openings of documentation that do not say what a thing is.
const BAD_OPENINGS: [&str; 9] =
    ["What ", "Those ", "That ", "These ", "The same ", "Whatever ", "Whoever ", "Who ", "It "];

/// Words of a private dialect, and the field's word for each.
const DIALECT: [(&str, &str); 14] = [
    ("bears", "is active"),
    ("bore", "was active"),
    ("bearing", "active constraint"),
    ("told", "reported"),
    ("unpush", "remove_force"),
    ("unjoin", "remove_joint"),
    ("anew", "again"),
    ("nobody", "no one; name the caller"),
    ("whoever", "the caller"),
    ("happened", "event"),
    ("to and fro", "oscillates"),
    ("nothing that shows", "below the tolerance"),
    ("can strike", "has unilateral constraints"),
    ("resists turning", "has rolling friction"),
];

/// Longest module header, in lines.
const LONGEST_HEADER: usize = 40;

/// A name with the place of its definition.
struct Definition {
    name: String,
    place: String,
    value: String,
}

/// Definitions in the code of a file whose line starts with one of `keywords`, after the visibility.
fn definitions(path: &str, code: &str, keywords: &[&str]) -> Vec<Definition> {
    let mut found = Vec::new();
    for (i, line) in code.lines().enumerate() {
        let line = line.trim_start();
        let rest = match line.strip_prefix("pub") {
            Some(rest) if rest.starts_with('(') => rest.split_once(')').map_or(rest, |(_, rest)| rest),
            Some(rest) => rest,
            None => line,
        };
        let Some((keyword, rest)) = rest.trim_start().split_once(' ') else { continue };
        if !keywords.contains(&keyword) {
            continue;
        }
        let name: String = rest.chars().take_while(|&c| is_word(c)).collect();
        let value = rest[name.len()..].trim().to_string();
        found.push(Definition { name, place: format!("{path}:{}", i + 1), value });
    }
    found
}

/// The path with `planar` and `spatial` made equal: formulas of the plane and of space stand side by side under the
/// same names.
fn twin(place: &str) -> String {
    let path = place.rsplit_once(':').map_or(place, |(path, _)| path);
    let part = |part: &str| {
        if part.starts_with("spatial") { part.replacen("spatial", "planar", 1) } else { part.into() }
    };
    path.split('/').map(part).collect::<Vec<String>>().join("/")
}

/// Names defined more than once, other than once each for the plane and for space.
fn repeated(definitions: &[Definition], same: impl Fn(&Definition, &Definition) -> bool) -> Vec<String> {
    let mut places: BTreeMap<&str, Vec<&Definition>> = BTreeMap::new();
    definitions.iter().for_each(|d| places.entry(&d.name).or_default().push(d));
    let mut complaints = Vec::new();
    for (name, found) in places {
        for (i, second) in found.iter().enumerate().skip(1) {
            if let Some(first) = found[..i].iter().find(|first| !same(first, second)) {
                complaints.push(format!("{}: {name} is defined at {} too", second.place, first.place));
            }
        }
    }
    complaints
}

fn are_twins(a: &Definition, b: &Definition) -> bool {
    a.place.split(':').next() != b.place.split(':').next() && twin(&a.place) == twin(&b.place)
}

/// Type names that a crate defines twice.
fn repeated_types(files: &[(String, String)]) -> Vec<String> {
    let types =
        |(path, code): &(String, String)| definitions(path, code, &["struct", "enum", "trait", "union"]);
    repeated(&files.iter().flat_map(types).collect::<Vec<_>>(), are_twins)
}

/// Numeric constants that a crate defines twice with different values.
fn repeated_constants(files: &[(String, String)]) -> Vec<String> {
    let mut constants: Vec<_> =
        files.iter().flat_map(|(path, code)| definitions(path, code, &["const"])).collect();
    // a trait declares a constant without a value
    let numeric = |d: &Definition| {
        d.value.contains('=')
            && [": f64", ": usize", ": u32", ": u64", ": i32", ": [f64"]
                .iter()
                .any(|kind| d.value.starts_with(kind))
    };
    constants.retain(numeric);
    repeated(&constants, |a, b| a.value == b.value || are_twins(a, b))
}

/// The first lines of documentation comments that open with words that say nothing.
fn bad_openings(path: &str, text: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    let mut inside = false;
    for (i, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let documentation = line.strip_prefix("/// ").or_else(|| line.strip_prefix("//! "));
        if let Some(opening) = documentation.filter(|_| !inside)
            && let Some(bad) = BAD_OPENINGS.iter().find(|bad| opening.starts_with(**bad))
        {
            complaints.push(format!("{path}:{}: documentation opens with {bad:?}", i + 1));
        }
        inside = line.starts_with("///") || line.starts_with("//!");
    }
    complaints
}

/// Words of the dialect in comments.
fn dialect(path: &str, comments: &str) -> Vec<String> {
    let mut complaints = Vec::new();
    for (i, line) in comments.lines().enumerate() {
        for (word, instead) in DIALECT {
            let hit = line.match_indices(word).any(|(at, _)| {
                let before = line[..at].chars().next_back().is_some_and(is_word);
                let after = line[at + word.len()..].chars().next().is_some_and(is_word);
                !before && !after
            });
            if hit {
                complaints.push(format!("{path}:{}: say {instead:?}, not {word:?}", i + 1));
            }
        }
    }
    complaints
}

fn long_header(path: &str, text: &str) -> Option<String> {
    let lines = text.lines().take_while(|line| line.starts_with("//!")).count();
    let front_page = path.ends_with("/lib.rs");
    (lines > LONGEST_HEADER && !front_page).then(|| format!("{path}: a header of {lines} lines"))
}

/// The crates, each with its files as code without comments and tests.
fn crates() -> BTreeMap<String, Vec<(String, String)>> {
    let mut crates: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
    for path in sources() {
        // test modules in files of their own
        if path.contains("/tests/") || path.ends_with("/tests.rs") {
            continue;
        }
        let name = path.split('/').nth(1).unwrap_or("").to_string();
        crates.entry(name).or_default().push((path.clone(), without_tests(&split(&read(&path)).code)));
    }
    crates
}

#[test]
fn a_type_name_occurs_once_in_a_crate() {
    none(&crates().values().flat_map(|files| repeated_types(files)).collect::<Vec<_>>());
}

#[test]
fn a_constant_has_one_value_in_a_crate() {
    // the experiments of the papers use the papers' letters, each experiment its own
    let ours = crates().into_iter().filter(|(name, _)| name != "stiction-papers");
    none(&ours.flat_map(|(_, files)| repeated_constants(&files)).collect::<Vec<_>>());
}

#[test]
fn documentation_says_what_a_thing_is() {
    none(&sources().iter().flat_map(|path| bad_openings(path, &read(path))).collect::<Vec<_>>());
}

#[test]
fn comments_use_the_words_of_the_field() {
    none(&sources().iter().flat_map(|path| dialect(path, &split(&read(path)).comments)).collect::<Vec<_>>());
}

#[test]
fn module_headers_are_short() {
    none(&sources().iter().filter_map(|path| long_header(path, &read(path))).collect::<Vec<_>>());
}

#[test]
fn a_repeated_name_is_found() {
    let file = |path: &str, code: &str| (format!("crates/x/src/{path}"), code.to_string());
    let types = [file("a.rs", "pub(crate) struct Run<'a> {"), file("b.rs", "enum Run {\n}\nstruct Other;")];
    assert_eq!(repeated_types(&types).len(), 1);
    let twins = [file("planar/gap.rs", "pub struct Gap {"), file("spatial/gap.rs", "pub struct Gap {")];
    none(&repeated_types(&twins));
    let strangers = [file("planar/gap.rs", "pub struct Gap {"), file("spatial/row.rs", "pub struct Gap {")];
    assert_eq!(repeated_types(&strangers).len(), 1);
    let constants = [file("a.rs", "const TINY: f64 = 1e-9;"), file("b.rs", "pub const TINY: f64 = 1e-8;")];
    assert_eq!(repeated_constants(&constants).len(), 1);
    let equal = [file("a.rs", "const TINY: f64 = 1e-9;"), file("b.rs", "const TINY: f64 = 1e-9;")];
    none(&repeated_constants(&equal));
}

#[test]
fn bad_language_is_found() {
    none(&bad_openings("a.rs", "/// Maximum gap [m].\n/// What follows is fine.\nfn f() {}"));
    assert_eq!(bad_openings("a.rs", "/// What a step did.\nfn f() {}\n//! Those that touch.").len(), 2);
    none(&dialect("a.rs", "// a contact is active; unbearing"));
    assert_eq!(dialect("a.rs", "// what bears\n// modes are told").len(), 2);
    assert!(long_header("a.rs", &"//! x\n".repeat(LONGEST_HEADER + 1)).is_some());
}
