//! Two carts with a spring, a damper and a stopper: PAGT06 §10.3, Figures 6 and 7.

use super::PAPER;
use super::block::BLOCK_RADIUS;
use super::record::{Pagt06Run, curves};
use super::scheme;
use crate::GRAVITY;
use crate::measurement::CaseLines;
use crate::{Curve, ExperimentError, Reproduction};
use nalgebra::{Isometry2, Point2, Vector2};
use std::f64::consts::FRAC_PI_2;
use stiction::planar::{Attached, Body, Force, Model, Twist, World};
use stiction::{EventLanding, EventLocation, Material, Midpoint, RowForm, RowForms, Scheme, Trapezoidal};
use stiction_geometry::planar::Shape;

/// Step of the paper [s].
pub const CARTS_STEP: f64 = 0.01;

/// Position without force of the spring [m].
pub const EQUILIBRIUM: f64 = 0.2;

/// Initial distance of the carts [m].
pub const APART: f64 = 5.0;

/// Values of δ in Figure 6 [N s/m], and one much larger.
pub const CARTS_DAMPINGS: [f64; 4] = [1e2, 1e3, 1e6, 1e10];

/// Values of γ in Figure 7 [N/m], and one much larger.
pub const STIFFNESSES: [f64; 4] = [1e2, 1e4, 1e6, 1e10];

/// Parameters of the carts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Carts {
    /// Stiffness γ of the spring between the wall and the first cart [N/m].
    pub stiffness: f64,
    /// Damping δ between the carts [N s/m].
    pub damping: f64,
    /// Initial x of the first cart [m].
    pub x: f64,
    /// Initial velocity of both carts [m/s].
    pub v: f64,
    /// Duration [s].
    pub time: f64,
}

impl Carts {
    /// Figure 6, with this damping [N s/m].
    pub fn damped(damping: f64) -> Self {
        Self { stiffness: 100.0, damping, x: 0.1, v: -2.0, time: 4.0 }
    }

    /// Figure 7, with this stiffness [N/m].
    pub fn stiff(stiffness: f64) -> Self {
        Self { stiffness, damping: 10.0, x: 0.2, v: -3.0, time: 2.0 }
    }

    fn model(self) -> Result<Model, ExperimentError> {
        let material = |friction, restitution| Material { friction, restitution, ..Material::default() };
        let mut world = World::new(Vector2::new(0.0, -GRAVITY));
        let plane = Attached::new(Shape::HalfPlane);
        let floor = Body::fixed("floor").at(Isometry2::translation(0.0, -BLOCK_RADIUS));
        world.add_body(floor.with(plane.clone().material(material(0.05, 0.0))));
        let wall = Body::fixed("stopper").at(Isometry2::new(Vector2::new(-BLOCK_RADIUS, 0.0), -FRAC_PI_2));
        let wall = world.add_body(wall.with(plane.material(material(0.0, 0.3))));
        // bodies without rotation and with a single contact each: disks
        let mut cart = |name: &str, x: f64| {
            let shape = Attached::new(Shape::Disk { radius: BLOCK_RADIUS }).material(material(0.05, 0.0));
            let velocity = Twist::new(Vector2::new(self.v, 0.0), 0.0);
            let body = Body::point(name, 1.0).at(Isometry2::translation(x, 0.0));
            world.add_body(body.moving(velocity).with(shape))
        };
        let (first, second) = (cart("first", self.x), cart("second", self.x + APART));
        world.exclude(wall, second);
        world.add_force(Force::Rail {
            body: first,
            point: Point2::origin(),
            axis: Vector2::x(),
            origin: EQUILIBRIUM,
            stiffness: self.stiffness,
            damping: 0.0,
        });
        // without a rest length it acts along both axes
        world.add_force(Force::Spring {
            a: first,
            point_a: Point2::origin(),
            b: second,
            point_b: Point2::origin(),
            stiffness: 0.0,
            damping: self.damping,
            rest_length: 0.0,
        });
        Ok(world.build()?)
    }

    /// Runs the carts with steps `h`.
    pub fn run(self, scheme: Scheme, h: f64) -> Result<Pagt06Run, ExperimentError> {
        let model = self.model()?;
        let state = model.state();
        Ok(Pagt06Run::new(model, state, scheme, h, self.time)?)
    }
}

/// Method of the paper: formulation II, impacts located on the interpolant.
pub fn printed() -> Scheme {
    super::double_pendulum::printed()
}

/// Formulation I, impacts located on the interpolant.
pub fn first_formulation() -> Scheme {
    scheme(Trapezoidal {
        rows: RowForms::all(RowForm::End),
        middle: Midpoint::Ahead,
        locate: EventLocation::Impacts,
        landing: EventLanding::Interpolant,
        ..Trapezoidal::default()
    })
}

