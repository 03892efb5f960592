//! Force sets of statics: least-norm forces and intervals of all forces that hold the same bodies at rest, against
//! numbers of an independent computation. Impulses are forces × 1 s.

use stiction_lcp::impulse_set::{HeldMode, ImpulseInterval, ImpulseSet};
use stiction_lcp::{Body, Contact, FrictionSet, OffsetRow, Row, Solver, StepProblem, Workspace};

const G: f64 = 9.81;

/// Body in the plane.
struct Planar {
    centre: [f64; 2],
    mass: f64,
}

/// Statics of bodies in the plane; contacts join two of them, or one and the ground.
struct Statics {
    step: StepProblem,
    centres: Vec<[f64; 2]>,
}

impl Statics {
    fn of(bodies: &[Planar]) -> Self {
        let mut step = StepProblem::default();
        for Planar { mass, .. } in bodies {
            let inertia = 0.1 * mass;
            let matrix = [*mass, 0.0, 0.0, 0.0, *mass, 0.0, 0.0, 0.0, inertia];
            step.bodies.push(Body::new(3, &matrix, &[0.0, -G * mass, 0.0]));
        }
        step.speed_scale = G;
        Self { step, centres: bodies.iter().map(|body| body.centre).collect() }
    }

    /// Speed of a point of a body along a direction, as coefficients of its velocities.
    fn along(&self, body: usize, point: [f64; 2], direction: [f64; 2]) -> [f64; 3] {
        let r = [point[0] - self.centres[body][0], point[1] - self.centres[body][1]];
        [direction[0], direction[1], r[0] * direction[1] - r[1] * direction[0]]
    }

    /// Adds a contact at a point, with its normal towards `body` from `other`, or from the ground.
    fn touch(&mut self, body: usize, other: Option<usize>, point: [f64; 2], normal: [f64; 2], mu: f64) {
        let row = |direction: [f64; 2]| {
            let own = self.along(body, point, direction);
            let row = match other {
                None => Row::one(body, &own),
                Some(other) => {
                    let opposite = self.along(other, point, direction).map(|x| -x);
                    Row::two(other, &opposite, body, &own)
                }
            };
            OffsetRow { row, offset: 0.0 }
        };
        let (normal, tangent) = (row(normal), row([-normal[1], normal[0]]));
        self.step.contacts.push(frictional(normal, [tangent], FrictionSet::line(), mu));
    }
}

fn frictional<const N: usize>(
    normal: OffsetRow,
    tangents: [OffsetRow; N],
    set: FrictionSet,
    mu: f64,
) -> Contact {
    Contact {
        normal: Some(normal),
        tangents: tangents.into_iter().collect(),
        set,
        mu,
        kappa: 0.0,
        bound_by: None,
    }
}

/// Force of a contact: least-norm normal and tangential forces with their intervals.
struct Found {
    normal: f64,
    tangent: [f64; 2],
    interval: ImpulseInterval,
    tangential: [ImpulseInterval; 2],
    determined: bool,
}

/// Forces of all contacts, from one solution of the problem.
fn forces(step: &StepProblem) -> Vec<Found> {
    let solution =
        Workspace::default().solve(step, &Solver::default(), None).unwrap_or_else(|e| panic!("{e}"));
    forces_like(step, solution.z())
}

/// Forces of all contacts, from some that hold the bodies at rest.
fn forces_like(step: &StepProblem, z: &[f64]) -> Vec<Found> {
    let modes = vec![HeldMode::Stick; step.contacts.len()];
    let set = ImpulseSet { step, z, modes: &modes };
    let (unique, intervals) = (set.unique().unwrap(), set.intervals().unwrap());
    let layout = step.layout();
    let contact = |i: usize| {
        let contact = &step.contacts[i];
        let own = &unique.z[layout.contact[i]..layout.contact[i + 1]];
        let bounds = intervals.contacts[i].expect("an interval");
        let [x, y, _] = contact.tangent_impulse(&own[1..]);
        Found {
            normal: own[0],
            tangent: [x, y],
            interval: bounds.normal,
            tangential: [bounds.tangents[0], bounds.tangents[1]],
            determined: unique.contacts[i],
        }
    };
    (0..step.contacts.len()).map(contact).collect()
}

#[track_caller]
fn assert_near(found: f64, expected: f64, tolerance: f64) {
    assert!(found == expected || (found - expected).abs() <= tolerance, "{found} instead of {expected}");
}

