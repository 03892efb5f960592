//! The page: simulations in a browser, live or recorded. It draws what reports say; no physics happens in it.
//!
//! A [`Tape`] keeps a run and makes one self-contained HTML file of it. A [`Session`] is a live simulation that takes
//! commands, and [`Server`] shows it to a browser on the same machine.

mod describe;
mod frame;
mod page;
mod server;
mod session;
mod stand_in;
mod tape;

pub use describe::{Body, Description, Form, Joint, Pose, Shape, Spring};
pub use frame::{Seen, frame};
pub use page::{NoPage, has_page, replay};
pub use server::{Server, ServerError};
pub use session::{Answer, Command, Complaint, Dropped, Session, Status};
pub use tape::Tape;
