//! Reading the repository: its files, Rust source split into code and comments, Markdown.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A file of the repository, or an error that names it.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"))
}

/// All files of the repository that git does not ignore, as paths from its root.
pub(crate) fn files() -> Vec<String> {
    let arguments = ["ls-files", "-z", "--cached", "--others", "--exclude-standard"];
    let listed = Command::new("git").args(arguments).current_dir(root()).output();
    let mut files: Vec<String> = match listed {
        Ok(output) if output.status.success() => {
            let listed = String::from_utf8_lossy(&output.stdout);
            listed.split('\0').filter(|p| !p.is_empty()).map(str::to_string).collect()
        }
        // a source archive has no history: take what is there
        _ => {
            let mut found = Vec::new();
            walk(&root(), "", &mut found);
            found
        }
    };
    files.retain(|p| root().join(p).is_file());
    files.sort();
    files.dedup();
    files
}

fn walk(folder: &Path, prefix: &str, found: &mut Vec<String>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = entry.path();
        if path.is_file() {
            found.push(format!("{prefix}{name}"));
        } else if ![".git", ".tools", ".venv", "node_modules", "out", "target"].contains(&name.as_str()) {
            walk(&path, &format!("{prefix}{name}/"), found);
        }
    }
}

/// The Rust sources under `crates/*/src`.
pub(crate) fn sources() -> Vec<String> {
    let is_source = |p: &String| {
        let parts: Vec<&str> = p.split('/').collect();
        parts.len() > 3 && parts[0] == "crates" && parts[2] == "src" && extension(p) == "rs"
    };
    files().into_iter().filter(is_source).collect()
}

/// What follows the last dot of a path.
pub(crate) fn extension(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(_, extension)| extension)
}

/// Rust source as code (comments and literals blanked) and comments (all else blanked), line by line.
pub(crate) struct Split {
    pub(crate) code: String,
    pub(crate) comments: String,
}

/// Separates code from comments. Strings and characters belong to neither.
pub(crate) fn split(source: &str) -> Split {
    let chars: Vec<char> = source.chars().collect();
    let (mut code, mut comments) = (String::new(), String::new());
    let mut i = 0;
    while i < chars.len() {
        let end = match chars[i] {
            '/' if chars.get(i + 1) == Some(&'/') => until(&chars, i, |c| c == '\n'),
            '/' if chars.get(i + 1) == Some(&'*') => end_of_block(&chars, i),
            '"' => end_of_string(&chars, i),
            'r' if !follows_word(&chars, i) => end_of_raw_string(&chars, i),
            '\'' => end_of_char(&chars, i),
            _ => i,
        };
        let comment = chars[i] == '/' && end > i;
        for &c in &chars[i..end.max(i + 1)] {
            let blank = if c == '\n' { '\n' } else { ' ' };
            code.push(if end > i { blank } else { c });
            comments.push(if comment { c } else { blank });
        }
        i = end.max(i + 1);
    }
    Split { code, comments }
}

fn until(chars: &[char], from: usize, stop: impl Fn(char) -> bool) -> usize {
    (from..chars.len()).find(|&i| stop(chars[i])).unwrap_or(chars.len())
}

fn follows_word(chars: &[char], i: usize) -> bool {
    i > 0 && is_word(chars[i - 1])
}

fn end_of_block(chars: &[char], from: usize) -> usize {
    let (mut depth, mut i) = (0, from);
    while i + 1 < chars.len() {
        match (chars[i], chars[i + 1]) {
            ('/', '*') => depth += 1,
            ('*', '/') => depth -= 1,
            _ => {
                i += 1;
                continue;
            }
        }
        i += 2;
        if depth == 0 {
            return i;
        }
    }
    chars.len()
}

fn end_of_string(chars: &[char], from: usize) -> usize {
    let mut i = from + 1;
    while i < chars.len() && chars[i] != '"' {
        i += if chars[i] == '\\' { 2 } else { 1 };
    }
    (i + 1).min(chars.len())
}

fn end_of_raw_string(chars: &[char], from: usize) -> usize {
    let quote = until(chars, from + 1, |c| c != '#');
    let hashes = quote - from - 1;
    if chars.get(quote) != Some(&'"') {
        return from;
    }
    let closes =
        |i: usize| chars[i] == '"' && chars[i + 1..].iter().take_while(|c| **c == '#').count() >= hashes;
    (quote + 1..chars.len()).find(|&i| closes(i)).map_or(chars.len(), |i| i + 1 + hashes)
}

