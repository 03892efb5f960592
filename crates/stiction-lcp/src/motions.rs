//! All motions of a step problem with a few contacts: every pattern of open, stick and slip is tried.
//!
//! Coulomb friction of rigid bodies may allow several motions, or none (Painlevé). In given modes velocities and impulses
//! solve linear equations; a linear program decides whether some of them satisfy the inequalities of the modes. For users
//! who ask whether the motion that a solver found is the only one.

mod pattern;

use crate::mode::{ContactMode, Mode};
use crate::problem::{Contact, FrictionSet, Layout, Malformed, MassFactor, StepProblem};
use pattern::{Pattern, PatternMotions};

/// Limit on the contacts, limits and drives: each multiplies the patterns by up to four.
pub const MAX_MOTION_CONTACTS: usize = 6;

/// Distance of two motions up to which they are one, relative to the forces [-]. Sensible range 1e-8 to 1e-4: smaller
/// lists one motion twice after round-off, larger merges different ones.
const SAME_MOTION: f64 = 1e-6;

/// Freedom of a contact to choose its mode.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ModeChoice {
    /// Any mode: the contact does not slip yet.
    Any,
    /// Open, or slip with this friction along the tangent rows per unit of its bound: the contact slips already. A drive
    /// that slips stays so.
    Slips([f64; 2]),
}

/// A motion.
#[derive(Debug, Clone, PartialEq)]
pub struct FoundMotion {
    /// Mode of each contact.
    pub modes: Vec<ContactMode>,
    /// Velocity; in an acceleration problem the acceleration.
    pub v: Vec<f64>,
    /// Impulses of a solution with this motion; others may cause it too.
    pub z: Vec<f64>,
}

/// All motions that were found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FoundMotions {
    /// Motions that differ. Of a continuum the ends.
    pub motions: Vec<FoundMotion>,
    /// Motions of a continuum, between some of those listed, exist too.
    pub continuum: bool,
    /// Number of patterns tried.
    pub patterns: usize,
    /// Patterns that are not decided, because their program or cone problem was not solved.
    pub undecided: usize,
    /// All motions were found. Otherwise a contact in space may begin to slip, in any direction: each of its patterns is
    /// one cone problem, of which one solution is found.
    pub exhaustive: bool,
}

impl FoundMotions {
    /// Whether there is exactly one motion, as far as the search tells.
    pub fn is_unique(&self) -> bool {
        self.motions.len() == 1 && !self.continuum && self.undecided == 0
    }
}

/// Reason why motions were not sought.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MotionsError {
    /// Malformed problem.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Too many contacts.
    #[error("{0} contacts, limits and drives: all motions of at most {MAX_MOTION_CONTACTS} can be tried")]
    TooMany(usize),
    /// Feature that the search does not support.
    #[error("all motions with {0} are not sought")]
    Unsupported(&'static str),
}

/// All motions of a step problem, by every pattern of modes. `choices` has one entry for each contact.
///
/// ```
/// use stiction_lcp::motions::{ModeChoice, all_motions};
/// use stiction_lcp::{Body, Contact, Row, StepProblem};
///
/// // a ball of 2 kg on the floor
/// let mut step = StepProblem::default();
/// step.bodies.push(Body::new(1, &[2.0], &[-20.0]));
/// step.contacts.push(Contact::frictionless(Row::one(0, &[1.0]), 0.0));
/// let found = all_motions(&step, &[ModeChoice::Any])?;
/// assert!(found.is_unique() && found.motions[0].v[0].abs() < 1e-12);
/// # Ok::<(), stiction_lcp::motions::MotionsError>(())
/// ```
pub fn all_motions(step: &StepProblem, choices: &[ModeChoice]) -> Result<FoundMotions, MotionsError> {
    check(step, choices)?;
    let search = Search::new(step, choices)?;
    let options: Vec<Vec<Option<ContactMode>>> =
        step.contacts.iter().zip(choices).map(|(contact, choice)| options(contact, *choice)).collect();
    let mut found = FoundMotions { exhaustive: true, ..FoundMotions::default() };
    let mut counter = vec![0; options.len()];
    loop {
        let modes: Vec<Option<ContactMode>> = counter.iter().zip(&options).map(|(&k, own)| own[k]).collect();
        found.patterns += 1;
        found.exhaustive &= modes.iter().all(Option::is_some);
        match search.motions_in(&modes) {
            Some(PatternMotions { motions, continuum }) => {
                found.continuum |= continuum;
                motions.into_iter().for_each(|motion| search.add(motion, &mut found.motions));
            }
            None => found.undecided += 1,
        }
        // the next pattern
        let Some(k) = (0..counter.len()).find(|&k| counter[k] + 1 < options[k].len()) else { break };
        counter[k] += 1;
        counter[..k].fill(0);
    }
    Ok(found)
}

