//! `stiction gallery`: runs scenes and writes a page with a picture and a replay of each.

use crate::run::motion::{self, ViewDirection};
use crate::run::plan::RunPlan;
use crate::run::{RunEnd, step_to_end};
use crate::{BadInput, Outcome, count, plot, print, view, write_file};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use stiction::{Level, Simulation, State, StepReport};
use stiction_journal::{JournalError, JournalWriter};
use stiction_papers::{Figure, FigureContent};

/// Times of the states in a picture, relative to the duration of the run.
const PICTURE_TIMES: [f64; 3] = [0.0, 0.35, 1.0];

/// Run scenes and write a page with a picture and a replay of each.
#[derive(clap::Args)]
pub(crate) struct GalleryArguments {
    /// Scene files, or folders of scene files
    #[arg(default_value = "scenes")]
    scenes: Vec<PathBuf>,
    /// Output folder
    #[arg(long, default_value = "out/gallery")]
    out: PathBuf,
}

/// Penetration that is round-off of positions [m].
const ROUND_OFF: f64 = 1e-13;

/// Reason of a scheme of the papers why bodies penetrate or joints open.
fn cause(plan: &RunPlan) -> &'static str {
    match plan.scheme.level {
        _ if plan.header.accuracy.is_some() || plan.scheme.passes > 0 => "",
        Level::Velocity => ": this scheme of a paper corrects no positions, so errors add up",
        Level::Stabilized { .. } => {
            ": this scheme of a paper corrects a part of the error of a step in the next one"
        }
        _ => "",
    }
}

/// Card of a page of scenes.
pub(crate) struct Card {
    /// Address that it opens.
    pub(crate) link: String,
    /// Address of its picture.
    pub(crate) picture: String,
    pub(crate) title: String,
    pub(crate) facts: String,
    /// Why its run ended early, if it did.
    pub(crate) failed: Option<String>,
}

/// Runs the command.
pub(crate) fn run(arguments: &GalleryArguments) -> Result<Outcome, BadInput> {
    view::check_page()?;
    let mut files = Vec::new();
    for path in &arguments.scenes {
        files.extend(scenes(path)?);
    }
    if files.is_empty() {
        let folders: Vec<String> = arguments.scenes.iter().map(|p| p.display().to_string()).collect();
        return Err(BadInput(format!("{}: no scene files (.toml) here", folders.join(", "))));
    }
    let mut entries = Vec::new();
    for file in &files {
        let entry = run_scene(file, &arguments.out)?;
        let words = entry.failed.as_ref().map_or_else(String::new, |why| format!(": {why}"));
        let name = entry.link.trim_end_matches(".html");
        print(&format!("{name:<24} {}{words}\n", entry.facts))?;
        entries.push(entry);
    }
    let index = arguments.out.join("index.html");
    write_file(&index, &cards(INTRODUCTION, &entries))?;
    print(&format!("{}: {}\n", index.display(), count(entries.len(), "scene", "scenes")))?;
    let failed = entries.iter().any(|entry| entry.failed.is_some());
    Ok(if failed { Outcome::NotSolved } else { Outcome::Solved })
}

/// Scene files of a path: the file itself, or all those in a folder.
pub(crate) fn scenes(path: &Path) -> Result<Vec<PathBuf>, BadInput> {
    if !path.is_dir() {
        return Ok(vec![path.to_path_buf()]);
    }
    let bad = |error: std::io::Error| BadInput::file(path, &error);
    let mut files: Vec<PathBuf> = std::fs::read_dir(path)
        .map_err(bad)?
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|file| file.extension().is_some_and(|ending| ending == "toml"))
        .collect();
    files.sort();
    Ok(files)
}

