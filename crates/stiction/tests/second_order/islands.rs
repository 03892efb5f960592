//! Islands of runs to an accuracy: bodies that cannot meet have steps and events of their own.

use crate::common::G;
use nalgebra::{Isometry2, Point2, Vector2};
use stiction::planar::{Attached, Body, Force, Joint, Mass, Model, Shape, Twist, World};
use stiction::{
    Accuracy, AccuracyReport, Check, EventKind, Evidence, IslandRecord, Material, Scheme, Simulation, State,
    StepReport, SubstepRecord, Verdict, verify_accuracy_run,
};

fn elastic(restitution: f64) -> Material {
    Material { friction: 0.0, restitution, ..Material::default() }
}

/// World with a floor y ≤ 0.
fn floored(material: Material) -> World {
    let mut world = World::new(Vector2::new(0.0, -G));
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfPlane).material(material)));
    world
}

/// Disk of radius 0.1 m.
fn ball(name: &str, x: f64, y: f64, material: Material) -> Body {
    let shape = Attached::new(Shape::Disk { radius: 0.1 }).material(material);
    Body::rigid(name, Mass::Density(30.0)).at(Isometry2::translation(x, y)).with(shape)
}

/// Force law that adds nothing and may depend on the whole state, so that the model has no islands.
fn undivided(world: &World) -> Model {
    let mut world = world.clone();
    world.add_force(Force::custom(|_, _, _, _| ()));
    world.build().unwrap()
}

/// Run with evidence.
struct Run {
    before: State,
    after: State,
    report: StepReport,
    summary: AccuracyReport,
    accuracy: Accuracy,
}

impl Run {
    fn of(model: Model, until: f64, tolerance: f64) -> Self {
        let mut simulation = Simulation::new(model).with_scheme(Scheme::default());
        let before = simulation.state().clone();
        let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
        let accuracy = Accuracy::of(tolerance);
        let made = simulation.run_to_accuracy_into(until, &accuracy, &mut report);
        let summary = made.unwrap_or_else(|e| panic!("{tolerance:e}: {e}"));
        Self { before, after: simulation.state().clone(), report, summary, accuracy }
    }

    fn verdict(&self, model: &Model) -> Verdict {
        let Self { before, after, report, summary, accuracy } = self;
        verify_accuracy_run(model, &Scheme::default(), accuracy, before, after, report, summary)
    }

    fn records(&self) -> &[SubstepRecord] {
        &self.report.evidence.as_ref().unwrap().substeps
    }

    /// Islands of each window.
    fn windows(&self) -> Vec<&[IslandRecord]> {
        let mut windows = Vec::new();
        for record in self.records() {
            if let SubstepRecord::Islands { islands, .. } = record {
                windows.push(islands.as_slice());
            }
        }
        windows
    }

    fn difference(&self, other: &Self) -> f64 {
        let pairs = self.after.q.iter().zip(&other.after.q);
        pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()))
    }
}

/// Balls that bounce, a pendulum, a pair on a spring, a body on a motor's rail and a stack, all apart from each other.
fn mixed() -> World {
    let bouncy = elastic(0.5);
    let mut world = floored(bouncy);
    let floor = world.bodies().next().unwrap().0;
    for (k, height) in [0.5, 0.7, 1.1].into_iter().enumerate() {
        world.add_body(ball(&format!("ball {k}"), 2.0 * k as f64, height, bouncy));
    }
    let origin = Point2::origin();
    let bob = world.add_body(Body::point("bob", 1.0).at(Isometry2::translation(-3.5, 3.0)));
    world.add_joint(Joint::distance("rod", &world, (floor, Point2::new(-3.0, 3.0)), (bob, origin)));
    let left = world.add_body(ball("left", -8.0, 0.6, bouncy));
    let right = world.add_body(ball("right", -7.0, 0.9, bouncy));
    let (point_a, point_b) = (origin, origin);
    let (stiffness, damping, rest_length) = (200.0, 1.0, 0.9);
    world.add_force(Force::Spring { a: left, point_a, b: right, point_b, stiffness, damping, rest_length });
    world.add_body(ball("lower", 10.0, 0.1, elastic(0.0)));
    world.add_body(ball("upper", 10.0, 0.3, elastic(0.0)));
    world
}

