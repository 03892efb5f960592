//! Parts of a recorded step, posed again from where the step had come to. Nothing is solved here: what was recorded is
//! put into the equations.

mod combined;

pub(crate) use combined::{Combined, Made, WRONG};

use super::accelerate::Instant;
use super::event::NEIGHBOURS;
use super::flow::{Flow, Origin, Stage, advance};
use super::impact::Impact;
use super::judge;
use super::locate;
use super::project::{Projector, Straightened};
use super::share::TURNS;
use super::{LEFT, coarse};
use crate::assemble;
use crate::report::{ContactReport, JointReport, Part};
use crate::scheme::euler::kinetic;
use crate::scheme::{Middle, Scheme, Trapezoidal};
use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, System};
use nalgebra::{DMatrix, DVector};
use stiction_lcp::problem::Layout;
use stiction_lcp::{Candidate, Certificate, ContactMode, Mode, OffsetRow, Row, StepProblem, certify_motion};

/// Part of the momentum that its round-off is measured by, beside what a velocity was changed by.
const BESIDE: f64 = 1e-4;

/// Directions of impulses below this part of the largest are round-off of rows that follow from others.
const SINGULAR: f64 = 1e-11;

/// Friction against slip of less than this part of the speed of a certificate has no direction.
const STILL: f64 = 1e-6;

/// Energy that an impact may add, as a part: round-off.
const GAIN: f64 = 1e-12;

/// A recorded step under way.
pub(crate) struct Replay<'a, S: System + ?Sized> {
    stage: Stage<'a, S>,
    flow: Flow,
    projector: Projector,
    impact: Impact,
    instant: Instant,
    /// Where the step has come to.
    pub(crate) now: State,
    bounced: Option<(f64, Vec<f64>)>,
}

/// A recorded part between two events.
pub(crate) struct Between<'a> {
    pub(crate) size: f64,
    pub(crate) implicit: bool,
    pub(crate) located: bool,
    pub(crate) definite: bool,
    pub(crate) active: &'a [ActiveConstraint],
    pub(crate) fresh: &'a [ActiveConstraint],
    pub(crate) heading: &'a [f64],
    pub(crate) carried: &'a [f64],
    pub(crate) slips: &'a [(usize, [f64; 2])],
    pub(crate) impulses: &'a [f64],
    pub(crate) v: &'a [f64],
}

impl<'a> Between<'a> {
    /// A recorded part, if it is one between two events.
    pub(crate) fn of(part: &'a Part) -> Option<Self> {
        let Part::Between {
            size,
            implicit,
            located,
            definite,
            active,
            fresh,
            heading,
            carried,
            slips,
            impulses,
            v,
        } = part
        else {
            return None;
        };
        let (size, implicit, located, definite) = (*size, *implicit, *located, *definite);
        Some(Self { size, implicit, located, definite, active, fresh, heading, carried, slips, impulses, v })
    }
}

/// A recorded impact.
pub(crate) struct Struck<'a> {
    pub(crate) places: &'a [ConstraintId],
    pub(crate) held: &'a [ConstraintId],
    pub(crate) compression: (&'a [f64], &'a [f64]),
    pub(crate) factor: f64,
    pub(crate) decompression: (&'a [f64], &'a [f64]),
}

/// What a part shows.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    /// How well its equations hold.
    pub(crate) certificate: Certificate,
    /// How far velocities and displacements that it was made with are from what they have to be, without unit.
    pub(crate) astray: f64,
    /// Impulses lie in their cones and friction is against slip, so that nothing had to let go.
    pub(crate) allowed: bool,
}

impl<'a, S: System + ?Sized> Replay<'a, S> {
    pub(crate) fn new(
        system: &'a S,
        scheme: &'a Scheme,
        settings: &'a Trapezoidal,
        before: &State,
        h: f64,
    ) -> Self {
        let mut flow = Flow::default();
        flow.cache.clone_from(&before.memory.cache);
        let stage = Stage { system, scheme, settings, whole: h };
        let (projector, impact, instant) = Default::default();
        Self { stage, flow, projector, impact, instant, now: before.clone(), bounced: None }
    }

