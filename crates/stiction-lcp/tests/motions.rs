//! All motions of small problems: unique ones, two, none, and a continuum.

use stiction_lcp::motions::{FoundMotions, ModeChoice, MotionsError, all_motions};
use stiction_lcp::{Body, Contact, FrictionSet, Mode, OffsetRow, Row, StepProblem};

const G: f64 = 9.81;

fn row(j: &[f64]) -> OffsetRow {
    OffsetRow { row: Row::one(0, j), offset: 0.0 }
}

fn contact(normal: OffsetRow, tangents: &[OffsetRow], mu: f64) -> Contact {
    let set = if tangents.len() == 2 { FrictionSet::circle() } else { FrictionSet::line() };
    let tangents = tangents.iter().cloned().collect();
    Contact { normal: Some(normal), tangents, set, mu, kappa: 0.0, bound_by: None }
}

/// Motions, each with an acceleration.
fn accelerations(found: &FoundMotions, k: usize) -> Vec<f64> {
    let mut all: Vec<f64> = found.motions.iter().map(|m| m.v[k]).collect();
    all.sort_by(f64::total_cmp);
    all
}

fn assert_near(found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{found:?} {expected:?}");
    for (a, b) in found.iter().zip(expected) {
        assert!((a - b).abs() < 1e-7, "{found:?} {expected:?}");
    }
}

/// Block on an incline: it sticks below the angle of friction and slips above, in every direction the same in space.
#[test]
fn a_block_on_an_incline_has_one_motion() {
    for (slope, expected) in [(0.3, 0.0), (0.8, G * (0.8 - 0.5))] {
        let mut step = StepProblem::default();
        step.bodies.push(Body::new(2, &[2.0, 0.0, 0.0, 2.0], &[2.0 * G * slope, -2.0 * G]));
        step.contacts.push(contact(row(&[0.0, 1.0]), &[row(&[1.0, 0.0])], 0.5));
        let found = all_motions(&step, &[ModeChoice::Any]).unwrap();
        assert!(found.is_unique() && found.exhaustive && found.patterns == 4, "{found:?}");
        assert_near(&accelerations(&found, 0), &[expected]);
        // the same in space, down a direction of 30°
        let mut space = StepProblem::default();
        let mass = [2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0];
        let (sin, cos) = 30_f64.to_radians().sin_cos();
        let momentum = [2.0 * G * slope * cos, 2.0 * G * slope * sin, -2.0 * G];
        space.bodies.push(Body::new(3, &mass, &momentum));
        let tangents = [row(&[1.0, 0.0, 0.0]), row(&[0.0, 1.0, 0.0])];
        space.contacts.push(contact(row(&[0.0, 0.0, 1.0]), &tangents, 0.5));
        let found = all_motions(&space, &[ModeChoice::Any]).unwrap();
        assert!(found.is_unique() && !found.exhaustive, "{found:?}");
        assert_near(&accelerations(&found, 0), &[expected * cos]);
        assert_near(&accelerations(&found, 1), &[expected * sin]);
    }
}

/// Table on four legs: forces are not unique, the motion is.
#[test]
fn forces_that_are_not_unique_cause_one_motion() {
    let mut step = StepProblem::default();
    step.bodies.push(Body::new(3, &[4.0, 0.0, 0.0, 0.0, 4.0, 0.0, 0.0, 0.0, 1.0], &[0.0, -4.0 * G, 0.0]));
    for x in [-1.0, -0.3, 0.4, 1.0] {
        step.contacts.push(contact(row(&[0.0, 1.0, x]), &[row(&[1.0, 0.0, 0.5])], 0.5));
    }
    let found = all_motions(&step, &[ModeChoice::Any; 4]).unwrap();
    assert!(found.is_unique() && found.patterns == 256, "{} {}", found.motions.len(), found.undecided);
    assert!(found.motions[0].v.iter().all(|a| a.abs() < 1e-9));
}

