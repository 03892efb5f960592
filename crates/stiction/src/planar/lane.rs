//! A row in the making: how one relative speed depends on the bodies.

use super::part::{Kind, Part, Place};
use arrayvec::ArrayVec;
use nalgebra::{Point2, Vector2};
use stiction_lcp::{Row, Term};

/// A row and the part of its speed that is prescribed.
#[derive(Debug, Clone, Default)]
pub(super) struct Lane {
    terms: ArrayVec<Term, 2>,
    /// [m/s]
    pub(super) drift: f64,
}

impl Lane {
    /// The speed of b against a along a direction, each at a point of its own.
    pub(super) fn between(
        (a, place_a, on_a): (&Part, &Place, &Point2<f64>),
        (b, place_b, on_b): (&Part, &Place, &Point2<f64>),
        direction: &Vector2<f64>,
    ) -> Self {
        let mut lane = Self::default();
        lane.point(a, place_a, on_a, &-direction);
        lane.point(b, place_b, on_b, direction);
        lane
    }

    /// The angular velocity of b against a, times a length.
    pub(super) fn turning((a, place_a): (&Part, &Place), (b, place_b): (&Part, &Place), length: f64) -> Self {
        let mut lane = Self::default();
        for (part, place, weight) in [(a, place_a, -length), (b, place_b, length)] {
            lane.drift += weight * place.drift.angular;
            if let (Some(body), Kind::Rigid) = (part.moving, &part.kind) {
                lane.terms.push(Term::new(body, &[0.0, 0.0, weight]));
            }
        }
        lane
    }

    /// Adds the speed of a material point along a direction.
    pub(super) fn point(
        &mut self,
        part: &Part,
        place: &Place,
        point: &Point2<f64>,
        direction: &Vector2<f64>,
    ) {
        let Some(body) = part.moving else {
            self.drift += direction.dot(&place.drift_at(point));
            return;
        };
        let d = direction;
        let term = match &part.kind {
            Kind::Slider { axis, .. } => Term::new(body, &[axis.dot(d)]),
            Kind::Point(_) => Term::new(body, &[d.x, d.y]),
            _ => Term::new(body, &[d.x, d.y, (point - place.centre).perp(d)]),
        };
        self.terms.push(term);
    }

    /// The opposite speed.
    #[must_use]
    pub(super) fn reversed(&self) -> Self {
        let turned = |t: &Term| Term { body: t.body, j: t.j.map(|x| -x) };
        Self { terms: self.terms.iter().map(turned).collect(), drift: -self.drift }
    }

    /// `true` when no body that moves has a part in it.
    pub(super) fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// The largest coefficient.
    pub(super) fn largest(&self) -> f64 {
        self.terms.iter().flat_map(|t| t.j).fold(0.0, |m, x| m.max(x.abs()))
    }

    pub(super) fn into_row(self) -> Row {
        Row::Bodies(self.terms)
    }

    /// `row · v` of the bodies that move, with velocities by `parts`' own indices.
    pub(super) fn speed(&self, starts: &[usize], v: &[f64]) -> f64 {
        let dot = |t: &Term| {
            let own = &v[starts[t.body]..starts[t.body + 1]];
            own.iter().zip(t.j).map(|(v, j)| v * j).sum::<f64>()
        };
        self.terms.iter().map(dot).sum()
    }

    /// Adds `force` along the row to a generalized force.
    pub(super) fn push(&self, starts: &[usize], force: f64, k: &mut [f64]) {
        for t in &self.terms {
            let own = &mut k[starts[t.body]..starts[t.body + 1]];
            own.iter_mut().zip(t.j).for_each(|(k, j)| *k += force * j);
        }
    }
}
