//! Figures as SVG: curves over axes, and snapshots of bodies.

pub mod panels;

use plotters::coord::Shift;
use plotters::coord::ranged1d::{AsRangedCoord, ValueFormatter};
use plotters::prelude::{
    BindKeyPoints, Cartesian2d, ChartBuilder, ChartContext, Circle, Color, DrawingArea, IntoDrawingArea,
    IntoLogRange, IntoTextStyle, LineSeries, PathElement, RGBColor, Ranged, SVGBackend, WHITE,
};
use stiction_papers::{Axis, Curve, Figure, FigureContent, Snapshot};

/// Units of the drawing per pixel: the backend rounds to whole units, so curves are smooth to a tenth of a pixel.
const FINE: u16 = 10;
/// Size of a figure [px].
const SIZE: (u32, u32) = (1200, 800);
/// Size of a figure among several in one picture, and height of their title [px].
const CELL: (u32, u32) = (900, 600);
const HEAD: u32 = 56;
const INK: RGBColor = RGBColor(38, 44, 54);
const SOFT: RGBColor = RGBColor(222, 226, 232);
/// Smallest range of a linear axis, in the unit of its quantity. Sensible from 1e-18 to 1e-12: below it axes of bodies at
/// rest are labelled with round-off, above it very small scenes look constant.
const LEAST_RANGE: f64 = 1e-15;
/// Maximum number of points of a curve that is drawn with a dot at each.
const MAX_DOTS: usize = 20;
/// Colours of curves, distinct for colour-blind readers too.
const COLOURS: [RGBColor; 8] = [
    RGBColor(24, 100, 190),
    RGBColor(226, 114, 16),
    RGBColor(20, 140, 110),
    RGBColor(180, 50, 80),
    RGBColor(110, 84, 170),
    RGBColor(120, 120, 120),
    RGBColor(200, 160, 20),
    RGBColor(60, 60, 60),
];

type Area<'a> = DrawingArea<SVGBackend<'a>, Shift>;
type Drawn = Result<(), String>;

/// Draws a figure as SVG text.
pub fn draw(figure: &Figure) -> Result<String, String> {
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (px(SIZE.0), px(SIZE.1))).into_drawing_area();
        area.fill(&WHITE).map_err(words)?;
        match &figure.content {
            FigureContent::Curves { axes, curves } => draw_curves(&area, figure, axes, curves)?,
            FigureContent::Snapshots(frames) => draw_frames(&area, figure, frames)?,
        }
        area.present().map_err(words)?;
    }
    Ok(in_pixels(&svg, SIZE))
}

/// Units of the drawing for a number of pixels.
pub(crate) fn px<T: std::ops::Mul<Output = T> + From<u16>>(pixels: T) -> T {
    pixels * T::from(FINE)
}

/// Drawing shown at its size in pixels.
fn in_pixels(svg: &str, (width, height): (u32, u32)) -> String {
    let fine = format!("width=\"{}\" height=\"{}\"", px(width), px(height));
    svg.replacen(&fine, &format!("width=\"{width}\" height=\"{height}\""), 1)
}

/// Draws figures two by two as SVG text, under one title.
pub fn draw_together(title: &str, figures: &[Figure]) -> Result<String, String> {
    let rows = figures.len().div_ceil(2).max(1);
    let size = (2 * CELL.0, HEAD + CELL.1 * u32::try_from(rows).map_err(words)?);
    let mut svg = String::new();
    {
        let area = SVGBackend::with_string(&mut svg, (px(size.0), px(size.1))).into_drawing_area();
        area.fill(&WHITE).map_err(words)?;
        let (head, below) = area.split_vertically(px(HEAD));
        let style = ("sans-serif", px(30), &INK).into_text_style(&head);
        head.draw_text(title, &style, (px(24), px(18))).map_err(words)?;
        for (cell, figure) in below.split_evenly((rows, 2)).iter().zip(figures) {
            match &figure.content {
                FigureContent::Curves { axes, curves } => draw_curves(cell, figure, axes, curves)?,
                FigureContent::Snapshots(frames) => draw_frames(cell, figure, frames)?,
            }
        }
        area.present().map_err(words)?;
    }
    Ok(in_pixels(&svg, size))
}

