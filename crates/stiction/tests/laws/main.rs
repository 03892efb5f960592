//! What holds for every scene and every scheme: laws of mechanics, of the schemes, and of bookkeeping.

mod common;
mod parity;
mod planes;
mod twins;
