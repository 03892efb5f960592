//! Scene files: a world, how it is run and what is kept, as TOML.
//!
//! [`Scene::from_toml`] reads a file and reports all its mistakes at once, each with its line and what may help;
//! [`Scene::build`] makes a model, a state and a scheme of it that a [`stiction::Simulation`] steps.
//!
//! ```
//! use stiction::Simulation;
//! use stiction_scene::{Built, Scene};
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
//! let Built { model, state, scheme, h, duration, .. } = scene.build()?;
//! let mut simulation = Simulation::new(model, state, scheme);
//! simulation.record(duration, h, |_, _, _| ())?;
//! let ball = simulation.system().find_body("ball").ok_or("no ball")?;
//! let centre = simulation.system().centre(simulation.state(), ball).unwrap_or_default();
//! assert!((centre[1] - 0.1).abs() < 1e-9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assembly;
mod copies;
mod crowding;
mod diagnostic;
mod expression;
mod keys;
mod lint;
mod moment;
mod node;
mod planar;
mod read;
mod run;
mod scene;
mod schema;
mod source_map;
mod spatial;
mod surface;
mod track;
mod validate;

pub use diagnostic::{Diagnostic, Diagnostics, Severity};
pub use node::MOST_BYTES;
pub use run::{Record, scheme_named, scheme_names};
pub use scene::{Built, Scene};
pub use schema::schema;
pub use stiction::Model;

// the chapters of the book are doc tests
#[cfg(doctest)]
#[doc = include_str!("../../../book/src/library.md")]
struct Library;
