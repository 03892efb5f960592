//! Couplings, joint coordinates, sensors, formulas of the run and tables over time of scene files.

use crate::{PLANE, SPACE, built, errors};
use stiction::spatial::JointKind;
use stiction::{Scheme, Simulation, StepReport};
use stiction_scene::{BuiltScene, Measure, Model, Sample, Signal};

/// Wheels on hinges `axle[0]` to `axle[4]` and a bar on the rail `track`, without gravity.
const WHEELS: &str = r#"
world = { gravity = [0.0, 0.0] }

[[bodies]]
name = "wheel"
mass = 1.0
inertia = 0.1
copies = { count = 5, offset = [0.3, 0.0] }

[[bodies]]
name = "bar"
mass = 2.0
inertia = 0.1
position = [0.0, 1.0]

[[joints]]
name = "axle"
kind = "revolute"
bodies = ["world", "wheel[i]"]
at = [0.0, 0.0]
copies = { count = 5, offset = [0.3, 0.0] }

[[joints]]
name = "track"
kind = "prismatic"
bodies = ["world", "bar"]
at = [0.0, 1.0]
axis = [1.0, 0.0]
"#;

fn wheels(text: &str) -> String {
    format!("{PLANE}{WHEELS}{text}")
}

/// Sums Σ aᵢ qᵢ that the couplings of a scene keep, with their names, as text.
fn sums(text: &str) -> Vec<String> {
    let Model::Planar(model) = built(&wheels(text)).model else { panic!("not in the plane") };
    let name = |id| model.world().joint(id).map_or("", |joint| joint.name.as_str());
    let sum = |(_, coupling): (_, &stiction::Coupling)| {
        let terms = coupling.terms.iter().map(|(id, factor)| format!("{factor:.4} {}", name(id.joint)));
        let terms = terms.collect::<Vec<_>>().join(" + ");
        format!("{}: {terms} = {} ± {}", coupling.name, coupling.offset, 0.5 * coupling.backlash)
    };
    model.world().couplings().map(sum).collect()
}

#[test]
fn couplings_of_every_kind_are_their_sums() {
    let one = |text: &str| sums(&format!("[[couplings]]\n{text}")).remove(0);
    let two = "joints = [\"axle[0]\", \"axle[1]\"]";
    assert_eq!(
        one(&format!("kind = \"gears\"\nname = \"mesh\"\n{two}\nteeth = [20, 60]\nbacklash = 0.2")),
        "mesh: 20.0000 axle[0] + 60.0000 axle[1] = 0 ± 0.1"
    );
    assert_eq!(
        one(&format!("kind = \"gears\"\n{two}\nteeth = [20, 60]\ninternal = true")),
        "c0: 20.0000 axle[0] + -60.0000 axle[1] = 0 ± 0"
    );
    assert_eq!(
        one(&format!("kind = \"belt\"\n{two}\nradii = [0.1, 0.2]")),
        "c0: 0.1000 axle[0] + -0.2000 axle[1] = 0 ± 0"
    );
    assert_eq!(
        one(&format!("kind = \"belt\"\n{two}\nradii = [0.1, 0.2]\ncrossed = true")),
        "c0: 0.1000 axle[0] + 0.2000 axle[1] = 0 ± 0"
    );
    let rack = "joints = [\"track\", \"axle[0]\"]";
    assert_eq!(
        one(&format!("kind = \"rack\"\n{rack}\nradius = 0.05")),
        "c0: 1.0000 track + -0.0500 axle[0] = 0 ± 0"
    );
    assert_eq!(
        one(&format!("kind = \"screw\"\n{rack}\npitch = -0.628318530718\noffset = 0.5")),
        "c0: 1.0000 track + 0.1000 axle[0] = 0.5 ± 0"
    );
    assert_eq!(one(&format!("kind = \"mimic\"\n{two}")), "c0: 1.0000 axle[0] + -1.0000 axle[1] = 0 ± 0");
    let three = "joints = [\"axle[0]\", \"axle[1]\", \"axle[2]\"]";
    assert_eq!(
        one(&format!("kind = \"differential\"\n{three}")),
        "c0: -2.0000 axle[0] + 1.0000 axle[1] + 1.0000 axle[2] = 0 ± 0"
    );
    assert_eq!(
        one(&format!("kind = \"planetary\"\n{three}\nteeth = [20, 50]")),
        "c0: 20.0000 axle[0] + 50.0000 axle[1] + -70.0000 axle[2] = 0 ± 0"
    );
    let all = sums(
        "[[couplings]]\nkind = \"linear\"\nname = \"chain\"\nterms = [{ joint = \"axle[i]\", factor = 2.0 }, { joint = \
         \"axle[i+1]\", factor = -1.0 }]\ncopies = { count = 2 }",
    );
    let expected = [
        "chain[0]: 2.0000 axle[0] + -1.0000 axle[1] = 0 ± 0",
        "chain[1]: 2.0000 axle[1] + -1.0000 axle[2] = 0 ± 0",
    ];
    assert_eq!(all, expected);
}

