//! What holds for every scene and every scheme: laws of mechanics, of the schemes, and of bookkeeping.

mod common;
mod orders;
mod parity;
mod permutation;
mod planes;
mod scenes;
mod spaces;
mod twins;
