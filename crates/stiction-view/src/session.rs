//! Live session: a simulation that runs in real time, executes commands of a page and can return to earlier states.

mod clock;
mod command;
mod edit;
mod execute;
mod hand;
mod history;
mod save;
mod settings;

pub use command::{Command, CommandError, CommandReply, DroppedShape};
pub use settings::SessionStatus;

use crate::describe::Description;
use crate::frame::{FrameReport, frame};
use clock::PlaybackClock;
use edit::DroppedBody;
use hand::Cursor;
use history::{History, Snapshot, model_bytes};
use settings::StepSettings;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stiction::{BodyId, Model, Simulation, State, StepReport};
use stiction_scene::{Controls, Scene, scheme_names};

/// Live session of a scene.
#[derive(Debug)]
pub struct Session {
    /// Text of the scene.
    source: String,
    simulation: Simulation<Model>,
    /// Controllers of the scene.
    controls: Controls,
    /// State before the last step, where the report is that of the step after it.
    before: Option<State>,
    /// Model without the spring of the hand.
    model: Arc<Model>,
    /// Approximate size of the model and its description [bytes].
    model_bytes: usize,
    description: Arc<Description>,
    settings: StepSettings,
    cursor: Cursor,
    /// Number of the body that is the cursor.
    hand: BodyId,
    history: History,
    /// Snapshots before the changes that can be taken back.
    changes: VecDeque<Snapshot>,
    start: Snapshot,
    report: StepReport,
    /// Number of steps since the start.
    step: u32,
    /// Number of changes of the world.
    revisions: u32,
    /// Bodies that were dropped into the scene.
    fresh: Vec<DroppedBody>,
    clock: PlaybackClock,
    latest: LatestFrame,
}

/// Latest frame, and the worst residuals of the steps since the frame before.
#[derive(Debug)]
struct LatestFrame {
    bytes: Arc<[u8]>,
    /// `true` until the frame is taken.
    new: bool,
    /// Largest infeasibility since the last frame [m].
    infeasibility: f64,
    /// Worst residual of a certificate since the last frame.
    certificate: f64,
}

impl LatestFrame {
    fn new(bytes: Arc<[u8]>) -> Self {
        Self { bytes, new: true, infeasibility: 0.0, certificate: 0.0 }
    }

    /// Adds the residuals of a step that may have no frame of its own.
    fn add(&mut self, report: &StepReport) {
        self.infeasibility = self.infeasibility.max(report.infeasibility);
        self.certificate = self.certificate.max(report.certificate.worst());
    }
}

impl Session {
    /// Session at the start of a scene, paused.
    pub fn new(scene: &Scene) -> Result<Self, CommandError> {
        let built = scene.build().map_err(|mistakes| CommandError::new(mistakes.to_string()))?;
        let name = scene.title().unwrap_or_else(|| scene.name());
        let cursor = Cursor::default();
        let edited = built.model.edited(&built.state, &cursor);
        let (model, state, hand) = edited.map_err(|mistakes| CommandError::new(mistakes.to_string()))?;
        let settings = StepSettings::new(built.h, built.scheme);
        let model = Arc::new(model);
        let description = Arc::new(Description::new(&model, name, 0, Some(hand)));
        let simulation =
            Simulation::from_state((*model).clone(), state.clone()).with_scheme(settings.effective());
        let report = simulation.observe().map_err(|error| CommandError::new(error.to_string()))?;
        let frame: Arc<[u8]> = frame(&model, &description, &state, &FrameReport::of(0, &report)).into();
        let start = Snapshot {
            state,
            step: 0,
            model: model.clone(),
            description: description.clone(),
            settings: settings.clone(),
            frame: frame.clone(),
            model_bytes: model_bytes(&description),
        };
        let mut history = History::default();
        history.push(start.clone());
        Ok(Self {
            source: scene.source().to_string(),
            simulation,
            controls: built.controls,
            before: None,
            model,
            model_bytes: start.model_bytes,
            description,
            settings,
            cursor,
            hand,
            history,
            changes: VecDeque::new(),
            start,
            report,
            step: 0,
            revisions: 0,
            fresh: Vec::new(),
            clock: PlaybackClock::default(),
            latest: LatestFrame::new(frame),
        })
    }

    /// Description of the scene as it is drawn now.
    pub fn description(&self) -> &Arc<Description> {
        &self.description
    }

    /// Current state.
    pub fn state(&self) -> &State {
        self.simulation.state()
    }

    /// Current model.
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// `true` while the simulation runs.
    pub fn playing(&self) -> bool {
        self.clock.playing
    }

    /// Latest frame, if it has not been taken yet.
    pub fn take_frame(&mut self) -> Option<Arc<[u8]>> {
        std::mem::take(&mut self.latest.new).then(|| self.latest.bytes.clone())
    }

