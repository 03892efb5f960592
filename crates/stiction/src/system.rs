//! Interface between models and schemes: a model gives masses, forces and rows, a scheme asks for them.
//! Behind this interface there is no dimension, no shape and no joint left.

mod actuator;
mod contact_query;
pub(crate) mod differences;
mod island;

pub use actuator::{Actuator, ActuatorTarget};
pub use contact_query::{ContactQuery, MotionBound, SearchCache};
pub use island::Island;

use crate::id::{BodyId, JointId, ShapeId};
use crate::jacobian::{ForceJacobian, JacobianKind};
use arrayvec::ArrayVec;
use nalgebra::{Matrix6, Vector6};
use serde::{Deserialize, Serialize};
use std::fmt;
use stiction_lcp::{FrictionSet, OffsetRow, Row, Term};

/// Mechanical model in generalized coordinates: the planar and the spatial model, and models of one's own.
pub trait System {
    /// Number of velocities of each moving body, 1 to 6.
    fn bodies(&self) -> &[usize];

    /// Number of coordinates in q; as many as velocities unless a body turns in space.
    fn coordinate_count(&self) -> usize {
        self.bodies().iter().sum()
    }

    /// Number of coordinates in q that are places and turns of bodies. Inputs follow them, which no motion changes, and then
    /// the angles at the last step of joints whose turns are counted.
    fn position_count(&self) -> usize {
        self.coordinate_count()
    }

    /// Number of inputs in q.
    fn input_count(&self) -> usize {
        0
    }

    /// Name of a body by its number in [`ContactRow::bodies`], for messages.
    fn body_name(&self, _body: BodyId) -> Option<&str> {
        None
    }

    /// Body that carries a shape of [`ContactId::pair`], for messages.
    fn body_of(&self, _shape: ShapeId) -> Option<BodyId> {
        None
    }

    /// Name of a joint by its number in [`JointRow::joint`], for messages.
    fn joint_name(&self, _joint: JointId) -> Option<&str> {
        None
    }

    /// `q ← q ⊕ h v`.
    fn advance(&self, q: &mut [f64], v: &[f64], h: f64);

    /// Coordinate rates dq/dt: v itself unless a body turns in space.
    fn rates(&self, _q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.extend_from_slice(v);
    }

    /// Normalizes coordinates after arithmetic on them: quaternions to unit length. Nothing to do unless a body turns in
    /// space.
    fn normalize(&self, _q: &mut [f64]) {}

    /// Turns a row taken at q ⊕ h v into the axes that velocities are measured along at q. Nothing to do unless
    /// angular velocities are measured along axes that turn with the body.
    fn to_start_axes(&self, _v: &[f64], _h: f64, _row: &mut Row) {}

    /// End of a timed step from `v` of size `h`: moves `q` by h times the mean of `v` and `end`, plus `shift`. Where
    /// velocities are measured along axes that turn with the body, `end` and `shift` are along those at q ⊕ (h/2) v, and
    /// `end` is turned into those at the new `q`.
    fn end_step(&self, q: &mut [f64], v: &[f64], end: &mut [f64], shift: &[f64], h: f64) {
        let mean = v.iter().zip(&*end).zip(shift).map(|((v, end), shift)| 0.5 * (v + end) + shift);
        let mean: Vec<f64> = mean.collect();
        self.advance(q, &mean, h);
    }

    /// Turns `end` from the axes at the end of a timed step into those at q ⊕ (h/2) v: the inverse of what
    /// [`System::end_step`] does to it.
    fn to_middle_axes(&self, _v: &[f64], _end: &mut [f64], _shift: &[f64], _h: f64) {}

    /// Free turning of a body with velocities `v` in a timed step of size `h`; `None` for bodies without gyroscopic force,
    /// and where it is taken with the other forces.
    fn free_turn(&self, _body: usize, _v: &[f64], _h: f64) -> Option<FreeTurn> {
        None
    }

    /// Second difference of the prescribed velocity of a body over a step, at t, t + h/2 and t + h, of its point at
    /// `point` along `direction` [m/s]; `times` are t and h. Zero unless its motion is prescribed.
    fn drift_bend(&self, _body: BodyId, _times: [f64; 2], _point: [f64; 3], _direction: [f64; 3]) -> f64 {
        0.0
    }

