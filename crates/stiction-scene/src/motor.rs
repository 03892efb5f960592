//! Limits and motors of joints, the same in the plane and in space.

use crate::read::Reader;

/// What drives a joint coordinate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Motor {
    /// Seeks a speed.
    Velocity { speed: f64, force: f64 },
    /// Seeks a place.
    Position { target: f64, gain: f64, force: f64 },
}

/// The motor of a joint, if it has one.
pub(crate) fn read(joint: &Reader) -> Option<Motor> {
    let table = joint.table("motor")?;
    let force = table.number("force");
    let needed = |key: &str| {
        let value = table.angle(key);
        if value.is_none() && !table.has(key) && !table.has(&format!("{key}_deg")) {
            table
                .error(&table.node.span, format!("missing key `{key}` or `{key}_deg`: what the motor seeks"));
        }
        value
    };
    match table.text("kind")? {
        "velocity" => Some(Motor::Velocity { speed: needed("speed")?, force: force? }),
        "position" => {
            Some(Motor::Position { target: needed("target")?, gain: table.number("gain")?, force: force? })
        }
        _ => None,
    }
}

/// Limits of a joint coordinate [rad; m].
pub(crate) fn limits(joint: &Reader) -> Option<[f64; 2]> {
    let degrees = || joint.vector::<2>("limits_deg").map(|limits| limits.map(f64::to_radians));
    joint.vector::<2>("limits").or_else(degrees)
}
