//! Gaps of two features: the common normal in closed form or by Newton's method, with a foot on each feature.

use nalgebra::{Matrix2, Matrix3, Point3, Vector2, Vector3};

use super::capsule::PARALLEL_SEGMENTS_SINE;
use super::core::Core;
use super::feature::{
    Circle, CoreFeature, Form, NEARLY_FACING, RIM_CROSSING, RIM_HIGHEST, RIM_POINT, RIM_POINTS, Ruled,
};
use crate::convex::{SEPARATION_NOISE, Separation, Support, common_normal};
use crate::events::{MIN_CAP_COSINE, ON_FACET_RELATIVE};
use crate::gap::MIN_DIRECTION_LENGTH;

/// Sine of the angle to its face within which the points of a rim that are fixed to the body have events: a body that
/// stands. Sensible range 1e-6 to 1e-2. Smaller lets a body rock before its support is seen; larger lets fixed points
/// graze the face as the body rolls on its rim.
const STANDING_SINE: f64 = 1e-3;

/// Sine of the angle to its face below which a rim has no lowest point. The gap is wrong by as much, relative to the
/// radius. Sensible range 1e-12 to 1e-9.
const LEVEL_SINE: f64 = 1e-10;

/// Sine by which a normal may lie outside the cone of a feature that is nearest to the other one. Sensible range 1e-12
/// to 1e-6: zero loses events on the border of two features, more adds events of features that do not face each other.
const NORMAL_CONE_TOLERANCE: f64 = 1e-9;

/// Least cosine of a rim's axis and the normal where another edge may cross it.
const MIN_CROSSING_COSINE: f64 = 0.9;

/// Sine of the angle of two tangents above which the normal is taken from them: the points may coincide. Sensible range
/// 1e-3 to 0.3.
const CROSSING_SINE: f64 = 0.1;

/// Distance across a common normal of the points of an ellipsoid and another feature, relative to the size: a larger one is no
/// round-off of Newton's method. Sensible range 1e-14 to 1e-11.
const COMMON_RELATIVE: f64 = 1e-12;

/// Factor on the depth of an overlap for which its common normal must still be that of least depth [1]. Sensible range
/// 1.001 to 1.2: closer to 1 accepts normals that round-off has turned.
const CLEAR_MAXIMUM: f64 = 1.02;

/// Newton steps on rims; about 4 are needed.
const MAX_RIM_STEPS: usize = 25;

/// Largest turn along a rim in one Newton step [rad].
const MAX_RIM_TURN: f64 = 0.4;

/// Largest last turn of Newton's method that has converged [rad]: the next would be its square. Sensible range 1e-12 to
/// 1e-8.
const LAST_TURN: f64 = 1e-9;

/// Turn along a rim at which Newton's method has converged [rad].
const CONVERGED_RIM_TURN: f64 = 1e-15;

/// Rank of an event when several coincide: those on faces first, those of two points last.
const FACE_RANK: u8 = 0;
const CROSSING_RANK: u8 = 1;
const END_RANK: u8 = 2;
const POINT_RANK: u8 = 3;
/// Rank of a common normal that is not one of the whole bodies: a way to it where they overlap, but no event.
pub(super) const WAY_RANK: u8 = 4;

/// Event of two features, between the cores.
pub(super) struct CoreEvent {
    /// Point of the core of a.
    pub(super) on_a: Point3<f64>,
    /// Separation of the cores along the normal [m].
    pub(super) core: f64,
    pub(super) normal: Vector3<f64>,
    /// Codes of the features of a and b.
    pub(super) codes: [u32; 2],
    pub(super) rank: u8,
}

impl CoreEvent {
    fn flipped(self) -> Self {
        let on_a = self.on_a + self.core * self.normal;
        let codes = [self.codes[1], self.codes[0]];
        Self { on_a, normal: -self.normal, codes, ..self }
    }
}

/// Two features with their cores, and a normal from the first to the second near their common one.
pub(super) struct FeaturePair<'a> {
    pub(super) cores: [&'a Core<'a>; 2],
    pub(super) features: [&'a CoreFeature; 2],
    pub(super) near: Vector3<f64>,
    /// Size of the smaller body [m].
    pub(super) size: f64,
}

