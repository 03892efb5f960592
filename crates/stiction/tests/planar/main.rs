//! The planar world against finite differences, the scheme's own recurrences and the laws of mechanics.

mod check;
mod common;
mod contacts;
mod editing;
mod forces;
mod joints;
mod motion;
mod properties;
mod rows;
