//! Double pendulum beside a wall: PAGT06 §10.1, Table 10.1 and Figure 2.

use super::PAPER;
use super::angles::{ExactPendulum, cartesian, exact};
use super::record::{Pagt06Run, case, curves, distance, start, unit_mass};
use super::scheme;
use crate::measurement::CaseLines;
use crate::{Curve, ExperimentError, PublishedSense, Reproduction};
use nalgebra::Matrix6;
use std::f64::consts::PI;
use stiction::{
    BodyId, ContactId, ContactQuery, ContactRow, EventLanding, EventLocation, Forces, JointId, JointRow,
    Level, Midpoint, Moments, MotionBound, PairId, RowForm, RowForms, RowKind, Scheme, SearchCache, ShapeId,
    State, System, Trapezoidal,
};
use stiction_lcp::{FrictionSet, OffsetRow, Row};

/// Gravity [m/s²]. The paper does not give it; this value reproduces Table 10.1, 9.81 does not.
pub const PENDULUM_GRAVITY: f64 = 9.8;

/// Initial angles of the rods from straight down [rad].
pub const ANGLES: [f64; 2] = [PI / 3.0, PI / 5.0];

/// Coefficient of restitution.
pub const RESTITUTION: f64 = 0.1;

/// Duration of the paper [s].
pub const DOUBLE_PENDULUM_TIME: f64 = 2.5;

/// Table 10.1, from h = 2⁻⁵ s on: E_h, |Θ⁽¹⁾| and |Θ⁽²⁾|.
pub const TABLE_10_1: [[f64; 3]; 7] = [
    [2.38e-3, 1.27e-3, 3.18e-3],
    [6.14e-4, 3.14e-4, 8.29e-4],
    [1.54e-4, 7.82e-5, 2.14e-4],
    [3.95e-5, 1.95e-5, 5.48e-5],
    [1.01e-5, 4.88e-6, 1.37e-5],
    [2.42e-6, 1.22e-6, 3.44e-6],
    [6.15e-7, 3.05e-7, 8.60e-7],
];

/// Two bobs of 1 kg on rods of 1 m, in Cartesian coordinates.
#[derive(Debug, Clone)]
pub struct DoublePendulum {
    /// Gravity [m/s²].
    pub gravity: f64,
    /// Whether both bobs meet the wall x ≥ 0.
    pub wall: bool,
    line: FrictionSet,
}

impl DoublePendulum {
    /// Pendulum with or without a wall.
    pub fn new(gravity: f64, wall: bool) -> Self {
        Self { gravity, wall, line: FrictionSet::line() }
    }

    /// Initial state.
    pub fn state() -> State {
        let (position, velocity) = cartesian(&[ANGLES[0], ANGLES[1], 0.0, 0.0]);
        start(position.to_vec(), velocity.to_vec())
    }

    /// Runs the pendulum with steps `h` for `time` [s].
    pub fn run(self, scheme: Scheme, h: f64, time: f64) -> Result<Pagt06Run, ExperimentError> {
        Ok(Pagt06Run::new(self, Self::state(), scheme, h, time)?)
    }

    /// Contact of a bob with the wall; the wall is shape 0, the bobs are 1 and 2.
    fn wall_row(&self, q: &[f64], bob: usize) -> ContactRow {
        let shape = if bob == 0 { 1 } else { 2 };
        ContactRow {
            id: ContactId { pair: PairId { a: ShapeId(0), b: ShapeId(shape) }, feature: 0 },
            bodies: [BodyId(0), BodyId(shape)],
            gap: q[2 * bob],
            normal: Row::one(bob, &[1.0, 0.0]),
            drift: 0.0,
            tangents: [OffsetRow { row: Row::one(bob, &[0.0, 1.0]), offset: 0.0 }].into_iter().collect(),
            aligned: false,
            set: self.line.clone(),
            mu: 0.0,
            restitution: RESTITUTION,
            point: [0.0, q[2 * bob + 1], 0.0],
            direction: [1.0, 0.0, 0.0],
            tangent_directions: [[0.0, 1.0, 0.0], [0.0; 3]],
            moments: Moments::none(),
        }
    }
}

/// Θ⁽¹⁾ = |p₁|² − 1 and Θ⁽²⁾ = |p₂ − p₁|² − 1. The paper prints the first with x₂ for y₁, and both with
/// opposite signs.
pub fn joint_errors(q: &[f64]) -> [f64; 2] {
    [q[0] * q[0] + q[1] * q[1] - 1.0, (q[2] - q[0]).powi(2) + (q[3] - q[1]).powi(2) - 1.0]
}

/// Largest displacement of a bob within a motion bound [m].
fn travel(sweep: &MotionBound, bob: usize) -> f64 {
    let speed = |v: &Vec<f64>| v[2 * bob].hypot(v[2 * bob + 1]);
    sweep.h * sweep.v.iter().map(speed).fold(0.0, f64::max)
}

