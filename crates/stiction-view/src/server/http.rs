//! HTTP for one page and a WebSocket: parses requests, checks their origin and writes replies.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};
use tungstenite::handshake::derive_accept_key;

/// Size limit of the head of a request [bytes].
const MAX_HEAD_BYTES: usize = 16 << 10;
/// Limit on the number of headers.
const MAX_HEADERS: usize = 64;

/// Port and token of a page, which every request must name.
pub(super) struct PageSecurity {
    pub(super) port: u16,
    pub(super) token: String,
}

impl PageSecurity {
    /// Name of the cookie with the token: servers of several ports share their cookies.
    fn cookie(&self) -> String {
        format!("stiction-{}", self.port)
    }

    /// Policy of the page: it loads nothing, and connects to its own server alone. Its script and its style are part of
    /// it; names of bodies are data that cannot end the element they are in.
    fn content_policy(&self) -> String {
        let port = self.port;
        format!(
            "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:; \
             connect-src ws://127.0.0.1:{port} ws://localhost:{port}; base-uri 'none'; form-action 'none'; \
             frame-ancestors 'none'"
        )
    }
}

/// Refusal of a request: HTTP status and message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Refusal {
    status: u16,
    message: String,
}

impl Refusal {
    pub(super) fn new(status: u16, message: impl Into<String>) -> Self {
        Self { status, message: message.into() }
    }
}

/// Head of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) path: String,
    /// Token of the query.
    token: Option<String>,
    /// Scene of the query, where the server has several.
    pub(super) scene: Option<String>,
    cookies: Vec<String>,
    host: Vec<String>,
    origin: Vec<String>,
    upgrade: bool,
    key: Option<String>,
    version: Option<String>,
    /// Bytes after the head.
    pub(super) rest: Vec<u8>,
}

impl Request {
    /// Reads the head of a request, which must be complete by the deadline.
    pub(super) fn read(stream: &mut TcpStream, deadline: Instant) -> io::Result<Result<Self, Refusal>> {
        let mut bytes = Vec::new();
        let mut chunk = [0; 2048];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(io::ErrorKind::TimedOut.into());
            }
            stream.set_read_timeout(Some(left))?;
            let n = stream.read(&mut chunk)?;
            if n == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            bytes.extend_from_slice(&chunk[..n]);
            match Self::parse(&bytes) {
                Ok(Some(request)) => return Ok(Ok(request)),
                Ok(None) if bytes.len() < MAX_HEAD_BYTES => {}
                Ok(None) => return Ok(Err(Refusal::new(431, "the head of the request is too long"))),
                Err(refusal) => return Ok(Err(refusal)),
            }
        }
    }

    /// Parses a request; `None` while its head is incomplete.
    pub(super) fn parse(bytes: &[u8]) -> Result<Option<Self>, Refusal> {
        let mut headers = [httparse::EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let end = match parsed.parse(bytes) {
            Ok(httparse::Status::Complete(end)) => end,
            Ok(httparse::Status::Partial) => return Ok(None),
            Err(error) => return Err(Refusal::new(400, format!("not an HTTP request: {error}"))),
        };
        if parsed.method != Some("GET") {
            return Err(Refusal::new(405, "only GET is supported"));
        }
        let all = |name: &str| -> Vec<String> {
            let named = parsed.headers.iter().filter(|h| h.name.eq_ignore_ascii_case(name));
            named.map(|h| String::from_utf8_lossy(h.value).trim().to_string()).collect()
        };
        let target = parsed.path.unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let value = |key: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(name, _)| *name == key).map(|(_, value)| value.to_string())
        };
        Ok(Some(Self {
            path: path.to_string(),
            token: value("token"),
            scene: value("scene"),
            cookies: all("cookie"),
            host: all("host"),
            origin: all("origin"),
            upgrade: all("upgrade").iter().any(|value| value.eq_ignore_ascii_case("websocket")),
            key: all("sec-websocket-key").pop(),
            version: all("sec-websocket-version").pop(),
            rest: bytes[end..].to_vec(),
        }))
    }

    /// Checks that the request was sent to this machine by its own name, not by the page of another site, and that it
    /// carries the token.
    pub(super) fn check(&self, security: &PageSecurity) -> Result<(), Refusal> {
        let port = security.port;
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{port}"));
        let here = |host: &str| own.iter().any(|name| name.eq_ignore_ascii_case(host));
        if self.host.len() != 1 || !here(&self.host[0]) {
            return Err(Refusal::new(403, "the host must be 127.0.0.1 or localhost"));
        }
        let ours = |origin: &String| origin.strip_prefix("http://").is_some_and(here);
        if !self.origin.iter().all(ours) {
            return Err(Refusal::new(403, "requests of other sites are refused"));
        }
        let cookie = format!("{}={}", security.cookie(), security.token);
        let in_cookie = || self.cookies.iter().flat_map(|all| all.split(';')).any(|one| one.trim() == cookie);
        if self.token.as_ref() != Some(&security.token) && !in_cookie() {
            let message =
                "the token is missing or wrong; open the whole address that `stiction view` has printed";
            return Err(Refusal::new(403, message));
        }
        Ok(())
    }

    /// Accept key of a WebSocket. RFC 6455, section 4.2.2
    pub(super) fn accept(&self) -> Result<String, Refusal> {
        match &self.key {
            Some(key) if self.upgrade && self.version.as_deref() == Some("13") => {
                Ok(derive_accept_key(key.as_bytes()))
            }
            _ => Err(Refusal::new(426, "expected a WebSocket of version 13")),
        }
    }
}

