//! The search for contacts.

mod bases;
mod pairs;
