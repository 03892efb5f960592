//! One-step problems with known solutions, and the convex relaxation.

use arrayvec::ArrayVec;
use stiction_lcp::problem::ProblemFile;
use stiction_lcp::{
    Body, Contact, FrictionLaw, FrictionSet, LcpError, Lemke, Method, OffsetRow, Pointed, Row, Solver, Stage,
    StepProblem, WarmStart, certify, solve,
};
use stiction_problems::ensemble::mixture;

const H: f64 = 0.05;
const G: f64 = 9.81;

/// Disk of radius and mass 1 on the table, spinning at `omega`, friction 0.3.
fn disk(omega: f64) -> StepProblem {
    let normal = OffsetRow { row: Row::one(0, &[0.0, 1.0, 0.0]), offset: 0.0 };
    let tangent = OffsetRow { row: Row::one(0, &[1.0, 0.0, 1.0]), offset: 0.0 };
    StepProblem {
        bodies: vec![Body::new(
            3,
            &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.5],
            &[0.0, -G * H, 0.5 * omega],
        )],
        contacts: vec![Contact {
            normal: Some(normal),
            tangents: [tangent].into_iter().collect::<ArrayVec<_, 3>>(),
            set: FrictionSet::line(),
            mu: 0.3,
            kappa: 0.0,
            bound_by: None,
        }],
        speed_scale: G * H,
        ..StepProblem::default()
    }
}

fn assert_near(got: &[f64], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (g, w) in got.iter().zip(want) {
        assert!((g - w).abs() <= tolerance, "{got:?} instead of {want:?}");
    }
}

/// Modes of a spinning disk: a fast one slips, a slow one sticks, and the relaxation lifts the slipping one by μ times
/// its slip speed.
#[test]
fn a_spinning_disk_slips_or_sticks() {
    let slip = solve(&disk(3.0), &Solver::default(), None).unwrap();
    assert_near(slip.velocity(), &[-0.14715, 0.0, 2.7057], 1e-10);
    assert_near(slip.z(), &[0.4905, 0.0, 0.14715], 1e-10);
    assert!((slip.certificate().contacts[0].lambda - 2.55855).abs() < 1e-10);

    let stick = solve(&disk(0.1), &Solver::default(), None).unwrap();
    assert_near(stick.velocity(), &[-1.0 / 30.0, 0.0, 1.0 / 30.0], 1e-10);
    assert_eq!(stick.work().stage, Stage::Lemke);

    let convex: Solver = Method::Convex(Lemke::default()).into();
    let lifted = solve(&disk(3.0), &convex, None).unwrap();
    assert_eq!(lifted.law(), FrictionLaw::Convex);
    // v_y = −gh + c = μ (ω − 3μc) with c the normal impulse
    let c = (G * H + 0.9) / 1.27;
    assert_near(lifted.velocity(), &[-0.3 * c, c - G * H, 3.0 - 0.6 * c], 1e-10);
    assert_near(lifted.velocity(), &[-0.328_464_57, 0.604_381_89, 2.343_070_87], 5e-9);
    assert!((lifted.velocity()[1] - 0.3 * lifted.certificate().contacts[0].lambda).abs() < 1e-12);
    // the relaxed solution violates Coulomb's law, and its certificate shows it
    assert!(certify(&disk(3.0), lifted.z()).unwrap().certificate.worst() > 0.1);
}

/// Convex program with Γ = μλ of a solution: it has the velocity of that solution. AH04 Theorem 2.1
#[test]
fn the_convex_program_at_the_slip_speeds_gives_the_same_velocity() {
    let solver = Solver::default();
    let mut sliding = 0;
    for seed in 0..600 {
        let (kind, problem) = mixture(seed);
        let coulomb = solve(&problem, &solver, None).unwrap();
        let slips = &coulomb.certificate().contacts;
        let gamma: Vec<f64> = problem.contacts.iter().zip(slips).map(|(c, s)| c.mu * s.lambda).collect();
        sliding += usize::from(gamma.iter().any(|&g| g > 1e-3));
        let convex = solve(&problem.relaxed(&gamma), &solver, None).unwrap();
        for (a, b) in coulomb.velocity().iter().zip(convex.velocity()) {
            assert!((a - b).abs() <= 1e-9, "{} seed {seed}: {a} and {b}", kind.name());
        }
    }
    assert!(sliding > 300, "only {sliding} problems slide");
}

