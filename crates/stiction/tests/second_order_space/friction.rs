//! Friction in space, where slip turns: a block under an oblique oscillating force, and a spinning ball.

use crate::common::{G, run, second_order, spatial};
use nalgebra::{Isometry3, Vector2, Vector3};
use stiction::spatial::{Attached, Body, BodyId, Force, Mass, Model, Shape, Twist, World, Wrench};
use stiction::{EventKind, Material, Simulation};

const MU: f64 = 0.3;
const UNTIL: f64 = 4.0;

/// Force on the block of 1 kg.
fn load(t: f64) -> Vector2<f64> {
    let axis = Vector2::new(0.5f64.cos(), 0.5f64.sin());
    4.0 * (2.0 * t).cos() * axis + Vector2::new(-0.3, 0.8)
}

/// Exact motion: its end, and the times at which slip and stick begin.
#[derive(Debug, Clone, Default)]
struct Exact {
    x: Vector2<f64>,
    events: Vec<(EventKind, f64)>,
}

/// Integrates u' = F − μg u/|u| by the implicit midpoint rule, with ever finer steps towards the end of slip, where its
/// direction turns ever faster. Stick ends where |F| = μg, by bisection.
fn exact() -> Exact {
    let c = MU * G;
    let mut exact = Exact::default();
    let (mut t, mut u) = (0.0, Vector2::zeros());
    let mut slips = load(0.0).norm() > c;
    while t < UNTIL {
        if !slips {
            let mut low = t;
            while load(low).norm() < c && low < UNTIL {
                low += 1e-3;
            }
            if low >= UNTIL {
                break;
            }
            let mut high = low;
            low -= 1e-3;
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if load(middle).norm() < c { low = middle } else { high = middle }
            }
            t = high;
            exact.events.push((EventKind::Slip, t));
            slips = true;
            u = Vector2::zeros();
        }
        let speed: f64 = u.norm();
        let force = load(t);
        let comes_to_rest = speed > 0.0 && force.norm() < c;
        if comes_to_rest && speed < 1e-12 {
            exact.events.push((EventKind::Stick, t));
            slips = false;
            continue;
        }
        let step = if comes_to_rest { 0.005 * speed / c } else { f64::INFINITY };
        let h = step.min(2e-5).min(UNTIL - t).max(1e-16);
        let middle = load(t + 0.5 * h);
        // direction of the mean: w = u + (h/2)(F − c w/|w|)
        let pulled = u + 0.5 * h * middle;
        let w = pulled * (1.0 - 0.5 * h * c / pulled.norm()).max(0.0);
        let end = 2.0 * w - u;
        exact.x += h * w;
        u = end;
        t += h;
    }
    exact
}

fn block() -> (Simulation<Model>, BodyId) {
    let mut world = World::new(-G * Vector3::z());
    let material = Material { friction: MU, restitution: 0.0, ..Material::default() };
    world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(material)));
    let shape = Attached::new(Shape::Sphere { radius: 0.1 }).material(material);
    let block =
        world.add_body(Body::point("block", 1.0).at(Isometry3::translation(0.0, 0.0, 0.1)).with(shape));
    world.add_force(Force::timed(block, |t| Wrench { force: load(t).push(0.0), torque: Vector3::zeros() }));
    (spatial(world), block)
}

#[test]
fn oblique_stick_and_slip_are_located_and_of_second_order() {
    let exact = exact();
    println!("{exact:?}");
    second_order("oblique block", 5..=10, |h| {
        let (mut simulation, block) = block();
        let summary = run(&mut simulation, h, UNTIL);
        let events: Vec<(EventKind, f64)> = summary.events.iter().map(|e| (e.kind, e.t)).collect();
        let at = simulation.system().centre(simulation.state(), block).expect("the block").coords;
        println!("  h = {h}: {} forced, cut {}, {events:?}", summary.forced, summary.cut);
        let off: Vec<f64> = events.iter().zip(&exact.events).map(|(a, b)| (a.1 - b.1) / (h * h)).collect();
        println!("  off by {off:.3?} h²");
        assert_eq!(events.len(), exact.events.len());
        for ((kind, t), (expected, exact)) in events.iter().zip(&exact.events) {
            assert_eq!(kind, expected);
            assert!((t - exact).abs() <= h * h, "{kind:?} at {t}, not {exact}");
        }
        (at.xy() - exact.x).norm()
    });
}

#[test]
fn a_ball_that_spins_obliquely_slides_and_rolls() {
    let r: f64 = 0.2;
    let (v, w): (Vector3<f64>, Vector3<f64>) = (Vector3::new(1.0, -0.5, 0.0), Vector3::new(-6.0, 3.0, 8.0));
    // slip keeps its direction while friction of μg slows it by 7/2 of that
    let slip: Vector3<f64> = v + w.cross(&(-r * Vector3::z()));
    let against = -slip.normalize();
    let sticks = 2.0 * slip.norm() / (7.0 * MU * G);
    let rolls = v + MU * G * sticks * against;
    let until = 1.0;
    let exact = sticks * 0.5 * (v + rolls) + (until - sticks) * rolls;
    for h in [0.04, 0.02, 0.01, 0.005] {
        let mut world = World::new(-G * Vector3::z());
        let material = Material { friction: MU, restitution: 0.0, ..Material::default() };
        world.add_body(Body::fixed("floor").with(Attached::new(Shape::HalfSpace).material(material)));
        let shape = Attached::new(Shape::Sphere { radius: r }).material(material);
        let ball = Body::rigid("ball", Mass::Density(300.0)).with(shape).moving(Twist::new(v, w));
        let ball = world.add_body(ball.at(Isometry3::translation(0.0, 0.0, r)));
        let mut simulation = spatial(world);
        let summary = run(&mut simulation, h, until);
        assert_eq!(summary.events.len(), 1, "{:?}", summary.events);
        assert_eq!(summary.events[0].kind, EventKind::Stick);
        let at = simulation.system().centre(simulation.state(), ball).expect("the ball").coords;
        let off = (at - Vector3::new(exact.x, exact.y, r)).norm();
        println!(
            "h = {h}: sticks {:.3} h² late, {:.3} h² off",
            (summary.events[0].t - sticks) / (h * h),
            off / (h * h)
        );
        // it turns by 10 h in a step, and forces are taken along axes that turn with it
        assert!((summary.events[0].t - sticks).abs() < 2.0 * h * h && off < 4.0 * h * h);
    }
}
