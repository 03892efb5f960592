//! Closed forms and independent numbers. Each run is verified.

use crate::{difference, simulation};
use stiction::{Accuracy, Evidence, Scheme, StepReport, verify, verify_accuracy_run};

const GROUND: &str =
    "[[bodies]]\nname = \"ground\"\nmotion = \"fixed\"\nshapes = [{ kind = \"half_plane\" }]\n";

/// Head of a planar scene with standard gravity.
fn plane(friction: f64, restitution: f64) -> String {
    format!(
        "format = 1\ndimension = 2\nrun = {{ duration = 1.0 }}\n[materials.default]\nfriction = {friction}\n\
         restitution = {restitution}\n"
    )
}

/// Coordinates at the end of a verified run to an accuracy, recorded every 0.1 s.
fn run(text: &str, until: f64, accuracy: f64) -> Vec<f64> {
    let mut simulation = simulation(text);
    let accuracy = Accuracy::of(accuracy);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    for k in 1.. {
        let before = simulation.state().clone();
        let to = (0.1 * f64::from(k)).min(until);
        let summary = simulation.run_to_accuracy_into(to, &accuracy, &mut report);
        let summary = summary.unwrap_or_else(|e| panic!("{e}"));
        let (system, after) = (simulation.system(), simulation.state());
        let verdict =
            verify_accuracy_run(system, &simulation.scheme, &accuracy, &before, after, &report, &summary);
        assert!(verdict.findings.is_empty(), "up to {to} s: {:#?}", verdict.findings);
        if to >= until {
            break;
        }
    }
    simulation.state().q.clone()
}

/// Coordinates at the end of verified steps of second order.
fn accurate_steps(text: &str, until: f64, h: f64) -> Vec<f64> {
    steps(text, until, h, Scheme::accurate())
}

fn steps(text: &str, until: f64, h: f64, scheme: Scheme) -> Vec<f64> {
    let mut simulation = simulation(text).with_scheme(scheme);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    while until - simulation.state().t > 1e-9 * h {
        let before = simulation.state().clone();
        simulation.step_into(h, &mut report).unwrap_or_else(|e| panic!("{e}"));
        let verdict = verify(simulation.system(), &simulation.scheme, &before, simulation.state(), &report);
        assert!(verdict.findings.is_empty(), "{:#?}", verdict.findings);
    }
    simulation.state().q.clone()
}

#[track_caller]
fn assert_near(found: &[f64], expected: &[f64], tolerance: f64) {
    let error = difference(found, expected);
    assert!(error <= tolerance, "{found:?} instead of {expected:?}: {error:e}");
}

/// The corner of a falling box strikes another 0.3 s after the start, in the middle of a step.
#[test]
fn an_impact_within_a_step_is_not_missed() {
    let text = plane(0.945, 0.707)
        + GROUND
        + "[[bodies]]\nname = \"b0\"\ndensity = 100.0\nposition = [0.0, 0.194]\nvelocity = [-0.133, 0.0]\n\
           angular_velocity = 2.052\nshapes = [{ kind = \"rectangle\", half_extents = [0.394, 0.194] }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 100.0\nposition = [0.425, 0.717]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.214, 0.253] }]\n";
    let fine = run(&text, 0.7, 1e-8);
    for accuracy in [1e-4, 1e-6] {
        assert_near(&run(&text, 0.7, accuracy), &fine, 10.0 * accuracy);
    }
    assert_near(&accurate_steps(&text, 0.7, 0.001), &fine, 1e-4);
}

/// A symmetric top of 150 rad/s: numbers of its Euler angles, integrated by Runge and Kutta's method.
#[test]
fn a_fast_top_follows_its_euler_angles() {
    let text = "format = 1\ndimension = 3\nrun = { duration = 2.0 }\n[[bodies]]\nname = \"top\"\nmass = 1.0\n\
        inertia = [2e-3, 2e-3, 1e-3]\nposition = [0.0, -0.05, 0.08660254037844388]\n\
        quat_wxyz = [0.9659258262890683, 0.25881904510252074, 0.0, 0.0]\n\
        angular_velocity = [0.0, -75.0, 129.9038105676658]\n\
        [[joints]]\nname = \"pivot\"\nkind = \"spherical\"\nbodies = [\"world\", \"top\"]\nat = [0.0, 0.0, 0.0]\n";
    let (tilt, azimuth) = euler_angles_of_top(2.0);
    let expected = [0.1 * tilt.sin() * azimuth.sin(), -0.1 * tilt.sin() * azimuth.cos(), 0.1 * tilt.cos()];
    for accuracy in [1e-4, 1e-6, 1e-8] {
        assert_near(&run(text, 2.0, accuracy)[..3], &expected, 10.0 * accuracy);
    }
}

