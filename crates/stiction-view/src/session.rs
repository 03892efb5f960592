//! A live simulation: it runs, takes commands, and can go back.

mod command;
mod edit;
mod hand;
mod history;
mod save;

pub use command::{Command, Complaint, Dropped};

use crate::describe::Description;
use crate::frame::{Seen, frame};
use edit::DroppedBody;
use hand::Cursor;
use history::{History, Moment};
use serde::Serialize;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stiction::{BodyId, Level, Scheme, Simulation, State, StepError, StepReport};
use stiction_scene::{Model, Scene, scheme_named, scheme_names};

/// Most bodies that may be dropped into a scene.
const MOST_DROPPED: u32 = 500;
/// Smallest and largest step [s].
const STEPS: [f64; 2] = [1e-7, 1.0];
/// Smallest and largest thing that may be dropped, in sizes of the smallest body.
const SIZES: [f64; 2] = [1e-3, 1e3];

/// How steps are made, as the page has it.
#[derive(Debug, Clone, PartialEq)]
struct Settings {
    h: f64,
    /// Name of the scheme, and the scheme with its settings.
    name: String,
    scheme: Scheme,
    stabilized: bool,
    /// μ and e of every surface, where they were changed.
    friction: Option<f64>,
    restitution: Option<f64>,
}

impl Settings {
    /// The scheme that makes steps: without stabilization it looks at velocities alone.
    fn effective(&self) -> Scheme {
        if self.stabilized {
            self.scheme
        } else {
            Scheme { level: Level::Velocity, passes: 0, ..self.scheme }
        }
    }
}

/// What the page shows of the settings.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Status {
    /// It runs.
    pub playing: bool,
    /// Simulated seconds per second that are asked for.
    pub speed: f64,
    /// Those that there were lately.
    pub rate: f64,
    /// Step size [s].
    pub h: f64,
    /// Name of the scheme.
    pub scheme: String,
    /// Names of all schemes.
    pub schemes: Vec<String>,
    /// Stabilization is on.
    pub stabilized: bool,
    /// γ, where the scheme has one.
    pub gamma: Option<f64>,
    /// μ, where all surfaces have the same.
    pub friction: Option<f64>,
    /// e, where all surfaces have the same.
    pub restitution: Option<f64>,
}

/// What a command brought besides a change of the simulation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// Nothing else.
    Done,
    /// A scene file.
    Scene(String),
}

/// A live simulation.
#[derive(Debug)]
pub struct Session {
    /// The text of the scene.
    source: String,
    simulation: Simulation<Model>,
    /// The model without the hand's spring.
    model: Arc<Model>,
    description: Arc<Description>,
    settings: Settings,
    cursor: Cursor,
    /// Number of the body that is the cursor.
    hand: BodyId,
    history: History,
    start: Moment,
    report: StepReport,
    step: u32,
    revisions: u32,
    fresh: Vec<DroppedBody>,
    playing: bool,
    speed: f64,
    /// Simulated time that is owed [s].
    debt: f64,
    rate: f64,
    frame: Arc<[u8]>,
    /// The worst of the steps since the last frame.
    infeasibility: f64,
    certificate: f64,
    unseen: bool,
}

impl Session {
    /// A simulation that stands at its start.
    pub fn new(scene: &Scene) -> Result<Self, Complaint> {
        let built = scene.build().map_err(|mistakes| Complaint::new(mistakes.to_string()))?;
        let name = scene.title().unwrap_or_else(|| scene.name());
        let cursor = Cursor::default();
        let edited = built.model.edited(&built.state, &cursor);
        let (model, state, hand) = edited.map_err(|mistakes| Complaint::new(mistakes.to_string()))?;
        let scheme = built.scheme;
        let name_of = |s: &Scheme| scheme_names().find(|name| scheme_named(name).as_ref() == Some(s));
        let settings = Settings {
            h: built.h,
            name: name_of(&scheme).unwrap_or("of the scene").to_string(),
            scheme,
            stabilized: true,
            friction: None,
            restitution: None,
        };
        let model = Arc::new(model);
        let description = Arc::new(Description::new(&model, name, 0, Some(hand)));
        let simulation = Simulation::new((*model).clone(), state.clone(), settings.effective());
        let observed = simulation.observe();
        let bytes: Arc<[u8]> = frame(&model, &description, &state, &Seen::of(0, &observed)).into();
        let start = Moment {
            state,
            step: 0,
            model: model.clone(),
            description: description.clone(),
            settings: settings.clone(),
            frame: bytes.clone(),
        };
        let mut history = History::default();
        history.push(start.clone());
        Ok(Self {
            source: scene.source().to_string(),
            simulation,
            model,
            description,
            settings,
            cursor,
            hand,
            history,
            start,
            report: observed,
            step: 0,
            revisions: 0,
            fresh: Vec::new(),
            playing: false,
            speed: 1.0,
            debt: 0.0,
            rate: 0.0,
            frame: bytes,
            infeasibility: 0.0,
            certificate: 0.0,
            unseen: true,
        })
    }

