//! `stiction view`: shows a scene, a recorded run or a choice of scenes in the browser.

mod start_page;

use crate::run::plan::{Overrides, RunPlan};
use crate::{BadInput, Outcome, count, print, write_file};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use stiction::StepError;
use stiction_journal::Journal;
use stiction_scene::Scene;
use stiction_view::{NoPage, Server, Session, Tape, has_page};

const EXAMPLES: &str = "\
Examples:
  stiction view                                      scenes to choose from, each one click from running
  stiction view scenes/chain.toml                    push bodies, change friction, go back in time
  stiction view run.journal                          replay a recorded run
  stiction view run.journal --html run.html          write the replay as one file, to share it";

/// Show a running scene or a recorded run in a browser.
///
/// The page is served to this machine only, until Ctrl-C. Closing the page does not stop the simulation.
#[derive(clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ViewArguments {
    /// Scene (.toml), journal, or folder of scenes; without it the scenes that come with this program
    file: Option<PathBuf>,
    /// Port on 127.0.0.1; 0 chooses a free one
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Write the replay of a journal to a file instead of serving it
    #[arg(long, value_name = "FILE.html")]
    html: Option<PathBuf>,
}

/// Runs the command.
pub(crate) fn run(arguments: &ViewArguments) -> Result<Outcome, BadInput> {
    check_page()?;
    let bad = |error: stiction_view::ServerError| BadInput(error.to_string());
    let (server, shown) = match &arguments.file {
        Some(file) if !file.is_dir() => {
            let scene = file.extension().is_some_and(|ending| ending == "toml");
            if let Some(html) = &arguments.html {
                return write_replay(file, scene, html);
            }
            let server = if scene {
                Server::live(live(file)?, arguments.port)
            } else {
                Server::recorded(page(file)?, arguments.port)
            };
            (server.map_err(bad)?, format!("{} is", file.display()))
        }
        folder => {
            if arguments.html.is_some() {
                return Err(BadInput("--html replays a journal; name one".into()));
            }
            let scenes = start_page::scenes(folder.as_deref())?;
            let shown = format!("{} are", count(scenes.len(), "scene", "scenes"));
            let server = Server::start_page(start_page::page(&scenes), scenes_of(scenes), arguments.port);
            (server.map_err(bad)?, shown)
        }
    };
    let url = server.url();
    print(&format!("{shown} shown at {url}\npress Ctrl-C to stop\n"))?;
    if !arguments.no_open {
        open(&url);
    }
    server.run();
    Ok(Outcome::Solved)
}

/// Scenes of a start page by their names.
fn scenes_of(offered: Vec<start_page::OfferedScene>) -> Vec<(String, Scene)> {
    offered.into_iter().map(|offered| (offered.name, offered.scene)).collect()
}

/// Writes the replay of a journal to a file.
fn write_replay(file: &Path, scene: bool, html: &Path) -> Result<Outcome, BadInput> {
    if scene {
        let message =
            "--html replays a journal, and this is a scene; run it with: stiction run SCENE --html FILE";
        return Err(BadInput(format!("{}: {message}", file.display())));
    }
    write_file(html, &page(file)?)?;
    print(&format!("{} replays {}\n", html.display(), file.display()))?;
    Ok(Outcome::Solved)
}

/// Live session of a scene, at its start.
fn live(path: &Path) -> Result<Session, BadInput> {
    let text = std::fs::read_to_string(path).map_err(|error| BadInput::file(path, &error))?;
    let shown = path.display().to_string();
    let scene = Scene::from_toml(&text, &shown).map_err(|e| BadInput(format!("{shown}\n{e}")))?;
    Session::new(&scene).map_err(|error| BadInput(format!("{shown}\n{error}")))
}

/// Checks that this program was built with the page; the error says how to build it.
pub(crate) fn check_page() -> Result<(), BadInput> {
    if has_page() { Ok(()) } else { Err(BadInput(NoPage.to_string())) }
}

/// Page that replays a journal.
pub(crate) fn page(journal: &Path) -> Result<String, BadInput> {
    let mut records = Journal::open(journal).map_err(|error| BadInput(error.to_string()))?;
    let plan = RunPlan::of_journal(journal, records.header())?;
    let foreign = |error: StepError| BadInput(format!("{}: {error}", journal.display()));
    let tape = Tape::new(&plan.model, &plan.title, records.start()).map_err(foreign)?;
    let mut tape = if plan.header.accuracy.is_some() { tape.with_forces() } else { tape };
    // show all steps before a damaged record
    for record in records.by_ref().map_while(Result::ok) {
        tape.add(&plan.model, &record.state, &record.report).map_err(foreign)?;
    }
    tape.page().map_err(|error| BadInput(error.to_string()))
}

/// Plan of a scene without overrides.
pub(crate) fn plan(path: &Path) -> Result<RunPlan, BadInput> {
    RunPlan::read(path, &Overrides::default())
}

/// Opens a browser, if one is installed.
fn open(url: &str) {
    let (program, before): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(target_os = "windows") {
        ("cmd", &["/C", "start", ""])
    } else {
        ("xdg-open", &[])
    };
    // on failure the user opens the printed address by hand
    let _ = Command::new(program).args(before).arg(url).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
}
