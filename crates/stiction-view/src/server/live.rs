//! Live part of the server: the thread of the session, and the news that each connection sends to its page.

use crate::page::{self, NoPage};
use crate::session::{Command, CommandReply, Session};
use serde_json::json;
use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use tungstenite::protocol::{Role, WebSocketConfig};
use tungstenite::{Bytes, Error, Message, Utf8Bytes, WebSocket};

/// Size limit of a message of a page [bytes]; the longest command has a few numbers.
const MAX_MESSAGE_BYTES: usize = 4096;
/// Capacity of the queue of commands.
const COMMAND_QUEUE: usize = 1024;
/// Time between two frames: the refresh rate of a screen.
const FRAME_PERIOD: Duration = Duration::from_millis(16);
/// Part of the frame period that steps may take.
const STEP_BUDGET: Duration = Duration::from_millis(13);
/// Read timeout of a connection, after which it sends news.
const READ_TIMEOUT: Duration = Duration::from_millis(4);
/// Time between two status messages.
const STATUS_INTERVAL: Duration = Duration::from_millis(500);
/// Number of notices kept for connections that have not sent them yet.
const MAX_NOTICES: usize = 64;

/// Size limit of the frames that a new connection gets from before it [bytes]: a fraction of a second on this machine.
const PAST_BYTES: usize = 16 << 20;

/// Frames from before a connection, with their descriptions.
type PastFrames = Vec<(Arc<crate::Description>, Arc<[u8]>)>;

/// Request of a connection.
enum PageRequest {
    /// Command of its page.
    Command { connection: u64, command: Command },
    /// Frames from before it.
    Past(SyncSender<PastFrames>),
}

/// Message for one connection or all.
struct Notice {
    number: u64,
    connection: u64,
    text: Utf8Bytes,
}

/// Latest news for all connections.
#[derive(Default)]
struct News {
    description: Option<Arc<crate::Description>>,
    frame: Option<Bytes>,
    /// Number of frames so far.
    frames: u64,
    status: Utf8Bytes,
    /// Number of status messages so far.
    statuses: u64,
    notices: VecDeque<Notice>,
    /// Number of the last notice.
    last_notice: u64,
}

/// Live session as connections see it: its news and its queue of commands.
pub(super) struct LiveServer {
    news: Mutex<News>,
    commands: SyncSender<PageRequest>,
    connections: AtomicU64,
    /// Number of pages that are connected.
    pages: AtomicUsize,
    /// The simulation waits while no page is connected.
    waits: bool,
    /// The session is to end.
    ended: AtomicBool,
}

impl LiveServer {
    /// Starts the thread of a session; with `waits` its simulation waits while no page is connected.
    pub(super) fn start(mut session: Session, waits: bool) -> Arc<Self> {
        let (commands, requests) = sync_channel(COMMAND_QUEUE);
        let shared = Arc::new(Self {
            news: Mutex::default(),
            commands,
            connections: AtomicU64::new(0),
            pages: AtomicUsize::new(0),
            waits,
            ended: AtomicBool::new(false),
        });
        shared.publish(&mut session, true);
        let own = shared.clone();
        thread::spawn(move || own.run(session, &requests));
        shared
    }

    /// `true` while a page is connected.
    pub(super) fn is_watched(&self) -> bool {
        self.pages.load(Ordering::SeqCst) > 0
    }

    /// Ends the thread of the session and its connections.
    pub(super) fn end(&self) {
        self.ended.store(true, Ordering::SeqCst);
    }

    fn lock(&self) -> MutexGuard<'_, News> {
        self.news.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs the session and executes commands until the program ends.
    fn run(&self, mut session: Session, requests: &Receiver<PageRequest>) {
        let (mut last, mut last_status) = (Instant::now(), Instant::now());
        while !self.ended.load(Ordering::SeqCst) {
            let mut changed = false;
            let mut next = match requests.recv_timeout(FRAME_PERIOD.saturating_sub(last.elapsed())) {
                Ok(request) => Some(request),
                Err(RecvTimeoutError::Timeout) => None,
                // cannot happen: this object owns the sender
                Err(RecvTimeoutError::Disconnected) => return,
            };
            while let Some(request) = next {
                match request {
                    PageRequest::Command { connection, command } => {
                        changed |= !matches!(command, Command::Move { .. });
                        self.execute(&mut session, connection, &command);
                    }
                    // the connection may have ended
                    PageRequest::Past(reply) => drop(reply.send(session.past(PAST_BYTES))),
                }
                next = requests.try_recv().ok();
            }
            if last.elapsed() >= FRAME_PERIOD {
                let passed = last.elapsed().as_secs_f64();
                last = Instant::now();
                if self.waits && !self.is_watched() {
                    continue;
                }
                if let Err(error) = session.advance(passed, STEP_BUDGET) {
                    let stopped = json!({ "error": error.to_string(), "stopped": true });
                    self.notify(ALL_CONNECTIONS, &stopped);
                    changed = true;
                }
            }
            let due = session.playing() && last_status.elapsed() >= STATUS_INTERVAL;
            if changed || due {
                last_status = Instant::now();
            }
            self.publish(&mut session, changed || due);
        }
    }

