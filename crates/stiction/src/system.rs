//! What a scheme may ask of a model. After this there is no dimension, no shape and no joint left.

mod contact_query;
pub(crate) mod differences;

pub use contact_query::{ContactQuery, MotionBound, SearchCache};

use crate::id::{BodyId, JointId, ShapeId};
use crate::jacobian::{ForceJacobian, JacobianKind};
use arrayvec::ArrayVec;
use nalgebra::Matrix6;
use serde::{Deserialize, Serialize};
use stiction_lcp::{FrictionSet, OffsetRow, Row, Term};

/// A mechanical model in generalized coordinates: the planar and the spatial world, and whatever a user brings.
pub trait System {
    /// Number of velocities of each moving body, 1 to 6.
    fn bodies(&self) -> &[usize];

    /// Number of coordinates in q; as many as velocities unless a body turns in space.
    fn coordinate_count(&self) -> usize {
        self.bodies().iter().sum()
    }

    /// `q ← q ⊕ h v`.
    fn advance(&self, q: &mut [f64], v: &[f64], h: f64);

    /// dq/dt at a velocity: v itself unless a body turns in space.
    fn rates(&self, _q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(v);
    }

    /// Puts coordinates that sums have led to among those there are: quaternions to unit length. Nothing to do unless a
    /// body turns in space.
    fn normalize(&self, _q: &mut [f64]) {}

    /// Turns a row taken at q ⊕ h v into the axes that velocities are measured along at q. Nothing to do unless
    /// angular velocities are measured along axes that turn with the body.
    fn to_start_axes(&self, _v: &[f64], _h: f64, _row: &mut Row) {}

    /// A body's block of the mass matrix, constant in these velocities. AH04 (D1)
    fn mass(&self, body: usize) -> Matrix6<f64>;

    /// A body's block of the mass matrix at (t, q); another one only where a system of one's own has velocities
    /// in which it is not constant.
    fn mass_at(&self, body: usize, _t: f64, _q: &[f64]) -> Matrix6<f64> {
        self.mass(body)
    }

    /// Applied forces at (t, q, v), without the gyroscopic ones.
    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces);

    /// An antisymmetric F with `F ω = −ω × Iω`, the gyroscopic force of a body that turns in space: `[Iω]×`, or
    /// `[(I − i)ω]×` with any number i; `None` for bodies without one. AH04 (4.44)
    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>>;

    /// `k ← k + F(ω) ω` of a body.
    fn add_gyroscopic(&self, body: usize, v: &[f64], k: &mut [f64]) {
        if let Some(spin) = self.gyroscopic(body, v) {
            for (r, k) in k.iter_mut().enumerate() {
                *k += v.iter().enumerate().map(|(c, v)| spin[(r, c)] * v).sum::<f64>();
            }
        }
    }

    /// How the forces, gyroscopic ones included, depend on the state at (t, q, v): by central differences, unless
    /// a system knows better.
    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        out.clear(self.bodies().len());
        let mut forces = Forces::default();
        let force = |q: &[f64], v: &[f64], k: &mut Vec<f64>| {
            self.forces(t, q, v, &mut forces);
            k.clone_from(&forces.k);
            add_gyroscopic(self, v, k);
        };
        differences::add(self, t, q, v, force, out);
    }

    /// Where [`System::jacobian`] comes from.
    fn jacobian_kind(&self) -> JacobianKind {
        JacobianKind::FiniteDifferences
    }

    /// The part of the Jacobian with which M − h k_v − h² k_q is positive definite for every h: of the springs and
    /// dampers in `forces` at (t, q, v), k_q = −Σ γ∇φ∇φᵀ and k_v = −Σ δ∇φ∇φᵀ, and the antisymmetric F of
    /// [`System::gyroscopic`]. PAGT06 (10.13)–(10.14)
    fn definite_jacobian(&self, forces: &Forces, v: &[f64], out: &mut ForceJacobian) {
        out.clear(self.bodies().len());
        let mut start = 0;
        for (i, &n) in self.bodies().iter().enumerate() {
            if let Some(spin) = self.gyroscopic(i, &v[start..start + n]) {
                out.velocity.add(i, i, &spin);
            }
            start += n;
        }
        for Spring { row, stiffness, damping } in &forces.springs {
            out.position.add_outer(self.bodies(), -stiffness, [row, row]);
            out.velocity.add_outer(self.bodies(), -damping, [row, row]);
        }
    }

    /// Joint rows at (t, q).
    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>);

    /// Joint rows at (t, q), and how fast the speed of each changes at constant v, (dR/dt) v + d(drift)/dt [m/s²];
    /// limits and drives may leave it open with what is not a number. `false` where this is not known: then neither is
    /// of use, and differences are taken.
    fn joint_rates(
        &self,
        _t: f64,
        _q: &[f64],
        _v: &[f64],
        _out: &mut Vec<JointRow>,
        _rates: &mut Vec<f64>,
    ) -> bool {
        false
    }

    /// Contacts at (t, q) that are near, in the order of their pairs. What a search may start from and leaves
    /// for the next one stands in `cache`; a system that has no use for it ignores it.
    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    );

    /// The gaps of these contacts alone [m], for whoever needs no rows; `rows` is room for a system that makes them all
    /// the same.
    fn gaps(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        rows: &mut Vec<ContactRow>,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        self.contacts(t, q, near, cache, rows);
        out.clear();
        out.extend(rows.iter().map(|row| (row.id, row.gap)));
    }

    /// The largest speed of any point of the surface of any body that `v` moves [m/s]: proportional to `v`, so
    /// that a displacement in place of a velocity gives the farthest that any point goes [m].
    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64;

    /// The largest speed of any surface whose motion is prescribed [m/s]; not a number when a prescribed pose or
    /// velocity is not finite.
    fn prescribed_speed(&self, _t: f64) -> f64 {
        0.0
    }

    /// Whether anything can be struck: surfaces that may meet, or limits of joints. Where nothing can, no one looks.
    fn has_unilateral_constraints(&self) -> bool {
        true
    }

    /// Whether two surfaces may meet that resist spin or rolling.
    fn has_moment_friction(&self) -> bool {
        false
    }

    /// The size of the smallest body [m]: what a tolerance on gaps is measured by.
    fn size(&self) -> f64;

    /// ‖g‖ [m/s²].
    fn gravity(&self) -> f64;

    /// Potential energy of gravity and springs [J].
    fn potential(&self, t: f64, q: &[f64]) -> f64;

    /// Linear momentum, and angular momentum about the origin [N s; N m s].
    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]);
}

