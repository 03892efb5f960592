//! Scene files of the comparison, common to all engines, and their models.

use nalgebra::{Isometry3, Point3, Quaternion, Translation3, UnitQuaternion, Vector3};
use serde::Deserialize;
use stiction::spatial::{Attached, Body, BodyId, Force, Joint, Mass, Model, Shape, Twist, World};
use stiction::{Material, State};

/// Scene file. Fields that only the error needs are not read.
#[derive(Deserialize)]
pub(super) struct PeerScene {
    pub(super) name: String,
    /// Time to simulate [s].
    #[serde(rename = "T")]
    time: f64,
    /// Samples after the start.
    pub(super) samples: u32,
    gravity: [f64; 3],
    /// Coefficient of friction of every pair.
    mu: f64,
    /// Coefficient of restitution of every pair.
    e: f64,
    /// Whether there is a fixed half-space z ≤ 0.
    plane: bool,
    /// Whether bodies meet each other and the plane.
    collide: bool,
    bodies: Vec<PeerBody>,
    joints: Vec<PeerJoint>,
}

/// Body of a scene file.
#[derive(Deserialize)]
struct PeerBody {
    #[serde(flatten)]
    shape: PeerShape,
    mass: f64,
    /// Principal moments of inertia [kg m²].
    inertia: [f64; 3],
    pos: [f64; 3],
    /// Orientation: w, x, y, z.
    quat: [f64; 4],
    vel: [f64; 3],
    /// Angular velocity in the axes of the world [rad/s].
    omega: [f64; 3],
    /// Constant force at the centre [N].
    force: [f64; 3],
}

/// Shape of a body of a scene file.
#[derive(Deserialize)]
#[serde(tag = "shape", rename_all = "lowercase")]
enum PeerShape {
    Box { half: [f64; 3] },
    Sphere { r: f64 },
    Capsule { r: f64, hl: f64 },
}

impl PeerShape {
    fn shape(&self) -> Shape {
        match *self {
            Self::Box { half } => Shape::Cuboid { half_extents: half },
            Self::Sphere { r } => Shape::Sphere { radius: r },
            Self::Capsule { r, hl } => Shape::Capsule { half_length: hl, radius: r },
        }
    }
}

/// Joint of a scene file, with anchor and axis in the world.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum PeerJoint {
    Revolute {
        /// Index of a body, or -1 for the world.
        a: i64,
        b: i64,
        anchor: [f64; 3],
        axis: [f64; 3],
    },
}

/// Model of a scene.
pub(super) struct PeerModel {
    pub(super) model: Model,
    /// Bodies in the order of the scene file.
    bodies: Vec<BodyId>,
}

impl PeerScene {
    /// Number of steps of size `h` [s] between two samples.
    pub(super) fn steps(&self, h: f64) -> Result<u32, String> {
        let between = self.time / f64::from(self.samples);
        if !(h.is_finite() && h > 0.0) {
            return Err(format!("--h {h} must be positive and finite"));
        }
        let steps = (between / h).round();
        // to the round-off of a sum of so many steps
        if !((1.0..1e9).contains(&steps) && (steps * h - between).abs() <= 1e-9 * between) {
            return Err(format!(
                "--h {h}: samples are {between} s apart, which is not a whole number of steps"
            ));
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 1e9")]
        Ok(steps as u32)
    }

    /// Whether bodies can meet each other.
    pub(super) fn crowded(&self) -> bool {
        self.collide && self.bodies.len() > 1
    }

    /// Model of the scene at its start, or the first mistake in the file.
    pub(super) fn start(&self) -> Result<PeerModel, String> {
        if !(self.time.is_finite() && self.time > 0.0) {
            return Err(format!("T = {} must be positive and finite", self.time));
        }
        if self.samples == 0 {
            return Err("samples must be at least 1".into());
        }
        let material = Material { friction: self.mu, restitution: self.e, ..Material::default() };
        let shaped = |body: Body, shape: Shape| {
            if self.collide { body.with(Attached::new(shape).material(material)) } else { body }
        };
        let mut world = World::new(self.gravity.into());
        let ground = Body::fixed("ground");
        let ground = world.add_body(if self.plane { shaped(ground, Shape::HalfSpace) } else { ground });
        let mut bodies = Vec::new();
        for (i, moving) in self.bodies.iter().enumerate() {
            let body = world.add_body(shaped(moving.body(i)?, moving.shape.shape()));
            if moving.force != [0.0; 3] {
                world.add_force(Force::constant(body, moving.force.into()));
            }
            bodies.push(body);
        }
        for (i, PeerJoint::Revolute { a, b, anchor, axis }) in self.joints.iter().enumerate() {
            let find = |n: i64| match usize::try_from(n) {
                Err(_) if n == -1 => Ok(ground),
                Ok(n) if n < bodies.len() => Ok(bodies[n]),
                _ => Err(format!("joint {i}: there is no body {n}")),
            };
            let (a, b) = (find(*a)?, find(*b)?);
            let (anchor, axis) = (Point3::from(*anchor), Vector3::from(*axis));
            world.add_joint(Joint::revolute(format!("joint {i}"), &world, a, b, anchor, axis));
        }
        let model = world.build().map_err(|e| e.to_string())?;
        Ok(PeerModel { model, bodies })
    }
}

impl PeerBody {
    fn body(&self, number: usize) -> Result<Body, String> {
        let [w, x, y, z] = self.quat;
        let turn = UnitQuaternion::try_new(Quaternion::new(w, x, y, z), 0.0)
            .ok_or_else(|| format!("body {number}: quat {:?} is not a rotation", self.quat))?;
        let pose = Isometry3::from_parts(Translation3::from(Point3::from(self.pos)), turn);
        let body = Body::rigid(format!("body {number}"), Mass::given(self.mass, self.inertia));
        Ok(body.at(pose).moving(Twist::new(self.vel.into(), self.omega.into())))
    }
}

impl PeerModel {
    /// Centre, rotation, velocity and angular velocity of every body in the axes of the world.
    pub(super) fn sample(&self, state: &State) -> Vec<[f64; 13]> {
        let at = |id: &BodyId| {
            let (pose, centre) = (self.model.pose(state, *id)?, self.model.centre(state, *id)?);
            let Twist { linear: v, angular: w } = self.model.velocity(state, *id)?;
            let (c, r) = (centre.coords, pose.rotation);
            Some([c.x, c.y, c.z, r.w, r.i, r.j, r.k, v.x, v.y, v.z, w.x, w.y, w.z])
        };
        // every body of the scene is one of the model
        self.bodies.iter().filter_map(at).collect()
    }
}
