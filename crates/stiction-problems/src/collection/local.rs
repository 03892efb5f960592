//! Contacts in local form, and contacts with rolling and torsional friction.

use super::build::{FALL, HAND, planar, planar_row, spatial, spatial_row, step};
use super::{NamedProblem, ProblemEntry, exactly, infinitely_many, none};
use nalgebra::{DMatrix, DVector};
use stiction_lcp::problem::{AnyProblem, Contact, FrictionSet, LocalProblem, OffsetRow, Row, StepProblem};

pub(super) fn all() -> Vec<NamedProblem> {
    vec![slides(), octagon(), sticks(), hyperstatic(), jam(), disk_rolls(), ball_spins()]
}

const LOCAL_MU: f64 = 0.4;

/// Contacts of a particle of 2 kg at one point: W = ½ in all blocks, with this speed along the tangents.
fn particle(contacts: usize, [x, y]: [f64; 2], facets: Option<usize>) -> LocalProblem {
    let n = 3 * contacts;
    let w = DMatrix::from_fn(n, n, |i, j| if i % 3 == j % 3 { 0.5 } else { 0.0 });
    let q = DVector::from_fn(n, |i, _| [-FALL, x, y][i % 3]);
    LocalProblem { dim: 3, w, q, mu: vec![LOCAL_MU; contacts], facets }
}

fn slides() -> NamedProblem {
    let problem = particle(1, [3.0, 4.0], None);
    let p = LOCAL_MU * 2.0 * FALL;
    let z = [2.0 * FALL, -0.6 * p, -0.8 * p];
    let u = [0.0, 3.0 - 0.3 * p, 4.0 - 0.4 * p];
    ProblemEntry::new(
        "local-slides",
        "A particle slides, in local form",
        HAND,
        "u = W r + q for one contact: the normal impulse stops the fall, friction opposes slip in any direction.",
    )
    .holding(AnyProblem::Local(problem), exactly(&[&z]).with_velocity(&u))
}

fn octagon() -> NamedProblem {
    let problem = particle(1, [3.0, 0.0], Some(8));
    let mut z = [0.0; 9];
    (z[0], z[5]) = (2.0 * FALL, LOCAL_MU * 2.0 * FALL);
    ProblemEntry::new(
        "local-octagon",
        "A particle slides, eight directions, in local form",
        HAND,
        "A friction polygon with its first direction along the first tangent: β of the fifth opposes slip along it.",
    )
    .holding(AnyProblem::Local(problem), exactly(&[&z]).with_velocity(&[0.0, 3.0 - LOCAL_MU * FALL, 0.0]))
}

fn sticks() -> NamedProblem {
    let w = DMatrix::from_row_slice(2, 2, &[1.0, 0.3, 0.3, 2.0]);
    let q = DVector::from_row_slice(&[-1.0, 0.1]);
    // r = −W⁻¹ q, inside the cone
    let z = [2.03 / 1.91, 0.0, 0.4 / 1.91];
    ProblemEntry::new(
        "local-sticks",
        "A contact in the plane sticks, in local form",
        HAND,
        "Normal and tangent are coupled by W; r = −W⁻¹ q lies in the cone. Any β with the same difference is a solution.",
    )
    .holding(
        AnyProblem::Local(LocalProblem { dim: 2, w, q, mu: vec![0.5], facets: None }),
        infinitely_many(&[&z]).with_velocity(&[0.0, 0.0]),
    )
}

fn hyperstatic() -> NamedProblem {
    let problem = particle(2, [3.0, 4.0], None);
    let p = LOCAL_MU * FALL;
    let one = [FALL, -0.6 * p, -0.8 * p];
    let u = [0.0, 3.0 - 0.6 * p, 4.0 - 0.8 * p];
    ProblemEntry::new(
        "local-hyperstatic",
        "Two contacts at one point, in local form",
        HAND,
        "W has rank three of six: only the sum of the impulses is known, the speeds are those of local-slides.",
    )
    .holding(AnyProblem::Local(problem), infinitely_many(&[&[one, one].concat()]).with_velocity(&[u, u].concat()))
}

