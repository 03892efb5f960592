//! Intervals of impulses: beams, tables and wedges by hand, round cones by a fine polygon, locked bodies.

use stiction_lcp::impulse_set::{HeldMode, ImpulseInterval, ImpulseSet};
use stiction_lcp::{Body, Contact, FrictionSet, Joint, OffsetRow, Row, StepProblem};

fn row(j: &[f64]) -> OffsetRow {
    OffsetRow { row: Row::one(0, j), offset: 0.0 }
}

fn assert_interval(found: ImpulseInterval, [least, greatest]: [f64; 2]) {
    // programs are solved to 1e-8 of the impulses
    let near = |a: f64, b: f64| a == b || (a - b).abs() < 1e-7 * (1.0 + b.abs());
    assert!(near(found.least, least) && near(found.greatest, greatest), "{found:?} [{least}, {greatest}]");
}

/// Corners of a box of half extents a, b, c that rests on the ground: momentum and contacts with friction `set`.
fn box_on_ground([a, b, c]: [f64; 3], mu: f64, set: &FrictionSet) -> StepProblem {
    let mut step = StepProblem::default();
    let mut mass = [0.0; 36];
    (0..6).for_each(|i| mass[7 * i] = 1.0);
    step.bodies.push(Body::new(6, &mass, &[0.0, 0.0, -9.81, 0.0, 0.0, 0.0]));
    for [x, y] in [[a, b], [-a, b], [-a, -b], [a, -b]] {
        let tangents = [row(&[1.0, 0.0, 0.0, 0.0, -c, -y]), row(&[0.0, 1.0, 0.0, c, 0.0, x])];
        step.contacts.push(Contact {
            normal: Some(row(&[0.0, 0.0, 1.0, y, -x, 0.0])),
            tangents: tangents.into_iter().collect(),
            set: set.clone(),
            mu,
            kappa: 0.0,
            bound_by: None,
        });
    }
    step
}

fn even(step: &StepProblem) -> Vec<f64> {
    let mut z = vec![0.0; step.layout().impulses];
    let layout = step.layout();
    (0..4).for_each(|i| z[layout.contact[i]] = 9.81 / 4.0);
    z
}

/// A round cone lies between its inner and outer polygons of 64 sides.
#[test]
fn round_cones_lie_between_their_polygons() {
    let size = [0.3, 0.2, 0.1];
    let bounds = |set: &FrictionSet, mu: f64| {
        let step = box_on_ground(size, mu, set);
        let set = ImpulseSet { step: &step, z: &even(&step), modes: &[HeldMode::Stick; 4] };
        set.intervals().unwrap().contacts[0].unwrap()
    };
    let polygon = FrictionSet::regular(64).unwrap();
    let round = bounds(&FrictionSet::circle(), 0.5);
    let inner = bounds(&polygon, 0.5);
    let outer = bounds(&polygon, 0.5 / (std::f64::consts::PI / 64.0).cos());
    assert_interval(round.normal, [0.0, 4.905]);
    for k in 0..2 {
        let (round, inner, outer) = (round.tangents[k], inner.tangents[k], outer.tangents[k]);
        assert!(
            inner.greatest < round.greatest && round.greatest < outer.greatest,
            "{inner:?} {round:?} {outer:?}"
        );
        assert!((round.least + round.greatest).abs() < 1e-6, "{round:?} is symmetric");
    }
    // along the short side
    assert!((round.tangents[1].greatest - 1.6172).abs() < 5e-5, "{:?}", round.tangents[1]);
}

