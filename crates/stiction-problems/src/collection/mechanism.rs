//! Joints, motors, springs and gyroscopic terms.

use super::build::{
    FALL, HAND, at_rest, block, planar, planar_row, spatial, spatial_row, square, step, touching,
};
use super::{NamedProblem, ProblemEntry, exactly, infinitely_many};
use nalgebra::Matrix6;
use stiction_lcp::problem::{Body, BodyPair, Contact, FrictionSet, Joint, OffsetRow, Row, StepProblem};

pub(super) fn all() -> Vec<NamedProblem> {
    vec![
        pinned_rod(1),
        pinned_rod(2),
        double_pendulum(),
        motor_saturates(),
        motor_holds(),
        compliance(),
        gyroscopic(),
        implicit_spring(),
    ]
}

fn rigid(row: Row) -> Joint {
    Joint { row: at_rest(row), compliance: 0.0 }
}

/// Contact of the point r of a planar body with the table.
fn tip(body: usize, r: [f64; 2]) -> Contact {
    let row = |d| Row::one(body, &planar_row(d, r));
    touching(row([0.0, 1.0]), [row([1.0, 0.0])], FrictionSet::line(), 0.5)
}

const HALF_ROD: f64 = 0.5;

/// Rod of 1 kg and length 2 a along x.
fn rod() -> Body {
    planar(1.0, HALF_ROD * HALF_ROD / 3.0, [0.0; 3])
}

/// Rod hinged at its left end with its right end on a support; every joint row occurs `times` times.
fn pinned_rod(times: usize) -> NamedProblem {
    let pin = [-HALF_ROD, 0.0];
    let rows = [[1.0, 0.0], [0.0, 1.0]].map(|d| rigid(Row::one(0, &planar_row(d, pin))));
    let problem = StepProblem {
        joints: rows.iter().cycle().take(2 * times).cloned().collect(),
        ..step(vec![rod()], vec![tip(0, [HALF_ROD, 0.0])])
    };
    let share = FALL / 2.0 / times as f64;
    let mut z = [0.0, share].repeat(times);
    z.extend([FALL / 2.0, 0.0, 0.0]);
    let (file, name, note) = if times == 1 {
        (
            "pinned-rod",
            "A hinged rod on a support",
            "Hinge and support carry half each; hinge and friction can pull against each other along x.",
        )
    } else {
        (
            "redundant-joints",
            "A hinged rod on a support, every joint row twice",
            "The joint rows are linearly dependent: their impulses can be split in any way, the velocity is that of pinned-rod.",
        )
    };
    ProblemEntry::new(file, name, HAND, note).step(problem, infinitely_many(&[&z]).with_velocity(&[0.0; 3]))
}

fn double_pendulum() -> NamedProblem {
    let (left, right) = ([-HALF_ROD, 0.0], [HALF_ROD, 0.0]);
    let axes = [[1.0, 0.0], [0.0, 1.0]];
    let world = axes.map(|d| rigid(Row::one(0, &planar_row(d, left))));
    let elbow = axes.map(|d: [f64; 2]| {
        let other = planar_row(d.map(|x| -x), right);
        rigid(Row::two(1, &planar_row(d, left), 0, &other))
    });
    let joints = world.into_iter().chain(elbow).collect();
    let problem = StepProblem { joints, ..step(vec![rod(), rod()], vec![tip(1, right)]) };
    // both rods turn about their outer ends, where their inertia is 4/3 m a²
    let (drop, turn) = (0.75 * FALL, 0.75 * FALL / HALF_ROD);
    let velocity = [0.0, -drop, -turn, 0.0, -drop, turn];
    let z = [0.0, FALL / 4.0, 0.0, 0.0, FALL / 4.0, 0.0, 0.0];
    ProblemEntry::new(
        "double-pendulum",
        "Two hinged rods on a support",
        HAND,
        "A horizontal chain: world, rod, rod, support. The elbow falls at 1.5 g h, the ends carry a quarter of a rod each.",
    )
    .step(problem, infinitely_many(&[&z]).with_velocity(&velocity))
}

/// Rotor of 0.2 kg m² whose surface at radius 0.1 m is driven with at most `bound` [N s].
fn motor(before: f64, target: f64, bound: f64) -> StepProblem {
    let (inertia, radius) = (0.2, 0.1);
    let drive = OffsetRow { row: Row::one(0, &[radius]), offset: -radius * target };
    let contact = Contact {
        normal: None,
        tangents: [drive].into_iter().collect(),
        set: FrictionSet::line(),
        mu: 0.0,
        kappa: bound,
        bound_by: None,
    };
    let body = Body::new(1, &[inertia], &[inertia * before]);
    StepProblem { bodies: vec![body], contacts: vec![contact], ..StepProblem::default() }
}

