//! Friction cones as linear constraints on the coordinates of a null space: faces of polygons, and tangent cuts of round
//! cones, which programs add until none is exceeded. For intervals of impulses and for the search of all motions.

use crate::problem::FrictionSet;
use nalgebra::DVector;

/// Tangent cuts of each round cone before the first program, in the plane of the first two tangents.
const FIRST_CUTS: usize = 8;

/// Affine function of the coordinates y of a null space: value + slope·y.
#[derive(Debug, Clone)]
pub(crate) struct Affine {
    pub(crate) value: f64,
    pub(crate) slope: DVector<f64>,
}

impl Affine {
    /// Value at `y`.
    pub(crate) fn at(&self, y: &DVector<f64>) -> f64 {
        self.value + self.slope.dot(y)
    }

    /// self − Σ factors × others.
    pub(crate) fn less(&self, factors: &[f64], others: &[Self]) -> Self {
        let mut result = self.clone();
        for (factor, other) in factors.iter().zip(others) {
            result.value -= factor * other.value;
            result.slope.axpy(-factor, &other.slope, 1.0);
        }
        result
    }
}

/// Round friction bound: ‖(T₁/a₁, T₂/a₂, …)‖ ≤ bound.
#[derive(Debug)]
pub(crate) struct RoundCone {
    pub(crate) bound: Affine,
    pub(crate) tangents: Vec<Affine>,
    pub(crate) axes: [f64; 3],
}

impl RoundCone {
    /// Size of a friction, as the bound measures it.
    pub(crate) fn size(&self, friction: &[f64]) -> f64 {
        friction.iter().zip(&self.axes).map(|(t, a)| (t / a).powi(2)).sum::<f64>().sqrt()
    }

    /// Slack of the tangent cut at the friction of `direction`, an impulse along the tangents: positive inside.
    pub(crate) fn cut(&self, direction: &[f64]) -> Affine {
        let size = self.size(direction);
        let factors: Vec<f64> = direction.iter().zip(&self.axes).map(|(t, a)| t / (a * a * size)).collect();
        self.bound.less(&factors, &self.tangents)
    }

    /// Friction at `y`, and the amount by which it exceeds its bound.
    pub(crate) fn excess(&self, y: &DVector<f64>) -> (Vec<f64>, f64) {
        let friction: Vec<f64> = self.tangents.iter().map(|t| t.at(y)).collect();
        let excess = self.size(&friction) - self.bound.at(y);
        (friction, excess)
    }
}

impl RoundCone {
    /// Cuts before the first program.
    fn first_cuts(&self) -> Vec<Affine> {
        let mut cuts = Vec::new();
        for k in 0..FIRST_CUTS {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / FIRST_CUTS as f64).sin_cos();
            let direction = [cos * self.axes[0], sin * self.axes[1], 0.0];
            cuts.push(self.cut(&direction[..self.tangents.len()]));
        }
        if self.tangents.len() == 3 {
            cuts.extend([-1.0, 1.0].map(|pole| self.cut(&[0.0, 0.0, pole])));
        }
        cuts
    }
}

/// Linear constraints of friction along `tangents` within `bound`, as slacks that are not negative; with the round cone
/// whose cuts they are, if it is one.
pub(crate) fn friction_slacks(
    set: &FrictionSet,
    bound: Affine,
    tangents: Vec<Affine>,
) -> (Vec<Affine>, Option<RoundCone>) {
    match set {
        FrictionSet::Polygon(generators) => {
            let faces = faces(generators, tangents.len());
            (faces.iter().map(|face| bound.less(face, &tangents)).collect(), None)
        }
        FrictionSet::Ellipse(axes) => {
            let cone = RoundCone { bound, tangents, axes: *axes };
            (cone.first_cuts(), Some(cone))
        }
    }
}

/// Faces of a friction polygon of unit bound over one or two tangents, as normals f with f·T ≤ 1.
fn faces(generators: &[[f64; 3]], tangents: usize) -> Vec<Vec<f64>> {
    if tangents == 1 {
        let most = generators.iter().fold(0.0, |m: f64, g| m.max(g[0].abs()));
        return vec![vec![1.0 / most], vec![-1.0 / most]];
    }
    let mut faces = Vec::new();
    for (i, a) in generators.iter().enumerate() {
        for b in &generators[i + 1..] {
            // f·a = f·b = 1
            let cross = a[0] * b[1] - a[1] * b[0];
            if cross.abs() <= f64::EPSILON {
                continue;
            }
            let face = [(b[1] - a[1]) / cross, (a[0] - b[0]) / cross];
            let all = generators.iter().all(|g| face[0] * g[0] + face[1] * g[1] <= 1.0 + FACE_ROUND_OFF);
            if all {
                faces.push(face.to_vec());
            }
        }
    }
    faces
}

/// Round-off of generators on a face of their polygon [-]. Sensible range 1e-14 to 1e-9.
const FACE_ROUND_OFF: f64 = 1e-12;
