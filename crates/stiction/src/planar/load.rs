//! What forces do: their part of k, the rows of springs, and potential energy.

use super::force::{Force, Wrench};
use super::joint_rows::TINY;
use super::lane::Lane;
use super::model::Model;
use super::part::Place;
use super::world::BodyId;
use crate::system::{Forces, Spring};
use arrayvec::ArrayVec;
use nalgebra::{Point2, Vector2};

/// A spring along one direction.
struct Stretch {
    /// φ [m].
    elongation: f64,
    lane: Lane,
}

impl Model {
    /// Gravity and all forces at (t, q, v).
    pub(super) fn load(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        out.k.clear();
        out.k.resize(self.starts.last().copied().unwrap_or(0), 0.0);
        out.springs.clear();
        let mut scratch = self.scratch();
        self.places(t, q, &mut scratch.places);
        let places = &scratch.places;
        for (part, place) in self.parts.iter().zip(places) {
            if part.moving.is_some() {
                let mut lane = Lane::default();
                let weight = part.mass * self.world.gravity;
                lane.point(part, place, &place.centre, &weight);
                lane.push(&self.starts, 1.0, &mut out.k);
            }
        }
        for force in self.world.forces.values() {
            match force {
                Force::Constant { body, point, wrench } => self.push(places, *body, *point, wrench, out),
                Force::Timed { body, point, load } => self.push(places, *body, *point, &load(t), out),
                Force::Spring { stiffness, damping, .. } | Force::Rail { stiffness, damping, .. } => {
                    for Stretch { elongation, lane } in self.stretches(force, places) {
                        let speed = lane.speed(&self.starts, v) + lane.drift;
                        lane.push(&self.starts, -stiffness * elongation - damping * speed, &mut out.k);
                        if !lane.is_empty() {
                            let (stiffness, damping) = (*stiffness, *damping);
                            out.springs.push(Spring { row: lane.into_row(), stiffness, damping });
                        }
                    }
                }
                Force::Custom { .. } => {}
            }
        }
        drop(scratch);
        // the user's functions run last and hold nothing of the model
        for force in self.world.forces.values() {
            if let Force::Custom { law, .. } = force {
                law(t, q, v, &mut out.k);
            }
        }
    }

    fn push(
        &self,
        places: &[Place],
        body: BodyId,
        point: Option<Point2<f64>>,
        wrench: &Wrench,
        out: &mut Forces,
    ) {
        let Some(i) = self.index(body) else { return };
        let (part, place) = (&self.parts[i], &places[i]);
        let at = point.map_or(place.centre, |p| place.point(&(p - part.centre)));
        let mut lane = Lane::default();
        lane.point(part, place, &at, &wrench.force);
        lane.push(&self.starts, 1.0, &mut out.k);
        if part.turns() {
            out.k[part.v + 2] += wrench.torque;
        }
    }

    /// The directions along which a spring acts: none for forces that are no springs.
    fn stretches(&self, force: &Force, places: &[Place]) -> ArrayVec<Stretch, 2> {
        let at = |body: BodyId, point: &Point2<f64>| {
            let i = self.index(body)?;
            let (part, place) = (&self.parts[i], &places[i]);
            Some((part, place, place.point(&(point - part.centre))))
        };
        let mut stretches = ArrayVec::new();
        match force {
            Force::Spring { a, point_a, b, point_b, rest_length, .. } => {
                let (Some((a, place_a, p)), Some((b, place_b, q))) = (at(*a, point_a), at(*b, point_b))
                else {
                    return stretches;
                };
                let d = q - p;
                let mut add = |along: &Vector2<f64>, elongation: f64| {
                    let lane = Lane::between((a, place_a, &p), (b, place_b, &q), along);
                    stretches.push(Stretch { elongation, lane });
                };
                if *rest_length == 0.0 {
                    // ½γ|d|² has no corner at 0: two axes are exact and always have a direction
                    add(&Vector2::x(), d.x);
                    add(&Vector2::y(), d.y);
                } else {
                    let length = d.norm();
                    let along = if length > TINY { d / length } else { Vector2::y() };
                    add(&along, length - rest_length);
                }
            }
            Force::Rail { body, point, axis, origin, .. } => {
                if let Some((part, place, p)) = at(*body, point) {
                    let mut lane = Lane::default();
                    lane.point(part, place, &p, axis);
                    stretches.push(Stretch { elongation: axis.dot(&p.coords) - origin, lane });
                }
            }
            Force::Constant { .. } | Force::Timed { .. } | Force::Custom { .. } => {}
        }
        stretches
    }

    /// Potential energy of gravity and springs [J].
    pub(super) fn energy(&self, t: f64, q: &[f64]) -> f64 {
        let mut scratch = self.scratch();
        self.places(t, q, &mut scratch.places);
        let moving = self.parts.iter().zip(&scratch.places).filter(|(part, _)| part.moving.is_some());
        let height = moving.map(|(part, place)| -part.mass * self.world.gravity.dot(&place.centre.coords));
        let mut energy = height.sum::<f64>();
        for force in self.world.forces.values() {
            if let Force::Spring { stiffness, .. } | Force::Rail { stiffness, .. } = force {
                let stretches = self.stretches(force, &scratch.places);
                energy +=
                    stretches.iter().map(|s| 0.5 * stiffness * s.elongation * s.elongation).sum::<f64>();
            }
        }
        energy
    }
}
