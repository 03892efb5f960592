//! Friction-contact problems in local form, against the steps they come from.

use nalgebra::{DMatrix, DVector};
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{
    Chain, Contact, FrictionSet, LcpError, Lemke, LocalProblem, Method, Solver, Stage, StepProblem, Trial,
    WarmStart, certify, solve,
};
use stiction_problems::ensemble::{Arrangement, Heap, local_form, mixture};

/// The contacts of a step without joints in their own coordinates: W = J M̃⁻¹ Jᵀ, q = J M̃⁻¹ b + offsets.
fn local(step: &StepProblem, facets: Option<usize>) -> LocalProblem {
    let layout = step.layout();
    let n = layout.velocities();
    let mut mass = DMatrix::zeros(n, n);
    let mut momentum = DVector::zeros(n);
    for (body, &s) in step.bodies.iter().zip(&layout.velocity) {
        for i in 0..body.velocities {
            momentum[s + i] = body.momentum[i];
            (0..body.velocities).for_each(|j| mass[(s + i, s + j)] = body.mass[(i, j)]);
        }
    }
    let rows: Vec<_> = step.contacts.iter().flat_map(Contact::rows).collect();
    let mut jacobian = DMatrix::zeros(rows.len(), n);
    for (k, row) in rows.iter().enumerate() {
        row.row.for_each(&layout.velocity, |i, x| jacobian[(k, i)] += x);
    }
    let inverse = mass.try_inverse().unwrap();
    let w = &jacobian * &inverse * jacobian.transpose();
    let offsets = DVector::from_iterator(rows.len(), rows.iter().map(|row| row.offset));
    let q = jacobian * inverse * momentum + offsets;
    let mu = step.contacts.iter().map(|c| c.mu).collect();
    LocalProblem { dim: 3, w: 0.5 * (&w + w.transpose()), q, mu, facets }
}

fn with_set(mut step: StepProblem, set: &FrictionSet) -> StepProblem {
    step.contacts.iter_mut().for_each(|c| c.set = set.clone());
    step
}

/// Towers and jams have W of low rank. Their speeds at the contacts are those of the step where friction is low enough
/// for a unique solution.
#[test]
fn the_local_form_is_solved_as_its_step_is() {
    for (facets, set) in [(None, FrictionSet::circle()), (Some(4), FrictionSet::regular(4).unwrap())] {
        for (arrangement, seed) in
            [(Arrangement::Tower(2), 0), (Arrangement::Tower(4), 1), (Arrangement::Wall(2, 2), 2)]
        {
            let heap = Heap { arrangement, mu: 0.3, speed: 0.1, mass_ratio: 1.0, seed };
            let step = with_set(heap.sample(), &set);
            let problem = local(&step, facets);
            let solution = solve(&problem, &Solver::default(), None)
                .unwrap_or_else(|e| panic!("{arrangement:?}, seed {seed}, {facets:?}: {e}"));
            // judged by W and q
            assert!(certify(&problem, solution.z()).unwrap().certificate.passes(1e-8));
            // and by the step itself: the unknowns are the same
            let as_step = certify(&step, solution.z()).unwrap();
            assert!(
                as_step.certificate.passes(1e-7),
                "{arrangement:?}, seed {seed}: {:?}",
                as_step.certificate.worst()
            );
        }
    }
}

#[test]
fn random_contacts_are_solved_by_pivots_and_by_structure() {
    let mut solved = [0; 2];
    for seed in 0..120 {
        let (kind, step) = mixture(seed);
        if !step.joints.is_empty() || step.contacts.iter().any(|c| c.tangents.len() != 2) {
            continue;
        }
        for (k, facets) in [None, Some(6)].into_iter().enumerate() {
            let problem = local(&step, facets);
            match solve(&problem, &Solver::default(), None) {
                Ok(solution) => {
                    solved[k] += 1;
                    assert!(certify(&problem, solution.z()).unwrap().certificate.passes(1e-8));
                }
                // μ = 1.5 where everything is redundant: honest about it, and rare
                Err(error) => assert!(
                    !error.best().unwrap().certificate.passes(1e-8),
                    "{} {seed}: {error}",
                    kind.name()
                ),
            }
        }
    }
    assert!(solved.iter().all(|n| *n >= 100), "{solved:?}");
}

