//! What holds for every scene and every scheme: laws of mechanics, of the schemes, and of bookkeeping.

mod break_shot;
mod common;
mod energy;
mod failures;
mod followed;
mod orders;
mod parity;
mod permutation;
mod planes;
mod rest;
mod scenes;
mod spaces;
mod turning;
mod twins;
mod verified;
