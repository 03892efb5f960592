//! The search for contacts.

mod cache;
mod pairs;
