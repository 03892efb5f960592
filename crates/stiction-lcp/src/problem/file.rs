//! JSON form of problems, as in `problems/` and for `stiction solve`. The format is described in
//! `problems/README.md`.

mod local;

use super::{
    Body, BodyPair, Contact, FrictionLaw, FrictionSet, Joint, Lcp, LocalProblem, LocalRepair, Malformed,
    Mlcp, OffsetRow, Problem, Row, StepProblem, Term,
};
use arrayvec::ArrayVec;
use local::MatrixRaw;
use nalgebra::{DMatrix, Matrix6};
use serde::{Deserialize, Serialize};

/// Problem of any type, by value.
#[derive(Debug, Clone, PartialEq)]
pub enum AnyProblem {
    /// Linear complementarity problem.
    Lcp(Lcp),
    /// Mixed linear complementarity problem.
    Mlcp(Mlcp),
    /// Step problem: one time step of rigid bodies.
    Step(StepProblem),
    /// Local form: contacts in their own coordinates.
    Local(LocalProblem),
}

impl<'a> From<&'a AnyProblem> for Problem<'a> {
    fn from(any: &'a AnyProblem) -> Self {
        match any {
            AnyProblem::Lcp(lcp) => lcp.into(),
            AnyProblem::Mlcp(mlcp) => mlcp.into(),
            AnyProblem::Step(step) => step.into(),
            AnyProblem::Local(local) => local.into(),
        }
    }
}

/// Known facts about the solutions of a problem.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// Whether a solution exists.
    pub solvable: bool,
    /// Known values of z; every solution found must be one of them unless there is a continuum.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub solutions: Vec<Vec<f64>>,
    /// Number of isolated solutions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub isolated: Option<usize>,
    /// Whether there are infinitely many solutions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub continuum: Option<bool>,
    /// Known velocities of a step problem.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub velocity: Vec<f64>,
}

impl Expected {
    /// Expectation with known velocities of a step problem.
    #[must_use]
    pub fn with_velocity(self, velocity: &[f64]) -> Self {
        Self { velocity: velocity.to_vec(), ..self }
    }
}

/// Problem with its name, its source and the known facts about it.
#[derive(Debug, Clone, PartialEq)]
pub struct ProblemFile {
    /// Problem.
    pub problem: AnyProblem,
    /// Name.
    pub name: Option<String>,
    /// Source: paper key and equation, or the formula it is written from.
    pub source: Option<String>,
    /// Note on what the problem demonstrates.
    pub note: Option<String>,
    /// Known facts about its solutions.
    pub expected: Option<Expected>,
}

impl From<AnyProblem> for ProblemFile {
    fn from(problem: AnyProblem) -> Self {
        Self { problem, name: None, source: None, note: None, expected: None }
    }
}

impl ProblemFile {
    /// Reads a problem from JSON text and checks it; the error names the line or the entry at fault.
    pub fn from_json(text: &str) -> Result<Self, Malformed> {
        let file = Self::unchecked(text)?;
        Problem::from(&file.problem).check()?;
        Ok(file)
    }

    /// [`ProblemFile::from_json`] of a problem in local form whose W is symmetric and positive semidefinite only to about
    /// eight digits, and what its repair changed; `None` for all other problems.
    pub fn from_json_repaired(text: &str) -> Result<(Self, Option<LocalRepair>), Malformed> {
        let mut file = Self::unchecked(text)?;
        let AnyProblem::Local(local) = file.problem else {
            Problem::from(&file.problem).check()?;
            return Ok((file, None));
        };
        let (local, repair) = local.repaired()?;
        file.problem = AnyProblem::Local(local);
        Ok((file, Some(repair)))
    }

