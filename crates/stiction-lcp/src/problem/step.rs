//! Structured problem of one time step: AH04 (2.10)–(2.11) with joint compliance, surface velocities, couplings of
//! bodies and friction bounds that need no normal impulse.

use super::{FrictionLaw, FrictionSet, Malformed, MassFactor, OffsetRow, Row, Term, finite, not_negative};
use arrayvec::ArrayVec;
use nalgebra::{Matrix6, Vector6};

/// Step problem: one time step of rigid bodies as a mixed complementarity problem.
///
/// ```text
///  M̃ v⁺ − ν c_ν − n c_n − D β            = b
///  νᵀ v⁺ + C c_ν       + Υ                = 0
///  nᵀ v⁺               + Δ   = ρ ≥ 0  ⊥  c_n ≥ 0
///  Fᵀ(Tᵀ v⁺ + τ) + E λ       = σ ≥ 0  ⊥  β   ≥ 0      D = T F
///  μ c_n + κ − Eᵀ β          = ζ ≥ 0  ⊥  λ   ≥ 0
/// ```
///
/// The unknowns `z` are impulses [N s]: c_ν of every joint row, then for each contact c_n (if it has a normal
/// row) and its friction unknowns: β per generator of a polygon, or the impulse along each tangent row for an
/// ellipse. λ is not among them: it is not unique at sticking contacts, and the certificate takes its minimal value,
/// AH04 Lemma 2.2.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepProblem {
    /// Bodies, each with its block of M̃ and b.
    pub bodies: Vec<Body>,
    /// Couplings of two bodies in M̃ (implicit springs and dampers).
    pub pairs: Vec<BodyPair>,
    /// Joint rows.
    pub joints: Vec<Joint>,
    /// Contacts, and friction blocks without a normal row.
    pub contacts: Vec<Contact>,
    /// Coupling of friction and normal velocities.
    pub law: FrictionLaw,
    /// Floor under the speed scale V₀ of the certificate [m/s], ‖g‖ h in a time step. Smaller measures residuals of
    /// resting bodies by round-off; larger hides errors of slow motions.
    pub speed_scale: f64,
}

/// Body by its diagonal block of M̃ and its part of b.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Body {
    /// Number of velocities, 1 to 6; only this many rows and columns below are used.
    pub velocities: usize,
    /// Block of M̃, with positive definite symmetric part.
    pub mass: Matrix6<f64>,
    /// Part of b [N s; N m s].
    pub momentum: Vector6<f64>,
}

/// Pair of bodies coupled by off-diagonal blocks of M̃.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyPair {
    /// Index of the first body.
    pub a: usize,
    /// Index of the second body.
    pub b: usize,
    /// Block in the rows of a and the columns of b.
    pub ab: Matrix6<f64>,
    /// Block in the rows of b and the columns of a.
    pub ba: Matrix6<f64>,
}

/// Joint row: νᵀ v⁺ + C c_ν + Υ = 0.
#[derive(Debug, Clone, PartialEq)]
pub struct Joint {
    /// Row νᵀ and its offset Υ [m/s].
    pub row: OffsetRow,
    /// Compliance C ≥ 0 [m/s per N s].
    pub compliance: f64,
}

/// Contact, or friction block without a normal row: a force-limited motor, dry joint friction, the rolling friction
/// of a contact.
#[derive(Debug, Clone, PartialEq)]
pub struct Contact {
    /// Normal row nᵀ and its offset Δ [m/s].
    pub normal: Option<OffsetRow>,
    /// Tangent rows Tᵀ with their offsets τ [m/s]; none for a frictionless contact. A third row is the spin about the
    /// normal times the torsional radius.
    pub tangents: ArrayVec<OffsetRow, 3>,
    /// Tangential impulses that one unit of the friction bound allows.
    pub set: FrictionSet,
    /// Coulomb coefficient μ ≥ 0.
    pub mu: f64,
    /// Part κ ≥ 0 of the friction bound that does not depend on the normal impulse [N s].
    pub kappa: f64,
    /// Contact whose normal impulse is the c_n of the bound μ c_n + κ, for a block without a normal row. Rolling
    /// friction, whose rows are rotations about the tangents times the rolling length, is bound by its contact with
    /// μ = 1.
    pub bound_by: Option<usize>,
}

impl Body {
    /// Builds a body from its `velocities`² entries of M̃ by rows and its part of b.
    pub fn new(velocities: usize, mass: &[f64], momentum: &[f64]) -> Self {
        let n = velocities.min(6);
        let mut body = Self { velocities, mass: Matrix6::zeros(), momentum: Vector6::zeros() };
        for i in 0..n {
            body.momentum[i] = momentum.get(i).copied().unwrap_or(f64::NAN);
            for j in 0..n {
                body.mass[(i, j)] = mass.get(i * n + j).copied().unwrap_or(f64::NAN);
            }
        }
        body
    }
}

