//! Runs and observed orders.

use stiction::{Event, ImpactReport, Scheme, Simulation, StepReport, System};

pub(crate) const G: f64 = 9.81;

/// What was located in a run.
#[derive(Debug, Default)]
pub(crate) struct Told {
    pub(crate) events: Vec<Event>,
    pub(crate) impacts: Vec<ImpactReport>,
    /// Largest distance of the energy from the first one, relative to that.
    pub(crate) energy: f64,
    pub(crate) infeasibility: f64,
    pub(crate) forced: usize,
    pub(crate) cut: bool,
    /// Largest residual of a step.
    pub(crate) certificate: f64,
}

/// Runs over a time `span`.
pub(crate) fn run<S: System>(simulation: &mut Simulation<S>, h: f64, span: f64) -> Told {
    let mut told = Told::default();
    let mut first = None;
    let end = simulation.state().t + span;
    while simulation.state().t < end - 0.5 * h {
        let report = step(simulation, h);
        let energy = report.kinetic + report.potential;
        let first: f64 = *first.get_or_insert(energy);
        told.energy = told.energy.max((energy - first).abs() / first.abs().max(f64::MIN_POSITIVE));
        told.infeasibility = told.infeasibility.max(report.infeasibility);
        let how = report.second_order.expect("a step of second order");
        told.forced += how.forced;
        told.cut |= how.cut;
        told.certificate = told.certificate.max(report.certificate.worst());
        assert!(report.certificate.passes(1e-10), "{:?}", report.certificate);
        assert_eq!(how.refused, 0.0, "the equations of a part did not hold");
        told.events.extend(&report.events);
        told.impacts.extend(report.impacts);
    }
    told
}

pub(crate) fn step<S: System>(simulation: &mut Simulation<S>, h: f64) -> StepReport {
    simulation.step(h).unwrap_or_else(|error| panic!("{error}"))
}

/// Errors at steps 2⁻ᵏ fall by four from step to step at the two finest pairs.
pub(crate) fn second_order(what: &str, powers: std::ops::RangeInclusive<i32>, error: impl Fn(f64) -> f64) {
    let errors: Vec<f64> = powers.map(|k| error(2f64.powi(-k))).collect();
    let ratios: Vec<f64> = errors.windows(2).map(|e| e[0] / e[1]).collect();
    let shown: Vec<String> = errors.iter().map(|e| format!("{e:.2e}")).collect();
    println!("{what}: errors {}, ratios {ratios:.3?}", shown.join(" "));
    for ratio in &ratios[ratios.len() - 2..] {
        assert!((3.8..=4.2).contains(ratio), "{what}: ratios {ratios:?} of errors {errors:?}");
    }
}

/// A simulation by the trapezoidal method.
pub(crate) fn spatial(world: stiction::spatial::World) -> Simulation<stiction::spatial::Model> {
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(Scheme::pagt06())
}

/// A simulation by the trapezoidal method.
pub(crate) fn planar(world: stiction::planar::World) -> Simulation<stiction::planar::Model> {
    let model = world.build().unwrap_or_else(|mistakes| panic!("{mistakes}"));
    Simulation::new(model).with_scheme(Scheme::pagt06())
}
