//! Vertices and rays of a polyhedron by the double description method.
//!
//! One more coordinate s makes the polyhedron a cone: points have s > 0, directions s = 0. The cone is a linear
//! subspace, given by lines and one apex, cut with `x_i ≥ 0` one coordinate after the other.
//!
//! Motzkin, Raiffa, Thompson & Thrall, "The double description method" (1953); Fukuda & Prodon, "Double
//! description method revisited" (1996), Proposition 7 for adjacency.

/// Error: the limit on comparisons is reached.
#[derive(Debug)]
pub(super) struct BudgetExhausted;

/// Direction of the cone: coordinates, then s. The largest entry is one.
#[derive(Debug, Clone)]
pub(super) struct ConeGenerator {
    x: Vec<f64>,
    /// Active inequalities among those added so far; bit n is s ≥ 0.
    tight: u64,
}

impl ConeGenerator {
    pub(super) fn new(x: impl Iterator<Item = f64>, s: f64) -> Self {
        let mut generator = Self { x: x.chain([s]).collect(), tight: 0 };
        generator.normalize();
        generator
    }

    pub(super) fn is_finite(&self) -> bool {
        self.x.iter().all(|x| x.is_finite())
    }

    fn s(&self) -> f64 {
        self.x[self.x.len() - 1]
    }

    fn normalize(&mut self) {
        let size = self.x.iter().fold(0.0, |a: f64, x| a.max(x.abs()));
        if size > 0.0 {
            self.x.iter_mut().for_each(|x| *x /= size);
        }
    }

    /// Subtracts the multiple of `other` that makes coordinate `i` zero.
    fn cancel(&mut self, i: usize, other: &Self) {
        let factor = self.x[i] / other.x[i];
        self.x.iter_mut().zip(&other.x).for_each(|(x, o)| *x -= factor * o);
        self.x[i] = 0.0;
        self.normalize();
    }
}

/// Cone by its lines and extreme rays.
pub(super) struct PolyhedralCone {
    lines: Vec<ConeGenerator>,
    rays: Vec<ConeGenerator>,
    /// Inequalities added so far.
    seen: u64,
    tolerance: f64,
}

impl PolyhedralCone {
    /// Half-space s ≥ 0 of the subspace that `apex` (s > 0) and `lines` (s = 0) span. Entries within `tolerance` of
    /// zero, the largest of a generator being one, are zero.
    pub(super) fn new(apex: ConeGenerator, lines: Vec<ConeGenerator>, tolerance: f64) -> Self {
        let s = 1 << (apex.x.len() - 1);
        Self { lines, rays: vec![apex], seen: s, tolerance }
    }

    /// Whether the cone has no point.
    pub(super) fn is_empty(&self) -> bool {
        !self.rays.iter().any(|r| self.is_point(r))
    }

    /// Whether a ray is a point; one farther away than 1 / tolerance is at infinity.
    fn is_point(&self, ray: &ConeGenerator) -> bool {
        ray.s() > self.tolerance
    }

    /// Cuts the cone with `x_i ≥ 0`.
    pub(super) fn restrict(&mut self, i: usize, budget: &mut usize) -> Result<(), BudgetExhausted> {
        let bit = 1 << i;
        let size = |g: &ConeGenerator| g.x[i].abs();
        let steepest =
            (0..self.lines.len()).max_by(|&a, &b| size(&self.lines[a]).total_cmp(&size(&self.lines[b])));
        if let Some(l) = steepest.filter(|&l| size(&self.lines[l]) > self.tolerance) {
            self.halve_line(l, i);
        } else {
            self.lines.iter_mut().for_each(|l| l.x[i] = 0.0);
            self.cut_rays(i, budget)?;
        }
        self.seen |= bit;
        Ok(())
    }

    /// Turns a line that crosses the boundary into a ray, and moves all other generators along it onto the boundary.
    fn halve_line(&mut self, l: usize, i: usize) {
        let mut line = self.lines.swap_remove(l);
        if line.x[i] < 0.0 {
            line.x.iter_mut().for_each(|x| *x = -*x);
        }
        self.lines.iter_mut().for_each(|g| g.cancel(i, &line));
        for ray in &mut self.rays {
            ray.cancel(i, &line);
            ray.tight |= 1 << i;
        }
        line.tight = self.seen;
        self.rays.push(line);
    }

    /// Removes rays outside; adds a ray where an edge to one of them crosses the boundary.
    fn cut_rays(&mut self, i: usize, budget: &mut usize) -> Result<(), BudgetExhausted> {
        let bit = 1 << i;
        for ray in &mut self.rays {
            if ray.x[i].abs() <= self.tolerance {
                ray.x[i] = 0.0;
                ray.tight |= bit;
            }
        }
        let (inside, outside): (Vec<_>, Vec<_>) = (0..self.rays.len())
            .filter(|&r| self.rays[r].x[i] != 0.0)
            .partition(|&r| self.rays[r].x[i] > 0.0);
        if outside.is_empty() {
            return Ok(());
        }
        let mut new = Vec::new();
        for &a in &inside {
            for &b in &outside {
                *budget = budget.checked_sub(self.rays.len()).ok_or(BudgetExhausted)?;
                if self.adjacent(a, b) {
                    let mut ray = self.rays[a].clone();
                    ray.tight = self.rays[a].tight & self.rays[b].tight | bit;
                    ray.cancel(i, &self.rays[b]);
                    new.push(ray);
                }
            }
        }
        self.rays.retain(|r| r.x[i] >= 0.0);
        self.rays.append(&mut new);
        Ok(())
    }

    /// Whether two rays span a face: no third ray lies on every boundary they share.
    fn adjacent(&self, a: usize, b: usize) -> bool {
        let common = self.rays[a].tight & self.rays[b].tight;
        let lies_between =
            |(r, ray): (usize, &ConeGenerator)| r != a && r != b && ray.tight & common == common;
        !self.rays.iter().enumerate().any(lies_between)
    }

    /// Vertices, and whether the polyhedron is unbounded.
    pub(super) fn points(&self) -> (Vec<Vec<f64>>, bool) {
        let (points, directions): (Vec<_>, Vec<_>) = self.rays.iter().partition(|r| self.is_point(r));
        let at_one = |r: &&ConeGenerator| r.x.iter().map(|x| x / r.s()).collect();
        (points.iter().map(at_one).collect(), !(directions.is_empty() && self.lines.is_empty()))
    }
}
