//! Start page: scenes to choose from, each with a live session of its own once it is opened.

use super::live::LiveServer;
use crate::session::{Command, CommandError, Session};
use std::sync::{Arc, Mutex, PoisonError};
use stiction_scene::Scene;

/// Largest number of sessions without a page: each keeps its history, up to 128 MB.
const MAX_UNWATCHED: usize = 3;

/// Start page with its scenes.
pub(super) struct StartPage {
    /// Page that lists the scenes.
    pub(super) page: String,
    scenes: Vec<(String, Scene)>,
    /// Sessions by the names of their scenes, the last opened at the end.
    sessions: Mutex<Vec<(String, Arc<LiveServer>)>>,
}

impl StartPage {
    pub(super) fn new(page: String, scenes: Vec<(String, Scene)>) -> Self {
        Self { page, scenes, sessions: Mutex::default() }
    }

    /// Session of a scene, which runs from its start when it is opened first; `None` for an unknown scene.
    pub(super) fn open(&self, name: &str) -> Option<Result<Arc<LiveServer>, CommandError>> {
        let (_, scene) = self.scenes.iter().find(|(known, _)| known == name)?;
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, session)) = sessions.iter().find(|(known, _)| known == name) {
            return Some(Ok(session.clone()));
        }
        let session = match running(scene) {
            Ok(session) => LiveServer::start(session, true),
            Err(error) => return Some(Err(error)),
        };
        let unwatched = sessions.iter().filter(|(_, session)| !session.is_watched()).count();
        if unwatched >= MAX_UNWATCHED
            && let Some(oldest) = sessions.iter().position(|(_, session)| !session.is_watched())
        {
            sessions.remove(oldest).1.end();
        }
        sessions.push((name.to_string(), session.clone()));
        Some(Ok(session))
    }
}

/// Session at the start of a scene, running.
fn running(scene: &Scene) -> Result<Session, CommandError> {
    let mut session = Session::new(scene)?;
    session.execute(&Command::Play {})?;
    Ok(session)
}