/// Islands end where the undivided run ends; bodies that joints, springs or contacts connect are in one.
#[test]
fn islands_are_equal_to_the_undivided_run() {
    let world = mixed();
    let (divided, whole) = (world.clone().build().unwrap(), undivided(&world));
    for tolerance in [1e-4, 1e-6, 1e-8] {
        let islands = Run::of(divided.clone(), 1.0, tolerance);
        let one = Run::of(whole.clone(), 1.0, tolerance);
        let difference = islands.difference(&one);
        // both have ten times the tolerance as their bound
        assert!(difference <= 20.0 * tolerance, "{tolerance:e}: {difference:e} apart");
        assert!(one.windows().is_empty() && !islands.windows().is_empty());
        for window in islands.windows() {
            let bodies: Vec<&[usize]> = window.iter().map(|island| island.bodies.as_slice()).collect();
            assert!(bodies.contains(&[3].as_slice()), "the pendulum has no island of its own: {bodies:?}");
            assert!(bodies.contains(&[4, 5].as_slice()), "the spring does not connect: {bodies:?}");
            assert!(bodies.contains(&[6, 7].as_slice()), "the stack is divided: {bodies:?}");
        }
        for (run, model) in [(&islands, &divided), (&one, &whole)] {
            let verdict = run.verdict(model);
            assert!(verdict.holds(), "{tolerance:e}: {:#?}", verdict.findings);
        }
        let impacts = |run: &Run| run.summary.events.iter().filter(|e| e.kind == EventKind::Impact).count();
        assert_eq!(impacts(&islands), impacts(&one), "{tolerance:e}");
        assert!(islands.summary.events.is_sorted_by(|a, b| a.t <= b.t));
    }
}

/// A body pushed from rest is faster than its speed at the start of a window says: the window is passed again with the
/// body that it meets. x = ½ a t² up to the impact, then both have the speeds of an elastic impact.
#[test]
fn islands_that_meet_within_a_window_are_joined() {
    let (gap, push) = (1.0, 10.0);
    let mut world = World::new(Vector2::zeros());
    let material = elastic(1.0);
    let pushed = world.add_body(ball("pushed", 0.0, 0.0, material));
    world.add_body(ball("struck", gap + 0.2, 0.0, material));
    world.add_body(ball("far", 0.0, 50.0, material));
    let mass = 30.0 * std::f64::consts::PI * 0.01;
    world.add_force(Force::constant(pushed, Vector2::new(mass * push, 0.0)));
    let model = world.build().unwrap();
    let (until, met) = (0.8, (2.0 * gap / push).sqrt());
    let (speed, left) = (push * met, until - met);
    // equal masses exchange their speeds
    let exact = [gap + 0.5 * push * left * left, gap + 0.2 + speed * left];
    for tolerance in [1e-4, 1e-6, 1e-9] {
        let run = Run::of(model.clone(), until, tolerance);
        let q = &run.after.q;
        let error = (q[0] - exact[0]).abs().max((q[3] - exact[1]).abs());
        assert!(error <= 10.0 * tolerance, "{tolerance:e}: {error:e}");
        assert!(run.windows().iter().any(|window| window.iter().any(|island| island.bodies == [0, 1])));
        assert!(run.windows().iter().all(|window| window.iter().any(|island| island.bodies == [2])));
        let verdict = run.verdict(&model);
        assert!(verdict.holds(), "{tolerance:e}: {:#?}", verdict.findings);
    }
}

/// Row of balls that bounce, each at times of its own.
fn row_of_balls(count: usize) -> World {
    let mut world = floored(elastic(0.7));
    for k in 0..count {
        let height = 0.5 + 0.037 * k as f64;
        world.add_body(ball(&format!("ball {k}"), 0.5 * k as f64, height, elastic(0.7)));
    }
    world
}

/// Steps grow with the bodies plus their events, not with the product: an undivided run restarts all balls at each
/// impact of one.
#[test]
fn an_event_costs_what_it_touches() {
    let steps = |model: Model| {
        let run = Run::of(model, 1.0, 1e-6);
        (run.summary.steps, run.summary.events.len())
    };
    let [few, many] = [4, 24].map(|count| steps(row_of_balls(count).build().unwrap()));
    let per_ball = |(steps, _): (usize, usize), count: usize| steps as f64 / count as f64;
    // a ball that starts higher has fewer events; the windows of all end together
    assert!(per_ball(many, 24) <= 1.5 * per_ball(few, 4), "{few:?}, {many:?}");
    // in the undivided run each step is one of all balls, and ends at the first event of any; measured: 3.2 times
    let whole = steps(undivided(&row_of_balls(24)));
    assert_eq!(many.1, whole.1);
    assert!(2 * many.0 <= 24 * whole.0, "{many:?}, undivided {whole:?}");
}

