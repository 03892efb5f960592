//! The spatial world: rows against finite differences, steps against recurrences, worlds against their checks.

mod check;
mod common;
mod contacts;
mod editing;
mod facets;
mod joints;
mod motion;
mod properties;
mod rows;
mod turning;
