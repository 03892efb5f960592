//! Execution of the commands of a page on a live session.

use super::edit::{self, DroppedBody};
use super::{Command, CommandError, CommandReply, DroppedShape, Session, hand};
use stiction::{Level, Material, Simulation, System};
use stiction_scene::{scheme_named, scheme_names};

/// Largest number of bodies that may be dropped into a scene.
const MAX_DROPPED: u32 = 500;

/// Largest number of changes that can be taken back.
const MAX_CHANGES: usize = 100;

/// Range of the step size [s].
const STEP_RANGE: [f64; 2] = [1e-7, 1.0];

/// Range of the size of a dropped body, relative to the smallest body of the scene.
const DROPPED_SIZE_RANGE: [f64; 2] = [1e-3, 1e3];

/// Largest playback speed [simulated s/s].
const MAX_SPEED: f64 = 1000.0;

impl Session {
    /// Executes a command. On an error the session is unchanged.
    pub fn execute(&mut self, command: &Command) -> Result<CommandReply, CommandError> {
        let before = command.can_be_taken_back().then(|| self.snapshot(self.latest.bytes.clone()));
        let reply = self.obey(command)?;
        if let Some(before) = before {
            self.changes.push_back(before);
            if self.changes.len() > MAX_CHANGES {
                self.changes.pop_front();
            }
        }
        Ok(reply)
    }

    fn obey(&mut self, command: &Command) -> Result<CommandReply, CommandError> {
        match command {
            Command::Play {} => self.clock.playing = true,
            Command::Pause {} => self.clock.playing = false,
            Command::Step {} => {
                self.clock.playing = false;
                self.one_step()?;
                self.show();
            }
            Command::Reset {} => {
                let start = self.start.clone();
                self.fresh.clear();
                self.changes.clear();
                self.restore(&start);
            }
            Command::TakeBack {} => {
                let before = self.changes.pop_back();
                self.restore(&before.ok_or_else(|| CommandError::new("there is no change to take back"))?);
            }
            Command::Undo { time } => self.undo(*time)?,
            Command::Speed { value } => {
                self.clock.speed = within(*value, [0.0, MAX_SPEED], "the speed")?;
            }
            Command::Grab { body, point } => self.grab(*body, point)?,
            Command::Move { target } => {
                let target = self.vector(target)?;
                self.cursor.set(target);
            }
            Command::Release {} => self.release(),
            Command::Drop { shape, at, size } => self.drop_body(*shape, at, *size)?,
            Command::Friction { value } => {
                let value = *value;
                self.change_materials(&|material| material.friction = value)?;
                self.settings.friction = Some(value);
            }
            Command::Restitution { value } => {
                let value = *value;
                self.change_materials(&|material| material.restitution = value)?;
                self.settings.restitution = Some(value);
            }
            Command::Gamma { value } => self.set_gamma(*value)?,
            Command::StepSize { value } => {
                self.settings.h = within(*value, STEP_RANGE, "the step size [s]")?;
            }
            Command::Scheme { name } => self.set_scheme(name)?,
            Command::Stabilize { on } => {
                self.settings.stabilized = *on;
                self.simulation.scheme = self.settings.effective();
            }
            Command::Save {} => return self.saved().map(CommandReply::Scene),
        }
        Ok(CommandReply::Done)
    }

    fn undo(&mut self, time: f64) -> Result<(), CommandError> {
        let snapshot = self.history.at(time).cloned().ok_or_else(|| {
            let first = self.history.first().map_or(0.0, |snapshot| snapshot.state.t);
            CommandError(format!("no state before t = {first} s is kept"))
        })?;
        self.restore(&snapshot);
        Ok(())
    }

    fn set_gamma(&mut self, value: f64) -> Result<(), CommandError> {
        let value = within(value, [0.0, 1.0], "γ")?;
        let Level::Stabilized { gamma, .. } = &mut self.settings.scheme.level else {
            return Err(CommandError(format!("the scheme {} has no γ", self.settings.name)));
        };
        *gamma = value;
        self.simulation.scheme = self.settings.effective();
        Ok(())
    }

    fn set_scheme(&mut self, name: &str) -> Result<(), CommandError> {
        self.settings.scheme = if name == self.start.settings.name {
            self.start.settings.scheme
        } else {
            scheme_named(name).ok_or_else(|| {
                let known: Vec<_> = scheme_names().collect();
                CommandError(format!("unknown scheme `{name}`; choose one of {}", known.join(", ")))
            })?
        };
        self.settings.name = name.to_string();
        self.simulation.scheme = self.settings.effective();
        Ok(())
    }

