//! Web server that shows a live session or a recorded run to a browser on the same machine.
//!
//! It listens on the loopback interface only. Requests of other sites are refused: the `Host` must be this machine, which
//! stops DNS rebinding, and the `Origin`, if given, must be the server's own. The simulation has a thread of its own, so
//! pages may come and go.

mod http;
mod live;

use crate::session::Session;
use live::LiveServer;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// Largest number of simultaneous connections.
const MAX_CONNECTIONS: usize = 32;
/// Time limit for a page to send a request and to accept a reply.
const SOCKET_TIMEOUT: Duration = Duration::from_secs(5);

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
}

/// Server that listens on a port.
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    content: Arc<ServerContent>,
}

impl Server {
    /// Serves a live session; port 0 chooses a free one. The session ends with the program.
    pub fn live(session: Session, port: u16) -> Result<Self, ServerError> {
        Self::bind(ServerContent::Live(LiveServer::start(session)), port)
    }

    /// Serves a recorded run: the page of a [`Tape`](crate::Tape).
    pub fn recorded(page: String, port: u16) -> Result<Self, ServerError> {
        Self::bind(ServerContent::Page(page), port)
    }

    fn bind(content: ServerContent, port: u16) -> Result<Self, ServerError> {
        let failed = |error| ServerError { port, error };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        Ok(Self { listener, address, content: Arc::new(content) })
    }

    /// Address of the server.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Address to open in a browser.
    pub fn url(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Serves until the program ends.
    pub fn run(&self) {
        let count = Arc::new(AtomicUsize::new(0));
        for stream in self.listener.incoming().flatten() {
            // a connection above the limit is closed by dropping it
            if count.fetch_add(1, Ordering::SeqCst) >= MAX_CONNECTIONS {
                count.fetch_sub(1, Ordering::SeqCst);
                continue;
            }
            let (content, port, open) = (self.content.clone(), self.address.port(), count.clone());
            let served = thread::Builder::new().spawn(move || {
                // an error ends this connection only
                let _ = serve(stream, &content, port);
                open.fetch_sub(1, Ordering::SeqCst);
            });
            if served.is_err() {
                count.fetch_sub(1, Ordering::SeqCst);
            }
        }
    }
}

fn serve(mut stream: TcpStream, content: &ServerContent, port: u16) -> io::Result<()> {
    stream.set_read_timeout(Some(SOCKET_TIMEOUT))?;
    stream.set_write_timeout(Some(SOCKET_TIMEOUT))?;
    stream.set_nodelay(true)?;
    let request = match http::Request::read(&mut stream)? {
        Ok(request) => request,
        Err(refusal) => return http::refuse(&mut stream, refusal),
    };
    if let Err(refusal) = request.check(port) {
        return http::refuse(&mut stream, refusal);
    }
    match (request.path.as_str(), content) {
        ("/", ServerContent::Page(page)) => http::page(&mut stream, page),
        ("/", ServerContent::Live(shared)) => match shared.page() {
            Ok(page) => http::page(&mut stream, &page),
            Err(error) => http::refuse(&mut stream, http::Refusal::new(500, error.to_string())),
        },
        ("/live", ServerContent::Live(shared)) => match request.accept() {
            Ok(accept) => {
                http::upgrade(&mut stream, &accept)?;
                live::serve_page(stream, request.rest, shared);
                Ok(())
            }
            Err(refusal) => http::refuse(&mut stream, refusal),
        },
        (path, _) => http::refuse(
            &mut stream,
            http::Refusal::new(404, format!("{path} does not exist; open / instead")),
        ),
    }
}