#[track_caller]
fn assert_interval(found: ImpulseInterval, [least, greatest]: [f64; 2], tolerance: f64) {
    assert_near(found.least, least, tolerance);
    assert_near(found.greatest, greatest, tolerance);
}

/// Box in space on the ground: four corners with circular friction, in the order (+, +), (−, +), (−, −), (+, −).
fn boxed(weight: [f64; 3], centre: [f64; 2], [a, b, c]: [f64; 3], mu: f64) -> StepProblem {
    let mut step = StepProblem { speed_scale: G, ..StepProblem::default() };
    let mut mass = [0.0; 36];
    (0..6).for_each(|i| mass[7 * i] = 1.0);
    step.bodies.push(Body::new(6, &mass, &[weight[0], weight[1], weight[2], 0.0, 0.0, 0.0]));
    let row = |j: &[f64]| OffsetRow { row: Row::one(0, j), offset: 0.0 };
    for [x, y] in [[a, b], [-a, b], [-a, -b], [a, -b]] {
        let [x, y] = [x - centre[0], y - centre[1]];
        let tangents = [row(&[1.0, 0.0, 0.0, 0.0, -c, -y]), row(&[0.0, 1.0, 0.0, c, 0.0, x])];
        let normal = row(&[0.0, 0.0, 1.0, y, -x, 0.0]);
        step.contacts.push(frictional(normal, tangents, FrictionSet::circle(), mu));
    }
    step
}

#[test]
fn tables_share_their_weight() {
    for (centre, expected) in [
        ([0.0, 0.0], [(9.81, [0.0, 19.62]); 4]),
        (
            [0.5, 0.2],
            [
                (16.677, [13.734, 23.544]),
                (6.867, [0.0, 9.81]),
                (2.943, [0.0, 9.81]),
                (12.753, [5.886, 15.696]),
            ],
        ),
    ] {
        let found = forces(&boxed([0.0, 0.0, -39.24], centre, [1.0, 1.0, 0.1], 0.5));
        for (found, (normal, interval)) in found.iter().zip(expected) {
            assert_near(found.normal, normal, 1e-9);
            assert_interval(found.interval, interval, 1e-6);
            assert!(found.tangent.iter().all(|t| t.abs() < 1e-9) && !found.determined);
        }
    }
}

#[test]
fn a_level_box_may_be_wedged_by_its_own_friction() {
    for found in forces(&boxed([0.0, 0.0, -G], [0.0; 2], [0.3, 0.2, 0.1], 0.5)) {
        assert_near(found.normal, 2.4525, 1e-9);
        assert!(found.tangent.iter().all(|t| t.abs() < 1e-9));
        assert_interval(found.interval, [0.0, 4.905], 1e-6);
        // across, along the short side
        assert_interval(found.tangential[1], [-1.6172, 1.6172], 5e-5);
    }
}

#[test]
fn a_box_on_an_incline_leans_on_its_low_corners() {
    let angle = 0.45_f64.atan();
    let found = forces(&boxed([G * angle.sin(), 0.0, -G * angle.cos()], [0.0; 2], [0.3, 0.2, 0.1], 0.5));
    for (k, found) in found.iter().enumerate() {
        let is_low = k == 0 || k == 3;
        assert_near(found.normal, if is_low { 2.571_961 } else { 1.901_014 }, 1e-6);
        let interval = if is_low { [0.670_946, 4.472_975] } else { [0.0, 3.802_029] };
        assert_interval(found.interval, interval, 1e-5);
    }
}

#[test]
fn a_ladder_presses_the_wall_by_an_interval_of_forces() {
    let angle = 65_f64.to_radians();
    let [x, y] = [4.0 * angle.cos(), 4.0 * angle.sin()];
    let mut ladder = Statics::of(&[Planar { centre: [-0.5 * x, 0.5 * y], mass: 10.0 }]);
    ladder.touch(0, None, [-x, 0.0], [0.0, 1.0], 0.5);
    // the tangent of the wall points down
    ladder.touch(0, None, [0.0, y], [-1.0, 0.0], 0.3);
    let found = forces(&ladder.step);
    assert_near(found[0].normal, 92.080_38, 1e-5);
    assert_interval(found[0].interval, [92.080_38, 106.077_74], 1e-5);
    assert_near(found[1].normal, 20.065_40, 1e-5);
    assert_interval(found[1].interval, [20.065_40, 26.592_47], 1e-5);
    assert_near(found[1].tangent[0], -6.019_62, 1e-5);
    assert_interval(found[1].tangential[0], [-6.019_62, 7.977_74], 1e-5);
}

