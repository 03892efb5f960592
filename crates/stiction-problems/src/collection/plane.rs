//! Single bodies in the plane in contact with the world.

use super::build::{FALL, HAND, block, planar, planar_row, slide, step, touching};
use super::{NamedProblem, ProblemEntry, exactly, infinitely_many, none};
use stiction_lcp::problem::{Body, Contact, FrictionLaw, FrictionSet, OffsetRow, Row, StepProblem};

pub(super) fn all() -> Vec<NamedProblem> {
    let mut files = vec![disk_slides(), disk_sticks(), disk_convex(), conveyor()];
    files.extend([planar_box_rests(), planar_box_slides(), planar_box_tips()]);
    files.extend(jams());
    files
}

/// Contact of the point r of body 0 with the table, in the plane.
fn on_table(r: [f64; 2], mu: f64) -> Contact {
    let row = |d| Row::one(0, &planar_row(d, r));
    touching(row([0.0, 1.0]), [row([1.0, 0.0])], FrictionSet::line(), mu)
}

/// Disk of radius 1 m and mass 1 kg that spins on the table.
fn disk(spin: f64) -> StepProblem {
    step(vec![planar(1.0, 0.5, [0.0, 0.0, spin])], vec![on_table([0.0, -1.0], 0.3)])
}

fn disk_slides() -> NamedProblem {
    let p = 0.3 * FALL;
    ProblemEntry::new(
        "disk-slides",
        "A spinning disk on the table slides",
        HAND,
        "ω = 3 rad/s: friction at its bound pushes the disk to the left and slows the spin. λ = 2.55855 m/s.",
    )
    .step(disk(3.0), exactly(&[&[FALL, 0.0, p]]).with_velocity(&[-p, 0.0, 3.0 - 2.0 * p]))
}

fn disk_sticks() -> NamedProblem {
    let p = 0.1 / 3.0;
    ProblemEntry::new(
        "disk-sticks",
        "A spinning disk on the table starts to roll",
        HAND,
        "ω = 0.1 rad/s: a third of the spin goes into rolling to the left. Any β with the same difference is a solution.",
    )
    .step(disk(0.1), infinitely_many(&[&[FALL, 0.0, p], &[FALL, 0.05, p + 0.05]]).with_velocity(&[-p, 0.0, p]))
}

fn disk_convex() -> NamedProblem {
    let mu = 0.3;
    let step = StepProblem { law: FrictionLaw::Convex, ..disk(3.0) };
    // v_y = μ u and u = 3 − 3 μ c with v_y = c − g h
    let c = (FALL + 3.0 * mu) / (1.0 + 3.0 * mu * mu);
    let u = 3.0 - 3.0 * mu * c;
    let velocity = [-mu * c, mu * u, 3.0 - 2.0 * mu * c];
    ProblemEntry::new(
        "disk-convex",
        "The sliding disk under the convex law",
        HAND,
        "The relaxation lifts the sliding disk off the table at μ times its slip speed; compare disk-slides.",
    )
    .step(step, exactly(&[&[c, 0.0, mu * c]]).with_velocity(&velocity))
}

fn conveyor() -> NamedProblem {
    let p = 0.3 * FALL;
    let row = |j: [f64; 2]| Row::one(0, &j);
    let mut contact = touching(row([0.0, 1.0]), [row([1.0, 0.0])], FrictionSet::line(), 0.3);
    contact.tangents[0].offset = -2.0;
    ProblemEntry::new(
        "conveyor",
        "A block put down on a conveyor",
        HAND,
        "The belt moves to the right at 2 m/s (τ = −2 m/s) and takes the block along: v = (μ g h, 0).",
    )
    .step(
        step(vec![block(1.0, [0.0; 2])], vec![contact]),
        exactly(&[&[FALL, p, 0.0]]).with_velocity(&[p, 0.0]),
    )
}

/// Box of mass 2 kg with half sides a and b on its two lower corners, left first.
fn planar_box(a: f64, b: f64, mu: f64, speed: f64) -> StepProblem {
    let body = planar(2.0, 2.0 * (a * a + b * b) / 3.0, [speed, 0.0, 0.0]);
    step(vec![body], vec![on_table([-a, -b], mu), on_table([a, -b], mu)])
}