    /// Mass matrix block of a body, constant in these velocities. AH04 (D1)
    fn mass(&self, body: usize) -> Matrix6<f64>;

    /// Mass matrix block of a body at (t, q). It differs from [`System::mass`] only for models of one's own with
    /// velocities in which it is not constant.
    fn mass_at(&self, body: usize, _t: f64, _q: &[f64]) -> Matrix6<f64> {
        self.mass(body)
    }

    /// Applied forces at (t, q, v), without gyroscopic forces.
    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces);

    /// Antisymmetric matrix F with `F ω = −ω × Iω`, the gyroscopic force of a body that turns in space: `[Iω]×`, or
    /// `[(I − i)ω]×` with any number i. `None` for bodies without gyroscopic force. AH04 (4.44)
    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>>;

    /// `k ← k + F(ω) ω` of a body.
    fn add_gyroscopic(&self, body: usize, v: &[f64], k: &mut [f64]) {
        if let Some(spin) = self.gyroscopic(body, v) {
            for (r, k) in k.iter_mut().enumerate() {
                *k += v.iter().enumerate().map(|(c, v)| spin[(r, c)] * v).sum::<f64>();
            }
        }
    }

    /// Jacobian of the forces, gyroscopic forces included, at (t, q, v). By central differences unless the model has
    /// formulas.
    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        out.clear(self.bodies().len());
        let mut forces = Forces::default();
        let force = |q: &[f64], v: &[f64], k: &mut Vec<f64>| {
            self.forces(t, q, v, &mut forces);
            forces.complete(self, v);
            k.clone_from(&forces.k);
        };
        differences::add(self, t, q, v, force, out);
    }

    /// Origin of [`System::jacobian`].
    fn jacobian_kind(&self) -> JacobianKind {
        JacobianKind::FiniteDifferences
    }

    /// Definite part of the Jacobian, with which M − h k_v − h² k_q is positive definite for every h. It consists of
    /// the springs and dampers in `forces` at (t, q, v), k_q = −Σ γ∇φ∇φᵀ and k_v = −Σ δ∇φ∇φᵀ, and of the antisymmetric
    /// F of [`System::gyroscopic`]. PAGT06 (10.13)–(10.14)
    fn definite_jacobian(&self, forces: &Forces, v: &[f64], out: &mut ForceJacobian) {
        out.clear(self.bodies().len());
        let mut start = 0;
        for (i, &n) in self.bodies().iter().enumerate() {
            if let Some(spin) = self.gyroscopic(i, &v[start..start + n]) {
                out.velocity.add(i, i, &spin);
            }
            start += n;
        }
        for Spring { row, stiffness, damping, .. } in &forces.springs {
            out.position.add_outer(self.bodies(), -stiffness, [row, row]);
            out.velocity.add_outer(self.bodies(), -damping, [row, row]);
        }
        add_actuators(self, &forces.actuators, v, out);
    }

    /// Joint rows at (t, q).
    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>);

    /// Joint rows at (t, q) and the rate of the speed of each at constant v, (dR/dt) v + d(drift)/dt [m/s²]. The rate
    /// of a limit or drive may be NaN: not known. Returns `false` where the model has no formulas; then both outputs
    /// are meaningless and differences are taken.
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

    /// Contacts at (t, q) that the query asks for, in the order of their pairs. A search may start from `cache` and
    /// update it for the next search; a model that has no use for it ignores it.
    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        query: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    );

    /// Gaps of these contacts [m], without rows. `rows` is storage for models that make rows all the same.
    fn gaps(
        &self,
        t: f64,
        q: &[f64],
        query: &ContactQuery,
        cache: &mut SearchCache,
        rows: &mut Vec<ContactRow>,
        out: &mut Vec<(ContactId, f64)>,
    ) {
        self.contacts(t, q, query, cache, rows);
        out.clear();
        out.extend(rows.iter().map(|row| (row.id, row.gap)));
    }

    /// Largest speed of a surface point of any body that `v` moves [m/s]. It is proportional to `v`, so a displacement
    /// in place of a velocity gives the largest displacement of a surface point [m].
    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64;

    /// Largest speed of a surface point of each moving body [m/s], or a bound of it.
    fn surface_speeds(&self, t: f64, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        out.clear();
        out.resize(self.bodies().len(), self.surface_speed(t, q, v));
    }

    /// Pairs of moving bodies that joints or forces connect, by their indices. `None` where the model cannot be divided
    /// into islands, as with a force that depends on the whole state.
    fn connections(&self) -> Option<Vec<[usize; 2]>> {
        None
    }

    /// Island of some of the moving bodies, by their indices in ascending order, with everything that does not move by
    /// itself. Bodies, shapes and joints keep their numbers. `None` where the model cannot be divided.
    fn island(&self, _bodies: &[usize]) -> Option<Island> {
        None
    }

    /// Largest speed of a surface with prescribed motion [m/s]; NaN where a prescribed pose or velocity is not finite.
    fn prescribed_speed(&self, _t: f64) -> f64 {
        0.0
    }

    /// `true` where surfaces may meet or joints have limits. Otherwise no scheme searches for contacts.
    fn has_unilateral_constraints(&self) -> bool {
        true
    }

    /// `true` where two surfaces with torsional or rolling friction may meet.
    fn has_moment_friction(&self) -> bool {
        false
    }

    /// Size of the smallest body [m], to which tolerances on gaps are relative.
    fn size(&self) -> f64;

    /// Gravity ‖g‖ [m/s²].
    fn gravity(&self) -> f64;

    /// Potential energy of gravity and springs [J].
    fn potential(&self, t: f64, q: &[f64]) -> f64;

    /// Linear momentum, and angular momentum about the origin [N s; N m s].
    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]);
}

