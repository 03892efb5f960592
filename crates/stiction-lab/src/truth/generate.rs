//! Random small scenes in which contact matters: few bodies, every kind of shape, joint, motor and surface.
//!
//! A scene is a list of blocks of TOML, so that one that fails can be shrunk by leaving blocks out.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::fmt::Write as _;

/// Length that errors are measured by: the diameter of the smallest body [m].
pub(super) const SMALLEST_BODY: f64 = 0.2;

/// Scene as blocks of text.
#[derive(Debug, Clone)]
pub(super) struct RandomScene {
    /// Format, dimension, run, gravity and materials.
    head: String,
    /// Bodies, joints, springs and forces that may be left out, each with the name of the body it needs.
    blocks: Vec<Block>,
}

#[derive(Debug, Clone)]
struct Block {
    text: String,
    /// Body that the block defines.
    defines: Option<String>,
    /// Body that the block refers to.
    uses: Option<String>,
}

impl RandomScene {
    /// Text of the scene file.
    pub(super) fn text(&self) -> String {
        let mut text = self.head.clone();
        self.blocks.iter().for_each(|block| text.push_str(&block.text));
        text
    }

    /// Scenes with one block less, and without the blocks that need its body.
    pub(super) fn smaller(&self) -> impl Iterator<Item = Self> {
        (0..self.blocks.len()).map(|i| {
            let gone = &self.blocks[i].defines;
            let kept = |(j, block): (usize, &Block)| {
                (j != i && (gone.is_none() || block.uses != *gone)).then(|| block.clone())
            };
            Self {
                head: self.head.clone(),
                blocks: self.blocks.iter().enumerate().filter_map(kept).collect(),
            }
        })
    }

    /// The scene of a seed.
    pub(super) fn new(seed: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        if random.random_bool(0.5) {
            Generator::new(random, Plane).scene()
        } else {
            Generator::new(random, Space).scene()
        }
    }
}

/// Words and numbers that differ between the plane and space.
trait Kind {
    /// Number of dimensions, 2 or 3.
    fn dimension(&self) -> usize;
    /// A vector from its horizontal and vertical parts.
    fn vector(&self, across: f64, side: f64, up: f64) -> String;
    /// Rest shape with the height of its centre above the ground, and whether it has a flat bottom.
    fn shape(&self, random: &mut ChaCha8Rng) -> (String, f64, bool);
    /// Random orientation of a body that is dropped.
    fn turned(&self, random: &mut ChaCha8Rng) -> String;
    /// Turn about the vertical of a body that stands.
    fn yawed(&self, random: &mut ChaCha8Rng) -> String;
    fn spin(&self, random: &mut ChaCha8Rng) -> String;
    fn ground(&self) -> &'static str;
    fn belt(&self, speed: f64) -> String;
    fn hinge_axis(&self) -> &'static str;
}

struct Plane;
struct Space;

fn number(random: &mut ChaCha8Rng, low: f64, high: f64) -> f64 {
    // three decimals, so that a scene file reads well
    (random.random_range(low..high) * 1e3).round() / 1e3
}

impl Kind for Plane {
    fn dimension(&self) -> usize {
        2
    }

    fn vector(&self, across: f64, _: f64, up: f64) -> String {
        format!("[{across}, {up}]")
    }

    fn shape(&self, random: &mut ChaCha8Rng) -> (String, f64, bool) {
        let (a, b) = (number(random, 0.1, 0.4), number(random, 0.1, 0.3));
        match random.random_range(0..4) {
            0 => (format!("{{ kind = \"disk\", radius = {a} }}"), a, false),
            1 => (format!("{{ kind = \"capsule\", half_length = {a}, radius = {b} }}"), b, true),
            2 => {
                let vertices = format!("[[-{a}, -{b}], [{a}, -{b}], [0.0, {b}]]");
                (format!("{{ kind = \"polygon\", vertices = {vertices} }}"), b, true)
            }
            _ => (format!("{{ kind = \"rectangle\", half_extents = [{a}, {b}] }}"), b, true),
        }
    }

