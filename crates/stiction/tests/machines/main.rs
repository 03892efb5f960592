//! Machines: joints read, driven and coupled.

mod couple;
mod drive;
mod queries;
mod read;
