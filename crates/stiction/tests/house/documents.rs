//! The documents name only what exists: paths, make targets, symbols, code names and papers.

use crate::none;
use crate::symbols::{Symbols, is_symbol};
use crate::text::{
    backticked, cells, extension, files, identifiers, is_identifier, is_word, links, prose, read, root,
    sources, spans, split,
};
use std::collections::BTreeSet;

/// The documents whose paths are checked, where they exist.
const DOCUMENTS: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "NOTATION.md", "CONTRIBUTING.md", "CHANGELOG.md", "problems/README.md"];

/// The documents whose symbols are checked.
const WITH_SYMBOLS: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// Words in backticks that the sources do not define: the language, its tools and our own commands.
const KNOWN_WORDS: [&str; 11] =
    ["cargo", "clippy", "f64", "git", "make", "nextest", "rustfmt", "stiction", "unsafe", "unwrap", "expect"];

/// Endings by which a bare word is taken for a file.
const ENDINGS: [&str; 12] =
    [".cff", ".csv", ".json", ".lock", ".md", ".py", ".rs", ".sh", ".svg", ".toml", ".ts", ".txt"];

/// Words of a span that read as paths.
fn paths(span: &str) -> impl Iterator<Item = &str> {
    let plain = |w: &&str| w.chars().all(|c| c.is_ascii_alphanumeric() || "._-/".contains(c));
    let path = |w: &&str| {
        w.contains('/')
            || ENDINGS.iter().any(|e| w.ends_with(e))
            || *w == "Makefile"
            || w.starts_with("LICENSE-")
    };
    span.split_whitespace().filter(plain).filter(path)
}

/// A path holds when it is a file or folder from the root, from the document's own folder, or the end of one
/// (`lemke.rs`); what git ignores is made by the program and need not be there.
fn path_exists(path: &str, document: &str, files: &[String], ignored: &[String]) -> bool {
    let path = path.trim_start_matches("./").trim_end_matches('/');
    let folder = document.rfind('/').map_or("", |i| &document[..=i]);
    let beside = format!("{folder}{path}");
    let within = |file: &String, path: &str| {
        file.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let ends = |file: &String| format!("/{file}/").contains(&format!("/{path}/"));
    ignored.iter().any(|i| within(&path.to_string(), i))
        || files.iter().any(|f| within(f, path) || within(f, &beside) || ends(f))
}

fn missing_paths(document: &str, markdown: &str, files: &[String], ignored: &[String]) -> Vec<String> {
    let spans = backticked(markdown).into_iter().flat_map(|(n, span)| paths(span).map(move |p| (n, p)));
    spans
        .chain(links(markdown))
        .filter(|(_, path)| !path_exists(path, document, files, ignored))
        .map(|(n, path)| format!("{document}:{n}: {path} does not exist"))
        .collect()
}

/// `make` targets a document names that the Makefile does not have.
fn missing_targets(document: &str, markdown: &str, makefile: &str) -> Vec<String> {
    let named = markdown.match_indices("make ").filter(|(at, _)| markdown[..*at].ends_with(['`', '\n', '$']));
    named
        .map(|(at, make)| markdown[at + make.len()..].split(|c| !is_word(c)).next().unwrap_or(""))
        .filter(|target| !makefile.lines().any(|l| l.starts_with(&format!("{target}:"))))
        .map(|target| format!("{document}: make {target} is no target"))
        .collect()
}

fn missing_symbols(document: &str, markdown: &str, symbols: &Symbols) -> Vec<String> {
    backticked(markdown)
        .into_iter()
        .filter(|(_, span)| is_symbol(span) && !KNOWN_WORDS.contains(span) && !symbols.has(span))
        .map(|(n, span)| format!("{document}:{n}: {span} is defined nowhere"))
        .collect()
}

/// Rows of the tables whose head has all these columns, reduced to them, with the line of each.
fn table<'a>(markdown: &'a str, columns: &[&str]) -> Vec<(usize, Vec<&'a str>)> {
    let mut rows = Vec::new();
    let mut chosen: Option<Vec<usize>> = None;
    for (n, line) in prose(markdown) {
        let Some(cells) = cells(line) else {
            chosen = None;
            continue;
        };
        match &chosen {
            None => chosen = columns.iter().map(|c| cells.iter().position(|x| x == c)).collect(),
            Some(_) if cells[0].starts_with("--") => {}
            Some(at) => rows.push((n, at.iter().map(|&i| cells.get(i).copied().unwrap_or("")).collect())),
        }
    }
    rows
}

