//! `stiction-lab bench peers`: draws the results of the comparison with other engines.

use crate::{BadInput, Outcome, print, write_file};
use std::path::PathBuf;
use stiction_cli::plot::panels::{Panel, draw};
use stiction_papers::Curve;

/// Draw the error over the cost of every engine, a panel for each scene.
///
/// The measurements are made by `make bench-peers`.
#[derive(clap::Args)]
pub(crate) struct PeerPlotArguments {
    /// Results of the comparison
    #[arg(long, value_name = "FILE", default_value = "benches/results/peers.csv")]
    csv: PathBuf,
    /// File of the picture
    #[arg(long, value_name = "FILE", default_value = "docs/peers.svg")]
    svg: PathBuf,
}

/// Least error that is drawn; smaller ones are round-off, and zero has no logarithm.
const MIN_DRAWN_ERROR: f64 = 1e-16;

/// Columns that are read.
const COLUMNS: [&str; 6] = ["scene", "error_is", "engine", "settings", "cpu_s_per_s", "error"];

/// Runs the command.
pub(crate) fn run(arguments: &PeerPlotArguments) -> Result<Outcome, BadInput> {
    let PeerPlotArguments { csv, svg } = arguments;
    let text = std::fs::read_to_string(csv).map_err(|e| BadInput::file(csv, &e))?;
    let panels = panels(&text).map_err(|e| BadInput::file(csv, &e))?;
    let title = "Error over CPU seconds per simulated second: left and low is good";
    let picture = draw(title, "CPU s per simulated s", &panels, "stiction").map_err(BadInput)?;
    write_file(svg, &picture)?;
    print(&format!("{} scenes drawn: {}\n", panels.len(), svg.display()))?;
    Ok(Outcome::Solved)
}

/// One panel per scene, one curve per engine and settings.
fn panels(csv: &str) -> Result<Vec<Panel>, String> {
    let mut lines = csv.lines();
    let head: Vec<&str> = lines.next().unwrap_or("").split(',').collect();
    let find =
        |name| head.iter().position(|h| *h == name).ok_or_else(|| format!("there is no column {name}"));
    let mut places = [0; COLUMNS.len()];
    for (place, name) in places.iter_mut().zip(COLUMNS) {
        *place = find(name)?;
    }
    let mut panels: Vec<Panel> = Vec::new();
    let mut last = [""; 3];
    for (number, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        if cells.len() != head.len() {
            return Err(format!("line {}: {} cells, {} expected", number + 2, cells.len(), head.len()));
        }
        let [scene, error_is, engine, settings, cost, error] = places.map(|place| cells[place]);
        let title = format!("{scene}: {error_is}");
        if panels.last().is_none_or(|panel| panel.title != title) {
            panels.push(Panel { title, curves: Vec::new() });
        }
        let figure = |text: &str| text.parse().ok().filter(|x: &f64| x.is_finite() && *x >= 0.0);
        // a run that failed has no numbers
        let (Some(cost), Some(error), Some(panel)) = (figure(cost), figure(error), panels.last_mut()) else {
            continue;
        };
        if [scene, engine, settings] != last {
            panel.curves.push(Curve { label: engine.into(), points: Vec::new() });
            last = [scene, engine, settings];
        }
        panel.curves.last_mut().into_iter().for_each(|c| c.points.push([cost, error.max(MIN_DRAWN_ERROR)]));
    }
    Ok(panels)
}

#[test]
fn rows_become_curves_of_panels() {
    let csv = "machine,scene,engine,settings,h,error_is,error,cpu_s_per_s\n\
        m,fall,a,default,0.1,height,0.5,0.01\nm,fall,a,default,0.01,height,0,0.1\n\
        m,fall,a,fine,0.1,height,,\nm,fall,b,default,0.1,height,inf,0.2\n\
        m,roll,a,default,0.1,way,0.25,0.02\n";
    let found = panels(csv).unwrap();
    let titles: Vec<_> = found.iter().map(|panel| panel.title.as_str()).collect();
    assert_eq!(titles, ["fall: height", "roll: way"]);
    // neither the row that failed nor the one that flew off is drawn
    assert_eq!(found[0].curves.len(), 1);
    assert_eq!(found[0].curves[0].points, [[0.01, 0.5], [0.1, MIN_DRAWN_ERROR]]);
    assert_eq!(found[1].curves[0].points, [[0.02, 0.25]]);
    assert!(panels("scene,error_is,engine\n").is_err_and(|e| e.contains("settings")));
    assert!(panels(&(csv.to_string() + "m,roll\n")).is_err_and(|e| e.contains("line 7")));
}
