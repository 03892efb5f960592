//! Crowding: so many shapes in one place that a check of all pairs would not end.

use std::collections::HashMap;
use stiction::{BodyId, Formulas, Groups, RigidPose, World};
use stiction_geometry::broad::{BroadPhase, Extent};

/// Most pairs of shapes near each other. A pile of 20,000 bodies has half as many. Range 1e5 to 1e7: below it real
/// piles are refused, above it a check takes minutes.
const MOST_NEAR: usize = 300_000;

/// Most pairs that may meet and have no gap function: each is a mistake of its own. Range 1e2 to 1e6.
const MOST_LACKING: usize = 10_000;

/// Shapes of one kind, groups and mobility: any two of them may meet alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ShapeClass {
    kind: &'static str,
    member: u32,
    collides: u32,
    moves: bool,
}

impl ShapeClass {
    fn meets(&self, other: &Self) -> bool {
        let groups = |class: &Self| Groups { member: class.member, collides: class.collides };
        (self.moves || other.moves) && groups(self).meet(groups(other))
    }
}

/// Crowd that is too large: the name of a body in it, and the message.
pub(crate) struct Crowd {
    pub(crate) body: String,
    pub(crate) message: String,
}

/// Shapes of a world, with the names of their bodies.
#[derive(Default)]
struct ShapeList<'a> {
    names: Vec<&'a str>,
    bodies: Vec<BodyId>,
    classes: Vec<ShapeClass>,
    boxes: Vec<Extent>,
}

impl ShapeList<'_> {
    /// Looks for a crowd; `lacks` is `true` for two shapes, by their indices, that have no gap function.
    fn crowd(&self, lacks: impl Fn(usize, usize) -> bool) -> Option<Crowd> {
        // classes are few, however many shapes there are
        let mut counts: HashMap<ShapeClass, (usize, usize)> = HashMap::new();
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

/// Looks for a crowd in a world: it is too crowded to be checked pair by pair.
pub(crate) fn crowd<D: Formulas>(world: &World<D>) -> Option<Crowd> {
    let (mut all, mut shapes) = (ShapeList::default(), Vec::new());
    for (id, body) in world.bodies() {
        let pose = body.pose_at(world.t);
        for on in &body.shapes {
            let Groups { member, collides } = on.groups;
            let kind = D::shape_kind(&on.shape);
            all.names.push(&body.name);
            all.bodies.push(id);
            all.classes.push(ShapeClass { kind, member, collides, moves: body.moves() });
            // a shape that is not sound is reported by the world
            let is_sound = D::check_shape(&on.shape).is_ok();
            let nowhere = Extent { min: [f64::NAN; 3], max: [f64::NAN; 3] };
            let bounds = || D::bounds(&on.shape, &pose.times(&on.pose), 0.0);
            all.boxes.push(if is_sound { bounds() } else { nowhere });
            shapes.push(&on.shape);
        }
    }
    all.crowd(|i, j| !D::has_gap(shapes[i], shapes[j]))
}