fn motor_saturates() -> NamedProblem {
    let bound = 0.05;
    ProblemEntry::new(
        "motor-saturates",
        "A motor too weak to reach its speed in one step",
        HAND,
        "A friction block without a normal row, bound κ alone: from rest towards 10 rad/s it gives all it has.",
    )
    .step(motor(0.0, 10.0, bound), exactly(&[&[bound, 0.0]]).with_velocity(&[bound * 0.1 / 0.2]))
}

fn motor_holds() -> NamedProblem {
    // W = r² / I = 0.05, so 0.001 m/s take 0.02 N s
    ProblemEntry::new(
        "motor-holds",
        "A motor that reaches its speed",
        HAND,
        "It brakes 0.01 rad/s to a stop with less than its bound; opposite impulses can be added.",
    )
    .step(motor(0.01, 0.0, 0.05), infinitely_many(&[&[0.0, 0.02]]).with_velocity(&[0.0]))
}

fn compliance() -> NamedProblem {
    let (mass, speed, compliance, upsilon) = (2.0, 1.0, 0.25, 0.1);
    let c = -(speed + upsilon) / (compliance + 1.0 / mass);
    let joint = Joint { row: OffsetRow { row: Row::one(0, &[1.0, 0.0]), offset: upsilon }, compliance };
    let support = Contact::frictionless(Row::one(0, &[0.0, 1.0]), 0.0);
    let problem = StepProblem { joints: vec![joint], ..step(vec![block(mass, [speed, 0.0])], vec![support]) };
    ProblemEntry::new(
        "compliance",
        "A block caught by a compliant joint",
        HAND,
        "v + C c + Υ = 0 with C = 0.25 m/s per N s and Υ = 0.1 m/s: the joint gives way by C c.",
    )
    .step(problem, exactly(&[&[c, mass * FALL]]).with_velocity(&[speed + c / mass, 0.0]))
}

/// Top with equal transverse moments of inertia that spins about z and slides along x. The linearly implicit gyroscopic
/// term h ([ω]× I − [I ω]×) adds a skew block G to the transverse inertia.
fn gyroscopic() -> NamedProblem {
    let (mass, radius, transverse, axial, spin, mu) = (1.0, 0.2, 0.01, 0.02, 100.0, 0.3);
    let mut body = spatial(mass, [transverse, transverse, axial], [3.0, 0.0, 0.0, 0.0, 0.0, spin]);
    let g = 0.05 * spin * (axial - transverse);
    (body.mass[(3, 4)], body.mass[(4, 3)]) = (g, -g);
    let row = |d| Row::one(0, &spatial_row(d, [0.0, 0.0, -radius]));
    let contact = touching(row([0.0, 0.0, 1.0]), [row([1.0, 0.0, 0.0]), row([0.0, 1.0, 0.0])], square(), mu);
    let p = mu * mass * FALL;
    let torque = radius * p / (transverse * transverse + g * g);
    let velocity = [3.0 - p / mass, 0.0, 0.0, -g * torque, transverse * torque, spin];
    ProblemEntry::new(
        "gyroscopic",
        "A spinning top slides",
        HAND,
        "Friction along −x tilts the top about y, and the gyroscopic term turns that about x: M̃ is not symmetric. Its skew part is five times the transverse inertia.",
    )
    .step(step(vec![body], vec![contact]), exactly(&[&[mass * FALL, 0.0, 0.0, p, 0.0]]).with_velocity(&velocity))
}

/// Two blocks joined by a linearly implicit spring along x: h² k in their blocks, −h² k between them.
fn implicit_spring() -> NamedProblem {
    let (stiffness, mu, speed) = (20.0 * 0.05 * 0.05, 0.3, 1.0);
    let mut bodies = vec![block(1.0, [speed, 0.0]), block(1.0, [0.0; 2])];
    for body in &mut bodies {
        body.mass[(0, 0)] += stiffness;
    }
    let mut ab = Matrix6::zeros();
    ab[(0, 0)] = -stiffness;
    let contact = |body| {
        let row = |j: [f64; 2]| Row::one(body, &j);
        touching(row([0.0, 1.0]), [row([1.0, 0.0])], FrictionSet::line(), mu)
    };
    let problem = StepProblem {
        pairs: vec![BodyPair { a: 0, b: 1, ab, ba: ab }],
        ..step(bodies, vec![contact(0), contact(1)])
    };
    let p = mu * FALL;
    let v = (speed - p) / (1.0 + stiffness);
    let z = [FALL, 0.0, p, FALL, 0.0, stiffness * v];
    ProblemEntry::new(
        "implicit-spring",
        "Two blocks and a stiff spring",
        HAND,
        "The first block slides, the spring (k = 20 N/m, h² k = 0.05 kg) pulls at the second, which sticks.",
    )
    .step(problem, infinitely_many(&[&z]).with_velocity(&[v, 0.0, 0.0, 0.0]))
}
