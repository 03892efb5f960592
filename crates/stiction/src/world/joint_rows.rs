//! Rows over one or two bodies, and the writer of joint rows.

use super::joint::Motor;
use crate::id::JointId;
use crate::system::{JointRow, RowKind};
use arrayvec::ArrayVec;
use std::f64::consts::TAU;
use stiction_lcp::{Row, Term};

/// Relative speed of two bodies as a row, with the speed that prescribed motion contributes.
#[derive(Debug, Clone, Default)]
pub struct SpeedRow {
    /// Terms of the moving bodies.
    pub terms: ArrayVec<Term, 2>,
    /// Speed of prescribed motion [m/s].
    pub drift: f64,
}

impl SpeedRow {
    /// Row of the opposite speed.
    #[must_use]
    pub fn reversed(&self) -> Self {
        let turned = |t: &Term| Term { body: t.body, j: t.j.map(|x| -x) };
        Self { terms: self.terms.iter().map(turned).collect(), drift: -self.drift }
    }

    /// `true` when no moving body enters it.
    pub fn is_empty(&self) -> bool {
        self.terms.is_empty()
    }

    /// Largest coefficient.
    pub fn largest(&self) -> f64 {
        self.terms.iter().flat_map(|t| t.j).fold(0.0, |m, x| m.max(x.abs()))
    }

    /// Row without its drift.
    pub fn into_row(self) -> Row {
        Row::Bodies(self.terms)
    }
}

/// Values that a state holds for a joint coordinate besides the poses.
#[derive(Debug, Clone, Copy, Default)]
pub struct JointMemory {
    /// Motor with its command.
    pub motor: Option<Motor>,
    /// Angle at the last step, turns counted [rad]; `None` where turns are not counted.
    pub turn: Option<f64>,
}

impl JointMemory {
    /// Angle with as many turns as bring it nearest to that of the last step.
    pub fn counted(&self, angle: f64) -> f64 {
        self.turn.map_or(angle, |last| angle + TAU * ((last - angle) / TAU).round())
    }
}

/// Joint coordinate and the row of its speed.
#[derive(Debug, Clone)]
pub struct JointCoordinate {
    /// Value [rad; m].
    pub value: f64,
    /// Metres of the row per unit of the coordinate [m/rad; 1].
    pub scale: f64,
    /// Row: the speed of the coordinate times the scale [m/s].
    pub row: SpeedRow,
    /// Change of the speed of the row at constant velocities [m/s²]; NaN where it is not known.
    pub rate: f64,
}

/// Writer of joint rows into storage that is used again: rows are large, so they are made in place.
pub struct JointRowWriter<'a> {
    rows: &'a mut Vec<JointRow>,
    rates: Option<&'a mut Vec<f64>>,
    written: usize,
}

impl<'a> JointRowWriter<'a> {
    /// Writer that replaces `rows`, and `rates` where they are asked for: the change of the speed of each row at
    /// constant velocities [m/s²].
    pub fn replacing(rows: &'a mut Vec<JointRow>, mut rates: Option<&'a mut Vec<f64>>) -> Self {
        if let Some(rates) = &mut rates {
            rates.clear();
        }
        Self { rows, rates, written: 0 }
    }

    /// Writes the next row as it is.
    pub(crate) fn add_row(
        &mut self,
        joint: JointId,
        [error, drift]: [f64; 2],
        kind: RowKind,
        rate: f64,
        row: Row,
    ) {
        self.rows.truncate(self.written);
        self.rows.push(JointRow { joint, row, error, drift, kind });
        self.written += 1;
        if let Some(rates) = &mut self.rates {
            rates.push(rate);
        }
    }

    /// Writes the next row, whose terms `fill` adds.
    pub fn add(
        &mut self,
        joint: JointId,
        [error, drift]: [f64; 2],
        kind: RowKind,
        rate: f64,
        fill: impl FnOnce(&mut ArrayVec<Term, 2>),
    ) {
        if let Some(row) = self.rows.get_mut(self.written)
            && let Row::Bodies(terms) = &mut row.row
        {
            (row.joint, row.error, row.drift, row.kind) = (joint, error, drift, kind);
            terms.clear();
            fill(terms);
        } else {
            let mut terms = ArrayVec::new();
            fill(&mut terms);
            self.rows.truncate(self.written);
            self.rows.push(JointRow { joint, row: Row::Bodies(terms), error, drift, kind });
        }
        self.written += 1;
        if let Some(rates) = &mut self.rates {
            rates.push(rate);
        }
    }
}

impl Drop for JointRowWriter<'_> {
    /// Removes the rows that were not replaced.
    fn drop(&mut self) {
        self.rows.truncate(self.written);
    }
}
