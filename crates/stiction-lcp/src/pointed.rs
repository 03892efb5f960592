//! Pointedness of the friction cone of a step problem, with a proof either way. Existence of solutions with stabilization
//! depends on it: AH04 (2.27), Theorem 2.4.

use crate::certificate::{Candidate, certify};
use crate::problem::{Contact, FrictionLaw, FrictionSet, Joint, Layout, OffsetRow, Row, StepProblem};
use crate::proof::Farkas;
use crate::solution::LcpError;
use crate::solve::{Solver, solve};

/// Whether nonzero impulses can cancel, with a proof either way.
#[derive(Debug, Clone, PartialEq)]
pub enum Pointed {
    /// Pointed: this velocity satisfies the joints and opens every contact faster than it slips times μ, that is
    /// n·v + μ d·v > 0 for every direction d of friction.
    Yes {
        /// Velocity that opens all contacts.
        velocity: Vec<f64>,
    },
    /// Not pointed: these impulses lie in their cones, at least one contact pushes, and they cancel. The bodies may be
    /// jammed; with penetration the step problem may have no solution.
    No {
        /// Impulses that cancel, as z of the problem.
        impulses: Vec<f64>,
    },
    /// Undecided: an elliptic cone too close to the boundary for either proof.
    Unknown,
}

/// Maximum number of refinements of elliptic cones: 40 directions resolve 1e-3 of μ. Fewer leave more cones undecided.
const MAX_REFINEMENTS: usize = 40;

