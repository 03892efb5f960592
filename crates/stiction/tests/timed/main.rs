//! Timed steps: errors at four step sizes against closed forms and runs to an accuracy, energy, and rest.

mod common;
mod embedded;
#[path = "../common/embedding.rs"]
mod embedding;
mod impacts;
mod linkages;
mod rest;
mod sliding;
mod space;
mod springs;
mod states;
