//! The thread that a simulation runs in, and what pages are told of it.

use crate::page::{self, NoPage};
use crate::session::{Answer, Command, Session};
use serde_json::json;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message, Utf8Bytes, WebSocket};

/// Longest message of a page [bytes]: the longest command has a few numbers.
const LONGEST: usize = 4096;
/// Commands that may wait.
const WAITING: usize = 1024;
/// Time from frame to frame: a screen shows 60 in a second.
const FRAME: Duration = Duration::from_millis(16);
/// How much of it steps may take.
const BUDGET: Duration = Duration::from_millis(13);
/// How long a connection listens before it looks for something to say.
const LISTEN: Duration = Duration::from_millis(4);
/// How often the page is told how fast it goes.
const STATUS: Duration = Duration::from_millis(500);
/// Words kept for connections that have not taken them yet.
const WORDS: usize = 64;

/// A command and the connection it came from.
type Asked = (u64, Command);

/// What pages are told.
#[derive(Default)]
struct Told {
    description: Option<Arc<crate::Description>>,
    frame: Option<Bytes>,
    /// How many frames there have been.
    frames: u64,
    status: Utf8Bytes,
    statuses: u64,
    /// Words for one connection each, numbered.
    words: VecDeque<(u64, u64, Utf8Bytes)>,
    spoken: u64,
}

/// A live simulation as connections see it.
pub(super) struct Shared {
    told: Mutex<Told>,
    commands: SyncSender<Asked>,
    connections: AtomicU64,
}

impl Shared {
    /// Starts the thread of a simulation.
    pub(super) fn start(mut session: Session) -> Arc<Self> {
        let (commands, asked) = sync_channel(WAITING);
        let shared = Arc::new(Self { told: Mutex::default(), commands, connections: AtomicU64::new(0) });
        shared.publish(&mut session, true);
        let own = shared.clone();
        thread::spawn(move || own.run(session, &asked));
        shared
    }

    fn lock(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the simulation and obeys commands, until the program ends.
    fn run(&self, mut session: Session, asked: &Receiver<Asked>) {
        let (mut last, mut told) = (Instant::now(), Instant::now());
        loop {
            let mut changed = false;
            let mut next = match asked.recv_timeout(FRAME.saturating_sub(last.elapsed())) {
                Ok(asked) => Some(asked),
                Err(RecvTimeoutError::Timeout) => None,
                // the sender lives in this very structure
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while let Some((connection, command)) = next {
                changed |= !matches!(command, Command::Move { .. });
                match session.obey(&command) {
                    Ok(Answer::Done) => {}
                    Ok(Answer::Scene(text)) => self.say(connection, &json!({ "scene": text })),
                    Err(complaint) => self.say(connection, &json!({ "error": complaint.to_string() })),
                }
                next = asked.try_recv().ok();
            }
            if last.elapsed() >= FRAME {
                let passed = last.elapsed().as_secs_f64();
                last = Instant::now();
                if let Err(complaint) = session.advance(passed, BUDGET) {
                    self.say(EVERYBODY, &json!({ "error": complaint.to_string() }));
                    changed = true;
                }
            }
            let due = session.playing() && told.elapsed() >= STATUS;
            if changed || due {
                told = Instant::now();
            }
            self.publish(&mut session, changed || due);
        }
    }

    fn publish(&self, session: &mut Session, status: bool) {
        let frame = session.take_frame();
        let mut told = self.lock();
        if let Some(frame) = frame {
            told.description = Some(session.description().clone());
            told.frame = Some(Bytes::copy_from_slice(&frame));
            told.frames += 1;
        }
        if status {
            told.status = json!({ "status": session.status() }).to_string().into();
            told.statuses += 1;
        }
    }

    fn say(&self, connection: u64, words: &serde_json::Value) {
        let mut told = self.lock();
        told.spoken += 1;
        let number = told.spoken;
        told.words.push_back((number, connection, words.to_string().into()));
        while told.words.len() > WORDS {
            told.words.pop_front();
        }
    }

    /// The page, with the scene as it is now.
    pub(super) fn page(&self) -> Result<String, NoPage> {
        let description = self.lock().description.clone().ok_or(NoPage)?;
        page::live(&description)
    }
}

/// Words for all connections.
const EVERYBODY: u64 = u64::MAX;

/// What a connection has been told.
struct Heard {
    connection: u64,
    revision: Option<u32>,
    frames: u64,
    statuses: u64,
    spoken: u64,
}

impl Heard {
    /// What there is to say that this connection has not heard.
    fn news(&mut self, shared: &Shared) -> Vec<Message> {
        let told = shared.lock();
        let mut news = Vec::new();
        if let (Some(description), Some(frame)) = (&told.description, &told.frame)
            && self.frames != told.frames
        {
            // a frame makes sense only after its description
            if self.revision != Some(description.revision) {
                self.revision = Some(description.revision);
                news.push(Message::text(json!({ "description": description }).to_string()));
            }
            self.frames = told.frames;
            news.push(Message::Binary(frame.clone()));
        }
        if self.statuses != told.statuses {
            self.statuses = told.statuses;
            news.push(Message::Text(told.status.clone()));
        }
        for (number, to, words) in &told.words {
            if *number > self.spoken && (*to == self.connection || *to == EVERYBODY) {
                news.push(Message::Text(words.clone()));
            }
        }
        self.spoken = told.spoken;
        news
    }
}

/// Talks with a page until it goes away or breaks the rules of the protocol.
pub(super) fn talk(stream: TcpStream, rest: Vec<u8>, shared: &Shared) {
    if stream.set_read_timeout(Some(LISTEN)).is_err() {
        return;
    }
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(LONGEST);
    config.max_frame_size = Some(LONGEST);
    let mut socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
    let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
    let spoken = shared.lock().spoken;
    let mut heard = Heard { connection, revision: None, frames: 0, statuses: 0, spoken };
    loop {
        for message in heard.news(shared) {
            if socket.send(message).is_err() {
                return;
            }
        }
        match socket.read() {
            Ok(Message::Text(text)) => match Command::read(&text) {
                Ok(command) => {
                    if shared.commands.send((connection, command)).is_err() {
                        return;
                    }
                }
                Err(complaint) => shared.say(connection, &json!({ "error": complaint.to_string() })),
            },
            Ok(Message::Binary(_)) => {
                shared.say(connection, &json!({ "error": "commands are text" }));
            }
            Ok(_) => {}
            Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(Error::Capacity(_)) => {
                let _ = socket.send(Message::text(json!({ "error": "the message is too long" }).to_string()));
                let _ = socket.close(None);
                return;
            }
            Err(_) => return,
        }
    }
}
