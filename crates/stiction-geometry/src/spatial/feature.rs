//! Features of a core that face another body: vertices, rims, edges and sides, faces, and the surface of an ellipsoid.
//!
//! Each has its cone of normals. A normal outside by a small angle still counts where two bodies lie along each other:
//! so contacts at both ends of a line or around a face are known before they close.

use nalgebra::{Point3, Vector3};

use super::core::{Core, CoreKind};

/// Sine of the angle by which a normal may lie outside the cone of a feature that takes part in a line or face
/// contact: 17°. Sensible range 0.05 to 0.4. Smaller loses the far ends of a body that tips over until they are near;
/// larger gives tilted bodies idle contacts.
pub(super) const NEARLY_FACING: f64 = 0.3;

/// Parts of the identifier of a rim, after its code: points of it with events of their own.
pub(super) const RIM_HIGHEST: u32 = 1;
pub(super) const RIM_CROSSING: [u32; 2] = [2, 3];
pub(super) const RIM_POINT: u32 = 4;

/// Points of a rim that a body stands on, fixed to the body. Eight keep the support within 8 % of the disc's, and the
/// lowest point of the rim is one more as soon as it tilts. Range 3 to 12: the identifier has room for 12.
pub(super) const RIM_POINTS: u32 = 8;

/// Codes of the features of cylinders and cones.
const SIDE: u32 = 0;
const CAPS: [u32; 2] = [1, 2];
const APEX: u32 = 2;
const RIMS: [u32; 2] = [16, 32];
/// Code of the interior of a segment; its ends are 0 and 1.
const INTERIOR: u32 = 2;

/// Circle in space.
#[derive(Clone, Copy)]
pub(super) struct Circle {
    pub(super) centre: Point3<f64>,
    /// Outward normal of the face that it bounds.
    pub(super) axis: Vector3<f64>,
    pub(super) radius: f64,
    /// Direction of its first fixed point.
    pub(super) first: Vector3<f64>,
}

/// Surface of straight lines, each with one normal n: an edge or segment, the side of a cylinder, the side of a cone.
#[derive(Clone, Copy)]
pub(super) struct Ruled {
    /// Point of the axis: the first end, or the apex.
    pub(super) origin: Point3<f64>,
    pub(super) axis: Vector3<f64>,
    /// Sine and cosine of the angle between line and axis: n · axis = sine.
    pub(super) sine: f64,
    pub(super) cosine: f64,
    /// Distance from the axis, of a cylinder [m].
    pub(super) radius: f64,
    /// Range of the lines along their direction, from the origin [m].
    pub(super) range: [f64; 2],
}

impl Ruled {
    /// Direction of the line with a normal.
    pub(super) fn direction(&self, n: &Vector3<f64>) -> Vector3<f64> {
        (self.axis - n * self.sine) / self.cosine
    }

    /// Whether a coordinate along the line is on it.
    pub(super) fn holds(&self, along: f64) -> bool {
        let slack = crate::gap::END_RELATIVE * (self.range[1] - self.range[0]);
        self.range[0] - slack <= along && along <= self.range[1] + slack
    }
}

/// Form of a feature.
#[derive(Clone, Copy)]
pub(super) enum Form {
    Vertex(Point3<f64>),
    Ruled(Ruled),
    Rim(Circle),
    Face { normal: Vector3<f64>, point: Point3<f64> },
    Ellipsoid,
}

/// Cone of normals of a feature.
#[derive(Clone, Copy)]
enum NormalCone {
    /// All normals that the form allows.
    Any,
    /// Half-space about a direction, at the end of a segment.
    Half(Vector3<f64>),
    /// Cone about an axis, at the apex of a cone; sine and cosine as of its side.
    Apex(Vector3<f64>, [f64; 2]),
    /// Vertex of a polyhedron.
    Vertex(usize),
    /// Edge between two facets; directions from the edge into them.
    Edge([Vector3<f64>; 2]),
    /// Rim; sine and cosine of the side next to it.
    Rim([f64; 2]),
}

/// CoreFeature of a core, in the world.
#[derive(Clone, Copy)]
pub(super) struct CoreFeature {
    pub(super) form: Form,
    pub(super) code: u32,
    cone: NormalCone,
}