    /// Reads a problem from JSON text.
    fn unchecked(text: &str) -> Result<Self, Malformed> {
        let raw: ProblemRaw = serde_json::from_str(text).map_err(|e| {
            let place = format!("line {} column {}", e.line(), e.column());
            let what = e.to_string();
            let end = what.rfind(" at line ").unwrap_or(what.len());
            Malformed::at(place, &what[..end])
        })?;
        let ProblemRaw { name, source, note, expected, m, q, free, step, dim, w, mu, facets } = raw;
        let local = (dim, w, mu, facets);
        let problem = match (m, q, free, step, local) {
            (Some(m), Some(q), None, None, (None, None, None, None)) => AnyProblem::Lcp(dense(&m, &q)?),
            (Some(m), Some(q), Some(free), None, (None, None, None, None)) => {
                AnyProblem::Mlcp(mixed(&m, &q, &free)?)
            }
            (None, None, None, Some(step), (None, None, None, None)) => AnyProblem::Step(step.try_into()?),
            (None, Some(q), None, None, (Some(dim), Some(w), Some(mu), facets)) => {
                AnyProblem::Local(local::read(dim, &w, q, mu, facets)?)
            }
            _ => {
                let what = "a problem is \"m\" and \"q\" (with \"free\" for free rows), or \"step\", \
                            or \"dim\", \"w\", \"q\" and \"mu\" (with \"facets\" for polygons)";
                return Err(Malformed::at("the file", what));
            }
        };
        Ok(Self { problem, name, source, note, expected })
    }

    /// JSON text of the problem, which [`ProblemFile::from_json`] reads back bit by bit.
    pub fn to_json(&self) -> String {
        let Self { problem, name, source, note, expected } = self.clone();
        let mut raw = ProblemRaw { name, source, note, expected, ..ProblemRaw::default() };
        match problem {
            AnyProblem::Lcp(lcp) => (raw.m, raw.q) = (Some(rows(&lcp.m)), Some(lcp.q.as_slice().to_vec())),
            AnyProblem::Mlcp(mlcp) => {
                (raw.m, raw.q) = (Some(rows(&mlcp.m)), Some(mlcp.q.as_slice().to_vec()));
                raw.free = Some((0..mlcp.free.len()).filter(|&i| mlcp.free[i]).collect());
            }
            AnyProblem::Step(step) => raw.step = Some(StepRaw::from(&step)),
            AnyProblem::Local(LocalProblem { dim, w, q, mu, facets }) => {
                (raw.dim, raw.w) = (Some(dim), Some(MatrixRaw::Rows(rows(&w))));
                (raw.q, raw.mu, raw.facets) = (Some(q.as_slice().to_vec()), Some(mu), facets);
            }
        }
        serde_json::to_string_pretty(&raw).unwrap_or_default()
    }
}

/// Keys of a problem file.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename = "Raw")]
struct ProblemRaw {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expected: Option<Expected>,
    #[serde(skip_serializing_if = "Option::is_none")]
    m: Option<Vec<Vec<f64>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    q: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    free: Option<Vec<usize>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    step: Option<StepRaw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    dim: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    w: Option<MatrixRaw>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mu: Option<Vec<f64>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<usize>,
}

fn dense(m: &[Vec<f64>], q: &[f64]) -> Result<Lcp, Malformed> {
    let n = q.len();
    if m.len() != n {
        return Err(Malformed::at("m", format!("has {} rows, q has {n} entries", m.len())));
    }
    if let Some((i, row)) = m.iter().enumerate().find(|(_, row)| row.len() != n) {
        return Err(Malformed::at(format!("m[{i}]"), format!("has {} entries, q has {n}", row.len())));
    }
    Ok(Lcp::from_rows(m, q))
}

fn mixed(m: &[Vec<f64>], q: &[f64], free: &[usize]) -> Result<Mlcp, Malformed> {
    let Lcp { m, q } = dense(m, q)?;
    let mut flags = vec![false; q.len()];
    for (k, &i) in free.iter().enumerate() {
        match flags.get_mut(i) {
            Some(flag) => *flag = true,
            None => return Err(Malformed::at(format!("free[{k}]"), format!("row {i} of {}", q.len()))),
        }
    }
    Ok(Mlcp { m, q, free: flags })
}

