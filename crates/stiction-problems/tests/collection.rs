//! Folder `problems/`: the files equal their formulas, and their expectations hold.

use nalgebra::{DMatrix, DVector};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use stiction_lcp::enumerate::{Enumerate, Solutions};
use stiction_lcp::problem::{AnyProblem, Expected, ProblemFile};
use stiction_lcp::{FrictionLaw, FrictionSet, Lcp, Mlcp, Problem, Row, StepProblem, certify};
use stiction_problems::collection;

fn folder() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../problems"))
}

fn files() -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "json") {
            let stem = path.file_stem().unwrap().to_str().unwrap().to_owned();
            files.insert(stem, std::fs::read_to_string(&path).unwrap());
        }
    }
    files
}

/// Equality up to the last digits, in which sines may differ between machines.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => {
            let (a, b) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            (a - b).abs() <= 1e-13 * a.abs().max(b.abs())
        }
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

fn near(a: &[f64], b: &[f64], tolerance: f64) -> bool {
    let size = b.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| (a - b).abs() <= tolerance * size)
}

#[test]
fn files_equal_their_formulas() {
    let mut files = files();
    for (name, made) in collection::all() {
        let text = files.remove(&name).unwrap_or_else(|| panic!("{name}.json is missing"));
        let read = ProblemFile::from_json(&text).unwrap_or_else(|e| panic!("{name}.json: {e}"));
        assert_eq!(ProblemFile::from_json(&read.to_json()).as_ref(), Ok(&read), "{name}");
        let parse = |text: &str| serde_json::from_str::<Value>(text).unwrap();
        assert!(
            same(&parse(&text), &parse(&made.to_json())),
            "{name}.json differs from its formula: run the example write_problems"
        );
    }
    assert!(files.is_empty(), "no formula makes {:?}", files.keys());
}

#[test]
fn every_file_is_in_the_table_with_a_source() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    for (name, file) in collection::all() {
        assert!(readme.contains(&format!("`{name}`")), "{name} is not in problems/README.md");
        for words in [&file.name, &file.source, &file.note] {
            assert!(words.as_ref().is_some_and(|w| !w.is_empty()), "{name}");
        }
        assert!(
            file.note.is_some_and(|note| readme.contains(&note)),
            "the note of {name} is not in the table"
        );
        assert!(file.expected.is_some(), "{name}");
    }
}

#[test]
fn listed_solutions_certify_with_their_velocity() {
    for (name, file) in collection::all() {
        let expected = file.expected.unwrap();
        assert_eq!(expected.solvable, !expected.solutions.is_empty(), "{name}");
        for z in &expected.solutions {
            let problem = Problem::from(&file.problem);
            assert_eq!(z.len(), problem.size(), "{name}");
            let candidate = certify(problem, z).unwrap();
            let worst = candidate.certificate.worst();
            assert!(worst <= 1e-12, "{name}: {z:?} has residual {worst:e}: {:?}", candidate.certificate);
            if !expected.velocity.is_empty() {
                assert!(
                    near(&candidate.velocity, &expected.velocity, 1e-12),
                    "{name}: {:?}",
                    candidate.velocity
                );
            }
        }
    }
}

#[test]
fn dense_expectations_hold_over_all_bases() {
    for (name, file) in collection::all() {
        let found = match &file.problem {
            AnyProblem::Lcp(lcp) => Enumerate::default().all(lcp),
            AnyProblem::Mlcp(mlcp) => Enumerate::default().mixed(mlcp),
            AnyProblem::Step(_) | AnyProblem::Local(_) => continue,
        };
        let (found, expected) = (found.unwrap(), file.expected.unwrap());
        assert!(found.complete() && found.residual <= 1e-9, "{name}: {found:?}");
        assert_eq!(found.solvable(), expected.solvable, "{name}: {found:?}");
        assert_eq!(Some(found.continuum), expected.continuum, "{name}: {found:?}");
        assert_eq!(Some(found.isolated.len()), expected.isolated, "{name}: {found:?}");
        if !found.continuum {
            for z in &expected.solutions {
                // 1e-9 for the Hilbert matrix
                assert!(found.isolated.iter().any(|f| near(f, z, 1e-9)), "{name}: {z:?} not in {found:?}");
            }
        }
    }
}

#[test]
fn step_expectations_hold_over_all_bases() {
    let mut enumerated = Vec::new();
    for (name, file) in collection::all() {
        let AnyProblem::Step(step) = &file.problem else { continue };
        let Some((mlcp, impulses)) = literal(step) else { continue };
        if mlcp.free.iter().filter(|free| !**free).count() > Enumerate::MAX_COMPLEMENTARY {
            continue;
        }
        let found = Enumerate::default().mixed(&mlcp).unwrap();
        check_step(&name, step, &found, &impulses, &file.expected.unwrap());
        enumerated.push(name);
    }
    assert!(enumerated.len() >= 25, "{enumerated:?}");
}

fn check_step(name: &str, step: &StepProblem, found: &Solutions, impulses: &[usize], expected: &Expected) {
    assert!(found.complete(), "{name}: {found:?}");
    assert_eq!(found.solvable(), expected.solvable, "{name}: {found:?}");
    let velocities = step.layout().velocities();
    for point in found.points() {
        let z: Vec<f64> = impulses.iter().map(|&i| point[i]).collect();
        let certificate = certify(step, &z).unwrap().certificate;
        assert!(certificate.worst() <= 1e-11, "{name}: {z:?} {certificate:?}");
        if !expected.velocity.is_empty() {
            let v = &point[..velocities];
            assert!(near(v, &expected.velocity, 1e-11), "{name}: {v:?}");
        }
        if expected.continuum == Some(false) {
            assert!(expected.solutions.iter().any(|e| near(&z, e, 1e-11)), "{name}: {z:?} is not listed");
        }
    }
    if expected.continuum == Some(true) {
        assert!(found.continuum && found.isolated.is_empty(), "{name}: {found:?}");
    }
}

