//! Intervals of the contact forces at the end of a run, for its summary.

use super::plan::RunPlan;
use serde::Serialize;
use std::fmt::Write;
use stiction::{Mode, StepReport};

/// Contacts listed in the text at most; JSON has all of them.
const MAX_LISTED: usize = 24;

/// Forces of a contact in the last step, with their bounds [N]. A bound that does not exist is null in JSON.
#[derive(Debug, Clone, Serialize)]
pub(super) struct ContactBounds {
    bodies: [String; 2],
    feature: u32,
    mode: Mode,
    normal: f64,
    normal_interval: Option<[f64; 2]>,
    /// Friction along each tangent, with its bounds.
    friction: Vec<FrictionBounds>,
    /// Forces without a bound; `None` where they were not examined.
    locked: Option<bool>,
    /// No other force causes the same motion; `None` where that was not examined.
    determined: Option<bool>,
}

#[derive(Debug, Clone, Serialize)]
struct FrictionBounds {
    tangent: [f64; 3],
    force: f64,
    interval: [f64; 2],
}

/// Bounds of all contacts of a report; `None` where it was not asked for intervals.
pub(super) fn bounds(plan: &RunPlan, report: &StepReport) -> Option<Vec<ContactBounds>> {
    report.intervals.as_ref()?;
    let of = |contact: &stiction::ContactReport| {
        let own = report.interval(contact.id).map(|own| own.over(report.h));
        let force = contact.force(report.h).friction;
        let along = |t: [f64; 3]| (0..3).map(|k| t[k] * force[k]).sum::<f64>();
        let axes = own.iter().flat_map(|own| own.tangents.into_iter().zip(own.friction));
        let axes = axes.filter(|(tangent, _)| *tangent != [0.0; 3]);
        let names = plan.model.contact_names(contact.id).unwrap_or(["", ""]);
        ContactBounds {
            bodies: names.map(str::to_string),
            feature: contact.id.feature,
            mode: contact.mode,
            normal: contact.normal_force(report.h),
            normal_interval: own.map(|own| own.normal),
            friction: axes
                .map(|(tangent, interval)| FrictionBounds { tangent, force: along(tangent), interval })
                .collect(),
            locked: own.map(|own| own.is_locked()),
            determined: own.map(|own| own.is_determined()),
        }
    };
    Some(report.contacts.iter().map(of).collect())
}

/// Lines of the summary: what is determined, and the contacts with their bounds.
pub(super) fn lines(all: &[ContactBounds]) -> Vec<String> {
    let count = |is: &dyn Fn(&ContactBounds) -> bool| all.iter().filter(|c| is(c)).count();
    let (known, locked) = (count(&|c| c.determined == Some(true)), count(&|c| c.locked == Some(true)));
    let mut lines = vec![format!(
        "at the end {known} of {} have forces that are determined, {locked} are locked",
        crate::count(all.len(), "contact", "contacts")
    )];
    lines.extend(all.iter().take(MAX_LISTED).map(ContactBounds::line));
    if all.len() > MAX_LISTED {
        lines.push(format!("and {} more, which --json lists", all.len() - MAX_LISTED));
    }
    lines
}

impl ContactBounds {
    fn line(&self) -> String {
        let [a, b] = &self.bodies;
        let mut text = format!("{a}–{b} {}: normal {} N", self.feature, force(self.normal));
        let Some(normal) = self.normal_interval else { return text + ", not examined" };
        text += &within(normal);
        for FrictionBounds { force: own, interval, .. } in &self.friction {
            let _ = write!(text, ", friction {} N{}", force(*own), within(*interval));
        }
        if self.locked == Some(true) {
            text += ", locked";
        }
        text
    }
}

/// Force with six digits, without a sign in front of a value that rounds to zero.
fn force(x: f64) -> String {
    let text = format!("{x:.5}");
    if text.trim_start_matches('-').chars().all(|c| c == '0' || c == '.') { "0".to_string() } else { text }
}

/// Interval in words; nothing where it is one value.
fn within([least, greatest]: [f64; 2]) -> String {
    let bound = |x: f64| if x.is_infinite() { "no bound".to_string() } else { force(x) };
    if bound(least) == bound(greatest) {
        return String::new();
    }
    format!(" ({} to {})", bound(least), bound(greatest))
}
