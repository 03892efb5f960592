//! Contact with friction at velocity level: towers, boxes, jams and random heaps.

use super::{assert_solved, lcp, natural_residual};
use crate::lemke::{Basis, Lemke, LemkeEnd, LemkeWorkspace};
use crate::problem::Lcp;
use nalgebra::{DMatrix, DVector, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Rigid body: mass [kg], diagonal inertia [kg m²], centre [m], velocity with gravity applied [m/s, rad/s].
struct PlacedBody {
    mass: f64,
    inertia: Vector3<f64>,
    centre: Vector3<f64>,
    velocity: [f64; 6],
}

/// Contact: body `b` is pushed along `normal`, body `a` (the world if none) against it.
struct PlacedContact {
    a: Option<usize>,
    b: usize,
    point: Vector3<f64>,
    normal: Vector3<f64>,
    friction: f64,
}

fn tangents(normal: &Vector3<f64>) -> (Vector3<f64>, Vector3<f64>) {
    let aside = if normal.x.abs() < 0.9 { Vector3::x() } else { Vector3::y() };
    let first = (aside - normal * normal.dot(&aside)).normalize();
    (first, normal.cross(&first))
}

/// Dense problem `z = (c_n, β, λ), M = [[NᵀM⁻¹N, NᵀM⁻¹D, 0], [DᵀM⁻¹N, DᵀM⁻¹D, E], [μ, −Eᵀ, 0]], q = [Nᵀv, Dᵀv, 0]`.
fn condensed(bodies: &[PlacedBody], touches: &[PlacedContact], directions: usize) -> Lcp {
    let (contacts, dof) = (touches.len(), 6 * bodies.len());
    let impulses = contacts * (1 + directions);
    let mut jacobian = DMatrix::<f64>::zeros(impulses, dof);
    for (k, touch) in touches.iter().enumerate() {
        let (t1, t2) = tangents(&touch.normal);
        let mut put = |row: usize, direction: Vector3<f64>| {
            for (body, sign) in [(touch.a, -1.0), (Some(touch.b), 1.0)] {
                let Some(body) = body else { continue };
                let moment = (touch.point - bodies[body].centre).cross(&direction);
                for axis in 0..3 {
                    jacobian[(row, 6 * body + axis)] += sign * direction[axis];
                    jacobian[(row, 6 * body + 3 + axis)] += sign * moment[axis];
                }
            }
        };
        put(k, touch.normal);
        for i in 0..directions {
            // exact opposites, as quarter turns of floating-point sines would not be
            let half = directions / 2;
            let angle = std::f64::consts::PI * (i % half) as f64 / half as f64;
            let sign = if i < half { 1.0 } else { -1.0 };
            put(contacts + k * directions + i, (t1 * angle.cos() + t2 * angle.sin()) * sign);
        }
    }
    let mut scaled = jacobian.clone();
    for (i, body) in bodies.iter().enumerate() {
        for axis in 0..3 {
            scaled.column_mut(6 * i + axis).scale_mut(1.0 / body.mass);
            scaled.column_mut(6 * i + 3 + axis).scale_mut(1.0 / body.inertia[axis]);
        }
    }
    let velocity = DVector::from_iterator(dof, bodies.iter().flat_map(|body| body.velocity));
    let n = impulses + contacts;
    let mut m = DMatrix::<f64>::zeros(n, n);
    m.view_mut((0, 0), (impulses, impulses)).copy_from(&(&scaled * jacobian.transpose()));
    for (k, touch) in touches.iter().enumerate() {
        m[(impulses + k, k)] = touch.friction;
        for i in 0..directions {
            let beta = contacts + k * directions + i;
            m[(beta, impulses + k)] = 1.0;
            m[(impulses + k, beta)] = -1.0;
        }
    }
    let mut q = DVector::zeros(n);
    q.rows_mut(0, impulses).copy_from(&(jacobian * velocity));
    lcp(m, q)
}

fn around_zero<const N: usize>(rng: &mut ChaCha8Rng, size: f64) -> [f64; N] {
    std::array::from_fn(|_| rng.random_range(-size..size))
}

fn unit_box(rng: &mut ChaCha8Rng, centre: Vector3<f64>, speed: f64) -> PlacedBody {
    let mut velocity = around_zero(rng, speed);
    velocity[2] -= 9.81 * 0.01;
    PlacedBody { mass: 1.0, inertia: Vector3::repeat(1.0 / 6.0), centre, velocity }
}

/// Unit boxes on top of each other, four corner contacts at every interface.
fn tower(rng: &mut ChaCha8Rng, boxes: usize, friction: f64) -> (Vec<PlacedBody>, Vec<PlacedContact>) {
    let bodies = (0..boxes).map(|k| unit_box(rng, Vector3::new(0.0, 0.0, k as f64 + 0.5), 0.1)).collect();
    let mut touches = Vec::new();
    for k in 0..boxes {
        for (x, y) in [(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)] {
            let point = Vector3::new(x, y, k as f64);
            touches.push(PlacedContact { a: k.checked_sub(1), b: k, point, normal: Vector3::z(), friction });
        }
    }
    (bodies, touches)
}

/// A box between two walls, four corners on each, and sometimes on the floor as well.
fn jam(rng: &mut ChaCha8Rng, friction: f64) -> (Vec<PlacedBody>, Vec<PlacedContact>) {
    let (bodies, mut touches) = tower(rng, 1, friction);
    if rng.random_range(0..2) == 0 {
        touches.clear();
    }
    for side in [-1.0, 1.0] {
        for (y, z) in [(-0.5, 0.0), (0.5, 0.0), (0.5, 1.0), (-0.5, 1.0)] {
            let point = Vector3::new(0.5 * side, y, z);
            touches.push(PlacedContact { a: None, b: 0, point, normal: -Vector3::x() * side, friction });
        }
    }
    (bodies, touches)
}

/// One to four bodies, one to eleven contacts, some of them repeated or reversed.
fn heap(rng: &mut ChaCha8Rng, friction: f64) -> (Vec<PlacedBody>, Vec<PlacedContact>) {
    let bodies: Vec<PlacedBody> = (0..rng.random_range(1..5))
        .map(|_| PlacedBody {
            mass: rng.random_range(0.2..5.0),
            inertia: Vector3::from(around_zero(rng, 0.5)).add_scalar(0.7),
            centre: Vector3::from(around_zero(rng, 1.0)),
            velocity: around_zero(rng, 1.0),
        })
        .collect();
    let mut touches: Vec<PlacedContact> = Vec::new();
    for _ in 0..rng.random_range(1..12) {
        let kind = rng.random_range(0..10);
        if let Some(last) = touches.last()
            && kind < 3
        {
            let normal = if kind == 0 { -last.normal } else { last.normal };
            touches.push(PlacedContact { a: last.a, b: last.b, point: last.point, normal, friction });
            continue;
        }
        let b = rng.random_range(0..bodies.len());
        let a = Some(rng.random_range(0..bodies.len())).filter(|&a| a != b);
        let point = bodies[b].centre + Vector3::from(around_zero(rng, 1.0));
        let normal = Vector3::from(around_zero(rng, 1.0)).normalize();
        touches.push(PlacedContact { a, b, point, normal, friction });
    }
    (bodies, touches)
}

fn contact_scene(rng: &mut ChaCha8Rng, case: usize) -> (Vec<PlacedBody>, Vec<PlacedContact>, usize) {
    let friction = [0.0, 0.1, 0.4, 0.8, 1.5][rng.random_range(0..5)];
    let directions = [2, 4, 8][rng.random_range(0..3)];
    let (bodies, touches) = match case % 10 {
        0 => tower(rng, 1, friction),
        1 => tower(rng, 2, friction),
        2 => tower(rng, 3, friction),
        3 => jam(rng, friction),
        _ => heap(rng, friction),
    };
    (bodies, touches, directions)
}

fn contact_problem(rng: &mut ChaCha8Rng, case: usize) -> Lcp {
    let (bodies, touches, directions) = contact_scene(rng, case);
    condensed(&bodies, &touches, directions)
}

#[test]
fn two_thousand_contact_problems() {
    let mut workspace = LemkeWorkspace::default();
    let mut rng = ChaCha8Rng::seed_from_u64(2000);
    let (mut failures, mut repaired, mut worst) = (Vec::new(), 0, 0.0_f64);
    for case in 0..2000 {
        let problem = contact_problem(&mut rng, case);
        let run = Lemke::default().run_in(&problem, None, &mut workspace);
        let residual = natural_residual(&problem, &run.z);
        if run.end != LemkeEnd::Solved || residual > 1e-10 {
            failures.push((case, problem.q.len(), residual, format!("{:?}", run.end), run.pivots));
        } else {
            worst = worst.max(residual);
        }
        repaired += usize::from(run.refactorizations > 0);
        assert!(2 * run.pivots <= 5 * problem.q.len() + 20, "{} pivots for {case}", run.pivots);
    }
    assert!(worst <= 1e-10 && repaired < 200, "worst residual {worst:e}, {repaired} repaired");
    assert!(failures.is_empty(), "{} failures: {failures:#?}", failures.len());
}

#[test]
fn warm_start_from_its_own_basis_needs_no_pivot() {
    let mut workspace = LemkeWorkspace::default();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for case in 0..400 {
        let problem = contact_problem(&mut rng, case);
        let cold = Lemke::default().run_in(&problem, None, &mut workspace);
        let warm = Lemke::default().run_in(&problem, Some(&cold.basis), &mut workspace);
        assert_solved(&problem, &warm);
        assert_eq!((warm.pivots, warm.restarted), (0, false), "case {case}");
    }
}

#[test]
fn warm_start_after_a_small_change() {
    let mut workspace = LemkeWorkspace::default();
    let mut rng = ChaCha8Rng::seed_from_u64(4);
    let (mut cold_pivots, mut warm_pivots) = (0, 0);
    for case in 0..400 {
        let (mut bodies, touches, directions) = contact_scene(&mut rng, case);
        let problem = condensed(&bodies, &touches, directions);
        let basis = Lemke::default().run_in(&problem, None, &mut workspace).basis;
        for velocity in bodies.iter_mut().flat_map(|body| &mut body.velocity) {
            *velocity += rng.random_range(-0.03..0.03);
        }
        let problem = condensed(&bodies, &touches, directions);
        let cold = Lemke::default().run_in(&problem, None, &mut workspace);
        let warm = Lemke::default().run_in(&problem, Some(&basis), &mut workspace);
        assert_solved(&problem, &cold);
        assert_solved(&problem, &warm);
        cold_pivots += cold.pivots;
        warm_pivots += warm.pivots;
    }
    assert!(2 * warm_pivots < cold_pivots, "{warm_pivots} pivots warm, {cold_pivots} cold");
}

#[test]
fn any_basis_may_be_given() {
    let mut workspace = LemkeWorkspace::default();
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    let mut restarts = 0;
    for case in 0..400 {
        let problem = contact_problem(&mut rng, case);
        let n = problem.q.len();
        let length = if case % 20 == 0 { n + 1 } else { n };
        let basis = Basis((0..length).map(|_| rng.random_range(0..2) == 0).collect());
        let run = Lemke::default().run_in(&problem, Some(&basis), &mut workspace);
        assert_solved(&problem, &run);
        restarts += usize::from(run.restarted);
    }
    // a random basis of contact is seldom a start
    assert!(restarts > 0, "{restarts} restarts");
}

/// Problem in other units: `z = (c_n, β, λ)` is [N s], [N s], [m/s], the rows [m/s], [m/s], [N s].
fn in_units(problem: &Lcp, mass: f64, speed: f64) -> (Lcp, Vec<f64>) {
    let n = problem.q.len();
    let bound: Vec<bool> = (0..n).map(|i| problem.m[(i, i)] == 0.0).collect();
    let row: Vec<f64> = bound.iter().map(|&bound| if bound { mass * speed } else { speed }).collect();
    let unknown: Vec<f64> = bound.iter().map(|&bound| if bound { speed } else { mass * speed }).collect();
    let m = DMatrix::from_fn(n, n, |i, j| problem.m[(i, j)] * row[i] / unknown[j]);
    (lcp(m, DVector::from_fn(n, |i, _| problem.q[i] * row[i])), unknown)
}

#[test]
fn units_do_not_matter() {
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let (mut same, mut count) = (0, 0);
    for case in 0..200 {
        let problem = contact_problem(&mut rng, case);
        let original = Lemke::default().run(&problem, None);
        // even powers of two pass through every square root: the path is the same to the last bit
        for (mass, speed) in [(4.0_f64.powi(10), 2.0_f64.powi(-20)), (4.0_f64.powi(-10), 2.0_f64.powi(20))] {
            let (changed, unknown) = in_units(&problem, mass, speed);
            let run = Lemke::default().run(&changed, None);
            assert_eq!(run.pivots, original.pivots);
            let expected: Vec<f64> = original.z.iter().zip(&unknown).map(|(z, u)| z * u).collect();
            assert_eq!(run.z, expected);
        }
        for (mass, speed) in [(1e6, 1.0), (1e-6, 1.0), (1.0, 1e6), (1e-6, 1e-6), (1e6, 1e-6), (1e6, 1e6)] {
            let (changed, unknown) = in_units(&problem, mass, speed);
            let mut run = Lemke::default().run(&changed, None);
            run.z.iter_mut().zip(&unknown).for_each(|(z, u)| *z /= u);
            assert_solved(&problem, &run);
            same += usize::from(run.pivots == original.pivots);
            count += 1;
        }
    }
    assert!(10 * same > 9 * count, "{same} of {count}");
}

#[test]
fn repeated_contacts_do_not_cycle() {
    // equal q up to rounding once left rows lexicographically negative when z₀ entered
    let mut rng = ChaCha8Rng::seed_from_u64(105);
    for case in 0..1163 {
        contact_scene(&mut rng, case);
    }
    let problem = contact_problem(&mut rng, 1163);
    assert_solved(&problem, &Lemke::default().run(&problem, None));
}

#[test]
fn heavy_boxes_on_light_ones() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    for ratio in [1e1, 1e2, 1e3] {
        for boxes in (2..8).cycle().take(60) {
            let (mut bodies, touches) = tower(&mut rng, boxes, 0.5);
            let top = &mut bodies[boxes - 1];
            top.mass *= ratio;
            top.inertia *= ratio;
            let problem = condensed(&bodies, &touches, 4);
            assert_solved(&problem, &Lemke::default().run(&problem, None));
        }
    }
}
