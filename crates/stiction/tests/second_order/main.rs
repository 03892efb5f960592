//! The trapezoidal method through contact: order, events, impacts, energy.

mod accuracy;
mod block;
mod impacts;
