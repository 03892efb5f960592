//! Proofs: which contacts are dropped, and that each has a proof.

use crate::common::{
    G, H, HALF, all_contacts, assert_proofs, bar, dense, floor, in_plane, in_space, kept, material, slab,
    sliding, step,
};
use nalgebra::{Isometry3, Point3, Vector2, Vector3};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use stiction::spatial::{Attached, Body, Mass, Shape, Twist};
use stiction::{ContactRow, Dropped, Scheme, planar};
use stiction_geometry::spatial::Polyhedron;
use stiction_lcp::FrictionSet;

/// Speed to which Δ is relative in steps of size H; see `Dropped::defect`.
const SPEED: f64 = 0.01 * HALF / H;

#[test]
fn a_tiled_face_stands_on_its_corners() {
    for friction in [0.0, 0.5] {
        let mut simulation = in_space(&sliding(friction, Vector3::zeros()), Scheme::first_order());
        for _ in 0..20 {
            let rows = all_contacts(&simulation);
            let report = step(&mut simulation);
            assert_eq!((kept(&report), report.work.proven, report.work.limited), (4, 96, 0));
            // the corners are kept, and all contacts share the load
            for contact in &report.contacts {
                let dropped = report.dropped.iter().any(|d| d.contact == contact.id);
                let corner = contact.point[..2].iter().all(|x| (x.abs() - 0.5).abs() < 1e-9);
                assert_eq!(dropped, !corner, "{contact:?}");
                assert!((contact.normal_impulse - report.contacts[0].normal_impulse).abs() < 1e-12);
            }
            assert_proofs(simulation.system(), &rows, &report);
        }
    }
}

#[test]
fn a_tiled_edge_stands_on_its_ends() {
    for friction in [0.0, 0.5] {
        let mut simulation = in_plane(&bar(friction, 0.0, planar::Twist::default()), Scheme::first_order());
        for _ in 0..20 {
            let rows = all_contacts(&simulation);
            let report = step(&mut simulation);
            assert_eq!((kept(&report), report.work.proven, report.work.limited), (2, 8, 0));
            assert_proofs(simulation.system(), &rows, &report);
        }
    }
}

/// Box with hundreds of vertices in its faces.
#[test]
fn points_in_faces_are_no_contacts() {
    let steps = || (0..=10).map(|k| 0.1 * f64::from(k) - 0.5);
    let grid = || steps().flat_map(|x| steps().map(move |y| (x, y)));
    let faces = |(x, y)| {
        let at = Point3::new;
        [at(x, y, 0.5), at(x, y, -0.5), at(x, 0.5, y), at(x, -0.5, y), at(0.5, x, y), at(-0.5, x, y)]
    };
    let points: Vec<Point3<f64>> = grid().flat_map(faces).collect();
    let shape = Shape::Polyhedron(Polyhedron::new(&points).expect("a box").into());
    for on_cuboid in [false, true] {
        let mut world = floor(0.5);
        let mut height = 0.5;
        if on_cuboid {
            let slab = Attached::new(Shape::Cuboid { half_extents: [2.0, 2.0, 0.5] }).material(material(0.5));
            world.add_body(Body::fixed("slab").at(Isometry3::translation(0.0, 0.0, 0.5)).with(slab));
            height = 1.5;
        }
        let body = Body::rigid("box", Mass::Density(100.0)).at(Isometry3::translation(0.0, 0.0, height));
        world.add_body(body.with(Attached::new(shape.clone()).material(material(0.5))));
        let mut simulation = in_space(&world, Scheme::first_order());
        assert_eq!(kept(&step(&mut simulation)), 4, "on a cuboid: {on_cuboid}");
    }
}