/// Body between two jaws that are held in place: it is held or falls, and slides with any acceleration in between.
#[test]
fn a_locked_grasp_holds_or_falls() {
    let mut step = StepProblem::default();
    step.bodies.push(Body::new(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, -G]));
    for side in [1.0, -1.0] {
        step.contacts.push(contact(row(&[side, 0.0]), &[row(&[0.0, 1.0])], 0.5));
    }
    let found = all_motions(&step, &[ModeChoice::Any; 2]).unwrap();
    assert!(found.continuum && found.exhaustive && found.undecided == 0 && !found.is_unique());
    assert_near(&accelerations(&found, 1), &[-G, 0.0]);
    let held = found.motions.iter().find(|m| m.v[1].abs() < 1e-6).unwrap();
    assert!(held.modes.iter().all(|mode| mode.mode == Mode::Stick), "{held:?}");
    // without friction it falls
    step.contacts.iter_mut().for_each(|c| c.mu = 0.0);
    let found = all_motions(&step, &[ModeChoice::Any; 2]).unwrap();
    assert!(found.is_unique());
    assert_near(&accelerations(&found, 1), &[-G]);
}

/// Painlevé's rod of mass 1 and length 2, one end on a table with friction 2, at 1 rad from it, rotating at `omega` with
/// its end slipping to the left: q = (x, y, θ), normal acceleration ÿ − cos θ θ̈ + sin θ ω² of the end.
fn painleve(omega: f64) -> FoundMotions {
    let (sin, cos) = 1_f64.sin_cos();
    let mut step = StepProblem::default();
    step.bodies.push(Body::new(3, &[1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0 / 3.0], &[0.0, -G, 0.0]));
    let normal = OffsetRow { row: Row::one(0, &[0.0, 1.0, -cos]), offset: sin * omega * omega };
    let tangent = OffsetRow { row: Row::one(0, &[1.0, 0.0, sin]), offset: cos * omega * omega };
    step.contacts.push(contact(normal, &[tangent], 2.0));
    all_motions(&step, &[ModeChoice::Slips([1.0, 0.0])]).unwrap()
}

/// The normal acceleration is −g + sin θ ω² + N (1 + 3 cos θ (cos θ − μ sin θ)): the factor of N is −0.85. Above
/// sin θ ω² = g the end takes off or presses; below there is no motion.
#[test]
fn painleves_rod_has_two_motions_or_none() {
    let (sin, cos) = 1_f64.sin_cos();
    let factor = 1.0 + 3.0 * cos * (cos - 2.0 * sin);
    assert!(factor < 0.0);
    let found = painleve(5.0);
    assert!(found.exhaustive && !found.continuum && found.patterns == 2 && found.undecided == 0);
    let forces: Vec<f64> = found.motions.iter().map(|m| m.z[0]).collect();
    assert_near(&forces, &[0.0, (25.0 * sin - G) / -factor]);
    assert_eq!(found.motions[0].modes[0].mode, Mode::Open);
    assert_eq!(found.motions[1].modes[0].mode, Mode::Slip);
    for omega in [0.0, 1.0, 2.0] {
        assert!(painleve(omega).motions.is_empty());
    }
}

#[test]
fn problems_beyond_the_search_are_refused() {
    let mut step = StepProblem::default();
    step.bodies.push(Body::new(2, &[1.0, 0.0, 0.0, 1.0], &[0.0, -G]));
    step.contacts = vec![contact(row(&[0.0, 1.0]), &[row(&[1.0, 0.0])], 0.5); 7];
    let refused = all_motions(&step, &[ModeChoice::Any; 7]).unwrap_err();
    assert_eq!(refused, MotionsError::TooMany(7));
    assert_eq!(refused.to_string(), "7 contacts, limits and drives: all motions of at most 6 can be tried");
    let refused = all_motions(&step, &[]).unwrap_err().to_string();
    assert_eq!(refused, "choices: 0 choices, for 7 contacts");
    step.contacts.truncate(1);
    step.contacts[0].tangents = vec![row(&[1.0, 0.0]); 3].into_iter().collect();
    step.contacts[0].set = FrictionSet::circle();
    let refused = all_motions(&step, &[ModeChoice::Any]).unwrap_err().to_string();
    assert_eq!(refused, "all motions with torsional or rolling friction are not sought");
}
