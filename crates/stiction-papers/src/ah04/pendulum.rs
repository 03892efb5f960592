//! Pendulum of AH04 §5, Figure 2: infeasibility and speed with and without stabilization.

use super::record::{Ah04Run, curves, infeasibility_axes, largest, measured, speed_axes};
use crate::GRAVITY;
use crate::{ExperimentError, Reproduction};
use nalgebra::{Isometry2, Matrix6, Point2, Vector2};
use stiction::planar::{Body, Joint, Mass, World};
use stiction::{
    ContactQuery, ContactRow, Forces, JointRow, Memory, RowKind, Scheme, SearchCache, State, System,
};
use stiction_lcp::Row;

/// Step of the paper [s].
pub const PENDULUM_STEP: f64 = 0.1;

/// Duration of the paper: 1,000 steps [s].
pub const PENDULUM_TIME: f64 = 100.0;

/// Model of the pendulum, which the paper does not specify. All are 1 m long, have 1 kg and start at rest from the
/// horizontal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pendulum {
    /// Point mass with Θ = r − L: the distance joint.
    Distance,
    /// Point mass with Θ = (r² − L²)/2L, whose linearization leaves Θ(q⁺) = h²|v⁺|²/2 exactly.
    Squared,
    /// Rigid rod that turns about its end: two rows.
    Rod,
}

impl Pendulum {
    /// All models.
    pub const ALL: [Self; 3] = [Self::Distance, Self::Squared, Self::Rod];

    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Distance => "point, Θ = r − L",
            Self::Squared => "point, Θ = (r² − L²)/2",
            Self::Rod => "rod",
        }
    }

    /// Runs the pendulum with steps `h` for `time` [s].
    pub fn run(self, scheme: Scheme, h: f64, time: f64) -> Result<Ah04Run, ExperimentError> {
        if self == Self::Squared {
            let state = State { t: 0.0, q: vec![1.0, 0.0], v: vec![0.0, 0.0], memory: Memory::default() };
            return Ok(Ah04Run::watched(SquaredPendulum, state, scheme, h, time, |_, _| ())?);
        }
        let mut world = World::new(Vector2::new(0.0, -GRAVITY));
        let hook = world.add_body(Body::fixed("hook"));
        if self == Self::Rod {
            let rod = Body::rigid("rod", Mass::given(1.0, 1.0 / 12.0)).at(Isometry2::translation(0.5, 0.0));
            let rod = world.add_body(rod);
            world.add_joint(Joint::revolute("hinge", &world, hook, rod, Point2::origin()));
        } else {
            let bob = Body::point("bob", 1.0).at(Isometry2::translation(1.0, 0.0));
            let bob = world.add_body(bob);
            let ends = ((hook, Point2::origin()), (bob, Point2::new(1.0, 0.0)));
            world.add_joint(Joint::distance("string", &world, ends.0, ends.1));
        }
        let model = world.build()?;
        let state = model.state();
        Ok(Ah04Run::watched(model, state, scheme, h, time, |_, _| ())?)
    }
}

/// Point mass of 1 kg with Θ = (x² + y² − L²)/2L, L = 1 m.
#[derive(Debug, Clone, Copy)]
struct SquaredPendulum;

impl System for SquaredPendulum {
    fn bodies(&self) -> &[usize] {
        &[2]
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        q.iter_mut().zip(v).for_each(|(q, v)| *q += h * v);
    }

    fn mass(&self, _: usize) -> Matrix6<f64> {
        Matrix6::from_fn(|i, j| if i == j && i < 2 { 1.0 } else { 0.0 })
    }

    fn forces(&self, _: f64, _: &[f64], _: &[f64], out: &mut Forces) {
        out.springs.clear();
        out.k = vec![0.0, -GRAVITY];
    }

    fn gyroscopic(&self, _: usize, _: &[f64]) -> Option<Matrix6<f64>> {
        None
    }

    fn joints(&self, _: f64, q: &[f64], out: &mut Vec<JointRow>) {
        out.clear();
        out.push(JointRow {
            joint: stiction::JointId(0),
            row: Row::one(0, q),
            error: 0.5 * (q[0] * q[0] + q[1] * q[1] - 1.0),
            drift: 0.0,
            kind: RowKind::Rigid(0.0),
        });
    }

    fn contacts(&self, _: f64, _: &[f64], _: &ContactQuery, _: &mut SearchCache, out: &mut Vec<ContactRow>) {
        out.clear();
    }

    fn surface_speed(&self, _: f64, _: &[f64], v: &[f64]) -> f64 {
        v[0].hypot(v[1])
    }

    fn size(&self) -> f64 {
        1.0
    }

    fn gravity(&self) -> f64 {
        GRAVITY
    }

    fn potential(&self, _: f64, q: &[f64]) -> f64 {
        GRAVITY * q[1]
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        ([v[0], v[1], 0.0], [0.0, 0.0, q[0] * v[1] - q[1] * v[0]])
    }
}

/// Figure 2: I(q) and speed, stabilized and not.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    let (mut infeasibility, mut speed) = (Vec::new(), Vec::new());
    for pendulum in Pendulum::ALL {
        for (name, scheme) in [("stabilized", Scheme::ah04()), ("unstabilized", Scheme::ap97())] {
            let run = pendulum.run(scheme, PENDULUM_STEP, PENDULUM_TIME)?;
            let case = format!("{}, {name}", pendulum.name());
            measured(out, "Fig. 2, pendulum", &case, quantities(&run));
            infeasibility.push(run.infeasibility_curve(case.clone()));
            speed.push(run.speed_curve(case));
        }
    }
    let title = "AH04 Fig. 2: infeasibility of a pendulum, h = 0.1 s";
    curves(out, "ah04-pendulum-infeasibility", title, infeasibility_axes(), infeasibility);
    curves(out, "ah04-pendulum-speed", "AH04 Fig. 2: speed of a pendulum, h = 0.1 s", speed_axes(), speed);
    Ok(())
}

fn quantities(run: &Ah04Run) -> impl IntoIterator<Item = (&'static str, f64)> {
    let late = PENDULUM_TIME - 100.0 * PENDULUM_STEP;
    [
        ("I after 10 steps [m]", run.infeasibility[10]),
        ("I after 100 steps [m]", run.infeasibility[100]),
        ("I after 1000 steps [m]", run.last()),
        ("largest I [m]", run.largest_after(0.0)),
        ("largest I of the last 100 steps [m]", run.largest_after(late)),
        ("largest speed of the first 100 steps [m/s]", largest(&run.speed[..=100])),
        ("largest speed of the last 100 steps [m/s]", largest(run.after(&run.speed, late))),
    ]
}