impl System for DoublePendulum {
    fn bodies(&self) -> &[usize] {
        &[2, 2]
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        q.iter_mut().zip(v).for_each(|(q, v)| *q += h * v);
    }

    fn mass(&self, _: usize) -> Matrix6<f64> {
        unit_mass(2)
    }

    fn forces(&self, _: f64, _: &[f64], _: &[f64], out: &mut Forces) {
        out.springs.clear();
        out.k.clear();
        out.k.extend([0.0, -self.gravity, 0.0, -self.gravity]);
    }

    fn gyroscopic(&self, _: usize, _: &[f64]) -> Option<Matrix6<f64>> {
        None
    }

    fn joints(&self, _: f64, q: &[f64], out: &mut Vec<JointRow>) {
        let errors = joint_errors(q);
        let (x, y) = (2.0 * (q[2] - q[0]), 2.0 * (q[3] - q[1]));
        let rows = [Row::one(0, &[2.0 * q[0], 2.0 * q[1]]), Row::two(0, &[-x, -y], 1, &[x, y])];
        out.clear();
        out.extend((0..).zip(rows).zip(errors).map(|((joint, row), error)| JointRow {
            joint: JointId(joint),
            row,
            error,
            drift: 0.0,
            kind: RowKind::Rigid(0.0),
        }));
    }

    fn contacts(
        &self,
        _: f64,
        q: &[f64],
        near: &ContactQuery,
        _: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        out.clear();
        let bobs = (0..2).filter(|_| self.wall).map(|bob| (bob, self.wall_row(q, bob)));
        let close = |(bob, row): &(usize, ContactRow)| {
            let reach = near.max_gap + near.motion.map_or(0.0, |sweep| travel(sweep, *bob));
            row.gap <= reach || near.wanted.contains(&row.id.pair)
        };
        out.extend(bobs.filter(close).map(|(_, row)| row));
    }

    fn surface_speed(&self, _: f64, _: &[f64], v: &[f64]) -> f64 {
        v[0].hypot(v[1]).max(v[2].hypot(v[3]))
    }

    fn size(&self) -> f64 {
        1.0
    }

    fn gravity(&self) -> f64 {
        self.gravity
    }

    fn potential(&self, _: f64, q: &[f64]) -> f64 {
        self.gravity * (q[1] + q[3])
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        let turning = q[0] * v[1] - q[1] * v[0] + q[2] * v[3] - q[3] * v[2];
        ([v[0] + v[2], v[1] + v[3], 0.0], [0.0, 0.0, turning])
    }
}

/// Method of the paper for this table: formulation II, impacts located on the interpolant.
pub fn printed() -> Scheme {
    scheme(Trapezoidal {
        rows: RowForms::all(RowForm::Mean),
        middle: Midpoint::Ahead,
        locate: EventLocation::Impacts,
        landing: EventLanding::Interpolant,
        ..Trapezoidal::default()
    })
}

/// Method of the paper with the term αΘ/h of §9.3.
pub fn stabilized(alpha: f64) -> Scheme {
    let base = printed();
    match base.level {
        Level::Trapezoidal(settings) => scheme(Trapezoidal { stabilization: alpha, ..settings }),
        _ => base,
    }
}

/// Largest |Θ⁽¹⁾| and |Θ⁽²⁾| of a run.
pub fn largest_joint_errors(run: &Pagt06Run) -> [f64; 2] {
    run.positions
        .iter()
        .map(|q| joint_errors(q))
        .fold([0.0, 0.0], |most: [f64; 2], errors| std::array::from_fn(|j| most[j].max(errors[j].abs())))
}

/// Table 10.1, Figure 2, and the joints with the term of §9.3.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    const NAME: &str = "Table 10.1, double pendulum";
    let exact = exact(PENDULUM_GRAVITY, DOUBLE_PENDULUM_TIME);
    let mut last: Option<[f64; 3]> = None;
    for (k, published) in (5..).zip(TABLE_10_1) {
        let run = DoublePendulum::new(PENDULUM_GRAVITY, true).run(
            printed(),
            0.5_f64.powi(k),
            DOUBLE_PENDULUM_TIME,
        )?;
        let [first, second] = joint_errors(run.last());
        let values = [run.error(&exact.position), first, second];
        let mut lines = CaseLines { out, paper: PAPER, experiment: NAME, case: case("", k) };
        let names = ["E_h [m]", "Θ⁽¹⁾ [m²], sign as |·|² − 1", "Θ⁽²⁾ [m²], sign as |·|² − 1"];
        for j in 0..3 {
            lines.add(names[j], values[j], Some(published[j]));
        }
        if let Some(before) = last {
            let names = ["ratio of E_h", "ratio of Θ⁽¹⁾", "ratio of Θ⁽²⁾"];
            // printed to three digits
            let printed = printed_ratios(k);
            for j in 0..3 {
                lines.add(names[j], before[j] / values[j], printed.map(|p| p[j]));
            }
        }
        lines.add("impacts", run.impacts().len() as f64, None);
        lines.add("largest error of the time of an impact [s]", latest(&run, &exact), None);
        lines.add("largest gain of energy in a step [J]", run.largest_gain(), None);
        lines.add("largest residual", run.residual, None);
        last = Some(values);
        if k == 7 {
            figure(out, &run, &exact);
        }
    }
    default_method(out, &exact)?;
    stabilization(out)
}