    /// Frames from before now with their descriptions, thinned out to at most so many bytes.
    pub fn past(&self, bytes: usize) -> Vec<(Arc<Description>, Arc<[u8]>)> {
        let sampled = self.history.sampled(bytes).into_iter();
        sampled.map(|snapshot| (snapshot.description.clone(), snapshot.frame.clone())).collect()
    }

    /// Settings and speed, as the page shows them.
    pub fn status(&self) -> SessionStatus {
        let StepSettings { h, name, stabilized, .. } = &self.settings;
        let mut schemes: Vec<String> = scheme_names().map(str::to_string).collect();
        if !schemes.contains(name) {
            schemes.insert(0, name.clone());
        }
        SessionStatus {
            playing: self.clock.playing,
            speed: self.clock.speed,
            rate: self.clock.rate,
            h: *h,
            scheme: name.clone(),
            schemes,
            stabilized: *stabilized,
            gamma: self.settings.gamma(),
            friction: edit::common(&self.model, |material| material.friction),
            restitution: edit::common(&self.model, |material| material.restitution),
        }
    }

    /// Makes the steps that are due after `passed` [s] of real time, as far as the time `budget` allows. An error
    /// pauses the simulation.
    pub fn advance(&mut self, passed: f64, budget: Duration) -> Result<(), CommandError> {
        if !self.clock.playing {
            return Ok(());
        }
        let (begun, t) = (Instant::now(), self.state().t);
        let h = self.settings.h;
        self.clock.add_real_time(passed, budget, h);
        let mut stepped = false;
        while self.clock.debt >= h && (!stepped || begun.elapsed() < budget) {
            self.clock.debt -= h;
            self.one_step().inspect_err(|_| self.clock.playing = false)?;
            stepped = true;
        }
        if begun.elapsed() >= budget {
            self.clock.debt = self.clock.debt.min(h);
        }
        if stepped {
            self.show();
        }
        self.clock.measure_rate(self.state().t - t, passed);
        Ok(())
    }

    fn one_step(&mut self) -> Result<(), CommandError> {
        let stopped =
            |error: &dyn std::fmt::Display| CommandError(format!("the simulation stopped: {error}"));
        let last = self.before.as_ref().map(|before| (before, &self.report));
        self.controls.apply(&mut self.simulation, last).map_err(|error| stopped(&error))?;
        let before = self.simulation.state().clone();
        let made = self.simulation.step_into(self.settings.h, &mut self.report);
        made.map_err(|error| stopped(&error))?;
        self.before = Some(before);
        self.step = self.step.saturating_add(1);
        self.latest.add(&self.report);
        Ok(())
    }

    /// Makes a frame of the last step and adds it to the history.
    fn show(&mut self) {
        let LatestFrame { infeasibility, certificate, .. } = self.latest;
        let report = FrameReport { infeasibility, certificate, ..FrameReport::of(self.step, &self.report) };
        let bytes: Arc<[u8]> = frame(&self.model, &self.description, self.simulation.state(), &report).into();
        self.latest = LatestFrame::new(bytes.clone());
        self.history.push(self.snapshot(bytes));
    }

    /// Snapshot of now with the frame that shows it.
    fn snapshot(&self, frame: Arc<[u8]>) -> Snapshot {
        Snapshot {
            state: self.simulation.state().clone(),
            step: self.step,
            model: self.model.clone(),
            description: self.description.clone(),
            settings: self.settings.clone(),
            frame,
            model_bytes: self.model_bytes,
        }
    }

    /// Returns to a snapshot.
    fn restore(&mut self, snapshot: &Snapshot) {
        let Snapshot { state, step, model, description, settings, frame, model_bytes } = snapshot.clone();
        self.model_bytes = model_bytes;
        self.simulation = Simulation::from_state((*model).clone(), state).with_scheme(settings.effective());
        (self.model, self.description, self.settings) = (model, description, settings);
        self.step = step;
        self.before = None;
        self.latest = LatestFrame::new(frame);
        self.clock.debt = 0.0;
        self.history.push(snapshot.clone());
        // forget dropped bodies that did not exist yet
        let known: Vec<&str> = self.model.body_names();
        self.fresh.retain(|fresh| known.contains(&fresh.name.as_str()));
    }

    /// Continues the run with a changed world.
    fn install(&mut self, model: Model, state: State) {
        self.revisions += 1;
        self.model = Arc::new(model);
        let name = self.description.name.clone();
        self.description = Arc::new(Description::new(&self.model, &name, self.revisions, Some(self.hand)));
        self.model_bytes = model_bytes(&self.description);
        self.simulation =
            Simulation::from_state((*self.model).clone(), state).with_scheme(self.settings.effective());
        // show new bodies at once, with the contacts of the last step
        let report = FrameReport::of(self.step, &self.report);
        self.latest.bytes = frame(&self.model, &self.description, self.simulation.state(), &report).into();
        self.latest.new = true;
    }
}
