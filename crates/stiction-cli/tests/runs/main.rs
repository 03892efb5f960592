//! Tests of the built program: `run`, `verify`, `convert` and `compare`, with journals of formats 3 and 2.

mod common;
mod compare;
mod convert;
#[cfg(feature = "parquet")]
mod convert_parquet;
mod forgeries;
mod format2;
mod interrupt;
mod intervals;
mod machines;
mod odd_records;
mod resume;
mod run;
mod verify;