/// Tilt and azimuth of the top, from 30° and 0° at rest, by 20,000 steps of order four: 1e-12.
fn euler_angles_of_top(until: f64) -> (f64, f64) {
    let (inertia, weight, spin) = (2e-3 + 0.01, 9.81 * 0.1, 1e-3 * 150.0);
    let start = std::f64::consts::FRAC_PI_6;
    let vertical = spin * start.cos();
    let rates = |[tilt, speed, _]: [f64; 3]| {
        let (sin, cos) = tilt.sin_cos();
        let turn = (vertical - spin * cos) / (inertia * sin * sin);
        let torque = weight * sin - turn * (spin - vertical * cos) / sin;
        [speed, torque / inertia, turn]
    };
    let (mut y, h) = ([start, 0.0, 0.0], until / 20_000.0);
    let after = |y: [f64; 3], k: [f64; 3], h: f64| std::array::from_fn(|i| y[i] + h * k[i]);
    for _ in 0..20_000 {
        let a = rates(y);
        let b = rates(after(y, a, 0.5 * h));
        let c = rates(after(y, b, 0.5 * h));
        let d = rates(after(y, c, h));
        y = std::array::from_fn(|i| y[i] + h / 6.0 * (a[i] + 2.0 * b[i] + 2.0 * c[i] + d[i]));
    }
    (y[0], y[2])
}

/// A rod that slides too fast for any force: an impulse without collision stops its foot, and it flies.
#[test]
fn a_jammed_rod_is_stopped_by_an_impulse() {
    let text = plane(2.0, 0.0)
        + GROUND
        + "[[bodies]]\nname = \"rod\"\nmass = 1.0\ninertia = 0.3333333333333333\n\
           position = [0.5403023058681398, 0.8414709848078965]\nangle = 1.0\n\
           velocity = [-6.0, 0.1620906917604419]\nangular_velocity = 0.3\n\
           shapes = [{ kind = \"disk\", radius = 0.0, position = [-1.0, 0.0] }]\n";
    // the impulse P at the foot r stops it: v + P/m + (ω + r × P/I) × r = 0, as one linear system
    let (x, y, inertia) = (-1.0_f64.cos(), -1.0_f64.sin(), 1.0 / 3.0);
    let foot = [-6.0 - 0.3 * y, 0.162_090_691_760_441_9 + 0.3 * x];
    let [[a, b], [c, d]] =
        [[1.0 + y * y / inertia, -x * y / inertia], [-x * y / inertia, 1.0 + x * x / inertia]];
    let determinant = a * d - b * c;
    let impulse = [(b * foot[1] - d * foot[0]) / determinant, (c * foot[0] - a * foot[1]) / determinant];
    assert!(impulse[1] > 0.0 && impulse[0].abs() < 2.0 * impulse[1], "{impulse:?} is within the cone");
    let spin = 0.3 + (x * impulse[1] - y * impulse[0]) / inertia;
    let t = 0.3;
    let expected = [
        -x + t * (-6.0 + impulse[0]),
        -y + t * (0.162_090_691_760_441_9 + impulse[1]) - 0.5 * 9.81 * t * t,
        1.0 + t * spin,
    ];
    for accuracy in [1e-4, 1e-6, 1e-8] {
        // the state before the impulse lasts for one step of first order, of at most a hundredth of the accuracy
        assert_near(&run(&text, t, accuracy), &expected, accuracy);
    }
}

/// Rows of a guided box that lies on a capsule beside a wall are inconsistent by round-off alone.
#[test]
fn round_off_of_redundant_rows_proves_nothing() {
    let text = plane(0.439, 0.0)
        + GROUND
        + "[[bodies]]\nname = \"wall\"\nmotion = \"fixed\"\nposition = [-0.785, 0.0]\nangle_deg = -90.0\n\
           shapes = [{ kind = \"half_plane\" }]\n\
           [[bodies]]\nname = \"b0\"\ndensity = 100.0\nposition = [0.0, 0.088]\n\
           shapes = [{ kind = \"capsule\", half_length = 0.238, radius = 0.088 }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 100.0\nposition = [0.28, 0.391]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.302, 0.215] }]\n\
           [[joints]]\nname = \"j\"\nkind = \"prismatic\"\nbodies = [\"b0\", \"b1\"]\nat = [0.208, 0.338]\n\
           axis = [1.0, 0.0]\nfriction = 3.845\ncollide = true\n";
    let rest = [0.0, 0.088, 0.0, 0.28, 0.391, 0.0];
    for accuracy in [1e-4, 1e-8] {
        assert_near(&run(&text, 0.2, accuracy), &rest, 1e-15);
    }
    assert_near(&accurate_steps(&text, 0.05, 0.001), &rest, 1e-15);
    assert_near(&steps(&text, 0.05, 0.000_5, Scheme::default()), &rest, 1e-12);
}

/// A disk over the corner of a box that moves away, without friction and without ground: both fall.
#[test]
fn a_disk_leaves_the_corner_of_a_box() {
    let text = plane(0.0, 0.0)
        + "[[bodies]]\nname = \"b0\"\ndensity = 100.0\nposition = [0.0, 0.088]\nvelocity = [-0.57, 0.0]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.179, 0.088] }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 100.0\nposition = [0.179, 0.471]\nangle_deg = -90.964\n\
           shapes = [{ kind = \"disk\", radius = 0.295 }]\n";
    let fall = 0.5 * 9.81 * 0.49;
    let expected = [-0.57 * 0.7, 0.088 - fall, 0.0, 0.179, 0.471 - fall, -90.964_f64.to_radians()];
    for accuracy in [1e-4, 1e-8] {
        assert_near(&run(&text, 0.7, accuracy), &expected, 1e-12);
    }
    assert_near(&accurate_steps(&text, 0.7, 0.01), &expected, 1e-12);
}

