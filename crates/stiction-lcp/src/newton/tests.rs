//! Newton's method in modes against planted solutions, with and without redundant contacts, and its polygon geometry.

use super::equations::ModeEquations;
use super::polygon::{PolygonSlip, polygon_slip};
use crate::mode::ContactMode;
use crate::problem::{Contact, FrictionSet, OffsetRow, Prepared, Row};
use crate::solution::{Stage, WarmStart};
use crate::testing::{Plan, distance};
use crate::{Lemke, Method, Solver, Workspace, certify, solve};
use proptest::prelude::*;

fn square() -> FrictionSet {
    FrictionSet::regular(4).unwrap()
}

/// Contact with two tangents and a friction square, at a body of two velocities.
fn contact() -> Contact {
    let row = |j: &[f64]| OffsetRow { row: Row::one(0, j), offset: 0.0 };
    Contact {
        normal: None,
        tangents: [row(&[1.0, 0.0]), row(&[0.0, 1.0])].into_iter().collect(),
        set: square(),
        mu: 0.0,
        kappa: 1.0,
        bound_by: None,
    }
}

#[test]
fn friction_sticks_inside_its_polygon_and_slips_at_corners_and_edges() {
    assert_eq!(polygon_slip(&contact(), [0.4, 0.3], 1.0), None);
    // far along a generator: its corner
    let FrictionSet::Polygon(corners) = square() else { panic!() };
    let corner = [corners[0][0], corners[0][1]];
    let found = polygon_slip(&contact(), corner.map(|x| 5.0 * x), 1.0);
    let Some(PolygonSlip::Corner(at)) = found else { panic!("{found:?}") };
    assert!(distance(&at, &corner) < 1e-12);
    // between two neighbouring corners: the edge, whose middle is on it and whose direction joins them
    let next = [corners[1][0], corners[1][1]];
    let middle: [f64; 2] = std::array::from_fn(|k| 0.5 * (corner[k] + next[k]));
    let found = polygon_slip(&contact(), middle.map(|x| 1.5 * x), 1.0);
    let Some(PolygonSlip::Edge { middle: at, along }) = found else { panic!("{found:?}") };
    assert!(distance(&at, &middle) < 1e-12);
    let edge: [f64; 2] = std::array::from_fn(|k| corner[k] - next[k]);
    assert!((along[0] * edge[1] - along[1] * edge[0]).abs() < 1e-12);
    assert!((along[0].hypot(along[1]) - 1.0).abs() < 1e-12);
}

/// A proximal step leaves ε δc of each equation: its residual falls by the proximal term over the smallest eigenvalue.
#[test]
fn a_proximal_step_solves_the_equations_of_the_modes() {
    for seed in 0..10 {
        let planted = Plan::chain(4, 1, square()).plant(seed);
        let mut prepared = Prepared::default();
        prepared.prepare(&planted.problem).unwrap();
        let mut equations = ModeEquations::default();
        equations.prescribe(&planted.problem, &prepared, &planted.modes);
        assert!(equations.factor(&planted.problem, &prepared));
        let mut residuals = Vec::new();
        for _ in 0..3 {
            equations.write(&planted.problem, &prepared, f64::NEG_INFINITY);
            let v = certify(&planted.problem, &equations.z).unwrap().velocity;
            residuals.push(equations.advance(&planted.problem, &prepared, &v).unwrap());
        }
        assert!(residuals[0] > 0.1, "{residuals:?}");
        assert!(
            residuals[1] < 1e-2 * residuals[0] && residuals[2] < 1e-2 * residuals[1].max(1e-10),
            "{residuals:?}"
        );
        equations.write(&planted.problem, &prepared, f64::NEG_INFINITY);
        assert!(
            distance(
                &equations.z[..planted.problem.joints.len()],
                &planted.z[..planted.problem.joints.len()]
            ) < 1e-6
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn prescribed_modes_give_the_planted_velocity(
        seed in 0_u64..1000,
        copies in 1_usize..4,
        bodies in 1_usize..6,
        circular: bool,
    ) {
        let set = if circular { FrictionSet::circle() } else { square() };
        let planted = Plan::chain(bodies, copies, set).plant(seed);
        let found = Workspace::default().solve_in_modes(&planted.problem, &planted.modes).unwrap();
        prop_assert!(found.certificate.passes(1e-9), "{:?}", found.certificate);
        prop_assert!(distance(&found.velocity, &planted.velocity) < 1e-8);
    }

    #[test]
    fn other_modes_give_no_solution(seed in 0_u64..1000, which in 0_usize..3) {
        // a sticking contact taken for open, a slipping one for sticking, an open one for sticking
        let planted = Plan::chain(3, 1, FrictionSet::circle()).plant(seed);
        let mut modes = planted.modes.clone();
        modes[which] = if which == 0 { ContactMode::OPEN } else { ContactMode::STICK };
        let found = Workspace::default().solve_in_modes(&planted.problem, &modes).unwrap();
        prop_assert!(!found.certificate.passes(1e-9));
    }

    #[test]
    fn warm_starts_near_a_solution_are_polished_to_it(
        seed in 0_u64..1000,
        copies in 1_usize..3,
        size in -9.0_f64..-7.5,
    ) {
        let planted = Plan::islands(3, copies, square()).plant(seed);
        let mut z = planted.z.clone();
        z.iter_mut().filter(|z| **z != 0.0).for_each(|z| *z += 10_f64.powf(size));
        let start = WarmStart { z, basis: None };
        let worst = certify(&planted.problem, &start.z).unwrap().certificate.worst();
        prop_assert!(worst > 1e-11);
        let solver: Solver = Method::Lemke(Lemke::default()).into();
        let solution = solve(&planted.problem, &solver, Some(&start)).unwrap();
        prop_assert_eq!(solution.work().stage, Stage::Newton);
        prop_assert!(solution.certificate().passes(1e-13), "{:?}", solution.certificate());
        prop_assert!(distance(solution.velocity(), &planted.velocity) < 1e-9);
    }
}
