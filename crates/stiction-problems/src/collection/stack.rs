//! Stacks of boxes and blocks.

use super::build::{FALL, HAND, block, planar, planar_row, spatial, spatial_row, square, step, touching};
use super::{NamedProblem, ProblemEntry, exactly, infinitely_many};
use stiction_lcp::problem::{Contact, FrictionSet, Row};

pub(super) fn all() -> Vec<NamedProblem> {
    [2, 3]
        .into_iter()
        .flat_map(|n| [planar_stack(n), frictionless_stack(n), spatial_stack(n), sliding_stack(n)])
        .collect()
}

/// Row of body `upper` at `above` relative to the body below it, or to the table, at `below`.
fn between(upper: usize, above: &[f64], below: &[f64]) -> Row {
    let opposite: Vec<f64> = below.iter().map(|x| -x).collect();
    if upper == 0 { Row::one(0, above) } else { Row::two(upper, above, upper - 1, &opposite) }
}

/// Boxes of 1 kg with half sides 0.5 m and 0.25 m, each on the two corners of the one below.
fn planar_contacts(boxes: usize, mu: f64) -> Vec<Contact> {
    let (a, b) = (0.5, 0.25);
    let contact = |upper: usize, x: f64| {
        let row = |d| between(upper, &planar_row(d, [x, -b]), &planar_row(d, [x, b]));
        let tangent = (mu > 0.0).then(|| row([1.0, 0.0]));
        touching(row([0.0, 1.0]), tangent, FrictionSet::line(), mu)
    };
    (0..boxes).flat_map(|upper| [contact(upper, -a), contact(upper, a)]).collect()
}

/// Weight impulse on the contacts below box `k` of `boxes` [N s].
fn weight(boxes: usize, k: usize) -> f64 {
    (boxes - k) as f64 * FALL
}

fn planar_stack(boxes: usize) -> NamedProblem {
    let bodies = vec![planar(1.0, 0.3125 / 3.0, [0.0; 3]); boxes];
    let z: Vec<f64> = (0..boxes).flat_map(|k| [weight(boxes, k) / 2.0, 0.0, 0.0].repeat(2)).collect();
    let note = format!(
        "Each contact carries half of what lies on it; friction is not unique. Small variants: planar-stack-{boxes}-frictionless, sliding-stack-{boxes}."
    );
    ProblemEntry::new(
        &format!("planar-stack-{boxes}"),
        &format!("{boxes} boxes on each other in the plane"),
        HAND,
        &note,
    )
    .step(
        step(bodies, planar_contacts(boxes, 0.5)),
        infinitely_many(&[&z]).with_velocity(&vec![0.0; 3 * boxes]),
    )
}

fn frictionless_stack(boxes: usize) -> NamedProblem {
    let bodies = vec![planar(1.0, 0.3125 / 3.0, [0.0; 3]); boxes];
    let z: Vec<f64> = (0..boxes).flat_map(|k| [weight(boxes, k) / 2.0; 2]).collect();
    let file = format!("planar-stack-{boxes}-frictionless");
    let name = format!("{boxes} boxes on each other in the plane, without friction");
    ProblemEntry::new(&file, &name, HAND, "Without friction the impulses are unique.")
        .step(step(bodies, planar_contacts(boxes, 0.0)), exactly(&[&z]).with_velocity(&vec![0.0; 3 * boxes]))
}

fn spatial_stack(boxes: usize) -> NamedProblem {
    let (a, b, c) = (0.5, 0.4, 0.25);
    let inertia = [b * b + c * c, a * a + c * c, a * a + b * b].map(|x| x / 3.0);
    let bodies = vec![spatial(1.0, inertia, [0.0; 6]); boxes];
    let contact = |upper: usize, [x, y]: [f64; 2]| {
        let row = |d| between(upper, &spatial_row(d, [x, y, -c]), &spatial_row(d, [x, y, c]));
        touching(row([0.0, 0.0, 1.0]), [row([1.0, 0.0, 0.0]), row([0.0, 1.0, 0.0])], square(), 0.5)
    };
    let corners = [[-a, -b], [-a, b], [a, -b], [a, b]];
    let contacts = (0..boxes).flat_map(|upper| corners.map(|r| contact(upper, r))).collect();
    let z: Vec<f64> =
        (0..boxes).flat_map(|k| [weight(boxes, k) / 4.0, 0.0, 0.0, 0.0, 0.0].repeat(4)).collect();
    let note = format!(
        "Four corners each, four directions. Small variants: planar-stack-{boxes}-frictionless, sliding-stack-{boxes}."
    );
    ProblemEntry::new(
        &format!("stack-{boxes}"),
        &format!("{boxes} boxes on each other in space"),
        HAND,
        &note,
    )
    .step(step(bodies, contacts), infinitely_many(&[&z]).with_velocity(&vec![0.0; 6 * boxes]))
}

/// Blocks that only translate; the top one slides at 2 m/s, the others stick.
fn sliding_stack(blocks: usize) -> NamedProblem {
    let mu = 0.3;
    let mut bodies = vec![block(1.0, [0.0; 2]); blocks];
    bodies[blocks - 1] = block(1.0, [2.0, 0.0]);
    let contact = |upper: usize| {
        let row = |j: [f64; 2]| between(upper, &j, &j);
        touching(row([0.0, 1.0]), [row([1.0, 0.0])], FrictionSet::line(), mu)
    };
    let z: Vec<f64> = (0..blocks).flat_map(|k| [weight(blocks, k), 0.0, mu * FALL]).collect();
    let mut velocity = vec![0.0; 2 * blocks];
    velocity[2 * blocks - 2] = 2.0 - mu * FALL;
    let note = format!(
        "The top one slides, and its friction is handed down to the table through contacts that stick. {} complementary rows.",
        4 * blocks
    );
    ProblemEntry::new(
        &format!("sliding-stack-{blocks}"),
        &format!("The top one of {blocks} blocks slides"),
        HAND,
        &note,
    )
    .step(step(bodies, (0..blocks).map(contact).collect()), infinitely_many(&[&z]).with_velocity(&velocity))
}
