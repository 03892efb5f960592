//! Second-order steps in the plane: order, events, impacts and energy, against closed forms and references.

mod accuracy;
mod block;
mod carts;
mod common;
mod curved;
mod edges;
mod forces;
mod impacts;
mod islands;
mod ladder;
mod linkages;
mod projection;
mod reference;
mod rod;
mod stack;