    /// What lengths are measured by [m].
    pub(crate) fn size(&self) -> f64 {
        self.stage.system.size()
    }

    /// How the rest of a step is made coarsely.
    pub(crate) fn coarse_scheme(&self, soft: bool) -> Scheme {
        coarse::scheme(self.stage.scheme, soft)
    }

    /// What is left of the step [s], above round-off.
    pub(crate) fn left(&self, end: f64) -> f64 {
        let left = end - self.now.t;
        if left.abs() <= LEFT * self.stage.whole { 0.0 } else { left }
    }

    /// A part between two events, up to its end; or why there is no such part.
    pub(crate) fn between(&mut self, part: &Between) -> Result<Shown, String> {
        let Self { stage, flow, projector, now, .. } = self;
        let system = stage.system;
        let n = now.v.len();
        let sizes = [part.heading.len(), part.carried.len(), part.v.len()];
        if sizes != [n; 3] || !(part.size > 0.0 && part.size <= stage.whole * (1.0 + LEFT)) {
            return Err("a part of another size".to_string());
        }
        let origin = Origin { state: now, active: part.active, fresh: part.fresh };
        flow.begin(stage, &origin).map_err(|e| e.to_string())?;
        let mut astray: f64 = 0.0;
        if stage.settings.middle == Middle::Tangent {
            let here = (now.t, &now.q[..]);
            let straightened =
                projector.head_by(stage, &origin, part.located, flow, |projector, which, v, _| {
                    projector.pose_velocity(system, here, v, part.active);
                    let said = if which == Straightened::Heading { part.heading } else { part.carried };
                    astray = astray.max(changed(projector.posed(), v, said));
                    v.copy_from_slice(said);
                    Ok(())
                });
            straightened.map_err(|e| e.to_string())?;
        }
        if flow.heading != part.heading || flow.carried != part.carried {
            astray = f64::INFINITY;
        }
        if part.definite {
            flow.take_definite(stage, &now.v);
        }
        flow.assemble(stage, &origin, part.size, part.implicit).map_err(|e| e.to_string())?;
        let Flow { problem, layout, middle, modes, .. } = flow;
        if part.impulses.len() != layout.impulses {
            return Err("impulses of other rows".to_string());
        }
        let candidate = certify_motion(problem, part.impulses, part.v).map_err(|e| e.to_string())?;
        let (certificate, allowed) = if part.located {
            middle.modes(part.active, modes);
            for &(i, along) in part.slips {
                match modes.get_mut(i) {
                    // a slip that turns has less friction in the mean
                    Some(mode) if mode.mode == Mode::Slip && along[0].hypot(along[1]) <= 1.0 + 1e-12 => {
                        *mode = ContactMode::slip(along);
                    }
                    _ => return Err("friction that no mode has".to_string()),
                }
            }
            let allowed = allowed(problem, layout, modes, &candidate, stage.scheme.solver.tolerance);
            (judge::given_modes(problem, layout, modes, &candidate), allowed)
        } else {
            (candidate.certificate, true)
        };
        let before = now.clone();
        advance(system, &before, part.v, part.size, part.implicit, now);
        Ok(Shown { certificate, astray, allowed })
    }

    /// A landing on the interpolant of a part.
    pub(crate) fn interpolated(&mut self, whole: &Between, at: f64) -> Result<Shown, String> {
        if !(at > 0.0 && at <= whole.size) || whole.implicit {
            return Err("a landing beside its part".to_string());
        }
        let start = self.now.clone();
        let shown = self.between(whole)?;
        self.now = locate::on_cubic(self.stage.system, &start, &self.now, whole.size, at);
        Ok(shown)
    }