fn particle(contacts: usize, facets: Option<usize>) -> LocalProblem {
    let n = 3 * contacts;
    let w = DMatrix::from_fn(n, n, |i, j| if i % 3 == j % 3 { 0.5 } else { 0.0 });
    let q = DVector::from_fn(n, |i, _| [-0.5, 3.0, 4.0][i % 3]);
    LocalProblem { dim: 3, w, q, mu: vec![0.4; contacts], facets }
}

#[test]
fn the_proximal_term_has_no_effect_on_singular_problems() {
    for contacts in [1, 2, 5] {
        let problem = particle(contacts, None);
        let solution = solve(&problem, &Solver { tolerance: 1e-11, ..Solver::default() }, None).unwrap();
        let r = problem.impulses(solution.z());
        for (k, sum) in [1.0, -0.24, -0.32].into_iter().enumerate() {
            let total: f64 = (0..contacts).map(|i| r[3 * i + k]).sum();
            assert!((total - sum).abs() < 1e-10, "{contacts} contacts: {total} instead of {sum}");
        }
        // u is the candidate's velocity
        assert!((solution.velocity()[1] - (3.0 - 0.12)).abs() < 1e-10);
        let again = solve(&problem, &Solver::default(), Some(&WarmStart::from(&solution))).unwrap();
        assert_eq!(again.work().factorizations, 0);
    }
}

#[test]
fn infeasible_problems_come_with_a_proof() {
    let mut problem = particle(2, None);
    for i in 0..6 {
        for j in 0..6 {
            let sign = if (i < 3) == (j < 3) { 1.0 } else { -1.0 };
            problem.w[(i, j)] *= sign;
        }
    }
    // two contacts that push against each other, and both closing
    let Err(LcpError::Ray { proof: Some(proof), .. }) = solve(&problem, &Solver::default(), None) else {
        panic!("infeasible");
    };
    assert!(proof.y[0] > 0.0 && (proof.y[0] - proof.y[3]).abs() < 1e-6 * proof.y[0]);
}

#[test]
fn unsupported_friction_sets_are_refused() {
    let unsupported = |problem: &LocalProblem, method: Method| {
        solve(problem, &method.into(), None).unwrap_err().status() == "unsupported"
    };
    assert!(unsupported(&particle(1, None), Method::Lemke(Lemke::default())));
    assert!(unsupported(&particle(1, Some(4)), Method::Convex(Lemke::default())));
    assert!(solve(&particle(2, Some(4)), &Method::Lemke(Lemke::default()).into(), None).is_ok());
    let path = Method::Chain(Chain::new(&[Trial::Path(1.0, 200)], 1000));
    assert!(solve(&particle(2, None), &path.into(), None).is_ok());
}

#[test]
fn files_are_read_dense_and_by_triplets_and_written_bit_by_bit() {
    let problem = particle(2, Some(6));
    let file = ProblemFile::from(AnyProblem::Local(problem.clone()));
    assert_eq!(ProblemFile::from_json(&file.to_json()).unwrap(), file);
    let text = r#"{"dim": 3, "w": {"triplets": [[0, 0, 0.25], [1, 1, 0.5], [2, 2, 0.5], [0, 0, 0.25]]},
                   "q": [-0.5, 3.0, 4.0], "mu": [0.4]}"#;
    let read = ProblemFile::from_json(text).unwrap();
    assert_eq!(read.problem, AnyProblem::Local(particle(1, None)));
}

