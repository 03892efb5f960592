//! Random contact problems: solved and certified; spoiled solutions are refused.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction_lcp::{Contact, LcpError, Row, Solver, StepProblem, certify, solve};
use stiction_problems::ensemble::{ProblemKind, mixture};

#[test]
fn ten_thousand_velocity_level_problems_are_solved() {
    let solver = Solver::default();
    for seed in 0..10_000 {
        let (kind, problem) = mixture(seed);
        let solution = solve(&problem, &solver, None)
            .unwrap_or_else(|e| panic!("{} with seed {seed}: {e}", kind.name()));
        assert!(solution.certificate().worst() <= 1e-10);
    }
}

#[test]
fn penetrated_jams_are_proved_infeasible() {
    for seed in 0..500 {
        let problem = ProblemKind::PenetratedJam.sample(seed);
        match solve(&problem, &Solver::default(), None) {
            Err(LcpError::Ray { proof: Some(proof), .. }) => {
                assert!(proof.strength > 1e9, "seed {seed}: strength {:e}", proof.strength);
                assert_cancels(&problem, &proof.y);
            }
            other => panic!("seed {seed}: {other:?}"),
        }
    }
}

/// Checks Σ n y = 0, y ≥ 0 on normals and y·Δ < 0, from the rows alone.
fn assert_cancels(problem: &StepProblem, y: &[f64]) {
    let layout = problem.layout();
    let mut sum = vec![0.0; layout.velocities()];
    let mut need = 0.0;
    for (contact, &at) in problem.contacts.iter().zip(&layout.contact) {
        let normal = contact.normal.as_ref().unwrap();
        assert!(y[at] >= 0.0);
        normal.row.add_transposed(&layout.velocity, y[at], &mut sum);
        need += y[at] * normal.offset;
        assert!(y[at + 1..at + contact.unknowns()].iter().all(|&y| y == 0.0));
    }
    assert!(need < 0.0);
    // the largest weight is one, and rows have unit normals and levers of half a metre
    assert!(sum.iter().all(|x| x.abs() < 1e-12), "{sum:?}");
}

/// Perturbed solutions are refused: each impulse moved by 1e-6 of the largest.
#[test]
fn a_perturbed_impulse_never_passes() {
    let mut checked = 0;
    for seed in 0..1_000 {
        let (kind, problem) = mixture(seed);
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        let largest = solution.z().iter().fold(0.0, |a: f64, z| a.max(z.abs()));
        if largest == 0.0 {
            continue;
        }
        for j in 0..solution.z().len() {
            if solution.work().redundant_joints.contains(&j) {
                continue;
            }
            for sign in [-1.0, 1.0] {
                let mut z = solution.z().to_vec();
                z[j] += sign * 1e-6 * largest;
                let worst = certify(&problem, &z).unwrap().certificate.worst();
                assert!(worst > 1e-10, "{} seed {seed}, unknown {j}: {worst:e}", kind.name());
                checked += 1;
            }
        }
    }
    assert!(checked > 10_000, "only {checked} perturbations");
}

/// Problem in other units of mass, length and time.
fn in_other_units(problem: &StepProblem, mass: f64, length: f64, time: f64) -> StepProblem {
    let speed = length / time;
    let mut scaled = problem.clone();
    scaled.speed_scale *= speed;
    // velocities are (linear, angular): [length/time] and [1/time]
    let unit = |i: usize| if i < 3 { speed } else { 1.0 / time };
    for body in &mut scaled.bodies {
        for i in 0..6 {
            body.momentum[i] *= mass * speed * speed / unit(i);
            for j in 0..6 {
                body.mass[(i, j)] *= mass * speed * speed / (unit(i) * unit(j));
            }
        }
    }
    let scale_row = |row: &mut stiction_lcp::OffsetRow| {
        row.offset *= speed;
        let Row::Bodies(terms) = &mut row.row else { unreachable!() };
        for term in terms {
            (0..6).for_each(|i| term.j[i] *= speed / unit(i));
        }
    };
    for joint in &mut scaled.joints {
        scale_row(&mut joint.row);
        joint.compliance *= 1.0 / mass;
    }
    for Contact { normal, tangents, .. } in &mut scaled.contacts {
        normal.iter_mut().chain(tangents).for_each(scale_row);
    }
    scaled
}

#[test]
fn certificates_and_solutions_do_not_depend_on_units() {
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for seed in 0..400 {
        let (kind, problem) = mixture(seed);
        let layout = problem.layout();
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        // a candidate with visible errors, so that the comparison is not of round-off
        let largest = solution.z().iter().fold(1e-3, |a: f64, z| a.max(z.abs()));
        let rough: Vec<f64> =
            solution.z().iter().map(|z| z + 1e-3 * largest * rng.random_range(-1.0..1.0)).collect();
        let before = certify(&problem, &rough).unwrap().certificate;
        for (mass, length, time) in [
            (1e6, 1.0, 1.0),
            (1e-6, 1.0, 1.0),
            (1.0, 1e6, 1.0),
            (1.0, 1e-6, 1.0),
            (1.0, 1.0, 1e6),
            (1e6, 1e-6, 1e-6),
        ] {
            let scaled = in_other_units(&problem, mass, length, time);
            let impulse = mass * length / time;
            let z: Vec<f64> = rough.iter().map(|z| z * impulse).collect();
            let after = certify(&scaled, &z).unwrap().certificate;
            let same = |a: f64, b: f64, what: &str| {
                // both are sums of a few hundred terms of size one
                assert!((a - b).abs() <= 1e-9 * a.max(1e-3), "{} {seed} {what}: {a:e} {b:e}", kind.name());
            };
            same(before.natural_map, after.natural_map, "natural map");
            same(before.joints, after.joints, "joints");
            same(before.cone, after.cone, "cone");
            same(before.complementarity, after.complementarity, "complementarity");
            same(before.dissipation, after.dissipation, "dissipation");
            let again = solve(&scaled, &Solver::default(), None).unwrap_or_else(|e| {
                panic!("{} seed {seed} in units {mass} {length} {time}: {e}", kind.name())
            });
            assert_eq!(again.velocity().len(), layout.velocities());
        }
    }
}
