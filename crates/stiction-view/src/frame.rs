//! Frame of a run as bytes for the page, from a state and its step report; the same live and recorded.
//!
//! Numbers are little-endian with 32 bits, except the time.
//!
//! | bytes | content |
//! |---|---|
//! | 4, 4 | revision of the description, number of the step |
//! | 8, 4 | time, step size [s] |
//! | 4, 4 | kinetic, potential energy [J] |
//! | 4, 4 | infeasibility [m], worst residual of the certificate: largest since the last frame |
//! | 4, 4, 4 | number of bodies that are not fixed, of contacts, of quantities; 2³¹ beside the last if contacts have intervals |
//! | 12 or 28 each | poses: x, y, angle; in space x, y, z and the quaternion i, j, k, w |
//! | 4 each | quantities of the description, such as forces of joints; NaN where a report has none |
//! | 48 or 60 each | contacts: the two bodies (2 bytes each), mode, and 256 beside it if the force is not determined, point, normal, friction impulse, then normal impulse, friction bound [N s], gap [m], slip [m/s] |
//! | 24 more each | with intervals: least and greatest impulse along the normal and both tangents [N s]; NaN if not examined |

use crate::describe::Description;
use crate::quantity;
use stiction::{BodyId, ContactReport, Mode, Model, State, StepReport};

/// Flag beside the mode of a contact whose force is not determined.
const UNDETERMINED: usize = 256;

/// Flag beside the number of quantities of a frame whose contacts have intervals.
const INTERVALS: usize = 1 << 31;

/// Step report that a frame shows, with what the steps since the last frame add to it.
#[derive(Debug, Clone, Copy)]
pub struct FrameReport<'a> {
    /// Number of the step; 0 at the start.
    pub step: u32,
    /// Infeasibility I(q) [m].
    pub infeasibility: f64,
    /// Worst residual of the certificate.
    pub certificate: f64,
    /// Report.
    pub report: &'a StepReport,
}

impl<'a> FrameReport<'a> {
    /// Numbers of a step report.
    pub fn of(step: u32, report: &'a StepReport) -> Self {
        Self { step, infeasibility: report.infeasibility, certificate: report.certificate.worst(), report }
    }
}

/// Bytes of a frame under construction.
struct FrameBytes(Vec<u8>);

impl FrameBytes {
    fn count(&mut self, n: usize) {
        self.0.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn index(&mut self, n: usize) {
        self.0.extend(u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes());
    }

    #[expect(clippy::cast_possible_truncation, reason = "32 bits are enough for a picture")]
    fn number(&mut self, x: f64) {
        self.0.extend((x as f32).to_le_bytes());
    }

    fn numbers(&mut self, all: &[f64]) {
        all.iter().for_each(|&x| self.number(x));
    }
}

/// Encodes a frame.
pub fn frame(model: &Model, description: &Description, state: &State, shown: &FrameReport) -> Vec<u8> {
    let report = shown.report;
    let moving: Vec<BodyId> =
        description.bodies.iter().filter(|body| body.motion != "fixed").map(|body| body.id).collect();
    // contacts of bodies that are not drawn are left out
    let indices = |contact: &ContactReport| {
        let [a, b] = contact.bodies.map(|number| description.place(number));
        Some([a?, b?])
    };
    let contacts: Vec<_> = report.contacts.iter().filter_map(|c| Some((c, indices(c)?))).collect();

    let quantities = quantity::values(model, description, state, report);
    let size = 48 + 28 * moving.len() + 4 * quantities.len() + 60 * contacts.len();
    let mut out = FrameBytes(Vec::with_capacity(size));
    out.count(description.revision as usize);
    out.count(shown.step as usize);
    out.0.extend(state.t.to_le_bytes());
    out.numbers(&[report.h, report.kinetic, report.potential, shown.infeasibility, shown.certificate]);
    out.count(moving.len());
    out.count(contacts.len());
    out.count(quantities.len() + if report.intervals.is_some() { INTERVALS } else { 0 });
    for body in moving {
        let pose = model.pose(state, body);
        let (at, [w, i, j, k]) = pose.map_or(([0.0; 3], [1.0, 0.0, 0.0, 0.0]), |p| (p.position, p.quat_wxyz));
        match model.angle(state, body) {
            Some(angle) => out.numbers(&[at[0], at[1], angle]),
            None => out.numbers(&[at[0], at[1], at[2], i, j, k, w]),
        }
    }
    out.numbers(&quantities);
    let d = model.dimension();
    for (contact, [a, b]) in contacts {
        out.index(a);
        out.index(b);
        let own = report.interval(contact.id);
        let determined = own.map_or(contact.determined, |own| Some(own.is_determined()));
        let mode = match contact.mode {
            Mode::Open => 0,
            Mode::Stick => 1,
            Mode::Slip => 2,
        };
        out.count(if determined == Some(false) { UNDETERMINED + mode } else { mode });
        out.numbers(&contact.point[..d]);
        out.numbers(&contact.normal[..d]);
        out.numbers(&contact.friction_impulse[..d]);
        out.number(contact.normal_impulse);
        out.number(contact.mu * contact.normal_impulse);
        out.number(contact.gap);
        out.number(contact.slip.iter().map(|x| x * x).sum::<f64>().sqrt());
        if report.intervals.is_some() {
            let bounds = own.map_or([[f64::NAN; 2]; 3], |own| [own.normal, own.friction[0], own.friction[1]]);
            bounds.iter().for_each(|bounds| out.numbers(bounds));
        }
    }
    out.0
}