/// Step problem as a mixed problem, row by row as in AH04 (2.10): velocities and joint impulses free, then normal
/// impulse, β and λ of each contact; and the positions of its impulses. `None` for friction that is not polygonal.
fn literal(step: &StepProblem) -> Option<(Mlcp, Vec<usize>)> {
    let layout = step.layout();
    let (velocities, joints) = (layout.velocities(), step.joints.len());
    let has_friction = |c: &stiction_lcp::Contact| usize::from(!c.tangents.is_empty());
    let n = velocities + layout.impulses + step.contacts.iter().map(has_friction).sum::<usize>();
    let mut m = DMatrix::zeros(n, n);
    let mut q = DVector::zeros(n);
    for j in 0..velocities {
        let (mut unit, mut column) = (vec![0.0; velocities], vec![0.0; velocities]);
        unit[j] = 1.0;
        step.multiply_mass(&layout.velocity, &unit, &mut column);
        (0..velocities).for_each(|i| m[(i, j)] = column[i]);
    }
    for (body, &start) in step.bodies.iter().zip(&layout.velocity) {
        (0..body.velocities).for_each(|k| q[start + k] = -body.momentum[k]);
    }
    let add = |m: &mut DMatrix<f64>, k: usize, row: &Row, factor: f64| {
        row.for_each(&layout.velocity, |i, x| {
            m[(k, i)] += factor * x;
            m[(i, k)] -= factor * x;
        });
    };
    let mut impulses: Vec<usize> = (velocities..velocities + joints).collect();
    for (k, joint) in impulses.iter().zip(&step.joints) {
        add(&mut m, *k, &joint.row.row, 1.0);
        m[(*k, *k)] = joint.compliance;
        q[*k] = joint.row.offset;
    }
    let mut at = velocities + joints;
    let mut normals = Vec::new();
    for contact in &step.contacts {
        let normal = contact.normal.as_ref().map(|row| {
            add(&mut m, at, &row.row, 1.0);
            q[at] = row.offset;
            impulses.push(at);
            at += 1;
            at - 1
        });
        normals.push(normal);
        let normal = normal.or_else(|| contact.bound_by.and_then(|bound_by| normals[bound_by]));
        if contact.tangents.is_empty() {
            continue;
        }
        let FrictionSet::Polygon(generators) = &contact.set else { return None };
        let lambda = at + generators.len();
        for f in generators.iter() {
            for (tangent, f) in contact.tangents.iter().zip(f) {
                add(&mut m, at, &tangent.row, *f);
                q[at] += f * tangent.offset;
            }
            (m[(at, lambda)], m[(lambda, at)]) = (1.0, -1.0);
            impulses.push(at);
            at += 1;
        }
        q[lambda] = contact.kappa;
        if let Some(normal) = normal {
            m[(lambda, normal)] = contact.mu;
            if step.law == FrictionLaw::Convex {
                m[(normal, lambda)] = -contact.mu;
            }
        }
        at += 1;
    }
    let free = (0..n).map(|i| i < velocities + joints).collect();
    Some((Mlcp { m, q, free }, impulses))
}

/// Bases visited by principal pivots, in rows that `choose` takes from the violated ones.
fn principal_pivots(
    lcp: &Lcp,
    mut basis: Vec<usize>,
    most: usize,
    choose: impl Fn(Vec<usize>) -> Vec<usize>,
) -> Vec<Vec<usize>> {
    let (m, q) = (&lcp.m, &lcp.q);
    let mut visited = vec![basis.clone()];
    for _ in 0..most {
        let k = basis.len();
        let sub = DMatrix::from_fn(k, k, |i, j| m[(basis[i], basis[j])]);
        let right = DVector::from_fn(k, |i, _| -q[basis[i]]);
        let solved = if k == 0 { right } else { sub.full_piv_lu().solve(&right).unwrap() };
        let mut z = DVector::zeros(q.len());
        basis.iter().zip(solved.iter()).for_each(|(&i, &x)| z[i] = x);
        let w = m * &z + q;
        let infeasible = |i: &usize| if basis.contains(i) { z[*i] < -1e-9 } else { w[*i] < -1e-9 };
        let exchanged = choose((0..q.len()).filter(infeasible).collect());
        if exchanged.is_empty() {
            break;
        }
        basis = (0..q.len()).filter(|i| basis.contains(i) != exchanged.contains(i)).collect();
        visited.push(basis.clone());
    }
    visited
}

fn dense(name: &str) -> Lcp {
    let (_, file) = collection::all().into_iter().find(|(other, _)| other == name).unwrap();
    let AnyProblem::Lcp(lcp) = file.problem else { panic!("{name} is not dense") };
    lcp
}

#[test]
fn block_pivoting_cycles_where_the_note_says_so() {
    let visited = principal_pivots(&dense("cycling"), vec![0], 6, |all| all);
    assert_eq!(visited[1..4], [vec![0, 1], vec![1, 2], vec![0, 2]]);
    assert_eq!(visited[4..7], visited[1..4]);
}

#[test]
fn pivoting_in_the_last_infeasible_row_takes_exponentially_many_steps() {
    for n in [2, 3, 4, 5, 6, 10] {
        for family in ["murty", "fathi"] {
            let last = |all: Vec<usize>| all.last().map(|&i| vec![i]).unwrap_or_default();
            let visited = principal_pivots(&dense(&format!("{family}-{n}")), vec![], 2000, last);
            assert_eq!(visited.len(), 1 << n, "{family}-{n}");
        }
    }
}
