//! Linkages with friction and impacts: two links on a floor, a slider-crank, and a double pendulum at a wall.

use crate::common::{Expected, G, RunOutcome, down, floor, halved, rough, tip};
use crate::reference::{At, Held, driven, held};
use nalgebra::{Isometry2, Point2, Vector2};
use std::f64::consts::PI;
use stiction::planar::{Attached, Body, Force, Joint, Model, Shape, Twist, World, Wrench};
use stiction::{Material, Midpoint, Trapezoidal};

/// Two rods from a pivot at a height to a point on the floor, the first at an angle from the vertical.
struct Linkage {
    height: f64,
    lengths: [f64; 2],
    angle: f64,
    spin: f64,
    mu: f64,
}

impl Linkage {
    /// Positions and velocities of the pin between the rods and of the point on the floor.
    fn start(&self) -> At {
        let (s, c) = self.angle.sin_cos();
        let [a, b] = self.lengths;
        let (x, y) = (a * s, self.height - a * c);
        let reach = (b * b - y * y).sqrt();
        let (u, w) = (a * self.spin * c, a * self.spin * s);
        // the second rod keeps its length
        At { t: 0.0, q: vec![x, y, x + reach, 0.0], v: vec![u, w, u - w * y / reach, 0.0] }
    }

    fn model(&self, load: impl Fn(f64) -> Vector2<f64> + Send + Sync + 'static) -> Model {
        let mut world = World::new(down());
        floor(&mut world, rough(self.mu));
        let pivot = world.add_body(Body::fixed("pivot"));
        let At { q, v, .. } = self.start();
        let body = |name: &str, i: usize| {
            let moving = Twist::new(Vector2::new(v[i], v[i + 1]), 0.0);
            Body::point(name, 1.0).at(Isometry2::translation(q[i], q[i + 1])).moving(moving)
        };
        let pin = world.add_body(body("pin", 0));
        let end = world.add_body(body("end", 2).with(tip(0.0, 0.0, rough(self.mu))));
        let (p, e) = (Point2::new(q[0], q[1]), Point2::new(q[2], q[3]));
        let first = Joint::distance("first", &world, (pivot, Point2::new(0.0, self.height)), (pin, p));
        world.add_joint(first);
        let second = Joint::distance("second", &world, (pin, p), (end, e));
        world.add_joint(second);
        world.add_force(Force::timed(end, move |t| Wrench { force: load(t), torque: 0.0 }));
        world.build().unwrap()
    }

    /// Accelerations with a slip of this sign, 0 for stick, and the event function of this mode.
    fn slides(&self, at: &At, load: Vector2<f64>, slip: f64) -> (Vec<f64>, f64) {
        let (q, v) = (&at.q, &at.v);
        let (x, y) = (q[0], q[1] - self.height);
        let (dx, dy) = (q[2] - q[0], q[3] - q[1]);
        let (du, dw) = (v[2] - v[0], v[3] - v[1]);
        let mut rows = vec![
            Held::new(&[x, y, 0.0, 0.0], v[0] * v[0] + v[1] * v[1]),
            Held::new(&[-dx, -dy, dx, dy], du * du + dw * dw),
            Held::rubbing(&[0.0, 0.0, 0.0, 1.0], 0.0, -slip * self.mu, &[0.0, 0.0, 1.0, 0.0]),
        ];
        if slip == 0.0 {
            rows.push(Held::new(&[0.0, 0.0, 1.0, 0.0], 0.0));
        }
        let (a, forces) = held(&[1.0; 4], &[0.0, -G, load.x, load.y - G], &rows);
        let left = if slip == 0.0 { self.mu * forces[2] - forces[3].abs() } else { slip * v[2] };
        (a, left)
    }
}

const DRAG: Linkage = Linkage { height: 1.2, lengths: [1.0, 1.0], angle: 0.2, spin: 0.0, mu: 0.3 };
const CRANK: Linkage = Linkage { height: 0.0, lengths: [0.3, 1.0], angle: 0.5, spin: 10.0, mu: 0.2 };

fn oscillating_force(t: f64) -> Vector2<f64> {
    Vector2::new(4.0 * (3.0 * t).cos(), 0.0)
}

#[test]
fn two_links_drag_over_a_floor() {
    let modes = [0.0, -1.0, 0.0, 1.0, 0.0, -1.0, 0.0, 1.0];
    let (end, times) =
        driven(DRAG.start(), &modes, 4.0, |at, slip| DRAG.slides(at, oscillating_force(at.t), slip));
    assert_eq!(times.len(), 7);
    let sequence: Vec<(f64, &str)> = times.into_iter().zip(["L1", "S1"].into_iter().cycle()).collect();
    let end: Vec<(usize, f64)> = end.q.iter().copied().enumerate().collect();
    // to 2⁻¹⁰, where a mode about to slip was once changed by force again and again
    let runs = halved(|| DRAG.model(oscillating_force), Trapezoidal::default(), 4..=10, 4.0);
    Expected::of(&end, &sequence, &[4.86e-3, 1.26e-3, 3.18e-4]).check("drag", &runs);
}

/// Slider-crank under its load.
pub(crate) fn crank() -> Model {
    CRANK.model(|_| Vector2::new(0.0, -20.0))
}