/// A wedge between two walls that lean outwards by less than the angle of friction is locked, otherwise not.
#[test]
fn a_wedge_is_locked_within_the_angle_of_friction() {
    let wedge = |angle: f64| {
        let mut step = StepProblem::default();
        step.bodies.push(Body::new(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, -9.81]));
        let (sin, cos) = angle.sin_cos();
        for side in [1.0, -1.0] {
            step.contacts.push(Contact {
                normal: Some(row(&[side * cos, sin])),
                tangents: [row(&[-side * sin, cos])].into_iter().collect(),
                set: FrictionSet::line(),
                mu: 0.5,
                kappa: 0.0,
                bound_by: None,
            });
        }
        // N sin + T cos = W/2 on each side; friction of a line is in two parts, along the row and against it
        let z = if angle > 0.0 {
            let normal = 9.81 / 2.0 / angle.sin();
            [normal, 0.0, 0.0, normal, 0.0, 0.0]
        } else {
            [9.81, 9.81 / 2.0, 0.0, 9.81, 9.81 / 2.0, 0.0]
        };
        let set = ImpulseSet { step: &step, z: &z, modes: &[HeldMode::Stick; 2] };
        set.intervals().unwrap().contacts[1].unwrap()
    };
    // parallel jaws hold W by friction of any two sizes that sum to it, each at most μ N
    let parallel = wedge(0.0);
    assert_interval(parallel.normal, [9.81, f64::INFINITY]);
    assert_interval(parallel.tangents[0], [f64::NEG_INFINITY, f64::INFINITY]);
    // steeper than the angle of friction φ: the other side carries as much as it can, or both are pushed down. Forces
    // are a along the normal of the wall's foot and b up, with tan(θ − φ) ≤ b/a ≤ tan(θ + φ)
    let angle = 0.6_f64;
    let (low, high) = ((angle - 0.5_f64.atan()).tan(), (angle + 0.5_f64.atan()).tan());
    let least = 9.81 / (low + high) * (angle.cos() + low * angle.sin());
    let end = |mu: f64| 9.81 / 2.0 / (angle.sin() + mu * angle.cos());
    assert_interval(wedge(angle).normal, [least, end(-0.5)]);
    assert_interval(wedge(0.4).normal, [9.81 / 2.0 / (0.4_f64.sin() + 0.5 * 0.4_f64.cos()), f64::INFINITY]);
}

/// Friction of a slip is tied to the normal impulse, a force-limited drive is bounded by its force, joints of the same
/// row take any share, and a compliant one has its own.
#[test]
fn slips_drives_and_joints_have_their_intervals() {
    let mut step = StepProblem::default();
    step.bodies.push(Body::new(2, &[1.0, 0.0, 0.0, 1.0], &[4.0, -10.0]));
    let contact = |normal: Option<OffsetRow>, tangent: OffsetRow, mu: f64, kappa: f64| Contact {
        normal,
        tangents: [tangent].into_iter().collect(),
        set: FrictionSet::line(),
        mu,
        kappa,
        bound_by: None,
    };
    let (along, up) = (row(&[1.0, 0.0]), row(&[0.0, 1.0]));
    step.contacts.push(contact(Some(up.clone()), along.clone(), 0.2, 0.0));
    step.contacts.push(contact(Some(up.clone()), along.clone(), 0.2, 0.0));
    step.joints.push(Joint { row: up.clone(), compliance: 1.0 });
    // 6 N s by the contacts, whose friction of 0.2 × 6 is against the slip
    let layout = step.layout();
    let mut full = vec![0.0; layout.impulses];
    full[0] = 4.0;
    for c in 0..2 {
        full[layout.contact[c]] = 3.0;
        let own = layout.contact[c] + 1..layout.contact[c + 1];
        step.contacts[c].friction_unknowns([-0.6, 0.0, 0.0], &mut full[own]);
    }
    let slip = HeldMode::Slip([-1.0, 0.0, 0.0]);
    let found = ImpulseSet { step: &step, z: &full, modes: &[slip; 2] }.intervals().unwrap();
    let own = found.contacts[0].unwrap();
    assert_interval(own.normal, [0.0, 6.0]);
    assert_interval(own.tangents[0], [-1.2, 0.0]);
    assert_interval(found.joints[0].unwrap(), [4.0, 4.0]);
    let unique = ImpulseSet { step: &step, z: &full, modes: &[slip; 2] }.unique().unwrap();
    assert_eq!((unique.contacts, unique.joints), (vec![false; 2], vec![true]));

    // a drive of at most 3 N s beside a rigid joint along x, and a twin of that joint
    step.contacts.clear();
    step.contacts.push(contact(None, along.clone(), 0.0, 3.0));
    step.joints = vec![Joint { row: along.clone(), compliance: 0.0 }; 2];
    let layout = step.layout();
    let mut z = vec![0.0; layout.impulses];
    (z[0], z[1]) = (-4.0, 0.0);
    let set = ImpulseSet { step: &step, z: &z, modes: &[HeldMode::Stick] };
    let found = set.intervals().unwrap();
    assert_interval(found.contacts[0].unwrap().tangents[0], [-3.0, 3.0]);
    assert_interval(found.joints[0].unwrap(), [f64::NEG_INFINITY, f64::INFINITY]);
    // least norm: a third each
    let unique = set.unique().unwrap();
    for z in &unique.z[..2] {
        assert!((z + 4.0 / 3.0).abs() < 1e-9, "{:?}", unique.z);
    }
}

