//! Random changes of scene files: bytes, tokens, keys, numbers, nesting, truncation, splices.

use rand::RngExt;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

const NUMBERS: [&str; 25] = [
    "1e-17",
    "19990",
    "1000000000000",
    "0",
    "-0.0",
    "1",
    "-1",
    "2",
    "3",
    "1e-300",
    "1e300",
    "-1e300",
    "1e-320",
    "1e999",
    "nan",
    "inf",
    "-inf",
    "1e-9",
    "1e9",
    "9223372036854775807",
    "99999999999999999999",
    "20000",
    "20001",
    "0x7fff",
    "1979-05-27",
];

const WORDS: [&str; 23] = [
    "\"t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t*t\"",
    "\"sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(sin(t)))))))))))))))\"",
    "\"t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t^t\"",
    "\"\"",
    "\"t\"",
    "\"sin(t)\"",
    "\"1/0\"",
    "\"(((\"",
    "\"sqrt(-x)\"",
    "\"x^x^x\"",
    "\"-vx*abs(vx)\"",
    "\"step(t-0.01)\"",
    "\"é[i+1]\"",
    "\"world\"",
    "\"kinematic\"",
    "\"slider\"",
    "\"point\"",
    "\"fixed\"",
    "true",
    "false",
    "[]",
    "{}",
    "[[0, 0], [1, 0], [0, 1]]",
];

const LINES: [&str; 15] = [
    "copies = { count = 19990, offset = [0.3, 0.0] }",
    "[world]",
    "[run]",
    "[[bodies]]",
    "[[joints]]",
    "[[springs]]",
    "[[forces]]",
    "[[pairs]]",
    "[materials.default]",
    "allow_overlap = true",
    "motion = \"kinematic\"\npath = { position = [\"sin(t)\", \"0\"], angle = \"t^2\" }",
    "copies = { count = 3, offset = [0.0, 1.0] }",
    "copies = [{ count = 3 }, { count = 3, turn_deg = 10.0 }]",
    "scheme = \"pagt06\"",
    "groups = { member = [1, 2], collides = [] }",
];

/// One of the files, changed one to three times.
pub(super) fn sample(seeds: &[String], rng: &mut ChaCha8Rng) -> String {
    let Some(seed) = seeds.choose(rng) else { return String::new() };
    let mut text = seed.clone();
    for _ in 0..rng.random_range(1..=3) {
        mutate(&mut text, seeds, rng);
    }
    text
}

/// One change.
fn mutate(text: &mut String, seeds: &[String], rng: &mut ChaCha8Rng) {
    match rng.random_range(0..100) {
        // these keep a file readable more often than not
        0..40 => replace_number(text, rng),
        40..50 => replace_text(text, rng),
        50..58 => replace_key(text, seeds, rng),
        58..66 => lines(text, rng),
        66..68 => grow(text, rng),
        68..72 => {
            let at = line_start(text, rng);
            text.insert_str(at, &format!("{}\n", LINES.choose(rng).unwrap_or(&"")));
        }
        // and these do not
        72..82 => byte(text, rng),
        82..88 => piece(text, rng),
        88..92 => nest(text, rng),
        92..96 => text.truncate(place(text, rng)),
        _ => splice(text, seeds, rng),
    }
}

