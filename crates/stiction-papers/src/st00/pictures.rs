//! Figures of the paper.

use super::TABLE;
use super::balls::{self, BallsRun, Collision, Components};
use super::rod::{self, RodRun};
use crate::{Axis, Curve, Figure, FigureContent, Outline, Snapshot};
use std::f64::consts::{PI, TAU};

/// Length of a drawn impulse [m per N s].
const ARROW: f64 = 0.15;

fn curves(name: &str, title: &str, axes: [Axis; 2], curves: Vec<Curve>) -> Figure {
    Figure { name: name.into(), title: title.into(), content: FigureContent::Curves { axes, curves } }
}

fn time() -> Axis {
    Axis::linear("t [s]")
}

/// Curve of a value after each step over time.
fn over_time(label: String, h: f64, values: impl Iterator<Item = f64>) -> Curve {
    let points = (0..).zip(values).map(|(step, y)| [f64::from(step) * h, y]).collect();
    Curve { label, points }
}

/// Snapshots of the rod, its velocities and the motion of its ends.
pub(super) fn rod(runs: &[RodRun]) -> Vec<Figure> {
    let velocity = |name, title, axis: &str, i: usize| {
        let curve =
            |run: &RodRun| over_time(format!("h = {}", run.h), run.h, run.velocities.iter().map(|v| v[i]));
        curves(name, title, [time(), Axis::linear(axis)], runs.iter().map(curve).collect())
    };
    let mut figures = vec![
        velocity("rod-vertical-velocity", "Vertical velocity of the rod", "velocity [m/s]", 1),
        velocity("rod-horizontal-velocity", "Horizontal velocity of the rod", "velocity [m/s]", 0),
        velocity("rod-angular-velocity", "Angular velocity of the rod", "angular velocity [rad/s]", 2),
    ];
    // the run of the snapshots of the paper
    for run in runs.iter().filter(|run| run.h == 0.0025) {
        let end = |label: &str, side: usize, i: usize| {
            over_time(label.into(), run.h, run.ends().map(|ends| ends[side][i]))
        };
        let ends = |i| vec![end("+ end", 0, i), end("− end", 1, i)];
        figures.push(curves(
            "rod-end-heights",
            "Ends of the rod",
            [time(), Axis::linear("gap [m]")],
            ends(0),
        ));
        let axes = [time(), Axis::linear("vertical velocity [m/s]")];
        figures.push(curves(
            "rod-end-velocities",
            "Vertical velocities of the ends of the rod",
            axes,
            ends(1),
        ));
        let table = Outline { closed: false, points: vec![[-0.7, 0.0], [0.5, 0.0]] };
        // every 40 ms
        let frame = |(step, q): (usize, &[f64; 3])| Snapshot {
            colours: Vec::new(),
            t: step as f64 * run.h,
            outlines: vec![capsule(q), table.clone()],
        };
        let frames = run.positions.iter().enumerate().step_by(16).map(frame).collect();
        let title = "Falling and spinning rod, h = 0.0025".into();
        figures.push(Figure { name: "rod-frames".into(), title, content: FigureContent::Snapshots(frames) });
    }
    figures
}

fn capsule(&[x, y, angle]: &[f64; 3]) -> Outline {
    let cap = |side: f64| {
        let (sin, cos) = angle.sin_cos();
        let centre = [x + side * 0.5 * rod::LENGTH * cos, y + side * 0.5 * rod::LENGTH * sin];
        let from = if side > 0.0 { angle - 0.5 * PI } else { angle + 0.5 * PI };
        (0..=12).map(move |i| {
            let turn = from + PI * f64::from(i) / 12.0;
            [centre[0] + rod::ROD_RADIUS * turn.cos(), centre[1] + rod::ROD_RADIUS * turn.sin()]
        })
    };
    Outline { closed: true, points: cap(1.0).chain(cap(-1.0)).collect() }
}