/// Newton's method converges from impulses that are slightly off to a solution nearby.
#[test]
fn a_warm_start_near_a_solution_converges_by_newton() {
    let solver = Solver::default();
    let (mut tried, mut taken) = (0, 0);
    for seed in 0..600 {
        let (kind, problem) = mixture(seed);
        let exact = solve(&problem, &solver, None).unwrap();
        if exact.work().stage == Stage::Zero {
            continue;
        }
        let off = |(k, z): (usize, &f64)| z * (1.0 + if k % 2 == 0 { 1e-8 } else { -1e-8 });
        let warm_start = WarmStart { z: exact.z().iter().enumerate().map(off).collect(), basis: None };
        let again = solve(&problem, &solver, Some(&warm_start)).unwrap();
        tried += 1;
        taken += usize::from(again.work().stage == Stage::Newton);
        // jammed bodies have a continuum of solutions: the one near the warm start is valid too
        for (a, b) in exact.velocity().iter().zip(again.velocity()) {
            assert!((a - b).abs() <= 1e-4, "{} seed {seed}: {a} and {b}", kind.name());
        }
    }
    // the others are farther from a solution than Newton's method accepts, or jammed
    assert!(2 * taken > tried, "{taken} of {tried}");
}

#[test]
fn the_fixed_point_finds_coulomb_solutions_or_reports_failure() {
    let solver = Solver { tolerance: 1e-10, ..Method::FixedPoint(200).into() };
    let (mut found, mut gave_up) = (0, 0);
    for seed in 0..300 {
        let (_, problem) = mixture(seed);
        match solve(&problem, &solver, None) {
            Ok(solution) => {
                found += 1;
                assert_eq!(solution.law(), FrictionLaw::Coulomb);
                assert!(certify(&problem, solution.z()).unwrap().certificate.passes(1e-10));
            }
            Err(LcpError::Budget { best, .. }) => {
                gave_up += 1;
                assert!(!best.certificate.passes(1e-10));
            }
            Err(other) => panic!("seed {seed}: {other}"),
        }
    }
    assert!(found > gave_up, "{found} found, {gave_up} not");
}

/// Block between two walls: its friction cone is pointed below μ = 1, and the block is jammed above.
#[test]
fn pointed_cones_come_with_their_proof() {
    let contact = |nx: f64, ny: f64, mu: f64| Contact {
        normal: Some(OffsetRow { row: Row::one(0, &[nx, ny]), offset: 0.0 }),
        tangents: [OffsetRow { row: Row::one(0, &[-ny, nx]), offset: 0.0 }].into_iter().collect(),
        set: FrictionSet::line(),
        mu,
        kappa: 0.0,
        bound_by: None,
    };
    let wedge = |mu: f64| StepProblem {
        bodies: vec![Body::new(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, 0.0])],
        // two walls that open at 90°
        contacts: vec![
            contact(0.5_f64.sqrt(), 0.5_f64.sqrt(), mu),
            contact(-(0.5_f64.sqrt()), 0.5_f64.sqrt(), mu),
        ],
        speed_scale: 1.0,
        ..StepProblem::default()
    };
    // the cones of half-angle atan μ touch across at μ = 1
    let Pointed::Yes { velocity } = wedge(0.99).pointed().unwrap() else { panic!("must be pointed") };
    for edge in [[0.01, 1.99], [1.99, 0.01], [-0.01, 1.99], [-1.99, 0.01]] {
        let s = 0.5_f64.sqrt();
        assert!(s * (edge[0] * velocity[0] + edge[1] * velocity[1]) > 0.0);
    }
    let Pointed::No { impulses } = wedge(1.01).pointed().unwrap() else { panic!("must not be pointed") };
    let candidate = certify(&wedge(1.01), &impulses).unwrap();
    assert!(impulses[0] + impulses[3] > 0.1);
    assert!(candidate.velocity.iter().all(|v| v.abs() < 1e-12), "{:?}", candidate.velocity);
    assert_eq!(candidate.certificate.cone, 0.0);
}