    /// The scene as it is drawn now.
    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }

    /// The state now.
    pub fn state(&self) -> &State {
        self.simulation.state()
    }

    /// The model now.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// It runs.
    pub fn playing(&self) -> bool {
        self.playing
    }

    /// The last frame, if it has not been taken yet.
    pub fn take_frame(&mut self) -> Option<Arc<[u8]>> {
        std::mem::take(&mut self.unseen).then(|| self.frame.clone())
    }

    /// What the page shows of the settings.
    pub fn status(&self) -> Status {
        let Settings { h, name, scheme, stabilized, .. } = &self.settings;
        let gamma = match scheme.level {
            Level::Stabilized { gamma, .. } if *stabilized => Some(gamma),
            _ => None,
        };
        let mut schemes: Vec<String> = scheme_names().map(str::to_string).collect();
        if !schemes.contains(name) {
            schemes.insert(0, name.clone());
        }
        Status {
            playing: self.playing,
            speed: self.speed,
            rate: self.rate,
            h: *h,
            scheme: name.clone(),
            schemes,
            stabilized: *stabilized,
            gamma,
            friction: edit::common(&self.model, |material| material.friction),
            restitution: edit::common(&self.model, |material| material.restitution),
        }
    }

    /// Makes as many steps as `passed` [s] of real time ask for, as far as the budget goes. An error stops the run.
    pub fn advance(&mut self, passed: f64, budget: Duration) -> Result<(), Complaint> {
        if !self.playing {
            return Ok(());
        }
        let (begun, t) = (Instant::now(), self.state().t);
        // time that could not be made up for is let go: a scene too heavy for the machine runs slowly, not in jumps
        let most = (self.speed * budget.as_secs_f64()).max(self.settings.h);
        self.debt = (self.debt + self.speed * passed).min(2.0 * most + self.speed * passed);
        let mut stepped = false;
        while self.debt >= self.settings.h && (!stepped || begun.elapsed() < budget) {
            self.debt -= self.settings.h;
            self.one_step().inspect_err(|_| self.playing = false)?;
            stepped = true;
        }
        if begun.elapsed() >= budget {
            self.debt = self.debt.min(self.settings.h);
        }
        if stepped {
            self.show();
        }
        if passed > 0.0 {
            // over about half a second
            let share = (passed / 0.5).min(1.0);
            self.rate += share * ((self.state().t - t) / passed - self.rate);
        }
        Ok(())
    }

    fn one_step(&mut self) -> Result<(), Complaint> {
        self.simulation.step_into(self.settings.h, &mut self.report).map_err(|error| step_words(&error))?;
        self.step = self.step.saturating_add(1);
        self.infeasibility = self.infeasibility.max(self.report.infeasibility);
        self.certificate = self.certificate.max(self.report.certificate.worst());
        Ok(())
    }

    /// Makes a frame of the last step, and remembers the moment.
    fn show(&mut self) {
        let (infeasibility, certificate) = (self.infeasibility, self.certificate);
        (self.infeasibility, self.certificate) = (0.0, 0.0);
        let seen = Seen { infeasibility, certificate, ..Seen::of(self.step, &self.report) };
        self.frame = frame(&self.model, &self.description, self.simulation.state(), &seen).into();
        self.unseen = true;
        self.history.push(Moment {
            state: self.simulation.state().clone(),
            step: self.step,
            model: self.model.clone(),
            description: self.description.clone(),
            settings: self.settings.clone(),
            frame: self.frame.clone(),
        });
    }

    /// Does what a page asks for.
    pub fn obey(&mut self, command: &Command) -> Result<Answer, Complaint> {
        match command {
            Command::Play {} => self.playing = true,
            Command::Pause {} => self.playing = false,
            Command::Step {} => {
                self.playing = false;
                self.one_step()?;
                self.show();
            }
            Command::Reset {} => {
                let start = self.start.clone();
                self.fresh.clear();
                self.go_to(&start);
            }
            Command::Undo { time } => {
                let moment = self.history.at(*time).cloned();
                let moment = moment.ok_or_else(|| {
                    let first = self.history.first().map_or(0.0, |m| m.state.t);
                    Complaint(format!("the earliest moment that is kept is t = {first} s"))
                })?;
                self.go_to(&moment);
            }
            Command::Speed { value } => {
                self.speed = within(*value, 0.0, 1000.0, "the speed")?;
            }
            Command::Grab { body, point } => self.grab(*body, point)?,
            Command::Move { target } => {
                let target = self.vector(target)?;
                self.cursor.set(target);
            }
            Command::Release {} => self.release(),
            Command::Drop { shape, at, size } => self.add(*shape, at, *size)?,
            Command::Friction { value } => {
                let value = *value;
                self.change(&|material| material.friction = value)?;
                self.settings.friction = Some(value);
            }
            Command::Restitution { value } => {
                let value = *value;
                self.change(&|material| material.restitution = value)?;
                self.settings.restitution = Some(value);
            }
            Command::Gamma { value } => self.set_gamma(*value)?,
            Command::StepSize { value } => {
                self.settings.h = within(*value, STEPS[0], STEPS[1], "the step size [s]")?;
            }
            Command::Scheme { name } => self.set_scheme(name)?,
            Command::Stabilize { on } => {
                self.settings.stabilized = *on;
                self.simulation.scheme = self.settings.effective();
            }
            Command::Save {} => return self.saved().map(Answer::Scene),
        }
        Ok(Answer::Done)
    }

    fn set_gamma(&mut self, value: f64) -> Result<(), Complaint> {
        let value = within(value, 0.0, 1.0, "γ")?;
        let Level::Stabilized { gamma, .. } = &mut self.settings.scheme.level else {
            return Err(Complaint(format!("the scheme {} has no γ", self.settings.name)));
        };
        *gamma = value;
        self.simulation.scheme = self.settings.effective();
        Ok(())
    }

    fn set_scheme(&mut self, name: &str) -> Result<(), Complaint> {
        self.settings.scheme = if name == self.start.settings.name {
            self.start.settings.scheme
        } else {
            scheme_named(name).ok_or_else(|| {
                let known: Vec<_> = scheme_names().collect();
                Complaint(format!("there is no scheme of that name; there are {}", known.join(", ")))
            })?
        };
        self.settings.name = name.to_string();
        self.simulation.scheme = self.settings.effective();
        Ok(())
    }

    /// Goes on from a moment.
    fn go_to(&mut self, moment: &Moment) {
        let Moment { state, step, model, description, settings, frame } = moment.clone();
        self.simulation = Simulation::new((*model).clone(), state, settings.effective());
        (self.model, self.description, self.settings) = (model, description, settings);
        (self.step, self.frame, self.unseen) = (step, frame, true);
        (self.infeasibility, self.certificate, self.debt) = (0.0, 0.0, 0.0);
        self.history.push(moment.clone());
        // bodies that came later are no more
        let known: Vec<&str> = self.model.body_names();
        self.fresh.retain(|fresh| known.contains(&fresh.name.as_str()));
    }

    fn vector(&self, numbers: &[f64]) -> Result<[f64; 3], Complaint> {
        let d = self.model.dimension();
        if numbers.len() != d || !numbers.iter().all(|x| x.is_finite()) {
            return Err(Complaint(format!("a place has {d} finite numbers here, not {numbers:?}")));
        }
        Ok(std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(0.0)))
    }

    fn grab(&mut self, body: usize, point: &[f64]) -> Result<(), Complaint> {
        let point = self.vector(point)?;
        let Some(body) = self.description.bodies.get(body) else {
            return Err(Complaint(format!("there is no body {body}")));
        };
        self.cursor.set(point);
        let state = self.simulation.state().clone();
        let pulled = hand::pulled(&self.model, &state, self.hand, body.id, point)
            .ok_or_else(|| Complaint(format!("{} cannot be pushed", body.name)))?;
        self.simulation = Simulation::new(pulled, state, self.settings.effective());
        Ok(())
    }

    fn release(&mut self) {
        let state = self.simulation.state().clone();
        self.simulation = Simulation::new((*self.model).clone(), state, self.settings.effective());
    }

    /// Another world in the same run.
    fn install(&mut self, model: Model, state: State) {
        self.revisions += 1;
        self.model = Arc::new(model);
        let name = self.description.name.clone();
        self.description = Arc::new(Description::new(&self.model, &name, self.revisions, Some(self.hand)));
        self.simulation = Simulation::new((*self.model).clone(), state, self.settings.effective());
        // bodies that have come are seen at once, with the contacts of the last step
        let seen = Seen::of(self.step, &self.report);
        self.frame = frame(&self.model, &self.description, self.simulation.state(), &seen).into();
        self.unseen = true;
    }

    fn add(&mut self, shape: Dropped, at: &[f64], size: f64) -> Result<(), Complaint> {
        use stiction::System;
        let at = self.vector(at)?;
        let smallest = self.model.size();
        let size = within(size, SIZES[0] * smallest, SIZES[1] * smallest, "the size [m]")?;
        let count = u32::try_from(self.fresh.len()).unwrap_or(u32::MAX);
        if count >= MOST_DROPPED {
            return Err(Complaint(format!("{MOST_DROPPED} bodies have been dropped, which is the limit")));
        }
        let mut masses: Vec<f64> =
            self.description.bodies.iter().filter_map(|body| hand::mass(&self.model, body.id)).collect();
        masses.sort_by(f64::total_cmp);
        let mass = masses.get(masses.len() / 2).copied().unwrap_or(1.0);
        let friction = edit::common(&self.model, |material| material.friction);
        let restitution = edit::common(&self.model, |material| material.restitution);
        let default = stiction::Material::default();
        let material = stiction::Material {
            friction: friction.unwrap_or(default.friction),
            restitution: restitution.unwrap_or(default.restitution),
            ..default
        };
        let word = if shape == Dropped::Box { "box" } else { "ball" };
        let taken = self.model.body_names();
        // there are fewer of them than numbers to try
        let name = (1..=MOST_DROPPED + count + 1)
            .map(|k| format!("dropped {word} {k}"))
            .find(|name| !taken.contains(&name.as_str()))
            .ok_or_else(|| Complaint::new("there is no name left for it"))?;
        let fresh = DroppedBody { name, shape, at, size, mass, material };
        let (model, state, at) = fresh.dropped(&self.model, self.simulation.state())?;
        self.fresh.push(DroppedBody { at, ..fresh });
        self.install(model, state);
        Ok(())
    }

    fn change(&mut self, change: &dyn Fn(&mut stiction::Material)) -> Result<(), Complaint> {
        let changed = edit::with_material(&self.model, self.simulation.state(), change);
        let (model, state) = changed.map_err(|mistakes| first_words(&mistakes))?;
        self.install(model, state);
        Ok(())
    }
}

/// The first of many mistakes: those of a value that every surface got are all the same.
fn first_words(mistakes: &stiction::Mistakes) -> Complaint {
    mistakes.0.first().map_or_else(|| Complaint::new("this cannot be"), |m| Complaint::new(m.what.clone()))
}

fn step_words(error: &StepError) -> Complaint {
    Complaint(format!("the simulation stopped: {error}"))
}

fn within(value: f64, least: f64, most: f64, what: &str) -> Result<f64, Complaint> {
    if value > 0.0 && value >= least && value <= most {
        return Ok(value);
    }
    let least = if least > 0.0 { format!("from {least}") } else { "above 0".to_string() };
    Err(Complaint(format!("{what} must be {least} and at most {most}, not {value}")))
}