impl FeaturePair<'_> {
    /// Calls `emit` with the events of the pair.
    pub(super) fn events(&self, emit: &mut dyn FnMut(CoreEvent)) {
        use Form::{Ellipsoid, Face, Rim, Ruled, Vertex};
        let [a, b] = [&self.features[0].form, &self.features[1].form];
        match (a, b) {
            (Face { normal, point }, _) => self.on_face(normal, point, emit),
            (Ellipsoid, Ellipsoid | Vertex(_) | Ruled(_) | Rim(_)) => self.of_ellipsoid(emit),
            (Vertex(p), Vertex(q)) => self.of_points(p, q, emit),
            (Vertex(p), Rim(circle)) => {
                // a point over the face meets the face
                let q = nearest_on(circle, p);
                if (p - q).dot(&(q - circle.centre)) >= 0.0 {
                    self.of_points(p, &q, emit);
                }
            }
            (Vertex(p), Ruled(ruled)) => self.of_point_and_line(p, ruled, emit),
            (Rim(a), Rim(b)) => self.of_rims(a, b, emit),
            (Rim(circle), Ruled(ruled)) => self.of_rim_and_line(circle, ruled, emit),
            (Ruled(a), Ruled(b)) => self.of_lines(a, b, emit),
            (_, Face { .. } | Ellipsoid) | (Ruled(_) | Rim(_), Vertex(_)) | (Ruled(_), Rim(_)) => {
                self.turned(emit);
            }
        }
    }

    /// Events with the features exchanged.
    fn turned(&self, emit: &mut dyn FnMut(CoreEvent)) {
        let [a, b] = self.cores;
        let [f, g] = self.features;
        let turned = FeaturePair { cores: [b, a], features: [g, f], near: -self.near, size: self.size };
        turned.events(&mut |event| emit(event.flipped()));
    }

    fn codes(&self) -> [u32; 2] {
        self.features.map(|feature| feature.code)
    }

    /// Largest sine by which a normal is outside the cone of normals of feature `k`.
    fn excess(&self, k: usize, normal: &Vector3<f64>) -> f64 {
        let outward = if k == 0 { *normal } else { -normal };
        self.features[k].excess(self.cores[k], &outward)
    }

    /// Whether a normal is in the cones of both features, or outside by at most these sines.
    fn faces(&self, normal: &Vector3<f64>, slack: [f64; 2]) -> bool {
        (0..2).all(|k| self.excess(k, normal) <= slack[k])
    }

    /// Events of a face of a and the points of the other feature that are lowest above it or fixed.
    fn on_face(&self, n: &Vector3<f64>, point: &Point3<f64>, emit: &mut dyn FnMut(CoreEvent)) {
        let codes = self.codes();
        let mut add = |p: Point3<f64>, part: u32| {
            if self.features[0].face_holds(self.cores[0], &p, ON_FACET_RELATIVE * self.size) {
                let core = n.dot(&(p - point));
                let codes = [codes[0], codes[1] + part];
                emit(CoreEvent { on_a: p - core * n, core, normal: *n, codes, rank: FACE_RANK });
            }
        };
        match &self.features[1].form {
            Form::Vertex(p) => add(*p, 0),
            Form::Rim(circle) if self.excess(1, n) <= NEARLY_FACING => rim_points(circle, &-n, &mut add),
            Form::Ellipsoid => add(self.cores[1].farthest(&-n).into(), 0),
            _ => {}
        }
    }

    /// Event of an ellipsoid a and a vertex, line, rim or ellipsoid b.
    fn of_ellipsoid(&self, emit: &mut dyn FnMut(CoreEvent)) {
        let [a, b] = self.cores;
        let (n, on_b, holds) = match &self.features[1].form {
            Form::Ruled(ruled) => {
                let Some(start) = ruled_normal(ruled, &-self.near) else { return };
                let n = -common_normal_on_circle(start, ruled, self.size, |n| Separation {
                    between: ruled.origin.coords - a.farthest(&-n),
                    curvature: a.curvature(n),
                });
                let outer = ruled.origin - n * ruled.radius;
                let g = ruled.direction(&-n);
                let along = g.dot(&(Point3::from(a.farthest(&n)) - outer));
                (n, outer + g * along, ruled.holds(along))
            }
            form => {
                let point = |n: &Vector3<f64>| match form {
                    Form::Vertex(p) => p.coords,
                    Form::Rim(circle) => lowest(circle, &-n).0.coords,
                    _ => b.farthest(&-n),
                };
                let n = common_normal(self.near, self.size, |n| {
                    let mut curvature = a.curvature(n) + b.curvature(n);
                    if let Form::Rim(circle) = form {
                        curvature += rim_curvature(circle, n);
                    }
                    Separation { between: point(n) - a.farthest(n), curvature }
                });
                (n, point(&n).into(), true)
            }
        };
        // a rim or the side of a cone may have no common normal with an ellipsoid
        let between = on_b - Point3::from(a.farthest(&n));
        let across = between - n * n.dot(&between);
        // the greatest separation, and clearly so: else the normal is round-off
        let height = n.dot(&between);
        let along = n * n.transpose();
        let mut curvature = a.curvature(&n) + b.curvature(&n);
        if let Form::Rim(circle) = &self.features[1].form {
            curvature += rim_curvature(circle, &n);
        }
        let bend = curvature + (Matrix3::identity() - along) * (height * CLEAR_MAXIMUM) + along;
        let is_line = matches!(self.features[1].form, Form::Ruled(_));
        let greatest = height > 0.0 || is_line || bend.cholesky().is_some();
        let faces = greatest
            && across.norm() <= COMMON_RELATIVE * self.size
            && holds
            && self.faces(&n, [NORMAL_CONE_TOLERANCE; 2]);
        let rank = if faces { POINT_RANK } else { WAY_RANK };
        let core = height;
        emit(CoreEvent { on_a: on_b - core * n, core, normal: n, codes: self.codes(), rank });
    }

    /// Event of two points that are nearest to each other.
    fn of_points(&self, p: &Point3<f64>, q: &Point3<f64>, emit: &mut dyn FnMut(CoreEvent)) {
        let d = q - p;
        let core = d.norm();
        if !(core > MIN_DIRECTION_LENGTH) {
            return;
        }
        let normal = d / core;
        if self.faces(&normal, [NORMAL_CONE_TOLERANCE; 2]) {
            emit(CoreEvent { on_a: *p, core, normal, codes: self.codes(), rank: POINT_RANK });
        }
    }

    /// Event of a point of a and the line of b nearest to it.
    fn of_point_and_line(&self, p: &Point3<f64>, ruled: &Ruled, emit: &mut dyn FnMut(CoreEvent)) {
        let from = p - ruled.origin;
        let across = part_across(&ruled.axis, &from);
        let Some(radial) = across.try_normalize(MIN_DIRECTION_LENGTH).or_else(|| {
            let near = -self.near;
            (near - ruled.axis * near.dot(&ruled.axis)).try_normalize(MIN_DIRECTION_LENGTH)
        }) else {
            return;
        };
        let out = ruled.axis * ruled.sine + radial * ruled.cosine;
        let core = out.dot(&from) - ruled.radius;
        let normal = -out;
        // the end of a line along the other has its event before it faces it
        let holds = ruled.holds(ruled.direction(&out).dot(&from));
        if holds && self.faces(&normal, [NEARLY_FACING, NORMAL_CONE_TOLERANCE]) {
            emit(CoreEvent { on_a: *p, core, normal, codes: self.codes(), rank: END_RANK });
        }
    }

    /// Event where two lines cross, seen along their common normal.
    fn of_lines(&self, a: &Ruled, b: &Ruled, emit: &mut dyn FnMut(CoreEvent)) {
        let (cosine, cross) = (a.axis.dot(&b.axis), a.axis.cross(&b.axis));
        let squared = cross.norm_squared();
        if !(squared > PARALLEL_SEGMENTS_SINE * PARALLEL_SEGMENTS_SINE) {
            return;
        }
        // n · axis = sine of a, and n · axis = −sine of b
        let s = (a.sine + cosine * b.sine) / squared;
        let t = -(b.sine + cosine * a.sine) / squared;
        let rest = 1.0 - (s * a.sine - t * b.sine);
        if !(rest > 0.0) {
            return;
        }
        let between = a.axis * s + b.axis * t;
        let across = cross * (rest / squared).sqrt();
        let normal = if across.dot(&self.near) < 0.0 { between - across } else { between + across };
        let (u, v) = (a.direction(&normal), b.direction(&-normal));
        let (p, q) = (a.origin + normal * a.radius, b.origin - normal * b.radius);
        let area = normal.dot(&u.cross(&v));
        if !(area.abs() > PARALLEL_SEGMENTS_SINE) {
            return;
        }
        let w = q - p;
        let [along, other] = [v, u].map(|d| normal.dot(&w.cross(&d)) / area);
        if a.holds(along) && b.holds(other) && self.faces(&normal, [NEARLY_FACING; 2]) {
            let core = normal.dot(&w);
            emit(CoreEvent { on_a: p + u * along, core, normal, codes: self.codes(), rank: CROSSING_RANK });
        }
    }

    /// Events of a rim of a and a line of b: where the line crosses it, and the nearest points.
    fn of_rim_and_line(&self, circle: &Circle, ruled: &Ruled, emit: &mut dyn FnMut(CoreEvent)) {
        let start = across(&circle.axis, &self.near);
        if self.near.dot(&circle.axis).abs() >= MIN_CROSSING_COSINE
            && let Some(out) = ruled_normal(ruled, &-self.near)
        {
            // the line in the plane of the rim
            let g = ruled.direction(&out);
            let (p, d) = (ruled.origin + out * ruled.radius - circle.centre, g);
            let [p, d] = [p, d].map(|v| v - circle.axis * v.dot(&circle.axis));
            let (a, half_b, c) =
                (d.norm_squared(), p.dot(&d), p.norm_squared() - circle.radius * circle.radius);
            let root = (half_b * half_b - a * c).sqrt();
            if root > 0.0 {
                for (k, sign) in [-1.0, 1.0].into_iter().enumerate() {
                    let u = (p + d * ((-half_b + sign * root) / a)) / circle.radius;
                    self.near_rim_point(circle, ruled, u, RIM_CROSSING[k], emit);
                }
            }
        }
        if let Some(u) = start {
            self.near_rim_point(circle, ruled, u, 0, emit);
        }
    }

    /// Event of a rim of a and a line of b, from a direction to a point of the rim near it.
    fn near_rim_point(
        &self,
        circle: &Circle,
        ruled: &Ruled,
        mut u: Vector3<f64>,
        part: u32,
        emit: &mut dyn FnMut(CoreEvent),
    ) {
        let (axis, sine, cosine, r) = (ruled.axis, ruled.sine, ruled.cosine, circle.radius);
        let polar = |u: &Vector3<f64>| {
            let y = circle.centre + u * r - ruled.origin;
            let d = part_across(&axis, &y);
            (y, d, d.norm())
        };
        // a rim deep inside may have passed the axis
        let side = if polar(&u).1.dot(&self.near) > 0.0 { -1.0 } else { 1.0 };
        let polar = |u: &Vector3<f64>| {
            let (y, d, rho) = polar(u);
            (y, d, side * rho)
        };
        let mut convex = false;
        for _ in 0..MAX_RIM_STEPS {
            let (_, d, rho) = polar(&u);
            let t = circle.axis.cross(&u);
            let (t_axis, u_axis) = (t.dot(&axis), u.dot(&axis));
            let cone = if sine > 0.0 { sine * (d.dot(&t) / rho) * t_axis * r } else { 0.0 };
            let slope = cosine * d.dot(&t) + sine * rho * t_axis;
            let bend = cosine * (r * (1.0 - t_axis * t_axis) - d.dot(&u)) + cone - sine * rho * u_axis;
            let turn = (-slope / bend).clamp(-MAX_RIM_TURN, MAX_RIM_TURN);
            if !turn.is_finite() {
                return;
            }
            convex = (bend > 0.0 || side < 0.0) && turn.abs() <= LAST_TURN;
            u = (u + t * turn).normalize();
            if turn.abs() <= CONVERGED_RIM_TURN {
                break;
            }
        }
        let (y, d, rho) = polar(&u);
        let out = if sine == 0.0 && ruled.radius == 0.0 {
            let cross = axis.cross(&circle.axis.cross(&u));
            let length = cross.norm();
            if length > CROSSING_SINE {
                oriented(cross / length, &-self.near)
            } else if rho.abs() > MIN_DIRECTION_LENGTH {
                oriented(d / rho, &-self.near)
            } else {
                return;
            }
        } else {
            axis * sine + d * (cosine / rho)
        };
        let normal = -out;
        let along = ruled.direction(&out).dot(&y);
        let crosses = part > 0;
        // the point of the rim where its normals bend towards the line
        let outward = u.dot(&normal) >= if crosses { -NEARLY_FACING } else { 0.0 };
        let cone = if crosses { NEARLY_FACING } else { NORMAL_CONE_TOLERANCE };
        if convex && ruled.holds(along) && outward && self.faces(&normal, [NEARLY_FACING, cone]) {
            let codes = self.codes();
            emit(CoreEvent {
                on_a: circle.centre + u * r,
                core: out.dot(&y) - ruled.radius,
                normal,
                codes: [codes[0] + part, codes[1]],
                rank: if crosses { CROSSING_RANK } else { END_RANK },
            });
        }
    }

    /// Events of two rims: where they cross, and the nearest points.
    fn of_rims(&self, a: &Circle, b: &Circle, emit: &mut dyn FnMut(CoreEvent)) {
        let level = [a, b].map(|circle| self.near.dot(&circle.axis).abs() >= MIN_CROSSING_COSINE);
        if level == [true; 2] {
            let n = &self.near;
            let d = b.centre - a.centre;
            let d = d - n * n.dot(&d);
            let distance = d.norm();
            if distance < a.radius + b.radius && distance > (a.radius - b.radius).abs() {
                let x = d / distance;
                let y = n.cross(&x);
                let to = (distance * distance + a.radius * a.radius - b.radius * b.radius) / (2.0 * distance);
                let side = (a.radius * a.radius - to * to).max(0.0).sqrt();
                for (k, sign) in [-1.0, 1.0].into_iter().enumerate() {
                    let point = x * to + y * (sign * side);
                    let start = [across(&a.axis, &point), across(&b.axis, &(point - d))];
                    if let [Some(u), Some(v)] = start {
                        self.near_rim_points([a, b], [u, v], RIM_CROSSING[k], emit);
                    }
                }
            }
        }
        let start = [across(&a.axis, &self.near), across(&b.axis, &-self.near)];
        if let [Some(u), Some(v)] = start {
            self.near_rim_points([a, b], [u, v], 0, emit);
        }
    }

    /// Event of two rims from directions to points near it.
    fn near_rim_points(
        &self,
        circles: [&Circle; 2],
        mut u: [Vector3<f64>; 2],
        part: u32,
        emit: &mut dyn FnMut(CoreEvent),
    ) {
        let r = circles.map(|circle| circle.radius);
        let points = |u: &[Vector3<f64>; 2]| [0, 1].map(|k| circles[k].centre + u[k] * r[k]);
        let tangents = |u: &[Vector3<f64>; 2]| [0, 1].map(|k| circles[k].axis.cross(&u[k]));
        let mut convex = false;
        for _ in 0..MAX_RIM_STEPS {
            let ([p, q], [s, t]) = (points(&u), tangents(&u));
            let w = q - p;
            let cosine = s.dot(&t);
            let matrix =
                Matrix2::new(-r[0] - w.dot(&u[0]), r[1] * cosine, -r[0] * cosine, r[1] - w.dot(&u[1]));
            let Some(turn) = matrix.try_inverse().map(|m| -(m * Vector2::new(w.dot(&s), w.dot(&t)))) else {
                return;
            };
            if !turn.sum().is_finite() {
                return;
            }
            convex = matrix.determinant() < 0.0 && matrix[(0, 0)] < 0.0 && turn.amax() <= LAST_TURN;
            let turn = turn.map(|x| x.clamp(-MAX_RIM_TURN, MAX_RIM_TURN));
            u = [(u[0] + s * turn.x).normalize(), (u[1] + t * turn.y).normalize()];
            if turn.amax() <= CONVERGED_RIM_TURN {
                break;
            }
        }
        let ([p, q], [s, t]) = (points(&u), tangents(&u));
        let (w, cross) = (q - p, s.cross(&t));
        let (distance, sine) = (w.norm(), cross.norm());
        let normal = if sine > CROSSING_SINE {
            oriented(cross / sine, &self.near)
        } else if distance > MIN_DIRECTION_LENGTH {
            oriented(w / distance, &self.near)
        } else {
            return;
        };
        let crosses = part > 0;
        let least = if crosses { -NEARLY_FACING } else { 0.0 };
        let outward = u[0].dot(&normal) >= least && -u[1].dot(&normal) >= least;
        let cone = if crosses { NEARLY_FACING } else { NORMAL_CONE_TOLERANCE };
        if convex && outward && self.faces(&normal, [cone; 2]) {
            let codes = self.codes().map(|code| code + part);
            let rank = if crosses { CROSSING_RANK } else { POINT_RANK };
            emit(CoreEvent { on_a: p, core: normal.dot(&w), normal, codes, rank });
        }
    }
}

