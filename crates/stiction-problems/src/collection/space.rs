//! Single bodies in space in contact with the world.

use super::build::{FALL, HAND, slide, spatial, spatial_row, square, step, touching};
use super::{NamedProblem, ProblemEntry, exactly, infinitely_many};
use std::f64::consts::FRAC_1_SQRT_2;
use stiction_lcp::problem::{Body, Contact, FrictionSet, Row, StepProblem};

pub(super) fn all() -> Vec<NamedProblem> {
    let mut files = vec![box_rests(), box_slides(), rod_rests(), rod_slides()];
    files.extend([sphere_square(), sphere_octagon(), sphere_circle(), anisotropic_polygon(), ellipse()]);
    files
}

/// Contact of the point r of body 0 with the table, in space.
fn on_floor(r: [f64; 3], set: FrictionSet, mu: f64) -> Contact {
    let row = |d| Row::one(0, &spatial_row(d, r));
    touching(row([0.0, 0.0, 1.0]), [row([1.0, 0.0, 0.0]), row([0.0, 1.0, 0.0])], set, mu)
}

fn octagon() -> FrictionSet {
    let s = FRAC_1_SQRT_2;
    let half = [[1.0, 0.0], [s, s], [0.0, 1.0], [-s, s]];
    FrictionSet::polygon(half.into_iter().chain(half.map(|[x, y]| [-x, -y])))
}

const BOX: [f64; 3] = [0.5, 0.4, 0.25];