/// Notation: every code name occurs as an identifier in the code of the file beside it.
fn missing_names(markdown: &str, source: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let rows = table(markdown, &["symbol", "code name", "file"]);
    let mut complaints = Vec::new();
    if rows.is_empty() {
        complaints.push("NOTATION.md: no table of symbols".to_string());
    }
    for (n, row) in rows {
        let (names, file): (Vec<&str>, _) = (spans(row[1]).collect(), spans(row[2]).next());
        let Some(code) = file.and_then(&source).map(|text| split(&text).code) else {
            complaints.push(format!("NOTATION.md:{n}: {} has no file that exists", row[0]));
            continue;
        };
        let known = identifiers(&code);
        if names.is_empty() {
            complaints.push(format!("NOTATION.md:{n}: {} has no code name", row[0]));
        }
        for part in names.iter().flat_map(|name| name.split(['.', ':']).filter(|p| !p.is_empty())) {
            if !known.contains(part) {
                complaints.push(format!("NOTATION.md:{n}: {part} does not occur in {}", row[2]));
            }
        }
    }
    complaints
}

/// The paper keys that NOTATION.md explains.
fn keys(markdown: &str) -> BTreeSet<&str> {
    table(markdown, &["key", "paper"]).into_iter().map(|(_, row)| row[0]).collect()
}

/// Words that read as paper keys: two to four capitals and two digits.
fn cited(text: &str) -> impl Iterator<Item = &str> {
    let key = |w: &&str| {
        let letters = w.chars().take_while(char::is_ascii_uppercase).count();
        (2..=4).contains(&letters)
            && w.len() == letters + 2
            && w[letters..].chars().all(|c| c.is_ascii_digit())
    };
    text.split(|c: char| !is_word(c) && c != '-').filter(key)
}

fn unknown_keys(path: &str, text: &str, known: &BTreeSet<&str>) -> Vec<String> {
    let unknown = cited(text).filter(|key| !known.contains(key));
    unknown.map(|key| format!("{path}: {key} is no key of NOTATION.md")).collect()
}

fn documents() -> impl Iterator<Item = (&'static str, String)> {
    DOCUMENTS.into_iter().filter(|d| root().join(d).exists()).map(|d| (d, read(d)))
}

/// Folders at the root that git ignores: what the program makes.
fn ignored() -> Vec<String> {
    read(".gitignore")
        .lines()
        .filter_map(|l| Some(l.strip_prefix('/')?.trim_end_matches('/').to_string()))
        .collect()
}

#[test]
fn paths_in_documents_exist() {
    let (files, ignored) = (files(), ignored());
    let complaints: Vec<String> =
        documents().flat_map(|(d, text)| missing_paths(d, &text, &files, &ignored)).collect();
    none(&complaints);
}

#[test]
fn make_targets_in_documents_exist() {
    let makefile = read("Makefile");
    none(&documents().flat_map(|(d, text)| missing_targets(d, &text, &makefile)).collect::<Vec<_>>());
}

#[test]
fn symbols_in_documents_exist() {
    let mut symbols = Symbols::default();
    for path in sources() {
        symbols.add(&path, &read(&path));
    }
    let mut complaints: Vec<String> =
        WITH_SYMBOLS.iter().flat_map(|d| missing_symbols(d, &read(d), &symbols)).collect();
    // notation also lists local names, which are looked for in their file alone
    let notation = read("NOTATION.md");
    let members = backticked(&notation).into_iter().map(|(_, span)| span).filter(|span| span.contains("::"));
    let missing = members.filter(|span| !symbols.has(span));
    complaints.extend(missing.map(|span| format!("NOTATION.md: {span} is defined nowhere")));
    none(&complaints);
}