/// Points of a rim that meet a plane in a direction: the lowest, the highest of a rim along the plane, and those that
/// are fixed to the body of one that lies on it.
pub(super) fn rim_points(circle: &Circle, down: &Vector3<f64>, add: &mut impl FnMut(Point3<f64>, u32)) {
    let (point, sine) = lowest(circle, down);
    if sine > LEVEL_SINE {
        add(point, 0);
    }
    if circle.axis.dot(down) < MIN_CAP_COSINE {
        return;
    }
    if sine > STANDING_SINE {
        add(circle.centre + (circle.centre - point), RIM_HIGHEST);
    } else {
        let second = circle.axis.cross(&circle.first);
        for k in 0..RIM_POINTS {
            let (sin, cos) = (std::f64::consts::TAU * f64::from(k) / f64::from(RIM_POINTS)).sin_cos();
            let out = circle.first * cos + second * sin;
            add(circle.centre + out * circle.radius, RIM_POINT + k);
        }
    }
}

/// Point of a rim farthest along a unit direction, and the sine of the angle between the direction and the axis.
fn lowest(circle: &Circle, down: &Vector3<f64>) -> (Point3<f64>, f64) {
    let out = part_across(&circle.axis, down);
    let sine = out.norm();
    let point = if sine > MIN_DIRECTION_LENGTH {
        circle.centre + out * (circle.radius / sine)
    } else {
        circle.centre
    };
    (point, sine)
}