impl CoreFeature {
    /// Sine of the angle by which a unit normal is outside the cone of the feature; at most 0 inside.
    pub(super) fn excess(&self, core: &Core<'_>, n: &Vector3<f64>) -> f64 {
        match self.cone {
            NormalCone::Any => -1.0,
            NormalCone::Half(outward) => -n.dot(&outward),
            NormalCone::Apex(axis, [sine, cosine]) => {
                let along = n.dot(&axis);
                sine * (n - axis * along).norm() - cosine * along
            }
            NormalCone::Vertex(v) => {
                let CoreKind::Solid(solid) = &core.kind else { return 1.0 };
                let local = core.pose.rotation.inverse_transform_vector(n);
                let from = solid.vertices[v];
                let around = solid.topology.graph().around(v).iter();
                around
                    .map(|&w| {
                        let edge = solid.vertices[w as usize] - from;
                        local.dot(&edge) / edge.norm()
                    })
                    .fold(-1.0, f64::max)
            }
            NormalCone::Edge(into) => n.dot(&into[0]).max(n.dot(&into[1])),
            NormalCone::Rim([sine, cosine]) => {
                let Form::Rim(circle) = &self.form else { return 1.0 };
                // into the side: away from the face, and inwards on a cone
                let along = n.dot(&circle.axis);
                -cosine * along - sine * (n - circle.axis * along).norm()
            }
        }
    }

    /// Whether a point of a face, or above it, is within the outline of the face by a slack [m].
    pub(super) fn face_holds(&self, core: &Core<'_>, point: &Point3<f64>, slack: f64) -> bool {
        match &core.kind {
            CoreKind::Solid(solid) => {
                let local = core.pose.inverse_transform_point(point);
                let facet = self.code as usize;
                let n = solid.facets[facet];
                let range = solid.topology.range(facet);
                range.clone().all(|i| {
                    let next = if i + 1 == range.end { range.start } else { i + 1 };
                    let [p, q] = [i, next].map(|i| solid.vertices[solid.topology.corners[i] as usize]);
                    let outward = (q - p).cross(&n);
                    outward.dot(&(local - p)) <= slack * outward.norm()
                })
            }
            CoreKind::Cylinder { radius, .. } | CoreKind::Cone { radius, .. } => {
                let local = core.pose.inverse_transform_point(point);
                local.x.hypot(local.y) <= radius + slack
            }
            _ => false,
        }
    }
}

