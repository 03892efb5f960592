//! Friction against the slip at the end of an implicit substep: a Newton iteration on the directions of slipping
//! contacts in space.
//!
//! With e the direction of the slip w, friction is −μN w/|w| ≈ −μN e − (μN/|w|) (w across e). The second part is a
//! damper across the slip: a row with compliance |w|/(μN). At the solution its force is zero. To iterate the direction
//! alone would multiply round-off by h ρ in each pass.

use super::constants::{
    END_SLIP_ACROSS, END_SLIP_TOLERANCE, GUESSED_STICK_RELATIVE, MAX_END_SLIP_ITERATIONS,
    MAX_UNGUESSED_STIFFNESS, MIN_END_SLIP_RELATIVE, MIN_SLIP_SPEED, OVERSHOT_SLIP_FACTOR,
};
use super::context::{SolveContext, mobility};
use super::slip_path::{slipping, start_slip};
use super::substep::SubstepProblem;
use crate::error::StepError;
use crate::state::{ActiveConstraint, State};
use crate::system::combined;
use nalgebra::Vector2;
use stiction_lcp::{Candidate, ContactMode, Joint, StepProblem};

/// Slip of one contact at the end of the substep, as the iteration knows it.
struct EndSlip {
    /// Index of the contact among those of the problem.
    contact: usize,
    /// Direction of the slip.
    direction: Vector2<f64>,
    /// Slip speed [m/s].
    speed: f64,
    /// Friction bound [N s].
    bound: f64,
    course: SlipCourse,
}

/// Course of a slip in a substep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SlipCourse {
    /// Slip that goes on; its direction may turn.
    Turns,
    /// Slip that ends: friction keeps its direction, and the slip comes out negative.
    Ends,
    /// Slip that has not begun, and does not begin in this substep: the contact sticks.
    Held,
}

impl EndSlip {
    /// Slip along both tangents at velocity `v`.
    fn slip_at(&self, substep: &SubstepProblem, v: &[f64]) -> Vector2<f64> {
        let tangents = &substep.problem.contacts[self.contact].tangents;
        let velocity = &substep.layout.velocity;
        Vector2::from_fn(|i, _| tangents[i].row.dot(velocity, v) + tangents[i].offset)
    }

    /// Whether the direction is to be found.
    fn turns(&self) -> bool {
        self.course == SlipCourse::Turns && self.bound > 0.0
    }

    /// Speed that friction changes in this substep over the slip speed: h ρ of this contact alone.
    fn stiffness(&self, substep: &SubstepProblem) -> f64 {
        let tangent = &substep.problem.contacts[self.contact].tangents[0].row;
        self.bound * mobility(&substep.problem, &substep.layout, tangent) / self.speed
    }

    /// Damper across the slip.
    fn damper(&self, problem: &StepProblem) -> Joint {
        let tangents = &problem.contacts[self.contact].tangents;
        let row = combined(-self.direction.y, &tangents[0], self.direction.x, &tangents[1]);
        Joint { row, compliance: self.speed / self.bound }
    }

    /// Starts from a slip. One that is slower than `least_speed` keeps its direction.
    fn start(&mut self, slip: Vector2<f64>, least_speed: f64) {
        self.speed = slip.norm();
        if self.speed > least_speed {
            self.direction = slip / self.speed;
        } else {
            self.speed = least_speed;
        }
    }

    /// Takes the slip of a pass. Returns the angle it turned by [rad].
    fn renew(&mut self, slip: Vector2<f64>, least_speed: f64) -> f64 {
        let along = slip.dot(&self.direction);
        if along <= 0.0 {
            // the slip ends, or the pass went too far along it: a stiffer damper tells, if there is slip across
            self.speed *= OVERSHOT_SLIP_FACTOR;
            let across = (slip - along * self.direction).norm();
            if across <= END_SLIP_ACROSS * along.abs() || self.speed <= least_speed {
                self.course = SlipCourse::Ends;
            }
            return f64::INFINITY;
        }
        let speed = slip.norm();
        let angle = (slip - along * self.direction).norm() / speed;
        (self.direction, self.speed) = (slip / speed, speed);
        angle
    }
}

/// Newton iteration on the directions of the slips of an implicit substep.
pub(super) struct EndSlips {
    slips: Vec<EndSlip>,
}