/// Second derivative of the support function of a circle.
fn rim_curvature(circle: &Circle, n: &Vector3<f64>) -> Matrix3<f64> {
    let across = circle.axis.cross(n);
    let length = across.norm().max(MIN_DIRECTION_LENGTH);
    across * across.transpose() * (circle.radius / length.powi(3))
}

/// Point of a circle nearest to a point; its first one for a point on the axis.
fn nearest_on(circle: &Circle, p: &Point3<f64>) -> Point3<f64> {
    circle.centre + across(&circle.axis, &(p - circle.centre)).unwrap_or(circle.first) * circle.radius
}

/// Unit vector of the part of a direction across an axis.
fn across(axis: &Vector3<f64>, direction: &Vector3<f64>) -> Option<Vector3<f64>> {
    part_across(axis, direction).try_normalize(MIN_DIRECTION_LENGTH)
}

/// Part of a vector across an axis, also where it is much shorter than the vector.
fn part_across(axis: &Vector3<f64>, v: &Vector3<f64>) -> Vector3<f64> {
    let part = v - axis * axis.dot(v);
    part - axis * axis.dot(&part)
}

/// Normal of a ruled surface nearest to a direction.
fn ruled_normal(ruled: &Ruled, near: &Vector3<f64>) -> Option<Vector3<f64>> {
    across(&ruled.axis, near).map(|out| ruled.axis * ruled.sine + out * ruled.cosine)
}