fn jam() -> NamedProblem {
    // opposite normals and a common tangent
    let w = DMatrix::from_row_slice(
        4,
        4,
        &[
            1.0, 0.0, -1.0, 0.0, //
            0.0, 1.0, 0.0, 1.0, //
            -1.0, 0.0, 1.0, 0.0, //
            0.0, 1.0, 0.0, 1.0,
        ],
    );
    let q = DVector::from_row_slice(&[-0.1, -FALL, -0.1, -FALL]);
    ProblemEntry::new(
        "local-jam",
        "A particle between two walls that it penetrates, in local form",
        HAND,
        "Both walls ask for 0.1 m/s towards the middle: u₁ + u₂ = −0.2 m/s in the normal rows whatever r is, which y = (1, 1) proves.",
    )
    .holding(AnyProblem::Local(LocalProblem { dim: 2, w, q, mu: vec![0.5; 2], facets: None }), none())
}

/// Rolling friction bounded by the normal impulse of contact 0, with μ = 1.
fn rolling(rows: impl IntoIterator<Item = Row>, set: FrictionSet) -> Contact {
    let tangents = rows.into_iter().map(|row| OffsetRow { row, offset: 0.0 }).collect();
    Contact { normal: None, tangents, set, mu: 1.0, kappa: 0.0, bound_by: Some(0) }
}

/// Rolling length and torsional radius [m] on bodies of radius 0.5 m.
const ROLL: f64 = 0.02;
const SPIN: f64 = 0.05;
const R: f64 = 0.5;

fn disk_rolls() -> NamedProblem {
    // m v̇ = f, I ω̇ = R f + ℓ N with v = −R ω and I = m R² / 2: slowed by ℓ N / (R (m + I / R²))
    let (mass, speed) = (2.0, 1.0);
    let inertia = 0.5 * mass * R * R;
    let slower = ROLL * FALL / (1.5 * R);
    let v = speed - slower;
    let body = planar(mass, inertia, [speed, 0.0, -speed / R]);
    let row = |d: [f64; 2]| Row::one(0, &planar_row(d, [0.0, -R]));
    let contact = super::build::touching(row([0.0, 1.0]), [row([1.0, 0.0])], FrictionSet::line(), LOCAL_MU);
    let block = rolling([Row::one(0, &[0.0, 0.0, ROLL])], FrictionSet::line());
    let z = [mass * FALL, 0.0, mass * slower, mass * FALL, 0.0];
    ProblemEntry::new(
        "disk-rolls",
        "A disk rolls against its rolling friction",
        HAND,
        "A friction block that rests on the contact: its moment is at its bound ℓ N while the contact itself sticks, well inside its own. Any β of the contact with the same difference is a solution.",
    )
    .step(step(vec![body], vec![contact, block]), infinitely_many(&[&z]).with_velocity(&[v, 0.0, -v / R]))
}

fn ball_spins() -> NamedProblem {
    let mass = 2.0;
    let inertia = 0.4 * mass * R * R;
    let body = spatial(mass, [inertia; 3], [0.0, 0.0, 0.0, 0.0, 0.0, 3.0]);
    let row = |d: [f64; 3]| Row::one(0, &spatial_row(d, [0.0, 0.0, -R]));
    let spin = Row::one(0, &[0.0, 0.0, 0.0, 0.0, 0.0, SPIN]);
    let tangents = [row([1.0, 0.0, 0.0]), row([0.0, 1.0, 0.0]), spin];
    let contact = super::build::touching(row([0.0, 0.0, 1.0]), tangents, FrictionSet::circle(), LOCAL_MU);
    let p = LOCAL_MU * mass * FALL;
    let slower = SPIN * p / inertia;
    let problem: StepProblem = step(vec![body], vec![contact]);
    ProblemEntry::new(
        "ball-spins",
        "A ball spins on the spot",
        HAND,
        "The third tangent row is the spin about the normal times the torsional radius: a moment of ℓ μ N slows it. Not a linear problem.",
    )
    .step(problem, exactly(&[&[mass * FALL, 0.0, 0.0, -p]]).with_velocity(&[0.0, 0.0, 0.0, 0.0, 0.0, 3.0 - slower]))
}
