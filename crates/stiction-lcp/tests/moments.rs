//! Torsional and rolling friction: the third row of a friction set, and friction blocks bound by another contact.

use arrayvec::ArrayVec;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::{
    Body, Chain, Contact, Enumerate, FrictionLaw, FrictionSet, LcpError, Lemke, Method, OffsetRow, Pointed,
    Row, Solver, StepProblem, Trial, certify, solve,
};
use stiction_problems::ensemble::{Arrangement, Heap, mixture, with_moments};

const FALL: f64 = 9.81 * 0.01;
const MU: f64 = 0.4;
/// Torsional radius and rolling length [m].
const SPIN: f64 = 0.05;
const ROLL: f64 = 0.02;
const RADIUS: f64 = 0.3;

fn at_rest(row: [f64; 6]) -> OffsetRow {
    OffsetRow { row: Row::one(0, &row), offset: 0.0 }
}

/// Ball of 2 kg and radius 0.3 m on the floor, with these velocities before a step of gravity.
fn ball(velocity: [f64; 6], set: &FrictionSet) -> StepProblem {
    let inertia = 0.4 * 2.0 * RADIUS * RADIUS;
    let mut body = Body::new(6, &[0.0; 36], &[0.0; 6]);
    for k in 0..6 {
        body.mass[(k, k)] = if k < 3 { 2.0 } else { inertia };
        body.momentum[k] = body.mass[(k, k)] * velocity[k];
    }
    body.momentum[2] -= 2.0 * FALL;
    let tangents: ArrayVec<OffsetRow, 3> = [
        at_rest([1.0, 0.0, 0.0, 0.0, -RADIUS, 0.0]),
        at_rest([0.0, 1.0, 0.0, RADIUS, 0.0, 0.0]),
        at_rest([0.0, 0.0, 0.0, 0.0, 0.0, SPIN]),
    ]
    .into_iter()
    .collect();
    let rolling = [at_rest([0.0, 0.0, 0.0, ROLL, 0.0, 0.0]), at_rest([0.0, 0.0, 0.0, 0.0, ROLL, 0.0])];
    let normal = Some(at_rest([0.0, 0.0, 1.0, 0.0, 0.0, 0.0]));
    StepProblem {
        bodies: vec![body],
        contacts: vec![
            Contact { normal, tangents, set: set.with_spin(), mu: MU, kappa: 0.0, bound_by: None },
            Contact {
                normal: None,
                tangents: rolling.into_iter().collect(),
                set: set.clone(),
                mu: 1.0,
                kappa: 0.0,
                bound_by: Some(0),
            },
        ],
        speed_scale: FALL,
        ..StepProblem::default()
    }
}

fn near(got: f64, want: f64) {
    assert!((got - want).abs() <= 1e-12, "{got} instead of {want}");
}

#[test]
fn a_spinning_ball_is_slowed_by_the_moment_of_its_contact() {
    let inertia = 0.4 * 2.0 * RADIUS * RADIUS;
    for set in [FrictionSet::circle(), FrictionSet::regular(8).unwrap()] {
        let problem = ball([0.0, 0.0, 0.0, 0.0, 0.0, 5.0], &set);
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        near(solution.velocity()[5], 5.0 - MU * SPIN * 2.0 * FALL / inertia);
        // the available impulse exceeds its momentum: it stops exactly
        let problem = ball([0.0, 0.0, 0.0, 0.0, 0.0, 1e-2], &set);
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        assert!(solution.velocity()[5].abs() < 1e-14, "{}", solution.velocity()[5]);
    }
}

/// m v̇ = f, I ω̇ = R f − ℓ N with v = R ω: a rolling ball does not slip, and is slowed by ℓ N / (R (1 + 2/5)) / m.
#[test]
fn a_rolling_ball_is_slowed_and_does_not_slip() {
    for set in [FrictionSet::circle(), FrictionSet::regular(8).unwrap()] {
        let problem = ball([1.0, 0.0, 0.0, 0.0, 1.0 / RADIUS, 0.0], &set);
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        let slowed = ROLL * FALL / (RADIUS * 1.4);
        near(solution.velocity()[0], 1.0 - slowed);
        near(solution.velocity()[4], (1.0 - slowed) / RADIUS);
        assert!(solution.certificate().contacts[0].lambda < 1e-12);
        near(solution.certificate().contacts[1].lambda, ROLL * (1.0 - slowed) / RADIUS);
    }
}

/// Ball (f, m/ℓ) in R³: friction acts against slip and spin in their proportion.
#[test]
fn a_spinning_ball_slides_with_less_friction() {
    let slow = |spin: f64| {
        let problem = ball([2.0, 0.0, 0.0, 0.0, 0.0, spin], &FrictionSet::circle());
        let solution = solve(&problem, &Solver::default(), None).unwrap();
        let v = solution.velocity();
        let slip = v[0] - RADIUS * v[4];
        let share = slip / slip.hypot(SPIN * v[5]);
        near(2.0 - v[0], MU * FALL * share);
        2.0 - v[0]
    };
    near(slow(0.0), MU * FALL);
    assert!(slow(20.0) < slow(10.0) && slow(10.0) < slow(0.0));
}

