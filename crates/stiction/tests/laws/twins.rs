//! States of embedded worlds, and their distances from those of the plane.

pub(crate) use crate::embedding::laid;
use crate::embedding::{pose, turn};
use stiction::{State, planar, spatial};

/// Embedded state.
pub(crate) fn laid_state(plane: &planar::Model, space: &spatial::Model, flat: &State) -> State {
    let mut state = State { t: flat.t, memory: flat.memory.clone(), ..space.state() };
    for (id, _) in plane.world().bodies() {
        let twin = spatial::BodyId(id.0);
        let (q, v) = (&flat.q[plane.coordinates(id).unwrap()], &flat.v[plane.velocities(id).unwrap()]);
        let q3 = &mut state.q[space.coordinates(twin).unwrap()];
        match *q {
            [x, y, angle] => {
                let r = turn(angle);
                q3.copy_from_slice(&[x, 0.0, y, r.w, r.i, r.j, r.k]);
            }
            [x, y] => q3.copy_from_slice(&[x, 0.0, y]),
            _ => q3.copy_from_slice(q),
        }
        let v3 = &mut state.v[space.velocities(twin).unwrap()];
        match *v {
            [x, y, angular] => v3.copy_from_slice(&[x, 0.0, y, 0.0, -angular, 0.0]),
            [x, y] => v3.copy_from_slice(&[x, 0.0, y]),
            _ => v3.copy_from_slice(v),
        }
    }
    state
}

/// Largest differences of velocities in the plane, of velocities out of it from zero, and of positions in the plane.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Apart {
    pub(crate) in_plane: f64,
    pub(crate) across: f64,
    pub(crate) position: f64,
}

impl Apart {
    pub(crate) fn of(plane: &planar::Model, space: &spatial::Model, flat: &State, full: &State) -> Self {
        let mut apart = Self::default();
        let worst = |limit: &mut f64, x: f64| *limit = limit.max(x.abs());
        for (id, _) in plane.world().bodies() {
            let twin = spatial::BodyId(id.0);
            let (v, w) = (plane.velocity(flat, id).unwrap(), space.velocity(full, twin).unwrap());
            let (flat_pose, full_pose) = (plane.pose(flat, id).unwrap(), space.pose(full, twin).unwrap());
            for x in [w.linear.x - v.linear.x, w.linear.z - v.linear.y, w.angular.y + v.angular] {
                worst(&mut apart.in_plane, x);
            }
            [w.linear.y, w.angular.x, w.angular.z].into_iter().for_each(|x| worst(&mut apart.across, x));
            let moved = pose(&flat_pose).inverse() * full_pose;
            moved.translation.vector.iter().for_each(|x| worst(&mut apart.position, *x));
            worst(&mut apart.position, moved.rotation.imag().norm());
        }
        apart
    }

    pub(crate) fn max(self, other: Self) -> Self {
        Self {
            in_plane: self.in_plane.max(other.in_plane),
            across: self.across.max(other.across),
            position: self.position.max(other.position),
        }
    }
}
