//! Unique impulses: of least norm among all that cause the motion, certified, and the same as by a dense computation.

use nalgebra::{DMatrix, DVector};
use stiction_lcp::least_norm::{ForceCone, least_norm};
use stiction_lcp::{
    Body, Candidate, Contact, FrictionSet, Joint, OffsetRow, Row, Solver, StepProblem, Unique, Workspace,
    certify, solve,
};
use stiction_problems::ensemble::{Arrangement, Heap};

const G: f64 = 9.81;

/// Table of 4 kg on four legs at these points, pushed by the impulse of one second of gravity along −z and of `side`
/// along x.
fn table(points: &[[f64; 2]], mu: f64, side: f64) -> StepProblem {
    let mut step = StepProblem { speed_scale: G, ..StepProblem::default() };
    let mass = DMatrix::from_diagonal(&DVector::from_vec(vec![4.0, 4.0, 4.0, 1.0, 1.0, 1.0]));
    step.bodies.push(Body::new(6, mass.as_slice(), &[side, 0.0, -4.0 * G, 0.0, 0.0, 0.0]));
    let row = |j: [f64; 6]| OffsetRow { row: Row::one(0, &j), offset: 0.0 };
    for &[x, y] in points {
        let z = -0.5;
        let (n, t1, t2) = (
            row([0.0, 0.0, 1.0, y, -x, 0.0]),
            row([1.0, 0.0, 0.0, 0.0, z, -y]),
            row([0.0, 1.0, 0.0, -z, 0.0, x]),
        );
        step.contacts.push(Contact {
            normal: Some(n),
            tangents: [t1, t2].into_iter().collect(),
            set: FrictionSet::circle(),
            mu,
            kappa: 0.0,
            bound_by: None,
        });
    }
    step
}

const SQUARE: [[f64; 2]; 4] = [[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]];

fn unique(step: &StepProblem) -> (Candidate, Vec<bool>, Vec<bool>) {
    let mut workspace = Workspace::default();
    let found = workspace.solve_unique(step, &Solver::default(), None, &Unique::default()).unwrap();
    let solution = workspace.unique().cloned().unwrap_or_else(|| found.into_candidate());
    let (contacts, joints) = workspace.determined();
    let (contacts, joints) = (contacts.to_vec(), joints.to_vec());
    (solution, contacts, joints)
}

#[test]
fn a_table_stands_on_equal_legs_that_nothing_pulls() {
    let (solution, determined, _) = unique(&table(&SQUARE, 0.5, 0.0));
    for z in solution.z.chunks(3) {
        assert!((z[0] - G).abs() < 1e-12 && z[1].abs().max(z[2].abs()) < 1e-12, "{z:?}");
    }
    assert_eq!(determined, [false; 4]);
    let three = [[1.0, 0.0], [-0.5, 0.8], [-0.5, -0.8]];
    // three legs: the normals are determined, friction is not
    let (_, determined, _) = unique(&table(&three, 0.5, 0.0));
    assert_eq!(determined, [false; 3]);
    let (_, determined, _) = unique(&table(&three, 0.0, 0.0));
    assert_eq!(determined, [true; 3]);
    let (_, determined, _) = unique(&table(&[[0.0, 0.0]], 0.5, 0.0));
    assert_eq!(determined, [true]);
}

/// Contacts that slip have friction along the slip, in proportion to a normal impulse that leans forward.
#[test]
fn legs_that_slip_share_their_friction() {
    let mu = 0.2;
    let step = table(&SQUARE, mu, 20.0);
    let (solution, ..) = unique(&step);
    assert!(solution.velocity[0] > 1.0, "{:?}", solution.velocity);
    let moment = mu * 4.0 * G * 0.5;
    for (z, [x, _]) in solution.z.chunks(3).zip(SQUARE) {
        assert!((z[1] + mu * z[0]).abs() < 1e-12 && z[2].abs() < 1e-12);
        assert!((z[0] - (G + moment / 4.0 * x)).abs() < 1e-11, "{z:?}");
    }
}