impl Core<'_> {
    /// Rims of a cylinder or cone with their codes, lowest last.
    pub(super) fn rims(&self) -> impl Iterator<Item = (u32, Circle)> {
        let (half_length, radius, count) = match self.kind {
            CoreKind::Cylinder { half_length, radius } => (half_length, radius, 2),
            CoreKind::Cone { half_length, radius } => (half_length, radius, 1),
            _ => (0.0, 0.0, 0),
        };
        let (axis, first) = (self.axis(), self.pose.rotation * Vector3::x());
        let middle = Point3::from(self.pose.translation.vector);
        (0..count).map(move |i| {
            let outward = if i == 0 { -axis } else { axis };
            (RIMS[i], Circle { centre: middle + outward * half_length, axis: outward, radius, first })
        })
    }

    /// Outward normals of the faces with their codes.
    pub(super) fn face_normals(&self) -> impl Iterator<Item = (u32, Vector3<f64>)> {
        let axis = self.axis();
        let caps = match self.kind {
            CoreKind::Cylinder { .. } => 2,
            CoreKind::Cone { .. } => 1,
            _ => 0,
        };
        let facets = if let CoreKind::Solid(solid) = &self.kind { solid.facets } else { &[] };
        let facets = (0..).zip(facets).map(|(code, a)| (code, self.pose.rotation * a.normalize()));
        CAPS.into_iter().zip([-axis, axis]).take(caps).chain(facets)
    }

    /// Appends the features whose normals include, or nearly include, a unit vector.
    pub(super) fn facing(&self, n: &Vector3<f64>, out: &mut Vec<CoreFeature>) {
        let first = out.len();
        let middle = Point3::from(self.pose.translation.vector);
        let axis = self.axis();
        match &self.kind {
            CoreKind::Point => {
                out.push(CoreFeature { form: Form::Vertex(middle), code: 0, cone: NormalCone::Any });
            }
            CoreKind::Ellipsoid { .. } => {
                out.push(CoreFeature { form: Form::Ellipsoid, code: 0, cone: NormalCone::Any });
            }
            CoreKind::Segment { half_length } => {
                for (code, outward) in [(0, -axis), (1, axis)] {
                    let end = middle + outward * *half_length;
                    out.push(CoreFeature { form: Form::Vertex(end), code, cone: NormalCone::Half(outward) });
                }
                let side = straight(middle - axis * *half_length, axis, 2.0 * half_length, 0.0);
                out.push(CoreFeature { form: side, code: INTERIOR, cone: NormalCone::Any });
            }
            CoreKind::Cylinder { half_length, radius } => {
                for (code, outward) in CAPS.into_iter().zip([-axis, axis]) {
                    let form = Form::Face { normal: outward, point: middle + outward * *half_length };
                    out.push(CoreFeature { form, code, cone: NormalCone::Any });
                }
                let cone = NormalCone::Rim([0.0, 1.0]);
                out.extend(self.rims().map(|(code, circle)| CoreFeature {
                    form: Form::Rim(circle),
                    code,
                    cone,
                }));
                let side = straight(middle - axis * *half_length, axis, 2.0 * half_length, *radius);
                out.push(CoreFeature { form: side, code: SIDE, cone: NormalCone::Any });
            }
            CoreKind::Cone { half_length, radius } => {
                let slant = radius.hypot(2.0 * half_length);
                let slope = [radius / slant, 2.0 * half_length / slant];
                let (base, apex) = (middle - axis * *half_length, middle + axis * *half_length);
                let form = Form::Face { normal: -axis, point: base };
                out.push(CoreFeature { form, code: CAPS[0], cone: NormalCone::Any });
                let cone = NormalCone::Rim(slope);
                out.extend(self.rims().map(|(code, circle)| CoreFeature {
                    form: Form::Rim(circle),
                    code,
                    cone,
                }));
                let cone = NormalCone::Apex(axis, slope);
                out.push(CoreFeature { form: Form::Vertex(apex), code: APEX, cone });
                let [sine, cosine] = slope;
                let side = Ruled { origin: apex, axis, sine, cosine, radius: 0.0, range: [-slant, 0.0] };
                out.push(CoreFeature { form: Form::Ruled(side), code: SIDE, cone: NormalCone::Any });
            }
            CoreKind::Solid(_) => self.facing_of_solid(n, out),
        }
        let mut kept = first;
        for i in first..out.len() {
            let feature = out[i];
            let near = match feature.form {
                Form::Face { normal, .. } => normal.dot(n) >= crate::events::MIN_CAP_COSINE,
                Form::Ruled(ruled) => (n.dot(&ruled.axis) - ruled.sine).abs() <= NEARLY_FACING,
                _ => true,
            };
            if near && feature.excess(self, n) <= NEARLY_FACING {
                out.swap(kept, i);
                kept += 1;
            }
        }
        out.truncate(kept);
    }

    /// Appends the facets, edges and vertices of a polyhedron about a direction; the caller drops those that do not
    /// face it.
    fn facing_of_solid(&self, n: &Vector3<f64>, out: &mut Vec<CoreFeature>) {
        let CoreKind::Solid(solid) = &self.kind else { return };
        let (topology, rotation) = (solid.topology, self.pose.rotation.to_rotation_matrix());
        let local = rotation.inverse_transform_vector(n);
        let at = |v: u32| self.pose * solid.vertices[v as usize];
        let unit = |facet: usize| solid.facets[facet].normalize();
        for facet in 0..topology.facets() {
            let range = topology.range(facet);
            let normal = unit(facet);
            if normal.dot(&local) >= crate::events::MIN_CAP_COSINE {
                let point = at(topology.corners[range.start]);
                let form = Form::Face { normal: rotation * normal, point };
                out.push(CoreFeature { form, code: code(facet), cone: NormalCone::Any });
            }
            for i in range.clone() {
                let across = topology.neighbours[i] as usize;
                if across < facet {
                    continue;
                }
                let next = if i + 1 == range.end { range.start } else { i + 1 };
                let [p, q] = [i, next].map(|i| solid.vertices[topology.corners[i] as usize]);
                let length = (q - p).norm();
                let along = (q - p) / length;
                if along.dot(&local).abs() > NEARLY_FACING {
                    continue;
                }
                let into = [normal.cross(&along), along.cross(&unit(across))];
                if into.iter().any(|into| into.dot(&local) > NEARLY_FACING) {
                    continue;
                }
                out.push(CoreFeature {
                    form: straight(self.pose * p, rotation * along, length, 0.0),
                    code: code(topology.facets()) + topology.sides[i],
                    cone: NormalCone::Edge(into.map(|into| rotation * into)),
                });
            }
        }
        for v in 0..topology.vertices {
            let named = code(topology.facets() + topology.edges.len() + v);
            let cone = NormalCone::Vertex(v);
            let feature = CoreFeature { form: Form::Vertex(at(code(v))), code: named, cone };
            if feature.excess(self, n) <= NEARLY_FACING {
                out.push(feature);
            }
        }
    }
}

fn code(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}

/// Lines along an axis at a distance from it.
fn straight(origin: Point3<f64>, axis: Vector3<f64>, length: f64, radius: f64) -> Form {
    Form::Ruled(Ruled { origin, axis, sine: 0.0, cosine: 1.0, radius, range: [0.0, length] })
}
