//! Web server that shows a live session or a recorded run to a browser on the same machine.
//!
//! It listens on the loopback interface only. Other users of the machine reach that too, so every request must carry the
//! token of the address that [`Server::url`] names, or the cookie that its page has set. Requests of other sites are
//! refused: the `Host` must be this machine, which stops DNS rebinding, and the `Origin`, if given, must be the server's
//! own. Connections that have not shown the token are few and short, so they cannot keep others out. The simulation has a
//! thread of its own, so pages may come and go.

mod http;
mod live;
mod pending;
mod start_page;

use crate::session::Session;
use http::PageSecurity;
use live::LiveServer;
use pending::PendingConnections;
use start_page::StartPage;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use stiction_scene::Scene;

/// Largest number of simultaneous connections that have shown the token.
const MAX_CONNECTIONS: usize = 32;
/// Time limit for a page to accept a reply.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(5);
/// Time limit for a whole request, however it is spread.
const REQUEST_TIME: Duration = Duration::from_secs(5);

/// Error of a port that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error(
    "cannot listen on port {port} of 127.0.0.1: {error}; choose another with --port, or 0 for a free one"
)]
pub struct ServerError {
    /// Port.
    pub port: u16,
    /// Reason.
    pub error: io::Error,
}

/// Content of the server.
enum ServerContent {
    Live(Arc<LiveServer>),
    Page(String),
    Start(StartPage),
}

/// Server that listens on a port.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    content: Arc<ServerContent>,
    security: Arc<PageSecurity>,
}

/// Token that cannot be guessed: hashes under keys that the system chose at random, 128 bits as hexadecimal digits.
fn new_token() -> String {
    let half = || RandomState::new().hash_one("token of the page");
    format!("{:016x}{:016x}", half(), half())
}

impl Server {
    /// Serves a live session; port 0 chooses a free one. The session ends with the program.
    pub fn live(session: Session, port: u16) -> Result<Self, ServerError> {
        Self::bind(ServerContent::Live(LiveServer::start(session, false)), port)
    }

    /// Serves a recorded run: the page of a [`Tape`](crate::Tape).
    pub fn recorded(page: String, port: u16) -> Result<Self, ServerError> {
        Self::bind(ServerContent::Page(page), port)
    }

    /// Serves a page with links to scenes, `./?scene=NAME` each, which run live when they are opened.
    pub fn start_page(page: String, scenes: Vec<(String, Scene)>, port: u16) -> Result<Self, ServerError> {
        Self::bind(ServerContent::Start(StartPage::new(page, scenes)), port)
    }

    fn bind(content: ServerContent, port: u16) -> Result<Self, ServerError> {
        let failed = |error| ServerError { port, error };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let security = Arc::new(PageSecurity { port: address.port(), token: new_token() });
        Ok(Self { listener, address, content: Arc::new(content), security })
    }

    /// Address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Address to open in a browser, with the token that requests need.
    pub fn url(&self) -> String {
        format!("http://{}/?token={}", self.address, self.security.token)
    }

    /// Serves until the program ends.
    pub fn run(&self) {
        let connections = Arc::new(Connections::default());
        for stream in self.listener.incoming().flatten() {
            let Some(number) = connections.pending.add(&stream) else { continue };
            let (content, security, own) = (self.content.clone(), self.security.clone(), connections.clone());
            let served = thread::Builder::new().spawn(move || {
                // an error ends this connection only
                let _ = own.serve(number, stream, &content, &security);
                own.pending.remove(number);
            });
            if served.is_err() {
                connections.pending.remove(number);
            }
        }
    }
}

/// Connections of a server.
#[derive(Default)]
struct Connections {
    /// Connections that have not shown the token.
    pending: PendingConnections,
    /// Number of connections that have shown it.
    open: AtomicUsize,
}

impl Connections {
    /// Reads a request, checks it, and answers.
    fn serve(
        &self,
        number: u64,
        mut stream: TcpStream,
        content: &ServerContent,
        security: &PageSecurity,
    ) -> io::Result<()> {
        stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
        stream.set_nodelay(true)?;
        let request = match http::Request::read(&mut stream, Instant::now() + REQUEST_TIME)? {
            Ok(request) => request,
            Err(refusal) => return http::refuse(&mut stream, refusal),
        };
        if let Err(refusal) = request.check(security) {
            return http::refuse(&mut stream, refusal);
        }
        self.pending.remove(number);
        let open = self.open.fetch_add(1, Ordering::SeqCst);
        let answered = if open < MAX_CONNECTIONS {
            answer(stream, request, content, security)
        } else {
            http::refuse(&mut stream, http::Refusal::new(503, "too many pages are open; close one"))
        };
        self.open.fetch_sub(1, Ordering::SeqCst);
        answered
    }
}

/// Answers a request that has shown the token.
fn answer(
    mut stream: TcpStream,
    request: http::Request,
    content: &ServerContent,
    security: &PageSecurity,
) -> io::Result<()> {
    stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
    let refused = |status, message: String| http::Refusal::new(status, message);
    let session = match (content, &request.scene) {
        (ServerContent::Page(page), _) if request.path == "/" => {
            return http::page(&mut stream, page, security);
        }
        (ServerContent::Start(start), None) if request.path == "/" => {
            return http::page(&mut stream, &start.page, security);
        }
        (ServerContent::Live(session), _) => Ok(session.clone()),
        (ServerContent::Start(start), Some(name)) => match start.open(name) {
            Some(opened) => opened.map_err(|error| refused(500, error.to_string())),
            None => Err(refused(404, format!("there is no scene `{name}`; open / to see all of them"))),
        },
        _ => Err(refused(404, format!("{} does not exist; open / instead", request.path))),
    };
    let session = match session {
        Ok(session) => session,
        Err(refusal) => return http::refuse(&mut stream, refusal),
    };
    match request.path.as_str() {
        "/" => match session.page() {
            Ok(page) => http::page(&mut stream, &page, security),
            Err(error) => http::refuse(&mut stream, refused(500, error.to_string())),
        },
        "/live" => match request.accept() {
            Ok(accept) => {
                http::upgrade(&mut stream, &accept)?;
                live::serve_page(stream, request.rest, &session);
                Ok(())
            }
            Err(refusal) => http::refuse(&mut stream, refusal),
        },
        path => http::refuse(&mut stream, refused(404, format!("{path} does not exist; open / instead"))),
    }
}