/// Records in which two bodies that met are in islands of their own do not hold.
#[test]
fn islands_that_may_have_met_are_found() {
    let mut world = World::new(Vector2::zeros());
    let coming = ball("coming", 0.0, 0.0, elastic(1.0));
    world.add_body(coming.moving(Twist::new(Vector2::new(4.0, 0.0), 0.0)));
    world.add_body(ball("waiting", 1.0, 0.0, elastic(1.0)));
    world.add_body(ball("far", 0.0, 50.0, elastic(1.0)));
    let model = world.clone().build().unwrap();
    let run = Run::of(model.clone(), 0.5, 1e-6);
    assert!(run.verdict(&model).holds());
    // each of them flies on as if the others were not there
    let alone = |body: usize| {
        let mut alone = World::new(Vector2::zeros());
        let (_, own) = world.bodies().nth(body).unwrap();
        alone.add_body(own.clone());
        Run::of(alone.build().unwrap(), 0.5, 1e-6)
    };
    let runs = [0, 1, 2].map(alone);
    let mut forged = Run { report: run.report.clone(), after: run.after.clone(), ..run };
    let island =
        |(body, run): (usize, &Run)| IslandRecord { bodies: vec![body], records: run.records().to_vec() };
    let islands = runs.iter().enumerate().map(island).collect();
    forged.report.evidence.as_mut().unwrap().substeps = vec![SubstepRecord::Islands { size: 0.5, islands }];
    for (body, run) in runs.iter().enumerate() {
        forged.after.q[3 * body..3 * body + 3].copy_from_slice(&run.after.q);
        forged.after.v[3 * body..3 * body + 3].copy_from_slice(&run.after.v);
    }
    let findings = forged.verdict(&model).findings;
    assert!(findings.iter().any(|f| f.check == Check::Open), "{findings:#?}");
    // a body that no island has, or two have
    for change in [0, 1] {
        let mut forged = Run::of(model.clone(), 0.5, 1e-6);
        let records = &mut forged.report.evidence.as_mut().unwrap().substeps;
        let Some(SubstepRecord::Islands { islands, .. }) = records.first_mut() else { panic!("no islands") };
        let island = islands[0].clone();
        if change == 0 {
            islands.remove(0)
        } else {
            std::mem::replace(&mut islands[1], island)
        };
        let findings = forged.verdict(&model).findings;
        assert!(findings.iter().any(|f| f.check == Check::Record), "{findings:#?}");
    }
}

/// A run in two parts ends where one run ends, within their bounds; a copy of the state continues bit by bit.
#[test]
fn a_run_of_islands_continues() {
    let model = mixed().build().unwrap();
    let accuracy = Accuracy::of(1e-6);
    let mut simulation = Simulation::new(model.clone());
    let run = |simulation: &mut Simulation<Model>, until: f64| {
        simulation.run_to_accuracy(until, &accuracy, &[], |_, _| ()).unwrap_or_else(|e| panic!("{e}"));
    };
    run(&mut simulation, 0.4);
    let copy = simulation.state().clone();
    run(&mut simulation, 1.0);
    let mut again = Simulation::from_state(model.clone(), copy);
    run(&mut again, 1.0);
    assert_eq!(simulation.state(), again.state());
    let once = Run::of(model, 1.0, 1e-6);
    let pairs = simulation.state().q.iter().zip(&once.after.q);
    let apart = pairs.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
    assert!(apart <= 2e-5, "{apart:e}");
}

/// Samples within a window are those of the bodies' own steps.
#[test]
fn samples_of_islands_are_as_accurate_as_their_steps() {
    let model = row_of_balls(3).build().unwrap();
    let times: Vec<f64> = (1..=20).map(|k| 0.013 * f64::from(k)).collect();
    let mut simulation = Simulation::new(model);
    let made = simulation.run_to_accuracy(0.3, &Accuracy::of(1e-8), &times, |_, s| s.q.clone()).unwrap();
    assert_eq!(made.trajectory.times, times);
    for (t, q) in times.iter().zip(&made.trajectory.values) {
        for k in 0..3 {
            // none has fallen to the floor by 0.26 s
            let exact = 0.5 + 0.037 * k as f64 - 0.5 * G * t * t;
            let error = (q[3 * k + 1] - exact).abs();
            assert!(error <= 1e-7 && exact > 0.1, "ball {k} at {t}: {error:e}");
        }
    }
}
