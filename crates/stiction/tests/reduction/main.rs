//! Contacts that follow from others are left out, each with a proof; nothing else is.

mod common;
mod equal;
mod limit;
mod proofs;
mod spin;