/// Modes that a contact may have; `None` stands for slip in any direction of space.
fn options(contact: &Contact, choice: ModeChoice) -> Vec<Option<ContactMode>> {
    let open = contact.normal.is_some().then_some(Some(ContactMode::OPEN));
    let has_friction = !contact.tangents.is_empty() && contact.mu + contact.kappa > 0.0;
    let closed = match choice {
        _ if !has_friction => vec![Some(ContactMode::STICK)],
        ModeChoice::Slips(direction) => vec![Some(ContactMode::slip(direction))],
        ModeChoice::Any if contact.tangents.len() == 1 => {
            let slip = |sign: f64| Some(ContactMode::slip([sign, 0.0]));
            vec![Some(ContactMode::STICK), slip(1.0), slip(-1.0)]
        }
        ModeChoice::Any => vec![Some(ContactMode::STICK), None],
    };
    open.into_iter().chain(closed).collect()
}

fn check(step: &StepProblem, choices: &[ModeChoice]) -> Result<(), MotionsError> {
    step.check()?;
    if choices.len() != step.contacts.len() {
        let what = format!("{} choices, for {} contacts", choices.len(), step.contacts.len());
        return Err(Malformed { place: "choices".to_string(), what }.into());
    }
    if step.contacts.len() > MAX_MOTION_CONTACTS {
        return Err(MotionsError::TooMany(step.contacts.len()));
    }
    let moments = |c: &Contact| c.bound_by.is_some() || c.tangents.len() > 2;
    if step.contacts.iter().any(moments) {
        return Err(MotionsError::Unsupported("torsional or rolling friction"));
    }
    let scaled = |c: &Contact| match &c.set {
        FrictionSet::Polygon(f) => c.tangents.len() == 1 && f.iter().any(|f| f[0].abs() != 1.0),
        FrictionSet::Ellipse(_) => false,
    };
    if step.contacts.iter().any(scaled) {
        return Err(MotionsError::Unsupported("friction that differs along a line"));
    }
    Ok(())
}

/// Search of all motions: problem, factored mass matrix and scales.
struct Search<'a> {
    step: &'a StepProblem,
    choices: &'a [ModeChoice],
    layout: Layout,
    mass: MassFactor,
    /// Velocity without impulses.
    free: Vec<f64>,
    /// Root of the kinetic energy, twice, of the motions around [√J].
    scale: f64,
}

impl<'a> Search<'a> {
    fn new(step: &'a StepProblem, choices: &'a [ModeChoice]) -> Result<Self, MotionsError> {
        let layout = step.layout();
        let mut mass = MassFactor::default();
        if mass.factor(step, &layout).is_err() {
            let what = "not positive definite".to_string();
            return Err(Malformed { place: "bodies".to_string(), what }.into());
        }
        let mut free: Vec<f64> =
            step.bodies.iter().flat_map(|b| b.momentum.iter().take(b.velocities).copied()).collect();
        mass.solve(&mut free);
        let mut search = Self { step, choices, layout, mass, free, scale: 1.0 };
        search.scale = search.energy_root(&search.free);
        for row in step.contacts.iter().flat_map(Contact::rows).chain(step.joints.iter().map(|j| &j.row)) {
            let mobility = search.mobility(&row.row);
            if mobility > 0.0 {
                search.scale = search.scale.max(row.offset.abs() / mobility.sqrt());
            }
        }
        search.scale = search.scale.max(f64::MIN_POSITIVE);
        Ok(search)
    }

    /// √(xᵀ M̃ x).
    fn energy_root(&self, x: &[f64]) -> f64 {
        let mut momentum = vec![0.0; x.len()];
        self.step.multiply_mass(&self.layout.velocity, x, &mut momentum);
        x.iter().zip(momentum).map(|(x, p)| x * p).sum::<f64>().max(0.0).sqrt()
    }

    /// Adds a motion unless it is among those found.
    fn add(&self, motion: FoundMotion, found: &mut Vec<FoundMotion>) {
        let is_same = |other: &FoundMotion| {
            let change: Vec<f64> = other.v.iter().zip(&motion.v).map(|(a, b)| a - b).collect();
            self.energy_root(&change) <= SAME_MOTION * self.scale
        };
        match found.iter_mut().find(|other| is_same(other)) {
            // a contact that shares load is named as one that sticks or slips, rather than as open
            Some(other) if open_count(&motion.modes) < open_count(&other.modes) => *other = motion,
            Some(_) => {}
            None => found.push(motion),
        }
    }

    /// Motions in a pattern of modes; `None` where that is not decided.
    fn motions_in(&self, modes: &[Option<ContactMode>]) -> Option<PatternMotions> {
        let known: Option<Vec<ContactMode>> = modes.iter().copied().collect();
        match known {
            Some(modes) => {
                Pattern::new(self, &modes).map_or(Some(PatternMotions::default()), |p| p.motions())
            }
            None => pattern::slips_in_space(self, modes),
        }
    }
}

fn open_count(modes: &[ContactMode]) -> usize {
    modes.iter().filter(|mode| mode.mode == Mode::Open).count()
}
