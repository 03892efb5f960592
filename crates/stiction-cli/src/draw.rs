//! Picture of the solved step of `stiction demo`: bodies, friction cones and impulses.

use crate::demo::{Caption, CornerContact, Crate, DemoScene, MU};
use crate::mode::ContactState;
use crate::plot::rounded;
use plotters::prelude::{
    Color, DrawingBackend, FontDesc, FontFamily, FontStyle, RGBAColor, RGBColor, SVGBackend, ShapeStyle,
    TextStyle,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use stiction_lcp::Mode;

/// Size of the picture [px]; twice the shown size, since the backend rounds to whole pixels.
const DEMO_SIZE: (u32, u32) = (2000, 1600);
/// Pixels per metre.
const SCALE: f64 = 405.0;
/// Origin of the scene [px].
const ORIGIN: [f64; 2] = [500.0, 1376.0];
/// Length of an impulse of 1 N s [px].
const IMPULSE: f64 = 100.0;
/// Height of the friction cones [px].
const CONE: f64 = 120.0;
/// Length of a push of 1 N [px].
const PUSH: f64 = 3.2;

const WHITE: RGBColor = RGBColor(255, 255, 255);
const INK: RGBColor = RGBColor(38, 44, 54);
const SOFT: RGBColor = RGBColor(104, 112, 124);
const EDGE: RGBColor = RGBColor(122, 132, 148);
const GROUND: RGBColor = RGBColor(226, 229, 234);
const PALE: RGBColor = RGBColor(240, 243, 247);
const DARKER: RGBColor = RGBColor(232, 237, 243);
const ORANGE: RGBColor = RGBColor(251, 240, 226);
const WARM: RGBColor = RGBColor(245, 245, 243);
const FILL: [RGBColor; 7] = [DARKER, PALE, DARKER, PALE, DARKER, ORANGE, WARM];

fn colour(mode: Mode) -> RGBColor {
    match mode {
        Mode::Open => RGBColor(140, 146, 156),
        Mode::Stick => RGBColor(24, 100, 190),
        Mode::Slip => RGBColor(226, 114, 16),
    }
}

/// Draws the scene as SVG text.
pub(crate) fn scene(scene: &DemoScene, states: &[ContactState], caption: &Caption) -> Result<String, String> {
    let mut svg = String::new();
    let mut canvas = Canvas { backend: SVGBackend::with_string(&mut svg, DEMO_SIZE), failed: None };
    let (width, height) = (f64::from(DEMO_SIZE.0), f64::from(DEMO_SIZE.1));
    canvas.rectangle([0.0, 0.0], [width, height], WHITE);

    // the ground, full width
    canvas.rectangle([60.0, ORIGIN[1]], [width - 60.0, ORIGIN[1] + 46.0], GROUND);
    canvas.line(&[[60.0, ORIGIN[1]], [width - 60.0, ORIGIN[1]]], &EDGE, 4);

    // bodies first, so that impulses lie on top
    for (body, fill) in scene.crates.iter().zip(FILL.iter().cycle()) {
        canvas.body(body, *fill);
    }
    for (touch, state) in scene.touches.iter().zip(states) {
        let height = if state.mode == Mode::Open { 0.5 * CONE } else { CONE };
        canvas.cone(pixel(touch.at), height, colour(state.mode));
    }
    for (touch, state) in scene.touches.iter().zip(states) {
        canvas.impulse(touch, state);
    }
    for (i, (touch, state)) in scene.touches.iter().zip(states).enumerate() {
        canvas.contact(i, touch, state, scene);
    }
    for body in &scene.crates {
        canvas.motion(body);
    }
    canvas.legend();
    canvas.text([60.0, 62.0], &caption.title, 54.0, INK, HPos::Left, true);
    canvas.text([60.0, 128.0], &caption.subtitle, 33.0, SOFT, HPos::Left, false);
    canvas.text([60.0, height - 92.0], &caption.certificate[0], 32.0, INK, HPos::Left, true);
    canvas.text([60.0, height - 46.0], &caption.certificate[1], 30.0, SOFT, HPos::Left, false);
    canvas.finish()?;
    Ok(svg)
}

/// Position in the picture [px] of a point of the scene [m].
fn pixel(at: [f64; 2]) -> [f64; 2] {
    [ORIGIN[0] + SCALE * at[0], ORIGIN[1] - SCALE * at[1]]
}

struct Canvas<'a> {
    backend: SVGBackend<'a>,
    /// First error of the backend.
    failed: Option<String>,
}

