//! Several small plots in one picture: logarithmic axes and one legend.

use super::{Area, COLOURS, Drawn, INK, decades, draw_legend, draw_mesh, in_pixels, px, range, words};
use plotters::prelude::{
    BindKeyPoints, ChartBuilder, Circle, Color, IntoDrawingArea, IntoLogRange, IntoTextStyle, LineSeries,
    RGBColor, SVGBackend, WHITE,
};
use stiction_papers::Curve;

/// Columns of panels.
const COLUMNS: usize = 2;
/// Sizes of a panel, of the title and of the legend [px].
const PANEL: [u32; 2] = [560, 380];
const TITLE: u32 = 50;
const LEGEND: u32 = 140;

/// Plot among others. Curves of the same name have the same colour in all of them.
pub struct Panel {
    /// Title of the panel.
    pub title: String,
    /// Curves of the panel.
    pub curves: Vec<Curve>,
}

/// Draws panels as SVG text. The curves called `first` are drawn thick and on top.
pub fn draw(title: &str, axis: &str, panels: &[Panel], first: &str) -> Result<String, String> {
    let rows = panels.len().div_ceil(COLUMNS);
    let count = |n: usize| u32::try_from(n).map_err(words);
    let size = (PANEL[0] * count(COLUMNS)? + LEGEND, PANEL[1] * count(rows)? + TITLE);
    let mut names: Vec<Curve> = Vec::new();
    for curve in panels.iter().flat_map(|panel| &panel.curves) {
        if names.iter().all(|name| name.label != curve.label) {
            names.push(Curve { label: curve.label.clone(), points: Vec::new() });
        }
    }
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (px(size.0), px(size.1))).into_drawing_area();
        area.fill(&WHITE).map_err(words)?;
        let (head, below) = area.split_vertically(px(TITLE));
        let style = ("sans-serif", px(24), &INK).into_text_style(&head);
        head.draw_text(title, &style, (px(24), px(16))).map_err(words)?;
        let (plots, legend) = below.split_horizontally(px(size.0 - LEGEND));
        draw_legend(&legend, &names)?;
        for (area, panel) in plots.split_evenly((rows, COLUMNS)).iter().zip(panels) {
            let place = |curve: &Curve| names.iter().position(|name| name.label == curve.label);
            let colour = |curve: &Curve| COLOURS[place(curve).unwrap_or(0) % COLOURS.len()];
            draw_panel(area, panel, axis, first, &colour)?;
        }
        area.present().map_err(words)?;
    }
    Ok(in_pixels(&svg, size))
}

fn draw_panel(
    area: &Area,
    panel: &Panel,
    axis: &str,
    first: &str,
    colour: &dyn Fn(&Curve) -> RGBColor,
) -> Drawn {
    let (x, y) = (range(&panel.curves, 0, true), range(&panel.curves, 1, true));
    let (x_keys, y_keys) = (decades(&x), decades(&y));
    let mut chart = ChartBuilder::on(area)
        .caption(&panel.title, ("sans-serif", px(18), &INK))
        .margin(px(12))
        .x_label_area_size(px(46))
        .y_label_area_size(px(64))
        .build_cartesian_2d(x.log_scale().with_key_points(x_keys), y.log_scale().with_key_points(y_keys))
        .map_err(words)?;
    draw_mesh(&mut chart, axis, None, [15, 14])?;
    let (ours, others): (Vec<_>, Vec<_>) = panel.curves.iter().partition(|curve| curve.label == first);
    for curve in others.into_iter().chain(ours) {
        let colour = colour(curve);
        let (width, radius) = if curve.label == first { (3, 5) } else { (1, 3) };
        let points = || curve.points.iter().map(|p| (p[0], p[1]));
        chart.draw_series(LineSeries::new(points(), colour.stroke_width(px(width)))).map_err(words)?;
        let dots = points().map(|p| Circle::new(p, px(radius), colour.filled()));
        chart.draw_series(dots).map_err(words)?;
    }
    Ok(())
}
