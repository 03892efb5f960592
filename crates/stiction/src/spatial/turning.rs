//! Turning of a rigid body in a timed step: its free motion, and the axes of its velocities.
//!
//! With R the orientation and ω the angular velocity along the axes of the body at the start, and ω⁺ at the end:
//! R⁺ = R exp(h ω_m), ω_m = (ω + ω⁺)/2 + c, where c is zero unless impulses act at other times than h/2. Rows are taken
//! at R_m = R exp(h ω/2), and the step problem measures the end velocity along its axes: w = R_mᵀR⁺ ω⁺ = E ω⁺. The
//! angular momentum along them is E I ω⁺. A ball keeps its momentum I w whatever its spin.

use super::placement::turned;
use nalgebra::{Matrix3, UnitQuaternion, Vector3};

/// Change at which fixed-point iterations of a turn end, relative to the angular velocity: four units in the last place.
/// Smaller: round-off keeps the iteration from ending before its limit. Larger, above 1e-13: a free top gains energy.
const TURN_TOLERANCE: f64 = 1e-15;

/// Iteration limit of a turn. Each iteration gains the factor h|ω|/2, so a turn of 1 rad in a step takes about 50.
/// Smaller: tops that turn so fast lose energy exactness. Larger: turns that do not converge cost more.
const TURN_ITERATION_LIMIT: usize = 60;

/// Difference of the principal moments up to which a body counts as a ball, relative to their mean: its gyroscopic force
/// is round-off then. Range 1e-15 to 1e-12.
const BALL_ANISOTROPY: f64 = 1e-14;

/// Rotation E that takes the axes at the end into those at the middle.
fn end_in_middle(omega: &Vector3<f64>, turn: &Vector3<f64>, h: f64) -> UnitQuaternion<f64> {
    let back = turned(&UnitQuaternion::identity(), &(-0.5 * h * omega));
    turned(&back, turn)
}

/// Turn h ω_m of a step [rad].
fn turn(omega: &Vector3<f64>, end: &Vector3<f64>, shift: &Vector3<f64>, h: f64) -> Vector3<f64> {
    h * (0.5 * (omega + end) + shift)
}

/// Angular velocity along the axes at the middle, of `end` along those at the end.
pub(super) fn in_middle(
    omega: &Vector3<f64>,
    end: &Vector3<f64>,
    shift: &Vector3<f64>,
    h: f64,
) -> Vector3<f64> {
    end_in_middle(omega, &turn(omega, end, shift, h), h) * end
}

/// Angular velocity along the axes at the end, of `middle` along those at the middle, and the turn of the step [rad].
pub(super) fn at_end(
    omega: &Vector3<f64>,
    middle: &Vector3<f64>,
    shift: &Vector3<f64>,
    h: f64,
) -> (Vector3<f64>, Vector3<f64>) {
    let end = fixed_point(*middle, |end| {
        end_in_middle(omega, &turn(omega, end, shift, h), h).inverse_transform_vector(middle)
    });
    (end, turn(omega, &end, shift, h))
}

/// Free motion: the end velocity along the axes at the middle, and the derivative G of the angular momentum along them
/// by that velocity. The free motion I ω⁺ = exp(−h ω_m) I ω keeps energy and momentum: ω_m·(I ω⁺ − I ω) = 0.
pub(super) fn free(inertia: &Matrix3<f64>, omega: &Vector3<f64>, h: f64) -> (Matrix3<f64>, Vector3<f64>) {
    let mean = inertia.trace() / 3.0;
    let anisotropy = (inertia - Matrix3::from_diagonal_element(mean)).amax();
    let Some(inverse) = inertia.try_inverse().filter(|_| anisotropy > BALL_ANISOTROPY * mean) else {
        return (*inertia, *omega);
    };
    let momentum = inertia * omega;
    let none = Vector3::zeros();
    let end = fixed_point(*omega, |end| {
        let turned = turned(&UnitQuaternion::identity(), &turn(omega, end, &none, h));
        inverse * turned.inverse_transform_vector(&momentum)
    });
    let turn = turn(omega, &end, &none, h);
    let axes = end_in_middle(omega, &turn, h).to_rotation_matrix().into_inner();
    // a change δ of ω⁺ turns the axes at the end by (h/2) J δ about themselves: w changes by E (δ + (h/2) J δ × ω⁺)
    let bend = 0.5 * h * right_jacobian(&turn);
    let velocity = Matrix3::identity() - end.cross_matrix() * bend;
    let own = inertia - (inertia * end).cross_matrix() * bend;
    let Some(velocity) = velocity.try_inverse() else { return (*inertia, axes * end) };
    (axes * own * velocity * axes.transpose(), axes * end)
}