fn rows(m: &DMatrix<f64>) -> Vec<Vec<f64>> {
    m.row_iter().map(|row| row.iter().copied().collect()).collect()
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StepRaw {
    bodies: Vec<BodyRaw>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pairs: Vec<PairRaw>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    joints: Vec<JointRaw>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    contacts: Vec<ContactRaw>,
    #[serde(default)]
    law: FrictionLaw,
    #[serde(default)]
    speed_scale: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct BodyRaw {
    mass: Vec<Vec<f64>>,
    momentum: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct PairRaw {
    a: usize,
    b: usize,
    ab: Vec<Vec<f64>>,
    ba: Vec<Vec<f64>>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JointRaw {
    row: RowRaw,
    offset: f64,
    #[serde(default)]
    compliance: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ContactRaw {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    normal: Option<OffsetRaw>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    tangents: Vec<OffsetRaw>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    set: Option<SetRaw>,
    #[serde(default)]
    mu: f64,
    #[serde(default)]
    kappa: f64,
    #[serde(default, alias = "bearer", skip_serializing_if = "Option::is_none")]
    bound_by: Option<usize>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OffsetRaw {
    row: RowRaw,
    #[serde(default)]
    offset: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum RowRaw {
    Bodies(Vec<TermRaw>),
    Sparse { sparse: Vec<(usize, f64)> },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TermRaw {
    body: usize,
    j: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SetRaw {
    Polygon(Vec<Vec<f64>>),
    Ellipse(Vec<f64>),
}

/// Generator or semi-axes with a component per tangent row, and `rest` past them; with one row a second component is
/// written too.
fn padded(
    given: &[f64],
    tangents: usize,
    rest: f64,
    place: impl Fn() -> String,
) -> Result<[f64; 3], Malformed> {
    if given.len() != tangents.max(2) {
        let what =
            format!("has {} entries, with {tangents} tangent rows it has {}", given.len(), tangents.max(2));
        return Err(Malformed::at(place(), what));
    }
    let mut padded = [rest; 3];
    padded[..given.len()].copy_from_slice(given);
    Ok(padded)
}

fn friction_set(raw: Option<SetRaw>, tangents: usize, place: &str) -> Result<FrictionSet, Malformed> {
    match raw {
        Some(SetRaw::Polygon(generators)) => {
            let generator = |(k, g): (usize, &Vec<f64>)| padded(g, tangents, 0.0, || format!("{place}[{k}]"));
            let padded: Result<Vec<_>, _> = generators.iter().enumerate().map(generator).collect();
            Ok(FrictionSet::Polygon(padded?.into()))
        }
        Some(SetRaw::Ellipse(axes)) => {
            Ok(FrictionSet::Ellipse(padded(&axes, tangents, 1.0, || place.into())?))
        }
        None if tangents < 2 => Ok(FrictionSet::line()),
        None => Err(Malformed::at(place, "two or more tangent rows need a friction set")),
    }
}

impl TryFrom<StepRaw> for StepProblem {
    type Error = Malformed;

    fn try_from(raw: StepRaw) -> Result<Self, Malformed> {
        let mut step = Self { law: raw.law, speed_scale: raw.speed_scale, ..Self::default() };
        for (i, body) in raw.bodies.iter().enumerate() {
            let n = body.momentum.len();
            if !(1..=6).contains(&n) {
                let what = format!("has {n} entries, a body has 1 to 6 velocities");
                return Err(Malformed::at(format!("bodies[{i}].momentum"), what));
            }
            let mass = block(&body.mass, n, n, &format!("bodies[{i}].mass"))?;
            let mut body = Body::new(n, &[], &body.momentum);
            body.mass = mass;
            step.bodies.push(body);
        }
        let size = |body: usize| raw.bodies.get(body).map_or(0, |b| b.momentum.len());
        for (i, p) in raw.pairs.iter().enumerate() {
            let place = format!("pairs[{i}]");
            let ab = block(&p.ab, size(p.a), size(p.b), &format!("{place}.ab"))?;
            let ba = block(&p.ba, size(p.b), size(p.a), &format!("{place}.ba"))?;
            step.pairs.push(BodyPair { a: p.a, b: p.b, ab, ba });
        }
        for (i, joint) in raw.joints.into_iter().enumerate() {
            let row = row(joint.row, size, &format!("joints[{i}]"))?;
            let row = OffsetRow { row, offset: joint.offset };
            step.joints.push(Joint { row, compliance: joint.compliance });
        }
        for (i, c) in raw.contacts.into_iter().enumerate() {
            let place = format!("contacts[{i}]");
            let offset_row = |raw: OffsetRaw, place: String| {
                Ok(OffsetRow { row: row(raw.row, size, &place)?, offset: raw.offset })
            };
            let normal = c.normal.map(|n| offset_row(n, format!("{place}.normal"))).transpose()?;
            if c.tangents.len() > 3 {
                let what = format!("{} rows, at most three", c.tangents.len());
                return Err(Malformed::at(format!("{place}.tangents"), what));
            }
            let mut tangents = ArrayVec::new();
            for (k, tangent) in c.tangents.into_iter().enumerate() {
                tangents.push(offset_row(tangent, format!("{place}.tangents[{k}]"))?);
            }
            let set = friction_set(c.set, tangents.len(), &format!("{place}.set"))?;
            let (mu, kappa, bound_by) = (c.mu, c.kappa, c.bound_by);
            step.contacts.push(Contact { normal, tangents, set, mu, kappa, bound_by });
        }
        Ok(step)
    }
}

fn block(raw: &[Vec<f64>], rows: usize, columns: usize, place: &str) -> Result<Matrix6<f64>, Malformed> {
    if raw.len() != rows || raw.iter().any(|row| row.len() != columns) {
        return Err(Malformed::at(place, format!("must be {rows} × {columns}")));
    }
    Ok(Matrix6::from_fn(|i, j| if i < rows && j < columns { raw[i][j] } else { 0.0 }))
}

fn row(raw: RowRaw, size: impl Fn(usize) -> usize, place: &str) -> Result<Row, Malformed> {
    match raw {
        RowRaw::Sparse { sparse } => Ok(Row::Sparse(sparse)),
        RowRaw::Bodies(terms) => {
            if terms.len() > 2 {
                let what = format!("touches {} bodies, at most two (or \"sparse\")", terms.len());
                return Err(Malformed::at(format!("{place}.row"), what));
            }
            let mut row = ArrayVec::new();
            for (t, term) in terms.iter().enumerate() {
                if term.j.len() != size(term.body) {
                    let (got, n) = (term.j.len(), size(term.body));
                    let what = format!("has {got} entries, body {} has {n} velocities", term.body);
                    return Err(Malformed::at(format!("{place}.row[{t}].j"), what));
                }
                row.push(Term::new(term.body, &term.j));
            }
            Ok(Row::Bodies(row))
        }
    }
}

impl From<&StepProblem> for StepRaw {
    fn from(step: &StepProblem) -> Self {
        let size = |body: usize| step.bodies.get(body).map_or(0, |b| b.velocities.min(6));
        let matrix = |m: &Matrix6<f64>, rows: usize, columns: usize| -> Vec<Vec<f64>> {
            (0..rows).map(|i| (0..columns).map(|j| m[(i, j)]).collect()).collect()
        };
        let row = |row: &Row| match row {
            Row::Sparse(sparse) => RowRaw::Sparse { sparse: sparse.clone() },
            Row::Bodies(terms) => RowRaw::Bodies(
                terms.iter().map(|t| TermRaw { body: t.body, j: t.j[..size(t.body)].to_vec() }).collect(),
            ),
        };
        let offset_row = |r: &OffsetRow| OffsetRaw { row: row(&r.row), offset: r.offset };
        Self {
            bodies: step
                .bodies
                .iter()
                .map(|b| BodyRaw {
                    mass: matrix(&b.mass, b.velocities.min(6), b.velocities.min(6)),
                    momentum: b.momentum.as_slice()[..b.velocities.min(6)].to_vec(),
                })
                .collect(),
            pairs: step
                .pairs
                .iter()
                .map(|p| PairRaw {
                    a: p.a,
                    b: p.b,
                    ab: matrix(&p.ab, size(p.a), size(p.b)),
                    ba: matrix(&p.ba, size(p.b), size(p.a)),
                })
                .collect(),
            joints: step
                .joints
                .iter()
                .map(|j| JointRaw { row: row(&j.row.row), offset: j.row.offset, compliance: j.compliance })
                .collect(),
            contacts: step
                .contacts
                .iter()
                .map(|c| ContactRaw {
                    normal: c.normal.as_ref().map(offset_row),
                    tangents: c.tangents.iter().map(offset_row).collect(),
                    set: (!c.tangents.is_empty()).then(|| match &c.set {
                        FrictionSet::Polygon(generators) => {
                            let shown = c.tangents.len().max(2);
                            SetRaw::Polygon(generators.iter().map(|g| g[..shown].to_vec()).collect())
                        }
                        FrictionSet::Ellipse(axes) => {
                            SetRaw::Ellipse(axes[..c.tangents.len().max(2)].to_vec())
                        }
                    }),
                    mu: c.mu,
                    kappa: c.kappa,
                    bound_by: c.bound_by,
                })
                .collect(),
            law: step.law,
            speed_scale: step.speed_scale,
        }
    }
}
