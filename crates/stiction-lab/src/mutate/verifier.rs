//! The program `stiction verify` as a process of its own: what it answers, and how it breaks.

use crate::BadInput;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Time after which the program hangs. A short journal takes a hundredth of it on an idle machine.
const HANG_TIME: Duration = Duration::from_mins(1);

/// Time between two looks at the program.
const POLL_TIME: Duration = Duration::from_millis(1);

/// Limit on the address space of the program, as `ulimit -v` takes it [kB]: 1 GB and what two threads reserve.
const MEMORY_LIMIT: u32 = 1_048_576;

/// Largest exit code that the program has by itself.
const LAST_CODE: i32 = 5;

/// Answer of the program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ProgramAnswer {
    /// Exit code.
    Code(i32),
    /// Panic, abort or hang, in words.
    Broken(String),
}

impl fmt::Display for ProgramAnswer {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Self::Code(code) => write!(f, "exit code {code}"),
            Self::Broken(how) => f.write_str(how),
        }
    }
}

/// Program and the folder of the copies that it reads.
pub(super) struct Verifier {
    program: PathBuf,
    folder: PathBuf,
}

impl Verifier {
    /// Verifier with this program, by default the one beside the running program.
    pub(super) fn new(program: Option<&Path>, folder: &Path) -> Result<Self, BadInput> {
        let beside = || std::env::current_exe().map(|own| own.with_file_name("stiction"));
        let program = program.map_or_else(beside, |program| Ok(program.to_path_buf()));
        let program = program.map_err(|error| BadInput(format!("this program: {error}")))?;
        if !program.is_file() {
            return Err(BadInput(format!("{}: no such program; name it with --stiction", program.display())));
        }
        std::fs::create_dir_all(folder).map_err(|error| BadInput::file(folder, &error))?;
        Ok(Self { program, folder: folder.to_path_buf() })
    }

    /// Path of the copy that a thread writes.
    pub(super) fn copy(&self, thread: usize) -> PathBuf {
        self.folder.join(format!("copy-{}-{thread}.journal", std::process::id()))
    }

    /// Keeps a copy that broke the program. Returns its path.
    pub(super) fn keep(&self, copy: &Path, number: usize) -> Result<PathBuf, BadInput> {
        let kept = self.folder.join(format!("broken-{number}.journal"));
        std::fs::copy(copy, &kept).map_err(|error| BadInput::file(&kept, &error))?;
        Ok(kept)
    }

    /// Verifies a journal within the limits of memory and time.
    pub(super) fn verify(&self, journal: &Path) -> Result<ProgramAnswer, BadInput> {
        self.run(&["verify".as_ref(), journal.as_os_str()])
    }

    /// Runs the program with arguments.
    pub(super) fn run(&self, arguments: &[&std::ffi::OsStr]) -> Result<ProgramAnswer, BadInput> {
        let failed = |error| BadInput::file(&self.program, &error);
        let script = format!("ulimit -v {MEMORY_LIMIT}; exec \"$0\" \"$@\"");
        let mut command = Command::new("sh");
        command.args(["-c", &script]).arg(&self.program).args(arguments);
        // one thread: its stack is part of the limit
        command.env("RAYON_NUM_THREADS", "1");
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .map_err(failed)?;
        let begun = Instant::now();
        loop {
            match child.try_wait().map_err(failed)? {
                Some(status) => {
                    return Ok(match status.code() {
                        Some(code) if (0..=LAST_CODE).contains(&code) => ProgramAnswer::Code(code),
                        _ => ProgramAnswer::Broken(format!("the program ended with {status}")),
                    });
                }
                None if begun.elapsed() > HANG_TIME => {
                    let _ = child.kill();
                    let _ = child.wait();
                    return Ok(ProgramAnswer::Broken(format!("the program hangs after {HANG_TIME:?}")));
                }
                None => std::thread::sleep(POLL_TIME),
            }
        }
    }
}