/// `k ← k + F(ω) ω` of every body.
pub(crate) fn add_gyroscopic<S: System + ?Sized>(system: &S, v: &[f64], k: &mut [f64]) {
    let mut start = 0;
    for (i, &n) in system.bodies().iter().enumerate() {
        let own = start..start + n;
        system.add_gyroscopic(i, &v[own.clone()], &mut k[own]);
        start += n;
    }
}

/// Applied forces and how they depend on the state.
#[derive(Debug, Clone, Default)]
pub struct Forces {
    /// Generalized force k per velocity [N; N m].
    pub k: Vec<f64>,
    /// Springs and dampers, already in `k`, for the linearly implicit treatment.
    pub springs: Vec<Spring>,
}

/// A force along one row: −stiffness · elongation − damping · (row · v).
#[derive(Debug, Clone, PartialEq)]
pub struct Spring {
    /// ∇φ with respect to v.
    pub row: Row,
    /// γ [N/m].
    pub stiffness: f64,
    /// δ [N s/m].
    pub damping: f64,
}

/// One row of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct JointRow {
    /// Which joint.
    pub joint: JointId,
    /// νᵀ.
    pub row: Row,
    /// Θ: how far the row is from holding [m].
    pub error: f64,
    /// ∂Θ/∂t of prescribed motion [m/s].
    pub drift: f64,
    /// How the row holds.
    pub kind: RowKind,
}

impl JointRow {
    /// How far the row is from holding [m]; `None` for drives, which hold no position.
    pub fn violation(&self) -> Option<f64> {
        match self.kind {
            RowKind::Rigid(compliance) if compliance > 0.0 => None,
            RowKind::Rigid(_) => Some(self.error.abs()),
            RowKind::Limit => Some((-self.error).max(0.0)),
            RowKind::Drive { .. } => None,
        }
    }
}

/// How a joint row holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowKind {
    /// Θ = 0, with a compliance [m/N] that is zero for a rigid joint.
    Rigid(f64),
    /// Θ ≥ 0: a limit.
    Limit,
    /// Seeks a row speed [m/s] with at most a force [N]: a motor, or dry friction at speed zero.
    Drive {
        /// Speed sought [m/s].
        speed: f64,
        /// Largest force [N].
        force: f64,
    },
}

/// Two shapes, by their numbers in the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PairId {
    /// The first shape.
    pub a: ShapeId,
    /// The second shape.
    pub b: ShapeId,
}

impl PairId {
    /// Pair of two shapes, the lower number first.
    pub fn of(a: ShapeId, b: ShapeId) -> Self {
        Self { a: a.min(b), b: a.max(b) }
    }
}

/// A contact between two shapes, the same from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContactId {
    /// The shapes.
    pub pair: PairId,
    /// Which of their near features.
    pub feature: u32,
}

/// Where something may bear, or happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintId {
    /// At a contact.
    Contact(ContactId),
    /// At a row of the joints, by its place among them: a limit or a drive.
    Joint(usize),
}