/// Adds the derivatives of actuators within their limits, along constant rows.
pub(crate) fn add_actuators<S: System + ?Sized>(
    system: &S,
    actuators: &[Actuator],
    v: &[f64],
    out: &mut ForceJacobian,
) {
    if actuators.is_empty() {
        return;
    }
    let starts = differences::starts(system);
    for actuator in actuators {
        let row = &actuator.row;
        if actuator.side(row.dot(&starts, v), 0.0) == 0.0 {
            out.position.add_outer(system.bodies(), -actuator.stiffness, [row, row]);
            out.velocity.add_outer(system.bodies(), -actuator.damping, [row, row]);
        }
    }
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

/// Free turning of a body in a timed step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FreeTurn {
    /// Derivative of the momentum at the end by the velocity there, both along the axes at q ⊕ (h/2) v.
    pub mass: Matrix6<f64>,
    /// Velocity at the end without forces, along these axes.
    pub velocity: Vector6<f64>,
    /// Derivative of the gyroscopic force that [`System::jacobian`] has for the body.
    pub jacobian: Matrix6<f64>,
}

/// Applied forces, with the springs and dampers among them.
#[derive(Debug, Clone, Default)]
pub struct Forces {
    /// Generalized force k per velocity [N; N m].
    pub k: Vec<f64>,
    /// Springs and dampers, already in `k`, for the linearly implicit treatment.
    pub springs: Vec<Spring>,
    /// Part of `k` without potential energy and without dampers, for the energy ledger: loads and laws. Empty where a model
    /// does not tell it.
    pub applied: Vec<f64>,
    /// Actuators, not in `k`: schemes of first order take them at the end of the step.
    pub actuators: Vec<Actuator>,
}

impl Forces {
    /// Adds the forces of actuators at these velocities to k.
    pub(crate) fn add_actuators<S: System + ?Sized>(&mut self, system: &S, v: &[f64]) {
        if !self.actuators.is_empty() {
            let starts = differences::starts(system);
            let Self { k, actuators, .. } = self;
            actuators.iter().for_each(|a| a.row.add_transposed(&starts, a.force(a.row.dot(&starts, v)), k));
        }
    }

    /// Adds the forces of actuators and the gyroscopic forces at these velocities to k.
    pub(crate) fn complete<S: System + ?Sized>(&mut self, system: &S, v: &[f64]) {
        self.add_actuators(system, v);
        add_gyroscopic(system, v, &mut self.k);
    }
}

/// Spring and damper along one row: force −stiffness · elongation − damping · (row · v).
#[derive(Debug, Clone, PartialEq)]
pub struct Spring {
    /// Gradient ∇φ of the elongation with respect to v.
    pub row: Row,
    /// Stiffness γ [N/m].
    pub stiffness: f64,
    /// Damping δ [N s/m].
    pub damping: f64,
    /// Force along the row that is in `k` [N].
    pub force: f64,
    /// Speed of the elongation by prescribed motions [m/s].
    pub drift: f64,
}