impl Contact {
    /// Contact without friction.
    pub fn frictionless(normal: Row, offset: f64) -> Self {
        Self {
            normal: Some(OffsetRow { row: normal, offset }),
            tangents: ArrayVec::new(),
            set: FrictionSet::line(),
            mu: 0.0,
            kappa: 0.0,
            bound_by: None,
        }
    }

    /// Number of unknowns: normal impulse and friction.
    pub fn unknowns(&self) -> usize {
        usize::from(self.normal.is_some()) + self.set.unknowns(self.tangents.len())
    }

    /// Rows of this contact: normal first, then tangents.
    pub fn rows(&self) -> impl Iterator<Item = &OffsetRow> {
        self.normal.iter().chain(&self.tangents)
    }

    /// Impulse along each tangent row from the friction unknowns: F β for a polygon.
    pub fn tangent_impulse(&self, friction: &[f64]) -> [f64; 3] {
        match &self.set {
            FrictionSet::Polygon(f) => f
                .iter()
                .zip(friction)
                .fold([0.0; 3], |p, (f, beta)| std::array::from_fn(|k| p[k] + f[k] * beta)),
            FrictionSet::Ellipse(_) => std::array::from_fn(|i| friction.get(i).copied().unwrap_or(0.0)),
        }
    }

    /// Slip speed λ at its minimal value [m/s], as the friction set measures it, from the slip along each tangent row
    /// [m/s]. AH04 Lemma 2.2
    pub fn slip_speed(&self, slip: [f64; 3]) -> f64 {
        if self.tangents.is_empty() {
            return 0.0;
        }
        let along = |f: &[f64; 3]| f.iter().zip(slip).map(|(f, u)| f * u).sum::<f64>();
        match &self.set {
            FrictionSet::Polygon(f) => f.iter().map(|f| -along(f)).fold(0.0, f64::max),
            FrictionSet::Ellipse(axes) => {
                axes.iter().zip(slip).map(|(a, u)| (a * u).powi(2)).sum::<f64>().sqrt()
            }
        }
    }

    /// Friction unknowns of least sum with this tangential impulse: the inverse of [`Contact::tangent_impulse`].
    pub fn friction_unknowns(&self, impulse: [f64; 3], out: &mut [f64]) {
        if let FrictionSet::Ellipse(_) = self.set {
            out.iter_mut().zip(impulse).for_each(|(out, p)| *out = p);
            return;
        }
        out.fill(0.0);
        for (i, beta) in self.least_sum(impulse).1 {
            out[i] += beta;
        }
    }

    /// Least sum Σβ with this tangential impulse, and the generators of a polygon that give it.
    pub(crate) fn least_sum(&self, impulse: [f64; 3]) -> (f64, [(usize, f64); 3]) {
        let FrictionSet::Polygon(f) = &self.set else { return (f64::INFINITY, [(0, 0.0); 3]) };
        super::friction::least_sum(f, self.tangents.len(), impulse)
    }
}

/// Layout of the velocities of bodies in v and of the unknowns of contacts in z.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Layout {
    /// Index in v of each body's first velocity, and one more entry: the number of velocities.
    pub velocity: Vec<usize>,
    /// Index in z of each contact's first unknown, and one more entry: the number of unknowns.
    pub contact: Vec<usize>,
    /// Number of unknowns in z.
    pub impulses: usize,
}

impl Layout {
    /// Number of velocities.
    pub fn velocities(&self) -> usize {
        self.velocity.last().copied().unwrap_or(0)
    }
}

impl StepProblem {
    /// Layout of velocities and unknowns.
    pub fn layout(&self) -> Layout {
        let mut layout = Layout::default();
        self.lay_out(&mut layout);
        layout
    }

    /// Writes the layout into an existing value.
    pub fn lay_out(&self, layout: &mut Layout) {
        fn sums(start: usize, counts: impl Iterator<Item = usize>, out: &mut Vec<usize>) -> usize {
            let mut at = start;
            out.clear();
            out.push(at);
            out.extend(counts.map(|n| {
                at = at.saturating_add(n);
                at
            }));
            at
        }
        sums(0, self.bodies.iter().map(|b| b.velocities), &mut layout.velocity);
        let counts = self.contacts.iter().map(Contact::unknowns);
        layout.impulses = sums(self.joints.len(), counts, &mut layout.contact);
    }

    /// Contact whose normal impulse bounds the friction of contact `i`: itself, or its `bound_by`.
    pub fn bound_by(&self, i: usize) -> Option<usize> {
        let contact = &self.contacts[i];
        if contact.normal.is_some() { Some(i) } else { contact.bound_by }
    }

