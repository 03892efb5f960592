//! `stiction view`: a scene or a recorded run in the browser.

use crate::run::plan::{Overrides, Plan};
use crate::{BadInput, Outcome, print, write_file};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stiction_journal::{Journal, JournalError};
use stiction_scene::Scene;
use stiction_view::{NoPage, Server, Session, Tape, has_page};

const EXAMPLES: &str = "\
Examples:
  stiction view scenes/chain.toml                    push bodies, change friction, go back in time
  stiction view run.journal                          look at a run that was recorded
  stiction view run.journal --html run.html          make one file of it, to send to somebody";

/// Look at a scene while it runs, or at a recorded run, in a browser.
///
/// The page is served on this machine alone; Ctrl-C ends it. Closing the page ends nothing.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Arguments {
    /// A scene (.toml) or the journal of a run
    file: PathBuf,
    /// Port of 127.0.0.1; 0 takes any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Write a page that replays the journal instead
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    check_page()?;
    let scene = arguments.file.extension().is_some_and(|ending| ending == "toml");
    if let Some(html) = &arguments.html {
        if scene {
            let what = "a scene has to run first: stiction run SCENE --html FILE";
            return Err(BadInput(format!("{}: {what}", arguments.file.display())));
        }
        write_file(html, &page(&arguments.file)?)?;
        print(&format!("{} replays {}\n", html.display(), arguments.file.display()))?;
        return Ok(Outcome::Solved);
    }
    let said = |error: stiction_view::ServerError| BadInput(error.to_string());
    let server = if scene {
        Server::live(live(&arguments.file)?, arguments.port).map_err(said)?
    } else {
        Server::recorded(page(&arguments.file)?, arguments.port).map_err(said)?
    };
    let url = server.url();
    print(&format!("{} is at {url}\nCtrl-C ends it\n", arguments.file.display()))?;
    if !arguments.no_open {
        open(&url);
    }
    server.run();
    Ok(Outcome::Solved)
}

/// A simulation of a scene, at its start.
fn live(path: &Path) -> Result<Session, BadInput> {
    let text = std::fs::read_to_string(path).map_err(|error| BadInput::file(path, &error))?;
    let shown = path.display().to_string();
    let scene = Scene::from_toml(&text, &shown).map_err(|e| BadInput(format!("{shown}\n{e}")))?;
    Session::new(&scene).map_err(|complaint| BadInput(format!("{shown}\n{complaint}")))
}

/// The page is in the program, or there is a complaint that says how to get it.
pub(crate) fn check_page() -> Result<(), BadInput> {
    if has_page() { Ok(()) } else { Err(BadInput(NoPage.to_string())) }
}

/// The page that replays a journal.
pub(crate) fn page(journal: &Path) -> Result<String, BadInput> {
    let said = |error: JournalError| BadInput(error.to_string());
    let mut steps = Journal::open(journal).map_err(said)?;
    let plan = Plan::of_journal(journal, steps.header())?;
    let mut tape = Tape::new(&plan.model, &plan.title, steps.start());
    // what is damaged further on does not hide what is whole
    for step in steps.by_ref().map_while(Result::ok) {
        tape.add(&plan.model, &step.state(), &step.report());
    }
    tape.page().map_err(|error| BadInput(error.to_string()))
}

/// The scene of a file, as it is run.
pub(crate) fn plan(path: &Path) -> Result<Plan, BadInput> {
    Plan::read(path, &Overrides::default())
}

/// Opens a browser, if there is one.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    // without one the address that was printed is opened by hand
    let _ = Command::new(program).args(before).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