/// A unit vector or its negative, whichever is nearer to a direction.
fn oriented(n: Vector3<f64>, near: &Vector3<f64>) -> Vector3<f64> {
    if n.dot(near) < 0.0 { -n } else { n }
}

/// Normal of a ruled surface at which the separation from a smooth feature is greatest: Newton's method along the circle
/// of its normals. `separation` is from the ruled surface, at the origin of its lines, to the other one reversed.
fn common_normal_on_circle(
    mut n: Vector3<f64>,
    ruled: &Ruled,
    size: f64,
    separation: impl Fn(&Vector3<f64>) -> Separation<3>,
) -> Vector3<f64> {
    let height = |n: &Vector3<f64>| -n.dot(&separation(n).between);
    let mut here = height(&n);
    for _ in 0..MAX_RIM_STEPS {
        let Separation { between, curvature } = separation(&n);
        let t = ruled.axis.cross(&n);
        let slope = -between.dot(&t);
        let bend = t.dot(&(curvature * t)) - between.dot(&(n - ruled.axis * ruled.sine));
        let turn = if bend > 0.0 { slope / bend } else { MAX_RIM_TURN.copysign(slope) };
        let mut turn = turn.clamp(-MAX_RIM_TURN, MAX_RIM_TURN);
        if !(turn.abs() > CONVERGED_RIM_TURN) {
            break;
        }
        loop {
            let (sin, cos) = turn.sin_cos();
            let along = ruled.axis * ruled.sine;
            let next = along + (n - along) * cos + t * sin;
            let higher = height(&next);
            if higher >= here - SEPARATION_NOISE * (size + between.norm()) || turn.abs() < CONVERGED_RIM_TURN
            {
                (n, here) = (next, higher);
                break;
            }
            turn *= 0.5;
        }
    }
    n
}