impl StepProblem {
    /// Whether the friction cone is pointed, up to redundant joints.
    ///
    /// Looks for a velocity that opens every edge of every cone at unit speed (in units of kinetic energy): a frictionless
    /// step problem, whose solution or Farkas vector is the proof.
    pub fn pointed(&self) -> Result<Pointed, LcpError> {
        self.check()?;
        let layout = self.layout();
        let mut edges: Vec<ConeEdge> = (0..self.contacts.len()).flat_map(|i| self.first_edges(i)).collect();
        if edges.is_empty() {
            return Ok(Pointed::Yes { velocity: vec![0.0; layout.velocities()] });
        }
        // an ellipse is refined where the velocity does not open it
        for _ in 0..MAX_REFINEMENTS {
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

    /// Step problem of a velocity v with joints held and g·v ≥ |g| for every edge g, with |g| in the metric of M̃⁻¹.
    fn opening(&self, layout: &Layout, edges: &[ConeEdge]) -> StepProblem {
        let mut opening =
            StepProblem { bodies: self.bodies.clone(), pairs: self.pairs.clone(), ..Self::default() };
        opening.law = FrictionLaw::Coulomb;
        opening.bodies.iter_mut().for_each(|b| b.momentum.fill(0.0));
        let still =
            |joint: &Joint| Joint { row: OffsetRow { offset: 0.0, ..joint.row.clone() }, compliance: 0.0 };
        opening.joints = self.joints.iter().map(still).collect();
        for edge in edges {
            opening.contacts.push(Contact::frictionless(edge.row(self, layout), 0.0));
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

    /// Friction blocks that contact `i` bounds, itself included if it has friction.
    fn blocks(&self, i: usize) -> impl Iterator<Item = usize> {
        let bounded = move |k: &usize| self.bound_by(*k) == Some(i);
        let has_friction = |k: &usize| !self.contacts[*k].tangents.is_empty() && self.contacts[*k].mu > 0.0;
        (0..self.contacts.len()).filter(bounded).filter(has_friction)
    }

    /// Edges of a cone to begin with: all edges of a polygon, the normal alone without friction, two per row for an ellipse.
    fn first_edges(&self, i: usize) -> Vec<ConeEdge> {
        if self.contacts[i].normal.is_none() {
            return Vec::new();
        }
        let mut edges = vec![ConeEdge { contact: i, friction: Vec::new() }];
        for block in self.blocks(i) {
            let contact = &self.contacts[block];
            let parts: Vec<FrictionTerm> = match &contact.set {
                FrictionSet::Polygon(f) => f
                    .iter()
                    .enumerate()
                    .map(|(k, f)| FrictionTerm { block, direction: *f, generator: Some(k) })
                    .collect(),
                FrictionSet::Ellipse(axes) => (0..contact.tangents.len())
                    .flat_map(|k| [(k, axes[k]), (k, -axes[k])])
                    .map(|(k, x)| {
                        let mut direction = [0.0; 3];
                        direction[k] = x;
                        FrictionTerm { block, direction, generator: None }
                    })
                    .collect(),
            };
            // friction of several blocks at once: every edge of one with every edge of the others
            edges = edges.iter().flat_map(|edge| parts.iter().map(|part| edge.with(*part))).collect();
        }
        edges
    }

    /// Edges of elliptic cones that `v` does not open.
    fn missed_edges(&self, layout: &Layout, v: &[f64]) -> Vec<ConeEdge> {
        let missed = |(i, contact): (usize, &Contact)| {
            let normal = contact.normal.as_ref()?;
            if !self.blocks(i).any(|k| matches!(self.contacts[k].set, FrictionSet::Ellipse(_))) {
                return None;
            }
            let mut edge = ConeEdge { contact: i, friction: Vec::new() };
            let mut open = normal.row.dot(&layout.velocity, v);
            for block in self.blocks(i) {
                let (slip, part) = self.steepest(block, layout, v);
                open -= self.contacts[block].mu * slip;
                edge.friction.extend(part);
            }
            (open <= 0.0 && !edge.friction.is_empty()).then_some(edge)
        };
        self.contacts.iter().enumerate().filter_map(missed).collect()
    }

    /// Slip speed of a friction block at `v` as its set measures it, and the friction that opposes it most.
    fn steepest(&self, block: usize, layout: &Layout, v: &[f64]) -> (f64, Option<FrictionTerm>) {
        let contact = &self.contacts[block];
        let mut u = [0.0; 3];
        u.iter_mut().zip(&contact.tangents).for_each(|(u, t)| *u = t.row.dot(&layout.velocity, v));
        match &contact.set {
            FrictionSet::Polygon(f) => {
                let along = |f: &[f64; 3]| (0..3).map(|k| f[k] * u[k]).sum::<f64>();
                let least = f.iter().enumerate().min_by(|a, b| along(a.1).total_cmp(&along(b.1)));
                let part = least.map(|(k, f)| FrictionTerm { block, direction: *f, generator: Some(k) });
                (least.map_or(0.0, |(_, f)| -along(f)), part)
            }
            FrictionSet::Ellipse(axes) => {
                let stretched: [f64; 3] = std::array::from_fn(|k| axes[k] * u[k]);
                let slip = stretched.iter().map(|u| u * u).sum::<f64>().sqrt();
                let direction = std::array::from_fn(|k| -axes[k] * stretched[k] / slip);
                (slip, (slip > 0.0).then_some(FrictionTerm { block, direction, generator: None }))
            }
        }
    }

    /// Impulses of this problem from the weights of the edges and the joints' part of the proof.
    fn cancelling(&self, layout: &Layout, edges: &[ConeEdge], y: &[f64]) -> Vec<f64> {
        let mut z = vec![0.0; layout.impulses];
        z[..self.joints.len()].copy_from_slice(&y[..self.joints.len()]);
        for (edge, &weight) in edges.iter().zip(&y[self.joints.len()..]) {
            z[layout.contact[edge.contact]] += weight;
            for part in &edge.friction {
                let contact = &self.contacts[part.block];
                let start = layout.contact[part.block] + usize::from(contact.normal.is_some());
                match part.generator {
                    Some(k) => z[start + k] += contact.mu * weight,
                    None => (0..contact.tangents.len())
                        .for_each(|k| z[start + k] += contact.mu * weight * part.direction[k]),
                }
            }
        }
        z
    }
}

/// ConeEdge of a contact's cone: n + Σ μ T f over the friction blocks that it bounds.
struct ConeEdge {
    contact: usize,
    friction: Vec<FrictionTerm>,
}

/// Friction of a block along one direction.
#[derive(Clone, Copy)]
struct FrictionTerm {
    /// Index of the block.
    block: usize,
    /// Direction f.
    direction: [f64; 3],
    /// Index of the generator, for a polygon.
    generator: Option<usize>,
}

impl ConeEdge {
    fn with(&self, part: FrictionTerm) -> Self {
        let friction = self.friction.iter().copied().chain([part]).collect();
        Self { contact: self.contact, friction }
    }

    fn row(&self, problem: &StepProblem, layout: &Layout) -> Row {
        let mut dense = vec![0.0; layout.velocities()];
        if let Some(normal) = &problem.contacts[self.contact].normal {
            normal.row.add_transposed(&layout.velocity, 1.0, &mut dense);
        }
        for part in &self.friction {
            let contact = &problem.contacts[part.block];
            for (tangent, f) in contact.tangents.iter().zip(part.direction) {
                tangent.row.add_transposed(&layout.velocity, contact.mu * f, &mut dense);
            }
        }
        Row::Sparse(dense.into_iter().enumerate().filter(|(_, x)| *x != 0.0).collect())
    }
}