/// Box of 2 kg on its four lower corners, rear ones first.
fn spatial_box(mu: f64, speed: f64) -> StepProblem {
    let [a, b, c] = BOX;
    let third = 2.0 / 3.0;
    let inertia = [third * (b * b + c * c), third * (a * a + c * c), third * (a * a + b * b)];
    let body = spatial(2.0, inertia, [speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
    let corners = [[-a, -b, -c], [-a, b, -c], [a, -b, -c], [a, b, -c]];
    step(vec![body], corners.map(|r| on_floor(r, square(), mu)).into())
}

/// Impulses of contacts with four directions and friction μ c along −x.
fn rubbing(mu: f64, normals: &[f64]) -> Vec<f64> {
    normals.iter().flat_map(|&c| [c, 0.0, 0.0, mu * c, 0.0]).collect()
}

fn box_rests() -> NamedProblem {
    let z = rubbing(0.0, &[FALL / 2.0; 4]);
    ProblemEntry::new(
        "box-rests",
        "A box at rest on four corners",
        HAND,
        "Four normal impulses for three equations: a diagonal pair can carry more. Small variants: planar-box-rests, rod-rests.",
    )
    .step(spatial_box(0.4, 0.0), infinitely_many(&[&z]).with_velocity(&[0.0; 6]))
}

fn box_slides() -> NamedProblem {
    let mu = 0.4;
    let [rear, front] = slide(2.0, mu, BOX[2], BOX[0], 4.0);
    let z = rubbing(mu, &[rear, rear, front, front]);
    ProblemEntry::new(
        "box-slides",
        "A box slides on four corners",
        HAND,
        "The velocity is that of planar-box-slides, the impulses are not unique. Small variants: planar-box-slides, rod-slides.",
    )
    .step(spatial_box(mu, 3.0), infinitely_many(&[&z]).with_velocity(&[3.0 - mu * FALL, 0.0, 0.0, 0.0, 0.0, 0.0]))
}

/// Rod of 2 kg along x on two points below its ends.
fn rod(mu: f64, speed: f64) -> StepProblem {
    let (a, c) = (0.5, 0.05);
    let body = spatial(2.0, [0.003, 0.17, 0.17], [speed, 0.0, 0.0, 0.0, 0.0, 0.0]);
    step(vec![body], [[-a, 0.0, -c], [a, 0.0, -c]].map(|r| on_floor(r, square(), mu)).into())
}

fn rod_rests() -> NamedProblem {
    let z = rubbing(0.0, &[FALL; 2]);
    ProblemEntry::new(
        "rod-rests",
        "A rod at rest on two points in space",
        HAND,
        "Two contacts with four directions: twelve complementary rows, the small variant of box-rests.",
    )
    .step(rod(0.4, 0.0), infinitely_many(&[&z]).with_velocity(&[0.0; 6]))
}

fn rod_slides() -> NamedProblem {
    let mu = 0.4;
    let [rear, front] = slide(2.0, mu, 0.05, 0.5, 2.0);
    let z = rubbing(mu, &[rear, front]);
    ProblemEntry::new(
        "rod-slides",
        "A rod slides along itself on two points in space",
        HAND,
        "The small variant of box-slides; here the impulses are unique.",
    )
    .step(rod(mu, 3.0), exactly(&[&z]).with_velocity(&[3.0 - mu * FALL, 0.0, 0.0, 0.0, 0.0, 0.0]))
}

/// Ball of 2 kg and radius 0.5 m that slides without spin, and its velocities after friction p along the unit vector
/// −(x, y).
fn sphere(set: FrictionSet, mu: f64, [x, y]: [f64; 2], speed: f64) -> (StepProblem, f64, [f64; 6]) {
    let (mass, radius) = (2.0, 0.5);
    let inertia = 0.4 * mass * radius * radius;
    let body = spatial(mass, [inertia; 3], [speed * x, speed * y, 0.0, 0.0, 0.0, 0.0]);
    let c = mass * FALL;
    let (slow, turn) = (speed - mu * c / mass, mu * c * radius / inertia);
    let velocity = [slow * x, slow * y, 0.0, -turn * y, turn * x, 0.0];
    (step(vec![body], vec![on_floor([0.0, 0.0, -radius], set, mu)]), c, velocity)
}

fn sphere_square() -> NamedProblem {
    let (step, c, velocity) = sphere(square(), 0.3, [1.0, 0.0], 3.0);
    ProblemEntry::new(
        "sphere-square",
        "A ball slides, four directions",
        HAND,
        "Along a direction of the polygon: friction is that of the circle, and spins the ball up.",
    )
    .step(step, exactly(&[&rubbing(0.3, &[c])]).with_velocity(&velocity))
}

fn sphere_octagon() -> NamedProblem {
    let (step, c, velocity) = sphere(octagon(), 0.3, [FRAC_1_SQRT_2; 2], 3.0);
    let mut z = [0.0; 9];
    (z[0], z[6]) = (c, 0.3 * c);
    ProblemEntry::new(
        "sphere-octagon",
        "A ball slides, eight directions",
        HAND,
        "Along the diagonal, which is one of eight directions.",
    )
    .step(step, exactly(&[&z]).with_velocity(&velocity))
}

fn sphere_circle() -> NamedProblem {
    let (step, c, velocity) = sphere(FrictionSet::circle(), 0.3, [0.6, 0.8], 3.0);
    let p = 0.3 * c;
    ProblemEntry::new(
        "sphere-circle",
        "A ball slides, circular friction",
        HAND,
        "Friction is opposite to slip in any direction. Not a linear problem; z holds the impulses along the tangent rows.",
    )
    .step(step, exactly(&[&[c, -0.6 * p, -0.8 * p]]).with_velocity(&velocity))
}

/// Particle of 1 kg on the floor, (x, y, z).
fn particle(set: FrictionSet, mu: f64, [x, y]: [f64; 2]) -> StepProblem {
    let body = Body::new(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0], &[x, y, -FALL]);
    let row = |j: [f64; 3]| Row::one(0, &j);
    let tangents = [row([1.0, 0.0, 0.0]), row([0.0, 1.0, 0.0])];
    step(vec![body], vec![touching(row([0.0, 0.0, 1.0]), tangents, set, mu)])
}

fn anisotropic_polygon() -> NamedProblem {
    let mu = 0.4;
    let set = FrictionSet::polygon([[1.0, 0.0], [-1.0, 0.0], [0.0, 0.5], [0.0, -0.5]]);
    let p = mu * FALL;
    ProblemEntry::new(
        "anisotropic-polygon",
        "A particle on a grooved floor",
        HAND,
        "Half the friction along y. At (1, 3) m/s most is dissipated along −y alone, since 3 / 2 > 1; β is measured in generators of length ½.",
    )
    .step(particle(set, mu, [1.0, 3.0]), exactly(&[&[FALL, 0.0, 0.0, 0.0, p]]).with_velocity(&[1.0, 3.0 - 0.5 * p, 0.0]))
}

fn ellipse() -> NamedProblem {
    // from the velocity after the step back: p = −μ c A² u / |A u| with A = diag(1, ½), u = (3, 4)
    let p = 0.4 * FALL / 13.0_f64.sqrt();
    let friction = [-3.0 * p, -p];
    ProblemEntry::new(
        "anisotropic-ellipse",
        "A particle on a grooved floor, elliptic friction",
        "solved by hand, backwards from the velocity (3, 4) m/s after the step",
        "Maximum dissipation over an ellipse: friction is not opposite to slip. Not a linear problem; small variant: anisotropic-polygon.",
    )
    .step(
        particle(FrictionSet::Ellipse([1.0, 0.5, 1.0]), 0.4, [3.0 - friction[0], 4.0 - friction[1]]),
        exactly(&[&[FALL, friction[0], friction[1]]]).with_velocity(&[3.0, 4.0, 0.0]),
    )
}