fn words(error: impl std::fmt::Display) -> String {
    error.to_string()
}

/// Range of one coordinate of all curves, with a margin.
fn range(curves: &[Curve], k: usize, logarithmic: bool) -> std::ops::Range<f64> {
    let values = || {
        let all = curves.iter().flat_map(|c| &c.points).map(move |p| p[k]);
        all.filter(move |x| x.is_finite() && (!logarithmic || *x > 0.0))
    };
    let (low, high) = values().fold((f64::INFINITY, f64::NEG_INFINITY), |(a, b), x| (a.min(x), b.max(x)));
    if low > high {
        return if logarithmic { 0.1..10.0 } else { 0.0..1.0 };
    }
    if logarithmic {
        // at most sixteen decades, so that round-off does not stretch the axis
        let low = low.max(high * 1e-16);
        return low / 1.5..high * 1.5;
    }
    // a range of round-off is none
    let least = (1e-9 * high.abs().max(low.abs())).max(LEAST_RANGE);
    let margin =
        if high - low > least { 0.04 * (high - low) } else { 0.1 * high.abs().max(low.abs()).max(1.0) };
    low - margin..high + margin
}

fn draw_curves(whole: &Area, figure: &Figure, axes: &[Axis; 2], curves: &[Curve]) -> Drawn {
    // about 8 px per letter of the longest name
    let longest = curves.iter().map(|c| c.label.chars().count()).max().unwrap_or(0);
    let legend = if curves.len() > 1 { px(60 + 8 * i32::try_from(longest).unwrap_or(0)) } else { 0 };
    let (area, beside) =
        whole.split_horizontally(i32::try_from(whole.dim_in_pixel().0).unwrap_or(0) - legend.min(px(480)));
    if curves.len() > 1 {
        draw_legend(&beside, curves)?;
    }
    let area = &area;
    let (x, y) = (range(curves, 0, axes[0].logarithmic), range(curves, 1, axes[1].logarithmic));
    let keys = |range: &std::ops::Range<f64>| decades(range);
    match (axes[0].logarithmic, axes[1].logarithmic) {
        (false, false) => on_axes(area, figure, axes, curves, x, y),
        (false, true) => {
            let y_keys = keys(&y);
            on_axes(area, figure, axes, curves, x, y.log_scale().with_key_points(y_keys))
        }
        (true, false) => {
            let x_keys = keys(&x);
            on_axes(area, figure, axes, curves, x.log_scale().with_key_points(x_keys), y)
        }
        (true, true) => {
            let (x_keys, y_keys) = (keys(&x), keys(&y));
            let (x, y) = (x.log_scale(), y.log_scale());
            on_axes(area, figure, axes, curves, x.with_key_points(x_keys), y.with_key_points(y_keys))
        }
    }
}

/// Powers of ten in a range, with 2 and 5 between them where there are few.
fn decades(range: &std::ops::Range<f64>) -> Vec<f64> {
    let (low, high) = (range.start.log10().floor(), range.end.log10().ceil());
    let span = high - low;
    let every = (span / 8.0).ceil().max(1.0);
    let steps: &[f64] = if span <= 3.0 { &[1.0, 2.0, 5.0] } else { &[1.0] };
    let mut keys = Vec::new();
    let mut power = low;
    while power <= high {
        keys.extend(steps.iter().map(|s| s * 10_f64.powf(power)));
        power += every;
    }
    keys.retain(|k| range.contains(k));
    keys
}

