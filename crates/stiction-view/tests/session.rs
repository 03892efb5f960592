//! Live session: commands are executed or refused with a message, and undo restores states.

use std::time::Duration;
use stiction_scene::Scene;
use stiction_view::{Command, CommandReply, Session};

const TOWER: &str = r#"
    format = 1
    dimension = 2
    title = "tower"
    run = { duration = 1.0, step = 0.01 }
    bodies = [
        { name = "ground", motion = "fixed", shapes = [{ kind = "half_plane" }] },
        { name = "box", density = 100.0, position = [0.0, 0.1], shapes = [{ kind = "rectangle", half_extents = [0.1, 0.1] }], copies = { count = 3, offset = [0.0, 0.2] } },
    ]
"#;

const PILE: &str = r#"
    format = 1
    dimension = 3
    run = { duration = 1.0, step = 0.01 }
    bodies = [
        { name = "floor", motion = "fixed", shapes = [{ kind = "half_space" }] },
        { name = "ball", density = 100.0, position = [0.0, 0.0, 0.1], shapes = [{ kind = "sphere", radius = 0.1 }] },
    ]
"#;

fn session(text: &str) -> Session {
    Session::new(&Scene::from_toml(text, "test.toml").unwrap()).unwrap()
}

fn command(text: &str) -> Command {
    Command::read(text).unwrap()
}

