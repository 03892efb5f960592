//! The trapezoidal method through contact: order, events, impacts, energy.

mod accuracy;
mod block;
mod carts;
mod common;
mod curved;
mod edges;
mod impacts;
mod ladder;
mod linkages;
mod reference;
mod rod;
mod stack;
