//! The trapezoidal method through contact: order, events, impacts, energy.

mod block;
mod impacts;
