//! Shows a live simulation or a recorded run to a browser on the same machine.
//!
//! It listens on the loopback interface alone. A page of another site that has the browser talk to it is refused: the
//! `Host` it was asked by must be this machine (which names that were rebound to it are not), and the `Origin` of a
//! request, where there is one, must be its own. Messages are short, and what is not a command is answered in words.
//! The simulation runs in a thread of its own: pages come and go.

mod http;
mod live;

use crate::session::Session;
use live::Shared;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Most connections at a time.
const CONNECTIONS: usize = 32;
/// How long a page may take to ask, and to take what it is sent.
const PATIENCE: Duration = Duration::from_secs(5);

/// A port that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("port {port} of 127.0.0.1: {error}")]
pub struct ServerError {
    /// Which.
    pub port: u16,
    /// Why.
    pub error: io::Error,
}

/// What is shown.
enum Content {
    Live(Arc<Shared>),
    Page(String),
}

/// A server that listens.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    content: Arc<Content>,
}

impl Server {
    /// Shows a live simulation; port 0 takes any that is free. The simulation runs until the program ends.
    pub fn live(session: Session, port: u16) -> Result<Self, ServerError> {
        Self::bind(Content::Live(Shared::start(session)), port)
    }

    /// Shows a recorded run: the page of a [`Tape`](crate::Tape).
    pub fn recorded(page: String, port: u16) -> Result<Self, ServerError> {
        Self::bind(Content::Page(page), port)
    }

    fn bind(content: Content, port: u16) -> Result<Self, ServerError> {
        let failed = |error| ServerError { port, error };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, content: Arc::new(content) })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What to open in a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until the program ends.
    pub fn run(&self) {
        let count = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming().flatten() {
            // one too many is closed by being dropped
            if count.fetch_add(1, Ordering::SeqCst) >= CONNECTIONS {
                count.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (content, port, open) = (self.content.clone(), self.address.port(), count.clone());
            let served = thread::Builder::new().spawn(move || {
                // a browser that has gone away ends its own connection and nothing else
                let _ = serve(stream, &content, port);
                open.fetch_sub(1, Ordering::SeqCst);
            });
            if served.is_err() {
                count.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

fn serve(mut stream: TcpStream, content: &Content, port: u16) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    stream.set_nodelay(true)?;
    let request = match http::Request::read(&mut stream)? {
        Ok(request) => request,
        Err(refusal) => return http::refuse(&mut stream, refusal),
    };
    if let Err(refusal) = request.check(port) {
        return http::refuse(&mut stream, refusal);
    }
    match (request.path.as_str(), content) {
        ("/", Content::Page(page)) => http::page(&mut stream, page),
        ("/", Content::Live(shared)) => match shared.page() {
            Ok(page) => http::page(&mut stream, &page),
            Err(error) => http::refuse(&mut stream, http::Refusal::new(500, error.to_string())),
        },
        ("/live", Content::Live(shared)) => match request.accept() {
            Ok(accept) => {
                http::upgrade(&mut stream, &accept)?;
                live::talk(stream, request.rest, shared);
                Ok(())
            }
            Err(refusal) => http::refuse(&mut stream, refusal),
        },
        (path, _) => http::refuse(&mut stream, http::Refusal::new(404, format!("there is no {path} here"))),
    }
}