/// Row of a body that moves along x alone.
fn sliding(direction: f64) -> OffsetRow {
    OffsetRow { row: Row::one(0, &[direction]), offset: 0.0 }
}

#[test]
fn a_jaw_that_is_free_has_unique_normal_forces_and_a_guided_one_none() {
    let mut free = StepProblem { speed_scale: 138.0, ..StepProblem::default() };
    free.bodies.push(Body::new(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.01], &[-138.0, 0.0, 0.0]));
    let mut guided = StepProblem { speed_scale: 138.0, ..StepProblem::default() };
    guided.bodies.push(Body::new(1, &[1.0], &[-138.0]));
    for y in [0.1, -0.1] {
        let row = |j: &[f64]| OffsetRow { row: Row::one(0, j), offset: 0.0 };
        let (normal, tangent) = (row(&[1.0, 0.0, -y]), row(&[0.0, 1.0, -0.05]));
        free.contacts.push(frictional(normal, [tangent], FrictionSet::line(), 0.3));
        guided.contacts.push(frictional(sliding(1.0), [sliding(0.0)], FrictionSet::line(), 0.5));
    }
    for (step, normal, tangent) in [(free, [69.0, 69.0], 20.7), (guided, [0.0, 138.0], 69.0)] {
        for found in forces(&step) {
            assert_near(found.normal, 69.0, 1e-9);
            assert!(found.tangent[0].abs() < 1e-9 && !found.determined);
            assert_interval(found.interval, normal, 1e-6);
            assert_interval(found.tangential[0], [-tangent, tangent], 1e-6);
        }
    }
}

#[test]
fn a_grasp_of_fixed_jaws_is_locked() {
    let mut grasp = Statics::of(&[Planar { centre: [0.0, 0.0], mass: 1.0 }]);
    grasp.touch(0, None, [-0.05, 0.0], [1.0, 0.0], 0.5);
    grasp.touch(0, None, [0.05, 0.0], [-1.0, 0.0], 0.5);
    // it may also fall: held by 30 N, with half of the weight as friction of each, along the tangents of both
    let layout = grasp.step.layout();
    let mut z = vec![0.0; layout.impulses];
    for (i, friction) in [(0, 4.905), (1, -4.905)] {
        z[layout.contact[i]] = 30.0;
        let own = layout.contact[i] + 1..layout.contact[i + 1];
        grasp.step.contacts[i].friction_unknowns([friction, 0.0, 0.0], &mut z[own]);
    }
    for found in forces_like(&grasp.step, &z) {
        assert_near(found.normal, 9.81, 1e-6);
        assert_interval(found.interval, [9.81, f64::INFINITY], 1e-6);
    }
}

#[test]
fn pads_of_a_grasp_share_its_force() {
    let mut step = StepProblem { speed_scale: 20.0, ..StepProblem::default() };
    step.bodies.push(Body::new(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.01], &[0.0, -G, 0.0]));
    for side in [-1.0, 1.0] {
        step.bodies.push(Body::new(1, &[1.0], &[-side * 20.0]));
        let jaw = step.bodies.len() - 1;
        for y in [0.1, -0.1] {
            let x = 0.05 * side;
            let normal = Row::two(0, &[-side, 0.0, side * y], jaw, &[side]);
            let tangent = Row::one(0, &[0.0, 1.0, x]);
            let [normal, tangent] = [normal, tangent].map(|row| OffsetRow { row, offset: 0.0 });
            step.contacts.push(frictional(normal, [tangent], FrictionSet::line(), 0.5));
        }
    }
    for found in forces(&step) {
        assert_near(found.normal, 10.0, 1e-9);
        assert_near(found.tangent[0], G / 4.0, 1e-9);
        // the moment of the weight of the body is shared by friction, so that one pad may carry all of its jaw
        assert_interval(found.interval, [0.0, 20.0], 1e-6);
    }
}

