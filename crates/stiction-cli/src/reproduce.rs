//! `stiction reproduce`: runs the experiments of the papers and prints each number beside the published one.

mod page;

use crate::{BadInput, Outcome, plot, print, write_file};
use clap::{Args, ValueEnum};
use serde::Serialize;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use stiction::StepError;
use stiction_lcp::problem::{AnyProblem, ProblemFile};
use stiction_papers::{Agreement, ExperimentError, Figure, Measurement, PublishedSense, Reproduction};

const EXAMPLES: &str = "\
Examples:
  stiction reproduce ST00                        the tables of one paper
  stiction reproduce AH04 --figures out/ah04     and its plots
  stiction reproduce all --html report.html      all five on one page

Exit codes:
  0  every experiment ran: the table says which numbers came out as published
  1  an experiment stopped: its step's problem is saved
  2  a file or folder that cannot be written, or an unknown paper";

/// Run the experiments of a paper and print every number beside the published one.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct ReproduceArguments {
    /// Paper, or all of them.
    #[arg(value_enum, ignore_case = true)]
    paper: Paper,
    /// Write the numbers as JSON lines: paper, experiment, case, quantity, value, published (or null), sense, remark,
    /// verdict.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Draw the paper's plots as SVG files into this folder.
    #[arg(long, value_name = "DIR")]
    figures: Option<PathBuf>,
    /// Write one page with every table and plot; by default `all` writes out/reproduction.html.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
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
    /// All five, and one page with every table and figure.
    #[value(name = "all")]
    All,
}

impl Paper {
    /// Papers, in the order of their years.
    fn members(self) -> Vec<Self> {
        match self {
            Self::All => vec![Self::St00, Self::Cp03, Self::Ah04, Self::Pagt06, Self::Ha10],
            paper => vec![paper],
        }
    }

    fn reproduce(self) -> Result<Reproduction, ExperimentError> {
        match self {
            Self::St00 => stiction_papers::st00::reproduce(),
            Self::Ah04 => stiction_papers::ah04::reproduce(),
            Self::Cp03 => stiction_papers::cp03::reproduce(),
            Self::Ha10 => stiction_papers::ha10::reproduce(),
            Self::Pagt06 => stiction_papers::pagt06::reproduce(),
            Self::All => Ok(Reproduction::default()),
        }
    }

    /// Key, authors, title and year.
    fn cited(self) -> [&'static str; 2] {
        match self {
            Self::St00 => ["ST00", "Stewart and Trinkle 2000: implicit time stepping with Coulomb friction"],
            Self::Cp03 => ["CP03", "Cline and Pai 2003: post-stabilization"],
            Self::Ah04 => ["AH04", "Anitescu and Hart 2004: constraint-stabilized time stepping"],
            Self::Pagt06 => {
                ["PAGT06", "Potra, Anitescu, Gavrea and Trinkle 2006: a linearly implicit trapezoidal method"]
            }
            Self::Ha10 => ["HA10", "Hart and Anitescu 2010: the ratio metric for convex polyhedra"],
            Self::All => ["all", "all papers"],
        }
    }
}

/// Results of one paper.
struct PaperResults {
    paper: Paper,
    lines: Vec<Measurement>,
    /// Figures and their drawings as SVG.
    figures: Vec<(Figure, String)>,
    /// Error that stopped the experiments.
    stopped: Option<String>,
}

impl PaperResults {
    /// Number of measurements with this agreement.
    fn count(&self, verdict: Agreement) -> usize {
        self.lines.iter().filter(|l| l.agreement() == verdict).count()
    }
}

pub(crate) fn run(arguments: &ReproduceArguments) -> Result<Outcome, BadInput> {
    let all = arguments.paper == Paper::All;
    let html = arguments.html.clone().or_else(|| all.then(|| PathBuf::from("out/reproduction.html")));
    // a folder or file that cannot be written is reported before the experiments run
    if let Some(folder) = &arguments.figures {
        fs::create_dir_all(folder).map_err(|e| BadInput::file(folder, &e))?;
    }
    for file in arguments.json.iter().chain(&html) {
        write_file(file, "")?;
    }

    let mut chapters = Vec::new();
    for paper in arguments.paper.members() {
        let chapter = chapter(paper, arguments)?;
        print(&words(&chapter))?;
        chapters.push(chapter);
    }
    if all {
        print(&totals(&chapters))?;
    }
    if let Some(file) = &arguments.json {
        write_file(file, &chapters.iter().map(|c| json_lines(&c.lines)).collect::<String>())?;
    }
    if let Some(folder) = &arguments.figures {
        print(&save_figures(&chapters, folder)?)?;
    }
    if let Some(file) = &html {
        write_file(file, &page::page(&chapters))?;
        print(&format!("{}  every table and figure on one page\n", file.display()))?;
    }
    let whole = chapters.iter().all(|c| c.stopped.is_none());
    Ok(if whole { Outcome::Solved } else { Outcome::NotSolved })
}

