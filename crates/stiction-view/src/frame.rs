//! One moment of a run as the page is told it: bytes, the same in a recorded run and in a live one.
//!
//! All numbers are little-endian, and as exact as a picture needs: 32 bits, but for the time.
//!
//! | bytes | what |
//! |---|---|
//! | 4, 4 | revision of the description, number of the step |
//! | 8, 4 | time, step size [s] |
//! | 4, 4 | kinetic, potential energy [J] |
//! | 4, 4 | infeasibility [m], worst residual of the certificate: the largest since the frame before |
//! | 4, 4, 4 | bodies that are not fixed, contacts, nothing yet |
//! | 12 or 28 each | poses: x, y, angle; in space x, y, z and the quaternion i, j, k, w |
//! | 48 or 60 each | contacts: the two bodies (2 bytes each), mode, point, normal, friction impulse, then normal impulse, bound of friction [N s], gap [m], slip [m/s] |

use crate::describe::Description;
use stiction::{BodyId, ContactReport, Mode, Model, State, StepReport};

/// What a frame says of a step besides the state: numbers of its report.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seen<'a> {
    /// Number of the step; 0 at the start.
    pub step: u32,
    /// Size of the step [s].
    pub h: f64,
    /// Kinetic energy [J].
    pub kinetic: f64,
    /// Potential energy [J].
    pub potential: f64,
    /// I(q) [m].
    pub infeasibility: f64,
    /// The worst residual.
    pub certificate: f64,
    /// The contacts.
    pub contacts: &'a [ContactReport],
}

impl<'a> Seen<'a> {
    /// What a step reports.
    pub fn of(step: u32, report: &'a StepReport) -> Self {
        Self {
            step,
            h: report.h,
            kinetic: report.kinetic,
            potential: report.potential,
            infeasibility: report.infeasibility,
            certificate: report.certificate.worst(),
            contacts: &report.contacts,
        }
    }
}

struct Bytes(Vec<u8>);

impl Bytes {
    fn count(&mut self, n: usize) {
        self.0.extend(u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes());
    }

    fn place(&mut self, n: usize) {
        self.0.extend(u16::try_from(n).unwrap_or(u16::MAX).to_le_bytes());
    }

    #[expect(clippy::cast_possible_truncation, reason = "as exact as a picture needs")]
    fn number(&mut self, x: f64) {
        self.0.extend((x as f32).to_le_bytes());
    }

    fn numbers(&mut self, all: &[f64]) {
        all.iter().for_each(|&x| self.number(x));
    }
}

/// The bytes of a frame.
pub fn frame(model: &Model, description: &Description, state: &State, seen: &Seen) -> Vec<u8> {
    let moving: Vec<BodyId> =
        description.bodies.iter().filter(|body| body.motion != "fixed").map(|body| body.id).collect();
    // contacts of bodies that are not drawn are not either
    let places = |contact: &ContactReport| {
        let [a, b] = contact.bodies.map(|body| description.place(body));
        Some([a?, b?])
    };
    let contacts: Vec<_> = seen.contacts.iter().filter_map(|c| Some((c, places(c)?))).collect();

    let mut out = Bytes(Vec::with_capacity(48 + 28 * moving.len() + 60 * contacts.len()));
    out.count(description.revision as usize);
    out.count(seen.step as usize);
    out.0.extend(state.t.to_le_bytes());
    out.numbers(&[seen.h, seen.kinetic, seen.potential, seen.infeasibility, seen.certificate]);
    out.count(moving.len());
    out.count(contacts.len());
    out.count(0);
    for body in moving {
        let pose = model.pose(state, body);
        let (at, [w, i, j, k]) = pose.map_or(([0.0; 3], [1.0, 0.0, 0.0, 0.0]), |p| (p.position, p.quat_wxyz));
        match model.angle(state, body) {
            Some(angle) => out.numbers(&[at[0], at[1], angle]),
            None => out.numbers(&[at[0], at[1], at[2], i, j, k, w]),
        }
    }
    let d = model.dimension();
    for (contact, [a, b]) in contacts {
        out.place(a);
        out.place(b);
        out.count(match contact.mode {
            Mode::Open => 0,
            Mode::Stick => 1,
            Mode::Slip => 2,
        });
        out.numbers(&contact.point[..d]);
        out.numbers(&contact.normal[..d]);
        out.numbers(&contact.friction_impulse[..d]);
        out.number(contact.normal_impulse);
        out.number(contact.mu * contact.normal_impulse);
        out.number(contact.gap);
        out.number(contact.slip.iter().map(|x| x * x).sum::<f64>().sqrt());
    }
    out.0
}
