//! Hints for words of other simulators and of everyday language: what to write instead in a scene file.

use crate::keys::Dimension;

/// Words of other simulators for kinds, with the words of this format in the plane and in space.
const WORDS: &[(&[&str], &[&str])] = &[
    (&["hinge", "pin", "pivot", "rotational", "rotary", "continuous"], &["revolute"]),
    (&["slider", "sliding", "linear", "translational"], &["prismatic"]),
    (&["ball", "ball_joint", "ball-and-socket", "socket"], &["spherical", "sphere", "disk"]),
    (&["rope", "cable", "rod", "link", "tether"], &["distance"]),
    (&["rigid_joint", "welded", "lock", "locked"], &["weld", "fixed"]),
    (&["circle"], &["disk", "sphere"]),
    (&["square", "rect", "cube", "cuboid"], &["rectangle", "box"]),
    (&["box"], &["rectangle"]),
    (&["disk", "disc"], &["cylinder"]),
    (&["rectangle"], &["box"]),
    (&["plane", "ground", "floor", "halfspace", "halfplane"], &["half_plane", "half_space"]),
    (&["mesh", "convex", "hull"], &["polygon", "polyhedron"]),
    (&["static"], &["fixed"]),
    (&["dynamic", "free"], &["rigid"]),
    (&["animated", "prescribed", "driven"], &["kinematic"]),
];

/// Hint for a word that is none of the allowed ones.
pub(crate) fn word(given: &str, allowed: &[&str]) -> Option<String> {
    let lower = given.to_lowercase();
    let (_, instead) = WORDS.iter().find(|(foreign, instead)| {
        foreign.contains(&lower.as_str()) && instead.iter().any(|word| allowed.contains(word))
    })?;
    instead.iter().find(|word| allowed.contains(word)).map(|word| format!("write `{word}`"))
}

/// Keys of other simulators, with the key of this format and a remark.
const KEYS: &[(&[&str], &str, &str)] = &[
    (
        &["max_torque", "torque", "max_force", "effort", "torque_limit"],
        "force",
        "the largest torque [N m] or force [N] of a motor",
    ),
    (
        &["speed_rpm", "rpm"],
        "speed",
        "in rad/s: n revolutions per minute are n · 2π/60 rad/s, or n · 6 °/s as `speed_deg`",
    ),
    (&["angle_rad"], "angle", "in rad"),
    (&["dt", "h", "timestep", "time_step", "step_size"], "step", "the step size [s]"),
    (&["time", "t_end", "end", "until", "length_of_run"], "duration", "the simulated time [s]"),
    (&["pos", "xy", "xyz", "location", "origin", "translation"], "position", "in metres"),
    (&["rotation", "orientation", "theta", "heading"], "angle", "in rad, or `angle_deg`"),
    (&["quat", "quaternion"], "quat_wxyz", "a unit quaternion with w first"),
    (&["rpy", "euler"], "rpy_deg", "in degrees"),
    (&["size", "extents", "dimensions", "width", "side"], "half_extents", "half the edges [m]"),
    (&["diameter", "r"], "radius", "in metres"),
    (&["mu", "mu_s", "mu_k", "friction_coefficient"], "friction", "the coefficient μ"),
    (&["e", "bounce", "bounciness", "elasticity", "cor"], "restitution", "the coefficient e"),
    (&["vel", "speed", "v", "linear_velocity"], "velocity", "in m/s"),
    (&["omega", "spin"], "angular_velocity", "in rad/s"),
    (&["type"], "kind", "the kind of the entry"),
    (&["points", "verts"], "vertices", "a list of points [m]"),
    (
        &["body_a", "body_b", "parent", "child", "body1", "body2", "connects"],
        "bodies",
        "the two bodies, as a list of names",
    ),
    (&["anchor", "pivot", "location_of_joint"], "at", "a point in the world [m]"),
    (&["k"], "stiffness", "in N/m, or N m/rad at a joint"),
    (&["c", "d"], "damping", "in N s/m, or N m s/rad at a joint"),
];