/// Joint row: one scalar constraint of a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct JointRow {
    /// Joint, by its number in the world.
    pub joint: JointId,
    /// Row νᵀ.
    pub row: Row,
    /// Error Θ [m].
    pub error: f64,
    /// Drift ∂Θ/∂t of prescribed motion [m/s].
    pub drift: f64,
    /// Kind of constraint.
    pub kind: RowKind,
}

impl JointRow {
    /// Row that holds the gap of a contact at zero from both sides, as a joint does. It belongs to no joint of the model.
    pub(crate) fn holding(contact: &ContactRow, compliance: f64) -> Self {
        let (row, error) = (contact.normal.clone(), contact.gap);
        Self { joint: JointId(u32::MAX), row, error, drift: 0.0, kind: RowKind::Rigid(compliance) }
    }

    /// Name of the joint in messages, such as "joint 2 (hinge)"; by its number alone where joints have no names.
    pub(crate) fn name<S: System + ?Sized>(&self, system: &S) -> String {
        let name = system.joint_name(self.joint).map_or_else(String::new, |name| format!(" ({name})"));
        format!("joint {}{name}", self.joint)
    }

    /// Position error [m]; `None` for drives, which hold no position, and for compliant rows, which yield on purpose.
    pub fn violation(&self) -> Option<f64> {
        match self.kind {
            RowKind::Rigid(compliance) if compliance > 0.0 => None,
            RowKind::Rigid(_) => Some(self.error.abs()),
            RowKind::Limit => Some((-self.error).max(0.0)),
            RowKind::Drive { .. } => None,
        }
    }
}

/// Kind of a joint row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum RowKind {
    /// Bilateral: Θ = 0, with a compliance [m/N] that is zero for a rigid joint.
    Rigid(f64),
    /// Unilateral: Θ ≥ 0.
    Limit,
    /// Motor with a speed and a bounded force, or dry friction where the speed is zero.
    Drive {
        /// Target speed [m/s].
        speed: f64,
        /// Maximum force [N].
        force: f64,
    },
}

/// Pair of shapes, by their numbers in the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct PairId {
    /// First shape.
    pub a: ShapeId,
    /// Second shape.
    pub b: ShapeId,
}

impl PairId {
    /// Pair of two shapes, the lower number first.
    pub fn of(a: ShapeId, b: ShapeId) -> Self {
        Self { a: a.min(b), b: a.max(b) }
    }
}

/// Contact between two shapes; the id is the same from step to step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ContactId {
    /// Shapes.
    pub pair: PairId,
    /// Feature pair, by its number among those of the shapes.
    pub feature: u32,
}

impl fmt::Display for ContactId {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "contact {} of shapes {} and {}", self.feature, self.pair.a, self.pair.b)
    }
}

impl ContactId {
    /// Name in messages, as [`ContactRow::name`] has it.
    pub(crate) fn name<S: System + ?Sized>(&self, system: &S) -> String {
        self.name_with([self.pair.a, self.pair.b].map(|shape| system.body_name(system.body_of(shape)?)))
    }

    /// Name with the names of its bodies, or with the numbers of its shapes if one has no name.
    fn name_with(&self, bodies: [Option<&str>; 2]) -> String {
        match bodies {
            [Some(a), Some(b)] => format!("contact {} ({a}–{b})", self.feature),
            _ => self.to_string(),
        }
    }
}

/// Unilateral constraint or drive: where an active constraint or an event is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ConstraintId {
    /// Contact.
    Contact(ContactId),
    /// Limit or drive, by its index among the joint rows.
    Joint(usize),
}

impl ConstraintId {
    /// Whether it is a contact.
    pub(crate) fn is_contact(&self) -> bool {
        matches!(self, Self::Contact(_))
    }

    /// Whether it is another contact of the pair of a contact.
    pub(crate) fn follows(&self, lost: &Self) -> bool {
        matches!((self, lost), (Self::Contact(a), Self::Contact(b)) if a.pair == b.pair && a != b)
    }