#[test]
fn mistakes_of_machines_are_found_at_their_lines() {
    let only = |text: &str, parts: &[&str], key: &str| {
        let found = errors(&wheels(text)).0;
        assert_eq!(found.len(), 1, "{found:?}");
        let shown = found[0].to_string();
        assert_eq!(found[0].key, key, "{shown}");
        parts.iter().for_each(|part| assert!(shown.contains(part), "{shown}"));
    };
    let gears = |joints: &str| format!("[[couplings]]\nkind = \"gears\"\nteeth = [1, 2]\njoints = {joints}");
    only(
        &gears("[\"axle[0]\", \"axel[1]\"]"),
        &["there is no joint `axel[1]`", "did you mean `axle[1]`?"],
        "couplings[0].joints[1]",
    );
    only("[[couplings]]\nkind = \"gear\"", &["gears"], "couplings[0].kind");
    only(
        &format!(
            "{}\n{}\noffset = 1.0",
            gears("[\"axle[0]\", \"axle[1]\"]"),
            gears("[\"axle[0]\", \"axle[1]\"]")
        ),
        &["infeasible: couplings c0 set the same sum", "bodies wheel[0], wheel[1]"],
        "couplings[1]",
    );
    let sensor = |value: &str| format!("[[sensors]]\nname = \"s\"\nvalue = \"{value}\"");
    only(
        &sensor("torqe(track)"),
        &["there is no quantity, joint or sensor `torqe`", "`torque`"],
        "sensors[0].value",
    );
    only(&sensor("force(bar, baar)"), &["there is no body `baar`; did you mean `bar`?"], "sensors[0].value");
    only(&sensor("x(bar, 1)"), &["a point of 2 numbers"], "sensors[0].value");
    only(&sensor("angle('axle[0]', 1)"), &["joint `axle[0]` has no coordinate 1"], "sensors[0].value");
    only(&sensor("angle('axle[0]"), &["does not end"], "sensors[0].value");
    let table = "[[joints]]\nname = \"own\"\nkind = \"prismatic\"\nbodies = [\"world\", \"bar\"]\nat = [0.0, 1.0]\naxis = [1.0, \
                 0.0]\nmotor = { kind = \"torque\", torque = { times = [0.0, 2.0, 1.0], values = [0, 1, 2] } }";
    only(table, &["the times must ascend: 2 s comes before 1 s"], "joints[2].motor.torque.times");
}

/// Steps of a scene with its controllers, as a run makes them.
fn run(scene: &BuiltScene, steps: usize) -> Simulation<Model> {
    let mut simulation =
        Simulation::from_state(scene.model.clone(), scene.state.clone()).with_scheme(Scheme::ah04());
    let mut last: Option<(stiction::State, StepReport)> = None;
    for _ in 0..steps {
        let known = last.as_ref().map(|(before, report)| (before, report));
        scene.controls.apply(&mut simulation, known).unwrap();
        let before = simulation.state().clone();
        last = Some((before, simulation.step(0.01).unwrap()));
    }
    simulation
}

