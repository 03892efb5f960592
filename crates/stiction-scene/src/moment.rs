//! The moment a run starts at, where a file gives it by itself.

use crate::node::Node;
use crate::read::Reader;
use stiction::{Model, State};

/// How far the norm of a quaternion may be from 1.
const TURN: f64 = 1e-6;

/// The moment that a file gives.
pub(crate) fn read(root: &Reader) -> Option<State> {
    let table = root.table("state")?;
    let numbers = |key: &str| table.list(key).iter().filter_map(Node::number).collect();
    let (q, v) = (numbers("coordinates"), numbers("velocities"));
    Some(State { t: table.number("time")?, q, v, ..State::default() })
}

/// What is wrong with a moment of a model, if anything: the key and why.
pub(crate) fn mistake(model: &Model, given: &State) -> Option<(&'static str, String)> {
    let own = model.state();
    for (key, given, own) in
        [("coordinates", given.q.len(), own.q.len()), ("velocities", given.v.len(), own.v.len())]
    {
        if given != own {
            return Some((key, format!("the bodies have {own} {key}, not {given}")));
        }
    }
    model.body_ids().into_iter().find_map(|body| {
        let name = model.body_name(body)?;
        // as it is written: a pose would be made a unit again
        let turn = model.coordinates(body).filter(|range| range.len() == 7)?;
        let norm = given.q[turn.start + 3..turn.end].iter().map(|x| x * x).sum::<f64>().sqrt();
        let wrong = !((norm - 1.0).abs() <= TURN);
        wrong.then(|| ("coordinates", format!("the quaternion of `{name}` has the norm {norm}, not 1")))
    })
}