/// Runs a scene and writes its replay and its picture.
fn run_scene(file: &Path, out: &Path) -> Result<Card, BadInput> {
    let plan = view::plan(file)?;
    let name = file.file_stem().unwrap_or(file.as_os_str()).to_string_lossy().into_owned();
    std::fs::create_dir_all(out).map_err(|error| BadInput::file(out, &error))?;
    let journal = out.join(format!("{name}.journal"));
    let bad = |error: JournalError| BadInput(error.to_string());
    let mut writer = JournalWriter::replace(&journal, &plan.header, &plan.start).map_err(bad)?;
    let mut simulation =
        Simulation::from_state(plan.model.clone(), plan.start.clone()).with_scheme(plan.scheme);
    let wanted = PICTURE_TIMES.map(|part| plan.start.t + part * (plan.header.until - plan.start.t));
    let mut states: Vec<State> = vec![plan.start.clone()];
    let (mut steps, mut worst, mut depth) = (0_usize, 0.0_f64, 0.0_f64);
    let end = step_to_end(&plan, StepReport::default(), (&mut simulation, None), |_, record| {
        writer.append(record)?;
        steps += 1;
        let report = &record.report;
        (worst, depth) = (worst.max(report.certificate.worst()), depth.max(report.infeasibility));
        if wanted.get(states.len()).is_some_and(|&t| report.t >= t - 0.5 * plan.header.h) {
            states.push(record.state.clone());
        }
        Ok(())
    });
    writer.sync().map_err(bad)?;
    let failed = match end {
        RunEnd::Failed(error) => Some(error.to_string()),
        RunEnd::NotWritten(error) => return Err(bad(error)),
        RunEnd::Finished | RunEnd::Interrupted => None,
    };
    write_file(&out.join(format!("{name}.html")), &view::page(&journal)?)?;
    std::fs::remove_file(&journal).map_err(|error| BadInput::file(&journal, &error))?;
    let figure = Figure {
        name: name.clone(),
        title: plan.title.clone(),
        content: FigureContent::Snapshots(motion::frames(&plan.model, &states, ViewDirection::Front)),
    };
    write_file(&out.join(format!("{name}.svg")), &plot::draw(&figure).map_err(BadInput)?)?;
    let bodies = plan.model.body_names();
    let moving = bodies.iter().filter(|n| plan.model.find_body(n).is_some_and(|b| plan.model.moves(b)));
    // gaps and joints are computed from positions of about a metre in sixteen digits
    let deep = if depth > ROUND_OFF {
        format!("penetration or joint error at most {depth:.0e} m{}", cause(&plan))
    } else {
        "penetration and joint error at most round-off".to_string()
    };
    let scheme = match &plan.header.accuracy {
        Some(accuracy) => format!("run to an accuracy of {:.0e}", accuracy.tolerance),
        None => format!("scheme {}, steps of {} s", plan.scheme_name(), plan.header.h),
    };
    let facts = format!(
        "{}; {scheme}, {}; worst residual {worst:.0e}; {deep}",
        count(moving.count(), "body", "bodies"),
        count(steps, "step", "steps")
    );
    Ok(Card {
        link: format!("{name}.html"),
        picture: format!("{name}.svg"),
        title: plan.title,
        facts,
        failed,
    })
}

/// Words above the cards of `stiction gallery`.
const INTRODUCTION: &str =
    "Every picture opens the replay of its scene. Each run is listed with the worst residual of its steps.";

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;")
}

/// Page of cards.
pub(crate) fn cards(introduction: &str, cards: &[Card]) -> String {
    let mut page = String::from(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n<title>Scenes of Stiction</title>\n<style>\n\
         body { font: 15px/1.45 system-ui, sans-serif; max-width: 76rem; margin: 2rem auto; padding: 0 1rem; \
         background: #f5f6f8; color: #1d2530; }\n\
         h1 { font-size: 1.5rem; } p { color: #5a6674; }\n\
         main { display: grid; grid-template-columns: repeat(auto-fill, minmax(20rem, 1fr)); gap: 1rem; }\n\
         a { display: block; color: inherit; text-decoration: none; background: #fff; border: 1px solid #d5dae1; \
         border-radius: 12px; overflow: hidden; }\n\
         a:hover, a:focus-visible { border-color: #0063b2; }\n\
         img { display: block; width: 100%; aspect-ratio: 3 / 2; object-fit: contain; background: #fff; }\n\
         h2 { font-size: 1rem; margin: .7rem 1rem 0; } a p { margin: .2rem 1rem .8rem; font-size: .85rem; }\n\
         .failed { color: #b3123f; }\n\
         @media (prefers-color-scheme: dark) { body { background: #12161b; color: #dfe6ee; } p { color: #93a0ae; } \
         a { background: #1d232b; border-color: #333d48; } .failed { color: #ff6f91; } }\n\
         </style>\n</head>\n<body>\n<h1>Scenes of Stiction</h1>\n",
    );
    let _ = writeln!(page, "<p>{}</p>\n<main>", escaped(introduction));
    for Card { link, picture, title, facts, failed } in cards {
        let failed = failed.as_ref().map_or_else(String::new, |why| {
            format!("<p class=\"failed\">The run ended early: {}</p>", escaped(why))
        });
        let (link, picture) = (escaped(link), escaped(picture));
        let _ = writeln!(
            page,
            "<a href=\"{link}\"><img src=\"{picture}\" alt=\"\" loading=\"lazy\"><h2>{}</h2><p>{}</p>{failed}</a>",
            escaped(title),
            escaped(facts)
        );
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}
