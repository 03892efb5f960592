//! Plank on a peg with one corner on the floor, pulled back and forth: drift of contacts.
//!
//! Not in the paper, whose rectangle cannot drift (see [`super::rectangle`]). The face of a plank that turns on a
//! fixed peg can: its gap is concave along a step.

use super::{Cp03Run, banded, block, error_axis, errors_figure, frame, line, stabilizations};
use crate::{ExperimentError, Figure, FigureContent, Outline, Reproduction, slope};
use nalgebra::{Isometry2, Point2, UnitComplex, Vector2};
use std::f64::consts::TAU;
use stiction::planar::{Attached, Body, BodyId, Force, Mass, Model, World, Wrench};
use stiction::{Material, Mistakes, Scheme};
use stiction_geometry::planar::Shape;

pub(super) const NAME: &str = "plank on a peg";

/// Half the length and thickness of the plank [m].
const PLANK_HALF_SIZES: [f64; 2] = [0.15, 0.01];

/// Height of the peg, a point above the origin [m].
const PEG: f64 = 0.06;

/// Initial distance of the peg from the middle of the plank along its lower face [m].
const TOUCH: f64 = 0.05;

/// Band of the active set [m].
pub const PLANK_BAND: f64 = 2e-3;

/// Model of the plank of 1 kg on the peg with its left lower corner on the floor, no friction, a spring and a force along x.
pub fn model() -> Result<(Model, BodyId), Mistakes> {
    let smooth = Material { friction: 0.0, restitution: 0.0, ..Material::default() };
    let mut world = World::new(Vector2::new(0.0, -9.81));
    let peg = Attached::new(Shape::Disk { radius: 0.0 }).at(Isometry2::translation(0.0, PEG));
    let floor = Attached::new(Shape::HalfPlane);
    world.add_body(Body::fixed("ground").with(floor.material(smooth)).with(peg.material(smooth)));

    // the corner is TOUCH + PLANK_HALF_SIZES[0] down the face from the peg
    let sin = PEG / (TOUCH + PLANK_HALF_SIZES[0]);
    let turn = UnitComplex::from_cos_sin_unchecked((1.0 - sin * sin).sqrt(), sin);
    let centre = Vector2::new(0.0, PEG) - turn * Vector2::new(TOUCH, -PLANK_HALF_SIZES[1]);
    let inertia = (PLANK_HALF_SIZES[0].powi(2) + PLANK_HALF_SIZES[1].powi(2)) / 3.0;
    let body = Body::rigid("plank", Mass::given(1.0, inertia))
        .at(Isometry2::from_parts(centre.into(), turn))
        .with(Attached::new(block("plank", PLANK_HALF_SIZES)?).material(smooth));
    let id = world.add_body(body);
    world.add_force(Force::Rail {
        body: id,
        point: Point2::origin(),
        axis: Vector2::x(),
        origin: centre.x,
        stiffness: 400.0,
        damping: 0.0,
    });
    world.add_force(Force::timed(id, |t| Wrench {
        force: Vector2::new(12.0 * (TAU * 1.5 * t).sin(), 0.0),
        torque: 0.0,
    }));
    Ok((world.build()?, id))
}

/// Runs the plank for a number of steps, with the band and the spring taken at the start of the step.
pub fn run(scheme: &Scheme, h: f64, steps: usize) -> Result<Cp03Run, ExperimentError> {
    let scheme = Scheme { implicit_springs: false, ..banded(*scheme, PLANK_BAND) };
    Cp03Run::of(model()?.0, &scheme, h, steps, 20)
}

/// Errors after 10 s with one step size [mm].
#[derive(Debug, Clone, PartialEq)]
pub struct PlankErrors {
    /// Step size [s].
    pub h: f64,
    /// Without stabilization.
    pub none: Cp03Run,
    /// AH04.
    pub stabilized: Cp03Run,
    /// One pass of post-stabilization.
    pub post: Cp03Run,
}

/// Runs the three schemes for 10 s with `steps` steps.
pub fn plank(steps: u32) -> Result<PlankErrors, ExperimentError> {
    let h = 10.0 / f64::from(steps);
    let run = |scheme: Scheme| run(&scheme, h, steps as usize);
    Ok(PlankErrors {
        h,
        none: run(Scheme::ap97())?,
        stabilized: run(Scheme::ah04())?,
        post: run(Scheme::ap97().post_stabilized(1))?,
    })
}

/// Slopes of the errors against h: at the end without stabilization, then the largest with AH04, before and after
/// post-stabilization.
pub fn slopes(planks: &[PlankErrors]) -> [f64; 4] {
    let measures: [fn(&PlankErrors) -> f64; 4] =
        [|p| p.none.last(), |p| p.stabilized.most_after(), |p| p.post.most_before(), |p| p.post.most_after()];
    measures.map(|measure| slope(&planks.iter().map(|p| [p.h, measure(p)]).collect::<Vec<_>>()))
}

/// Measurements and figures.
pub fn reproduce() -> Result<Reproduction, ExperimentError> {
    let mut all = Reproduction::default();
    let planks = [10_000, 5_000, 2_500].into_iter().map(plank).collect::<Result<Vec<_>, _>>()?;
    for PlankErrors { h, none, stabilized, post } in &planks {
        let mut add = |case: &str, quantity: &'static str, value: f64| {
            all.lines.push(line(NAME, format!("h = {h}, {case}"), quantity, value, None));
        };
        add("none", "penetration after 10 s [mm]", none.last());
        add("AH04", "largest penetration [mm]", stabilized.most_after());
        add("before post-stabilization", "largest penetration [mm]", post.most_before());
        add("after post-stabilization", "largest penetration [mm]", post.most_after());
    }
    let names = ["none", "AH04", "before post-stabilization", "after post-stabilization"];
    for (case, value) in names.into_iter().zip(slopes(&planks)) {
        all.lines.push(line(NAME, case, "slope of the penetration against h", value, None));
    }
    for (case, scheme) in stabilizations() {
        let run = run(&scheme, 1e-3, 10_000)?;
        let case = format!("h = 0.001, {case}");
        if case.contains("Baumgarte") {
            all.lines.push(line(NAME, &case, "largest penetration [mm]", run.most_after(), None));
        }
        all.lines.extend(run.cost_lines(NAME, &case));
    }
    all.figures = figures(&planks[0])?;
    Ok(all)
}

fn figures(plank: &PlankErrors) -> Result<Vec<Figure>, ExperimentError> {
    let (model, id) = model()?;
    let around = [
        Outline { closed: false, points: vec![[-0.3, 0.0], [0.3, 0.0]] },
        Outline { closed: false, points: vec![[0.0, 0.0], [0.0, PEG]] },
    ];
    // at least ten snapshots per period of the force
    let frames = plank.post.states.iter().take(40).step_by(4);
    let frames = frames.map(|s| frame(&model, s, &[id], &around)).collect();
    let errors: [(&str, &[f64]); 4] = [
        ("none", &plank.none.after),
        ("AH04", &plank.stabilized.after),
        ("before post-stabilization", &plank.post.before),
        ("after post-stabilization", &plank.post.after),
    ];
    let title = format!("Plank on a peg, h = {} s: penetration", plank.h);
    Ok(vec![
        errors_figure("plank-penetration".into(), title, plank.h, error_axis(true), &errors),
        Figure {
            name: "plank-frames".into(),
            title: "Plank on a peg: with post-stabilization".into(),
            content: FigureContent::Snapshots(frames),
        },
    ])
}