/// Prescribed motion is combined too: a table that rises and rotates.
#[test]
fn prescribed_motion_is_combined() {
    let mut world = stiction::spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let spin = Vector3::new(0.0, 0.0, 0.7);
    let path = stiction::spatial::Path::new(move |t| {
        let turn = nalgebra::UnitQuaternion::from_scaled_axis(t * spin);
        let at = Vector3::new(0.1, 0.0, 0.2 * t);
        (Isometry3::from_parts(at.into(), turn), Twist::new(Vector3::new(0.0, 0.0, 0.2), spin))
    });
    let table = Attached::new(Shape::HalfSpace).material(material(0.5));
    world.add_body(Body::kinematic("table", path).with(table));
    world.add_body(crate::common::tiled(material(0.5)).at(Isometry3::translation(0.0, 0.0, HALF)));
    let mut simulation = in_space(&world, Scheme::first_order());
    for _ in 0..20 {
        let rows = all_contacts(&simulation);
        assert!(rows.iter().any(|c| c.tangents.iter().any(|t| t.offset.abs() > 0.1)));
        let report = step(&mut simulation);
        // far from its axis the table is fast, so that the upper face is within the search distance as well; its
        // friction acts at another height, so it keeps its own corners
        assert_eq!((kept(&report), report.work.proven), (8, 192));
        assert_proofs(simulation.system(), &rows, &report);
    }
}

/// Dropped contact and kept contacts with Δ = Φ/h, and the proof.
fn proof() -> (Dropped, ContactRow, Vec<(ContactRow, f64)>) {
    let mut world = sliding(0.5, Vector3::new(1.0, 0.5, 0.0));
    world.facets = Some(stiction::spatial::Facets::default());
    let mut simulation = in_space(&world, Scheme::first_order());
    let rows = all_contacts(&simulation);
    let report = step(&mut simulation);
    let row = |id| rows.iter().find(|c| c.id == id).expect("a contact of the step").clone();
    let kept = report.contacts.iter().map(|c| row(c.id)).map(|c| (c.clone(), c.gap / H)).collect();
    let dropped = report.dropped.iter().find(|d| d.combination.len() == 3).expect("one inside").clone();
    (dropped.clone(), row(dropped.contact), kept)
}

#[test]
fn a_spoiled_proof_is_refused() {
    let (dropped, own, kept) = proof();
    let defect = |d: &Dropped, own: &ContactRow, offset: f64| d.defect(own, offset, &kept, SPEED);
    assert!(defect(&dropped, &own, own.gap / H) <= Dropped::TOLERANCE);
    // a gap below the combination is refused, one above it accepted
    assert!(defect(&dropped, &own, own.gap / H - 1e-6) > Dropped::TOLERANCE);
    assert!(defect(&dropped, &own, own.gap / H + 1.0) <= Dropped::TOLERANCE);
    assert!(defect(&dropped, &own, f64::NAN) > Dropped::TOLERANCE);
    for k in 0..3 {
        let mut other = dropped.clone();
        other.combination[k].1 += 1e-6;
        assert!(defect(&other, &own, 0.0) > Dropped::TOLERANCE);
        // a pull instead of a push
        other.combination[k].1 = -dropped.combination[k].1;
        assert!(defect(&other, &own, 0.0).is_infinite());
        other.combination[k].1 = f64::NAN;
        assert!(defect(&other, &own, 0.0).is_infinite());
        // indices are those of contacts of the step
        other.combination[k] = (kept.len(), dropped.combination[k].1);
        assert!(defect(&other, &own, 0.0).is_infinite());
    }
    let mut none = dropped.clone();
    none.combination.clear();
    assert!(defect(&none, &own, 0.0).is_infinite());

    let spoil: [fn(&mut ContactRow); 9] = [
        |c| c.mu = 0.6,
        |c| c.restitution = 0.1,
        |c| c.bodies[0].0 += 7,
        |c| c.id.feature += 8,
        |c| c.set = FrictionSet::regular(6).expect("a hexagon"),
        |c| c.set = FrictionSet::circle(),
        |c| c.tangents[1].offset += 1e-6,
        |c| c.tangents[0].row = c.tangents[1].row.clone(),
        |c| c.normal = c.tangents[0].row.clone(),
    ];
    for (k, spoil) in spoil.into_iter().enumerate() {
        let mut other = own.clone();
        spoil(&mut other);
        assert!(defect(&dropped, &other, own.gap / H) > Dropped::TOLERANCE, "{k}");
    }
}