#[test]
fn code_names_in_notation_occur_in_their_file() {
    let source = |path: &str| std::fs::read_to_string(root().join(path)).ok();
    none(&missing_names(&read("NOTATION.md"), source));
}

#[test]
fn papers_are_cited_by_the_keys_of_notation() {
    let notation = read("NOTATION.md");
    let known = keys(&notation);
    assert!(known.contains("AH04"), "{known:?}");
    let mut complaints = Vec::new();
    for path in files().iter().filter(|p| !p.starts_with("crates/stiction/tests/house/")) {
        let Ok(text) = std::fs::read_to_string(root().join(path)) else { continue };
        match extension(path) {
            // a constant may look like a key, a comment that does is a citation
            "rs" => complaints.extend(unknown_keys(path, &split(&text).comments, &known)),
            "md" | "cff" | "json" | "py" | "toml" | "ts" => {
                complaints.extend(unknown_keys(path, &text, &known));
            }
            _ => {}
        }
    }
    none(&complaints);
}

#[test]
fn a_missing_path_is_found() {
    let files = ["Makefile", "a/src/row.rs", "problems/README.md", "problems/box.json"].map(String::from);
    let ignored = ["out".to_string()];
    let check = |document, text| missing_paths(document, text, &files, &ignored);
    none(&check(
        "README.md",
        "`Makefile`, `a/src`, `a/src/`, `row.rs`, `src/row.rs`, `out/x.svg`, `Row::dot`, `m/s²`",
    ));
    none(&check(
        "README.md",
        "run `stiction solve problems/box.json --json`, see [there](problems/README.md)",
    ));
    none(&check("problems/README.md", "`box.json`"));
    assert_eq!(check("README.md", "`gone.rs`\n`a/gone`, `ow.rs`\n").len(), 3);
    assert_eq!(
        check("README.md", "`stiction solve problems/gone.json`, ![](docs/gone.svg), `outer/x.svg`").len(),
        3
    );
}

#[test]
fn a_missing_make_target_is_found() {
    let makefile = "test: ## all\n";
    none(&missing_targets("a.md", "`make test`, then make do", makefile));
    assert_eq!(missing_targets("a.md", "`make rest` and\nmake fun", makefile).len(), 2);
}

#[test]
fn a_missing_symbol_is_found() {
    let mut symbols = Symbols::default();
    symbols.add("crates/x/src/row.rs", "pub struct Row; impl Row { pub fn dot(&self) {} }");
    none(&missing_symbols("a.md", "`Row`, `Row::dot`, `row`, `f64`, `a + b`, `x.rs`", &symbols));
    assert_eq!(missing_symbols("a.md", "`Column`, `Row::cross`, `dott()`", &symbols).len(), 3);
}

#[test]
fn a_missing_code_name_is_found() {
    let source = |path: &str| (path == "a.rs").then(|| "struct A { mu: f64 } // kappa".to_string());
    let head = "| symbol | words | unit | code name | file |\n|---|---|---|---|---|\n";
    let check = |rows: &str| missing_names(&format!("{head}{rows}"), source);
    none(&check("| μ | friction | 1 | `A::mu` | `a.rs` |"));
    assert_eq!(check("| κ | bound | N s | `A::kappa` | `a.rs` |").len(), 1);
    assert_eq!(check("| μ | friction | 1 | `mu` | `b.rs` |\n| μ | friction | 1 | mu | `a.rs` |").len(), 2);
    assert_eq!(missing_names("no table", source).len(), 1);
}

#[test]
fn an_unknown_paper_is_found() {
    let notation = "| key | paper |\n|---|---|\n| AH04 | Anitescu, Hart |\n";
    let known = keys(notation);
    none(&unknown_keys("a.rs", "AH04 (2.10), AH04. A1, F64X, UTF-8, ISO-8601, MAX_10, RFC1234", &known));
    assert_eq!(unknown_keys("a.rs", "XY12 (3), see AH05, (PAGT06)", &known).len(), 3);
}

#[test]
fn known_words_are_words() {
    assert!(KNOWN_WORDS.iter().all(|w| is_identifier(w)));
}
