//! What the structured methods do, one after the other, until an answer passes.

use serde::{Deserialize, Serialize};

/// One attempt at an island.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trial {
    /// Semismooth Newton from the warm start, at most this many factorizations; given up early where it gets nowhere.
    /// Without a warm start it is passed over.
    Warm(u32),
    /// Interior point from a cold start to this residual, in units of the speed scale, with at most this many
    /// iterations; then Newton.
    Interior(f64, u32),
    /// This many Gauss–Seidel sweeps from the best impulses so far, then Newton.
    Sweeps(u32),
    /// The central path by its length from a start of this size, in units of the speed scale, with at most this many
    /// factorizations; then Newton.
    Path(f64, u32),
}

/// Contacts up to which Lemke's method takes no longer than the structured ones.
const PIVOTS_BELOW: usize = 12;

/// Trials at most.
const LENGTH: usize = 8;

/// The structured methods in the order they are tried, each judged by the same certificate, and what they may cost.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "File", into = "File")]
pub struct Chain {
    trials: [Option<Trial>; LENGTH],
    /// Factorizations at most for an island, but for those of an interior method that is under way.
    pub budget: usize,
    /// Contacts up to which a problem without friction circles is first given to Lemke's method, which is exact.
    pub pivots_below: usize,
}

/// As users write it.
#[derive(Serialize, Deserialize)]
struct File {
    trials: Vec<Trial>,
    budget: usize,
    pivots_below: usize,
}

impl From<File> for Chain {
    fn from(file: File) -> Self {
        Self { pivots_below: file.pivots_below, ..Self::new(&file.trials, file.budget) }
    }
}

impl From<Chain> for File {
    fn from(chain: Chain) -> Self {
        Self { trials: chain.trials().collect(), budget: chain.budget, pivots_below: chain.pivots_below }
    }
}

impl Chain {
    /// The first eight of these trials.
    pub fn new(trials: &[Trial], budget: usize) -> Self {
        Self { trials: std::array::from_fn(|i| trials.get(i).copied()), budget, pivots_below: PIVOTS_BELOW }
    }

    /// The same, with Lemke's method first up to this many contacts.
    #[must_use]
    pub fn pivoting(self, pivots_below: usize) -> Self {
        Self { pivots_below, ..self }
    }

    /// The trials, in order.
    pub fn trials(&self) -> impl Iterator<Item = Trial> {
        self.trials.into_iter().flatten()
    }
}

impl Default for Chain {
    /// Measured to cost least over stacks, walls, piles and mechanisms: from where the last step ended, cold, and
    /// where friction is high through the turns of the central path.
    fn default() -> Self {
        let trials = [
            Trial::Warm(16),
            Trial::Interior(1e-6, 50),
            Trial::Interior(1e-11, 80),
            Trial::Path(1.0, 200),
            Trial::Path(10.0, 200),
            Trial::Sweeps(150),
            Trial::Path(0.1, 200),
            Trial::Path(100.0, 200),
        ];
        Self::new(&trials, 1000)
    }
}
