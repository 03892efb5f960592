//! Steps of a shipped scene that are made as halves: their reports, their evidence and its verification.

use stiction::{Evidence, Scheme, Simulation, State, StepReport, SubstepRecord, System, verify};
use stiction_lcp::{Chain, Method, Trial};
use stiction_scene::{Model, Scene};

/// First step of the tumbling drum that is made as halves: the state before it, after it, and its report.
fn halved_step() -> (Model, Scheme, [State; 2], StepReport) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenes/drum.toml");
    let scene = Scene::from_bytes(&std::fs::read(path).unwrap(), path).unwrap().build().unwrap();
    // methods that do not solve every step of this scene
    let trials = [
        Trial::Warm(16),
        Trial::Interior(1e-6, 50),
        Trial::Interior(1e-11, 80),
        Trial::Path(1.0, 200),
        Trial::Path(10.0, 200),
    ];
    let solver = Method::Chain(Chain::new(&trials, 1000)).into();
    let scheme = Scheme { solver, ..Scheme::ah04().post_stabilized(6) };
    let mut simulation = Simulation::from_state(scene.model, scene.state).with_scheme(scheme);
    let mut report = StepReport { evidence: Some(Evidence::default()), ..StepReport::default() };
    for _ in 0..1200 {
        let before = simulation.state().clone();
        simulation.step_into(scene.h, &mut report).unwrap();
        if report.work.halvings > 0 {
            let after = simulation.state().clone();
            return (simulation.system().clone(), scheme, [before, after], report);
        }
    }
    panic!("no step was halved");
}

#[test]
fn a_step_made_as_halves_balances_its_momentum_and_is_verified() {
    let (model, scheme, [before, after], report) = halved_step();
    assert_eq!((report.t, report.h), (before.t + report.h, 0.005));
    assert_eq!((report.work.loose, after.t), (0, report.t));
    assert!(report.certificate.passes(scheme.solver.tolerance));

    // the sum of the impulses on all blocks is the change of their momentum, beside gravity
    let momentum = |state: &State| model.momentum(&state.q, &state.v).0;
    let (p, p_after) = (momentum(&before), momentum(&after));
    let drum = model.find_body("drum").unwrap();
    let mut sum = [0.0; 3];
    for contact in &report.contacts {
        let impulse: [f64; 3] =
            std::array::from_fn(|k| contact.normal_impulse * contact.normal[k] + contact.friction_impulse[k]);
        let sign = match contact.bodies.map(|body| body == drum) {
            [true, false] => 1.0,
            [false, true] => -1.0,
            _ => 0.0,
        };
        (0..3).for_each(|k| sum[k] += sign * impulse[k]);
    }
    let weight = 12.0 * 0.5 * 9.81 * report.h;
    // normals turn with the drum between the halves, by 120° in a second
    let turned = 120_f64.to_radians() * report.h * weight;
    for k in 0..3 {
        let gravity = if k == 2 { weight } else { 0.0 };
        let rest = p_after[k] - p[k] - sum[k] + gravity;
        assert!(rest.abs() <= 10.0 * turned, "{k}: {rest:e}");
    }
    let verdict = verify(&model, &scheme, &before, &after, &report);
    assert!(verdict.holds(), "{:?}", verdict.findings);
}

/// Records of the partial steps.
fn parts(report: &mut StepReport) -> &mut Vec<SubstepRecord> {
    &mut report.evidence.as_mut().unwrap().substeps
}

#[test]
fn forged_halves_are_found() {
    let (model, scheme, [before, after], report) = halved_step();
    let found = |scheme: &Scheme, after: &State, report: &StepReport| {
        let verdict = verify(&model, scheme, &before, after, report);
        verdict.findings.iter().map(|finding| finding.place.clone()).collect::<Vec<_>>().join("; ")
    };
    let never = Scheme { halvings: 0, ..scheme };
    assert!(found(&never, &after, &report).contains("are no halves"), "{}", found(&never, &after, &report));

    let mut forged = report.clone();
    parts(&mut forged).pop();
    assert!(found(&scheme, &after, &forged).contains("are no halves"));

    let mut forged = report.clone();
    forged.contacts[0].normal_impulse *= 1.001;
    assert!(found(&scheme, &after, &forged).contains("not that of its partial steps"));

    let mut forged = report.clone();
    let SubstepRecord::PartialStep { report: part, .. } = &mut parts(&mut forged)[1] else {
        panic!("a part")
    };
    let loaded = part.contacts.iter().position(|c| c.normal_impulse > 1e-3).unwrap();
    part.contacts[loaded].normal_impulse *= 1.001;
    assert!(found(&scheme, &after, &forged).contains("partial step 1: "));

    let mut forged = report.clone();
    let SubstepRecord::PartialStep { state, .. } = &mut parts(&mut forged)[0] else { panic!("a part") };
    state.v[0] += 1e-3;
    assert!(found(&scheme, &after, &forged).contains("partial step 0: v⁺"));

    let mut moved = after.clone();
    moved.q[7] += 1e-6;
    assert!(found(&scheme, &moved, &report).contains("not that after its last partial step"));

    let mut forged = report.clone();
    let whole = parts(&mut forged).clone();
    let SubstepRecord::PartialStep { report: part, .. } = &mut parts(&mut forged)[0] else {
        panic!("a part")
    };
    part.evidence.as_mut().unwrap().substeps = whole;
    assert!(found(&scheme, &after, &forged).contains("made of partial steps itself"));
}
