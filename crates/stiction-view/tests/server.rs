//! Server: it answers only its own page and survives malformed messages.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};
use stiction_scene::Scene;
use stiction_view::{Server, Session};
use tungstenite::{Message, WebSocket, client::client_with_config};

const SCENE: &str = r#"
    format = 1
    dimension = 2
    run = { duration = 1.0, step = 0.01 }
    bodies = [
        { name = "ground", motion = "fixed", shapes = [{ kind = "half_plane" }] },
        { name = "ball", density = 100.0, position = [0.0, 1.0], shapes = [{ kind = "disk", radius = 0.1 }] },
    ]
"#;

/// Address of a server, and the query with its token.
#[derive(Debug, Clone)]
struct Place {
    address: SocketAddr,
    query: String,
}

fn start() -> Place {
    let scene = Scene::from_toml(SCENE, "test.toml").unwrap();
    let server = Server::live(Session::new(&scene).unwrap(), 0).unwrap();
    let address = server.address();
    assert!(address.ip().is_loopback());
    let query = server.url().split_once('?').unwrap().1.to_string();
    thread::spawn(move || server.run());
    Place { address, query }
}

fn connect(place: &Place) -> WebSocket<TcpStream> {
    let Place { address, query } = place;
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    client_with_config(format!("ws://{address}/live?{query}"), stream, None).unwrap().0
}

/// Next message that contains a word.
fn wait(socket: &mut WebSocket<TcpStream>, word: &str) -> String {
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        if let Message::Text(text) = socket.read().unwrap()
            && text.contains(word)
        {
            return text.to_string();
        }
    }
    panic!("no message with {word}");
}