    /// Name in messages: of the contact, or of the joint that the row belongs to at a configuration.
    pub fn name<S: System + ?Sized>(&self, system: &S, t: f64, q: &[f64]) -> String {
        match *self {
            Self::Contact(id) => id.name(system),
            Self::Joint(row) => {
                let mut joints = Vec::new();
                system.joints(t, q, &mut joints);
                joints.get(row).map_or_else(|| format!("joint row {row}"), |joint| joint.name(system))
            }
        }
    }
}

/// Contact rows: normal, tangents and moments at one near point of two shapes.
#[derive(Debug, Clone, PartialEq)]
pub struct ContactRow {
    /// Contact.
    pub id: ContactId,
    /// Bodies, by their numbers in the world.
    pub bodies: [BodyId; 2],
    /// Gap Φ [m], negative when overlapping.
    pub gap: f64,
    /// Normal row nᵀ: the gap opens at n·v + drift.
    pub normal: Row,
    /// Drift ∂Φ/∂t of prescribed motion [m/s].
    pub drift: f64,
    /// Tangent rows and prescribed slip τ [m/s].
    pub tangents: ArrayVec<OffsetRow, 2>,
    /// `true` where tangent rows are aligned with the slip of the free velocity.
    pub aligned: bool,
    /// Friction set.
    pub set: FrictionSet,
    /// Coulomb coefficient μ.
    pub mu: f64,
    /// Coefficient of restitution e.
    pub restitution: f64,
    /// Contact point [m]; z = 0 in the plane.
    pub point: [f64; 3],
    /// Unit normal, from the first body to the second.
    pub direction: [f64; 3],
    /// Unit tangents of the tangent rows.
    pub tangent_directions: [[f64; 3]; 2],
    /// Torsional and rolling friction.
    pub moments: Moments,
}

/// Moment rows of a contact with torsional or rolling friction, as a distributed contact has. ST00 §2. Few contacts have
/// them, so they are stored apart: copying a contact without them costs no more than if there were none.
#[derive(Debug, Clone, PartialEq)]
pub struct Moments {
    /// Torsional radius ℓ_t [m]; 0 without torsional friction. The moment about the normal and the sliding friction
    /// share one bound: (f, m/ℓ_t) lies in μ N times the friction set.
    pub torsion: f64,
    /// Rolling length ℓ_r [m]; 0 without rolling friction. The moment across the normal is at most ℓ_r N, whatever μ is.
    pub rolling: f64,
    /// Spin row: ℓ_t times the angular velocity of the second body relative to the first about the normal, where μ > 0
    /// [m/s].
    pub spin: Option<Box<OffsetRow>>,
    /// Rolling rows: ℓ_r times the relative angular velocity about the tangents, in the plane about z [m/s].
    pub rolls: Vec<OffsetRow>,
    /// Friction set of the rolling moments.
    pub set: FrictionSet,
}

impl Moments {
    /// No moment rows.
    pub fn none() -> Self {
        Self { torsion: 0.0, rolling: 0.0, spin: None, rolls: Vec::new(), set: FrictionSet::circle() }
    }

    /// `true` without moment rows.
    pub fn is_none(&self) -> bool {
        self.spin.is_none() && self.rolls.is_empty()
    }
}

/// `true` where a contact is among others, which are sorted by pair.
pub(crate) fn is_among<T>(id: ContactId, others: &[T], key: impl Fn(&T) -> ContactId) -> bool {
    let first = others.partition_point(|other| key(other).pair < id.pair);
    others[first..].iter().map(key).take_while(|other| other.pair == id.pair).any(|other| other == id)
}

impl ContactRow {
    /// Name in messages, such as "contact 4 (box–floor)"; by the numbers of its shapes where bodies have no names.
    pub(crate) fn name<S: System + ?Sized>(&self, system: &S) -> String {
        self.id.name_with(self.bodies.map(|body| system.body_name(body)))
    }

    /// Vector with these components along the tangents.
    pub(crate) fn along_tangents(&self, [x, y]: [f64; 2]) -> [f64; 3] {
        let [a, b] = &self.tangent_directions;
        std::array::from_fn(|c| x * a[c] + y * b[c])
    }

    /// Rotates the two tangents by the angle with this cosine and sine.
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

/// Row `x a + y b`, of two rows over the same bodies.
pub(crate) fn combined(x: f64, a: &OffsetRow, y: f64, b: &OffsetRow) -> OffsetRow {
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
