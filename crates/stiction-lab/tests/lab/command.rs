//! Help and exit codes.

use crate::common::{code, lab, stderr, stdout};

#[test]
fn help_lists_every_command_and_the_exit_codes() {
    let output = lab(&["--help"]);
    assert_eq!(code(&output), 0);
    for word in ["bench", "fuzz", "peer", "soak", "Exit codes"] {
        assert!(stdout(&output).contains(word), "{word}");
    }
    for command in ["bench", "fuzz", "peer", "soak"] {
        let output = lab(&[command, "--help"]);
        assert_eq!(code(&output), 0);
        assert!(stdout(&output).contains("Exit codes"), "{command}");
    }
}

#[test]
fn unknown_arguments_exit_with_2() {
    for arguments in
        [&[][..], &["solve"], &["bench"], &["bench", "speed"], &["fuzz", "ratio", "--count", "many"]]
    {
        let output = lab(arguments);
        assert_eq!(code(&output), 2, "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(!stderr(&output).is_empty(), "{arguments:?}");
    }
}
