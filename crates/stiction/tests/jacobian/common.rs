//! Wrapper that hides the Jacobian of a system, and blocks as dense matrices.

use nalgebra::{DMatrix, DVector, Matrix6};
use rand::RngExt;
use rand_chacha::ChaCha8Rng;
use stiction::{
    Blocks, Body, BodyId, ContactQuery, ContactRow, Dimension, Force, ForceJacobian, Forces, Formulas,
    JacobianKind, JointRow, ModelIn, SearchCache, System, World, Wrench,
};
use stiction_lcp::Row;

pub(crate) use crate::shared::starts;

/// System without Jacobian formulas: the defaults of the trait stand in for them.
struct Plain<'a, S>(&'a S);

impl<S: System> System for Plain<'_, S> {
    fn bodies(&self) -> &[usize] {
        self.0.bodies()
    }

    fn coordinate_count(&self) -> usize {
        self.0.coordinate_count()
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        self.0.advance(q, v, h);
    }

    fn to_start_axes(&self, v: &[f64], h: f64, row: &mut Row) {
        self.0.to_start_axes(v, h, row);
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        self.0.mass(body)
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        self.0.forces(t, q, v, out);
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        self.0.gyroscopic(body, v)
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        self.0.joints(t, q, out);
    }

    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        self.0.contacts(t, q, near, cache, out);
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        self.0.surface_speed(t, q, v)
    }

    fn size(&self) -> f64 {
        self.0.size()
    }

    fn gravity(&self) -> f64 {
        self.0.gravity()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        self.0.potential(t, q)
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        self.0.momentum(q, v)
    }
}

/// Dense k_q and k_v.
pub(crate) type Dense = [DMatrix<f64>; 2];

fn dense<S: System>(system: &S, blocks: &Blocks) -> DMatrix<f64> {
    let starts = starts(system);
    let n = starts[starts.len() - 1];
    let mut out = DMatrix::zeros(n, n);
    for (j, mut column) in out.column_iter_mut().enumerate() {
        let mut unit = vec![0.0; n];
        unit[j] = 1.0;
        blocks.multiply_add(&starts, 1.0, &unit, column.as_mut_slice());
    }
    // entries past the velocities of a body are zero
    for (block, &n) in blocks.bodies.iter().zip(system.bodies()) {
        assert!((0..36).all(|k| k / 6 < n && k % 6 < n || block[(k / 6, k % 6)] == 0.0));
    }
    out
}

/// Jacobian of the system.
pub(crate) fn exact<S: System>(system: &S, t: f64, q: &[f64], v: &[f64]) -> Dense {
    let mut out = ForceJacobian::default();
    // previous contents are overwritten
    out.clear(17);
    system.jacobian(t, q, v, &mut out);
    [dense(system, &out.position), dense(system, &out.velocity)]
}

/// Jacobian by central differences.
pub(crate) fn differences<S: System>(system: &S, t: f64, q: &[f64], v: &[f64]) -> Dense {
    let mut out = ForceJacobian::default();
    Plain(system).jacobian(t, q, v, &mut out);
    [dense(system, &out.position), dense(system, &out.velocity)]
}

/// Definite part of the Jacobian.
pub(crate) fn definite<S: System>(system: &S, t: f64, q: &[f64], v: &[f64]) -> Dense {
    let (mut forces, mut out) = (Forces::default(), ForceJacobian::default());
    system.forces(t, q, v, &mut forces);
    system.definite_jacobian(&forces, v, &mut out);
    [dense(system, &out.position), dense(system, &out.velocity)]
}

/// Forces, gyroscopic forces included.
pub(crate) fn forces<S: System>(system: &S, t: f64, q: &[f64], v: &[f64]) -> DVector<f64> {
    let mut forces = Forces::default();
    system.forces(t, q, v, &mut forces);
    let mut k = DVector::from_vec(forces.k);
    for (i, ends) in starts(system).windows(2).enumerate() {
        let n = ends[1] - ends[0];
        let own = DVector::from_column_slice(&v[ends[0]..ends[1]]);
        if let Some(spin) = system.gyroscopic(i, own.as_slice()) {
            let mut part = k.rows_mut(ends[0], n);
            part += spin.view((0, 0), (n, n)) * own;
        }
    }
    k
}

/// Asserts agreement to 1e-7 of the largest entry: the truncation error of differences is 4e-11 of third derivatives,
/// which are up to 1e3 of it where a spring is short.
pub(crate) fn assert_close(name: &str, a: &Dense, b: &Dense) {
    for (part, (a, b)) in ["k_q", "k_v"].iter().zip(a.iter().zip(b)) {
        let (error, scale) = ((a - b).amax(), b.amax());
        assert!(error <= 1e-7 * scale, "{name}, {part}: {error} of {scale}\n{a}{b}");
    }
}

/// Asserts that k_q w is the derivative of k(t, q ⊕ s w, v) by s, for w = v.
pub(crate) fn assert_directional<S: System>(system: &S, t: f64, q: &[f64], v: &[f64]) {
    let [position, _] = exact(system, t, q, v);
    let s = 1e-5;
    let shifted = |s: f64| {
        let mut q = q.to_vec();
        system.advance(&mut q, v, s);
        forces(system, t, &q, v)
    };
    let slope = (shifted(s) - shifted(-s)) / (2.0 * s);
    let product = &position * DVector::from_column_slice(v);
    let error = (&slope - &product).amax();
    let scale = slope.amax().max(position.amax());
    assert!(error <= 1e-7 * scale, "{error} of {scale}\n{slope}{product}");
}