/// Step with circles in place of the polygons of the ensemble.
fn rounded(mut step: StepProblem) -> StepProblem {
    step.contacts.iter_mut().for_each(|c| c.set = FrictionSet::circle());
    step
}

#[test]
fn random_problems_with_moments_are_solved_and_certified() {
    let mut methods = [0; 2];
    for seed in 0..300 {
        let (kind, step) = mixture(seed);
        for (torsion, rolling) in [(0.1, 0.03), (0.1, 0.0), (0.0, 0.03)] {
            for (k, problem) in [
                with_moments(&rounded(step.clone()), torsion, rolling),
                with_moments(&step, torsion, rolling),
            ]
            .into_iter()
            .enumerate()
            {
                let solution = match solve(&problem, &Solver::default(), None) {
                    Ok(solution) => solution,
                    // high friction: reported as not solved, and rare
                    Err(LcpError::Budget { best, .. }) if !best.certificate.passes(1e-8) => continue,
                    Err(error) => panic!("{} {seed}, set {k}: {error}", kind.name()),
                };
                methods[k] += 1;
                let found = certify(&problem, solution.z()).unwrap();
                assert!(found.certificate.passes(1e-8), "{} {seed}", kind.name());
                // friction never adds energy: p·u ≤ 0 over the rows of every block, up to the certificate
                assert!(found.certificate.dissipation <= 1e-7, "{} {seed}", kind.name());
            }
        }
    }
    assert!(methods.iter().all(|solved| *solved >= 899), "{methods:?} of 900 each");
}

fn only(trial: Trial) -> Solver {
    Method::Chain(Chain::new(&[trial], 1000)).into()
}

/// Each structured method by itself, on heaps of boxes whose corners resist spin and rolling.
#[test]
fn every_structured_method_solves_moments() {
    for (arrangement, mu) in
        [(Arrangement::Tower(4), 0.5), (Arrangement::Wall(3, 3), 0.3), (Arrangement::Pile(2), 0.5)]
    {
        for seed in 0..4 {
            let heap = Heap { arrangement, mu, speed: 0.1, mass_ratio: 1.0, seed }.sample();
            let problem = with_moments(&rounded(heap), 0.1, 0.03);
            for (name, solver) in [
                ("interior", only(Trial::Interior(1e-6, 60))),
                ("path", only(Trial::Path(1.0, 300))),
                ("sweeps", only(Trial::Sweeps(2000))),
                ("chain", Solver::default()),
            ] {
                let solution = solve(&problem, &solver, None);
                let error = solution.err().map(|e| e.to_string());
                assert!(error.is_none(), "{arrangement:?}, seed {seed}, {name}: {error:?}");
            }
        }
    }
}

/// A disk rolling and slipping in the plane, where the friction set of the circle is that of the line: pivots, the
/// structured methods and the enumeration of all bases agree.
#[test]
fn in_the_plane_all_methods_agree() {
    let disk = |v: f64, omega: f64| {
        let row = |j: [f64; 3]| OffsetRow { row: Row::one(0, &j), offset: 0.0 };
        let (set, kappa) = (FrictionSet::line(), 0.0);
        let tangents = [row([1.0, 0.0, RADIUS])].into_iter().collect();
        let rolling = [row([0.0, 0.0, ROLL])].into_iter().collect();
        let normal = Some(row([0.0, 1.0, 0.0]));
        StepProblem {
            bodies: vec![Body::new(
                3,
                &[2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 0.09],
                &[2.0 * v, -2.0 * FALL, 0.09 * omega],
            )],
            contacts: vec![
                Contact { normal, tangents, set: set.clone(), mu: MU, kappa, bound_by: None },
                Contact { normal: None, tangents: rolling, set, mu: 1.0, kappa, bound_by: Some(0) },
            ],
            speed_scale: FALL,
            ..StepProblem::default()
        }
    };
    // slipping and rolling, rolling, at rest, spinning on the spot
    for (v, omega) in [(2.0, 0.0), (1.0, -1.0 / RADIUS), (0.01, -0.01), (0.0, 0.0), (0.0, 9.0)] {
        let problem = disk(v, omega);
        // the fixed point converges linearly: its tolerance is a tenth of the comparison
        let fixed_point = Solver { tolerance: 1e-11, ..Method::FixedPoint(100).into() };
        let answers = [
            solve(&problem, &Method::Lemke(Lemke::default()).into(), None).unwrap(),
            solve(&problem, &Method::Enumerate(Enumerate::default()).into(), None).unwrap(),
            solve(&problem, &only(Trial::Interior(1e-6, 60)), None).unwrap(),
            solve(&problem, &fixed_point, None).unwrap(),
        ];
        for answer in &answers {
            for k in 0..3 {
                let (got, want) = (answer.velocity()[k], answers[0].velocity()[k]);
                assert!((got - want).abs() < 1e-9, "({v}, {omega}): {got} and {want}");
            }
        }
    }
    // the relaxation lifts a rolling contact by ℓ ω, as it lifts a slipping one by μ u
    let convex = solve(&disk(1.0, -1.0 / RADIUS), &Method::Convex(Lemke::default()).into(), None).unwrap();
    assert_eq!(convex.law(), FrictionLaw::Convex);
    let rolls = -ROLL * convex.velocity()[2];
    assert!(rolls > 0.05 && (convex.velocity()[1] - rolls).abs() < 1e-12, "{:?}", convex.velocity());
}