    fn turned(&self, random: &mut ChaCha8Rng) -> String {
        format!("angle = {}\n", number(random, -3.0, 3.0))
    }

    fn yawed(&self, _: &mut ChaCha8Rng) -> String {
        String::new()
    }

    fn spin(&self, random: &mut ChaCha8Rng) -> String {
        format!("angular_velocity = {}\n", number(random, -5.0, 5.0))
    }

    fn ground(&self) -> &'static str {
        "half_plane"
    }

    fn belt(&self, speed: f64) -> String {
        format!("surface_velocity = {speed}")
    }

    fn hinge_axis(&self) -> &'static str {
        ""
    }
}

impl Kind for Space {
    fn dimension(&self) -> usize {
        3
    }

    fn vector(&self, across: f64, side: f64, up: f64) -> String {
        format!("[{across}, {side}, {up}]")
    }

    fn shape(&self, random: &mut ChaCha8Rng) -> (String, f64, bool) {
        let size: [f64; 3] = std::array::from_fn(|_| number(random, 0.1, 0.3));
        let [a, b, c] = size;
        match random.random_range(0..4) {
            0 => (format!("{{ kind = \"sphere\", radius = {a} }}"), a, false),
            1 => {
                let pose = "rotation_vector = [0.0, 1.5707963267948966, 0.0]";
                (format!("{{ kind = \"capsule\", half_length = {b}, radius = {a}, {pose} }}"), a, true)
            }
            2 => {
                let vertices =
                    format!("[[-{a}, -{b}, -{c}], [{a}, -{b}, -{c}], [0.0, {b}, -{c}], [0.0, 0.0, {c}]]");
                (format!("{{ kind = \"polyhedron\", vertices = {vertices} }}"), c, true)
            }
            _ => (format!("{{ kind = \"box\", half_extents = [{a}, {b}, {c}] }}"), c, true),
        }
    }

    fn turned(&self, random: &mut ChaCha8Rng) -> String {
        let turn: [f64; 3] = std::array::from_fn(|_| number(random, -1.5, 1.5));
        format!("rotation_vector = {turn:?}\n")
    }

    fn yawed(&self, random: &mut ChaCha8Rng) -> String {
        format!("rotation_vector = [0.0, 0.0, {}]\n", number(random, -1.5, 1.5))
    }

    fn spin(&self, random: &mut ChaCha8Rng) -> String {
        let upright = random.random_bool(0.5);
        let mut spin: [f64; 3] = std::array::from_fn(|_| number(random, -5.0, 5.0));
        if upright {
            (spin[0], spin[1]) = (0.0, 0.0);
        }
        format!("angular_velocity = {spin:?}\n")
    }

    fn ground(&self) -> &'static str {
        "half_space"
    }

    fn belt(&self, speed: f64) -> String {
        format!("surface_velocity = [{speed}, {}, 0.0]", 0.3 * speed)
    }

    fn hinge_axis(&self) -> &'static str {
        "axis = [0.0, 1.0, 0.0]\n"
    }
}

struct Generator<K> {
    random: ChaCha8Rng,
    kind: K,
    blocks: Vec<Block>,
    /// Bodies so far: name, position, height of the centre above the bottom, and whether the top is flat.
    bodies: Vec<(String, [f64; 3], f64, bool)>,
}

impl<K: Kind> Generator<K> {
    fn new(random: ChaCha8Rng, kind: K) -> Self {
        Self { random, kind, blocks: Vec::new(), bodies: Vec::new() }
    }

    fn number(&mut self, low: f64, high: f64) -> f64 {
        number(&mut self.random, low, high)
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.random.random_bool(probability)
    }

    fn scene(mut self) -> RandomScene {
        let head = self.head();
        self.ground();
        for i in 0..self.random.random_range(1..=3) {
            self.body(i);
        }
        if self.chance(0.35) {
            self.joint();
        }
        if self.chance(0.25) {
            self.spring();
        }
        if self.chance(0.35) {
            self.force();
        }
        RandomScene { head, blocks: self.blocks }
    }