/// Formulas of quantities are taken from the last step: the recurrence v ← v + h k (1 − v)/m of a speed controller.
#[test]
fn a_formula_of_a_motor_takes_the_last_step() {
    let motor = |every: &str| {
        format!(
            "{PLANE}{}\nmotor = {{ kind = \"torque\", torque = \"4*(1 - speed(track))*step(t - 0.05)\"{every} }}\n",
            WHEELS.trim_end()
        )
    };
    let speed = |every: &str, steps: usize| {
        let scene = built(&motor(every));
        let simulation = run(&scene, steps);
        let joint = simulation.system().find_joint("track").unwrap();
        simulation.system().joint_speed(simulation.state(), joint).unwrap()
    };
    let (mut exact, mut slow) = (0.0, 0.0);
    let mut held = 0.0;
    for k in 0..20 {
        let on = if k >= 5 { 1.0 } else { 0.0 };
        exact += 0.01 * 4.0 * (1.0 - exact) * on / 2.0;
        if k % 4 == 0 {
            held = 4.0 * (1.0 - slow) * on;
        }
        slow += 0.01 * held / 2.0;
    }
    assert!((speed("", 20) - exact).abs() < 1e-12, "{} m/s, not {exact}", speed("", 20));
    assert!(
        (speed(", every = 0.04", 20) - slow).abs() < 1e-12,
        "{} m/s, not {slow}",
        speed(", every = 0.04", 20)
    );
}

/// Formulas in forces, inputs of forces, and a sensor that others use.
#[test]
fn forces_have_inputs_and_formulas() {
    let text = "[[sensors]]\nname = \"lead\"\nvalue = \"x(bar) + 2\"\n[[forces]]\nname = \"pull\"\nbody = \"bar\"\nforce = \
                [\"3*lead\", 0.0]\n[[forces]]\nbody = \"bar\"\nforce = [4.0, 0.0]\ninput = \"gust\"\n";
    let scene = built(&wheels(text));
    assert_eq!(scene.model.input_names(), ["pull.x", "gust"]);
    let mut simulation = run(&scene, 1);
    let joint = simulation.system().find_joint("track").unwrap();
    let speed = |s: &Simulation<Model>| s.system().joint_speed(s.state(), joint).unwrap();
    assert!((speed(&simulation) - 0.01 * (6.0 + 4.0) / 2.0).abs() < 1e-13);
    simulation.set("gust", -1.0).unwrap();
    simulation.step(0.01).unwrap();
    assert!((speed(&simulation) - 0.05 - 0.01 * (6.0 - 4.0) / 2.0).abs() < 1e-13);
}

#[test]
fn a_controller_that_is_not_finite_is_refused_by_the_name_of_its_input() {
    let text = format!(
        "{PLANE}{}\nmotor = {{ kind = \"torque\", torque = \"1/(0.02 - t)*sqrt(0.015 - t + 0*speed(track))\" }}\n",
        WHEELS.trim_end()
    );
    let scene = built(&text);
    let mut simulation = run(&scene, 2);
    let before = simulation.state().clone();
    let report = StepReport::default();
    let error = scene.controls.apply(&mut simulation, Some((&before, &report))).unwrap_err();
    assert!(error.to_string().contains("track"), "{error}");
    assert_eq!(simulation.state(), &before);
}

/// Smooth step and lines over time, against their closed forms.
#[test]
fn tables_prescribe_motions() {
    let path = |interpolation: &str| {
        format!(
            "{PLANE}[[bodies]]\nname = \"shaker\"\nmotion = \"kinematic\"\npath = {{ position = [{{ times = [1.0, 3.0], values = \
             [0.0, 0.5]{interpolation} }}, 0.0] }}\nshapes = [{{ kind = \"disk\", radius = 0.1 }}]\n[[bodies]]\nname = \
             \"ball\"\ndensity = 1.0\nposition = [0, 9]\nshapes = [{{ kind = \"disk\", radius = 0.1 }}]\n"
        )
    };
    for (interpolation, at) in [
        ("", (|s: f64| [0.5 * s * s * (3.0 - 2.0 * s), 0.5 * 3.0 * s * (1.0 - s)]) as fn(f64) -> [f64; 2]),
        (", interpolation = \"linear\"", |s: f64| [0.5 * s, 0.25]),
    ] {
        let model = built(&path(interpolation)).model;
        let body = model.find_body("shaker").unwrap();
        for t in [0.5, 1.25, 2.0, 2.9, 3.5] {
            let state = stiction::State { t, ..model.state() };
            let s = 0.5 * (t - 1.0);
            let [x, v] = if s < 0.0 {
                [0.0; 2]
            } else if s > 1.0 {
                [0.5, 0.0]
            } else {
                at(s)
            };
            let found = [model.centre(&state, body).unwrap()[0], model.velocity(&state, body).unwrap().0[0]];
            assert!((found[0] - x).abs() < 1e-14 && (found[1] - v).abs() < 1e-14, "{t} s: {found:?}");
        }
    }
}

