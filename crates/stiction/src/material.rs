//! Materials of surfaces, their combination in a contact, and the groups that decide which shapes meet.

use nalgebra::Point;
use serde::{Deserialize, Serialize};
use stiction_geometry::Gap;

/// Material of a surface.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Material {
    /// Coulomb coefficient μ ≥ 0 [1]. Default 0.5.
    pub friction: f64,
    /// Coefficient of restitution e, 0 to 1 [1]. Default 0.
    pub restitution: f64,
    /// Torsional radius ℓ_t ≥ 0 [m]: a contact in space resists spin about its normal with a moment of at most
    /// μ ℓ_t N. Sliding shares that bound, |(f, m/ℓ_t)| ≤ μ N, so a spinning body slides farther. For a round patch of
    /// radius a under even pressure it is 2a/3. The plane has no such spin. Default 0: none.
    pub torsion: f64,
    /// Rolling length ℓ_r ≥ 0 [m]: a contact resists rolling with a moment of at most ℓ_r N, whether it slips or not. A
    /// ball of radius R stays on inclines up to tan θ = ℓ_r / R. Default 0: none.
    pub rolling: f64,
}

impl Default for Material {
    fn default() -> Self {
        Self { friction: 0.5, restitution: 0.0, torsion: 0.0, rolling: 0.0 }
    }
}

impl Material {
    /// Material of a contact of two surfaces: μ = √(μ_a μ_b), so that two of a kind keep theirs and one without friction
    /// has none with anything; likewise ℓ_t and ℓ_r; e = max(e_a, e_b). For another rule give the pair its own material.
    #[must_use]
    pub fn combined(&self, other: &Self) -> Self {
        Self {
            friction: (self.friction * other.friction).sqrt(),
            restitution: self.restitution.max(other.restitution),
            torsion: (self.torsion * other.torsion).sqrt(),
            rolling: (self.rolling * other.rolling).sqrt(),
        }
    }

    /// `true` when `length` [m] is positive for a pair with a material of its own, or for two of these surfaces: their
    /// combination is positive where both are.
    pub(crate) fn any_pair<'a>(
        surfaces: impl Iterator<Item = &'a Self>,
        mut pairs: impl Iterator<Item = &'a Self>,
        length: impl Fn(&Self) -> f64,
    ) -> bool {
        pairs.any(|m| length(m) > 0.0) || surfaces.filter(|m| length(m) > 0.0).nth(1).is_some()
    }

    /// Mistakes: field and reason of each.
    pub(crate) fn mistakes(&self) -> impl Iterator<Item = (&'static str, String)> {
        let friction = (!(self.friction.is_finite() && self.friction >= 0.0))
            .then(|| ("friction", format!("μ = {} must be finite and not negative", self.friction)));
        let restitution = (!(0.0..=1.0).contains(&self.restitution))
            .then(|| ("restitution", format!("e = {} must lie between 0 and 1", self.restitution)));
        let length = |name: &'static str, symbol: &str, length: f64| {
            let fits = length.is_finite() && length >= 0.0;
            (!fits).then(|| (name, format!("{symbol} = {length} m must be finite and not negative")))
        };
        let torsion = length("torsion", "ℓ_t", self.torsion);
        let rolling = length("rolling", "ℓ_r", self.rolling);
        friction.into_iter().chain(restitution).chain(torsion).chain(rolling)
    }
}

/// Collision groups: two shapes meet when each belongs to a group that the other collides with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Groups {
    /// Groups that the shape belongs to, one bit each. Default: the first.
    pub member: u32,
    /// Groups that it collides with, one bit each. Default: all.
    pub collides: u32,
}

impl Default for Groups {
    fn default() -> Self {
        Self { member: 1, collides: u32::MAX }
    }
}

impl Groups {
    /// `true` when shapes of these groups meet.
    pub fn meet(self, other: Self) -> bool {
        self.member & other.collides != 0 && other.member & self.collides != 0
    }
}

/// Point where the friction of a contact acts while the surfaces are apart or overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FrictionPoint {
    /// One point for both bodies, halfway between the surfaces: angular momentum is conserved exactly.
    #[default]
    Common,
    /// Point of each body's own surface, as in ST00's examples: each lever is the one at touch.
    Surface,
}

impl FrictionPoint {
    /// Point halfway between two surfaces, and the points of a and b where friction acts.
    pub(crate) fn points<const N: usize>(
        self,
        gap: &Gap<N>,
    ) -> (Point<f64, N>, Point<f64, N>, Point<f64, N>) {
        let middle = nalgebra::center(&gap.on_a, &gap.on_b);
        match self {
            Self::Common => (middle, middle, middle),
            Self::Surface => (middle, gap.on_a, gap.on_b),
        }
    }
}

/// Gap function of polygons, boxes and polyhedra; the other pairs have one each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Depth {
    /// Ratio metric with its near-active events: as many contacts as the two have. HA10
    #[default]
    Ratio,
    /// Signed Euclidean distance, one contact per pair, for comparison. A box at rest on one contact rocks. In space it
    /// is found by GJK and EPA; where those fail the ratio metric is used.
    Minkowski,
}