/// Trajectories, velocities, impulses and errors of the balls.
pub(super) fn balls(runs: &[BallsRun]) -> Vec<Figure> {
    let Some((exact, coarser)) = runs.split_last() else { return Vec::new() };

    // trajectories of the centres
    let path = |across: usize| {
        let of_ball = |ball: usize| {
            let point = |q: &balls::Motion| [q[6 * ball], q[6 * ball + across]];
            Curve { label: format!("ball {ball}"), points: exact.positions.iter().map(point).collect() }
        };
        (0..4).map(of_ball).collect()
    };
    let [x, y, z] = ["x [m]", "y [m]", "z [m]"].map(Axis::linear);
    let mut figures = vec![
        curves("balls-elevation", "Elevation view of the balls", [x.clone(), z], path(2)),
        curves("balls-plan", "Plan view of the balls", [x, y], path(1)),
    ];

    // velocities of the thrown ball for each h
    let velocity = |name, title, axis: &str, i: usize| {
        let curve =
            |run: &BallsRun| over_time(format!("h = {}", run.h), run.h, run.velocities.iter().map(|v| v[i]));
        curves(name, title, [time(), Axis::linear(axis)], runs.iter().map(curve).collect())
    };
    figures.push(velocity("balls-velocity", "Velocity of the thrown ball along x", "velocity [m/s]", 0));
    figures.push(velocity("balls-spin", "Angular velocity of the thrown ball about y", "[rad/s]", 4));

    // errors against h, computed and published
    let ours = |label: &str, error: &dyn Fn(&BallsRun) -> f64| Curve {
        label: label.into(),
        points: coarser.iter().map(|run| [run.h, error(run)]).collect(),
    };
    let paper = |label: &str, i: usize| Curve {
        label: label.into(),
        points: coarser.iter().zip(TABLE).filter_map(|(run, row)| Some([run.h, row[i]?])).collect(),
    };
    let axes = [Axis::logarithmic("h [s]"), Axis::logarithmic("error [m, rad]")];
    let errors = vec![
        ours("velocity", &|run| run.velocity_error(exact, Components::All)),
        paper("velocity, ST00", 0),
        ours("position", &|run| run.position_error(exact, Components::All)),
        paper("position, ST00", 1),
    ];
    figures.push(curves("balls-errors", "Errors of the four balls", axes, errors));
    figures.extend(exact.collision.as_ref().map(impulses));
    figures
}

/// Side view of the impulses of the collision: an arrow from each contact.
fn impulses(collision: &Collision) -> Figure {
    let circle = |q: &[f64]| {
        let turn = |i: u32| TAU * f64::from(i) / 48.0;
        let point =
            |i: u32| [q[0] + balls::BALL_RADIUS * turn(i).cos(), q[2] + balls::BALL_RADIUS * turn(i).sin()];
        Outline { closed: true, points: (0..48).map(point).collect() }
    };
    let mut outlines: Vec<Outline> = collision.positions.chunks_exact(6).map(circle).collect();
    outlines.push(Outline { closed: false, points: vec![[0.3, 0.0], [1.7, 0.0]] });
    for contact in &collision.contacts {
        let normal = contact.normal.map(|n| n * contact.normal_impulse);
        // on the second body
        for impulse in [normal, contact.friction_impulse] {
            let from = [contact.point[0], contact.point[2]];
            let along = [ARROW * impulse[0], ARROW * impulse[2]];
            outlines.push(arrow(from, along));
        }
    }
    let frame = Snapshot { t: collision.t, outlines, colours: Vec::new() };
    let title = "Impulses at the collision of the balls, each on the ball to the right or above".into();
    Figure { name: "balls-impulses".into(), title, content: FigureContent::Snapshots(vec![frame]) }
}

fn arrow([x, y]: [f64; 2], [u, v]: [f64; 2]) -> Outline {
    let tip = [x + u, y + v];
    let barb = |side: f64| [tip[0] - 0.2 * u - side * 0.1 * v, tip[1] - 0.2 * v + side * 0.1 * u];
    Outline { closed: false, points: vec![[x, y], tip, barb(1.0), tip, barb(-1.0)] }
}
