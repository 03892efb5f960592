//! Contacts of a step in local form: W = J M̃⁻¹ Jᵀ and q = J M̃⁻¹ b + offsets.

use nalgebra::{DMatrix, DVector, Vector6};
use stiction_lcp::problem::{LocalProblem, OffsetRow, Row, StepProblem};

/// The contacts of a step without joints and pairs in their own coordinates, with friction circles: in space with two
/// tangents, in the plane with the first of them alone. `None` for a mass matrix that is singular or rows over more than
/// two bodies.
pub fn local_form(step: &StepProblem, dim: usize) -> Option<LocalProblem> {
    let rows: Vec<&OffsetRow> = step.contacts.iter().flat_map(|c| c.rows().take(dim)).collect();
    let n = rows.len();
    let mut w = DMatrix::zeros(n, n);
    let mut q = DVector::from_iterator(n, rows.iter().map(|row| row.offset));
    // rows of each body
    let mut of_body: Vec<Vec<(usize, Vector6<f64>)>> = vec![Vec::new(); step.bodies.len()];
    for (k, row) in rows.iter().enumerate() {
        let Row::Bodies(terms) = &row.row else { return None };
        for term in terms {
            let entries = Vector6::from_fn(|i, _| term.j.get(i).copied().unwrap_or(0.0));
            of_body[term.body].push((k, entries));
        }
    }
    for (body, own) in step.bodies.iter().zip(&of_body) {
        let inverse = body.mass.try_inverse()?;
        for (k, row) in own {
            let response = inverse * row;
            q[*k] += response.dot(&body.momentum);
            own.iter().for_each(|(l, other)| w[(*k, *l)] += response.dot(other));
        }
    }
    let mu = step.contacts.iter().map(|c| c.mu).collect();
    Some(LocalProblem { dim, w: 0.5 * (&w + w.transpose()), q, mu, facets: None })
}
