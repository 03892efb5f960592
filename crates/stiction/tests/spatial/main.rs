//! The spatial world: rows against finite differences, steps against recurrences, worlds against their checks.

mod common;
mod contacts;
mod facets;
mod joints;
mod motion;
mod properties;
mod rows;
mod turning;
mod worlds;