/// Asserts that no eigenvalue of the symmetric part is above round-off.
pub(crate) fn assert_not_positive(name: &str, a: &DMatrix<f64>) {
    let symmetric = 0.5 * (a + a.transpose());
    let largest = symmetric.clone().symmetric_eigen().eigenvalues.max();
    // a few dozen operations on each of some tens of rows
    assert!(largest <= 1e-13 * a.amax(), "{name}: {largest} of {}", a.amax());
}

/// Asserts that the Jacobian at a state agrees with differences, and returns it.
pub(crate) fn assert_exact<S: System>(name: &str, system: &S, t: f64, q: &[f64], v: &[f64]) -> Dense {
    let found = exact(system, t, q, v);
    assert_close(name, &found, &differences(system, t, q, v));
    assert_directional(system, t, q, v);
    assert_eq!(system.jacobian_kind(), JacobianKind::Exact, "{name}");
    found
}

/// Asserts that the definite part is symmetric and has no positive eigenvalues, and returns it.
pub(crate) fn assert_definite<S: System>(system: &S, t: f64, q: &[f64], v: &[f64]) -> Dense {
    let [position, velocity] = definite(system, t, q, v);
    assert_not_positive("k_q", &position);
    assert_not_positive("k_v", &velocity);
    assert_eq!(position, position.transpose());
    [position, velocity]
}

/// Number of kinds of [`force`].
const FORCE_KINDS: usize = 8;

/// Kind and bodies of every force on each of the four moving bodies, with any other of the six.
pub(crate) fn force_cases() -> impl Iterator<Item = (usize, usize, usize)> {
    let pairs = (0..4).flat_map(|i| (0..6).filter(move |&j| j != i).map(move |j| (i, j)));
    (0..FORCE_KINDS).flat_map(move |kind| pairs.clone().map(move |(i, j)| (kind, i, j)))
}

/// Force of one kind on these bodies. `wrench` acts on the first and grows with time by `load`; `axis` is that of a rail.
pub(crate) fn force<D: Dimension>(
    kind: usize,
    [a, b]: [BodyId; 2],
    [point_a, point_b]: [D::Point; 2],
    wrench: Wrench<D>,
    load: impl Fn(f64) -> Wrench<D> + Send + Sync + 'static,
    axis: D::Vector,
    rng: &mut ChaCha8Rng,
) -> Force<D> {
    let (stiffness, damping) = (rng.random_range(0.0..9.0), rng.random_range(0.0..3.0));
    let spring = |stiffness, damping, rest_length| Force::Spring {
        a,
        point_a,
        b,
        point_b,
        stiffness,
        damping,
        rest_length,
    };
    match kind {
        0 => Force::Constant { body: a, point: Some(point_a), wrench },
        1 => Force::Timed { body: a, point: Some(point_a), load: std::sync::Arc::new(load) },
        2 => spring(stiffness, 0.0, 0.0),
        3 => spring(stiffness, damping, 0.0),
        4 => spring(stiffness, 0.0, 0.6),
        5 => spring(stiffness, damping, 0.6),
        6 => spring(0.0, damping, 0.6),
        _ => Force::Rail { body: a, point: point_a, axis, origin: 0.3, stiffness, damping },
    }
}

/// Model of forces, each given by its kind and the indices of its bodies. `bodies` adds the bodies, `force` makes a force
/// of a kind.
pub(crate) fn with_forces<D: Formulas>(
    gravity: D::Vector,
    bodies: impl Fn(&mut World<D>) -> Vec<BodyId>,
    force: impl Fn(usize, BodyId, BodyId, &mut ChaCha8Rng) -> Force<D>,
    list: &[(usize, usize, usize)],
    rng: &mut ChaCha8Rng,
) -> ModelIn<D> {
    let mut world = World::new(gravity);
    let ids = bodies(&mut world);
    for &(kind, a, b) in list {
        world.add_force(force(kind, ids[a], ids[b], rng));
    }
    world.build().unwrap()
}

/// Model of one force of each kind between random bodies. `bodies` adds six bodies of which the first four move, `force`
/// makes a force of a kind.
pub(crate) fn every_force<D: Formulas>(
    gravity: D::Vector,
    bodies: impl Fn(&mut World<D>) -> Vec<BodyId>,
    force: impl Fn(usize, BodyId, BodyId, &mut ChaCha8Rng) -> Force<D>,
    rng: &mut ChaCha8Rng,
) -> ModelIn<D> {
    let mut world = World::new(gravity);
    let ids = bodies(&mut world);
    for kind in 0..FORCE_KINDS {
        let a = rng.random_range(0..4);
        let b = (a + rng.random_range(1..6)) % 6;
        world.add_force(force(kind, ids[a], ids[b], rng));
    }
    world.build().unwrap()
}

/// Model of a spring of rest length 2 m between coincident points: a fixed one, and a mass of 1 kg.
pub(crate) fn coincident<D: Formulas>(gravity: D::Vector) -> ModelIn<D> {
    let mut world = World::new(gravity);
    let a = world.add_body(Body::fixed("a"));
    let b = world.add_body(Body::point("b", 1.0));
    let [point_a, point_b] = [D::Point::default(); 2];
    let (stiffness, damping, rest_length) = (7.0, 0.5, 2.0);
    world.add_force(Force::Spring { a, point_a, b, point_b, stiffness, damping, rest_length });
    world.build().unwrap()
}

/// Random numbers between −size and size.
pub(crate) fn numbers(rng: &mut ChaCha8Rng, n: usize, size: f64) -> Vec<f64> {
    (0..n).map(|_| rng.random_range(-size..size)).collect()
}