    /// What the part that was posed last reports.
    pub(crate) fn reports(&self, z: &[f64], v: &[f64]) -> (Vec<ContactReport>, Vec<JointReport>) {
        let Flow { problem, layout, places, middle, .. } = &self.flow;
        let (mut contacts, mut joints) = (Vec::new(), Vec::new());
        // the mode is told by the speed, which is not compared
        assemble::contact_reports(problem, layout, places, &middle.contacts, (z, v, 0.0), &mut contacts);
        assemble::joint_reports(problem, layout, places, &middle.joints, z, &mut joints);
        (contacts, joints)
    }

    /// A projection onto what holds: its equations, and what is left of the errors of positions [m].
    pub(crate) fn projection(
        &mut self,
        active: &[ActiveConstraint],
        displacements: &[Vec<f64>],
        v: &[f64],
    ) -> Result<(Shown, f64), String> {
        let Self { stage, flow, projector, now, .. } = self;
        let n = now.v.len();
        if v.len() != n || displacements.iter().any(|d| d.len() != n) {
            return Err("a projection of another size".to_string());
        }
        let mut astray: f64 = 0.0;
        for displacement in displacements {
            projector.read(stage.system, now, active, flow).map_err(|e| e.to_string())?;
            projector.pose_displacement(stage.system, now);
            astray = astray.max(changed(projector.posed(), &vec![0.0; n], displacement));
            stage.system.advance(&mut now.q, displacement, 1.0);
        }
        projector.read(stage.system, now, active, flow).map_err(|e| e.to_string())?;
        let left = projector.error();
        projector.pose_velocity(stage.system, (now.t, &now.q), &now.v, active);
        astray = astray.max(changed(projector.posed(), &now.v, v));
        now.v.copy_from_slice(v);
        Ok((Shown { astray, allowed: true, ..Shown::default() }, left))
    }

    /// An impact: the certificates of its compression and its decompression.
    pub(crate) fn impact(&mut self, part: &Struck) -> Result<Shown, String> {
        let Self { stage, flow, impact, now, bounced, .. } = self;
        let system = stage.system;
        let (z, compressed) = part.compression;
        let (more, v) = part.decompression;
        let n = now.v.len();
        if v.len() != n || compressed.len() != n {
            return Err("an impact of another size".to_string());
        }
        impact.read(system, now, NEIGHBOURS * system.size(), part.held, flow);
        let here = bounced.take().filter(|b| b.0 == now.t);
        let first = now.v.clone();
        let over = impact.pose(stage, now, part.places, here.as_ref().map(|b| &b.1[..]));
        let before = kinetic(system, (now.t, &now.q), &now.v);
        if z.len() != impact.problem().layout().impulses {
            return Err("an impact with impulses of other rows".to_string());
        }
        let candidate = certify_motion(impact.problem(), z, compressed).map_err(|e| e.to_string())?;
        let mut certificate = candidate.certificate;
        let returned = if over { Vec::new() } else { impact.returned(stage, compressed, z) };
        if returned.is_empty() {
            if v != compressed || !more.is_empty() || part.factor != if over { 0.0 } else { 1.0 } {
                return Err("an impact that bounces without restitution".to_string());
            }
        } else {
            let reduced = part.factor < 1.0 && stage.settings.energy_safe;
            if part.factor != 1.0 && !(reduced && part.factor >= 0.0) {
                return Err(format!("an impact with {} times its restitution", part.factor));
            }
            impact.pose_decompression(stage, compressed, &returned, part.factor);
            if more.len() != impact.problem().layout().impulses {
                return Err("a decompression with impulses of other rows".to_string());
            }
            let second = certify_motion(impact.problem(), more, v).map_err(|e| e.to_string())?;
            certificate = judge::worse(certificate, second.certificate);
            let after = kinetic(system, (now.t, &now.q), v);
            if stage.settings.energy_safe && after > before * (1.0 + GAIN) {
                return Err("an impact that adds energy".to_string());
            }
        }
        now.v.copy_from_slice(v);
        *bounced = (!over).then_some((now.t, first));
        Ok(Shown { certificate, astray: 0.0, allowed: true })
    }
}

