//! Linearization and direction of the semismooth Newton method against differences and planted solutions.

use super::super::equations::Equations;
use super::super::iterate::{ContactVector, Iterate, length};
use super::super::sweep::GaussSeidel;
use super::super::tests::island_of;
use super::step::{Linearized, NewtonStep};
use super::{NewtonLimits, SemismoothNewton};
use crate::mode::Mode;
use crate::problem::FrictionSet;
use crate::structured::island::{Island, IslandContact};
use crate::testing::Plan;

const KAPPA: f64 = 1e4;

/// Tangential equation of a slipping contact: r_t − (μ r_n + κ) x/|x| with x = W r_t − u_t.
fn slip_equation(contact: &IslandContact<2>, r: &ContactVector<2>, u: &ContactVector<2>) -> [f64; 2] {
    let x: [f64; 2] = std::array::from_fn(|k| contact.w_t * r.t[k] - u.t[k]);
    std::array::from_fn(|k| r.t[k] - contact.bound(r.n) * x[k] / length(&x))
}

fn limits() -> NewtonLimits {
    NewtonLimits { target: 1e-13, good: 1e-12, factorizations: 60, impatient: false, exact: true }
}

/// Runs Newton's method from an iterate; returns the residual and the best iterate.
fn newton(island: &Island<2>, start: &Iterate<2>) -> (f64, Iterate<2>) {
    let (mut equations, mut step, mut masses) =
        (Equations::default(), NewtonStep::default(), GaussSeidel::default());
    equations.lay_out(island);
    let (mut at, mut best) = (start.clone(), Iterate::default());
    assert!(masses.velocities(island, &mut at));
    let run =
        SemismoothNewton::new(island, &mut equations, &mut step, &mut masses, &mut at, &mut best, limits());
    let result = run.run(None);
    (result.residual, best)
}

/// F(r, u) + DF·(dr, du) = 0 with dr = p − S du for any du: the linearization is Newton's.
#[test]
fn slip_is_linearized_as_its_differences_say() {
    let (island, solution) = island_of(&Plan::chain(6, 1, FrictionSet::circle()).plant(1));
    let mut slipping = 0;
    for (contact, r) in island.contacts.iter().zip(&solution.r) {
        let u = contact.speeds(&solution.v);
        // off the solution, so that the constant counts as well
        let r = ContactVector { n: 1.1 * r.n, t: [r.t[0] + 0.02, 0.9 * r.t[1]] };
        let u = ContactVector { n: u.n + 0.01, t: [1.2 * u.t[0], u.t[1] - 0.05] };
        let linear = Linearized::new(contact, &r, &u, &u, KAPPA, KAPPA);
        if linear.mode != Mode::Slip {
            continue;
        }
        slipping += 1;
        let (s, p) = (&linear.stiffness, &linear.constant);
        for du in [[0.3, -0.2, 0.5], [0.0, 0.4, 0.1], [0.0, 0.0, 0.0]] {
            let du = ContactVector { n: du[0], t: [du[1], du[2]] };
            let dr = ContactVector {
                n: p.n - s.nn * du.n,
                t: std::array::from_fn(|k| {
                    p.t[k] - s.tn[k] * du.n - s.tt[k][0] * du.t[0] - s.tt[k][1] * du.t[1]
                }),
            };
            // normal: u_n + du_n + (W/κ) dr_n = 0
            let normal = u.n + du.n + dr.n / (KAPPA * contact.over_n);
            assert!(normal.abs() < 1e-12, "{normal:e}");
            let size = dr.n.abs().max(length(&dr.t)).max(1.0);
            let h = 1e-6 / size;
            let ahead = slip_equation(contact, &r.along(h, &dr), &u.along(h, &du));
            let behind = slip_equation(contact, &r.along(-h, &dr), &u.along(-h, &du));
            let here = slip_equation(contact, &r, &u);
            for k in 0..2 {
                let left = here[k] + (ahead[k] - behind[k]) / (2.0 * h);
                assert!(left.abs() < 1e-6 * size, "{left:e} of {size:e}");
            }
        }
    }
    assert!(slipping >= 2, "{slipping}");
}

