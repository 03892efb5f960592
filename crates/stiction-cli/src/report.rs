//! Report of `stiction solve`: solution and certificate as aligned tables with units.

use crate::mode::ContactState;
use crate::solve::Answer;
use crate::{count, residual};
use std::fmt::Write;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_lcp::solution::Stage;
use stiction_lcp::{Certificate, Contact, Fallback, FrictionLaw, StepProblem, Work};

/// Text of an answer.
pub(crate) fn report(file: &ProblemFile, answer: &Answer) -> String {
    let solved = answer.status == "solved";
    let mut text = String::new();
    let mut line = |label: &str, value: &str| {
        let _ = writeln!(text, "{label:<12}{value}");
    };
    if let Some(name) = &file.name {
        line("name", name);
    }
    if let Some(source) = &file.source {
        line("source", source);
    }
    line("problem", &describe(&file.problem));
    line("solver", &format!("{}, tolerance {:.1e}", answer.solver, answer.tolerance));
    line("status", answer.status);
    line("", &answer.message);
    if let Some(work) = answer.work {
        line("found by", &found_by(work));
        for fallback in &work.fallbacks {
            line("fallback", fallback_words(*fallback));
        }
        if !work.redundant_joints.is_empty() {
            let rows: Vec<String> = work.redundant_joints.iter().map(ToString::to_string).collect();
            line("redundant", &format!("joint rows {} depend linearly on the others", rows.join(", ")));
        }
    }
    if answer.law == Some(FrictionLaw::Convex) {
        line("law", "the convex relaxation, not Coulomb's: sliding contacts separate");
    }
    if let Some(repair) = &answer.repair {
        line("matrix", &repair.to_string());
    }
    if let Some(pointed) = &answer.pointed {
        line("cone", &pointed.message);
    }
    if let Some(certificate) = answer.certificate {
        let whose = if solved { "certificate" } else { "certificate of the best iterate" };
        let _ = writeln!(text, "\n{whose}, recomputed from the problem and z alone");
        text += &certificate_lines(certificate, CertificateKind::of(&file.problem));
    }
    if let Some(states) = &answer.contacts {
        text += &contact_table(states);
    }
    if let (Some(z), Some(w)) = (answer.z, answer.w) {
        let whose = if solved { "" } else { " of the best iterate, which is not a solution" };
        text += &unknown_table(&file.problem, z, w, whose);
    }
    if let (AnyProblem::Step(step), Some(v)) = (&file.problem, answer.velocity) {
        text += &velocity_table(step, v);
    }
    if let (AnyProblem::Local(local), Some(r), Some(u)) = (&file.problem, &answer.r, answer.u) {
        text += &local_table(local.dim, r, u);
    }
    if let Some(proof) = answer.proof {
        text += "\nproof that no solution exists: a combination y of the rows that no unknowns satisfy (Farkas)\n";
        text += &sparse_table(&file.problem, &proof.y);
    } else if let Some(ray) = answer.ray {
        text += "\nray: direction along which z is unbounded\n";
        text += &sparse_table(&file.problem, ray);
    }
    text
}

fn describe(problem: &AnyProblem) -> String {
    match problem {
        AnyProblem::Lcp(lcp) => {
            format!("linear complementarity, {}", count(lcp.q.len(), "unknown", "unknowns"))
        }
        AnyProblem::Mlcp(mlcp) => {
            let free = mlcp.free.iter().filter(|f| **f).count();
            format!(
                "mixed complementarity, {}, {free} of them free",
                count(mlcp.q.len(), "unknown", "unknowns")
            )
        }
        AnyProblem::Step(step) => {
            let layout = step.layout();
            let parts = [
                count(step.bodies.len(), "body", "bodies"),
                count(layout.velocities(), "velocity", "velocities"),
                count(step.joints.len(), "joint row", "joint rows"),
                count(step.contacts.len(), "contact", "contacts"),
                count(layout.impulses, "unknown impulse", "unknown impulses"),
            ];
            format!("time step: {}", parts.join(", "))
        }
        AnyProblem::Local(local) => {
            let friction = match (local.dim, local.facets) {
                (2, _) => "in the plane".into(),
                (_, None) => "friction circles".into(),
                (_, Some(n)) => format!("friction polygons of {n} directions"),
            };
            let parts = [
                count(local.mu.len(), "contact", "contacts"),
                friction,
                count(local.size(), "unknown impulse", "unknown impulses"),
            ];
            format!("local form: {}", parts.join(", "))
        }
    }
}

