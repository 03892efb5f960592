//! Runs of the tests in space, and the check of their order.

use stiction::{Event, ImpactReport, Scheme, Simulation, StepReport, System};

pub(crate) const G: f64 = 9.81;

/// Summary of a run: its events, and the worst figures of its steps.
#[derive(Debug, Default)]
pub(crate) struct RunSummary {
    pub(crate) events: Vec<Event>,
    pub(crate) impacts: Vec<ImpactReport>,
    /// Largest relative change of the energy.
    pub(crate) energy: f64,
    pub(crate) infeasibility: f64,
    pub(crate) forced: usize,
    pub(crate) cut: bool,
    /// Largest residual of a step.
    pub(crate) certificate: f64,
}

/// Runs over a time `span`.
pub(crate) fn run<S: System>(simulation: &mut Simulation<S>, h: f64, span: f64) -> RunSummary {
    let mut summary = RunSummary::default();
    let mut first = None;
    let end = simulation.state().t + span;
    while simulation.state().t < end - 0.5 * h {
        let report = step(simulation, h);
        let energy = report.kinetic + report.potential;
        let first: f64 = *first.get_or_insert(energy);
        summary.energy = summary.energy.max((energy - first).abs() / first.abs().max(f64::MIN_POSITIVE));
        summary.infeasibility = summary.infeasibility.max(report.infeasibility);
        let statistics = report.second_order.expect("a step of second order");
        summary.forced += statistics.forced;
        summary.cut |= statistics.cut;
        summary.certificate = summary.certificate.max(report.certificate.worst());
        assert!(report.certificate.passes(1e-10), "{:?}", report.certificate);
        assert_eq!(statistics.refused, 0.0, "the equations of a substep do not hold");
        summary.events.extend(&report.events);
        summary.impacts.extend(report.impacts);
    }
    summary
}

pub(crate) fn step<S: System>(simulation: &mut Simulation<S>, h: f64) -> StepReport {
    simulation.step(h).unwrap_or_else(|error| panic!("{error}"))
}

/// Asserts that errors at steps 2⁻ᵏ fall by a factor of four at the two finest pairs.
pub(crate) fn second_order(what: &str, powers: std::ops::RangeInclusive<i32>, error: impl Fn(f64) -> f64) {
    let errors: Vec<f64> = powers.map(|k| error(2f64.powi(-k))).collect();
    let ratios: Vec<f64> = errors.windows(2).map(|e| e[0] / e[1]).collect();
    let shown: Vec<String> = errors.iter().map(|e| format!("{e:.2e}")).collect();
    println!("{what}: errors {}, ratios {ratios:.3?}", shown.join(" "));
    for ratio in &ratios[ratios.len() - 2..] {
        assert!((3.8..=4.2).contains(ratio), "{what}: ratios {ratios:?} of errors {errors:?}");
    }
}

/// Simulation by the trapezoidal method.
pub(crate) fn spatial(world: stiction::spatial::World) -> Simulation<stiction::spatial::Model> {
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(Scheme::pagt06())
}

/// Simulation by the trapezoidal method.
pub(crate) fn planar(world: stiction::planar::World) -> Simulation<stiction::planar::Model> {
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(Scheme::pagt06())
}