#[test]
fn modes_are_the_planted_ones_at_the_solution() {
    let planted = Plan::chain(9, 1, FrictionSet::circle()).plant(2);
    let (island, solution) = island_of(&planted);
    for (contact, r) in island.contacts.iter().zip(&solution.r) {
        let u = contact.speeds(&solution.v);
        let linear = Linearized::new(contact, r, &u, &u, KAPPA, KAPPA);
        assert_eq!(linear.mode, planted.modes[contact.index].mode, "contact {}", contact.index);
    }
}

/// After a full step momentum and joints hold, and the natural map is that of the iterate recomputed from scratch.
#[test]
fn a_full_step_satisfies_the_linear_equations() {
    let (island, solution) = island_of(&Plan::chain(5, 2, FrictionSet::circle()).plant(3));
    let mut at = solution.clone();
    at.r.iter_mut().for_each(|r| *r = ContactVector { n: 0.8 * r.n + 0.01, t: r.t.map(|t| 1.1 * t) });
    at.c.iter_mut().flatten().for_each(|c| *c += 0.05);
    at.v.iter_mut().flatten().take(3).for_each(|v| *v += 0.1);
    let (mut equations, mut step) = (Equations::default(), NewtonStep::<2>::default());
    equations.lay_out(&island);
    step.begin(&island, &at);
    step.linearize(&island, &at, KAPPA, KAPPA, None);
    assert!(equations.factor(&island, &step.stiffness));
    step.solve(&island, &mut equations, &at);
    for alpha in [0.25, 1.0] {
        let (mut moved, mut direction) = (at.clone(), step.clone());
        let expected = step.measure(&island, &at, alpha);
        direction.advance(&mut moved, alpha);
        let mut fresh = NewtonStep::<2>::default();
        let (residual, merit) = fresh.begin(&island, &moved);
        assert!((residual - expected.0).abs() < 1e-9 * expected.0.max(1.0), "{residual} and {}", expected.0);
        assert!((merit - expected.1).abs() < 1e-9 * expected.1.max(1.0));
        let (mut momentum, mut joints) = (Vec::new(), Vec::new());
        let mut before = Vec::new();
        at.momentum_error(&island, &mut before);
        moved.momentum_error(&island, &mut momentum);
        moved.joint_errors(&island, &mut joints);
        // a step removes its length of the momentum error
        for (after, before) in momentum.iter().flatten().zip(before.iter().flatten()) {
            assert!((after - (1.0 - alpha) * before).abs() < 1e-9, "{after} of {before}");
        }
        if alpha == 1.0 {
            assert!(joints.iter().flatten().all(|e| e.abs() < 1e-7), "{joints:?}");
        }
    }
}

#[test]
fn newton_finds_planted_solutions_with_and_without_redundant_contacts() {
    for copies in 1..=3 {
        for seed in 0..20 {
            let (island, solution) = island_of(&Plan::chain(5, copies, FrictionSet::circle()).plant(seed));
            let mut start = solution.clone();
            for (i, r) in start.r.iter_mut().enumerate() {
                let change = 1e-3 * (i as f64 + 1.0);
                *r = ContactVector { n: r.n * (1.0 + change), t: r.t.map(|t| t * (1.0 - change)) };
            }
            let (residual, best) = newton(&island, &start);
            assert!(residual < 1e-11, "{copies} copies, seed {seed}: {residual:e}");
            let error = best.v.iter().flatten().zip(solution.v.iter().flatten());
            let error = error.fold(0.0, |m: f64, (a, b)| m.max((a - b).abs()));
            assert!(error < 1e-8, "{copies} copies, seed {seed}: {error:e}");
        }
    }
}

/// Without contacts the problem is linear: one factorization solves it.
#[test]
fn joints_alone_take_one_factorization() {
    let plan = Plan { contacts: Vec::new(), ..Plan::chain(2, 1, FrictionSet::circle()) };
    let (island, solution) = island_of(&plan.plant(4));
    let mut start = solution.clone();
    start.c.iter_mut().flatten().for_each(|c| *c = 0.0);
    let (residual, best) = newton(&island, &start);
    assert!(residual < 1e-12, "{residual:e}");
    assert!((best.c[0][0] - solution.c[0][0]).abs() < 1e-9);
}