#[test]
fn a_crank_drives_a_dry_slider_until_it_sticks() {
    let load = Vector2::new(0.0, -20.0);
    let motion = |at: &At, slip: f64| CRANK.slides(at, load, slip);
    let (end, times) = driven(CRANK.start(), &[1.0, -1.0, 0.0], 1.0, motion);
    assert!((end.q[2] - 0.885_938_938_752_8).abs() < 1e-9, "{}", end.q[2]);
    let end: Vec<(usize, f64)> = end.q.iter().copied().enumerate().collect();
    let sequence = [(times[0], "R1"), (times[1], "S1")];
    let printed = Trapezoidal { middle: Midpoint::Ahead, ..Trapezoidal::default() };
    let runs = halved(|| CRANK.model(move |_| load), printed, 6..=9, 1.0);
    Expected {
        late: 45.0,
        ratios: 3.4..=4.1,
        ..Expected::of(&end, &sequence, &[3.52e-3, 1.00e-3, 2.54e-4, 6.38e-5])
    }
    .check("crank in the printed middle", &runs);
    // equal coefficients of h², with cleaner ratios
    let runs = halved(|| CRANK.model(move |_| load), Trapezoidal::default(), 6..=9, 1.0);
    let errors = [4.01e-3, 1.05e-3, 2.60e-4, 6.44e-5];
    Expected { late: 45.0, ..Expected::of(&end, &sequence, &errors) }.check("crank", &runs);
}

/// Double pendulum with rods of length 1 m, from 60° and 36°, with or without a wall through the pivot.
pub(crate) fn pendulum(walled: bool) -> Model {
    let mut world = World::new(Vector2::new(0.0, -9.8));
    let bouncy = Material { friction: 0.0, restitution: 0.1, ..Material::default() };
    if walled {
        let wall = Attached::new(Shape::HalfPlane).at(Isometry2::rotation(-PI / 2.0)).material(bouncy);
        world.add_body(Body::fixed("wall").with(wall));
    }
    let pivot = world.add_body(Body::fixed("pivot"));
    let hanging = |angle: f64| Vector2::new(angle.sin(), -angle.cos());
    let upper = Point2::from(hanging(PI / 3.0));
    let lower = upper + hanging(PI / 5.0);
    let [one, two] = [("upper", upper), ("lower", lower)].map(|(name, p)| {
        let body = Body::point(name, 1.0).at(Isometry2::translation(p.x, p.y));
        world.add_body(body.with(tip(0.0, 0.0, bouncy)))
    });
    let first = Joint::distance("first", &world, (pivot, Point2::origin()), (one, upper));
    world.add_joint(first);
    let second = Joint::distance("second", &world, (one, upper), (two, lower));
    world.add_joint(second);
    world.build().unwrap()
}

#[test]
fn a_double_pendulum_strikes_a_wall() {
    let end = [0.021_962_117_695, -0.999_758_803_605, 0.023_769_486_774, -1.999_757_170_312];
    let end: Vec<(usize, f64)> = end.into_iter().enumerate().collect();
    let sequence = [
        (0.545_508_051_442, "I1"),
        (0.707_932_699_996, "I2"),
        (1.284_726_645_955, "I1"),
        (2.097_739_454_881, "I2"),
        (2.131_640_284_304, "I1"),
    ];
    let runs = halved(|| pendulum(true), Trapezoidal::default(), 5..=9, 2.5);
    Expected { late: 4.0, ..Expected::of(&end, &sequence, &[5.57e-4, 1.39e-4, 3.44e-5, 8.68e-6]) }
        .check("pendulum at a wall", &runs);
    for (_, outcome) in &runs {
        assert!(outcome.gains()[0] < 1e-12, "{:?}", outcome.gains());
        assert!(outcome.gains()[1] < 0.0, "impacts lose energy");
    }
}

/// Between events friction only takes energy. Projections at events add O(h²).
#[test]
fn links_gain_energy_at_events_only() {
    let moving = Linkage { spin: 1.0, ..DRAG };
    let runs = halved(|| moving.model(|_| Vector2::zeros()), Trapezoidal::default(), 5..=7, 4.0);
    for (h, outcome) in &runs {
        println!("{h} {:?} {:?}", outcome.gains(), outcome.sequence());
        assert!(outcome.gains()[0] < 1e-12, "{:?}", outcome.gains());
        assert!(outcome.gains()[1] < 3.0 * h * h, "{:?}", outcome.gains());
    }
}

fn strays(outcome: &RunOutcome) -> f64 {
    outcome.energies.iter().map(|e| (e.0 - outcome.start).abs()).fold(0.0, f64::max)
}

#[test]
fn a_free_double_pendulum_keeps_its_energy() {
    for (h, outcome) in halved(|| pendulum(false), Trapezoidal::default(), 5..=6, 100.0) {
        assert!(strays(&outcome) < 1e-11, "{h}: {:e}", strays(&outcome));
    }
    // control: a stabilization term in the joint rows gains energy
    let pulled = Trapezoidal { stabilization: 2.0, ..Trapezoidal::default() };
    let outcome = &halved(|| pendulum(false), pulled, 5..=5, 100.0)[0].1;
    let gain = outcome.energies[outcome.energies.len() - 1].0 - outcome.start;
    assert!(gain > 1.0, "{gain}");
}