    /// Friction bound μ c_n + κ of contact `i` with the impulses `z` [N s].
    #[inline]
    pub(crate) fn bound(&self, layout: &Layout, i: usize, z: &[f64]) -> f64 {
        let normal = self.bound_by(i).map_or(0.0, |bound_by| z[layout.contact[bound_by]]);
        self.contacts[i].mu * normal + self.contacts[i].kappa
    }

    /// Whether M̃ is symmetric.
    pub fn is_symmetric(&self) -> bool {
        let body = |b: &Body| (0..b.velocities).all(|i| (0..i).all(|j| b.mass[(i, j)] == b.mass[(j, i)]));
        self.bodies.iter().all(body) && self.pairs.iter().all(|p| p.ab == p.ba.transpose())
    }

    /// Convex relaxation of this step with a slip shift Γ per contact, which adds to Δ. AH04 (2.13)
    #[must_use]
    pub fn relaxed(&self, gamma: &[f64]) -> Self {
        let mut relaxed = Self { law: FrictionLaw::Convex, ..self.clone() };
        for (contact, gamma) in relaxed.contacts.iter_mut().zip(gamma) {
            if let Some(normal) = &mut contact.normal {
                normal.offset += gamma;
            }
        }
        relaxed
    }

    /// Checks sizes, entries and that M̃ has a positive definite symmetric part.
    pub fn check(&self) -> Result<(), Malformed> {
        Prepared::default().prepare(self)
    }

    /// Checks sizes and entries; allocates nothing unless something is wrong.
    fn check_entries(&self, layout: &Layout) -> Result<(), Malformed> {
        if self.bodies.is_empty() {
            return Err(Malformed::at("bodies", "the problem is empty"));
        }
        not_negative(self.speed_scale, || "speed_scale".into())?;
        for (i, body) in self.bodies.iter().enumerate() {
            check_body(body, &|| format!("bodies[{i}]"))?;
        }
        for (i, pair) in self.pairs.iter().enumerate() {
            self.check_pair(pair, &|| format!("pairs[{i}]"))?;
        }
        for (i, joint) in self.joints.iter().enumerate() {
            self.check_row(&joint.row, layout, &|| format!("joints[{i}]"))?;
            not_negative(joint.compliance, || format!("joints[{i}].compliance"))?;
        }
        for (i, contact) in self.contacts.iter().enumerate() {
            self.check_contact(contact, layout, &|| format!("contacts[{i}]"))?;
        }
        Ok(())
    }

    fn check_pair(&self, pair: &BodyPair, place: EntryName) -> Result<(), Malformed> {
        let n = self.bodies.len();
        if pair.a >= n || pair.b >= n || pair.a == pair.b {
            let what =
                format!("couples bodies {} and {}; there are {n}, and they must differ", pair.a, pair.b);
            return Err(Malformed::at(place(), what));
        }
        let (na, nb) = (self.bodies[pair.a].velocities, self.bodies[pair.b].velocities);
        check_block(&pair.ab, na, nb, &|| format!("{}.ab", place()))?;
        check_block(&pair.ba, nb, na, &|| format!("{}.ba", place()))
    }

    fn check_contact(&self, contact: &Contact, layout: &Layout, place: EntryName) -> Result<(), Malformed> {
        not_negative(contact.mu, || format!("{}.mu", place()))?;
        not_negative(contact.kappa, || format!("{}.kappa", place()))?;
        match &contact.normal {
            Some(normal) => self.check_row(normal, layout, &|| format!("{}.normal", place()))?,
            None if contact.tangents.is_empty() => {
                return Err(Malformed::at(place(), "has neither a normal row nor tangent rows"));
            }
            None => {}
        }
        self.check_bound_by(contact, place)?;
        for (k, tangent) in contact.tangents.iter().enumerate() {
            self.check_row(tangent, layout, &|| format!("{}.tangents[{k}]", place()))?;
        }
        if contact.tangents.is_empty() {
            return Ok(());
        }
        contact.set.check(contact.tangents.len(), &|| format!("{}.set", place()))
    }

    fn check_bound_by(&self, contact: &Contact, place: EntryName) -> Result<(), Malformed> {
        let Some(bound_by) = contact.bound_by else { return Ok(()) };
        let what = match self.contacts.get(bound_by) {
            _ if contact.normal.is_some() => {
                "a contact with a normal row is bound by itself and must not name another".into()
            }
            None => format!("contact {bound_by} of {}", self.contacts.len()),
            Some(other) if other.normal.is_none() => format!("contact {bound_by} has no normal row"),
            Some(_) => return Ok(()),
        };
        Err(Malformed::at(format!("{}.bound_by", place()), what))
    }