/// Ratios of Table 10.1 in the row of h = 2⁻ᵏ s.
fn printed_ratios(k: i32) -> Option<[f64; 3]> {
    let rows = [
        [3.88, 4.04, 3.84],
        [3.97, 4.01, 3.88],
        [3.91, 4.00, 3.90],
        [3.92, 4.00, 3.99],
        [4.17, 4.00, 3.99],
        [3.93, 4.01, 4.00],
    ];
    usize::try_from(k - 6).ok().and_then(|row| rows.get(row).copied())
}

/// Largest difference of the time of an impact from the exact one [s]; infinite if the numbers of impacts differ.
pub fn latest(run: &Pagt06Run, exact: &ExactPendulum) -> f64 {
    let found = run.impacts();
    if found.len() != exact.impacts.len() {
        return f64::INFINITY;
    }
    found.iter().zip(&exact.impacts).map(|(a, b)| (a.0 - b.0).abs()).fold(0.0, f64::max)
}

/// Table 10.1 with the default of this library.
fn default_method(out: &mut Reproduction, exact: &ExactPendulum) -> Result<(), ExperimentError> {
    let mut last: Option<[f64; 2]> = None;
    for k in 5..=9 {
        let run = DoublePendulum::new(PENDULUM_GRAVITY, true).run(
            Scheme::pagt06(),
            0.5_f64.powi(k),
            DOUBLE_PENDULUM_TIME,
        )?;
        let velocity = distance(run.last_velocity(), &exact.velocity);
        let values = [run.error(&exact.position), velocity];
        let experiment = "double pendulum, default method";
        let mut lines = CaseLines { out, paper: PAPER, experiment, case: case("", k) };
        lines.add("E_h [m]", values[0], None);
        lines.add("error of velocities [m/s]", values[1], None);
        if let Some(before) = last {
            lines.add("ratio of E_h", before[0] / values[0], None);
            lines.add("ratio of errors of velocities", before[1] / values[1], None);
        }
        last = Some(values);
    }
    Ok(())
}

/// §9.3: joints hold to O(h³) with the term 2Θ/h.
fn stabilization(out: &mut Reproduction) -> Result<(), ExperimentError> {
    let cases = [("without term, ", 0.0, None), ("with 2Θ/h, ", 2.0, Some(8.0))];
    for (name, alpha, published) in cases {
        let mut last: Option<[f64; 2]> = None;
        for k in 7..=11 {
            let run = DoublePendulum::new(PENDULUM_GRAVITY, true).run(
                stabilized(alpha),
                0.5_f64.powi(k),
                DOUBLE_PENDULUM_TIME,
            )?;
            let values = largest_joint_errors(&run);
            let experiment = "section 9.3, stabilized joints";
            let mut lines = CaseLines { out, paper: PAPER, experiment, case: case(name, k) };
            lines.add("largest |Θ⁽¹⁾| [m²]", values[0], None);
            lines.add("largest |Θ⁽²⁾| [m²]", values[1], None);
            if let Some(before) = last {
                lines
                    .add("ratio of the largest |Θ⁽¹⁾|", before[0] / values[0], published)
                    .meant(PublishedSense::About);
                lines
                    .add("ratio of the largest |Θ⁽²⁾|", before[1] / values[1], published)
                    .meant(PublishedSense::About);
            }
            last = Some(values);
        }
    }
    Ok(())
}

/// Figure 2, with the exact motion.
fn figure(out: &mut Reproduction, run: &Pagt06Run, exact: &ExactPendulum) {
    let of_exact = |k: usize, label: &str| Curve {
        label: label.into(),
        points: exact.path.iter().map(|p| [p[0], p[k]]).collect(),
    };
    let title = "PAGT06 Fig. 2 (a): x of the bobs of a double pendulum beside a wall, h = 2⁻⁷ s";
    let all = vec![
        run.curve("bob 1", |q, _, _| q[0]),
        run.curve("bob 2", |q, _, _| q[2]),
        of_exact(1, "bob 1, exact"),
        of_exact(2, "bob 2, exact"),
    ];
    curves(out, "pagt06-double-pendulum", title, "x [m]", all);
    let title = "PAGT06 Fig. 2 (b): energy of a double pendulum beside a wall, h = 2⁻⁷ s";
    let all = vec![run.curve("energy", |_, _, e| e)];
    curves(out, "pagt06-double-pendulum-energy", title, "energy [J]", all);
}
