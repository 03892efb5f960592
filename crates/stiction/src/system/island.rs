//! Island: a part of a model that moves by itself as long as it meets no other.

use super::System;
use std::fmt;

/// Island of a model: some of its moving bodies, with everything that does not move by itself.
pub struct Island {
    /// Model of the island.
    pub system: Box<dyn System + Send + Sync>,
    /// Index of each of its coordinates in q of the whole.
    pub coordinates: Vec<usize>,
    /// Index of each of its velocities in v of the whole.
    pub velocities: Vec<usize>,
}

impl fmt::Debug for Island {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Self { coordinates, velocities, .. } = self;
        f.debug_struct("Island")
            .field("coordinates", coordinates)
            .field("velocities", velocities)
            .finish_non_exhaustive()
    }
}