#[test]
fn malformed_entries_are_named() {
    for (message, text) in [
        ("dim: 4 is neither 2 nor 3", r#"{"dim": 4, "w": [[1]], "q": [1], "mu": [1]}"#),
        ("mu: the problem is empty", r#"{"dim": 2, "w": [], "q": [], "mu": []}"#),
        (
            "q: has 3 entries, 1 contacts in 2 dimensions have 2",
            r#"{"dim": 2, "w": [[1,0,0],[0,1,0],[0,0,1]], "q": [1,0,0], "mu": [1]}"#,
        ),
        ("w: has 1 rows, q has 2 entries", r#"{"dim": 2, "w": [[1, 0]], "q": [1, 0], "mu": [1]}"#),
        ("w[1]: has 3 entries, q has 2", r#"{"dim": 2, "w": [[1, 0], [0, 1, 0]], "q": [1, 0], "mu": [1]}"#),
        (
            "w.triplets[1]: row 0 and column 7 of a matrix of 2",
            r#"{"dim": 2, "w": {"triplets": [[0, 0, 1], [0, 7, 1]]}, "q": [1, 0], "mu": [1]}"#,
        ),
        (
            "w[1][0]: is 0.5, and w[0][1] is 0: W must be symmetric",
            r#"{"dim": 2, "w": [[1, 0], [0.5, 1]], "q": [1, 0], "mu": [1]}"#,
        ),
        (
            "w: must be positive semidefinite; its least eigenvalue is -1e0",
            r#"{"dim": 2, "w": [[1, 0], [0, -1]], "q": [1, 0], "mu": [1]}"#,
        ),
        (
            "mu[0]: -0.5 must not be negative",
            r#"{"dim": 2, "w": [[1, 0], [0, 1]], "q": [1, 0], "mu": [-0.5]}"#,
        ),
        (
            "facets: 5 is not an even number of at least 4",
            r#"{"dim": 3, "w": [[1,0,0],[0,1,0],[0,0,1]], "q": [1,0,0], "mu": [1], "facets": 5}"#,
        ),
        (
            "facets: in the plane friction has one direction",
            r#"{"dim": 2, "w": [[1, 0], [0, 1]], "q": [1, 0], "mu": [1], "facets": 4}"#,
        ),
    ] {
        assert_eq!(ProblemFile::from_json(text).unwrap_err().to_string(), message);
    }
    let error = ProblemFile::from_json(r#"{"dim": 2, "q": [1, 0], "mu": [1]}"#).unwrap_err();
    assert!(error.to_string().starts_with("the file: a problem is"), "{error}");
    let mut problem = particle(1, None);
    problem.q[1] = f64::NAN;
    assert_eq!(problem.check().unwrap_err().to_string(), "q[1]: NaN is not a finite number");
    problem.q[1] = 0.0;
    problem.w[(2, 1)] = f64::INFINITY;
    assert_eq!(problem.check().unwrap_err().to_string(), "w[2][1]: inf is not a finite number");
}

/// Walls and piles in local form: sweeps over the entries of W that are not zero solve them without a factorization.
#[test]
fn large_problems_in_local_form_are_swept() {
    for (dim, arrangement, mu) in
        [(3, Arrangement::Wall(6, 5), 0.5), (3, Arrangement::Pile(3), 0.3), (2, Arrangement::Wall(8, 6), 0.8)]
    {
        let heap = Heap { arrangement, mu, speed: 0.01, mass_ratio: 1.0, seed: 3 };
        let problem = local_form(&heap.sample(), dim).expect("free boxes");
        assert!(problem.q.len() > 300, "{}", problem.q.len());
        let solution =
            solve(&problem, &Solver::default(), None).unwrap_or_else(|e| panic!("{arrangement:?}: {e}"));
        assert_eq!(solution.work().stage, Stage::Sweeps, "{arrangement:?}");
        assert!(solution.work().sweeps > 0 && solution.work().factorizations == 0);
        assert!(certify(&problem, solution.z()).unwrap().certificate.passes(1e-8), "{arrangement:?}");
    }
}