pub(crate) fn found_by(work: &Work) -> String {
    let stage = match work.stage {
        Stage::Zero => "z = 0, tried first",
        Stage::WarmStart => "the warm start",
        Stage::Lemke => "Lemke's method",
        Stage::Newton => "Newton's method, from an approximate solution",
        Stage::Interior => "the interior point method",
        Stage::Path => "the central path, followed by arc length",
        Stage::Sweeps => "Gauss–Seidel sweeps and Newton's method",
        Stage::Enumerate => "enumeration of the bases",
        Stage::Convex => "Lemke's method on the convex relaxation",
        Stage::FixedPoint => "the fixed point of convex relaxations",
    };
    let mut text = stage.to_string();
    if work.rounds > 0 {
        let _ = write!(text, ", {}", count(work.rounds, "round", "rounds"));
    }
    if work.factorizations > 0 {
        let _ = write!(text, ", {}", count(work.factorizations, "factorization", "factorizations"));
        let _ = write!(text, " in {}", count(work.islands, "island", "islands"));
    }
    if work.pivots > 0 {
        let _ = write!(text, ", {}", count(work.pivots, "pivot", "pivots"));
    }
    if work.refactorizations > 0 {
        let _ = write!(text, ", {}", count(work.refactorizations, "refactorization", "refactorizations"));
    }
    if work.dense_size > 0 {
        let _ = write!(text, " on a dense problem of {}", count(work.dense_size, "unknown", "unknowns"));
    }
    text
}

fn fallback_words(fallback: Fallback) -> &'static str {
    match fallback {
        Fallback::Loose => "tolerance not reached; accepted at the loosest one",
        Fallback::ColdStart => "warm start failed; restarted from z = 0",
        Fallback::OtherTolerances => "stalled; repeated with other pivot and tie tolerances",
        Fallback::OtherScaling => "no solution found; repeated with the other scaling",
        Fallback::Newton => "not accurate enough; improved by Newton's method",
        Fallback::Proximal => "no solution found; repeated with a proximal term that vanished",
        Fallback::Enumeration => "no solution found; all bases enumerated",
        Fallback::FixedPoint => "not accurate enough; improved by convex relaxations",
    }
}

/// Kind of problem that a certificate is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum CertificateKind {
    Dense,
    Step,
    Local,
}

impl CertificateKind {
    fn of(problem: &AnyProblem) -> Self {
        match problem {
            AnyProblem::Lcp(_) | AnyProblem::Mlcp(_) => Self::Dense,
            AnyProblem::Step(_) => Self::Step,
            AnyProblem::Local(_) => Self::Local,
        }
    }
}

/// Lines of the residuals, each with its meaning.
pub(crate) fn certificate_lines(certificate: &Certificate, kind: CertificateKind) -> String {
    let mut text = String::new();
    let mut scale = |label: &str, words: &str| {
        let _ = writeln!(text, "  {label:<22}{:>9}  {words}", significant(certificate.speed));
    };
    match kind {
        CertificateKind::Step => {
            scale("scale [m/s]", "V₀: largest error speed of joints and closing contacts before any impulse");
        }
        CertificateKind::Local => scale("scale [m/s]", "V₀: largest speed of q at a closing contact"),
        CertificateKind::Dense => {
            scale("scale", "largest entry of q; each row is measured by its own largest term");
        }
    }
    let mut line = |label: &str, value: f64, words: &str| {
        let _ = writeln!(text, "  {label:<22}{:>9}  {words}", residual(value));
    };
    let Certificate { momentum, joints, natural_map, cone, complementarity, dissipation, .. } = certificate;
    if kind == CertificateKind::Step {
        line("momentum", *momentum, "error of mass × velocity = momentum + impulses, relative to its terms");
        line("joints", *joints, "error speed of joint rows / V₀");
    }
    if kind == CertificateKind::Dense {
        line("free rows", *joints, "largest |w| where it must be zero");
        line("natural map", *natural_map, "largest |min(z, w)|, z in units of w");
        line("cone", *cone, "largest negative z");
        line("complementarity", *complementarity, "largest |z w|, second order");
    } else {
        line("natural map", *natural_map, "impulse and opening, or unused friction and slip, at once / V₀");
        line("cone", *cone, "impulses outside the friction cone / V₀");
        line("complementarity", *complementarity, "product of impulse and speed / V₀², second order");
        line("maximum dissipation", *dissipation, "friction work short of the maximum / V₀², second order");
    }
    text
}

/// Positive number in at most nine characters.
fn significant(x: f64) -> String {
    if (1e-2..1e4).contains(&x) { format!("{x:.4}") } else { format!("{x:.2e}") }
}

