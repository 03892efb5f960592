//! Laws that hold for every scene and every scheme: of mechanics, of the schemes, and of records.

mod break_shot;
mod common;
#[path = "../common/embedding.rs"]
mod embedding;
mod energy;
mod impacts;
mod orders;
mod parity;
mod permutation;
mod planes;
mod rest;
#[path = "../common/mod.rs"]
mod shared;
mod spaces;
mod step_errors;
mod twins;
mod verify;
mod verify_accuracy_run;
mod verify_moments;
