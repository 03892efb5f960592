//! Journal as the trees of its parts, so that every field has a path.

use crate::BadInput;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use stiction::State;
use stiction_journal::{Journal, JournalError, JournalHeader, JournalWriter, StepRecord};

/// Journal in memory.
#[derive(Clone)]
pub(crate) struct JournalParts {
    pub(super) header: JournalHeader,
    pub(super) start: State,
    pub(super) records: Vec<StepRecord>,
}

impl JournalParts {
    /// Reads a journal.
    pub(crate) fn read(path: &Path) -> Result<Self, BadInput> {
        let bad = |error: JournalError| BadInput(error.to_string());
        let mut journal = Journal::open(path).map_err(bad)?;
        let (header, start) = (journal.header().clone(), journal.start().clone());
        let records = journal.by_ref().collect::<Result<_, _>>().map_err(bad)?;
        match journal.damage() {
            Some(damage) => Err(BadInput(format!("{}: {damage}", path.display()))),
            None => Ok(Self { header, start, records }),
        }
    }

    /// Journal of the trees of its header, its start state and its records; the error names the first that is none.
    pub(crate) fn from_trees(file: &Value) -> Result<Self, String> {
        let records = file["records"].as_array().ok_or("no list `records`")?;
        let mut read = Vec::with_capacity(records.len());
        for (k, record) in records.iter().enumerate() {
            let bad = |error: serde_json::Error| format!("record {k}: {error}");
            read.push(StepRecord {
                state: part(record, "state").map_err(bad)?,
                report: part(record, "report").map_err(bad)?,
                accuracy: part(record, "accuracy").map_err(bad)?,
            });
        }
        let header = part(file, "header").map_err(|error| format!("header: {error}"))?;
        let start = part(file, "start").map_err(|error| format!("start state: {error}"))?;
        Ok(Self { header, start, records: read })
    }

    /// Writes a journal with valid checksums.
    pub(crate) fn write(&self, path: &Path) -> Result<(), BadInput> {
        let bad = |error: JournalError| BadInput(error.to_string());
        let mut writer = JournalWriter::replace(path, &self.header, &self.start).map_err(bad)?;
        self.records.iter().try_for_each(|record| writer.append(record)).map_err(bad)
    }

    /// Number of parts: header, start state, and state, report and accuracy of each record.
    pub(crate) fn parts(&self) -> usize {
        2 + 3 * self.records.len()
    }

    /// Name and tree of a part; numbers that are not finite are null.
    pub(crate) fn tree(&self, part: usize) -> (&'static str, Value) {
        match part {
            0 => ("header", tree(&self.header)),
            1 => ("start", tree(&self.start)),
            _ => {
                let record = &self.records[(part - 2) / 3];
                match (part - 2) % 3 {
                    0 => ("state", tree(&record.state)),
                    1 => ("report", tree(&record.report)),
                    _ => ("accuracy", tree(&record.accuracy)),
                }
            }
        }
    }

    /// Copy with another tree for a part; `None` where that is no such part.
    pub(super) fn with(&self, part: usize, tree: &Value) -> Option<Self> {
        let mut copy = self.clone();
        match part {
            0 => copy.header = parsed(tree)?,
            1 => copy.start = parsed(tree)?,
            _ => {
                let record = &mut copy.records[(part - 2) / 3];
                match (part - 2) % 3 {
                    0 => record.state = parsed(tree)?,
                    1 => record.report = parsed(tree)?,
                    _ => record.accuracy = parsed(tree)?,
                }
            }
        }
        Some(copy)
    }
}

/// Value of a tree, if it is one of this type.
fn parsed<T: DeserializeOwned>(tree: &Value) -> Option<T> {
    serde_json::from_value(tree.clone()).ok()
}

/// Value of a part of a tree.
fn part<T: DeserializeOwned>(tree: &Value, name: &str) -> Result<T, serde_json::Error> {
    serde_json::from_value(tree[name].clone())
}

/// Tree of a value.
fn tree(value: &impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or(Value::Null)
}
