//! Features that bear on each other until one of them ends: a corner that slides over an edge hands over to what bears
//! there next.

use super::Run;
use super::attempt::Attempt;
use super::event::Watch;
use crate::error::StepError;
use crate::report::Part;
use crate::state::{ActiveConstraint, Hold, State};
use crate::system::{ConstraintId, System};

/// Halvings of a part until the instant is round-off of its size.
const HALVINGS: usize = 52;

/// How far past the instant of a loss bodies are carried, in parts of the size: what bears next must be there, and
/// round-off must not undo it.
pub(super) const PAST: f64 = 1e-13;

/// The time for that, in parts of the step: at least what the instant is known to, at most what still is no motion.
pub(super) const PAST_TIMES: [f64; 2] = [1e-12, 1e-4];

/// A part as far as all that bears has features that face each other.
pub(super) struct Reach {
    /// The part, and what is negative at its end; none where nothing can be made.
    pub(super) made: Option<(Attempt, Vec<Watch>)>,
    /// Its size [s].
    pub(super) size: f64,
    /// What is lost right after it.
    pub(super) lost: Option<ConstraintId>,
}

impl<S: System + ?Sized> Run<'_, S> {
    /// The part of size `x`, or as much of it as comes before a contact is lost, by bisection: whether features face
    /// each other has no value that passes zero.
    pub(super) fn reach(&mut self, x: f64, damped: bool) -> Result<Reach, StepError> {
        let mut lost = match self.watched(x, damped) {
            Ok(made) => return Ok(Reach { made: Some(made), size: x, lost: None }),
            Err(StepError::Lost { contact, .. }) => contact,
            Err(other) => return Err(other),
        };
        let (mut low, mut high) = (0.0, x);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            match self.watched(middle, damped) {
                Ok((made, _)) => {
                    self.recycle(made.candidate);
                    low = middle;
                }
                Err(StepError::Lost { contact, .. }) => (lost, high) = (contact, middle),
                Err(other) => return Err(other),
            }
        }
        // the storage holds the problem of the part made last
        let made = if low > 0.0 { Some(self.watched(low, damped)?) } else { None };
        Ok(Reach { made, size: low, lost: Some(ConstraintId::Contact(lost)) })
    }

    fn watched(&mut self, x: f64, damped: bool) -> Result<(Attempt, Vec<Watch>), StepError> {
        let made = self.attempt(x, damped)?;
        let watched = self.watch(&made)?;
        Ok((made, watched))
    }

    /// Lets go of a contact that is lost here. Whatever else touches here and does not move apart bears from now on.
    pub(super) fn hand_over(&mut self, lost: ConstraintId) -> Result<(), StepError> {
        self.happened += 1;
        self.active.retain(|b| b.constraint != lost);
        let (system, whole) = (self.stage.system, self.stage.whole);
        let State { t, q, v, .. } = &mut self.now;
        let [least, most] = PAST_TIMES.map(|part| part * whole);
        let past = (PAST * system.size() / system.surface_speed(*t, q, v)).clamp(least, most);
        system.advance(q, v, past);
        *t += past;
        if let Some(evidence) = &mut self.evidence {
            evidence.parts.push(Part::Past { size: past });
        }
        let slowest = self.stage.slowest();
        let mut touching = self.touching_apart();
        touching.retain(|t| t.0 != lost);
        if touching.iter().any(|t| t.1 < -slowest) {
            return self.strike(&touching.iter().map(|t| t.0).collect::<Vec<_>>());
        }
        let closed: Vec<ConstraintId> = touching.iter().filter(|t| t.1 <= slowest).map(|t| t.0).collect();
        // what bore before goes on as it did
        let mut next: Vec<ActiveConstraint> = self.active.clone();
        let (fresh, _) = self.holds(&closed);
        next.extend(fresh.into_iter().filter(|b| closed.contains(&b.constraint)));
        next.sort_by_key(|b| b.constraint);
        let free: Vec<ConstraintId> =
            next.iter().filter(|b| b.hold == Hold::Stick).map(|b| b.constraint).collect();
        self.settle(next, &free, &[])
    }
}