/// Right Jacobian of the exponential map: exp(θ + δ) = exp(θ) exp(J δ) to first order in δ.
fn right_jacobian(turn: &Vector3<f64>) -> Matrix3<f64> {
    let (angle, cross) = (turn.norm(), turn.cross_matrix());
    // (1 − cos θ)/θ² and (θ − sin θ)/θ³, by their series for small angles
    let (first, second) = if angle < SMALL_ANGLE {
        (0.5 - angle * angle / 24.0, 1.0 / 6.0 - angle * angle / 120.0)
    } else {
        ((1.0 - angle.cos()) / angle.powi(2), (angle - angle.sin()) / angle.powi(3))
    };
    Matrix3::identity() - first * cross + second * cross * cross
}

/// Angle below which the right Jacobian is taken from its series [rad]: with two terms that is exact to 1e-9, and G enters
/// the response to impulses alone. Range 1e-3 to 1e-1: below, the quotients lose digits; above, the series does.
const SMALL_ANGLE: f64 = 1e-2;

/// Fixed point of `next`, from `start`.
fn fixed_point(start: Vector3<f64>, next: impl Fn(&Vector3<f64>) -> Vector3<f64>) -> Vector3<f64> {
    let mut at = start;
    for _ in 0..TURN_ITERATION_LIMIT {
        let found = next(&at);
        let change = (found - at).amax();
        at = found;
        if change <= TURN_TOLERANCE * at.amax() {
            break;
        }
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    const INERTIA: [f64; 3] = [0.01, 0.02, 0.03];

    #[test]
    fn free_motion_keeps_energy_and_momentum() {
        let inertia = Matrix3::from_diagonal(&Vector3::from(INERTIA));
        let (omega, h) = (Vector3::new(1.0, 5.0, 2.0), 0.05);
        let (_, middle) = free(&inertia, &omega, h);
        let (end, turn) = at_end(&omega, &middle, &Vector3::zeros(), h);
        let energy = |w: &Vector3<f64>| 0.5 * w.dot(&(inertia * w));
        // round-off of some hundred operations on numbers of 0.3 J and 0.1 N m s
        assert!((energy(&end) - energy(&omega)).abs() < 1e-15);
        let turned = turned(&UnitQuaternion::identity(), &turn) * (inertia * end);
        assert!((turned - inertia * omega).amax() < 1e-15);
    }

    #[test]
    fn derivative_of_the_momentum_is_that_of_differences() {
        let inertia = Matrix3::from_diagonal(&Vector3::from(INERTIA));
        let (omega, h, none) = (Vector3::new(1.0, 5.0, 2.0), 0.05, Vector3::zeros());
        let (derivative, middle) = free(&inertia, &omega, h);
        let momentum = |w: &Vector3<f64>| {
            let (end, turn) = at_end(&omega, w, &none, h);
            end_in_middle(&omega, &turn, h) * (inertia * end)
        };
        // central differences with a step of 1e-5 are exact to about 1e-10 of 0.03 kg m²
        for k in 0..3 {
            let mut step = Vector3::zeros();
            step[k] = 1e-5;
            let difference = (momentum(&(middle + step)) - momentum(&(middle - step))) / 2e-5;
            assert!((difference - derivative.column(k)).amax() < 1e-10, "column {k}");
        }
    }
}
