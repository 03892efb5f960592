//! Crowding: so many shapes in one place that a check of all pairs would not end.

use std::collections::HashMap;
use stiction::{BodyId, Formulas, Groups, RigidPose, ShapeRef, World};
use stiction_geometry::broad::{BroadPhase, Extent};
use stiction_geometry::{planar, spatial};

/// Most pairs of shapes near each other; pairs with a curved or rounded shape count twice. A pile of 20,000 bodies has
/// half as many. Range 1e5 to 1e7: below it real piles are refused, above it a check takes minutes.
const MOST_NEAR: usize = 300_000;

/// Most contacts at the start, with a share for the search between shapes of many vertices. A pile of 20,000 boxes has a fifth as many.
/// Range 3e5 to 3e6: below it real piles are refused, above it a check takes more than 10 s or 1 GB.
const MOST_CONTACTS: usize = 1_000_000;

/// Pairs of vertices of two shapes whose search takes the time of one contact. Range 100 to 1e4.
const VERTEX_PAIRS_PER_CONTACT: usize = 500;

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
    sizes: Vec<ShapeSize>,
}

/// Size of a shape for a search of contacts.
#[derive(Debug, Clone, Copy)]
struct ShapeSize {
    vertices: usize,
    /// Curved or rounded.
    is_curved: bool,
}

impl ShapeSize {
    fn of(shape: ShapeRef) -> Self {
        let (vertices, is_curved) = match shape {
            ShapeRef::Planar(planar::Shape::Polygon(polygon)) => (polygon.vertices().len(), false),
            ShapeRef::Planar(planar::Shape::Rounded { core, .. }) => {
                (Self::of(ShapeRef::Planar(core)).vertices, true)
            }
            ShapeRef::Spatial(spatial::Shape::Cuboid { .. }) => (8, false),
            ShapeRef::Spatial(spatial::Shape::Polyhedron(hull)) => (hull.vertices().len(), false),
            ShapeRef::Spatial(spatial::Shape::Rounded { core, .. }) => {
                (Self::of(ShapeRef::Spatial(core)).vertices, true)
            }
            ShapeRef::Planar(planar::Shape::Ellipse { .. })
            | ShapeRef::Spatial(
                spatial::Shape::Ellipsoid { .. }
                | spatial::Shape::Cylinder { .. }
                | spatial::Shape::Cone { .. },
            ) => (1, true),
            _ => (1, false),
        };
        Self { vertices, is_curved }
    }
}

impl ShapeList<'_> {
    /// Looks for a crowd. For two shapes, by their indices, `lacks` is `true` if they have no gap function, and `touching`
    /// the number of their contacts.
    fn crowd(
        &self,
        lacks: impl Fn(usize, usize) -> bool,
        mut touching: impl FnMut(usize, usize) -> usize,
    ) -> Option<Crowd> {
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
        let (mut near, mut at, mut features) = (0, 0, 0);
        let count = |i: usize, j: usize| {
            let meets = near <= MOST_NEAR
                && self.bodies[i] != self.bodies[j]
                && self.classes[i].meets(&self.classes[j]);
            if meets {
                let [a, b] = [i, j].map(|k| self.sizes[k]);
                near += 1 + usize::from(a.is_curved || b.is_curved);
                features += a.vertices + b.vertices;
                at = j;
            }
            meets
        };
        let mut pairs = Vec::new();
        BroadPhase::default().overlaps(&self.boxes, count, &mut pairs);
        let crowd = |k: usize, message: String| Some(Crowd { body: self.names[k].to_string(), message });
        if near > MOST_NEAR {
            return crowd(at, format!("more than {MOST_NEAR} pairs of shapes are in one place"));
        }
        // two shapes have at most as many contacts as features
        if features <= MOST_CONTACTS {
            return None;
        }
        let mut contacts = 0;
        for [i, j] in pairs {
            let [a, b] = [i, j].map(|k| self.sizes[k]);
            contacts += touching(i, j) + a.vertices * b.vertices / VERTEX_PAIRS_PER_CONTACT;
            if contacts > MOST_CONTACTS {
                let message = format!(
                    "shapes in one place have more than {MOST_CONTACTS} contacts at the start; move them apart"
                );
                return crowd(j, message);
            }
        }
        None
    }
}

/// Looks for a crowd in a world: it is too crowded to be checked pair by pair.
pub(crate) fn crowd<D: Formulas>(world: &World<D>) -> Option<Crowd> {
    let (mut all, mut shapes, mut poses) = (ShapeList::default(), Vec::new(), Vec::new());
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
            let placed = pose.times(&on.pose);
            all.boxes.push(if is_sound { D::bounds(&on.shape, &placed, 0.0) } else { nowhere });
            all.sizes.push(ShapeSize::of(D::shape_ref(&on.shape)));
            shapes.push(&on.shape);
            poses.push(placed);
        }
    }
    let mut gaps = Vec::new();
    let touching = |i: usize, j: usize| {
        gaps.clear();
        let [a, b] = [i, j].map(|k| (shapes[k], &poses[k]));
        // a pair without a gap function is a mistake that the world reports
        let _ = D::gaps(world.depth, a, b, 0.0, None, &mut gaps);
        gaps.len()
    };
    all.crowd(|i, j| !D::has_gap(shapes[i], shapes[j]), touching)
}