fn on_axes<X, Y>(area: &Area, figure: &Figure, axes: &[Axis; 2], curves: &[Curve], x: X, y: Y) -> Drawn
where
    X: AsRangedCoord<Value = f64>,
    Y: AsRangedCoord<Value = f64>,
    X::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y::CoordDescType: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut chart = ChartBuilder::on(area)
        .caption(&figure.title, ("sans-serif", px(26), &INK))
        .margin(px(24))
        .x_label_area_size(px(56))
        .y_label_area_size(px(92))
        .build_cartesian_2d(x, y)
        .map_err(words)?;
    draw_mesh(&mut chart, &axes[0].label, Some(&axes[1].label), [20, 17])?;
    for (curve, colour) in curves.iter().zip(COLOURS.iter().cycle()) {
        draw_curve(&mut chart, curve, *colour, [axes[0].logarithmic, axes[1].logarithmic])?;
    }
    Ok(())
}

/// Draws grid, axes and their labels; `sizes` are those of the text of the labels and of the numbers [px].
fn draw_mesh<X, Y>(
    chart: &mut ChartContext<SVGBackend, Cartesian2d<X, Y>>,
    x_label: &str,
    y_label: Option<&str>,
    sizes: [u32; 2],
) -> Drawn
where
    X: Ranged<ValueType = f64> + ValueFormatter<f64>,
    Y: Ranged<ValueType = f64> + ValueFormatter<f64>,
{
    let mut mesh = chart.configure_mesh();
    if let Some(label) = y_label {
        mesh.y_desc(label);
    }
    mesh.x_desc(x_label)
        .axis_desc_style(("sans-serif", px(sizes[0]), &INK))
        .label_style(("sans-serif", px(sizes[1]), &INK))
        .axis_style(INK.stroke_width(px(1)))
        .set_all_tick_mark_size(px(5))
        .x_label_formatter(&|x| number(*x))
        .y_label_formatter(&|y| number(*y))
        .light_line_style(WHITE)
        .bold_line_style(SOFT.stroke_width(px(1)))
        .draw()
        .map_err(words)
}

/// Draws the names of the curves beside the plot.
fn draw_legend(area: &Area, curves: &[Curve]) -> Drawn {
    let style = ("sans-serif", px(16), &INK).into_text_style(area);
    for ((k, curve), colour) in (0..).zip(curves).zip(COLOURS.iter().cycle()) {
        let y = 76 + 26 * k;
        let line = [(px(4), px(y)), (px(28), px(y))];
        area.draw(&PathElement::new(line, colour.stroke_width(px(3)))).map_err(words)?;
        area.draw_text(&curve.label, &style, (px(36), px(y - 8))).map_err(words)?;
    }
    Ok(())
}

fn draw_curve<X, Y>(
    chart: &mut ChartContext<SVGBackend, Cartesian2d<X, Y>>,
    curve: &Curve,
    colour: RGBColor,
    logarithmic: [bool; 2],
) -> Drawn
where
    X: Ranged<ValueType = f64>,
    Y: Ranged<ValueType = f64>,
{
    let drawable = |p: &&[f64; 2]| {
        p.iter().zip(logarithmic).all(|(x, logarithmic)| x.is_finite() && (!logarithmic || *x > 0.0))
    };
    // no more points than pixels: the largest of each group is kept, so that peaks stay
    let points: Vec<[f64; 2]> = curve.points.iter().filter(drawable).copied().collect();
    let group = points.len().div_ceil(2 * SIZE.0 as usize).max(1);
    let peak = |group: &[[f64; 2]]| group.iter().copied().max_by(|a, b| a[1].total_cmp(&b[1]));
    let thinned = points.chunks(group).filter_map(peak).map(|p| (p[0], p[1]));
    chart.draw_series(LineSeries::new(thinned, colour.stroke_width(px(2)))).map_err(words)?;
    // few points are measurements
    if points.len() <= MAX_DOTS {
        let dots = points.iter().map(|p| Circle::new((p[0], p[1]), px(4), colour.filled()));
        chart.draw_series(dots).map_err(words)?;
    }
    Ok(())
}

