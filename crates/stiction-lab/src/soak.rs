//! `stiction-lab soak`: solves many random contact problems and checks every answer with independent code.

use crate::recheck::DenseStep;
use crate::seeds::{Tally, over_seeds, pool};
use crate::{BadInput, Outcome, print, residual, write_file};
use rayon::ThreadPool;
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{IsTerminal, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{FrictionSet, LcpError, Lemke, Method, Solution, Solver, StepProblem, solve};
use stiction_problems::ensemble::{ProblemKind, mixture};

/// Limit on the residual of the independent check, relative to its scale of speed. Ten times the tolerance of the
/// certificate, since it rounds differently; smaller refuses true solutions, larger lets false ones pass.
const RECHECK_POLYGONS: f64 = 1e-9;
/// Limit with circular friction, whose problems are solved to 1e-8; otherwise as [`RECHECK_POLYGONS`].
const RECHECK_CIRCLES: f64 = 1e-7;
/// Fraction of the problems that may stay unsolved with a correct residual. They all have solutions, but no method is
/// known to find each of them.
const MAX_UNSOLVED: f64 = 1e-3;
/// Sides of the friction polygon whose solution is compared with that of the circle.
const POLYGON_SIDES: usize = 64;
/// Limit on the difference of the two velocities, relative to the certificate's speed. Friction on a polygon is off by
/// half the angle between its sides, 2.8°; twice that is another solution.
const MAX_DIFFERENCE: f64 = 0.1;
/// One problem in this many comes with a jammed, penetrated box, which has no solution.
const JAM_EVERY: u64 = 20;
/// Limit on the failing problems that are written to files.
const MAX_FILES: usize = 100;

/// Solver: Lemke's method to round-off for small problems with polygons, the chain of structured methods for circles.
fn solver(circles: bool) -> Solver {
    if circles {
        return Solver::default();
    }
    Solver { tolerance: 1e-10, ..Method::Lemke(Lemke::default()).into() }
}

/// Problem with friction circles in place of polygons.
pub(crate) fn circular(step: &StepProblem) -> StepProblem {
    with_sets(step, &FrictionSet::circle())
}

/// Problem with this friction set at every contact with two tangents.
fn with_sets(step: &StepProblem, set: &FrictionSet) -> StepProblem {
    let mut step = step.clone();
    step.contacts.iter_mut().filter(|c| c.tangents.len() == 2).for_each(|c| c.set = set.clone());
    step
}

/// Solve random contact problems and check every answer with independent code.
///
/// Velocity-level problems (random contacts, boxes, stacks, jams, chains) must all be solved with residuals of at most
/// 1e-10. Each solution is checked again from the rows by code that shares nothing with the certificate. One problem in
/// 20 comes with a jammed, penetrated box, which must be refused with a proof.
///
/// With --circles friction is circular and the structured methods solve to 1e-8. At most one problem in a thousand may
/// stay unsolved, with a correct residual. Solutions of single contacts are also compared with Lemke's method on a
/// polygon of 64 sides.
#[derive(clap::Args)]
pub(crate) struct SoakArguments {
    /// Number of problems
    #[arg(long, default_value_t = 100_000)]
    count: u64,
    /// Seed of the first problem; the i-th one after it has seed + i
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Threads; the counts do not depend on their number
    #[arg(long)]
    threads: Option<usize>,
    /// Friction circles in place of polygons
    #[arg(long)]
    circles: bool,
    /// Where failing problems are written, to be solved again
    #[arg(long, default_value = "out/soak")]
    out: PathBuf,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Counts over the problems of one kind.
#[derive(Debug, Clone, Default, Serialize)]
struct KindTally {
    count: u64,
    solved: u64,
    /// Refused with a proof that no solution exists.
    proved: u64,
    /// Ended otherwise than it should.
    failed: u64,
    /// Solved, and refused by the independent check: part of `failed`.
    false_solved: u64,
    /// Unsolved, with a correct residual.
    given_up: u64,
    /// Solved with the same velocities by Lemke's method on a polygon: part of `compared`.
    agreed: u64,
    compared: u64,
    /// Solved by a fallback that the solution names: part of `solved`.
    detours: u64,
    worst_certificate: f64,
    worst_recheck: f64,
    pivots: u64,
    max_pivots: u64,
    /// Time inside the solver [s], over all threads.
    seconds: f64,
}

impl KindTally {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.solved += other.solved;
        self.proved += other.proved;
        self.failed += other.failed;
        self.false_solved += other.false_solved;
        self.given_up += other.given_up;
        self.agreed += other.agreed;
        self.compared += other.compared;
        self.detours += other.detours;
        self.worst_certificate = self.worst_certificate.max(other.worst_certificate);
        self.worst_recheck = self.worst_recheck.max(other.worst_recheck);
        self.pivots += other.pivots;
        self.max_pivots = self.max_pivots.max(other.max_pivots);
        self.seconds += other.seconds;
    }
}

/// Problem that ended otherwise than it should.
#[derive(Debug, Clone, Serialize)]
struct FailedProblem {
    kind: String,
    seed: u64,
    what: String,
    /// Where the problem was written.
    file: Option<PathBuf>,
}

/// Counts by kind, and the failures.
#[derive(Default)]
struct SoakTally {
    kinds: BTreeMap<String, KindTally>,
    failures: Vec<FailedProblem>,
}

/// Runs the command.
pub(crate) fn run(arguments: &SoakArguments) -> Result<Outcome, BadInput> {
    let begun = Instant::now();
    let pool = pool(arguments.threads)?;
    let threads = pool.current_num_threads();
    let mut totals = soak(arguments, &pool);
    let elapsed = begun.elapsed();
    totals.failures.sort_by(|a, b| (a.seed, &a.kind).cmp(&(b.seed, &b.kind)));
    for failure in totals.failures.iter_mut().take(MAX_FILES) {
        let path = arguments.out.join(format!("{}-{}.json", failure.kind.replace(' ', "-"), failure.seed));
        let step = sample(&failure.kind, failure.seed, arguments.circles);
        let file = ProblemFile {
            name: Some(format!("{} {}", failure.kind, failure.seed)),
            note: Some(failure.what.clone()),
            ..AnyProblem::Step(step).into()
        };
        write_file(&path, &file.to_json())?;
        failure.file = Some(path);
    }
    print(&if arguments.json {
        json(arguments, &totals, elapsed)
    } else {
        report(arguments, &totals, elapsed, threads)
    })?;
    let all = sum(&totals);
    let enough = all.given_up as f64 <= MAX_UNSOLVED * all.count as f64;
    Ok(if totals.failures.is_empty() && enough { Outcome::Solved } else { Outcome::NotSolved })
}

/// Problem of a failure, drawn again.
fn sample(kind: &str, seed: u64, circles: bool) -> StepProblem {
    let step = if kind == ProblemKind::PenetratedJam.name() {
        ProblemKind::PenetratedJam.sample(seed)
    } else {
        mixture(seed).1
    };
    if circles { circular(&step) } else { step }
}

/// Solves and judges all problems, with progress on a terminal.
fn soak(arguments: &SoakArguments, pool: &ThreadPool) -> SoakTally {
    let done = AtomicU64::new(0);
    let judge = |tally: &mut SoakTally, i: u64, _: usize| {
        let seed = arguments.seed.wrapping_add(i);
        let (kind, step) = mixture(seed);
        tally.take(kind, seed, &step, arguments.circles);
        if i.is_multiple_of(JAM_EVERY) {
            let jam = ProblemKind::PenetratedJam.sample(seed);
            tally.take(ProblemKind::PenetratedJam, seed, &jam, arguments.circles);
        }
        done.fetch_add(1, Ordering::Relaxed);
    };
    let on_terminal = std::io::stderr().is_terminal();
    let progress = || {
        if on_terminal {
            let _ = write!(std::io::stderr(), "\r{} of {}", done.load(Ordering::Relaxed), arguments.count);
        }
    };
    let tally = over_seeds(pool, arguments.count, judge, progress);
    if on_terminal {
        let _ = write!(std::io::stderr(), "\r{:40}\r", "");
    }
    tally
}

impl Tally for SoakTally {
    fn join(&mut self, other: Self) {
        for (kind, tally) in other.kinds {
            self.kinds.entry(kind).or_default().add(&tally);
        }
        self.failures.extend(other.failures);
    }
}

impl SoakTally {
    /// Solves one problem, checks the answer and counts it.
    fn take(&mut self, kind: ProblemKind, seed: u64, step: &StepProblem, circles: bool) {
        let name = kind.name();
        let mut tally = KindTally { count: 1, ..KindTally::default() };
        // a panic is a failure like any other
        let verdict = catch_unwind(AssertUnwindSafe(|| judge(kind, step, circles, &mut tally)));
        if let Err(what) = verdict.unwrap_or_else(|_| Err("panicked".into())) {
            tally.failed = 1;
            self.failures.push(FailedProblem { kind: name.clone(), seed, what, file: None });
        }
        self.kinds.entry(name).or_default().add(&tally);
    }
}

/// Solves a problem and checks the answer; the error says what is wrong with it.
fn judge(kind: ProblemKind, step: &StepProblem, circles: bool, tally: &mut KindTally) -> Result<(), String> {
    let round = circles.then(|| circular(step));
    let step = round.as_ref().unwrap_or(step);
    let (solver, recheck) = (solver(circles), if circles { RECHECK_CIRCLES } else { RECHECK_POLYGONS });
    let begun = Instant::now();
    let result = solve(step, &solver, None);
    tally.seconds = begun.elapsed().as_secs_f64();
    match result {
        Ok(solution) => {
            tally.solved = 1;
            tally.detours = u64::from(!solution.work().fallbacks.is_empty());
            tally.pivots = solution.work().pivots as u64;
            tally.max_pivots = tally.pivots;
            tally.worst_certificate = solution.certificate().worst();
            let second = DenseStep::new(step).residual(solution.z()).unwrap_or(f64::INFINITY);
            tally.worst_recheck = second;
            if second > recheck {
                tally.false_solved = 1;
                return Err(format!("false solved: residual {second:.1e} by the independent check"));
            }
            if kind == ProblemKind::PenetratedJam {
                return Err("solved, although it has no solution".into());
            }
            if tally.worst_certificate > solver.tolerance {
                return Err(format!("solved with certificate {:.1e}", tally.worst_certificate));
            }
            if circles && step.contacts.len() == 1 {
                tally.compared = 1;
                tally.agreed = u64::from(agrees(step, &solution));
            }
            Ok(())
        }
        Err(LcpError::Budget { best, .. }) if circles && kind != ProblemKind::PenetratedJam => {
            tally.given_up = 1;
            let second = DenseStep::new(step).residual(&best.z).unwrap_or(0.0);
            // the residual that the error reports must not be too small
            if second > 10.0 * best.certificate.worst() {
                return Err(format!(
                    "unsolved with residual {:.1e}, which is {second:.1e}",
                    best.certificate.worst()
                ));
            }
            Ok(())
        }
        Err(LcpError::Ray { proof: Some(proof), .. }) => {
            tally.proved = 1;
            let second = DenseStep::new(step).proof_residual(&proof);
            tally.worst_recheck = second;
            if second > recheck {
                return Err(format!("false proof: residual {second:.1e} by the independent check"));
            }
            if kind == ProblemKind::PenetratedJam {
                Ok(())
            } else {
                Err("proved infeasible, although it is solvable".into())
            }
        }
        Err(error) => Err(error.to_string()),
    }
}

/// Whether Lemke's method on a polygon finds the same velocities, to [`MAX_DIFFERENCE`].
fn agrees(step: &StepProblem, solution: &Solution) -> bool {
    let Some(set) = FrictionSet::regular(POLYGON_SIDES) else { return false };
    let polygon = with_sets(step, &set);
    let Ok(other) = solve(&polygon, &Method::Lemke(Lemke::default()).into(), None) else { return false };
    let apart =
        solution.velocity().iter().zip(other.velocity()).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
    apart <= MAX_DIFFERENCE * solution.certificate().speed
}

fn sum(totals: &SoakTally) -> KindTally {
    totals.kinds.values().fold(KindTally::default(), |mut sum, tally| {
        sum.add(tally);
        sum
    })
}

fn json(arguments: &SoakArguments, totals: &SoakTally, elapsed: Duration) -> String {
    let status = if totals.failures.is_empty() { "solved" } else { "failed" };
    let object = serde_json::json!({
        "status": status,
        "seed": arguments.seed,
        "count": arguments.count,
        "circles": arguments.circles,
        "tolerance": solver(arguments.circles).tolerance,
        "recheck_tolerance": if arguments.circles { RECHECK_CIRCLES } else { RECHECK_POLYGONS },
        "kinds": totals.kinds,
        "total": sum(totals),
        "failures": totals.failures,
        "elapsed_seconds": elapsed.as_secs_f64(),
    });
    format!("{object}\n")
}

fn report(arguments: &SoakArguments, totals: &SoakTally, elapsed: Duration, threads: usize) -> String {
    let SoakArguments { count, seed, circles, .. } = arguments;
    let friction = if *circles { "circles" } else { "polygons" };
    let mut text = format!(
        "{count} problems with friction {friction} from seed {seed}, and a penetrated jam with every {JAM_EVERY}th\n"
    );
    text += &kind_table(totals);
    let (allowed, recheck) = if *circles { ("1.0e-8", "1.0e-7") } else { ("1.0e-10", "1.0e-9") };
    let all = sum(totals);
    let _ =
        writeln!(text, "\ncertificate: the worst residual a solution was accepted with, at most {allowed}");
    let _ = writeln!(text, "recheck:     the worst residual of the independent check, at most {recheck}");
    text += "             (for a proof: the residual of the rows that cancel)\n";
    text += "pivots:      mean and maximum; times are those inside the solver\n\n";
    if *circles {
        let _ = writeln!(
            text,
            "{} of {} single contacts have the velocities of Lemke's method on a polygon of {POLYGON_SIDES} sides",
            all.agreed, all.compared
        );
    }
    let _ = writeln!(
        text,
        "{} false solved, {} solved by a fallback, {} failed in {:.1} s on {threads} threads",
        all.false_solved,
        all.detours,
        totals.failures.len(),
        elapsed.as_secs_f64()
    );
    for FailedProblem { kind, seed, what, file } in totals.failures.iter().take(20) {
        let file = file.as_ref().map_or_else(String::new, |f| format!("  {}", f.display()));
        let _ = writeln!(text, "  {kind} {seed}: {what}{file}");
    }
    match totals.failures.len() {
        0 => {}
        n => {
            let _ = writeln!(
                text,
                "the first {} failing problems are in {}",
                n.min(MAX_FILES),
                arguments.out.display()
            );
        }
    }
    text
}

/// Counts of each kind and of all, one kind a line.
fn kind_table(totals: &SoakTally) -> String {
    let mut text = String::new();
    let _ = writeln!(
        text,
        "\n{:<16}{:>8}{:>8}{:>8}{:>9}{:>8}{:>13}{:>13}{:>8}{:>8}{:>10}",
        "kind",
        "count",
        "solved",
        "proved",
        "unsolved",
        "failed",
        "certificate",
        "recheck",
        "pivots",
        "max",
        "µs each"
    );
    let mut line = |name: &str, t: &KindTally| {
        let each = |sum: f64| sum / t.count.max(1) as f64;
        let _ = writeln!(
            text,
            "{name:<16}{:>8}{:>8}{:>8}{:>9}{:>8}{:>13}{:>13}{:>8.1}{:>8}{:>10.1}",
            t.count,
            t.solved,
            t.proved,
            t.given_up,
            t.failed,
            residual(t.worst_certificate),
            residual(t.worst_recheck),
            each(t.pivots as f64),
            t.max_pivots,
            each(1e6 * t.seconds)
        );
    };
    for (name, tally) in &totals.kinds {
        line(name, tally);
    }
    line("all", &sum(totals));
    text
}
