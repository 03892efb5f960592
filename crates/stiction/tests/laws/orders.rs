//! Permuted worlds: bodies, shapes, joints and forces added in another order.

use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Random permutation of the numbers from 0 to n − 1.
fn order(n: usize, rng: &mut ChaCha8Rng) -> Vec<usize> {
    let mut order: Vec<usize> = (0..n).collect();
    order.shuffle(rng);
    order
}

// planar and spatial worlds have the same methods and no common trait
macro_rules! shuffled {
    ($name:ident, $dimension:ident, $kind:pat) => {
        pub(crate) mod $name {
            use super::order;
            use rand::RngExt;
            use rand::seq::SliceRandom;
            use rand_chacha::ChaCha8Rng;
            use std::collections::BTreeMap;
            use stiction::State;
            use stiction::$dimension::{BodyId, Force, ForceId, JointKind, Model, World};

            /// Permuted copy of a world, and the new number of each body.
            pub(crate) fn shuffled(world: &World, rng: &mut ChaCha8Rng) -> (World, BTreeMap<BodyId, BodyId>) {
                let mut other = World::new(world.gravity);
                other.t = world.t;
                other.allow_overlap = world.allow_overlap;
                other.friction_point = world.friction_point;
                let bodies: Vec<_> = world.bodies().collect();
                let mut names = BTreeMap::new();
                for i in order(bodies.len(), rng) {
                    let (id, body) = bodies[i];
                    let mut body = body.clone();
                    body.shapes.shuffle(rng);
                    names.insert(id, other.add_body(body));
                }
                let joints: Vec<_> = world.joints().collect();
                for i in order(joints.len(), rng) {
                    let mut joint = joints[i].1.clone();
                    (joint.a, joint.b) = (names[&joint.a], names[&joint.b]);
                    // some joints are symmetric in their bodies, unless their coordinate matters
                    let plain = joint.limits.is_none() && joint.motor.is_none();
                    if plain && matches!(joint.kind, $kind) && rng.random_range(0..2) == 0 {
                        std::mem::swap(&mut joint.a, &mut joint.b);
                        std::mem::swap(&mut joint.frame_a, &mut joint.frame_b);
                    }
                    other.add_joint(joint);
                }
                let forces: Vec<_> = (0..).map_while(|k| world.force(ForceId(k))).collect();
                for i in order(forces.len(), rng) {
                    let mut force = forces[i].clone();
                    match &mut force {
                        Force::Constant { body, .. }
                        | Force::Timed { body, .. }
                        | Force::Commanded { body, .. }
                        | Force::Rail { body, .. } => {
                            *body = names[&*body];
                        }
                        Force::Spring { a, b, .. } => (*a, *b) = (names[&*a], names[&*b]),
                        Force::Custom { .. } => panic!("a force of the state knows the order of the bodies"),
                    }
                    other.add_force(force);
                }
                (other, names)
            }

            /// State of one model in the order of another.
            pub(crate) fn carried(
                state: &State,
                from: &Model,
                to: &Model,
                names: &BTreeMap<BodyId, BodyId>,
            ) -> State {
                let mut out = State { t: state.t, memory: state.memory.clone(), ..to.state() };
                for (old, new) in names {
                    out.q[to.coordinates(*new).unwrap()]
                        .copy_from_slice(&state.q[from.coordinates(*old).unwrap()]);
                    out.v[to.velocities(*new).unwrap()]
                        .copy_from_slice(&state.v[from.velocities(*old).unwrap()]);
                }
                out
            }
        }
    };
}

shuffled!(plane, planar, JointKind::Revolute | JointKind::Distance(_));
// a spatial hinge measures its axes in the frame of a: with an error it differs from the same hinge seen from b
shuffled!(space, spatial, JointKind::Spherical | JointKind::Distance(_));
