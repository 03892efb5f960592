//! Verification of a step that was made as halves: each partial step, that they make the whole, and that its report is
//! what theirs combine to.

use super::{Check, Finding, RecordedStep, Verdict};
use crate::report::{Evidence, StepReport};
use crate::scheme::Scheme;
use crate::system::System;

/// Verifies a step that was made as halves.
pub(super) fn verify<S: System + ?Sized>(
    system: &S,
    scheme: &Scheme,
    record: RecordedStep,
    evidence: &Evidence,
    verdict: &mut Verdict,
) {
    let RecordedStep { before, after, report } = record;
    // a looser answer is accepted for whole steps alone
    let mut strict = *scheme;
    strict.solver.loosest = 0.0;
    let parts: Vec<_> = evidence.partial_steps().collect();
    if parts.len() < evidence.substeps.len() {
        verdict.fail(Check::Record, "a step made as halves with other records besides");
    }
    if !are_halves(parts.iter().map(|(part, _)| part.h / report.h), scheme.halvings) {
        let sizes: Vec<f64> = parts.iter().map(|(part, _)| part.h).collect();
        let place = format!("partial steps of {sizes:?} s are no halves of {} s", report.h);
        verdict.fail(Check::Record, place);
    }
    let mut start = before;
    for (k, (part, end)) in parts.iter().enumerate() {
        if part.evidence.as_ref().is_some_and(|evidence| evidence.partial_steps().next().is_some()) {
            verdict.fail(Check::Record, format!("partial step {k}: made of partial steps itself"));
            return;
        }
        verdict.add_part(k, super::verify(system, &strict, start, end, part));
        start = end;
    }
    if start != after {
        verdict.fail(Check::Record, "the state after the step is not that after its last partial step");
    }
    let reports: Vec<&StepReport> = parts.iter().map(|(part, _)| *part).collect();
    // intervals are not kept with partial steps
    let combined = StepReport { intervals: None, ..StepReport::combined(&reports, report.h) };
    if (StepReport { evidence: None, intervals: None, ..report.clone() }) != combined {
        verdict.fail(Check::Record, "the report is not that of its partial steps together");
    }
}

/// `true` where partial steps of these fractions make a step by halving it, and halves again, at most `halvings` times.
fn are_halves(fractions: impl Iterator<Item = f64>, halvings: u8) -> bool {
    let mut done = 0.0;
    for fraction in fractions {
        let mut depth = 1_u8;
        while depth < halvings && fraction < 0.5_f64.powi(i32::from(depth)) {
            depth += 1;
        }
        // each begins at a multiple of its size
        if depth > halvings || fraction != 0.5_f64.powi(i32::from(depth)) || done % fraction != 0.0 {
            return false;
        }
        done += fraction;
    }
    done == 1.0
}

impl Verdict {
    /// Adds the verdict on partial step `k`.
    fn add_part(&mut self, k: usize, part: Self) {
        let place =
            |finding: Finding| Finding { place: format!("partial step {k}: {}", finding.place), ..finding };
        self.findings.extend(part.findings.into_iter().map(place));
        for reason in part.unverifiable {
            if !self.unverifiable.contains(&reason) {
                self.unverifiable.push(reason);
            }
        }
        self.open = self.open.max(part.open);
        self.limited += part.limited;
        if part.certificate.worst() > self.certificate.worst() || k == 0 {
            self.certificate = part.certificate;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::are_halves;

    #[test]
    fn partial_steps_are_halves_of_halves() {
        let halves = |sizes: &[f64]| are_halves(sizes.iter().copied(), 6);
        assert!(halves(&[0.5, 0.5]));
        assert!(halves(&[0.25, 0.125, 0.125, 0.5]));
        assert!(halves(&[1.0 / 64.0; 64]));
        assert!(!halves(&[]));
        assert!(!halves(&[1.0]));
        assert!(!halves(&[0.5, 0.25]));
        assert!(!halves(&[0.5, 0.5, 0.5]));
        assert!(!halves(&[0.25, 0.5, 0.25]));
        assert!(!halves(&[1.0 / 128.0; 128]));
        assert!(!halves(&[0.3, 0.7]));
        assert!(!halves(&[f64::NAN]));
        assert!(!are_halves([0.5, 0.5].into_iter(), 0));
    }
}