/// How far a velocity is from one that impulses in these modes make of another and whose rows hold: what of M(v⁺ − v)
/// no impulse gives, as a part of it, and the speeds of rows, as a part of the scale of speeds; the larger.
fn changed((problem, layout, modes): (&StepProblem, &Layout, &[ContactMode]), v: &[f64], to: &[f64]) -> f64 {
    let start = &layout.velocity;
    let n = v.len();
    let mut columns: Vec<DVector<f64>> = Vec::new();
    let mut speeds: f64 = 0.0;
    // by √m, so that turning and moving are measured alike
    let mut roots = Vec::with_capacity(n);
    for body in &problem.bodies {
        roots.extend((0..body.velocities).map(|i| body.mass[(i, i)].sqrt()));
    }
    let column = |parts: &[(&Row, f64)]| {
        let mut column = DVector::zeros(n);
        for (row, factor) in parts {
            row.for_each(start, |i, x| column[i] += factor * x / roots[i]);
        }
        column
    };
    let mut holds = |row: &Row, offset: f64| speeds = speeds.max((row.dot(start, to) + offset).abs());
    for joint in &problem.joints {
        columns.push(column(&[(&joint.row.row, 1.0)]));
        holds(&joint.row.row, joint.row.offset);
    }
    for (contact, mode) in problem.contacts.iter().zip(modes) {
        match mode.mode {
            Mode::Open => {}
            Mode::Stick => {
                for row in contact.rows() {
                    columns.push(column(&[(&row.row, 1.0)]));
                    holds(&row.row, row.offset);
                }
            }
            Mode::Slip => {
                let Some(normal) = &contact.normal else { continue };
                let mut parts = vec![(&normal.row, 1.0)];
                parts.extend(
                    contact.tangents.iter().zip(mode.direction).map(|(t, a)| (&t.row, contact.mu * a)),
                );
                columns.push(column(&parts));
                holds(&normal.row, normal.offset);
            }
        }
    }
    let weighed = |v: &[f64]| {
        let mut product = vec![0.0; n];
        problem.multiply_mass(start, v, &mut product);
        DVector::from_iterator(n, product.iter().zip(&roots).map(|(p, root)| p / root))
    };
    let difference: Vec<f64> = to.iter().zip(v).map(|(a, b)| a - b).collect();
    let change = weighed(&difference);
    let mut rest = change.clone();
    if columns.iter().any(|column| column.iter().any(|x| !x.is_finite())) {
        return f64::INFINITY;
    }
    if !columns.is_empty() {
        let svd = DMatrix::from_columns(&columns).try_svd(true, false, 5.0 * f64::EPSILON, TURNS);
        let Some(svd) = svd else { return f64::INFINITY };
        let least = SINGULAR * svd.singular_values.amax();
        for (k, direction) in svd.u.iter().flat_map(|u| u.column_iter()).enumerate() {
            if svd.singular_values[k] > least {
                rest -= direction * direction.dot(&change);
            }
        }
    }
    let size = change.norm() + BESIDE * weighed(v).norm();
    let outside = if size > 0.0 { rest.norm() / size } else { 0.0 };
    let slowest = problem.speed_scale.max(f64::MIN_POSITIVE);
    let worst = outside.max(speeds / slowest);
    if worst.is_nan() { f64::INFINITY } else { worst }
}

/// Whether impulses lie in their cones and friction is against the slip, at the velocity at which its rows hold.
fn allowed(
    problem: &StepProblem,
    layout: &Layout,
    modes: &[ContactMode],
    candidate: &Candidate,
    tolerance: f64,
) -> bool {
    let slip = |t: &OffsetRow| t.row.dot(&layout.velocity, &candidate.velocity) + t.offset;
    let speed = candidate.certificate.speed;
    let contacts = problem.contacts.iter().zip(modes).zip(&candidate.certificate.contacts);
    contacts.into_iter().all(|((contact, mode), own)| {
        let against = mode.slip_direction().is_none_or(|along| {
            let slips = contact.tangents.iter().zip(along);
            slips.map(|(t, a)| a * slip(t)).sum::<f64>() <= STILL * speed
        });
        own.cone <= tolerance && against
    })
}
