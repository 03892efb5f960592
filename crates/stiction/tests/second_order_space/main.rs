//! Second-order steps in space: order, impacts, events, machines, and bad input.

mod certified;
mod common;
mod corners;
mod forces;
mod friction;
mod impacts;
mod input;
mod linkages;
mod machines;
mod moments;
mod smooth;
mod spin;
