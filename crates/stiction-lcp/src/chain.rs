//! Chain of the structured methods: the trials that are made one after the other until a certificate passes, and their
//! limits. Solver settings and scene files hold it.

use serde::{Deserialize, Serialize};

/// Trial of one method on an island.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trial {
    /// Semismooth Newton method from the warm start, with at most this many factorizations; it stops early if progress is
    /// poor. Without a warm start it is skipped.
    Warm(u32),
    /// Interior point method from a cold start to this residual, relative to the speed scale, with at most this many
    /// iterations; then Newton's method.
    Interior(f64, u32),
    /// This many Gauss–Seidel sweeps from the best impulses so far; then Newton's method.
    Sweeps(u32),
    /// Central path by arc length from a start of this size, relative to the speed scale, with at most this many
    /// factorizations; then Newton's method.
    Path(f64, u32),
    /// This many central paths, as long as none leads to a solution, from starts whose sizes are scattered by contact, with
    /// at most so many factorizations each; then Newton's method. High friction may let any one path turn back.
    Scattered(u32, u32),
}

/// Default number of contacts up to which Lemke's method is tried first: there it is as fast as the structured methods.
/// Sensible range 0 to 50; beyond, dense pivots take longer than they are worth.
const DEFAULT_PIVOTS_BELOW: usize = 12;

/// Largest number of trials.
const MAX_TRIALS: usize = 9;

/// Structured methods in the order they are tried, each judged by the same certificate, and their limits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(from = "ChainFile", into = "ChainFile")]
pub struct Chain {
    trials: [Option<Trial>; MAX_TRIALS],
    /// Maximum number of factorizations for an island. An interior method that has begun may exceed it.
    pub budget: usize,
    /// Number of contacts up to which a problem without friction circles is first given to Lemke's method, which is exact.
    pub pivots_below: usize,
}

/// Chain as it is written in files.
#[derive(Serialize, Deserialize)]
struct ChainFile {
    trials: Vec<Trial>,
    budget: usize,
    pivots_below: usize,
}

impl From<ChainFile> for Chain {
    fn from(file: ChainFile) -> Self {
        Self { pivots_below: file.pivots_below, ..Self::new(&file.trials, file.budget) }
    }
}

impl From<Chain> for ChainFile {
    fn from(chain: Chain) -> Self {
        Self { trials: chain.trials().collect(), budget: chain.budget, pivots_below: chain.pivots_below }
    }
}

impl Chain {
    /// Chain of these trials, at most nine.
    pub fn new(trials: &[Trial], budget: usize) -> Self {
        Self {
            trials: std::array::from_fn(|i| trials.get(i).copied()),
            budget,
            pivots_below: DEFAULT_PIVOTS_BELOW,
        }
    }

    /// Chain with Lemke's method first up to this many contacts.
    #[must_use]
    pub fn pivoting(self, pivots_below: usize) -> Self {
        Self { pivots_below, ..self }
    }

    /// Trials, in order.
    pub fn trials(&self) -> impl Iterator<Item = Trial> {
        self.trials.into_iter().flatten()
    }
}

impl Default for Chain {
    /// Order measured to cost least over stacks, walls, piles and mechanisms: warm start, cold start, and for high friction
    /// the central path. Of 158 steps of a tumbling drum that the trials before the last do not solve, its scattered paths
    /// solve 153.
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
            Trial::Scattered(40, 200),
        ];
        Self::new(&trials, 6000)
    }
}
