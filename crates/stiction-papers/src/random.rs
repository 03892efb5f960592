//! Random numbers for perturbed starts: splitmix64, so that a seed means the same on every machine and with every
//! version of a dependency.

/// Generator splitmix64 (Steele, Lea and Flood 2014).
pub(crate) struct SplitMix64(u64);

impl SplitMix64 {
    /// Generator from a seed.
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Upper 53 bits of the next number: as many as the mantissa of an `f64` holds.
    pub(crate) fn bits_53(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) >> 11
    }
}