/// First line of the reply to a request.
fn ask(address: SocketAddr, head: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream.write_all(head.replace('\n', "\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    BufReader::new(stream).read_line(&mut answer).unwrap();
    answer
}

#[test]
fn a_start_page_opens_each_scene_with_a_session_of_its_own() {
    let scene = |name: &str| (name.to_string(), Scene::from_toml(SCENE, "test.toml").unwrap());
    let scenes = ["one", "two", "three", "four", "five"].map(scene).to_vec();
    let server = Server::start_page("<p>scenes</p>".to_string(), scenes, 0).unwrap();
    let (address, token) = (server.address(), server.url().split_once('?').unwrap().1.to_string());
    thread::spawn(move || server.run());
    let head = |target: &str| format!("GET {target} HTTP/1.1\nHost: 127.0.0.1:{}\n\n", address.port());
    assert!(ask(address, &head(&format!("/?{token}"))).contains("200"));
    assert!(ask(address, &head(&format!("/?{token}&scene=six"))).contains("404"));
    assert!(ask(address, &head("/?scene=one")).contains("403"), "without the token");
    let place = |name: &str| Place { address, query: format!("{token}&scene={name}") };
    // it runs as soon as it is opened, and the others do not exist yet
    let mut first = connect(&place("one"));
    wait(&mut first, r#""playing":true"#);
    first.send(Message::text(r#"{"command":"friction","value":0.25}"#)).unwrap();
    wait(&mut first, r#""friction":0.25"#);
    assert!(wait(&mut connect(&place("two")), r#""friction""#).contains(r#""friction":0.5"#));
    // sessions that nobody looks at are few; one that is looked at goes on
    for name in ["three", "four", "five"] {
        wait(&mut connect(&place(name)), "status");
    }
    first.send(Message::text(r#"{"command":"friction","value":0.75}"#)).unwrap();
    wait(&mut first, r#""friction":0.75"#);
}

#[test]
fn a_new_page_gets_the_frames_from_before_it() {
    let place = start();
    let mut first = connect(&place);
    wait(&mut first, "status");
    for _ in 0..5 {
        first.send(Message::text(r#"{"command":"step"}"#)).unwrap();
        wait(&mut first, "status");
    }
    let mut second = connect(&place);
    assert_eq!(wait(&mut second, "past"), r#"{"past":6}"#);
    let mut times = Vec::new();
    while times.len() < 6 {
        if let Message::Binary(frame) = second.read().unwrap() {
            times.push(f64::from_le_bytes(frame[8..16].try_into().unwrap()));
        }
    }
    for (k, t) in times.iter().enumerate() {
        assert!((t - 0.01 * k as f64).abs() < 1e-12, "{times:?}");
    }
}

#[test]
fn a_page_of_another_site_is_refused() {
    let Place { address, query } = start();
    let own = format!("127.0.0.1:{}", address.port());
    assert!(ask(address, "GET / HTTP/1.1\nHost: evil.example\n\n").contains("403"));
    let foreign = format!(
        "GET /live?{query} HTTP/1.1\nHost: {own}\nOrigin: http://evil.example\nUpgrade: websocket\n\
         Connection: Upgrade\nSec-WebSocket-Version: 13\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n\n"
    );
    assert!(ask(address, &foreign).contains("403"));
    assert!(ask(address, &foreign.replace("http://evil.example", &format!("http://{own}"))).contains("101"));
    assert!(ask(address, &format!("GET /etc/passwd?{query} HTTP/1.1\nHost: {own}\n\n")).contains("404"));
    assert!(ask(address, &format!("POST / HTTP/1.1\nHost: {own}\n\n")).contains("405"));
    let long = "x".repeat(20_000);
    assert!(ask(address, &format!("GET / HTTP/1.1\nHost: {own}\nCookie: {long}\n\n")).contains("431"));
}

#[test]
fn a_client_without_the_token_neither_sees_nor_controls_the_page() {
    let Place { address, query } = start();
    let own = format!("127.0.0.1:{}", address.port());
    let live = "Upgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n\
                Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\n";
    let other = "token=00000000000000000000000000000000";
    for target in ["/", "/live", &format!("/?{other}"), &format!("/live?{other}")] {
        assert!(ask(address, &format!("GET {target} HTTP/1.1\nHost: {own}\n{live}\n")).contains("403"));
    }
    let cookie = format!("Cookie: stiction-{}={}\n", address.port(), query.strip_prefix("token=").unwrap());
    assert!(ask(address, &format!("GET /live HTTP/1.1\nHost: {own}\n{live}{cookie}\n")).contains("101"));
    // tokens of two servers differ
    assert_ne!(start().query, query);
    assert_eq!(query.len(), "token=".len() + 32);
}

#[test]
fn slow_connections_do_not_lock_the_page_out() {
    let place = start();
    let slow: Vec<TcpStream> = (0..64)
        .map(|i| {
            let mut stream = TcpStream::connect(place.address).unwrap();
            // a head that never ends, or nothing at all
            if i % 2 == 0 {
                stream.write_all(b"GET / HTTP/1.1\r\nHost: ").unwrap();
            }
            stream
        })
        .collect();
    wait(&mut connect(&place), "status");
    drop(slow);
}

#[test]
fn a_message_that_is_too_long_closes_only_its_connection() {
    let place = start();
    let mut socket = connect(&place);
    wait(&mut socket, "status");
    socket.send(Message::text(" ".repeat(100_000))).unwrap();
    let ended = (0..10_000).any(|_| socket.read().is_err());
    assert!(ended, "the connection was not closed");
    wait(&mut connect(&place), "status");
}

/// Malformed message: random bytes, a truncated or changed command, or one with values out of range.
fn malformed(random: &mut ChaCha8Rng) -> Message {
    const COMMANDS: [&str; 6] = [
        r#"{"command":"play"}"#,
        r#"{"command":"grab","body":1,"point":[0.0,1.0]}"#,
        r#"{"command":"move","target":[0.0,1.0]}"#,
        r#"{"command":"drop","shape":"box","at":[0.0,1.0],"size":0.1}"#,
        r#"{"command":"scheme","name":"ah04"}"#,
        r#"{"command":"friction","value":0.5}"#,
    ];
    let text = COMMANDS[random.random_range(0..COMMANDS.len())];
    match random.random_range(0..5) {
        0 => {
            let mut bytes = vec![0; random.random_range(0..200)];
            random.fill_bytes(&mut bytes);
            Message::Binary(bytes.into())
        }
        1 => Message::text(text[..random.random_range(0..text.len())].to_string()),
        2 => {
            let mut bytes = text.as_bytes().to_vec();
            let at = random.random_range(0..bytes.len());
            bytes[at] = b"{}[]:,\"x0-"[random.random_range(0..10)];
            Message::text(format!("{}#", String::from_utf8_lossy(&bytes)))
        }
        3 => Message::text(
            text.replace('1', "1e999")
                .replace("0.5", "-7")
                .replace("ah04", "\u{0}")
                .replace("play", "PLAY")
                .replace('}', ",\"more\":0}"),
        ),
        _ => Message::text("[".repeat(random.random_range(1..2000))),
    }
}

#[test]
fn a_hundred_thousand_malformed_messages_are_survived() {
    let place = start();
    let workers: Vec<_> = (0..4)
        .map(|seed| {
            let place = place.clone();
            thread::spawn(move || {
                let mut random = ChaCha8Rng::seed_from_u64(seed);
                let mut socket = connect(&place);
                for batch in 0..500_u32 {
                    for _ in 0..50 {
                        socket.send(malformed(&mut random)).unwrap();
                    }
                    // the reply comes after those to all earlier messages
                    let mark = batch.to_le_bytes().to_vec();
                    socket.send(Message::Ping(mark.clone().into())).unwrap();
                    while !matches!(socket.read().unwrap(), Message::Pong(answer) if answer[..] == mark[..]) {
                    }
                }
            })
        })
        .collect();
    workers.into_iter().for_each(|worker| worker.join().unwrap());
    // bytes that are not WebSocket frames
    let mut broken = connect(&place);
    broken.get_mut().write_all(&[0xff; 5000]).unwrap();
    // the server still executes commands
    let mut socket = connect(&place);
    wait(&mut socket, "status");
    socket.send(Message::text(r#"{"command":"friction","value":0.25}"#)).unwrap();
    wait(&mut socket, r#""friction":0.25"#);
    socket.send(Message::text(r#"{"command":"nonsense"}"#)).unwrap();
    wait(&mut socket, "not a command");
}

#[test]
fn closing_the_page_does_not_stop_the_simulation() {
    let place = start();
    let mut socket = connect(&place);
    socket.send(Message::text(r#"{"command":"play"}"#)).unwrap();
    wait(&mut socket, r#""playing":true"#);
    drop(socket);
    thread::sleep(Duration::from_millis(300));
    let mut socket = connect(&place);
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(20) {
        if let Message::Binary(frame) = socket.read().unwrap() {
            let t = f64::from_le_bytes(frame[8..16].try_into().unwrap());
            if t > 0.1 {
                return;
            }
        }
    }
    panic!("the simulation has stopped");
}
