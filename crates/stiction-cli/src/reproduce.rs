//! `stiction reproduce`: the experiments of the papers beside the published numbers.

use crate::{BadInput, Outcome, plot, print, write_file};
use clap::{Args, ValueEnum};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use stiction::StepError;
use stiction::papers::{self, ExperimentError, Line, Reproduction};
use stiction_lcp::problem::{AnyProblem, ProblemFile};

/// Run the experiments of a paper and print every figure beside the published one.
#[derive(Args)]
pub(crate) struct Arguments {
    /// The paper.
    #[arg(value_enum, ignore_case = true)]
    paper: Paper,
    /// Write the numbers as JSON lines: paper, experiment, case, quantity, value, published (or null).
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the paper's plots as SVG files into this folder.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Paper {
    /// Stewart and Trinkle: four spheres, the falling rod.
    #[value(name = "ST00")]
    St00,
    /// Anitescu and Hart: pendulum, ellipse, 21 disks.
    #[value(name = "AH04")]
    Ah04,
    /// Cline and Pai: chain, pushed bodies, plank.
    #[value(name = "CP03")]
    Cp03,
    /// Hart and Anitescu: a balance, dominoes and dice by the ratio metric.
    #[value(name = "HA10")]
    Ha10,
    /// Potra, Anitescu, Gavrea and Trinkle: double pendulum, block and carts by the trapezoidal method.
    #[value(name = "PAGT06")]
    Pagt06,
}

impl Paper {
    fn reproduce(self) -> Result<Reproduction, ExperimentError> {
        match self {
            Self::St00 => papers::st00::reproduce(),
            Self::Ah04 => papers::ah04::reproduce(),
            Self::Cp03 => papers::cp03::reproduce(),
            Self::Ha10 => papers::ha10::reproduce(),
            Self::Pagt06 => papers::pagt06::reproduce(),
        }
    }
}

pub(crate) fn run(arguments: &Arguments) -> Result<Outcome, BadInput> {
    // a folder or file that cannot be written is said before the experiments run
    if let Some(folder) = &arguments.figures {
        fs::create_dir_all(folder).map_err(|e| BadInput::file(folder, &e))?;
    }
    if let Some(file) = &arguments.json {
        fs::write(file, "").map_err(|e| BadInput::file(file, &e))?;
    }
    let reproduction = match arguments.paper.reproduce() {
        Ok(reproduction) => reproduction,
        Err(error) => {
            print(&format!("not reproduced: {error}\n{}", saved(&error, arguments)?))?;
            return Ok(Outcome::NotSolved);
        }
    };
    if let Some(file) = &arguments.json {
        fs::write(file, json_lines(&reproduction.lines)).map_err(|e| BadInput::file(file, &e))?;
    }
    let mut report = table(&reproduction.lines);
    if let Some(folder) = &arguments.figures {
        for figure in &reproduction.figures {
            let path = folder.join(&figure.name).with_extension("svg");
            let svg = plot::draw(figure).map_err(|e| BadInput::file(&path, &e))?;
            fs::write(&path, svg).map_err(|e| BadInput::file(&path, &e))?;
            let _ = writeln!(report, "{}  {}", path.display(), figure.title);
        }
    }
    print(&report)?;
    Ok(Outcome::Solved)
}

/// Where the problem of a step that was not solved is kept, to be solved again.
fn saved(error: &ExperimentError, arguments: &Arguments) -> Result<String, BadInput> {
    let ExperimentError::Step(StepError::Unsolved { problem, .. }) = error else { return Ok(String::new()) };
    let folder = arguments.figures.clone().unwrap_or_else(|| PathBuf::from("out"));
    let path = folder.join("unsolved.json");
    write_file(&path, &ProblemFile::from(AnyProblem::Step((**problem).clone())).to_json())?;
    Ok(format!("the step's problem is in {}: stiction solve {}\n", path.display(), path.display()))
}

fn json_lines(lines: &[Line]) -> String {
    lines
        .iter()
        .filter_map(|line| serde_json::to_string(line).ok())
        .fold(String::new(), |text, line| text + &line + "\n")
}

/// The numbers by experiment, aligned.
fn table(lines: &[Line]) -> String {
    let width = |of: fn(&Line) -> usize| lines.iter().map(of).max().unwrap_or(0);
    let case = width(|l| l.case.chars().count());
    let quantity = width(|l| l.quantity.chars().count());
    let mut text = String::new();
    let mut experiment = "";
    for line in lines {
        if line.experiment != experiment {
            experiment = line.experiment;
            let _ = writeln!(text, "\n{} {}", line.paper, experiment);
            let _ = writeln!(
                text,
                "  {:<case$}  {:<quantity$}  {:>13}  {:>13}  {:>10}",
                "case", "quantity", "here", "published", "difference"
            );
        }
        let (published, difference) = match line.published {
            Some(published) => (number(published), relative(line.value, published)),
            None => (String::new(), String::new()),
        };
        let _ = writeln!(
            text,
            "  {:<case$}  {:<quantity$}  {:>13}  {:>13}  {:>10}",
            line.case,
            line.quantity,
            number(line.value),
            published,
            difference
        );
    }
    text.push('\n');
    text
}

fn number(x: f64) -> String {
    if x == 0.0 {
        "0".into()
    } else if (1e-4..1e6).contains(&x.abs()) {
        format!("{x:.6}")
    } else {
        format!("{x:.4e}")
    }
}

fn relative(value: f64, published: f64) -> String {
    if published == 0.0 { String::new() } else { format!("{:+.3} %", 100.0 * (value / published - 1.0)) }
}
