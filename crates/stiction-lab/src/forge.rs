//! `stiction-lab forge`: a journal as JSON, and JSON as a journal with valid checksums, so that any script can forge one.

use crate::mutate::JournalParts;
use crate::{BadInput, Outcome, write_file};
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

/// A journal as JSON with the fields `header`, `start` and `records`, or such JSON as a journal with valid checksums.
///
/// Numbers that are not finite are null in JSON.
#[derive(clap::Args)]
pub(crate) struct ForgeArguments {
    /// Journal, or its JSON
    from: PathBuf,
    /// File to write: JSON from a journal, a journal from JSON
    to: PathBuf,
}

/// Runs the command.
pub(crate) fn run(arguments: &ForgeArguments) -> Result<Outcome, BadInput> {
    let ForgeArguments { from, to } = arguments;
    if from.extension().is_some_and(|ending| ending == "json") {
        packed(from)?.write(to)?;
    } else {
        write_file(to, &unpacked(&JournalParts::read(from)?).to_string())?;
    }
    Ok(Outcome::Solved)
}

/// JSON of a journal.
fn unpacked(parts: &JournalParts) -> Value {
    let mut trees = (0..parts.parts()).map(|part| parts.tree(part));
    let mut file = Map::new();
    file.extend(trees.by_ref().take(2).map(|(name, tree)| (name.to_string(), tree)));
    let mut records = Vec::new();
    while let Some(first) = trees.next() {
        let record = [first].into_iter().chain(trees.by_ref().take(2));
        records.push(record.map(|(name, tree)| (name.to_string(), tree)).collect::<Map<_, _>>().into());
    }
    file.insert("records".to_string(), Value::Array(records));
    Value::Object(file)
}

/// Journal of JSON.
fn packed(path: &Path) -> Result<JournalParts, BadInput> {
    let text = std::fs::read_to_string(path).map_err(|error| BadInput::file(path, &error))?;
    let file: Value = serde_json::from_str(&text).map_err(|error| BadInput::file(path, &error))?;
    JournalParts::from_trees(&file).map_err(|what| BadInput::file(path, &what))
}
