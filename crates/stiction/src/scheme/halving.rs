//! Step of any scheme that does not reach its tolerance, made as two halves, and these as halves again. For
//! `Simulation`.

use super::Scheme;
use crate::error::StepError;
use crate::report::{Evidence, StepReport, SubstepRecord};
use crate::state::State;
use stiction_lcp::LcpError;

/// One step of size `h`, made by `attempt` as a whole, or else as partial steps. A looser answer is taken last, and only
/// where the scheme allows it. On an error the state is unchanged and the report has no meaning.
pub(crate) fn step(
    scheme: &Scheme,
    state: &mut State,
    h: f64,
    report: &mut StepReport,
    mut attempt: impl FnMut(&Scheme, &mut State, f64, &mut StepReport) -> Result<(), StepError>,
) -> Result<(), StepError> {
    let mut strict = *scheme;
    if scheme.halvings > 0 {
        strict.solver.loosest = 0.0;
    }
    let mut error = match attempt(&strict, state, h, report) {
        Ok(()) => return Ok(()),
        Err(error) => error,
    };
    if scheme.halvings == 0 || !may_pass_in_halves(&error) {
        return Err(error);
    }
    match halves(&strict, state, h, report, &mut attempt) {
        Ok(()) => return Ok(()),
        Err(stopped @ StepError::Stopped { .. }) => return Err(stopped),
        Err(_) => {}
    }
    if scheme.solver.loosest > scheme.solver.tolerance {
        return attempt(scheme, state, h, report);
    }
    if let StepError::Unsolved { smallest, .. } = &mut error {
        *smallest = Some(h * 0.5_f64.powi(i32::from(scheme.halvings)));
    }
    Err(error)
}

/// `true` for a solve that ended without a solution and without a proof that there is none.
fn may_pass_in_halves(error: &StepError) -> bool {
    match error {
        StepError::Unsolved { error, .. } => match &**error {
            LcpError::Budget { .. } | LcpError::Uncertified { .. } => true,
            LcpError::Ray { proof, .. } | LcpError::Exhausted { proof, .. } => proof.is_none(),
            LcpError::Malformed(_) | LcpError::Unsupported { .. } => false,
        },
        _ => false,
    }
}