    /// Executes a command of a connection.
    fn execute(&self, session: &mut Session, connection: u64, command: &Command) {
        match session.execute(command) {
            Ok(CommandReply::Done) => {}
            Ok(CommandReply::Scene(text)) => self.notify(connection, &json!({ "scene": text })),
            Err(error) => self.notify(connection, &json!({ "error": error.to_string() })),
        }
    }

    /// Messages with the frames from before a connection; none where the session has ended.
    fn past(&self) -> Vec<Message> {
        let (reply, answer) = sync_channel(1);
        if self.commands.send(PageRequest::Past(reply)).is_err() {
            return Vec::new();
        }
        let past = answer.recv().unwrap_or_default();
        let mut messages = vec![Message::text(json!({ "past": past.len() }).to_string())];
        let mut revision = None;
        for (description, frame) in past {
            if revision != Some(description.revision) {
                revision = Some(description.revision);
                messages.push(Message::text(json!({ "description": description }).to_string()));
            }
            messages.push(Message::Binary(Bytes::copy_from_slice(&frame)));
        }
        messages
    }

    /// Publishes the latest frame, and the status if asked for.
    fn publish(&self, session: &mut Session, status: bool) {
        let frame = session.take_frame();
        let mut news = self.lock();
        if let Some(frame) = frame {
            news.description = Some(session.description().clone());
            news.frame = Some(Bytes::copy_from_slice(&frame));
            news.frames += 1;
        }
        if status {
            news.status = json!({ "status": session.status() }).to_string().into();
            news.statuses += 1;
        }
    }

    /// Adds a notice for a connection.
    fn notify(&self, connection: u64, message: &serde_json::Value) {
        let mut news = self.lock();
        news.last_notice += 1;
        let number = news.last_notice;
        news.notices.push_back(Notice { number, connection, text: message.to_string().into() });
        while news.notices.len() > MAX_NOTICES {
            news.notices.pop_front();
        }
    }

    /// Page with the current scene.
    pub(super) fn page(&self) -> Result<String, NoPage> {
        let description = self.lock().description.clone().ok_or(NoPage)?;
        page::live(&description)
    }
}

/// Receiver of notices for all connections.
const ALL_CONNECTIONS: u64 = u64::MAX;

/// News that a connection has already sent to its page.
struct SentNews {
    connection: u64,
    revision: Option<u32>,
    frames: u64,
    statuses: u64,
    last_notice: u64,
}

impl SentNews {
    /// Messages that the connection has not sent yet.
    fn pending(&mut self, server: &LiveServer) -> Vec<Message> {
        let news = server.lock();
        let mut messages = Vec::new();
        if let (Some(description), Some(frame)) = (&news.description, &news.frame)
            && self.frames != news.frames
        {
            // the page needs the description before the frame
            if self.revision != Some(description.revision) {
                self.revision = Some(description.revision);
                messages.push(Message::text(json!({ "description": description }).to_string()));
            }
            self.frames = news.frames;
            messages.push(Message::Binary(frame.clone()));
        }
        if self.statuses != news.statuses {
            self.statuses = news.statuses;
            messages.push(Message::Text(news.status.clone()));
        }
        for Notice { number, connection, text } in &news.notices {
            let receives = [self.connection, ALL_CONNECTIONS].contains(connection);
            if *number > self.last_notice && receives {
                messages.push(Message::Text(text.clone()));
            }
        }
        self.last_notice = news.last_notice;
        messages
    }
}

/// Exchanges messages with a page until it disconnects or violates the protocol.
pub(super) fn serve_page(stream: TcpStream, rest: Vec<u8>, server: &LiveServer) {
    server.pages.fetch_add(1, Ordering::SeqCst);
    exchange(stream, rest, server);
    server.pages.fetch_sub(1, Ordering::SeqCst);
}

fn exchange(stream: TcpStream, rest: Vec<u8>, server: &LiveServer) {
    if stream.set_read_timeout(Some(READ_TIMEOUT)).is_err() {
        return;
    }
    let mut config = WebSocketConfig::default();
    config.max_message_size = Some(MAX_MESSAGE_BYTES);
    config.max_frame_size = Some(MAX_MESSAGE_BYTES);
    let mut socket = WebSocket::from_partially_read(stream, rest, Role::Server, Some(config));
    let connection = server.connections.fetch_add(1, Ordering::SeqCst);
    let last_notice = server.lock().last_notice;
    if server.past().into_iter().any(|message| socket.send(message).is_err()) {
        return;
    }
    let mut sent = SentNews { connection, revision: None, frames: 0, statuses: 0, last_notice };
    while !server.ended.load(Ordering::SeqCst) {
        for message in sent.pending(server) {
            if socket.send(message).is_err() {
                return;
            }
        }
        match socket.read() {
            Ok(Message::Text(text)) => match Command::read(&text) {
                Ok(command) => {
                    if server.commands.send(PageRequest::Command { connection, command }).is_err() {
                        return;
                    }
                }
                Err(error) => server.notify(connection, &json!({ "error": error.to_string() })),
            },
            Ok(Message::Binary(_)) => {
                server.notify(connection, &json!({ "error": "a command must be a text message" }));
            }
            Ok(_) => {}
            Err(Error::Io(error)) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
            Err(Error::Capacity(_)) => {
                let _ = socket.send(Message::text(
                    json!({ "error": "the message is longer than 4096 bytes" }).to_string(),
                ));
                let _ = socket.close(None);
                return;
            }
            Err(_) => return,
        }
    }
}
