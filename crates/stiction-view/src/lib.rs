//! Browser view of simulations, live or recorded. It draws states and step reports and contains no physics.
//!
//! A [`Tape`] collects a run and writes it as one self-contained HTML file. A [`Session`] is a live simulation that
//! executes commands, and a [`Server`] shows it to a browser on the same machine.

mod describe;
mod frame;
mod page;
mod quantity;
mod server;
mod session;
mod stand_in;
mod tape;

pub use describe::{Body, Description, Form, Joint, Pose, Quantity, Shape, Spring};
pub use frame::{FrameReport, frame};
pub use page::{NoPage, has_page, replay};
pub use server::{Server, ServerError};
pub use session::{Command, CommandError, CommandReply, DroppedShape, Session, SessionStatus};
pub use tape::Tape;