fn reason(status: u16) -> &'static str {
    match status {
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        426 => "Upgrade Required",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}

/// Number of bytes of a refused request that are still read [bytes], so that its sender receives the reply.
const MAX_DRAINED_BYTES: u64 = 1 << 20;

/// Time limit for the rest of a refused request.
const DRAIN_TIME: Duration = Duration::from_secs(1);

pub(super) fn refuse(stream: &mut TcpStream, Refusal { status, message }: Refusal) -> io::Result<()> {
    stream.set_read_timeout(Some(DRAIN_TIME))?;
    let reason = reason(status);
    let length = message.len() + 1;
    let answer = format!(
        "HTTP/1.1 {status} {reason}\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{message}\n"
    );
    stream.write_all(answer.as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    io::copy(&mut stream.take(MAX_DRAINED_BYTES), &mut io::sink()).map(|_| ())
}

pub(super) fn page(stream: &mut TcpStream, page: &str, security: &PageSecurity) -> io::Result<()> {
    let (policy, cookie, token) = (security.content_policy(), security.cookie(), &security.token);
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: {policy}\r\nSet-Cookie: {cookie}={token}; HttpOnly; SameSite=Strict; Path=/\r\n\
         X-Frame-Options: DENY\r\nCross-Origin-Resource-Policy: same-origin\r\nX-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\nConnection: close\r\n\r\n",
        page.len()
    );
    stream.write_all(head.as_bytes())?;
    stream.write_all(page.as_bytes())
}

pub(super) fn upgrade(stream: &mut TcpStream, accept: &str) -> io::Result<()> {
    let answer = format!(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
         Sec-WebSocket-Accept: {accept}\r\n\r\n"
    );
    stream.write_all(answer.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(head: &str) -> Request {
        Request::parse(head.replace('\n', "\r\n").as_bytes()).unwrap().unwrap()
    }

    fn security() -> PageSecurity {
        PageSecurity { port: 8000, token: "4711".to_string() }
    }

    #[test]
    fn a_request_needs_the_token_or_the_cookie() {
        let ask = |target: &str, header: &str| {
            let head = format!("GET {target} HTTP/1.1\nHost: 127.0.0.1:8000\n{header}\n");
            request(&head).check(&security()).is_ok()
        };
        assert!(ask("/?token=4711", ""));
        assert!(ask("/live?a=b&token=4711", ""));
        assert!(ask("/live?scene=arch&token=4711", ""));
        assert!(ask("/live", "Cookie: other=1; stiction-8000=4711\n"));
        assert!(!ask("/", ""));
        assert!(!ask("/?token=471", ""));
        assert!(!ask("/?token=47110", ""));
        assert!(!ask("/?token=", ""));
        assert!(!ask("/live", "Cookie: stiction-8001=4711\n"));
    }

    #[test]
    fn other_names_and_origins_are_refused() {
        let ask = |host: &str, origin: &str| {
            let origin = if origin.is_empty() { String::new() } else { format!("Origin: {origin}\n") };
            let head = format!("GET /live?token=4711 HTTP/1.1\nHost: {host}\n{origin}\n");
            request(&head).check(&security()).is_ok()
        };
        assert!(ask("127.0.0.1:8000", ""));
        assert!(ask("localhost:8000", "http://localhost:8000"));
        assert!(ask("127.0.0.1:8000", "http://127.0.0.1:8000"));
        assert!(!ask("evil.example:8000", ""), "DNS rebinding");
        assert!(!ask("127.0.0.1:8001", ""));
        assert!(!ask("127.0.0.1:8000", "http://evil.example"));
        assert!(!ask("127.0.0.1:8000", "http://127.0.0.1:8001"));
        assert!(!ask("127.0.0.1:8000", "https://127.0.0.1:8000"));
        assert!(!ask("127.0.0.1:8000", "null"));
        let none = request("GET / HTTP/1.1\nX: y\n\n");
        assert!(none.check(&security()).is_err(), "a request without a host");
    }

    #[test]
    fn an_incomplete_head_waits_and_a_wrong_one_is_refused() {
        assert_eq!(Request::parse(b"GET / HTTP/1.1\r\nHost: x"), Ok(None));
        assert!(Request::parse(b"\x00\x01\x02\r\n\r\n").is_err());
        assert!(Request::parse(b"POST / HTTP/1.1\r\n\r\n").is_err());
        assert!(request("GET /live HTTP/1.1\nHost: x\n\n").accept().is_err());
    }

    #[test]
    fn the_accept_key_is_that_of_the_standard() {
        let head = "GET /live HTTP/1.1\nHost: x\nUpgrade: websocket\nSec-WebSocket-Version: 13\n\
                    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n\n";
        // the example of RFC 6455, section 1.3
        assert_eq!(request(head).accept().as_deref(), Ok("s3pPLMBiTxaQ9kYGzzhZRbK+xOo="));
    }
}
