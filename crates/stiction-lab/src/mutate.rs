//! `stiction-lab mutate`: a journal with each of its fields changed, and what `stiction verify` says about the copies.

mod explained;
mod fields;
mod journal;
mod random;
mod verifier;

use crate::{BadInput, Outcome, print};
use explained::explanation;
use fields::{FieldChange, changes};
pub(crate) use journal::JournalParts;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use verifier::{ProgramAnswer, Verifier};

/// Changed copies of a journal, with valid checksums: each field of each kind of record is changed by small and large
/// amounts, and the table lists which changes `stiction verify` does not notice.
///
/// With --random, copies are changed at random instead, in their fields and in the bytes of their records, and must cause
/// no panic, no abort, no hang and no more than 1 GB.
#[derive(clap::Args)]
pub(crate) struct MutateArguments {
    /// Journal that verifies, short: the program reads each copy of it
    journal: PathBuf,
    /// Places at which each field is changed: spread over the journal
    #[arg(long, default_value_t = 3)]
    places: usize,
    /// Number of copies that are changed at random, instead of field by field
    #[arg(long, value_name = "COUNT")]
    random: Option<u64>,
    /// Seed of the first random copy
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// The program `stiction`; by default beside this one
    #[arg(long, value_name = "FILE")]
    stiction: Option<PathBuf>,
    /// Folder for the copies; one that fails stays there
    #[arg(long, default_value = "out/mutate")]
    out: PathBuf,
    /// List every change, also those that are noticed
    #[arg(long)]
    all: bool,
}

/// Changes of a field.
#[derive(Default)]
struct FieldTally {
    made: usize,
    /// Changes that no journal can hold: the record does not have its type then.
    impossible: usize,
    /// Names of the changes that were not noticed, and how often.
    unnoticed: BTreeMap<&'static str, usize>,
}

/// Runs the command.
pub(crate) fn run(arguments: &MutateArguments) -> Result<Outcome, BadInput> {
    let original = JournalParts::read(&arguments.journal)?;
    let verifier = Verifier::new(arguments.stiction.as_deref(), &arguments.out)?;
    let copy = verifier.copy(0);
    original.write(&copy)?;
    let expected = verifier.verify(&copy)?;
    if let Some(count) = arguments.random {
        return random::run((count, arguments.seed), &arguments.journal, &original, &verifier);
    }
    let mut tallies: BTreeMap<String, FieldTally> = BTreeMap::new();
    let mut failed = Vec::new();
    for FieldChange { field, name, changed } in changes(&original, arguments.places) {
        let tally = tallies.entry(field.clone()).or_default();
        let Some(changed) = changed else {
            tally.impossible += 1;
            continue;
        };
        changed.write(&copy)?;
        tally.made += 1;
        match verifier.verify(&copy)? {
            ProgramAnswer::Code(code) if ProgramAnswer::Code(code) == expected => {
                *tally.unnoticed.entry(name).or_default() += 1;
            }
            ProgramAnswer::Code(_) => {}
            ProgramAnswer::Broken(how) => {
                let kept = verifier.keep(&copy, failed.len())?;
                failed.push(format!("{field}, {name}: {how}; the journal is {}", kept.display()));
            }
        }
    }
    let _ = std::fs::remove_file(&copy);
    let (text, unexplained) = table(&tallies, arguments.all);
    let mut report = format!("{}: verified with {expected}\n\n{text}", arguments.journal.display());
    for failure in &failed {
        let _ = writeln!(report, "{failure}");
    }
    print(&report)?;
    Ok(if unexplained == 0 && failed.is_empty() { Outcome::Solved } else { Outcome::NotSolved })
}

/// Table of the fields, and the number of those with unnoticed changes that have no explanation.
fn table(tallies: &BTreeMap<String, FieldTally>, all: bool) -> (String, usize) {
    let mut text = String::new();
    let (mut made, mut unnoticed, mut unexplained) = (0, 0, 0);
    for (field, tally) in tallies {
        made += tally.made;
        let missed: usize = tally.unnoticed.values().sum();
        unnoticed += missed;
        if missed == 0 {
            if all {
                let _ = writeln!(text, "{:5} of {:5}  {field}", 0, tally.made);
            }
            continue;
        }
        let which: Vec<String> = tally.unnoticed.iter().map(|(name, n)| format!("{name} {n}")).collect();
        let why = explanation(field, &tally.unnoticed.keys().copied().collect::<Vec<_>>());
        unexplained += usize::from(why.is_none());
        let why = why.unwrap_or("NOT EXPLAINED");
        let _ =
            writeln!(text, "{missed:5} of {:5}  {field}: {}\n{:16}{why}", tally.made, which.join(", "), "");
    }
    let fields = tallies.len();
    let _ = writeln!(
        text,
        "\n{made} changes of {fields} fields: {} noticed, {unnoticed} not; {unexplained} fields without explanation",
        made - unnoticed
    );
    (text, unexplained)
}