/// A place between two characters.
fn place(text: &str, rng: &mut ChaCha8Rng) -> usize {
    let mut at = rng.random_range(0..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

fn line_start(text: &str, rng: &mut ChaCha8Rng) -> usize {
    let at = place(text, rng);
    text[..at].rfind('\n').map_or(0, |i| i + 1)
}

/// One of the words that `start` and `part` describe, from a random place on.
fn token(
    text: &str,
    rng: &mut ChaCha8Rng,
    start: impl Fn(char) -> bool,
    part: impl Fn(char) -> bool,
) -> Option<std::ops::Range<usize>> {
    let from = place(text, rng);
    let mut before = text[..from].chars().next_back().unwrap_or('\n');
    for (i, c) in text[from..].char_indices() {
        if start(c) && !part(before) {
            let begin = from + i;
            let rest = &text[begin + c.len_utf8()..];
            let end = rest.find(|c| !part(c)).map_or(text.len(), |n| begin + c.len_utf8() + n);
            return Some(begin..end);
        }
        before = c;
    }
    None
}

fn replace_number(text: &mut String, rng: &mut ChaCha8Rng) {
    let number = |c: char| c.is_ascii_alphanumeric() || "+-._".contains(c);
    let Some(range) = token(text, rng, |c| c.is_ascii_digit() || c == '-', number) else { return };
    let old = text[range.clone()].parse::<f64>().ok();
    let new = match (rng.random_range(0..4), old) {
        (0, _) => NUMBERS.choose(rng).unwrap_or(&"0").to_string(),
        (1, Some(old)) => format!("{:?}", old * rng.random_range(-1.5..1.5)),
        (2, Some(old)) => format!("{:?}", old * 10f64.powi(rng.random_range(-6..6))),
        _ => rng.random_range(-4..12).to_string(),
    };
    text.replace_range(range, &new);
}

fn replace_text(text: &mut String, rng: &mut ChaCha8Rng) {
    let from = place(text, rng);
    let Some(begin) = text[from..].find('"').map(|i| from + i) else { return };
    let Some(end) = text[begin + 1..].find('"').map(|i| begin + i + 2) else { return };
    if rng.random_bool(0.5) {
        text.replace_range(begin..end, WORDS.choose(rng).unwrap_or(&"\"\""));
        return;
    }
    // a text from elsewhere in the file
    let from = place(text, rng);
    let Some(other) = text[from..].find('"').map(|i| from + i) else { return };
    let Some(stop) = text[other + 1..].find('"').map(|i| other + i + 2) else { return };
    let other = text[other..stop].to_string();
    text.replace_range(begin..end, &other);
}

fn key(text: &str, rng: &mut ChaCha8Rng) -> Option<std::ops::Range<usize>> {
    token(text, rng, |c| c.is_ascii_lowercase(), |c| c.is_ascii_alphanumeric() || c == '_')
}

fn replace_key(text: &mut String, seeds: &[String], rng: &mut ChaCha8Rng) {
    let Some(range) = key(text, rng) else { return };
    let other = seeds.choose(rng).and_then(|seed| key(seed, rng).map(|range| seed[range].to_string()));
    if let Some(other) = other {
        text.replace_range(range, &other);
    }
}

/// A line deleted, doubled or moved.
fn lines(text: &mut String, rng: &mut ChaCha8Rng) {
    let begin = line_start(text, rng);
    let end = text[begin..].find('\n').map_or(text.len(), |i| begin + i + 1);
    let line = text[begin..end].to_string();
    let kind = rng.random_range(0..3);
    if kind != 1 {
        text.replace_range(begin..end, "");
    }
    if kind != 0 {
        let to = line_start(text, rng);
        text.insert_str(to, &line);
    }
}

fn byte(text: &mut String, rng: &mut ChaCha8Rng) {
    let mut bytes = std::mem::take(text).into_bytes();
    if !bytes.is_empty() {
        let at = rng.random_range(0..bytes.len());
        match rng.random_range(0..3) {
            0 => bytes[at] = rng.random_range(0..=255),
            1 => bytes[at] ^= 1 << rng.random_range(0..8),
            _ => bytes.insert(at, *b"[]{}=,.\"'#\n\t-0\xE9".choose(rng).unwrap_or(&0)),
        }
    }
    *text = String::from_utf8_lossy(&bytes).into_owned();
}

/// A piece cut out, doubled or put elsewhere.
fn piece(text: &mut String, rng: &mut ChaCha8Rng) {
    let (a, b) = (place(text, rng), place(text, rng));
    let (a, b) = (a.min(b), a.max(b));
    let piece: String = text[a..b].chars().take(200).collect();
    match rng.random_range(0..3) {
        0 => text.replace_range(a..a + piece.len(), ""),
        1 => text.insert_str(b, &piece),
        _ => {
            let to = place(text, rng);
            text.insert_str(to, &piece);
        }
    }
}

/// Largest file that growth makes [bytes].
const MAX_GROWN_BYTES: usize = 1 << 20;

/// A short piece, a line or an entry of a list, repeated up to some thousand times.
fn grow(text: &mut String, rng: &mut ChaCha8Rng) {
    let begin = place(text, rng);
    let end = match rng.random_range(0..3) {
        0 => text[begin..].find('\n').map_or(text.len(), |i| begin + i + 1),
        1 => text[begin..].find([',', '}']).map_or(text.len(), |i| begin + i + 1),
        _ => text[begin..].char_indices().nth(rng.random_range(1..20)).map_or(text.len(), |(i, _)| begin + i),
    };
    let piece = text[begin..end].to_string();
    let room = MAX_GROWN_BYTES.saturating_sub(text.len()) / piece.len().max(1);
    let count = 10_usize.pow(rng.random_range(1..5)).min(room);
    text.insert_str(begin, &piece.repeat(count));
}

/// Brackets, tables, dots and parentheses, deep.
fn nest(text: &mut String, rng: &mut ChaCha8Rng) {
    let depth = 10_usize.pow(rng.random_range(0..4));
    let deep = match rng.random_range(0..6) {
        0 => format!("deep = {}{}\n", "[".repeat(depth), "]".repeat(depth)),
        1 => format!("deep = {}1{}\n", "{a=".repeat(depth), "}".repeat(depth)),
        2 => format!("{}b = 1\n", "a.".repeat(depth)),
        3 => format!("[{}b]\n", "a.".repeat(depth)),
        4 => format!("torque = \"{}t{}\"\n", "(".repeat(depth), ")".repeat(depth)),
        _ => format!("torque = \"{}t\"\n", "-".repeat(depth)),
    };
    let at = line_start(text, rng);
    text.insert_str(at, &deep);
}

/// The start of one file with the end of another.
fn splice(text: &mut String, seeds: &[String], rng: &mut ChaCha8Rng) {
    let Some(other) = seeds.choose(rng) else { return };
    let (a, b) = (line_start(text, rng), line_start(other, rng));
    text.truncate(a);
    text.push_str(&other[b..]);
}