/// Partial steps that make a step of size `h`: two halves, each halved again where it fails.
fn halves(
    scheme: &Scheme,
    state: &mut State,
    h: f64,
    report: &mut StepReport,
    attempt: &mut impl FnMut(&Scheme, &mut State, f64, &mut StepReport) -> Result<(), StepError>,
) -> Result<(), StepError> {
    let start = state.clone();
    let mut parts: Vec<(StepReport, State)> = Vec::new();
    // number of halvings of each partial step that is left, the next one last
    let mut left = vec![1, 1];
    while let Some(depth) = left.pop() {
        let evidence = report.evidence.as_ref().map(|_| Evidence::default());
        let intervals = report.intervals.as_ref().map(|_| Vec::new());
        let mut part = StepReport { evidence, intervals, ..StepReport::default() };
        match attempt(scheme, state, h * 0.5_f64.powi(i32::from(depth)), &mut part) {
            Ok(()) => parts.push((part, state.clone())),
            Err(error) if depth < scheme.halvings && may_pass_in_halves(&error) => {
                left.extend([depth + 1, depth + 1]);
            }
            Err(error) => {
                *state = start;
                return Err(error);
            }
        }
    }
    // the times of partial steps add up to that of the step only up to round-off
    state.t = start.t + h;
    if let Some((report, last)) = parts.last_mut() {
        (report.t, last.t) = (state.t, state.t);
    }
    let evidence = report.evidence.take();
    *report = StepReport::combined(&parts.iter().map(|(part, _)| part).collect::<Vec<_>>(), h);
    report.evidence = evidence.map(|mut evidence| {
        evidence.clear();
        evidence.solver.copy_from(&state.memory.solver);
        let record =
            |(report, state)| SubstepRecord::PartialStep { report: Box::new(report), state: Box::new(state) };
        evidence.substeps.extend(parts.into_iter().map(record));
        evidence
    });
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::step;
    use crate::error::StepError;
    use crate::report::{Evidence, StepReport};
    use crate::scheme::Scheme;
    use crate::state::State;
    use stiction_lcp::{Candidate, LcpError, StepProblem};

    fn unsolved(t: f64) -> StepError {
        let best = Box::new(Candidate::default());
        let error = LcpError::Budget { spent: 1, unit: "factorizations", best };
        StepError::unsolved(t, error, &StepProblem::default())
    }

    /// Result of a step, the state and the report after it, and the starts and sizes that were tried.
    type Tried = (Result<(), StepError>, State, StepReport, Vec<(f64, f64)>);

    /// Makes a step whose partial steps pass as `passes` says, by scheme, start and size.
    fn tried(scheme: &Scheme, passes: impl Fn(&Scheme, f64, f64) -> Result<(), StepError>) -> Tried {
        let mut state = State { t: 1.0, q: vec![0.0], ..State::default() };
        let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
        let mut all = Vec::new();
        let attempt = |scheme: &Scheme, state: &mut State, h: f64, report: &mut StepReport| {
            all.push((state.t - 1.0, h));
            passes(scheme, state.t - 1.0, h)?;
            state.t += h;
            state.q[0] += h;
            (report.t, report.h) = (state.t, h);
            report.work.problems = 1;
            Ok(())
        };
        let result = step(scheme, &mut state, 0.5, &mut report, attempt);
        (result, state, report, all)
    }

    #[test]
    fn a_step_that_fails_is_made_as_halves_and_these_again() {
        // between 0.125 and 0.25 only steps of an eighth pass
        let hard = |from: f64, h: f64| h > 0.0625 && from < 0.25 && from + h > 0.125;
        let passes = |_: &Scheme, t: f64, h: f64| if hard(t, h) { Err(unsolved(t)) } else { Ok(()) };
        let (result, state, report, all) = tried(&Scheme::default(), passes);
        result.unwrap();
        let sizes = [0.5, 0.25, 0.125, 0.125, 0.0625, 0.0625, 0.25];
        assert_eq!(all.iter().map(|(_, h)| *h).collect::<Vec<_>>(), sizes);
        assert_eq!((state.t, state.q[0]), (1.5, 0.5));
        assert_eq!((report.t, report.h, report.work.halvings, report.work.problems), (1.5, 0.5, 3, 4));
        let evidence = report.evidence.unwrap();
        let ends: Vec<f64> = evidence.partial_steps().map(|(_, state)| state.q[0]).collect();
        assert_eq!(ends, [0.125, 0.1875, 0.25, 0.5]);
    }

    #[test]
    fn a_step_that_fails_as_halves_is_an_error_at_the_same_state() {
        for halvings in [0, 1, 6] {
            let scheme = Scheme { halvings, ..Scheme::default() };
            // the first half passes as a whole
            let passes = |_: &Scheme, t: f64, h: f64| if t + h > 0.25 { Err(unsolved(t)) } else { Ok(()) };
            let (result, state, _, all) = tried(&scheme, passes);
            assert_eq!((state.t, state.q[0]), (1.0, 0.0));
            assert_eq!(all.len(), [1, 3, 8][[0, 1, 6].iter().position(|n| *n == halvings).unwrap()]);
            let StepError::Unsolved { t, smallest, .. } = result.unwrap_err() else { panic!("unsolved") };
            let smallest_tried = (halvings > 0).then(|| 0.5 * 0.5_f64.powi(i32::from(halvings)));
            assert_eq!((t, smallest), (0.0, smallest_tried));
        }
    }

    #[test]
    fn a_looser_answer_is_taken_last_and_only_on_request() {
        let passes = |scheme: &Scheme, t: f64, _: f64| {
            if scheme.solver.loosest > 0.0 { Ok(()) } else { Err(unsolved(t)) }
        };
        assert!(tried(&Scheme::default(), passes).0.is_err());
        let mut scheme = Scheme { halvings: 2, ..Scheme::default() };
        scheme.solver.loosest = 1e-4;
        let (result, state, report, all) = tried(&scheme, passes);
        result.unwrap();
        assert_eq!(all, [(0.0, 0.5), (0.0, 0.25), (0.0, 0.125), (0.0, 0.5)]);
        assert_eq!((state.t, report.work.halvings), (1.5, 0));
    }

    #[test]
    fn a_proof_and_a_stop_end_a_step_at_once() {
        let stopped =
            |_: &Scheme, t: f64, h: f64| Err(if h < 0.5 { StepError::Stopped { t } } else { unsolved(t) });
        let (result, _, _, all) = tried(&Scheme::default(), stopped);
        assert!(matches!(result, Err(StepError::Stopped { .. })) && all.len() == 2);
        let malformed = |_: &Scheme, t: f64, _: f64| {
            let error = LcpError::Unsupported { solver: "chain", feature: String::new() };
            Err(StepError::unsolved(t, error, &StepProblem::default()))
        };
        assert_eq!(tried(&Scheme::default(), malformed).3.len(), 1);
    }
}