/// Slider dragged by a velocity-controlled actuator of limited force: impulse at most κ.
#[test]
fn a_friction_block_without_a_normal_row_is_a_limited_motor() {
    let motor = |kappa: f64| StepProblem {
        bodies: vec![Body::new(1, &[2.0], &[0.0])],
        contacts: vec![Contact {
            normal: None,
            tangents: [OffsetRow { row: Row::one(0, &[1.0]), offset: -3.0 }].into_iter().collect(),
            set: FrictionSet::line(),
            mu: 0.0,
            kappa,
            bound_by: None,
        }],
        speed_scale: 1.0,
        ..StepProblem::default()
    };
    let strong = solve(&motor(10.0), &Solver::default(), None).unwrap();
    assert_near(strong.velocity(), &[3.0], 1e-14);
    let weak = solve(&motor(4.0), &Solver::default(), None).unwrap();
    assert_near(weak.velocity(), &[2.0], 1e-14);
    assert_near(weak.z(), &[4.0, 0.0], 1e-14);
}

#[test]
fn an_ellipse_is_certified_and_solved_but_not_pivoted() {
    let mut problem = disk(3.0);
    let contact = &mut problem.contacts[0];
    contact.tangents.push(OffsetRow { row: Row::one(0, &[0.0, 0.0, 0.0]), offset: 0.0 });
    contact.set = FrictionSet::circle();
    let error = solve(&problem, &Method::Lemke(Lemke::default()).into(), None).unwrap_err();
    assert_eq!(error.status(), "unsupported");
    let solved = solve(&problem, &Solver::default(), None).unwrap();
    assert_near(solved.z(), &[0.4905, -0.14715, 0.0], 1e-12);
    let slip = certify(&problem, &[0.4905, -0.14715, 0.0]).unwrap();
    assert!(slip.certificate.passes(1e-12), "{:?}", slip.certificate);
    let wrong = certify(&problem, &[0.4905, -0.147, 0.0]).unwrap();
    assert!(!wrong.certificate.passes(1e-5));
}

/// Nearly tied rows: the basis that Lemke's method ends in is off by less than the tie tolerance, which is more than
/// the certificate allows.
#[test]
fn wedged_bodies_are_solved_to_the_tolerance() {
    for text in [
        include_str!("data/corner-pile-1.json"),
        include_str!("data/corner-pile-2.json"),
        include_str!("data/corner-pile-3.json"),
        include_str!("data/corner-pile-ray.json"),
        include_str!("data/corner-pile-slip.json"),
    ] {
        let file = ProblemFile::from_json(text).unwrap();
        let solver = Solver { tolerance: 1e-10, ..Method::Lemke(Lemke::default()).into() };
        let solution = solve(&file.problem, &solver, None).unwrap();
        assert_eq!(solution.law(), FrictionLaw::Coulomb);
        assert!(certify(&file.problem, solution.z()).unwrap().certificate.passes(1e-10), "{:?}", file.name);
    }
}

/// Offsets of 158 m/s beside speeds of 0.02 m/s: residuals measured by the largest offset left 6e-10.
#[test]
fn contacts_far_apart_do_not_spoil_the_solution() {
    let file = ProblemFile::from_json(include_str!("data/far-apart.json")).unwrap();
    let solution = solve(&file.problem, &Method::Lemke(Lemke::default()).into(), None).unwrap();
    assert!(solution.certificate().worst() <= 1e-11, "{:?}", solution.certificate());
}

#[test]
fn a_contact_on_a_body_with_gyroscopic_coupling_is_solved() {
    // M̃ is not symmetric and there is no joint: the speed without impulses follows from M̃ itself
    let mut problem = disk(2.0);
    problem.bodies[0].mass[(0, 2)] = 0.4;
    problem.bodies[0].mass[(2, 0)] = -0.4;
    let solution = solve(&problem, &Solver::default(), None).unwrap();
    assert!(solution.certificate().worst() < 1e-14, "{:?}", solution.certificate());
    // slip: c_n = Gh, friction −0.3 Gh; 1·v_x + 0.4 ω = f, −0.4 v_x + 0.5 ω = 1 + f
    let f = -0.3 * G * H;
    let spin = (1.0 + f + 0.4 * f) / (0.5 + 0.16);
    assert_near(solution.velocity(), &[f - 0.4 * spin, 0.0, spin], 1e-14);
}