#[test]
fn joints_have_coordinates_of_their_own() {
    let text = r#"
        bodies = [{ name = "arm", mass = 1.0, inertia = [1.0, 1.0, 1.0] }, { name = "nut", mass = 1.0, inertia = [1.0, 1.0, 1.0] }]
        [[joints]]
        name = "socket"
        kind = "spherical"
        bodies = ["world", "arm"]
        at = [0.0, 0.0, 0.0]
        coordinates = [{ limits_deg = [0.0, 30.0] }, { motor = { kind = "torque", torque = 2.0 }, friction = 0.5 }]
        [[joints]]
        name = "thread"
        kind = "screw"
        bodies = ["world", "nut"]
        at = [0.0, 0.0, 0.0]
        axis = [0.0, 0.0, 1.0]
        pitch = 0.02
    "#;
    let scene = built(&format!("{SPACE}{text}"));
    assert_eq!(scene.model.input_names(), ["socket.1"]);
    let Model::Spatial(model) = scene.model else { panic!("not in space") };
    let joint = |name| model.world().joint(model.world().find_joint(name).unwrap()).unwrap();
    assert_eq!(joint("socket").limits, Some([0.0, 30_f64.to_radians()]));
    assert_eq!(joint("socket").further[0].friction, 0.5);
    assert_eq!(joint("thread").kind, JointKind::Screw(0.02));
    let many = text.replace("friction = 0.5 }", "friction = 0.5 }, {}");
    assert!(
        errors(&format!("{SPACE}{many}")).to_string().contains("a spherical joint has 2 coordinates, not 3")
    );
    let without = text.replace("pitch = 0.02", "");
    assert!(errors(&format!("{SPACE}{without}")).to_string().contains("missing key `pitch`"));
}

/// Signals and measures of a moving bar, against its closed form.
#[test]
fn signals_and_measures_have_their_values() {
    let scene = built(&wheels("[[forces]]\nbody = \"bar\"\nforce = [4.0, 0.0]\n"));
    let BuiltScene { model, sensors, .. } = &scene;
    let signal = |text: &str| Signal::parse(text, model, sensors).unwrap();
    let signals = ["x(bar, 0.5, 0)", "ax(bar)", "2*speed(track) + 1e1", "kinetic", "track - t", "vx(bar)^2"]
        .map(signal);
    let mut measures =
        ["max(x(bar))", "mean(vx(bar))", "integral(vx(bar))", "first(t)", "last(2*t)", "min(ax(bar))"]
            .map(|text| Measure::parse(text, model, sensors).unwrap());
    let mut simulation =
        Simulation::from_state(model.clone(), scene.state.clone()).with_scheme(Scheme::accurate());
    let start = scene.state.clone();
    measures.iter_mut().for_each(|measure| {
        measure.add(&Sample { model, before: None, state: &start, report: None });
    });
    for _ in 0..10 {
        let before = simulation.state().clone();
        let report = simulation.step(0.1).unwrap();
        let sample =
            Sample { model, before: Some(&before), state: simulation.state(), report: Some(&report) };
        let t = simulation.state().t;
        // 4 N on 2 kg
        let exact = [0.5 + t * t, 2.0, 4.0 * t + 10.0, 4.0 * t * t, t * t - t, 4.0 * t * t];
        for (signal, exact) in signals.iter().zip(exact) {
            let value = signal.at(&sample);
            assert!((value - exact).abs() < 1e-10, "{}: {value}, not {exact}", signal.text());
        }
        measures.iter_mut().for_each(|measure| measure.add(&sample));
    }
    for (measure, exact) in measures.iter().zip([1.0, 1.0, 1.0, 0.0, 2.0, 2.0]) {
        assert!((measure.value() - exact).abs() < 1e-10, "{}: {}", measure.text(), measure.value());
    }
    assert_eq!(signals[0].unit(), Some("m"));
    assert_eq!(signals[2].unit(), None);
    assert!(Measure::parse("x(bar)", model, sensors).unwrap_err().contains("max, min, mean"));
}