#[test]
fn malformed_sets_are_refused_by_name() {
    let step = box_on_ground([1.0; 3], 0.5, &FrictionSet::circle());
    let refused = |z: &[f64], modes: &[HeldMode]| {
        ImpulseSet { step: &step, z, modes }.intervals().unwrap_err().to_string()
    };
    let z = even(&step);
    assert_eq!(refused(&z[1..], &[HeldMode::Stick; 4]), "z: 11 numbers, for 12 impulses");
    assert_eq!(refused(&z, &[HeldMode::Stick; 3]), "modes: 3 modes, for 4 contacts");
    assert_eq!(refused(&[f64::NAN; 12], &[HeldMode::Stick; 4]), "z[0]: not a finite number");
}

/// Every member of a set gives the same intervals, up to the accuracy of the programs.
#[test]
fn all_members_have_the_same_intervals() {
    for size in [[0.3, 0.2, 0.1], [1.0, 1.0, 0.1], [1.0, 1.0, 1.0]] {
        let step = box_on_ground(size, 0.5, &FrictionSet::circle());
        let mut z = even(&step);
        let bounds = |z: &[f64]| {
            ImpulseSet { step: &step, z, modes: &[HeldMode::Stick; 4] }.intervals().unwrap().contacts
        };
        let expected = bounds(&z);
        // diagonal corners carry more, and push each other outwards
        let [along, across] = [0.3 * size[0], 0.3 * size[1]];
        for (k, sign) in [(0, 1.0), (2, -1.0)] {
            z[3 * k] += 1.0;
            z[3 * (k + 1)] -= 1.0;
            (z[3 * k + 1], z[3 * k + 2]) = (sign * along, sign * across);
        }
        for (found, expected) in bounds(&z).iter().zip(&expected) {
            let (found, expected) = (found.unwrap(), expected.unwrap());
            assert_interval(found.normal, [expected.normal.least, expected.normal.greatest]);
            for (found, expected) in found.tangents.iter().zip(&expected.tangents) {
                assert_interval(*found, [expected.least, expected.greatest]);
            }
        }
    }
}

/// Table whose centre of mass is off its middle: faces on which the objective is constant made pivots cycle.
#[test]
fn a_table_off_its_centre_has_intervals() {
    for [cx, cy] in [[0.5, 0.2], [0.0, 0.0], [0.3, 0.3], [0.9, 0.0], [-0.7, 0.5]] {
        let mut step = StepProblem::default();
        let mut mass = [0.0; 36];
        let inertia = [4.0, 4.0, 4.0, 4.04 / 3.0, 4.04 / 3.0, 8.0 / 3.0];
        inertia.into_iter().enumerate().for_each(|(i, m)| mass[7 * i] = m);
        step.bodies.push(Body::new(6, &mass, &[0.0, 0.0, -4.0, 0.0, 0.0, 0.0]));
        let mut z = Vec::new();
        for [x, y] in [[-1.0, -1.0], [1.0, -1.0], [-1.0, 1.0], [1.0, 1.0]] {
            z.extend([1.0 + x * cx + y * cy, 0.0, 0.0]);
            let (x, y): (f64, f64) = (x - cx, y - cy);
            let tangents = [row(&[1.0, 0.0, 0.0, 0.0, -0.1, -y]), row(&[0.0, 1.0, 0.0, 0.1, 0.0, x])];
            step.contacts.push(Contact {
                normal: Some(row(&[0.0, 0.0, 1.0, y, -x, 0.0])),
                tangents: tangents.into_iter().collect(),
                set: FrictionSet::circle(),
                mu: 0.5,
                kappa: 0.0,
                bound_by: None,
            });
        }
        if z.iter().any(|z| *z < 0.0) {
            continue;
        }
        let set = ImpulseSet { step: &step, z: &z, modes: &[HeldMode::Stick; 4] };
        let found = set.intervals().unwrap();
        // forces that change nothing are ±(1, −1, −1, 1): each may fall or grow until one of the others is zero
        let fall = z[0].min(z[9]);
        let grow = z[3].min(z[6]);
        for (k, own) in found.contacts.iter().enumerate() {
            let (down, up) = if k == 0 || k == 3 { (fall, grow) } else { (grow, fall) };
            assert_interval(own.expect("an interval").normal, [z[3 * k] - down, z[3 * k] + up]);
        }
    }
}