/// Runs for a simulated time [s].
fn run(session: &mut Session, time: f64) {
    session.execute(&command(r#"{"command":"play"}"#)).unwrap();
    let end = session.state().t + time;
    while session.state().t < end - 1e-9 {
        session.advance(0.01, Duration::from_secs(10)).unwrap();
    }
    session.execute(&command(r#"{"command":"pause"}"#)).unwrap();
}

fn place(session: &Session, name: &str) -> [f64; 3] {
    let model = session.model();
    model.centre(session.state(), model.find_body(name).unwrap()).unwrap()
}

#[test]
fn a_grabbed_body_follows_the_cursor() {
    for (text, name, index, grip, target) in [
        (TOWER, "box[2]", 3, "[0.0, 0.55]", "[0.3, 0.7]"),
        (PILE, "ball", 1, "[0.0, 0.0, 0.1]", "[0.4, 0.3, 0.5]"),
    ] {
        let mut session = session(text);
        let shown = &session.description().bodies;
        let index = shown.iter().position(|b| b.name == name).unwrap_or(index);
        session.execute(&command(&format!(r#"{{"command":"grab","body":{index},"point":{grip}}}"#))).unwrap();
        let before = place(&session, name);
        session.execute(&command(&format!(r#"{{"command":"move","target":{target}}}"#))).unwrap();
        run(&mut session, 1.5);
        let held = place(&session, name);
        let moved = (0..3).map(|i| (held[i] - before[i]).powi(2)).sum::<f64>().sqrt();
        assert!(moved > 0.25, "{name} moved by {moved} m");
        // after its release it falls
        session.execute(&command(r#"{"command":"release"}"#)).unwrap();
        run(&mut session, 1.0);
        let d = session.model().dimension();
        assert!(place(&session, name)[d - 1] < held[d - 1] - 0.1);
    }
}

#[test]
fn undo_restores_a_state_bit_by_bit_and_reset_the_start() {
    let mut session = session(TOWER);
    session.execute(&command(r#"{"command":"friction","value":0.2}"#)).unwrap();
    run(&mut session, 0.2);
    let (then, settings) = (session.state().clone(), session.status());
    run(&mut session, 0.1);
    let after = session.state().clone();
    session.execute(&command(r#"{"command":"drop","shape":"ball","at":[0.05,2.0],"size":0.1}"#)).unwrap();
    session.execute(&command(r#"{"command":"step_size","value":0.002}"#)).unwrap();
    assert!(session.description().bodies.iter().any(|body| body.name == "dropped ball 1"));
    run(&mut session, 0.3);
    let undo = format!(r#"{{"command":"undo","time":{}}}"#, then.t);
    session.execute(&command(&undo)).unwrap();
    assert_eq!(session.state(), &then);
    assert_eq!((session.status().h, session.status().friction), (settings.h, Some(0.2)));
    run(&mut session, 0.1);
    assert_eq!(session.state(), &after, "the same again");
    session.execute(&command(r#"{"command":"reset"}"#)).unwrap();
    assert_eq!(session.state().t, 0.0);
    assert_eq!(session.status().friction, Some(0.5));
    assert!(session.execute(&command(r#"{"command":"undo","time":-1.0}"#)).is_err());
}

#[test]
fn changes_are_taken_back_one_by_one_also_at_the_same_time() {
    let mut session = session(TOWER);
    run(&mut session, 0.1);
    let then = session.state().clone();
    for text in [
        r#"{"command":"drop","shape":"ball","at":[0.05,2.0],"size":0.1}"#,
        r#"{"command":"friction","value":0.2}"#,
        r#"{"command":"drop","shape":"box","at":[0.5,2.0],"size":0.1}"#,
    ] {
        session.execute(&command(text)).unwrap();
    }
    run(&mut session, 0.1);
    let back = command(r#"{"command":"take_back"}"#);
    let bodies = |session: &Session| session.description().bodies.len();
    session.execute(&back).unwrap();
    assert_eq!((bodies(&session), session.status().friction), (5, Some(0.2)));
    assert_eq!(session.state().t, then.t);
    session.execute(&back).unwrap();
    assert_eq!((bodies(&session), session.status().friction), (5, Some(0.5)));
    session.execute(&back).unwrap();
    assert_eq!(bodies(&session), 4);
    assert_eq!(session.state(), &then);
    let error = session.execute(&back).unwrap_err().to_string();
    assert_eq!(error, "there is no change to take back");
}

#[test]
fn the_past_is_thinned_out_to_a_size_and_ends_now() {
    let mut session = session(TOWER);
    run(&mut session, 0.5);
    let all = session.past(usize::MAX);
    let times = |frames: &[(std::sync::Arc<stiction_view::Description>, std::sync::Arc<[u8]>)]| {
        let time = |frame: &[u8]| f64::from_le_bytes(frame[8..16].try_into().unwrap());
        frames.iter().map(|(_, frame)| time(frame)).collect::<Vec<f64>>()
    };
    assert!(all.len() >= 50, "{} frames", all.len());
    assert_eq!((times(&all)[0], *times(&all).last().unwrap()), (0.0, session.state().t));
    let bytes: usize = all.iter().map(|(_, frame)| frame.len()).sum();
    let few = session.past(bytes / 3);
    assert!(few.len() <= all.len() / 3, "{} of {}", few.len(), all.len());
    assert_eq!(*times(&few).last().unwrap(), session.state().t);
}

#[test]
fn settings_are_accepted_or_refused_with_a_message() {
    let mut session = session(TOWER);
    for (text, words) in [
        (r#"{"command":"friction","value":-1}"#, "must be finite and not negative"),
        (r#"{"command":"restitution","value":2}"#, "must lie between 0 and 1"),
        (r#"{"command":"step_size","value":0}"#, "the step size [s] must be"),
        (r#"{"command":"speed","value":-3}"#, "the speed must be above 0"),
        (r#"{"command":"gamma","value":1.5}"#, "γ must be"),
        (r#"{"command":"scheme","name":"magic"}"#, "unknown scheme `magic`"),
        (r#"{"command":"grab","body":99,"point":[0,0]}"#, "there is no body 99"),
        (r#"{"command":"grab","body":0,"point":[0,0]}"#, "ground does not move and cannot be pulled"),
        (r#"{"command":"grab","body":1,"point":[0,0,0]}"#, "expected a point of 2 finite numbers"),
        (r#"{"command":"drop","shape":"box","at":[0,1],"size":1e9}"#, "the size [m] must be"),
    ] {
        let before = (session.state().clone(), session.status());
        let error = session.execute(&command(text)).unwrap_err().to_string();
        assert!(error.contains(words), "{text}: {error}");
        assert_eq!((session.state().clone(), session.status()), before, "{text} changed something");
    }
    for text in [
        "",
        "{",
        "[]",
        "null",
        r#"{"command":"fly"}"#,
        r#"{"command":"play","fast":true}"#,
        r#"{"command":"speed","value":1e999}"#,
    ] {
        assert!(Command::read(text).is_err(), "{text}");
    }
    session.execute(&command(r#"{"command":"scheme","name":"ah04"}"#)).unwrap();
    session.execute(&command(r#"{"command":"gamma","value":0.5}"#)).unwrap();
    assert_eq!(session.status().gamma, Some(0.5));
    assert_eq!(session.execute(&command(r#"{"command":"stabilize","on":false}"#)), Ok(CommandReply::Done));
    assert_eq!(session.status().gamma, None);
}

#[test]
fn dropped_bodies_find_room() {
    let mut session = session(PILE);
    for _ in 0..4 {
        session.execute(&command(r#"{"command":"drop","shape":"box","at":[0,0,0.1],"size":0.1}"#)).unwrap();
    }
    let names: Vec<_> = session.description().bodies.iter().map(|b| b.name.clone()).collect();
    assert!(names.contains(&"dropped box 4".to_string()), "{names:?}");
    run(&mut session, 2.0);
    for name in names.iter().filter(|name| name.starts_with("dropped")) {
        let height = place(&session, name)[2];
        assert!((0.05..1.0).contains(&height), "{name} is {height} m above the floor");
    }
}

#[test]
fn a_saved_scene_continues_like_the_run() {
    for (text, at) in [(TOWER, "[0.05,1.0]"), (PILE, "[0.05,0.0,0.6]")] {
        let mut first = session(text);
        for command in [
            format!(r#"{{"command":"drop","shape":"box","at":{at},"size":0.1}}"#),
            r#"{"command":"friction","value":0.3}"#.to_string(),
            r#"{"command":"scheme","name":"ah04"}"#.to_string(),
            r#"{"command":"gamma","value":0.5}"#.to_string(),
            r#"{"command":"step_size","value":0.005}"#.to_string(),
        ] {
            first.execute(&Command::read(&command).unwrap()).unwrap();
        }
        run(&mut first, 0.2);
        let Ok(CommandReply::Scene(text)) = first.execute(&command(r#"{"command":"save"}"#)) else {
            panic!("no scene")
        };
        let mut second = session(&text);
        assert_eq!((&second.state().q, &second.state().v), (&first.state().q, &first.state().v));
        assert_eq!(second.status().h, 0.005);
        assert_eq!(second.status().friction, Some(0.3));
        assert_eq!(second.status().gamma, Some(0.5));
        // the warm start is not saved: equal to the tolerance of the solver
        run(&mut first, 0.2);
        run(&mut second, 0.2);
        for (a, b) in first.state().q.iter().zip(&second.state().q) {
            assert!((a - b).abs() < 1e-6, "{a} and {b}");
        }
    }
}

#[test]
fn a_start_state_that_does_not_fit_its_scene_is_refused_with_its_line() {
    let wrong = |q: &str, v: &str| {
        let text = format!("{PILE}\nstate = {{ time = 1.0, coordinates = {q}, velocities = {v} }}\n");
        Scene::from_toml(&text, "test.toml").unwrap().build().unwrap_err().to_string()
    };
    let still = "[0, 0, 0, 0, 0, 0]";
    assert!(
        wrong("[0, 0, 1]", still).contains("expected 7 coordinates for the bodies of this scene, found 3"),
        "{}",
        wrong("[0, 0, 1]", still)
    );
    assert!(wrong("[0, 0, 1, 1, 0, 0, 0]", "[0]").contains("expected 6 velocities"));
    let turned = wrong("[0, 0, 1, 2, 0, 0, 0]", still);
    assert!(
        turned.contains("the quaternion of `ball` must have norm 1, found 2")
            && turned.contains("test.toml:10"),
        "{turned}"
    );
}