/// Cones in another frame are compared by their generators: proofs hold for rotations that map the octagon to itself, and
/// for no others.
#[test]
fn rotated_frames_are_compared_as_cones() {
    let (dropped, own, kept) = proof();
    let turned = |degrees: f64| {
        let (sin, cos) = degrees.to_radians().sin_cos();
        let mut other = own.clone();
        let (a, b) = (own.tangents[0].clone(), own.tangents[1].clone());
        let mix = |x: f64, y: f64| {
            let row = |k: usize| {
                let (stiction_lcp::Row::Bodies(a), stiction_lcp::Row::Bodies(b)) = (&a.row, &b.row) else {
                    panic!("rows of bodies")
                };
                std::array::from_fn::<f64, 6, _>(|i| x * a[k].j[i] + y * b[k].j[i])
            };
            stiction_lcp::OffsetRow {
                row: stiction_lcp::Row::one(0, &row(0)),
                offset: x * a.offset + y * b.offset,
            }
        };
        other.tangents[0] = mix(cos, sin);
        other.tangents[1] = mix(-sin, cos);
        let [p, q] = own.tangent_directions;
        other.tangent_directions = [
            std::array::from_fn(|i| cos * p[i] + sin * q[i]),
            std::array::from_fn(|i| cos * q[i] - sin * p[i]),
        ];
        other
    };
    for (degrees, inside) in
        [(0.0, true), (45.0, true), (-90.0, true), (180.0, true), (10.0, false), (22.5, false)]
    {
        let defect = dropped.defect(&turned(degrees), own.gap / H, &kept, SPEED);
        assert_eq!(defect <= Dropped::TOLERANCE, inside, "{degrees}°: {defect}");
    }
    // a circle has no frame
    let round = |c: &ContactRow| ContactRow { set: FrictionSet::circle(), ..c.clone() };
    let kept: Vec<_> = kept.iter().map(|(c, offset)| (round(c), *offset)).collect();
    assert!(dropped.defect(&round(&turned(10.0)), own.gap / H, &kept, SPEED) <= Dropped::TOLERANCE);
}

/// Any total impulse of all contacts is one of the kept contacts.
#[test]
fn wrenches_of_all_contacts_are_wrenches_of_kept_contacts() {
    const SEED: u64 = 11;
    let mut rng = ChaCha8Rng::seed_from_u64(SEED);
    let mut simulation = in_space(&sliding(0.5, Vector3::zeros()), Scheme::first_order());
    let rows = all_contacts(&simulation);
    let report = step(&mut simulation);
    let system = simulation.system();
    let row = |id| rows.iter().find(|c| c.id == id).expect("a contact of the step");
    let push = |wrench: &mut [f64], c: &ContactRow, [n, x, y]: [f64; 3]| {
        for (row, s) in [(&c.normal, n), (&c.tangents[0].row, x), (&c.tangents[1].row, y)] {
            wrench.iter_mut().zip(dense(system, row)).for_each(|(w, r)| *w += s * r);
        }
    };
    for _ in 0..100 {
        let (mut all, mut kept) = (vec![0.0; 6], vec![0.0; 6]);
        let mut shares = [[0.0; 3]; 100];
        for dropped in &report.dropped {
            let c: f64 = rng.random_range(0.0..1.0);
            let (sin, cos) = rng.random_range(0.0..std::f64::consts::TAU).sin_cos();
            // inside the octagon, whose inner radius is cos 22.5° > 0.9
            let t = rng.random_range(0.0..0.9) * 0.5 * c;
            push(&mut all, row(dropped.contact), [c, t * cos, t * sin]);
            for &(k, alpha) in &dropped.combination {
                shares[k] = std::array::from_fn(|i| shares[k][i] + alpha * [c, t * cos, t * sin][i]);
            }
        }
        for (contact, share) in report.contacts.iter().zip(shares) {
            assert!(share[0] >= 0.0 && share[1].hypot(share[2]) <= 0.9 * 0.5 * share[0] + 1e-12);
            push(&mut kept, row(contact.id), share);
        }
        // sums of 96 impulses of a newton second at levers of half a metre
        assert!(
            all.iter().zip(&kept).all(|(a, b)| (a - b).abs() < 1e-12 * 96.0),
            "seed {SEED}: {all:?} {kept:?}"
        );
    }
}

