//! States and constraints of an island, from those of the whole and back.

use crate::state::{ActiveConstraint, State};
use crate::system::{ConstraintId, Island, JointRow, System};

impl Island {
    /// Configuration and velocity of the island at a state of the whole, without memory.
    pub(crate) fn state_of(&self, whole: &State) -> State {
        State {
            t: whole.t,
            q: self.coordinates.iter().map(|&i| whole.q[i]).collect(),
            v: self.velocities.iter().map(|&i| whole.v[i]).collect(),
            ..State::default()
        }
    }

    /// Writes configuration and velocity of the island into a state of the whole.
    pub(crate) fn store(&self, own: &State, whole: &mut State) {
        self.coordinates.iter().zip(&own.q).for_each(|(&i, q)| whole.q[i] = *q);
        self.velocities.iter().zip(&own.v).for_each(|(&i, v)| whole.v[i] = *v);
    }

    /// Index of each of its joint rows among those of the whole, at a state of the whole.
    pub(crate) fn joint_rows<S: System + ?Sized>(&self, system: &S, whole: &State) -> JointRowIndices {
        let (mut all, mut own) = (Vec::new(), Vec::new());
        system.joints(whole.t, &whole.q, &mut all);
        let State { t, q, .. } = self.state_of(whole);
        self.system.joints(t, &q, &mut own);
        // rows are in the order of the joints, so those of a joint follow each other in both
        let mut next = 0;
        let index = |row: &JointRow| {
            let found = next + all[next..].iter().position(|other| other.joint == row.joint)?;
            next = found + 1;
            Some(found)
        };
        JointRowIndices(own.iter().map_while(index).collect())
    }
}

/// Index of each joint row of an island among those of the whole, in ascending order.
#[derive(Debug, Clone)]
pub(crate) struct JointRowIndices(Vec<usize>);

impl JointRowIndices {
    /// Constraint of the whole that is one of the island.
    pub(crate) fn to_whole(&self, own: ConstraintId) -> ConstraintId {
        match own {
            ConstraintId::Joint(row) => ConstraintId::Joint(self.0.get(row).copied().unwrap_or(row)),
            contact @ ConstraintId::Contact(_) => contact,
        }
    }

    /// Active joint row of the whole as one of the island; `None` if it is of another island.
    pub(crate) fn to_own(&self, whole: &ActiveConstraint) -> Option<ActiveConstraint> {
        let ConstraintId::Joint(row) = whole.constraint else { return None };
        let own = self.0.binary_search(&row).ok()?;
        Some(ActiveConstraint { constraint: ConstraintId::Joint(own), ..*whole })
    }
}