/// Table of contacts.
fn contact_table(states: &[ContactState]) -> String {
    if states.is_empty() {
        return String::new();
    }
    let mut text = String::from("\ncontacts\n");
    let width = 17 * states.iter().map(|s| s.friction.len()).max().unwrap_or(2) - 1;
    let _ = writeln!(
        text,
        "  {:>4}  {:<5}  {:>15}  {:>width$}  {:>15}  {:>15}",
        "", "mode", "normal [N s]", "friction along the tangents [N s]", "opening [m/s]", "slip [m/s]"
    );
    let or_none = |x: Option<f64>| x.map_or("none".into(), short);
    for (i, ContactState { mode, normal, friction, opening, slip }) in states.iter().enumerate() {
        let _ = writeln!(
            text,
            "  {i:>4}  {mode:<5}  {:>15}  {:<width$}  {:>15}  {:>15}",
            or_none(*normal),
            friction.iter().map(|p| format!("{:>16}", short(*p))).collect::<Vec<_>>().join(" "),
            or_none(*opening),
            short(*slip),
        );
    }
    text
}

/// Number in at most 13 characters; exact zero is `0`.
fn short(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else if (1e-3..1e5).contains(&x.abs()) {
        format!("{x:.6}")
    } else {
        format!("{x:.5e}")
    }
}

/// Names of the unknowns of a problem.
fn labels(problem: &AnyProblem) -> Vec<String> {
    match problem {
        AnyProblem::Lcp(lcp) => vec![String::new(); lcp.q.len()],
        AnyProblem::Mlcp(mlcp) => {
            mlcp.free.iter().map(|free| if *free { "free".into() } else { String::new() }).collect()
        }
        AnyProblem::Step(step) => {
            let mut labels: Vec<String> = (0..step.joints.len()).map(|i| format!("joint {i}")).collect();
            label_contacts(&step.contacts, &mut labels);
            labels
        }
        AnyProblem::Local(local) => {
            let mut labels = Vec::new();
            label_contacts(&local.contacts(&local.q), &mut labels);
            labels
        }
    }
}

fn label_contacts(contacts: &[Contact], labels: &mut Vec<String>) {
    for (i, contact) in contacts.iter().enumerate() {
        let normals = usize::from(contact.normal.is_some());
        if normals > 0 {
            labels.push(format!("contact {i} normal"));
        }
        labels.extend((0..contact.unknowns() - normals).map(|k| format!("contact {i} friction {k}")));
    }
}

/// Table of impulse r and speed u of contacts in local form.
fn local_table(dim: usize, r: &[f64], u: &[f64]) -> String {
    let mut text = String::from("\nimpulse and speed of each row\n");
    let _ = writeln!(text, "  {:>4}  {:>15}  {:>15}", "", "r [N s]", "u [m/s]");
    for (i, (r, u)) in r.iter().zip(u).enumerate() {
        let row = if i % dim == 0 { "normal".into() } else { format!("tangent {}", i % dim - 1) };
        let _ = writeln!(text, "  {i:>4}  {:>15}  {:>15}  contact {} {row}", short(*r), short(*u), i / dim);
    }
    text
}

fn unknown_table(problem: &AnyProblem, z: &[f64], w: &[f64], whose: &str) -> String {
    let (z_unit, w_unit) = match problem {
        AnyProblem::Step(_) | AnyProblem::Local(_) => ("z [N s]", "w [m/s]"),
        _ => ("z", "w"),
    };
    let mut text = format!("\nunknowns and their complements{whose}\n");
    let _ = writeln!(text, "  {:>4}  {z_unit:>15}  {w_unit:>15}", "");
    for (i, label) in labels(problem).iter().enumerate() {
        let entry = |x: &[f64]| x.get(i).map_or_else(String::new, |x| short(*x));
        let line = format!("  {i:>4}  {:>15}  {:>15}  {label}", entry(z), entry(w));
        text += line.trim_end();
        text.push('\n');
    }
    text
}

fn velocity_table(step: &StepProblem, v: &[f64]) -> String {
    let mut text = String::from("\nvelocity of each body [m/s, rad/s]\n");
    for (i, range) in step.layout().velocity.windows(2).enumerate() {
        let own: Vec<String> =
            v.get(range[0]..range[1]).unwrap_or(&[]).iter().map(|x| format!("{:>13}", short(*x))).collect();
        let _ = writeln!(text, "  {i:>4}  {}", own.join("  "));
    }
    text
}

/// Table of the nonzero entries of a vector over the unknowns.
fn sparse_table(problem: &AnyProblem, y: &[f64]) -> String {
    let mut text = String::new();
    for (i, (y, label)) in y.iter().zip(labels(problem)).enumerate().filter(|(_, (y, _))| **y != 0.0) {
        text += format!("  {i:>4}  {:>15}  {label}", short(*y)).trim_end();
        text.push('\n');
    }
    text
}