/// Seven stones of 2000 kg/m³ between the radii 1 m and 1.3 m, whose faces are chords.
#[test]
fn an_arch_stands_by_many_forces() {
    let turn = std::f64::consts::PI / 7.0;
    let corner = |k: usize, radius: f64| {
        let angle = turn * k as f64;
        [radius * angle.cos(), radius * angle.sin()]
    };
    let mut stones = Vec::new();
    for k in 0..7 {
        let corners = [corner(k, 1.0), corner(k, 1.3), corner(k + 1, 1.3), corner(k + 1, 1.0)];
        let (mut area, mut centre) = (0.0, [0.0; 2]);
        for i in 0..4 {
            let (p, q) = (corners[i], corners[(i + 1) % 4]);
            let cross = p[0] * q[1] - p[1] * q[0];
            area += 0.5 * cross;
            (0..2).for_each(|c| centre[c] += cross * (p[c] + q[c]) / 6.0);
        }
        stones.push(Planar { centre: centre.map(|x| x / area), mass: 2000.0 * area });
    }
    let mut arch = Statics::of(&stones);
    for k in 0..8 {
        let angle = turn * k as f64;
        let normal = [-angle.sin(), angle.cos()];
        for radius in [1.0, 1.3] {
            match k {
                0 => arch.touch(0, None, corner(0, radius), normal, 0.7),
                7 => arch.touch(6, None, corner(7, radius), normal.map(|x| -x), 0.7),
                _ => arch.touch(k, Some(k - 1), corner(k, radius), normal, 0.7),
            }
        }
    }
    let found = forces(&arch.step);
    // the last face is where the first is, mirrored, and the crown stone is between the third and the fourth
    for (k, [inside, outside]) in [(0, [0, 1]), (3, [6, 7]), (4, [8, 9]), (7, [14, 15])] {
        let at_foot = k % 7 == 0;
        let [a, b] = if at_foot { [4841.729, 5437.476] } else { [53.580, 3540.515] };
        assert_near(found[inside].normal, a, 1e-3);
        assert_near(found[outside].normal, b, 1e-3);
        let [a, b] = if at_foot {
            [[0.0, 7975.338], [2303.867, 10_279.205]]
        } else {
            [[0.0, 6108.768], [0.0, 4699.052]]
        };
        assert_interval(found[inside].interval, a, 2e-3);
        assert_interval(found[outside].interval, b, 2e-3);
    }
}

/// Cards of 100 mm and 2 g at 70°, without thickness: feet of each pair, then its apex.
fn lean(pairs: &[f64], across: bool) -> StepProblem {
    let angle = 70_f64.to_radians();
    let [x, y] = [0.1 * angle.cos(), 0.1 * angle.sin()];
    let mut cards = Vec::new();
    for at in pairs {
        cards.push(Planar { centre: [at - 0.5 * x, 0.5 * y], mass: 0.002 });
        cards.push(Planar { centre: [at + 0.5 * x, 0.5 * y], mass: 0.002 });
    }
    if across {
        cards.push(Planar { centre: [0.0, y], mass: 0.002 });
    }
    let mut house = Statics::of(&cards);
    for (k, at) in pairs.iter().enumerate() {
        let [left, right] = [2 * k, 2 * k + 1];
        house.touch(left, None, [at - x, 0.0], [0.0, 1.0], 0.5);
        house.touch(right, None, [at + x, 0.0], [0.0, 1.0], 0.5);
        house.touch(right, Some(left), [*at, y], [1.0, 0.0], 0.5);
        if across {
            house.touch(2 * pairs.len(), Some(left), [*at, y], [0.0, 1.0], 0.5);
            house.touch(2 * pairs.len(), Some(right), [*at, y], [0.0, 1.0], 0.5);
        }
    }
    house.step
}

#[test]
fn two_cards_have_determined_forces() {
    let found = forces(&lean(&[0.0], false));
    for foot in &found[..2] {
        assert_near(foot.normal, 0.019_62, 1e-9);
        assert_near(foot.tangent[0].abs(), 0.003_57, 1e-5);
        assert!(foot.determined && foot.interval.least == foot.interval.greatest, "must not warn");
    }
}

#[test]
fn a_house_of_five_cards_has_an_interval() {
    let found = forces(&lean(&[-0.035, 0.035], true));
    for k in [0, 1, 5, 6] {
        assert_near(found[k].normal, 0.024_52, 1e-5);
        assert_interval(found[k].interval, [0.018_11, 0.030_94], 1e-5);
    }
}
