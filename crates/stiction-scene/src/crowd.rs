//! Worlds with so many shapes in one place that a check of all pairs would not end.

use std::collections::HashMap;
use stiction::{Groups, planar, spatial};
use stiction_geometry as geometry;
use stiction_geometry::broad::{BroadPhase, Extent};

/// Most pairs of shapes near each other: a pile of 20,000 bodies has half as many.
const MOST_NEAR: usize = 300_000;

/// Most pairs that may meet and have no gap: each is a mistake of its own.
const MOST_LACKING: usize = 10_000;

/// A shape, as far as it matters who may meet whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Class {
    kind: &'static str,
    member: u32,
    collides: u32,
    moves: bool,
}

impl Class {
    fn meets(&self, other: &Self) -> bool {
        let groups = |class: &Self| Groups { member: class.member, collides: class.collides };
        (self.moves || other.moves) && groups(self).meet(groups(other))
    }
}

/// What is too much, if anything: the name of a body in it, and what to say.
pub(crate) struct Crowd {
    pub(crate) body: String,
    pub(crate) message: String,
}

/// The shapes of a world, with the names of their bodies.
#[derive(Default)]
struct Shapes<'a> {
    names: Vec<&'a str>,
    bodies: Vec<u32>,
    classes: Vec<Class>,
    boxes: Vec<Extent>,
}

impl Shapes<'_> {
    /// Looks for crowds; `lacks` tells of two shapes, by their places, whether they have no gap.
    fn crowd(&self, lacks: impl Fn(usize, usize) -> bool) -> Option<Crowd> {
        // classes are few, however many shapes there are
        let mut counts: HashMap<Class, (usize, usize)> = HashMap::new();
        for (i, class) in self.classes.iter().enumerate() {
            counts.entry(*class).or_insert((i, 0)).1 += 1;
        }
        let counts: Vec<_> = counts.into_iter().collect();
        let mut lacking = 0;
        for (k, (a, (i, n))) in counts.iter().enumerate() {
            for (b, (j, m)) in counts[k..].iter().filter(|(b, _)| a.meets(b)) {
                if lacks(*i, *j) {
                    lacking += if a == b { n * (n - 1) / 2 } else { n * m };
                }
            }
            if lacking > MOST_LACKING {
                let message =
                    format!("more than {MOST_LACKING} pairs of shapes that may meet have no gap function");
                return Some(Crowd { body: self.names[*i].to_string(), message });
            }
        }
        let (mut near, mut at) = (0, 0);
        let count = |i: usize, j: usize| {
            if near <= MOST_NEAR
                && self.bodies[i] != self.bodies[j]
                && self.classes[i].meets(&self.classes[j])
            {
                near += 1;
                at = j;
            }
            false
        };
        BroadPhase::default().overlaps(&self.boxes, count, &mut Vec::new());
        (near > MOST_NEAR).then(|| Crowd {
            body: self.names[at].to_string(),
            message: format!("more than {MOST_NEAR} pairs of shapes are in one place"),
        })
    }
}

/// The shapes of either world: the two have the same names and types of their own.
macro_rules! shapes {
    ($world:expr, $side:ident, $kinds:expr) => {{
        let mut all = Shapes::default();
        for (id, body) in $world.bodies() {
            let (pose, moves) = match &body.motion {
                $side::Motion::Kinematic(path) => (path.0($world.t).0, false),
                motion => (body.pose, !matches!(motion, $side::Motion::Fixed)),
            };
            for on in &body.shapes {
                let Groups { member, collides } = on.groups;
                all.names.push(&body.name);
                all.bodies.push(id.0);
                all.classes.push(Class { kind: on.shape.kind(), member, collides, moves });
                // a shape that is not sound is reported by the world
                let sound = on.shape.check().is_ok();
                let nowhere = Extent { min: [f64::NAN; 3], max: [f64::NAN; 3] };
                let bounds = || Extent::from(geometry::$side::bounds(&on.shape, &(pose * on.pose)));
                all.boxes.push(if sound { bounds() } else { nowhere });
                $kinds.push(&on.shape);
            }
        }
        all
    }};
}

/// Whether a planar world is too crowded to be checked.
pub(crate) fn planar(world: &planar::World) -> Option<Crowd> {
    let mut kinds = Vec::new();
    let shapes = shapes!(world, planar, kinds);
    shapes.crowd(|i, j| !geometry::planar::has_gap(kinds[i], kinds[j]))
}

/// Whether a spatial world is.
pub(crate) fn spatial(world: &spatial::World) -> Option<Crowd> {
    let mut kinds = Vec::new();
    let shapes = shapes!(world, spatial, kinds);
    shapes.crowd(|i, j| !geometry::spatial::has_gap(kinds[i], kinds[j]))
}
