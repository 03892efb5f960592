//! Machines: joints read, driven and coupled.

mod axes;
mod couple;
mod drive;
mod queries;
mod read;