    fn head(&mut self) -> String {
        let mu = if self.chance(0.15) { 0.0 } else { self.number(0.05, 1.0) };
        let e = if self.chance(0.6) { 0.0 } else { self.number(0.1, 0.9) };
        // a tilt of gravity makes an incline of the ground
        let tilt = if self.chance(0.3) { self.number(-0.6, 0.6) } else { 0.0 };
        let side = if self.chance(0.5) { 0.5 * tilt } else { 0.0 };
        let gravity = self.kind.vector(9.81 * tilt, 9.81 * side, -9.81);
        format!(
            "format = 1\ndimension = {}\n\n[run]\nduration = 1.0\n\n[world]\ngravity = {gravity}\n\n\
             [materials.default]\nfriction = {mu}\nrestitution = {e}\n",
            self.kind.dimension()
        )
    }

    fn add(&mut self, text: String, defines: Option<&str>, uses: Option<&str>) {
        let own = |name: Option<&str>| name.map(str::to_string);
        self.blocks.push(Block { text, defines: own(defines), uses: own(uses) });
    }

    fn ground(&mut self) {
        let mut text = "\n[[bodies]]\nname = \"ground\"\n".to_string();
        let ground = self.kind.ground();
        match self.random.random_range(0..5) {
            0 => {
                let (size, rate) = (self.number(0.005, 0.05), self.number(5.0, 25.0));
                let wave = |part: f64| format!("\"{part}*sin({rate}*t)\"");
                let across = self.chance(0.5);
                let zero = "0.0".to_string();
                let (x, up) = if across { (wave(size), zero) } else { (zero, wave(size)) };
                let path = if self.kind.dimension() == 2 {
                    format!("[{x}, {up}]")
                } else {
                    format!("[{x}, 0.0, {up}]")
                };
                let _ = write!(text, "motion = \"kinematic\"\npath = {{ position = {path} }}\n");
                let _ = writeln!(text, "shapes = [{{ kind = \"{ground}\" }}]");
            }
            1 => {
                let speed = self.number(-1.5, 1.5);
                let belt = self.kind.belt(speed);
                let _ = writeln!(text, "motion = \"fixed\"\nshapes = [{{ kind = \"{ground}\", {belt} }}]");
            }
            _ => {
                let _ = writeln!(text, "motion = \"fixed\"\nshapes = [{{ kind = \"{ground}\" }}]");
            }
        }
        self.add(text, None, None);
    }

    fn body(&mut self, i: usize) {
        let (shape, height, flat) = self.kind.shape(&mut self.random);
        let name = format!("b{i}");
        let below = self.bodies.last().cloned().filter(|below| below.3);
        let stacked = below.filter(|_| flat).filter(|_| self.random.random_bool(0.4));
        let mut text = format!("\n[[bodies]]\nname = \"{name}\"\ndensity = {}\n", self.number(100.0, 1000.0));
        let (place, uses) = if let Some((below, at, half, _)) = stacked {
            ([at[0] + 0.02, at[1], at[2] + half + height], Some(below))
        } else {
            let across = 1.5 * i as f64 + self.number(-0.2, 0.2);
            // standing on the ground, or dropped from above
            let dropped = self.chance(0.35);
            let up = if dropped { 0.6 + self.number(0.0, 0.5) } else { height };
            let turn =
                if dropped { self.kind.turned(&mut self.random) } else { self.kind.yawed(&mut self.random) };
            text.push_str(&turn);
            (([across, 0.0, up]), None)
        };
        let _ = writeln!(text, "position = {}", self.kind.vector(place[0], place[1], place[2]));
        if self.chance(0.5) {
            let (x, y) = (self.number(-2.0, 2.0), self.number(-1.0, 1.0));
            let _ = writeln!(text, "velocity = {}", self.kind.vector(x, y, 0.0));
        }
        if self.chance(0.35) && (!flat || self.kind.dimension() == 3) {
            text.push_str(&self.kind.spin(&mut self.random));
        }
        let _ = writeln!(text, "shapes = [{shape}]");
        // pointed tops carry nothing
        let carries = flat && (shape.contains("rectangle") || shape.contains("\"box\""));
        self.add(text, Some(&name), uses.as_deref());
        self.bodies.push((name, place, height, carries));
    }

