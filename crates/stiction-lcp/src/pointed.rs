//! Is the friction cone pointed? Existence with stabilization hangs on it: AH04 (2.27), Theorem 2.4.

use crate::certificate::{Candidate, certify};
use crate::problem::{Contact, FrictionLaw, FrictionSet, Joint, Layout, OffsetRow, Row, StepProblem};
use crate::proof::Farkas;
use crate::solution::LcpError;
use crate::solve::{Solver, solve};

/// Whether impulses that are not all zero can cancel, with the proof either way.
#[derive(Debug, Clone, PartialEq)]
pub enum Pointed {
    /// They cannot: this velocity respects the joints and opens every contact faster than it slips times μ,
    /// that is n·v + μ d·v > 0 for every direction d of friction.
    Yes {
        /// The velocity.
        velocity: Vec<f64>,
    },
    /// They can: these impulses lie in their cones, at least one contact pushes, and they cancel. The bodies
    /// may be jammed; with penetration the step problem may have no solution.
    No {
        /// The impulses, as z of the problem.
        impulses: Vec<f64>,
    },
    /// An elliptic cone so close to the boundary that neither was found.
    Unknown,
}

impl StepProblem {
    /// Whether the friction cone is pointed, up to redundant joints.
    ///
    /// Looks for a velocity that opens every edge of every cone at unit speed (in units of kinetic energy): a
    /// frictionless step problem, whose answer or Farkas vector is the proof.
    pub fn pointed(&self) -> Result<Pointed, LcpError> {
        self.check()?;
        let layout = self.layout();
        let mut edges: Vec<Edge> =
            self.contacts.iter().enumerate().flat_map(|(i, c)| first_edges(i, c)).collect();
        if edges.is_empty() {
            return Ok(Pointed::Yes { velocity: vec![0.0; layout.velocities()] });
        }
        // an ellipse is refined where the velocity found does not open it; 40 directions resolve 1e-3 of μ
        for _ in 0..40 {
            let opening = self.opening(&layout, &edges);
            match solve(&opening, &Solver::default(), None) {
                Ok(solution) => {
                    let velocity = solution.velocity().to_vec();
                    let missed = self.missed_edges(&layout, &velocity);
                    if missed.is_empty() {
                        return Ok(Pointed::Yes { velocity });
                    }
                    edges.extend(missed);
                }
                Err(LcpError::Ray { proof: Some(Farkas { y, .. }), .. }) => {
                    return Ok(Pointed::No { impulses: self.cancelling(&layout, &edges, &y) });
                }
                Err(error) => return Err(error),
            }
        }
        Ok(Pointed::Unknown)
    }

    /// Find v with joints held and g·v ≥ |g| for every edge g, |g| measured by M̃⁻¹.
    fn opening(&self, layout: &Layout, edges: &[Edge]) -> StepProblem {
        let mut opening =
            StepProblem { bodies: self.bodies.clone(), pairs: self.pairs.clone(), ..Self::default() };
        opening.law = FrictionLaw::Coulomb;
        opening.bodies.iter_mut().for_each(|b| b.momentum.fill(0.0));
        let still =
            |joint: &Joint| Joint { row: OffsetRow { offset: 0.0, ..joint.row.clone() }, compliance: 0.0 };
        opening.joints = self.joints.iter().map(still).collect();
        for edge in edges {
            opening.contacts.push(Contact::frictionless(edge.row(&self.contacts[edge.contact], layout), 0.0));
        }
        let speeds = opening.unit_speeds();
        for (contact, speed) in opening.contacts.iter_mut().zip(speeds) {
            contact.normal.iter_mut().for_each(|n| n.offset = -speed);
        }
        opening
    }

    /// √W of each contact's normal row: the speed at which its own impulse of unit energy opens it.
    fn unit_speeds(&self) -> Vec<f64> {
        let unit = |i: usize| {
            let mut z = vec![0.0; self.layout().impulses];
            z[self.joints.len() + i] = 1.0;
            certify(self, &z).map_or(1.0, |Candidate { w, .. }| w[self.joints.len() + i].abs().sqrt())
        };
        (0..self.contacts.len()).map(unit).collect()
    }

    /// Edges of elliptic cones that `v` does not open.
    fn missed_edges(&self, layout: &Layout, v: &[f64]) -> Vec<Edge> {
        let missed = |(i, contact): (usize, &Contact)| {
            let (Some(normal), FrictionSet::Ellipse(axes)) = (&contact.normal, &contact.set) else {
                return None;
            };
            let stretched: Vec<f64> = (contact.tangents.iter().zip(axes))
                .map(|(t, a)| a * t.row.dot(&layout.velocity, v))
                .collect();
            let slip = stretched.iter().map(|u| u * u).sum::<f64>().sqrt();
            let open = normal.row.dot(&layout.velocity, v) - contact.mu * slip;
            (open <= 0.0 && slip > 0.0).then(|| {
                let direction = [-axes[0] * stretched[0] / slip, -axes[1] * stretched[1] / slip];
                Edge { contact: i, direction, generator: None }
            })
        };
        self.contacts.iter().enumerate().filter_map(missed).collect()
    }

    /// Impulses of this problem from the weights of the edges and the joints' part of the proof.
    fn cancelling(&self, layout: &Layout, edges: &[Edge], y: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; layout.impulses];
        z[..self.joints.len()].copy_from_slice(&y[..self.joints.len()]);
        for (edge, &weight) in edges.iter().zip(&y[self.joints.len()..]) {
            let (start, mu) = (layout.contact[edge.contact], self.contacts[edge.contact].mu);
            z[start] += weight;
            match edge.generator {
                Some(k) => z[start + 1 + k] += mu * weight,
                None if edge.direction != [0.0; 2] => {
                    z[start + 1] += mu * weight * edge.direction[0];
                    z[start + 2] += mu * weight * edge.direction[1];
                }
                None => {}
            }
        }
        z
    }
}

/// An edge of a contact's cone: n + μ T f.
struct Edge {
    contact: usize,
    /// f.
    direction: [f64; 2],
    /// Which generator of a polygon f is.
    generator: Option<usize>,
}

impl Edge {
    fn row(&self, contact: &Contact, layout: &Layout) -> Row {
        let mut dense = vec![0.0; layout.velocities()];
        if let Some(normal) = &contact.normal {
            normal.row.add_transposed(&layout.velocity, 1.0, &mut dense);
        }
        for (tangent, f) in contact.tangents.iter().zip(self.direction) {
            tangent.row.add_transposed(&layout.velocity, contact.mu * f, &mut dense);
        }
        Row::Sparse(dense.into_iter().enumerate().filter(|(_, x)| *x != 0.0).collect())
    }
}

/// The edges of a polygonal cone, the normal alone without friction, four edges to begin with for an ellipse.
fn first_edges(i: usize, contact: &Contact) -> Vec<Edge> {
    if contact.normal.is_none() {
        return Vec::new();
    }
    if contact.tangents.is_empty() || contact.mu == 0.0 {
        return vec![Edge { contact: i, direction: [0.0; 2], generator: None }];
    }
    match &contact.set {
        FrictionSet::Polygon(f) => {
            (0..f.len()).map(|k| Edge { contact: i, direction: f[k], generator: Some(k) }).collect()
        }
        FrictionSet::Ellipse([a, b]) => [[*a, 0.0], [-a, 0.0], [0.0, *b], [0.0, -b]]
            .map(|direction| Edge { contact: i, direction, generator: None })
            .into(),
    }
}