/// Hint for an unknown key beside the known ones; `at_top` is `true` outside of all tables.
pub(crate) fn key(given: &str, known: &[&str], at_top: bool, dimension: Dimension) -> Option<String> {
    if at_top && let Some(hint) = at_the_top(given, dimension) {
        return Some(hint);
    }
    let within = match (
        given,
        known.contains(&"position") && known.contains(&"angle_deg") && known.len() <= 4,
    ) {
        ("x" | "y" | "z", true) => {
            Some("write the displacement as a list: `position = [\"0.1 * sin(t)\", \"0\"]` in the plane")
        }
        ("kind" | "type", _) if known.contains(&"force") && known.contains(&"torque") => Some(
            "an entry of `forces` has no kind: write `force = [...]` [N], or `torque = ...` [N m] for a pure moment",
        ),
        ("static" | "fixed", _) if known.contains(&"motion") => Some("write `motion = \"fixed\"`"),
        ("kinematic", _) if known.contains(&"motion") => Some("write `motion = \"kinematic\"` with a `path`"),
        ("friction" | "restitution" | "mu", _) if known.contains(&"material") => Some(
            "surfaces have materials: write `[materials.default]` with `friction` and `restitution`, and `material = \"NAME\"` here for another one",
        ),
        ("shape", _) if known.contains(&"shapes") => {
            Some("write `shapes = [{ ... }]`: a body may have several")
        }
        _ => None,
    };
    if let Some(hint) = within {
        return Some(hint.to_string());
    }
    let lower = given.to_lowercase();
    let (_, instead, remark) = KEYS
        .iter()
        .find(|(foreign, instead, _)| foreign.contains(&lower.as_str()) && known.contains(instead))?;
    Some(format!("write `{instead}`: {remark}"))
}

/// Hint for a key at the top of a file that belongs to a table.
fn at_the_top(given: &str, dimension: Dimension) -> Option<String> {
    let gravity = if dimension == Dimension::Plane { "[0.0, -9.81]" } else { "[0.0, 0.0, -9.81]" };
    Some(match given {
        "gravity" => format!(
            "gravity belongs to the world: write `world = {{ gravity = {gravity} }}`; this is its default"
        ),
        "step" | "dt" | "h" | "timestep" => {
            "the step size belongs to the run: write it as `step` in `[run]`".into()
        }
        "duration" | "time" | "t_end" | "until" => {
            "the end belongs to the run: write `duration` in `[run]`".into()
        }
        "scheme" | "accuracy" => format!("`{given}` belongs to the run: write it in `[run]`"),
        "friction" | "restitution" => {
            format!("surfaces have materials: write `{given}` in `[materials.default]`")
        }
        "name" => "write `title`".into(),
        "body" => "write `[[bodies]]`".into(),
        "joint" | "constraints" => "write `[[joints]]`".into(),
        "force" | "loads" => "write `[[forces]]`".into(),
        _ => return None,
    })
}

/// Hint for a string where a number is expected.
pub(crate) fn number(text: &str) -> Option<&'static str> {
    if text.trim().parse::<f64>().is_ok() {
        Some("write the number without quotes")
    } else if text.chars().any(|c| c.is_ascii_digit() || "+-*/(".contains(c)) {
        Some(
            "a formula is not read here: write its value; formulas of t stand in a `path` and in the commands of motors, and those of places in forces",
        )
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::{WORDS, key, word};
    use crate::keys::Dimension;

    #[test]
    fn a_hint_names_only_what_is_allowed() {
        assert_eq!(word("hinge", &["revolute", "weld"]).as_deref(), Some("write `revolute`"));
        assert_eq!(word("Ball", &["disk", "polygon"]).as_deref(), Some("write `disk`"));
        assert_eq!(word("hinge", &["disk"]), None);
        assert_eq!(key("max_torque", &["kind", "speed"], false, Dimension::Plane), None);
        assert!(WORDS.iter().all(|(foreign, instead)| !foreign.is_empty() && !instead.is_empty()));
    }
}
