//! Scene files: bodies, joints, forces, scheme and recording of a run, in TOML.
//!
//! [`Scene::from_toml`] reads a file and lists all its errors at once, each with its line and a suggestion.
//! [`Scene::build`] builds the model, start state and scheme for a [`stiction::Simulation`].
//!
//! ```
//! use stiction::Simulation;
//! use stiction_scene::{BuiltScene, Scene};
//!
//! let text = r#"
//!     format = 1
//!     dimension = 2
//!     run = { duration = 1.0, step = 0.01 }
//!
//!     [[bodies]]
//!     name = "floor"
//!     motion = "fixed"
//!     shapes = [{ kind = "half_plane" }]
//!
//!     [[bodies]]
//!     name = "ball"
//!     density = 1000.0
//!     position = [0.0, 0.5]
//!     shapes = [{ kind = "disk", radius = 0.1 }]
//! "#;
//! let scene = Scene::from_toml(text, "ball.toml")?;
//! let BuiltScene { model, state, scheme, h, duration, .. } = scene.build()?;
//! let mut simulation = Simulation::from_state(model, state).with_scheme(scheme);
//! simulation.record(duration, h, |_, _, _| ())?;
//! let ball = simulation.system().find_body("ball").ok_or("no ball")?;
//! let centre = simulation.system().centre(simulation.state(), ball).unwrap_or_default();
//! assert!((centre[1] - 0.1).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembly;
mod controls;
mod copies;
mod crowding;
mod diagnostic;
mod expression;
mod hints;
mod keys;
mod lint;
mod measure;
mod node;
mod planar;
mod read;
mod run;
mod scene;
mod schema;
mod set_value;
mod signal;
mod source_map;
mod spatial;
mod start_state;
mod surface;
mod track;
mod validate;

pub use controls::Controls;
pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use measure::Measure;
pub use node::MAX_FILE_BYTES;
pub use run::{RecordSettings, STEP_LIMIT, earlier_scheme, scheme_named, scheme_names};
pub use scene::{BuiltScene, Scene};
pub use schema::schema;
pub use set_value::with_value;
pub use signal::{Sample, Sensors, Signal};
pub use stiction::Model;

// compiles the chapter of the book as a doc test
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/library.md")]
struct Library;
