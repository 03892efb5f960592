//! Tiled bodies, and an independent check of proofs from the rows alone.

use nalgebra::{Isometry2, Isometry3, Vector2, Vector3};
use stiction::{
    ContactQuery, ContactRow, Material, Reduction, Scheme, SearchCache, Simulation, StepReport, System,
    planar, spatial,
};
use stiction_lcp::Row;

pub(crate) use crate::shared::{G, in_plane, in_space, starts};

pub(crate) const H: f64 = 0.01;
/// Number of tiles in a row; the face is 1 m wide.
pub(crate) const TILES: i32 = 5;
/// Half the width of a tile [m].
pub(crate) const HALF: f64 = 0.1;

pub(crate) fn material(friction: f64) -> Material {
    Material { friction, restitution: 0.0, ..Material::default() }
}

pub(crate) fn floor(friction: f64) -> spatial::World {
    let mut world = spatial::World::new(Vector3::new(0.0, 0.0, -G));
    let plane = spatial::Attached::new(spatial::Shape::HalfSpace).material(material(friction));
    world.add_body(spatial::Body::fixed("floor").with(plane));
    world
}

/// Slab of 5 × 5 cuboids, 1 m by 1 m by 0.2 m, as one body.
pub(crate) fn tiled(material: Material) -> spatial::Body {
    let middle = f64::from(TILES - 1) * HALF;
    let tile = |k: i32| 2.0 * HALF * f64::from(k) - middle;
    let mut body = spatial::Body::rigid("tiles", spatial::Mass::Density(100.0));
    for i in 0..TILES * TILES {
        let shape = spatial::Attached::new(spatial::Shape::Cuboid { half_extents: [HALF; 3] });
        let at = Isometry3::translation(tile(i % TILES), tile(i / TILES), 0.0);
        body = body.with(shape.at(at).material(material));
    }
    body
}

/// World with the slab in this pose and motion, and a floor.
pub(crate) fn slab(friction: f64, pose: Isometry3<f64>, velocity: spatial::Twist) -> spatial::World {
    let mut world = floor(friction);
    world.add_body(tiled(material(friction)).at(pose).moving(velocity));
    world
}

/// World with the slab sliding on the floor.
pub(crate) fn sliding(friction: f64, velocity: Vector3<f64>) -> spatial::World {
    slab(friction, Isometry3::translation(0.0, 0.0, HALF), spatial::Twist::new(velocity, Vector3::zeros()))
}

/// Planar world with a bar of 5 squares above a floor.
pub(crate) fn bar(friction: f64, height: f64, velocity: planar::Twist) -> planar::World {
    let mut world = planar::World::new(Vector2::new(0.0, -G));
    let plane = planar::Attached::new(planar::Shape::HalfPlane).material(material(friction));
    world.add_body(planar::Body::fixed("floor").with(plane));
    let mut body = planar::Body::rigid("bar", planar::Mass::Density(100.0));
    for k in 0..TILES {
        let square = planar::Polygon::rectangle([HALF; 2]).expect("a square");
        let shape = planar::Attached::new(planar::Shape::Polygon(square)).material(material(friction));
        body = body.with(shape.at(Isometry2::translation(2.0 * HALF * f64::from(k), 0.0)));
    }
    world.add_body(body.at(Isometry2::translation(0.0, HALF + height)).moving(velocity));
    world
}

pub(crate) fn unreduced(scheme: Scheme) -> Scheme {
    Scheme { reduction: Reduction::Off, ..scheme }
}

pub(crate) fn step<S: System>(simulation: &mut Simulation<S>) -> StepReport {
    simulation.step(H).unwrap_or_else(|error| panic!("{error}"))
}

/// All contacts of the current state, within a distance that no step exceeds.
pub(crate) fn all_contacts<S: System>(simulation: &Simulation<S>) -> Vec<ContactRow> {
    let mut rows = Vec::new();
    let state = simulation.state();
    simulation.system().contacts(
        state.t,
        &state.q,
        &ContactQuery::within(10.0),
        &mut SearchCache::default(),
        &mut rows,
    );
    rows
}

/// Entries of a row over all velocities.
pub(crate) fn dense<S: System>(system: &S, row: &Row) -> Vec<f64> {
    let starts = starts(system);
    let mut out = vec![0.0; starts[starts.len() - 1]];
    row.add_transposed(&starts, 1.0, &mut out);
    out
}

/// Number of contacts with rows in the problem that was solved.
pub(crate) fn kept(report: &StepReport) -> usize {
    report.contacts.len() - report.work.proven
}

/// Asserts every proof of a report of level `Stabilized`, against the contacts before the step: α ≥ 0,
/// n_j = Σ α_i n_i, Φ_j ≥ Σ α_i Φ_i, T_j = Σ α_i T_i with τ, and the same friction in the same frame.
pub(crate) fn assert_proofs<S: System>(system: &S, rows: &[ContactRow], report: &StepReport) {
    let find = |id| rows.iter().find(|c| c.id == id).unwrap_or_else(|| panic!("{id:?} is no contact"));
    let proven = report.dropped.iter().filter(|d| !d.combination.is_empty());
    assert_eq!(proven.clone().count(), report.work.proven);
    assert_eq!(report.dropped.len(), report.work.proven + report.work.limited);
    for dropped in proven {
        assert!(report.contacts.iter().any(|c| c.id == dropped.contact), "{dropped:?} is not reported");
        let is_dropped = |id| report.dropped.iter().any(|d| d.contact == id);
        let proof = dropped.combination.iter();
        assert!(proof.clone().all(|(k, _)| !is_dropped(report.contacts[*k].id)), "{dropped:?}");
        let own = find(dropped.contact);
        let parts: Vec<(f64, &ContactRow)> =
            dropped.combination.iter().map(|&(k, a)| (a, find(report.contacts[k].id))).collect();
        assert!(parts.iter().all(|(a, _)| *a >= 0.0), "{dropped:?}");
        let same = |a: &Row, b: &dyn Fn(&ContactRow) -> Row| {
            let mut rest = dense(system, a);
            for (alpha, part) in &parts {
                rest.iter_mut().zip(dense(system, &b(part))).for_each(|(r, x)| *r -= alpha * x);
            }
            // levers are at most a metre and a half
            assert!(rest.iter().all(|r| r.abs() < 1e-10), "{dropped:?}: {rest:?}");
        };
        same(&own.normal, &|c| c.normal.clone());
        let gap: f64 = parts.iter().map(|(a, c)| a * c.gap).sum();
        assert!(own.gap >= gap - 1e-12, "{dropped:?}: {} < {gap}", own.gap);
        for (_, part) in &parts {
            assert_eq!((own.mu, own.restitution, &own.set), (part.mu, part.restitution, &part.set));
        }
        if own.mu == 0.0 {
            continue;
        }
        for k in 0..own.tangents.len() {
            same(&own.tangents[k].row, &|c| c.tangents[k].row.clone());
            let offset: f64 = parts.iter().map(|(a, c)| a * c.tangents[k].offset).sum();
            assert!((own.tangents[k].offset - offset).abs() < 1e-10, "{dropped:?}");
            for (_, part) in &parts {
                let (a, b) = (own.tangent_directions[k], part.tangent_directions[k]);
                assert!((0..3).all(|c| (a[c] - b[c]).abs() < 1e-10), "{dropped:?}: other frames");
            }
        }
    }
}
