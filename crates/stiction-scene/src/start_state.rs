//! Start state of a run, for files with a table `state`, as the page saves them.

use crate::node::Node;
use crate::read::Reader;
use stiction::{Model, State};

/// Largest |norm − 1| of a quaternion. Smaller refuses quaternions written with six digits; larger would let a state
/// start with a visibly scaled rotation.
const QUATERNION_NORM_TOLERANCE: f64 = 1e-6;

/// Reads the start state of a file, if it has one.
pub(crate) fn read(root: &Reader) -> Option<State> {
    let table = root.table("state")?;
    let numbers = |key: &str| table.list(key).iter().filter_map(Node::number).collect();
    let (q, v) = (numbers("coordinates"), numbers("velocities"));
    Some(State { t: table.number("time")?, q, v, ..State::default() })
}

/// Error in a start state, if any: its key and the message.
pub(crate) fn mistake(model: &Model, given: &State) -> Option<(&'static str, String)> {
    let own = model.state();
    for (key, given, own) in
        [("coordinates", given.q.len(), own.q.len()), ("velocities", given.v.len(), own.v.len())]
    {
        if given != own {
            return Some((key, format!("expected {own} {key} for the bodies of this scene, found {given}")));
        }
    }
    model.body_ids().into_iter().find_map(|body| {
        let name = model.body_name(body)?;
        // the quaternion as written: a pose would be normalized
        let coordinates = model.coordinates(body).filter(|range| range.len() == 7)?;
        let norm = given.q[coordinates.start + 3..coordinates.end].iter().map(|x| x * x).sum::<f64>().sqrt();
        let wrong = !((norm - 1.0).abs() <= QUATERNION_NORM_TOLERANCE);
        wrong.then(|| ("coordinates", format!("the quaternion of `{name}` must have norm 1, found {norm}")))
    })
}