impl EndSlips {
    /// Slips of the assembled substep from `state`, whose answer in the modes of `active` has the impulses `z`.
    pub(super) fn new(
        substep: &SubstepProblem,
        state: &State,
        active: &[ActiveConstraint],
        z: &[f64],
    ) -> Self {
        let mut slips = Vec::new();
        for k in slipping(substep, active) {
            let contact = substep.places.first_contact + k;
            let friction = substep.modes[contact].slip_direction().unwrap_or_default();
            let bound = substep.problem.contacts[contact].mu * z[substep.layout.contact[contact]];
            let (direction, speed) = (-Vector2::from(friction), 0.0);
            let mut own = EndSlip { contact, direction, speed, bound, course: SlipCourse::Turns };
            own.start(start_slip(substep, k, &state.v), 0.0);
            slips.push(own);
        }
        Self { slips }
    }

    /// Whether a slip is so slow that its direction at the start tells nothing about that at the end.
    pub(super) fn need_guess(&self, substep: &SubstepProblem) -> bool {
        self.slips.iter().any(|own| own.bound > 0.0 && !(own.stiffness(substep) <= MAX_UNGUESSED_STIFFNESS))
    }

    /// Starts from the slips at velocity `v` of a complementarity problem. A contact that neither slips at the start nor
    /// in that problem sticks.
    pub(super) fn start_from(&mut self, substep: &SubstepProblem, v: &[f64]) {
        let least_speed = GUESSED_STICK_RELATIVE * substep.problem.speed_scale;
        for own in &mut self.slips {
            let rested = own.speed <= MIN_SLIP_SPEED;
            let slip = own.slip_at(substep, v);
            own.start(slip, least_speed);
            if rested && slip.norm() <= least_speed {
                own.course = SlipCourse::Held;
            }
        }
    }

    /// Turns the friction of active constraints against the slips that were found. Those that do not begin stick.
    pub(super) fn turn(&self, substep: &SubstepProblem, active: &mut [ActiveConstraint]) {
        let first = substep.places.first_contact;
        let mut contacts: Vec<&mut ActiveConstraint> = active.iter_mut().filter(|c| c.is_contact()).collect();
        for own in &self.slips {
            let k = own.contact - first;
            let [x, y] = substep.middle.contacts[k].tangent_directions;
            let along = std::array::from_fn(|c| -own.direction.x * x[c] - own.direction.y * y[c]);
            *contacts[k] = if own.course == SlipCourse::Held {
                ActiveConstraint::sticking(contacts[k].constraint)
            } else {
                ActiveConstraint::slipping(contacts[k].constraint, along)
            };
        }
    }

    /// Solves the substep with friction against the slip at its end.
    pub(super) fn solve(
        &mut self,
        substep: &mut SubstepProblem,
        t: f64,
        solve: &mut SolveContext,
    ) -> Result<Candidate, StepError> {
        let least_speed = MIN_END_SLIP_RELATIVE * substep.problem.speed_scale;
        let joints = substep.problem.joints.len();
        for _ in 0..MAX_END_SLIP_ITERATIONS {
            for own in self.slips.iter().filter(|own| own.turns()) {
                let damper = own.damper(&substep.problem);
                substep.problem.joints.push(damper);
            }
            self.set_modes(substep);
            let found = solve.least_norm_in_modes(t, &substep.problem, &substep.modes);
            let dampers = substep.problem.joints.len() - joints;
            substep.problem.joints.truncate(joints);
            let found = found?;
            let mut angle: f64 = 0.0;
            for own in &mut self.slips {
                let normal = found.z[dampers + substep.layout.contact[own.contact]];
                own.bound = substep.problem.contacts[own.contact].mu * normal;
                if own.turns() {
                    let slip = own.slip_at(substep, &found.velocity);
                    angle = angle.max(own.renew(slip, least_speed));
                }
            }
            solve.lcp.recycle_candidate(found);
            if angle <= END_SLIP_TOLERANCE {
                break;
            }
        }
        self.set_modes(substep);
        solve.least_norm_in_modes(t, &substep.problem, &substep.modes)
    }

    /// Sets friction against the slips.
    fn set_modes(&self, substep: &mut SubstepProblem) {
        for own in &self.slips {
            substep.modes[own.contact] = match own.course {
                SlipCourse::Held => ContactMode::STICK,
                _ => ContactMode::slip((-own.direction).into()),
            };
        }
    }
}