impl Canvas<'_> {
    fn keep<E: std::fmt::Display>(&mut self, result: Result<(), E>) {
        if let (Err(error), None) = (result, &self.failed) {
            self.failed = Some(error.to_string());
        }
    }

    fn finish(mut self) -> Result<(), String> {
        let result = self.backend.present();
        self.keep(result);
        self.failed.map_or(Ok(()), Err)
    }

    fn rectangle(&mut self, from: [f64; 2], to: [f64; 2], colour: RGBColor) {
        let result = self.backend.draw_rect(rounded(from), rounded(to), &colour, true);
        self.keep(result);
    }

    fn line(&mut self, points: &[[f64; 2]], colour: &impl Color, width: u32) {
        let style = ShapeStyle { color: colour.to_rgba(), filled: false, stroke_width: width };
        let result = self.backend.draw_path(points.iter().copied().map(rounded), &style);
        self.keep(result);
    }

    fn polygon(&mut self, points: &[[f64; 2]], colour: RGBAColor) {
        let result = self.backend.fill_polygon(points.iter().copied().map(rounded), &colour);
        self.keep(result);
    }

    fn dot(&mut self, at: [f64; 2], radius: u32, colour: RGBColor, filled: bool) {
        let style = ShapeStyle { color: colour.to_rgba(), filled, stroke_width: 4 };
        let result = self.backend.draw_circle(rounded(at), radius, &style, filled);
        self.keep(result);
    }

    fn text(&mut self, at: [f64; 2], text: &str, size: f64, colour: RGBColor, anchor: HPos, bold: bool) {
        let family = FontFamily::Name("Inter, 'Helvetica Neue', Helvetica, Arial, sans-serif");
        let weight = if bold { FontStyle::Bold } else { FontStyle::Normal };
        let style = TextStyle::from(FontDesc::new(family, size, weight))
            .color(&colour)
            .pos(Pos::new(anchor, VPos::Center));
        let result = self.backend.draw_text(text, &style, rounded(at));
        self.keep(result);
    }

    /// Draws an arrow with a filled head from its tail to its tip.
    fn arrow(&mut self, tail: [f64; 2], tip: [f64; 2], colour: RGBColor, width: f64) {
        let along = [tip[0] - tail[0], tip[1] - tail[1]];
        let length = along[0].hypot(along[1]);
        if length < 1.0 {
            return;
        }
        let u = [along[0] / length, along[1] / length];
        let head = (4.2 * width).min(0.6 * length);
        let place =
            |back: f64, side: f64| [tip[0] - back * u[0] - side * u[1], tip[1] - back * u[1] + side * u[0]];
        // shaft and head in one shape, so that they meet without a seam
        let (thin, broad) = (0.5 * width, 0.42 * head);
        let outline = [
            place(length, thin),
            place(head, thin),
            place(head, broad),
            tip,
            place(head, -broad),
            place(head, -thin),
            place(length, -thin),
        ];
        self.polygon(&outline, colour.to_rgba());
    }

    fn body(&mut self, body: &Crate, fill: RGBColor) {
        let mut outline: Vec<[f64; 2]> = body.corners().into_iter().map(pixel).collect();
        self.polygon(&outline, fill.to_rgba());
        outline.push(outline[0]);
        // one corner more, so that the last one is mitred too
        outline.push(outline[1]);
        self.line(&outline, &EDGE, 4);
        let [x, y] = pixel(body.at);
        let mass = format!("{:.0} kg", body.mass);
        if body.size[0] > 2.5 * body.size[1] {
            self.text([x, y + 12.0], &format!("{}, {mass}", body.name), 29.0, INK, HPos::Center, true);
        } else {
            self.text([x, y - 18.0], body.name, 33.0, INK, HPos::Center, true);
            self.text([x, y + 22.0], &mass, 29.0, SOFT, HPos::Center, false);
        }
    }

    /// Draws a friction cone that stands on its tip.
    fn cone(&mut self, tip: [f64; 2], height: f64, colour: RGBColor) {
        let half = MU * height;
        let (left, right) = ([tip[0] - half, tip[1] - height], [tip[0] + half, tip[1] - height]);
        self.polygon(&[tip, left, right], colour.mix(0.11));
        self.line(&[left, tip, right], &colour.mix(0.35), 2);
    }

    fn impulse(&mut self, touch: &CornerContact, state: &ContactState) {
        let tail = pixel(touch.at);
        let tip = [tail[0] + IMPULSE * state.friction[0], tail[1] - IMPULSE * state.normal.unwrap_or(0.0)];
        self.arrow(tail, tip, colour(state.mode), 8.0);
    }

    fn contact(&mut self, i: usize, touch: &CornerContact, state: &ContactState, scene: &DemoScene) {
        let at = pixel(touch.at);
        let colour = colour(state.mode);
        self.dot(at, 11, WHITE, true);
        if state.mode == Mode::Open {
            // the gap: from the corner to the point of contact
            let corner = pixel([touch.at[0], touch.at[1] + touch.gap]);
            self.line(&[at, corner], &colour, 3);
            self.dot(at, 9, colour, false);
        } else {
            self.dot(at, 9, colour, true);
        }
        // numbers stand below, towards the middle, where no arrow begins
        let left = touch.at[0] < scene.crates[touch.above].at[0];
        let shift = if left { 26.0 } else { -26.0 };
        self.text([at[0] + shift, at[1] + 26.0], &i.to_string(), 29.0, colour, HPos::Center, true);
    }

    /// Draws velocity and force of a body as text and arrows.
    fn motion(&mut self, body: &Crate) {
        if body.push != 0.0 {
            let tip = pixel([body.at[0] - 0.5 * body.size[0], body.at[1] + 0.12 * body.size[1]]);
            let tail = [tip[0] - PUSH * body.push, tip[1]];
            self.arrow(tail, [tip[0] - 6.0, tip[1]], INK, 10.0);
            let words = format!("push {:.0} N", body.push);
            self.text([tip[0] - 10.0, tail[1] - 32.0], &words, 28.0, INK, HPos::Right, false);
        }
        let speed = body.velocity[0].hypot(body.velocity[1]);
        if speed > 0.0 {
            let right = body.corners().map(|c| c[0]).into_iter().fold(f64::NEG_INFINITY, f64::max);
            let tail = pixel([right, body.at[1] + 0.3 * body.size[1]]);
            let tail = [tail[0] + 14.0, tail[1]];
            let reach = 82.0;
            let tip =
                [tail[0] + reach * body.velocity[0] / speed, tail[1] - reach * body.velocity[1] / speed];
            self.arrow(tail, tip, SOFT, 5.0);
            let words = format!("{speed:.1} m/s");
            self.text([tail[0], tail[1] - 32.0], &words, 28.0, SOFT, HPos::Left, false);
        }
    }

    fn legend(&mut self) {
        let x = 1530.0;
        let mut y = 235.0;
        for (mode, words) in
            [(Mode::Stick, "stick: holds"), (Mode::Slip, "slip: slides"), (Mode::Open, "open: no impulse")]
        {
            self.dot([x + 42.0, y], 11, colour(mode), mode != Mode::Open);
            self.text([x + 116.0, y], words, 31.0, INK, HPos::Left, false);
            y += 52.0;
        }
        self.arrow([x, y], [x + IMPULSE, y], INK, 8.0);
        self.text([x + 116.0, y], "impulse of 1 N s", 31.0, INK, HPos::Left, false);
        y += 62.0;
        self.cone([x + 42.0, y + 26.0], 52.0, SOFT);
        self.text([x + 116.0, y], &format!("friction cone, μ = {MU}"), 31.0, INK, HPos::Left, false);
    }
}