/// The end of a character literal; a lifetime is left alone.
fn end_of_char(chars: &[char], from: usize) -> usize {
    match (chars.get(from + 1), chars.get(from + 2)) {
        (Some('\\'), _) => (until(chars, from + 3, |c| c == '\'') + 1).min(chars.len()),
        (Some(_), Some('\'')) => from + 3,
        _ => from,
    }
}

/// Code without the items under `#[cfg(test)]`.
pub(crate) fn without_tests(code: &str) -> String {
    let mut kept = String::new();
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        rest = &rest[at..];
        // the item ends with its block, or with a semicolon before any block
        let open = rest.find('{').unwrap_or(rest.len());
        let semicolon = rest.find(';').unwrap_or(rest.len());
        let end = if semicolon < open { semicolon + 1 } else { open + block(&rest[open..]).len() };
        rest = &rest[end.min(rest.len())..];
    }
    kept + rest
}

/// The text from an opening brace to the one that closes it.
pub(crate) fn block(code: &str) -> &str {
    let mut depth = 0;
    for (i, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        if depth == 0 && i > 0 {
            return &code[..=i];
        }
    }
    code
}

pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Words of code in order: identifiers, keywords and numbers.
pub(crate) fn words(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c| !is_word(c)).filter(|w| !w.is_empty())
}

/// `true` when the text is one identifier.
pub(crate) fn is_identifier(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && !text.is_empty()
}

/// The set of identifiers in code.
pub(crate) fn identifiers(code: &str) -> BTreeSet<&str> {
    words(code).filter(|w| is_identifier(w)).collect()
}

/// Lines of Markdown outside fenced blocks, with their numbers from 1.
pub(crate) fn prose(markdown: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    markdown.lines().enumerate().filter_map(move |(i, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((i + 1, line))
    })
}

/// Spans between backticks outside fenced blocks, with the line each stands on.
pub(crate) fn backticked(markdown: &str) -> Vec<(usize, &str)> {
    prose(markdown).flat_map(|(n, line)| spans(line).map(move |span| (n, span))).collect()
}

/// Spans between backticks in one line.
pub(crate) fn spans(line: &str) -> impl Iterator<Item = &str> {
    let count = line.matches('`').count();
    // an odd backtick at the end opens nothing
    line.split('`').take(count / 2 * 2).skip(1).step_by(2)
}

/// Targets of links and images that point into the repository, with the line each stands on.
pub(crate) fn links(markdown: &str) -> Vec<(usize, &str)> {
    let local = |(_, target): &(usize, &str)| !target.contains("://") && !target.starts_with('#');
    prose(markdown)
        .flat_map(|(n, line)| {
            line.split("](").skip(1).map(move |rest| (n, rest.split([')', '#', ' ']).next().unwrap_or("")))
        })
        .filter(local)
        .filter(|(_, target)| !target.is_empty())
        .collect()
}

/// A table row as its cells.
pub(crate) fn cells(line: &str) -> Option<Vec<&str>> {
    let inside = line.trim().strip_prefix('|')?.strip_suffix('|')?;
    Some(inside.split('|').map(str::trim).collect())
}

#[test]
fn code_and_comments_are_told_apart() {
    let source = r##"
let a = "crate::no"; // crate::comment
/* crate::block /* nested */ still */ let b = 'x'; let c: &'static str = r#"raw " crate::no"#;
let d = '\''; crate::yes();
"##;
    let Split { code, comments } = split(source);
    assert_eq!(code.matches("crate::").count(), 1, "{code}");
    assert!(code.contains("crate::yes") && code.contains("'static") && code.contains("let b"), "{code}");
    assert_eq!(comments.matches("crate::").count(), 2, "{comments}");
    assert_eq!(code.lines().count(), source.lines().count());
}

#[test]
fn test_items_are_cut_out() {
    let code = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { {} } }\n#[cfg(test)]\nmod more;\nfn c() {}";
    assert_eq!(words(&without_tests(code)).collect::<Vec<_>>(), ["fn", "a", "fn", "c"]);
}

#[test]
fn markdown_gives_spans_and_links_outside_fences() {
    let text =
        "see `a` and `b::c`, an odd `\n```\n`no`\n```\n[x](docs/x.md#part) [y](https://y.z) ![](p.svg)";
    assert_eq!(backticked(text), [(1, "a"), (1, "b::c")]);
    assert_eq!(links(text), [(5, "docs/x.md"), (5, "p.svg")]);
    assert_eq!(cells("| a | `b` |"), Some(vec!["a", "`b`"]));
}
