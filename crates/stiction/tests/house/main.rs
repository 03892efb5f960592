//! The house rules, checked: what the documents name exists, modules know only whom they may, and every file
//! keeps to the form. Each checker is a function from text to complaints, tried on made-up text beside it.

mod documents;
mod form;
mod graph;
mod language;
mod symbols;
mod text;

/// Fails with all complaints at once.
#[track_caller]
fn none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}", complaints.join("\n"));
}
