//! Mass properties of cylinders and cones, rounded or not: bodies of revolution about local z, from their profile.

use std::f64::consts::{FRAC_PI_2, PI};

use nalgebra::{Matrix3, Point3, Vector3};

use super::mass::MassProperties;

/// Nodes of the quadrature on each piece of a profile. Straight pieces are exact with 3, arcs are right to round-off
/// with 12; more change nothing.
const NODES: u32 = 16;

/// Cylinder or cone about local z, wrapped in a radius [m].
pub(super) struct Revolution {
    pub(super) half_length: f64,
    /// Radius at the lower end.
    pub(super) radius: f64,
    /// The upper end is the same; else it is the apex.
    pub(super) is_cylinder: bool,
    pub(super) rounding: f64,
}

impl Revolution {
    /// Mass properties with a density [kg/m³].
    pub(super) fn mass(&self, density: f64) -> MassProperties {
        let Self { half_length: l, radius, is_cylinder, rounding: r } = *self;
        let top = if is_cylinder { radius } else { 0.0 };
        let slope = (radius - top).atan2(2.0 * l);
        // volume, ∫ z, ∫ z², and ∫ (x² + y²)
        let mut moments = [0.0; 4];
        let mut piece = |from: f64, to: f64, point: &dyn Fn(f64) -> [f64; 3]| {
            for (node, weight) in legendre_rule() {
                let u = 0.5 * (from + to) + 0.5 * (to - from) * node;
                let [rho, z, rate] = point(u);
                let slice = 0.5 * (to - from) * weight * PI * rho * rho * rate;
                let parts = [1.0, z, z * z, 0.5 * rho * rho];
                moments.iter_mut().zip(parts).for_each(|(sum, part)| *sum += slice * part);
            }
        };
        let arc = |rho: f64, z: f64| {
            move |angle: f64| {
                let (sin, cos) = angle.sin_cos();
                [rho + r * cos, z + r * sin, r * cos]
            }
        };
        piece(-FRAC_PI_2, slope, &arc(radius, -l));
        piece(0.0, 1.0, &|u| {
            let rho = radius + (top - radius) * u + r * slope.cos();
            [rho, l * (2.0 * u - 1.0) + r * slope.sin(), 2.0 * l]
        });
        piece(slope, FRAC_PI_2, &arc(top, l));

        let [volume, first, second, about] = moments;
        let z = first / volume;
        let across = 0.5 * about + second - volume * z * z;
        MassProperties {
            mass: density * volume,
            centre: Point3::new(0.0, 0.0, z),
            inertia: Matrix3::from_diagonal(&(density * Vector3::new(across, across, about))),
        }
    }
}

/// Nodes and weights of the Gauss–Legendre rule on [−1, 1].
fn legendre_rule() -> impl Iterator<Item = (f64, f64)> {
    let n = f64::from(NODES);
    (0..NODES).map(move |i| {
        let mut x = (PI * (f64::from(i) + 0.75) / (n + 0.5)).cos();
        let mut slope = 1.0;
        // Newton's method, quadratic from a good start
        for _ in 0..6 {
            let (mut below, mut here) = (1.0, x);
            for k in 1..NODES {
                let k = f64::from(k);
                (below, here) = (here, ((2.0 * k + 1.0) * x * here - k * below) / (k + 1.0));
            }
            slope = n * (x * here - below) / (x * x - 1.0);
            x -= here / slope;
        }
        (x, 2.0 / ((1.0 - x * x) * slope * slope))
    })
}