/// Number of a tick label.
fn number(x: f64) -> String {
    let size = x.abs();
    if x == 0.0 {
        "0".into()
    } else if (1e-3..1e5).contains(&size) {
        let text = format!("{x:.4}");
        text.trim_end_matches('0').trim_end_matches('.').to_string()
    } else {
        format!("{x:.0e}")
    }
}

/// Draws snapshots side by side at one scale.
fn draw_frames(area: &Area, figure: &Figure, frames: &[Snapshot]) -> Drawn {
    let (title, body) = area.split_vertically(px(HEAD));
    let style = ("sans-serif", px(26), &INK).into_text_style(&title);
    title.draw_text(&figure.title, &style, (px(24), px(18))).map_err(words)?;
    if frames.is_empty() {
        return Ok(());
    }
    let points = || frames.iter().flat_map(|f| &f.outlines).flat_map(|o| &o.points);
    let mut low = [f64::INFINITY; 2];
    let mut high = [f64::NEG_INFINITY; 2];
    for p in points().filter(|p| p.iter().all(|x| x.is_finite())) {
        for k in 0..2 {
            low[k] = low[k].min(p[k]);
            high[k] = high[k].max(p[k]);
        }
    }
    let columns = columns(
        area.dim_in_pixel(),
        frames.len(),
        (high[0] - low[0]).max(1e-9) / (high[1] - low[1]).max(1e-9),
    );
    let rows = frames.len().div_ceil(columns);
    for (cell, frame) in body.split_evenly((rows, columns)).iter().zip(frames) {
        draw_frame(cell, frame, low, high)?;
    }
    Ok(())
}

/// Number of columns for which frames of this width over height are largest.
fn columns((width, height): (u32, u32), frames: usize, shape: f64) -> usize {
    let size = |columns: usize| {
        let width = f64::from(width) / columns as f64;
        let height = f64::from(height) / frames.div_ceil(columns) as f64 - px(48.0);
        width.min(shape * height)
    };
    (1..=frames).max_by(|a, b| size(*a).total_cmp(&size(*b))).unwrap_or(1)
}

fn draw_frame(cell: &Area, frame: &Snapshot, low: [f64; 2], high: [f64; 2]) -> Drawn {
    let (width, height) = cell.dim_in_pixel();
    let (width, height) = (f64::from(width) - px(24.0), f64::from(height) - px(48.0));
    let span = |k: usize| (high[k] - low[k]).max(1e-9);
    let scale = (width / span(0)).min(height / span(1));
    let pixel = |p: &[f64; 2]| {
        let x = px(12.0) + 0.5 * (width - scale * span(0)) + scale * (p[0] - low[0]);
        let y = px(12.0) + 0.5 * (height - scale * span(1)) + scale * (high[1] - p[1]);
        rounded([x, y])
    };
    for (place, outline) in frame.outlines.iter().enumerate() {
        let k = frame.colours.get(place).copied().unwrap_or(place);
        let mut points: Vec<(i32, i32)> = outline.points.iter().map(pixel).collect();
        if outline.closed {
            let fill = COLOURS[k % COLOURS.len()].mix(0.18);
            cell.draw(&plotters::prelude::Polygon::new(points.clone(), fill)).map_err(words)?;
            points.extend(points.first().copied());
        }
        let line = if outline.closed { COLOURS[k % COLOURS.len()] } else { INK };
        cell.draw(&PathElement::new(points, line.stroke_width(px(2)))).map_err(words)?;
    }
    let caption = format!("t = {} s", number(frame.t));
    let at = (px(12), i32::try_from(cell.dim_in_pixel().1).unwrap_or(0) - px(30));
    cell.draw_text(&caption, &("sans-serif", px(17), &INK).into_text_style(cell), at).map_err(words)
}

/// Point in whole pixels.
pub fn rounded([x, y]: [f64; 2]) -> (i32, i32) {
    #[allow(clippy::cast_possible_truncation, reason = "pictures are far smaller than 2³¹ pixels")]
    let whole = |x: f64| x.round() as i32;
    (whole(x), whole(y))
}