/// E z = p of a whole problem as a dense matrix, for contacts that all stick.
fn dense(step: &StepProblem, z: &[f64]) -> Vec<f64> {
    let layout = step.layout();
    let mut columns: Vec<Vec<f64>> = Vec::new();
    let mut cones = Vec::new();
    let mut column = |row: &OffsetRow, sign: f64| {
        let mut column = vec![0.0; layout.velocities()];
        row.row.add_transposed(&layout.velocity, sign, &mut column);
        columns.push(column);
    };
    for joint in &step.joints {
        column(&joint.row, 1.0);
        cones.push(ForceCone::Free);
    }
    for contact in &step.contacts {
        contact.rows().for_each(|row| column(row, 1.0));
        cones.push(match contact.tangents.len() {
            0 => ForceCone::NonNegative,
            tangents => ForceCone::Friction { mu: contact.mu, tangents },
        });
    }
    let e = DMatrix::from_fn(layout.velocities(), columns.len(), |i, k| columns[k][i]);
    let p = &e * DVector::from_column_slice(z);
    least_norm(&e, &p, &cones).unwrap().z
}

#[test]
fn sparse_and_dense_impulses_agree() {
    let mut compared = 0;
    for arrangement in [Arrangement::Tower(4), Arrangement::Wall(3, 3)] {
        for mu in [0.3, 0.8] {
            for seed in 0..4 {
                // at rest: all contacts stick
                let heap = Heap { arrangement, mu, speed: 0.0, mass_ratio: 1.0, seed };
                let step = heap.sample();
                let (solution, ..) = unique(&step);
                let all_stick = certify(&step, &solution.z).unwrap().velocity.iter().all(|v| v.abs() < 1e-9);
                if !all_stick {
                    continue;
                }
                compared += 1;
                let expected = dense(&step, &solution.z);
                let size = expected.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
                for (z, expected) in solution.z.iter().zip(&expected) {
                    assert!(
                        (z - expected).abs() < 1e-9 * size,
                        "{arrangement:?} {mu} {seed}: {z} {expected}"
                    );
                }
            }
        }
    }
    assert!(compared >= 8, "{compared}");
}

/// The motion is that of the solver, and no impulses that cause it are smaller than the unique ones.
#[test]
fn heaps_have_unique_impulses_of_the_same_motion() {
    let arrangements =
        [Arrangement::Tower(8), Arrangement::Wall(5, 5), Arrangement::Pile(2), Arrangement::Jointed(8)];
    for arrangement in arrangements {
        for speed in [0.0, 0.1] {
            for seed in 0..6 {
                let step = Heap { arrangement, mu: 0.4, speed, mass_ratio: 1.0, seed }.sample();
                let plain = solve(&step, &Solver::default(), None).unwrap();
                let (solution, ..) = unique(&step);
                assert!(solution.certificate.passes(1e-8));
                let norm = |z: &[f64]| z.iter().map(|z| z * z).sum::<f64>();
                let (own, other) = (norm(&solution.z), norm(plain.z()));
                assert!(own <= other * (1.0 + 1e-9), "{arrangement:?} {seed}: {own} {other}");
                let v = solution.velocity.iter().zip(plain.velocity());
                let apart = v.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
                assert!(apart <= 1e-7 * plain.certificate().speed, "{arrangement:?} {seed}: {apart:e}");
                // made unique again, nothing changes
                let mut workspace = Workspace::default();
                let held = workspace.unique_from(&step, 1e-8, &solution.z, &Unique::default()).unwrap();
                let again = workspace.unique().map_or(held.z(), |again| &again.z);
                let size = solution.z.iter().fold(0.0, |m: f64, z| m.max(z.abs()));
                for (z, again) in solution.z.iter().zip(again) {
                    assert!((z - again).abs() < 1e-8 * size, "{arrangement:?} {seed}: {z} {again}");
                }
            }
        }
    }
}

/// Two equal joints share a load, a joint beside a contact is determined as far as their rows are independent.
#[test]
fn joints_share_too() {
    let mut step = StepProblem::default();
    step.bodies.push(Body::new(1, &[2.0], &[-6.0]));
    let joint = || Joint { row: OffsetRow { row: Row::one(0, &[1.0]), offset: 0.0 }, compliance: 0.0 };
    step.joints.push(joint());
    step.bodies.push(Body::new(1, &[1.0], &[0.0]));
    step.joints.push(Joint { row: OffsetRow { row: Row::one(1, &[1.0]), offset: 0.0 }, compliance: 0.0 });
    step.joints.push(joint());
    let (solution, _, joints) = unique(&step);
    for (z, expected) in solution.z.iter().zip([3.0, 0.0, 3.0]) {
        assert!((z - expected).abs() < 1e-12, "{:?}", solution.z);
    }
    assert_eq!(joints, [false, true, false]);
}
