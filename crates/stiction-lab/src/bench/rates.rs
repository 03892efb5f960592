//! `stiction-lab bench rates`: fraction of random heaps that are solved, and the residuals of the others.

use super::timing::ResultFile;
use crate::{BadInput, Outcome};
use serde::Serialize;
use std::fmt::Write;
use stiction_lcp::{Solver, Workspace};
use stiction_problems::ensemble::{Arrangement, Heap};

/// Fraction of random heaps that are certified to 1e-8 and to 1e-4, by friction coefficient.
///
/// Stacks, walls, piles and jointed towers with velocities of up to 0.1 m/s, from a cold start.
#[derive(clap::Args)]
pub(crate) struct RateArguments {
    /// Heaps of each arrangement and friction
    #[arg(long, default_value_t = 200)]
    count: u64,
    #[command(flatten)]
    results: ResultFile,
}

const ARRANGEMENTS: [Arrangement; 7] = [
    Arrangement::Tower(4),
    Arrangement::Tower(8),
    Arrangement::Wall(3, 3),
    Arrangement::Wall(5, 5),
    Arrangement::Pile(2),
    Arrangement::Pile(3),
    Arrangement::Jointed(8),
];
const FRICTIONS: [f64; 8] = [0.05, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0];

/// Results of all heaps with one friction coefficient.
#[derive(Serialize)]
struct SolveRate {
    mu: f64,
    count: u64,
    /// Certified to 1e-8.
    solved: u64,
    /// Best iterate within 1e-4, solved or not.
    near: u64,
    worst_residual: f64,
    mean_factorizations: f64,
    most_factorizations: usize,
}

/// Runs the command.
pub(crate) fn run(arguments: &RateArguments) -> Result<Outcome, BadInput> {
    let solver = Solver { tolerance: 1e-8, ..Solver::default() };
    let mut workspace = Workspace::default();
    let mut rates = Vec::new();
    for mu in FRICTIONS {
        let mut rate = SolveRate {
            mu,
            count: 0,
            solved: 0,
            near: 0,
            worst_residual: 0.0,
            mean_factorizations: 0.0,
            most_factorizations: 0,
        };
        for arrangement in ARRANGEMENTS {
            for seed in 0..arguments.count {
                let problem = Heap { arrangement, mu, speed: 0.1, mass_ratio: 1.0, seed }.sample();
                let (residual, spent) = match workspace.solve(&problem, &solver, None) {
                    Ok(solution) => {
                        rate.solved += 1;
                        let found = (solution.certificate().worst(), solution.work().factorizations);
                        workspace.recycle(solution);
                        found
                    }
                    Err(stiction_lcp::LcpError::Budget { spent, best, .. }) => {
                        (best.certificate.worst(), spent)
                    }
                    Err(error) => (error.best().map_or(f64::INFINITY, |b| b.certificate.worst()), 0),
                };
                rate.count += 1;
                rate.near += u64::from(residual <= 1e-4);
                rate.worst_residual = rate.worst_residual.max(residual);
                rate.mean_factorizations += spent as f64;
                rate.most_factorizations = rate.most_factorizations.max(spent);
            }
        }
        rate.mean_factorizations /= (rate.count as f64).max(1.0);
        rates.push(rate);
    }
    arguments.results.publish(&rates, &table(&rates))?;
    Ok(Outcome::Solved)
}

fn table(rates: &[SolveRate]) -> String {
    let mut text =
        String::from("Random heaps of boxes, circular friction, velocities of up to 0.1 m/s, cold\n\n");
    let _ = writeln!(
        text,
        "{:>5} {:>7} {:>12} {:>12} {:>15} {:>10} {:>10}",
        "mu", "heaps", "to 1e-8 [%]", "to 1e-4 [%]", "worst residual", "mean facs", "most facs"
    );
    for r in rates {
        let percent = |x: u64| 100.0 * x as f64 / (r.count as f64).max(1.0);
        let _ = writeln!(
            text,
            "{:>5} {:>7} {:>12.2} {:>12.2} {:>15.1e} {:>10.1} {:>10}",
            r.mu,
            r.count,
            percent(r.solved),
            percent(r.near),
            r.worst_residual,
            r.mean_factorizations,
            r.most_factorizations
        );
    }
    text
}
