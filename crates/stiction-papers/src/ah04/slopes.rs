//! Infeasibility I(q) against the step size: AH04 Theorem 4.1, I ≤ C ‖v‖²h².

use super::banded;
use super::ellipse::{self, ELLIPSE_BAND, Ellipse};
use super::pendulum::{self, Pendulum};
use super::record::{Ah04Run, curves, largest, line, measured};
use crate::{Axis, Curve, ExperimentError, PublishedSense, Reproduction, Series, slope};
use stiction::Scheme;

/// Largest I(q) of 5 s of a pendulum, before and after post-stabilization, for h = 0.1 s halved repeatedly.
pub fn of_pendulum(pendulum: Pendulum, scheme: Scheme) -> Result<[Series; 2], ExperimentError> {
    let run = |h: f64| pendulum.run(scheme, h, 5.0);
    let measure = |run: &Ah04Run| [largest(&run.before), run.largest_after(0.0)];
    series(pendulum::PENDULUM_STEP, 7, run, measure)
}

/// Ellipse for 10 s: largest I(q) after 3 s, I(q) at the end, and the constant, for h = 0.05 s halved repeatedly.
pub fn of_ellipse(scheme: Scheme) -> Result<[Series; 3], ExperimentError> {
    let run = |h: f64| Ellipse::default().run(scheme, h, 10.0);
    // before 3 s the body hits the table, and I(q) is that of the impact
    let measure = |run: &Ah04Run| [run.largest_after(3.0), run.last(), ellipse::constant(run)];
    series(ellipse::ELLIPSE_STEP, 6, run, measure)
}

fn series<const N: usize>(
    step: f64,
    halves: i32,
    run: impl Fn(f64) -> Result<Ah04Run, ExperimentError>,
    measure: impl Fn(&Ah04Run) -> [f64; N],
) -> Result<[Series; N], ExperimentError> {
    let mut all = std::array::from_fn(|_| Vec::new());
    for k in 0..halves {
        let h = step / f64::from(1 << k);
        let values = measure(&run(h)?);
        all.iter_mut().zip(values).for_each(|(series, value)| series.push([h, value]));
    }
    Ok(all)
}

/// Slopes, and the constant of the ellipse.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    const NAME: &str = "Theorem 4.1, slopes";
    let mut all = Vec::new();
    let mut add = |out: &mut Reproduction, case: String, points: Series, published: Option<f64>| {
        let quantity = "slope of log I against log h";
        line(out, NAME, &case, quantity, slope(&points), published).meant(PublishedSense::About);
        all.push(Curve { label: case, points });
    };
    for pendulum in Pendulum::ALL {
        let name = pendulum.name();
        let [_, stabilized] = of_pendulum(pendulum, Scheme::ah04())?;
        add(out, format!("{name}, stabilized"), stabilized, Some(2.0));
        let [_, unstabilized] = of_pendulum(pendulum, Scheme::ap97())?;
        add(out, format!("{name}, unstabilized"), unstabilized, None);
    }
    // the gap of a distance joint is linear along its row: one pass corrects it completely
    let [before, after] = of_pendulum(Pendulum::Squared, Scheme::ap97().post_stabilized(1))?;
    let name = Pendulum::Squared.name();
    add(out, format!("{name}, before post-stabilization"), before, None);
    add(out, format!("{name}, after post-stabilization"), after, None);

    let [late, _, constants] = of_ellipse(banded(ELLIPSE_BAND, Scheme::ah04()))?;
    add(out, "ellipse, stabilized, after 3 s".into(), late, Some(2.0));
    // with Δ = 0 bodies hover inside any band: only closed contacts may act
    let [_, end, _] = of_ellipse(banded(0.0, Scheme::ap97()))?;
    add(out, "ellipse, unstabilized, at 10 s".into(), end, None);
    for [h, constant] in constants {
        let quantity = "largest I/(h ω)² [m]";
        measured(out, NAME, &format!("ellipse, stabilized, h = {h}"), [(quantity, constant)]);
    }
    let axes = [Axis::logarithmic("h [s]"), Axis::logarithmic("I(q) [m]")];
    curves(out, "ah04-slopes", "AH04 Theorem 4.1: infeasibility against the step", axes, all);
    Ok(())
}