fn planar_box_rests() -> NamedProblem {
    let c = FALL;
    ProblemEntry::new(
        "planar-box-rests",
        "A box at rest on two corners",
        HAND,
        "The normal impulses are known; the corners can push against each other through friction.",
    )
    .step(
        planar_box(0.5, 0.25, 0.4, 0.0),
        infinitely_many(&[&[c, 0.0, 0.0, c, 0.0, 0.0]]).with_velocity(&[0.0; 3]),
    )
}

fn planar_box_slides() -> NamedProblem {
    let (a, b, mu) = (0.5, 0.25, 0.4);
    let [rear, front] = slide(2.0, mu, b, a, 2.0);
    let z = [rear, 0.0, mu * rear, front, 0.0, mu * front];
    ProblemEntry::new(
        "planar-box-slides",
        "A box slides on two corners",
        HAND,
        "Friction shifts weight to the front corner; all impulses are unique.",
    )
    .step(planar_box(a, b, mu, 3.0), exactly(&[&z]).with_velocity(&[3.0 - mu * FALL, 0.0, 0.0]))
}

fn planar_box_tips() -> NamedProblem {
    let (a, b, mu, speed, mass) = (0.1, 0.5, 0.8, 5.0, 2.0);
    let inertia = mass * (a * a + b * b) / 3.0;
    // the front corner stays on the table: v_y + a ω = 0
    let c = FALL / (1.0 / mass + a * (a - b * mu) / inertia);
    let turn = (a - b * mu) * c / inertia;
    let velocity = [speed - mu * c / mass, -a * turn, turn];
    ProblemEntry::new(
        "planar-box-tips",
        "A tall box trips over its front corner",
        HAND,
        "Friction outweighs gravity about the front corner and the rear one leaves the table.",
    )
    .step(planar_box(a, b, mu, speed), exactly(&[&[0.0, 0.0, 0.0, c, 0.0, mu * c]]).with_velocity(&velocity))
}

/// Walls at x = ∓ with normals ±x that touch body 0 by `rows` of its velocities for x and y.
fn between_walls(body: &Body, rows: &[([f64; 3], [f64; 3])], mu: f64, penetration: f64) -> StepProblem {
    let n = body.velocities;
    let contacts = rows.iter().map(|(normal, tangent)| {
        let tangent = (mu > 0.0).then(|| Row::one(0, &tangent[..n]));
        let mut contact = touching(Row::one(0, &normal[..n]), tangent, FrictionSet::line(), mu);
        contact.normal = contact.normal.map(|normal| OffsetRow { offset: -penetration, ..normal });
        contact
    });
    step(vec![*body], contacts.collect())
}

fn jams() -> Vec<NamedProblem> {
    let (mu, c) = (0.5, 2.0 * FALL);
    let point = [([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]), ([-1.0, 0.0, 0.0], [0.0, 1.0, 0.0])];
    let particle = |penetration| between_walls(&block(1.0, [0.0; 2]), &point, mu, penetration);
    let corners = [[-0.5, -0.25], [-0.5, 0.25], [0.5, -0.25], [0.5, 0.25]]
        .map(|r: [f64; 2]| (planar_row([-r[0].signum(), 0.0], r), planar_row([0.0, 1.0], r)));
    let body = planar(1.0, 0.1, [0.0; 3]);
    let boxed = |mu, penetration| between_walls(&body, &corners, mu, penetration);
    let stuck = [c, FALL / 2.0, 0.0, c, FALL / 2.0, 0.0];
    let infeasible = "Both walls ask for 0.1 m/s towards the middle: the sum of the normal rows is a Farkas vector, the friction cone is not pointed.";
    vec![
        ProblemEntry::new("jam", "A particle between two walls", HAND, "It may fall freely, or the walls may press it so that friction holds it: impulses and velocities are not unique.")
            .step(particle(0.0), infinitely_many(&[&[0.0; 6], &stuck])),
        ProblemEntry::new("jam-penetrating", "A particle between two walls that it penetrates", HAND, infeasible)
            .step(particle(0.1), none()),
        ProblemEntry::new("jam-box", "A box between two walls", HAND, "The same with two corners at each wall. Small variant: jam.")
            .step(boxed(mu, 0.0), infinitely_many(&[&[0.0; 12]])),
        ProblemEntry::new("jam-box-penetrating", "A box between two walls that it penetrates", HAND, infeasible)
            .step(boxed(mu, 0.1), none()),
        ProblemEntry::new("jam-box-frictionless", "A box between two penetrated walls, without friction", HAND, infeasible)
            .step(boxed(0.0, 0.1), none()),
    ]
}