    fn joint(&mut self) {
        let i = self.random.random_range(0..self.bodies.len());
        let (name, place, ..) = self.bodies[i].clone();
        // a velocity would violate the joint
        let body = self.blocks.iter_mut().find(|block| block.defines.as_ref() == Some(&name));
        if let Some(body) = body {
            let stays = |line: &&str| !line.starts_with("velocity") && !line.starts_with("angular_velocity");
            let lines: Vec<&str> = body.text.lines().filter(stays).chain([""]).collect();
            body.text = lines.join("\n");
        }
        let mut text = "\n[[joints]]\nname = \"j\"\n".to_string();
        let offset = [self.number(-0.3, 0.3), self.number(0.0, 0.4)];
        let at = self.kind.vector(place[0] + offset[0], place[1], place[2] + offset[1]);
        let _ = writeln!(text, "bodies = [\"world\", \"{name}\"]\nat = {at}");
        if self.chance(0.6) {
            let _ = write!(text, "kind = \"revolute\"\n{}", self.kind.hinge_axis());
            if self.chance(0.3) {
                let _ = writeln!(text, "limits = [{}, {}]", -self.number(0.1, 1.0), self.number(0.1, 1.0));
            }
        } else {
            let _ = writeln!(text, "kind = \"prismatic\"\naxis = {}", self.kind.vector(1.0, 0.0, 0.0));
        }
        match self.random.random_range(0..4) {
            0 => {
                let (speed, force) = (self.number(-3.0, 3.0), self.number(1.0, 50.0));
                let _ = writeln!(text, "motor = {{ kind = \"velocity\", speed = {speed}, force = {force} }}");
            }
            1 => {
                let _ = writeln!(text, "friction = {}", self.number(0.1, 5.0));
            }
            _ => {}
        }
        self.add(text, None, Some(&name));
    }

    fn spring(&mut self) {
        let i = self.random.random_range(0..self.bodies.len());
        let (name, place, ..) = self.bodies[i].clone();
        let (across, up) = (self.number(-1.0, 1.0), self.number(0.5, 1.5));
        let anchor = self.kind.vector(place[0] + across, 0.0, place[2] + up);
        let (stiffness, damping) = (self.number(5.0, 300.0), self.number(0.0, 5.0));
        let text = format!(
            "\n[[springs]]\nbodies = [\"world\", \"{name}\"]\npoint_a = {anchor}\nstiffness = {stiffness}\n\
             damping = {damping}\nrest_length = 0.5\n"
        );
        self.add(text, None, Some(&name));
    }

    fn force(&mut self) {
        let i = self.random.random_range(0..self.bodies.len());
        let name = self.bodies[i].0.clone();
        let (size, rate) = (self.number(1.0, 60.0), self.number(1.0, 10.0));
        let pull = format!("\"{size}*sin({rate}*t)\"");
        let components = if self.kind.dimension() == 2 {
            format!("[{pull}, 0.0]")
        } else {
            format!("[{pull}, {}, 0.0]", 0.3 * size)
        };
        let text = format!("\n[[forces]]\nbody = \"{name}\"\nforce = {components}\n");
        self.add(text, None, Some(&name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn most_scenes_can_be_built_and_shrink() {
        let mut built = 0;
        for seed in 0..200 {
            let scene = RandomScene::new(seed);
            let read = stiction_scene::Scene::from_toml(&scene.text(), "random.toml");
            built += usize::from(read.is_ok_and(|scene| scene.build().is_ok()));
            assert_eq!(scene.text(), RandomScene::new(seed).text());
            assert!(scene.smaller().all(|smaller| smaller.blocks.len() < scene.blocks.len()));
        }
        // bodies that are dropped or stacked may overlap at the start, which is refused
        assert!(built > 120, "{built} of 200 scenes can be built");
    }
}