    /// Whether a row is valid by a fast test: finite, of bodies that all have six velocities. True of most rows; others
    /// are checked entry by entry.
    fn is_plainly_valid(&self, row: &OffsetRow) -> bool {
        let Row::Bodies(terms) = &row.row else { return false };
        let whole = |t: &Term| self.bodies.get(t.body).is_some_and(|b| b.velocities == t.j.len());
        // 0 x is 0, or NaN where x is not finite
        let sum = |t: &Term| t.j.iter().fold(0.0, |sum, x| sum + 0.0 * x);
        let bodies = match terms.as_slice() {
            [a] => whole(a) && sum(a) == 0.0,
            [a, b] => whole(a) && whole(b) && a.body != b.body && sum(a) + sum(b) == 0.0,
            _ => false,
        };
        bodies && row.offset.is_finite()
    }

    fn check_row(&self, row: &OffsetRow, layout: &Layout, place: EntryName) -> Result<(), Malformed> {
        if self.is_plainly_valid(row) {
            return Ok(());
        }
        finite(row.offset, || format!("{}.offset", place()))?;
        let terms = match &row.row {
            Row::Bodies(terms) => terms,
            Row::Sparse(entries) => return check_sparse(entries, layout, place),
        };
        if terms.is_empty() {
            return Err(Malformed::at(format!("{}.row", place()), "touches no body"));
        }
        for (t, term) in terms.iter().enumerate() {
            let Some(body) = self.bodies.get(term.body) else {
                let what = format!("body {} of {}", term.body, self.bodies.len());
                return Err(Malformed::at(format!("{}.row[{t}]", place()), what));
            };
            for (i, &x) in term.j.iter().enumerate() {
                let here = || format!("{}.row[{t}].j[{i}]", place());
                finite(x, here)?;
                if i >= body.velocities && x != 0.0 {
                    let what = format!("body {} has {} velocities", term.body, body.velocities);
                    return Err(Malformed::at(here(), what));
                }
            }
        }
        if terms.len() == 2 && terms[0].body == terms[1].body {
            return Err(Malformed::at(format!("{}.row", place()), "names the same body twice"));
        }
        Ok(())
    }
}

/// Name of an entry, made only when an error needs it.
pub(super) type EntryName<'a> = &'a dyn Fn() -> String;

fn check_sparse(entries: &[(usize, f64)], layout: &Layout, place: EntryName) -> Result<(), Malformed> {
    for (k, &(i, x)) in entries.iter().enumerate() {
        let here = || format!("{}.row.sparse[{k}]", place());
        finite(x, here)?;
        if i >= layout.velocities() {
            return Err(Malformed::at(here(), format!("velocity {i} of {}", layout.velocities())));
        }
    }
    Ok(())
}

fn check_body(body: &Body, place: EntryName) -> Result<(), Malformed> {
    let n = body.velocities;
    if !(1..=6).contains(&n) {
        return Err(Malformed::at(format!("{}.velocities", place()), format!("{n} is not between 1 and 6")));
    }
    check_block(&body.mass, n, n, &|| format!("{}.mass", place()))?;
    (0..n).try_for_each(|i| finite(body.momentum[i], || format!("{}.momentum[{i}]", place())))
}

fn check_block(block: &Matrix6<f64>, rows: usize, columns: usize, place: EntryName) -> Result<(), Malformed> {
    // fast path: full and finite, as most blocks are
    if rows == 6 && columns == 6 && block.iter().fold(0.0, |sum, x| sum + 0.0 * x) == 0.0 {
        return Ok(());
    }
    for i in 0..6 {
        for j in 0..6 {
            let here = || format!("{}[{i}][{j}]", place());
            finite(block[(i, j)], here)?;
            if (i >= rows || j >= columns) && block[(i, j)] != 0.0 {
                return Err(Malformed::at(here(), format!("lies outside the {rows} × {columns} block")));
            }
        }
    }
    Ok(())
}

/// Layout and factored mass matrix of a checked problem, shared by certificates and solvers.
#[derive(Debug, Clone, Default)]
pub(crate) struct Prepared {
    pub(crate) layout: Layout,
    pub(crate) mass: MassFactor,
}

impl Prepared {
    /// Checks the problem and factors its mass matrix, in memory that is kept.
    pub(crate) fn prepare(&mut self, problem: &StepProblem) -> Result<(), Malformed> {
        problem.lay_out(&mut self.layout);
        problem.check_entries(&self.layout)?;
        self.mass.factor(problem, &self.layout)
    }

    /// Mobility of a row: the speed that one unit of impulse along it causes; `room` is zero before and after.
    pub(crate) fn mobility(&self, row: &Row, room: &mut [f64]) -> f64 {
        self.mass.mobility(&std::iter::once(row), &self.layout.velocity, room)[0][0]
    }
}
