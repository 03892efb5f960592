//! Tests of the book: its commands run, its links resolve, and its summary lists every chapter.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Name and text of each chapter.
fn chapters() -> Vec<(String, String)> {
    let files = std::fs::read_dir(root().join("book/src")).expect("the book");
    let paths = files.map(|file| file.expect("a chapter").path());
    let markdown = paths.filter(|path| path.extension().is_some_and(|ending| ending == "md"));
    let named = |path: PathBuf| {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_string();
        (name, std::fs::read_to_string(&path).expect("a text"))
    };
    let mut chapters: Vec<_> = markdown.map(named).collect();
    chapters.sort();
    chapters
}

/// Fenced blocks of a language in a text.
fn blocks<'a>(text: &'a str, language: &str) -> Vec<&'a str> {
    let fence = format!("```{language}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

/// Words of a line as a shell splits it: a word in double quotes may contain spaces.
fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (k, part) in line.split('"').enumerate() {
        if k % 2 == 1 {
            words.push(part.to_string());
        } else {
            words.extend(part.split_whitespace().map(String::from));
        }
    }
    words
}

/// Temporary folder for the commands of a chapter, removed at the end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn commands_run_as_they_are_written() {
    let mut count = 0;
    for (name, text) in chapters() {
        let folder = std::env::temp_dir().join(format!("stiction-book-{}-{name}", std::process::id()));
        std::fs::create_dir_all(folder.join("scenes")).expect("a folder");
        let folder = Folder(folder);
        for file in std::fs::read_dir(root().join("scenes")).expect("the scenes") {
            let path = file.expect("a scene").path();
            if path.is_file() {
                let to = folder.0.join("scenes").join(path.file_name().expect("a name"));
                std::fs::copy(&path, to).expect("a copy");
            }
        }
        // the reader has written the chapter's scene to a file
        if let Some(scene) = blocks(&text, "toml").into_iter().find(|block| block.contains("format = 1")) {
            std::fs::write(folder.0.join("crate.toml"), scene).expect("a scene");
        }
        for line in blocks(&text, "sh").into_iter().flat_map(str::lines) {
            let words = words(line);
            let Some(("stiction", arguments)) =
                words.split_first().map(|(first, rest)| (first.as_str(), rest))
            else {
                panic!("{name}: not a command of this program: {line}");
            };
            let output = Command::new(env!("CARGO_BIN_EXE_stiction"))
                .args(arguments)
                .current_dir(&folder.0)
                .output()
                .expect("the command runs");
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success(), "{name}: {line}\n{error}");
            count += 1;
        }
    }
    assert!(count >= 10, "{count} commands");
}

#[test]
fn errors_are_printed_as_the_book_says() {
    let chapters = chapters();
    let text = &chapters.iter().find(|(name, _)| name == "first-scene.md").expect("a first scene").1;
    let scene = blocks(text, "toml")[0].replace("friction", "frictoin");
    let folder = Folder(std::env::temp_dir().join(format!("stiction-book-{}-mistakes", std::process::id())));
    std::fs::create_dir_all(&folder.0).expect("a folder");
    std::fs::write(folder.0.join("crate.toml"), scene).expect("a scene");
    let mut command = Command::new(env!("CARGO_BIN_EXE_stiction"));
    let output = command.args(["check", "crate.toml"]).current_dir(&folder.0).output().expect("it runs");
    let printed = String::from_utf8_lossy(&output.stdout);
    let expected = blocks(text, "text")[0];
    assert!(printed.contains(expected), "{printed}\ndoes not contain\n{expected}");
}

#[test]
fn links_lead_to_chapters() {
    let names: BTreeSet<String> = chapters().into_iter().map(|(name, _)| name).collect();
    for (name, text) in chapters() {
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let picture = file.starts_with("../../docs/") && root().join("book/src").join(file).exists();
            assert!(file.is_empty() || picture || names.contains(file), "{name}: there is no {file}");
            assert_eq!(anchor, "", "{name}: headings change, chapters stay: {link}");
        }
        for scene in text.split("scenes/").skip(1) {
            let end = scene.find(|c: char| !(c.is_ascii_alphanumeric() || "-._/".contains(c)));
            let scene = scene[..end.unwrap_or(scene.len())].trim_end_matches(['.', '/']);
            assert!(root().join("scenes").join(scene).exists(), "{name}: there is no scenes/{scene}");
        }
    }
}

/// Texts of all source files of the crates.
fn sources(folder: &Path, texts: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            sources(&path, texts);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            texts.push(std::fs::read_to_string(&path).expect("a text"));
        }
    }
}

#[test]
fn messages_that_are_explained_exist() {
    let mut texts = Vec::new();
    for entry in std::fs::read_dir(root().join("crates")).expect("the crates") {
        sources(&entry.expect("a crate").path().join("src"), &mut texts);
    }
    // messages may be broken over lines
    let flat = |text: &String| text.split_whitespace().collect::<Vec<_>>().join(" ").replace("\\ ", "");
    let texts: Vec<String> = texts.iter().map(flat).collect();
    let text = std::fs::read_to_string(root().join("book/src/troubleshooting.md")).expect("the chapter");
    let tables = text.split("| message |").skip(1);
    let rows = tables.flat_map(|table| table.lines().skip(2).take_while(|line| line.starts_with('|')));
    let messages: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
        .collect();
    assert!(messages.len() > 12, "{messages:?}");
    for message in messages {
        assert!(texts.iter().any(|text| text.contains(message)), "no error says `{message}`");
    }
}

#[test]
fn the_summary_names_every_chapter() {
    let chapters = chapters();
    let summary = &chapters.iter().find(|(name, _)| name == "SUMMARY.md").expect("a summary").1;
    for (name, _) in chapters.iter().filter(|(name, _)| name != "SUMMARY.md") {
        assert!(summary.contains(&format!("({name})")), "SUMMARY.md does not name {name}");
    }
}

#[test]
fn the_gallery_lists_every_scene() {
    let chapters = chapters();
    let gallery = &chapters.iter().find(|(name, _)| name == "gallery.md").expect("a gallery").1;
    for file in std::fs::read_dir(root().join("scenes")).expect("the scenes") {
        let path = file.expect("a scene").path();
        if path.extension().is_some_and(|ending| ending == "toml") {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            assert!(gallery.contains(&format!("`{name}`")), "gallery.md does not list {name}");
        }
    }
}