    /// Point in the world, with z = 0 in the plane.
    fn vector(&self, numbers: &[f64]) -> Result<[f64; 3], CommandError> {
        let d = self.model.dimension();
        if numbers.len() != d || !numbers.iter().all(|x| x.is_finite()) {
            return Err(CommandError(format!("expected a point of {d} finite numbers, found {numbers:?}")));
        }
        Ok(std::array::from_fn(|i| numbers.get(i).copied().unwrap_or(0.0)))
    }

    fn grab(&mut self, body: usize, point: &[f64]) -> Result<(), CommandError> {
        let point = self.vector(point)?;
        let Some(body) = self.description.bodies.get(body) else {
            return Err(CommandError(format!("there is no body {body}")));
        };
        self.cursor.set(point);
        let state = self.simulation.state().clone();
        let pulled = hand::pulled(&self.model, &state, self.hand, body.id, point)
            .ok_or_else(|| CommandError(format!("{} does not move and cannot be pulled", body.name)))?;
        self.simulation = Simulation::from_state(pulled, state).with_scheme(self.settings.effective());
        Ok(())
    }

    fn release(&mut self) {
        let state = self.simulation.state().clone();
        self.simulation =
            Simulation::from_state((*self.model).clone(), state).with_scheme(self.settings.effective());
    }

    fn drop_body(&mut self, shape: DroppedShape, at: &[f64], size: f64) -> Result<(), CommandError> {
        let at = self.vector(at)?;
        let smallest = self.model.size();
        let size = within(size, DROPPED_SIZE_RANGE.map(|factor| factor * smallest), "the size [m]")?;
        let count = u32::try_from(self.fresh.len()).unwrap_or(u32::MAX);
        if count >= MAX_DROPPED {
            return Err(CommandError(format!("the limit of {MAX_DROPPED} dropped bodies is reached")));
        }
        let word = if shape == DroppedShape::Box { "box" } else { "ball" };
        let taken = self.model.body_names();
        // more numbers to try than dropped bodies
        let name = (1..=MAX_DROPPED + count + 1)
            .map(|k| format!("dropped {word} {k}"))
            .find(|name| !taken.contains(&name.as_str()))
            .ok_or_else(|| CommandError::new("all names of dropped bodies are taken"))?;
        let fresh =
            DroppedBody { name, shape, at, size, mass: self.median_mass(), material: self.common_material() };
        let (model, state, at) = fresh.dropped(&self.model, self.simulation.state())?;
        self.fresh.push(DroppedBody { at, ..fresh });
        self.install(model, state);
        Ok(())
    }

    /// Median mass of the moving bodies [kg]; 1 kg where there are none.
    fn median_mass(&self) -> f64 {
        let bodies = self.description.bodies.iter();
        let mut masses: Vec<f64> = bodies.filter_map(|body| hand::mass(&self.model, body.id)).collect();
        masses.sort_by(f64::total_cmp);
        masses.get(masses.len() / 2).copied().unwrap_or(1.0)
    }

    /// Friction and restitution that all surfaces share, or the defaults.
    fn common_material(&self) -> Material {
        let default = Material::default();
        let friction = edit::common(&self.model, |material| material.friction);
        let restitution = edit::common(&self.model, |material| material.restitution);
        Material {
            friction: friction.unwrap_or(default.friction),
            restitution: restitution.unwrap_or(default.restitution),
            ..default
        }
    }

    fn change_materials(&mut self, change: &dyn Fn(&mut Material)) -> Result<(), CommandError> {
        let changed = edit::with_material(&self.model, self.simulation.state(), change);
        // every surface got the same value, so all errors are the same
        let (model, state) = changed.map_err(|mistakes| {
            let first = mistakes.0.first().map(|mistake| mistake.what.clone());
            CommandError(first.unwrap_or_else(|| "this value is not allowed".to_string()))
        })?;
        self.install(model, state);
        Ok(())
    }
}

/// Checks that a positive value lies in a range.
fn within(value: f64, [least, most]: [f64; 2], noun: &str) -> Result<f64, CommandError> {
    if value > 0.0 && value >= least && value <= most {
        return Ok(value);
    }
    let least = if least > 0.0 { format!("at least {least}") } else { "above 0".to_string() };
    Err(CommandError(format!("{noun} must be {least} and at most {most}, not {value}")))
}