/// A pinned box on a ground that is shaken below it: a corner without normal force does not stick.
#[test]
fn a_pinned_box_stays_on_a_shaken_ground() {
    let text = plane(0.644, 0.0)
        + "[[bodies]]\nname = \"ground\"\nmotion = \"kinematic\"\n\
           path = { position = [\"0.01*sin(23.981*t)\", 0.0] }\nshapes = [{ kind = \"half_plane\" }]\n\
           [[bodies]]\nname = \"b2\"\ndensity = 100.0\nposition = [2.263, 0.369]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.391, 0.369] }]\n\
           [[joints]]\nname = \"j\"\nkind = \"revolute\"\nbodies = [\"world\", \"b2\"]\nat = [2.305, 0.375]\n";
    for accuracy in [1e-4, 1e-8] {
        assert_near(&run(&text, 0.5, accuracy), &[2.263, 0.369, 0.0], 1e-15);
    }
    assert_near(&accurate_steps(&text, 0.5, 0.005), &[2.263, 0.369, 0.0], 1e-15);
}

/// A box falls beside a disk that rolls away: the corner that touches it hands over to the next. The numbers are those
/// of 500 to 2,000 steps of second order, extrapolated.
#[test]
fn a_corner_is_handed_over_once() {
    let text = plane(0.975, 0.0)
        + GROUND
        + "[[bodies]]\nname = \"b0\"\ndensity = 100.0\nposition = [0.0, 0.557]\nangle_deg = -12.781\n\
           shapes = [{ kind = \"disk\", radius = 0.309 }]\n\
           [[bodies]]\nname = \"b1\"\ndensity = 100.0\nposition = [0.309, 1.126]\n\
           shapes = [{ kind = \"rectangle\", half_extents = [0.109, 0.26] }]\n";
    let [coarse, fine] = [0.002, 0.001].map(|h| accurate_steps(&text, 1.0, h));
    let extrapolated: Vec<f64> = coarse.iter().zip(&fine).map(|(a, b)| b + (b - a) / 3.0).collect();
    for accuracy in [1e-4, 1e-6, 1e-8] {
        assert_near(&run(&text, 1.0, accuracy), &extrapolated, (10.0 * accuracy).max(1e-7));
    }
}

/// First root of a function that is positive after `t`, by steps of 1 ms and bisection; `end` if there is none before.
fn first_root(value: impl Fn(f64) -> f64, t: f64, end: f64) -> f64 {
    let mut high = t + 1e-3;
    while value(high) > 0.0 {
        if high >= end {
            return end;
        }
        high += 1e-3;
    }
    let mut low = high - 1e-3;
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if value(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    high.min(end)
}

/// A block on a belt of speed 2 sin 3t slips, sticks once and slips back and forth: parabolas between the events.
#[test]
fn slip_reversals_are_located_to_round_off() {
    let text = plane(0.3, 0.0)
        + "[[bodies]]\nname = \"belt\"\nmotion = \"kinematic\"\nposition = [0.0, -0.05]\n\
           path = { position = [\"2/3*(1-cos(3*t))\", 0.0] }\n\
           shapes = [{ kind = \"rectangle\", half_extents = [20.0, 0.05] }]\n\
           [[bodies]]\nname = \"block\"\nmotion = \"point\"\nmass = 1.0\nposition = [0.0, 0.1]\n\
           shapes = [{ kind = \"disk\", radius = 0.1 }]\n";
    let (friction, end) = (0.3 * 9.81, 5.0);
    let belt = |t: f64| [2.0 / 3.0 * (1.0 - (3.0 * t).cos()), 2.0 * (3.0 * t).sin(), 6.0 * (3.0 * t).cos()];
    let (mut t, mut x, mut v, mut events) = (0.0_f64, 0.0, 0.0, 0);
    while t < end {
        if belt(t)[2].abs() < friction {
            let until = first_root(|s| friction - belt(s)[2].abs(), t, end);
            (t, x, v) = (until, x + belt(until)[0] - belt(t)[0], belt(until)[1]);
        }
        // friction is along the acceleration of the belt, until the speeds are equal
        let force = friction * belt(t)[2].signum();
        let until = first_root(|s| (belt(s)[1] - v - force * (s - t)) * force, t, end);
        (x, v) = (x + (until - t) * (v + 0.5 * force * (until - t)), v + force * (until - t));
        (t, events) = (until, events + 1);
    }
    assert_eq!(events, 6, "slips");
    for accuracy in [1e-4, 1e-6, 1e-8] {
        // the error of the one step in which the block sticks; that of a reversal shows at all accuracies
        assert_near(&run(&text, end, accuracy)[..1], &[x], 1e-10);
    }
}