/// x₂ − x₁ − 5 [m].
pub fn stretch(q: &[f64]) -> f64 {
    q[2] - q[0] - APART
}

/// Largest |x₂ − x₁ − 5| of a run [m].
pub fn largest_stretch(run: &Pagt06Run) -> f64 {
    run.positions.iter().map(|q| stretch(q).abs()).fold(0.0, f64::max)
}

/// Largest |x₂' − x₁'| of a run after this time [m/s].
pub fn ringing(run: &Pagt06Run, after: f64) -> f64 {
    let later = run.times.iter().zip(&run.velocities).filter(|(t, _)| **t > after);
    later.map(|(_, v)| (v[2] - v[0]).abs()).fold(0.0, f64::max)
}

/// Largest |x₁ − 0.2| of a run [m].
pub fn largest_swing(run: &Pagt06Run) -> f64 {
    run.positions.iter().map(|q| (q[0] - EQUILIBRIUM).abs()).fold(0.0, f64::max)
}

/// Least x₁ of a run [m].
pub fn least_gap(run: &Pagt06Run) -> f64 {
    run.positions.iter().map(|q| q[0]).fold(f64::INFINITY, f64::min)
}

/// Figures 6 and 7.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    let damped = CARTS_DAMPINGS.map(|delta| (format!("δ = {delta:e}"), Carts::damped(delta)));
    let stretched = figure(out, "Fig. 6, two carts", damped)?;
    draw(out, 6, "x₂ − x₁ [m]", &stretched, |q| q[2] - q[0]);
    let stiff = STIFFNESSES.map(|gamma| (format!("γ = {gamma:e}"), Carts::stiff(gamma)));
    let swung = figure(out, "Fig. 7, two carts", stiff)?;
    draw(out, 7, "x₁ − 0.2 [m]", &swung, |q| q[0] - EQUILIBRIUM);
    Ok(())
}

/// Measurements of one figure, and the runs of formulation II.
fn figure(
    out: &mut Reproduction,
    experiment: &'static str,
    cases: [(String, Carts); 4],
) -> Result<Vec<(String, Pagt06Run)>, ExperimentError> {
    let methods = [("II", printed()), ("I", first_formulation()), ("default", Scheme::pagt06())];
    let mut runs = Vec::new();
    for (case, carts) in cases {
        for (name, scheme) in methods {
            let run = carts.run(scheme, CARTS_STEP)?;
            let mut lines = CaseLines { out, paper: PAPER, experiment, case: format!("{case}, {name}") };
            lines.add("largest |x₂ − x₁ − 5| [m]", largest_stretch(&run), None);
            lines.add("largest |x₁ − 0.2| [m]", largest_swing(&run), None);
            lines.add("least x₁ [m]", least_gap(&run), None);
            lines.add("largest energy over that of the start", energy_ratio(&run), None);
            lines.add("energy at the end [J]", run.energies.last().copied().unwrap_or(0.0), None);
            lines.add("largest gain of energy in a step [J]", run.largest_gain(), None);
            lines.add("x₁ at the end [m]", run.last()[0], None);
            lines.add("largest |x₂' − x₁'| after 0.5 s [m/s]", ringing(&run, 0.5), None);
            lines.add("impacts", run.impacts().len() as f64, None);
            if name == "II" {
                runs.push((case.clone(), run));
            }
        }
    }
    Ok(runs)
}

/// Largest energy of a run relative to its initial energy.
pub fn energy_ratio(run: &Pagt06Run) -> f64 {
    run.energies.iter().map(|e| e / run.energies[0]).fold(0.0, f64::max)
}

fn draw(
    out: &mut Reproduction,
    figure: u32,
    label: &str,
    runs: &[(String, Pagt06Run)],
    pick: fn(&[f64]) -> f64,
) {
    // the cases of the paper only
    let runs = &runs[..runs.len().min(3)];
    let title = format!("PAGT06 Fig. {figure}: two carts, h = 0.01 s, formulation II");
    let all: Vec<Curve> = runs.iter().map(|(case, run)| run.curve(case, |q, _, _| pick(q))).collect();
    curves(out, &format!("pagt06-carts-{figure}"), &title, label, all);
    let title = format!("PAGT06 Fig. {figure}: energy of two carts, h = 0.01 s, formulation II");
    let all = runs.iter().map(|(case, run)| run.curve(case, |_, _, e| e)).collect();
    curves(out, &format!("pagt06-carts-{figure}-energy"), &title, "energy [J]", all);
}