/// Boxes that fall on a slab: every dropped contact has a proof, and single boxes keep all contacts.
#[test]
fn piles_keep_contacts_without_proof() {
    let (mut steps, mut proven) = (0, 0);
    for seed in 0..4 {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let mut number = |size: f64| rng.random_range(-size..size);
        let mut world = slab(0.5, Isometry3::translation(0.0, 0.0, HALF), Twist::default());
        for i in 0..3 {
            let shape = Shape::Cuboid { half_extents: [0.2, 0.15, 0.1] };
            let turn = Vector3::new(number(1.0), number(1.0), number(1.0));
            let at = Vector3::new(number(0.3), number(0.3), 0.5 + 0.5 * f64::from(i));
            let body = Body::rigid(format!("box {i}"), Mass::Density(100.0)).at(Isometry3::new(at, turn));
            world.add_body(body.with(Attached::new(shape).material(material(0.5))));
        }
        let mut simulation = in_space(&world, Scheme::first_order());
        for _ in 0..80 {
            let rows = all_contacts(&simulation);
            // a step in 300 is not solved, reduced or full, which is not tested here
            let Ok(report) = simulation.step(H) else { break };
            assert_proofs(simulation.system(), &rows, &report);
            assert_eq!(report.work.limited, 0);
            // box against box and box against floor
            let bodies = |id| rows.iter().find(|c| c.id == id).expect("a contact of the step").bodies;
            assert!(
                report.dropped.iter().all(|d| bodies(d.contact).contains(&stiction::BodyId(1))),
                "seed {seed}"
            );
            steps += 1;
            proven += report.work.proven;
        }
    }
    assert!(steps > 100 && proven > 50 * steps, "{proven} in {steps} steps");
}

/// A slab that is about to land on its edge keeps its lowest contacts.
#[test]
fn a_tilted_slab_keeps_its_corners() {
    for friction in [0.0, 0.5] {
        let tilt = Vector3::new(0.1, 0.2, 0.4);
        let pose = Isometry3::new(Vector3::new(0.0, 0.0, 0.4), tilt);
        let mut world = slab(friction, pose, Twist::default());
        world.gravity = Vector3::zeros();
        let mut simulation =
            in_space(&world, Scheme { active: stiction::Active::Band(0.4), ..Scheme::first_order() });
        let rows = all_contacts(&simulation);
        let report = step(&mut simulation);
        assert_proofs(simulation.system(), &rows, &report);
        let least = |gaps: Vec<f64>| gaps.into_iter().fold(f64::INFINITY, f64::min);
        let all = least(rows.iter().map(|c| c.gap).collect());
        assert!((least(report.contacts.iter().map(|c| c.gap).collect()) - all).abs() < 1e-12);
        // of 100 to 140 within the band
        assert!(report.work.proven >= 80, "{} kept", kept(&report));
    }
    let falling = planar::Twist::new(Vector2::new(0.3, -1.0), 0.2);
    let mut simulation = in_plane(&bar(0.5, 0.05, falling), Scheme::first_order());
    for _ in 0..30 {
        let rows = all_contacts(&simulation);
        let report = step(&mut simulation);
        assert_proofs(simulation.system(), &rows, &report);
    }
}