/// One near point of two shapes, as rows.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRow {
    /// Which contact.
    pub id: ContactId,
    /// The bodies, by their numbers in the world.
    pub bodies: [BodyId; 2],
    /// Φ [m], negative when overlapping.
    pub gap: f64,
    /// nᵀ: the gap opens at n·v + drift.
    pub normal: Row,
    /// ∂Φ/∂t of prescribed motion [m/s].
    pub drift: f64,
    /// Tangent rows and prescribed slip τ [m/s].
    pub tangents: ArrayVec<OffsetRow, 2>,
    /// The tangent rows may be turned so that the first is along the slip of the free velocity.
    pub aligned: bool,
    /// The friction set.
    pub set: FrictionSet,
    /// Coulomb coefficient μ.
    pub mu: f64,
    /// Coefficient of restitution e.
    pub restitution: f64,
    /// Where it is [m]; planar worlds leave z at 0.
    pub point: [f64; 3],
    /// Unit normal, from the first body to the second.
    pub direction: [f64; 3],
    /// Unit tangents of the tangent rows.
    pub tangent_directions: [[f64; 3]; 2],
    /// What resists spin and rolling.
    pub moments: Moments,
}

/// The rows of a contact that resists turning: the moments of a distributed contact, ST00 §2. Few do, so they stand
/// apart, and contacts without them are moved about as quickly as if there were none.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Torsional radius ℓ_t [m]; 0 where nothing resists spin. The moment about the normal and the sliding friction
    /// share one bound: (f, m/ℓ_t) lies in μ N times the friction set.
    pub torsion: f64,
    /// Rolling length ℓ_r [m]; 0 where nothing resists rolling. The moment across the normal is at most ℓ_r N,
    /// whatever μ is.
    pub rolling: f64,
    /// ℓ_t times the angular velocity of the second body against the first about the normal, where there is friction
    /// [m/s].
    pub spin: Option<Box<OffsetRow>>,
    /// ℓ_r times that about the tangents, in the plane about the axis that points out of it [m/s].
    pub rolls: Vec<OffsetRow>,
    /// The set of the moments that resist rolling.
    pub set: FrictionSet,
}

impl Moments {
    /// Nothing resists turning.
    pub fn none() -> Self {
        Self { torsion: 0.0, rolling: 0.0, spin: None, rolls: Vec::new(), set: FrictionSet::circle() }
    }

    /// `true` when nothing resists turning.
    pub fn is_none(&self) -> bool {
        self.spin.is_none() && self.rolls.is_empty()
    }
}

/// Whether a contact is among others, which stand in the order of their pairs.
pub(crate) fn is_among<T>(id: ContactId, others: &[T], key: impl Fn(&T) -> ContactId) -> bool {
    let first = others.partition_point(|other| key(other).pair < id.pair);
    others[first..].iter().map(key).take_while(|other| other.pair == id.pair).any(|other| other == id)
}

impl ContactRow {
    /// Turns the two tangents by the angle with this cosine and sine.
    pub(crate) fn turn(&mut self, cos: f64, sin: f64) {
        let (first, second) = (self.tangents[0].clone(), self.tangents[1].clone());
        self.tangents[0] = combined(cos, &first, sin, &second);
        self.tangents[1] = combined(-sin, &first, cos, &second);
        if let [first, second] = &mut self.moments.rolls[..] {
            (*first, *second) = (combined(cos, first, sin, second), combined(-sin, first, cos, second));
        }
        let [a, b] = self.tangent_directions;
        self.tangent_directions = [
            std::array::from_fn(|i| cos * a[i] + sin * b[i]),
            std::array::from_fn(|i| cos * b[i] - sin * a[i]),
        ];
    }
}

/// `x a + y b` of two rows that touch the same bodies.
fn combined(x: f64, a: &OffsetRow, y: f64, b: &OffsetRow) -> OffsetRow {
    let row = if let (Row::Bodies(a), Row::Bodies(b)) = (&a.row, &b.row) {
        let sum = |(a, b): (&Term, &Term)| Term {
            body: a.body,
            j: std::array::from_fn(|i| x * a.j[i] + y * b.j[i]),
        };
        Row::Bodies(a.iter().zip(b).map(sum).collect())
    } else {
        let scaled = |row: &Row, s: f64| match row {
            Row::Sparse(entries) => entries.iter().map(|&(i, c)| (i, s * c)).collect(),
            Row::Bodies(_) => Vec::new(),
        };
        let mut entries: Vec<(usize, f64)> = scaled(&a.row, x);
        entries.extend(scaled(&b.row, y));
        Row::Sparse(entries)
    };
    OffsetRow { row, offset: x * a.offset + y * b.offset }
}
