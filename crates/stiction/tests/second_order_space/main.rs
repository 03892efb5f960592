//! The trapezoidal method in space, at impacts and events, and with bad input.

mod certified;
mod common;
mod corners;
mod friction;
mod impacts;
mod input;
mod linkages;
mod machines;
mod smooth;