/// A ball is held between two plates that touch it from above and below.
#[test]
fn cones_with_rolling_friction_are_pointed_or_not() {
    let ball = ball([0.0; 6], &FrictionSet::circle());
    let Pointed::Yes { velocity } = ball.pointed().unwrap() else { panic!("one contact is pointed") };
    assert!(velocity[2] > 0.0);
    let mut held = ball;
    for k in 0..2 {
        let mut other = held.contacts[k].clone();
        let turned = |row: &mut OffsetRow, above: bool| {
            if let (Row::Bodies(terms), true) = (&mut row.row, above) {
                terms[0].j.iter_mut().for_each(|x| *x = -*x);
            }
        };
        other.normal.iter_mut().for_each(|n| turned(n, true));
        other.bound_by = other.bound_by.map(|_| 2);
        held.contacts.push(other);
    }
    let Pointed::No { impulses } = held.pointed().unwrap() else { panic!("it is held") };
    assert_eq!(certify(&held, &impulses).unwrap().certificate.cone, 0.0);
}

#[test]
fn moments_are_written_and_read_bit_by_bit() {
    for set in
        [FrictionSet::circle(), FrictionSet::regular(6).unwrap(), FrictionSet::Ellipse([0.7, 1.0, 1.0])]
    {
        let file = ProblemFile::from(AnyProblem::Step(ball([1.0, 0.2, 0.0, 0.1, 0.3, 4.0], &set)));
        assert_eq!(ProblemFile::from_json(&file.to_json()).unwrap(), file);
    }
}

#[test]
fn malformed_moments_are_refused_by_name() {
    let good = ball([0.0; 6], &FrictionSet::regular(4).unwrap());
    let place = |spoil: &dyn Fn(&mut StepProblem)| {
        let mut problem = good.clone();
        spoil(&mut problem);
        problem.check().unwrap_err().to_string()
    };
    for (message, spoil) in [
        ("contacts[1].bound_by: contact 7 of 2", &|p: &mut StepProblem| p.contacts[1].bound_by = Some(7)),
        ("contacts[1].bound_by: contact 1 has no normal row", &|p| p.contacts[1].bound_by = Some(1)),
        (
            "contacts[0].bound_by: a contact with a normal row is bound by itself and must not name another",
            &|p| {
                p.contacts[0].bound_by = Some(0);
            },
        ),
        ("contacts[1].set[4]: with two tangent rows the third component must be 0", &|p| {
            p.contacts[1].set = p.contacts[0].set.clone();
        }),
    ] as [(&str, &dyn Fn(&mut StepProblem)); 4]
    {
        assert_eq!(place(spoil), message);
    }
    let text = ProblemFile::from(AnyProblem::Step(good.clone())).to_json();
    let spoiled = text.replacen("\"bound_by\": 0", "\"bound_by\": 3", 1);
    assert_eq!(
        ProblemFile::from_json(&spoiled).unwrap_err().to_string(),
        "contacts[1].bound_by: contact 3 of 2"
    );
}

/// Certificates refuse friction beyond its bound, a moment of the wrong sign, and rolling without resistance.
#[test]
fn spoiled_moments_are_refused() {
    let problem = ball([1.0, 0.0, 0.0, 0.0, 1.0 / RADIUS, 5.0], &FrictionSet::circle());
    let solution = solve(&problem, &Solver::default(), None).unwrap();
    for i in 0..solution.z().len() {
        for factor in [0.0, 1.0 + 1e-5, -1.0] {
            let mut z = solution.z().to_vec();
            z[i] *= factor;
            if (z[i] - solution.z()[i]).abs() < 1e-7 {
                continue;
            }
            assert!(!certify(&problem, &z).unwrap().certificate.passes(1e-8), "unknown {i} times {factor}");
        }
    }
    // a friction block bound by an open contact has no impulse
    let mut lifted = problem.clone();
    lifted.contacts[0].normal.as_mut().unwrap().offset = 1.0;
    let solution = solve(&lifted, &Solver::default(), None).unwrap();
    assert!(solution.z().iter().all(|z| *z == 0.0));
}
