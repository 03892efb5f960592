//! `stiction check`: exit codes, text and JSON.

use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output};

fn stiction(arguments: &[&str]) -> Output {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_stiction")).args(arguments).current_dir(root).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Writes a scene to a temporary file.
fn file(name: &str, scene: &str) -> String {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join(name);
    std::fs::write(&path, scene).unwrap();
    path.display().to_string()
}

const BALL: &str = "format = 1\ndimension = 2\nrun = { duration = 1.0 }\n\
                    bodies = [{ name = \"ball\", density = 1.0, shapes = [{ kind = \"disk\", radius = 0.1 }] }]\n";

#[test]
fn a_valid_scene_passes() {
    let out = stiction(&["check", "scenes/arch.toml", "scenes/chain.toml"]);
    assert_eq!(out.status.code(), Some(0));
    let expected = "scenes/arch.toml: 8 bodies, no joints, no errors, no warnings\n\
                    scenes/chain.toml: 7 bodies, 6 joints, no errors, no warnings\n";
    assert_eq!(text(&out.stdout), expected);
    assert!(out.stderr.is_empty());
}

#[test]
fn errors_warnings_and_unreadable_files_have_different_exit_codes() {
    let wrong = file("wrong.toml", &BALL.replace("radius", "radios"));
    let out = stiction(&["check", &wrong]);
    assert_eq!(out.status.code(), Some(1));
    let printed = text(&out.stdout);
    assert!(printed.contains("wrong.toml:4:") && printed.contains("did you mean `radius`?"), "{printed}");

    let odd = file("odd.toml", &BALL.replace("duration = 1.0", "duration = 0.0"));
    assert_eq!(stiction(&["check", &odd]).status.code(), Some(0));
    assert_eq!(stiction(&["check", "--strict", &odd]).status.code(), Some(1));

    let out = stiction(&["check", "scenes/no-such-scene.toml"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("no-such-scene.toml"));
    assert_eq!(stiction(&["check"]).status.code(), Some(2));
}

#[test]
fn binary_and_endless_files_are_refused() {
    let path = file("binary.toml", "");
    std::fs::write(&path, b"format = 1\n\xff\xfe\n").unwrap();
    let out = stiction(&["check", &path]);
    assert_eq!(out.status.code(), Some(1));
    let printed = text(&out.stdout);
    assert!(
        printed.contains("the bytes here are not UTF-8") && printed.contains("binary.toml:2:1"),
        "{printed}"
    );
    #[cfg(unix)]
    {
        let out = stiction(&["check", "/dev/zero"]);
        assert_eq!(out.status.code(), Some(1));
        assert!(text(&out.stdout).contains("more than the limit of 8388608 bytes"));
    }
}

#[test]
fn findings_are_printed_as_json() {
    let wrong = file("wrong-json.toml", &BALL.replace("density = 1.0", "density = -1.0"));
    let out = stiction(&["check", "--json", &wrong, "scenes/arch.toml"]);
    assert_eq!(out.status.code(), Some(1));
    let all: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!((all[0]["errors"].as_u64(), all[1]["errors"].as_u64()), (Some(1), Some(0)));
    let finding = &all[0]["findings"][0];
    assert_eq!(finding["key"], "bodies[0].density");
    assert_eq!((finding["line"].as_u64(), finding["column"].as_u64()), (Some(4), Some(38)));
    assert_eq!((all[1]["bodies"].as_u64(), all[1]["dimension"].as_u64()), (Some(8), Some(2)));
}

#[test]
fn the_schema_is_printed() {
    let out = stiction(&["check", "--schema"]);
    assert_eq!(out.status.code(), Some(0));
    let schema: Value = serde_json::from_slice(&out.stdout).unwrap();
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
}