fn chapter(paper: Paper, arguments: &ReproduceArguments) -> Result<PaperResults, BadInput> {
    match paper.reproduce() {
        Ok(Reproduction { lines, figures }) => {
            let drawn = figures.into_iter().map(|figure| match plot::draw(&figure) {
                Ok(svg) => Ok((figure, svg)),
                Err(error) => Err(BadInput(format!("{}: {error}", figure.name))),
            });
            Ok(PaperResults { paper, lines, figures: drawn.collect::<Result<_, _>>()?, stopped: None })
        }
        Err(error) => {
            let stopped = Some(format!("{error}\n{}", saved(&error, arguments)?));
            Ok(PaperResults { paper, lines: Vec::new(), figures: Vec::new(), stopped })
        }
    }
}

fn words(chapter: &PaperResults) -> String {
    match &chapter.stopped {
        Some(why) => format!("{} not reproduced: {why}", chapter.paper.cited()[0]),
        None => table(&chapter.lines),
    }
}

/// Counts of the agreements of each paper.
fn totals(chapters: &[PaperResults]) -> String {
    let mut text =
        format!("{:<8}{:>12}{:>8}{:>9}{:>14}\n", "paper", "reproduced", "close", "differs", "unpublished");
    for chapter in chapters {
        let [reproduced, close, differs, unpublished] =
            [Agreement::Reproduced, Agreement::Close, Agreement::Differs, Agreement::Unpublished]
                .map(|v| chapter.count(v));
        let key = chapter.paper.cited()[0];
        let _ = write!(text, "{key:<8}{reproduced:>12}{close:>8}{differs:>9}{unpublished:>14}");
        text += if chapter.stopped.is_some() { "  stopped\n" } else { "\n" };
    }
    text.push('\n');
    text
}

fn save_figures(chapters: &[PaperResults], folder: &Path) -> Result<String, BadInput> {
    let mut text = String::new();
    for (figure, svg) in chapters.iter().flat_map(|c| &c.figures) {
        let path = folder.join(&figure.name).with_extension("svg");
        fs::write(&path, svg).map_err(|e| BadInput::file(&path, &e))?;
        let _ = writeln!(text, "{}  {}", path.display(), figure.title);
    }
    Ok(text)
}

/// Saves the problem of a step that was not solved, and returns a line about it.
fn saved(error: &ExperimentError, arguments: &ReproduceArguments) -> Result<String, BadInput> {
    let ExperimentError::Step(StepError::Unsolved { problem, .. }) = error else { return Ok(String::new()) };
    let folder = arguments.figures.clone().unwrap_or_else(|| PathBuf::from("out"));
    let path = folder.join("unsolved.json");
    write_file(&path, &ProblemFile::from(AnyProblem::Step((**problem).clone())).to_json())?;
    Ok(format!("the step's problem is in {}: stiction solve {}\n", path.display(), path.display()))
}

/// Measurement and its agreement.
#[derive(Serialize)]
struct JudgedMeasurement<'a> {
    #[serde(flatten)]
    line: &'a Measurement,
    verdict: Agreement,
}

fn json_lines(lines: &[Measurement]) -> String {
    lines
        .iter()
        .filter_map(|line| serde_json::to_string(&JudgedMeasurement { line, verdict: line.agreement() }).ok())
        .fold(String::new(), |text, line| text + &line + "\n")
}

/// Table of the measurements by experiment.
fn table(lines: &[Measurement]) -> String {
    let width = |of: fn(&Measurement) -> usize| lines.iter().map(of).max().unwrap_or(0);
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
                "  {:<case$}  {:<quantity$}  {:>13}  {:>13}  {:>10}  verdict",
                "case", "quantity", "here", "published", "difference"
            );
        }
        let row = format!(
            "  {:<case$}  {:<quantity$}  {:>13}  {:>13}  {:>10}  {}",
            line.case,
            line.quantity,
            number(line.value),
            published(line),
            difference(line),
            verdict(line)
        );
        let _ = writeln!(text, "{}", row.trim_end());
        if !line.remark.is_empty() {
            let _ = writeln!(text, "    {}", line.remark);
        }
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

/// Published value and its sense.
fn published(line: &Measurement) -> String {
    let Some(published) = line.published else { return String::new() };
    match line.sense {
        PublishedSense::Exactly => number(published),
        PublishedSense::About => format!("≈ {published}"),
        PublishedSense::AtMost => format!("≤ {published}"),
        PublishedSense::AtLeast => format!("≥ {published}"),
    }
}

/// Relative difference from the published value, unless that is a bound.
fn difference(line: &Measurement) -> String {
    match (line.published, line.sense) {
        (Some(published), PublishedSense::Exactly | PublishedSense::About) if published != 0.0 => {
            format!("{:+.3} %", 100.0 * (line.value / published - 1.0))
        }
        _ => String::new(),
    }
}

fn verdict(line: &Measurement) -> &'static str {
    match line.agreement() {
        Agreement::Reproduced => "reproduced",
        Agreement::Close => "close",
        Agreement::Differs => "differs",
        Agreement::Unpublished => "",
    }
}
