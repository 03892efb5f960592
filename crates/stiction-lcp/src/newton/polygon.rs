//! Place of a slipping impulse on its friction polygon: a corner, or an edge along which it may still move.

use crate::problem::{Contact, FrictionSet};

/// Slip of a contact, per unit of its friction bound.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum PolygonSlip {
    /// Friction at a corner of the polygon.
    Corner([f64; 2]),
    /// Friction on an edge, between its ends.
    Edge {
        /// Middle of the edge.
        middle: [f64; 2],
        /// Unit vector along the edge.
        along: [f64; 2],
    },
}

/// Slip of a contact whose unconstrained friction impulse would be `sought`; `None` if that is within the bound.
pub(super) fn polygon_slip(contact: &Contact, sought: [f64; 2], bound: f64) -> Option<PolygonSlip> {
    let FrictionSet::Polygon(f) = &contact.set else { return None };
    let (size, [(i, _), (k, _), _]) = contact.least_sum([sought[0], sought[1], 0.0]);
    if size <= bound {
        return None;
    }
    let (a, b) = (f[i], f[k]);
    let edge = [a[0] - b[0], a[1] - b[1]];
    let length = edge[0].hypot(edge[1]);
    if i == k || bound == 0.0 {
        return Some(PolygonSlip::Corner([a[0], a[1]]));
    }
    let along = [edge[0] / length, edge[1] / length];
    let past = (sought[0] / bound - b[0]) * along[0] + (sought[1] / bound - b[1]) * along[1];
    Some(if past <= 0.0 {
        PolygonSlip::Corner([b[0], b[1]])
    } else if past >= length {
        PolygonSlip::Corner([a[0], a[1]])
    } else {
        PolygonSlip::Edge { middle: [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])], along }
    })
}
