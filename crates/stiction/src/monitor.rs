//! Monitor of a run under way, for another thread: the time it has reached, its events so far, and a request to stop.
//! Schemes look at it within a step, so that a long step, too, ends soon after the request.

use crate::error::StepError;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Monitor of a run: a handle that is passed to a simulation and kept by another thread. Clones share one run.
///
/// ```
/// # use nalgebra::Vector2;
/// # use stiction::planar::{Attached, Body, Mass, Shape, World};
/// use stiction::{RunMonitor, Simulation, StepError};
/// # let mut world = World::new(Vector2::new(0.0, -9.81));
/// # world.add_body(Body::rigid("ball", Mass::Density(1.0)).with(Attached::new(Shape::Disk { radius: 0.1 })));
/// let monitor = RunMonitor::default();
/// let mut simulation = Simulation::new(world.build()?).with_monitor(monitor.clone());
/// simulation.step(0.01)?;
/// assert_eq!(monitor.time(), 0.01);
/// // from any thread
/// monitor.stop();
/// assert!(matches!(simulation.step(0.01), Err(StepError::Stopped { .. })));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct RunMonitor(Arc<SharedProgress>);

/// Progress of a run, shared by the threads that make it and watch it.
#[derive(Debug, Default)]
struct SharedProgress {
    stopped: AtomicBool,
    /// Bits of the time reached [s].
    time: AtomicU64,
    /// Events of the steps that are finished.
    finished_events: AtomicUsize,
    /// Events so far of the step under way.
    current_events: AtomicUsize,
}

impl RunMonitor {
    /// Asks the run to stop. The step under way ends with [`StepError::Stopped`] and leaves the state as it was before
    /// it; so does every later step.
    pub fn stop(&self) {
        self.0.stopped.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to stop.
    pub fn is_stopped(&self) -> bool {
        self.0.stopped.load(Ordering::Relaxed)
    }

    /// Time reached [s], within an interval of a run to an accuracy too; 0 before the first step.
    pub fn time(&self) -> f64 {
        f64::from_bits(self.0.time.load(Ordering::Relaxed))
    }

    /// Number of located events so far.
    pub fn events(&self) -> usize {
        self.0.finished_events.load(Ordering::Relaxed) + self.0.current_events.load(Ordering::Relaxed)
    }

    /// Notes the time reached within a step, and the events of this step so far.
    pub(crate) fn reach(&self, t: f64, events: usize) {
        self.0.time.store(t.to_bits(), Ordering::Relaxed);
        self.0.current_events.store(events, Ordering::Relaxed);
    }

    /// Notes the end of a step at time `t` with its events.
    pub(crate) fn finish(&self, t: f64, events: usize) {
        self.reach(t, 0);
        self.0.finished_events.fetch_add(events, Ordering::Relaxed);
    }

    /// Error if the run was asked to stop; `t` is the time reached [s].
    pub(crate) fn check(&self, t: f64) -> Result<(), StepError> {
        if self.is_stopped() { Err(StepError::Stopped { t }) } else { Ok(()) }
    }
}
