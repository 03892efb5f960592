//! System whose contacts are the events of the paper, on a planar or spatial model.

use super::event::{GapForm, ShapePair, rho};
use super::{plane, space};
use nalgebra::Matrix6;
use stiction::planar;
use stiction::spatial;
use stiction::{
    ContactQuery, ContactRow, ForceJacobian, Forces, JacobianKind, JointRow, Memory, SearchCache, State,
    System,
};
use stiction_lcp::Row;

/// Model of a scene, planar or spatial.
#[derive(Debug, Clone)]
pub enum EitherModel {
    /// Polygons on a half-plane.
    Planar(planar::Model),
    /// Polyhedra on a half-space.
    Spatial(spatial::Model),
}

impl EitherModel {
    /// Initial state.
    pub fn state(&self) -> State {
        match self {
            Self::Planar(model) => model.state(),
            Self::Spatial(model) => model.state(),
        }
    }

    fn system(&self) -> &dyn System {
        match self {
            Self::Planar(model) => model,
            Self::Spatial(model) => model,
        }
    }
}

/// System whose contacts are near-active events of the ratio metric. HA10 (4.14)
#[derive(Debug, Clone)]
pub struct Polyhedra {
    /// Model of the bodies.
    pub bodies: EitherModel,
    /// Gap function of the rows.
    pub form: GapForm,
    /// Depth of the centre of the floor, about which it is scaled, below its surface [m].
    pub depth: f64,
    /// Whether friction is bounded by the normal impulse. Otherwise it is bounded by the multiplier of ∇ρ, as printed in
    /// HA10 (4.11): then the coefficient is μ L r² and depends on the positions of the centres.
    pub normalized: bool,
}

impl Polyhedra {
    /// Least ρ of a pair of bodies [1]; infinite without pairs.
    pub fn least_rho(&self, state: &State) -> f64 {
        self.meetings(state).iter().map(|m| rho(m.r)).fold(f64::INFINITY, f64::min)
    }

    fn meetings(&self, state: &State) -> Vec<ShapePair> {
        let mut meetings = Vec::new();
        match &self.bodies {
            EitherModel::Planar(model) => plane::meetings(model, state, self.depth, &mut meetings),
            EitherModel::Spatial(model) => space::meetings(model, state, self.depth, &mut meetings),
        }
        meetings
    }
}

impl System for Polyhedra {
    fn contacts(
        &self,
        t: f64,
        q: &[f64],
        near: &ContactQuery,
        cache: &mut SearchCache,
        out: &mut Vec<ContactRow>,
    ) {
        if self.form == GapForm::Gap {
            return self.bodies.system().contacts(t, q, near, cache, out);
        }
        out.clear();
        let velocities = self.bodies().iter().sum();
        let state = State { t, q: q.to_vec(), v: vec![0.0; velocities], memory: Memory::default() };
        for meeting in self.meetings(&state) {
            let reach = if near.wanted.contains(&meeting.pair) { f64::INFINITY } else { near.max_gap };
            let rows = meeting.near_active().map(|event| meeting.row(event, self.form, self.normalized));
            out.extend(rows.filter(|row| row.gap <= reach));
        }
    }

    // the rest is that of the model

    fn bodies(&self) -> &[usize] {
        self.bodies.system().bodies()
    }

    fn coordinate_count(&self) -> usize {
        self.bodies.system().coordinate_count()
    }

    fn advance(&self, q: &mut [f64], v: &[f64], h: f64) {
        self.bodies.system().advance(q, v, h);
    }

    fn rates(&self, q: &[f64], v: &[f64], out: &mut Vec<f64>) {
        self.bodies.system().rates(q, v, out);
    }

    fn normalize(&self, q: &mut [f64]) {
        self.bodies.system().normalize(q);
    }

    fn to_start_axes(&self, v: &[f64], h: f64, row: &mut Row) {
        self.bodies.system().to_start_axes(v, h, row);
    }

    fn mass(&self, body: usize) -> Matrix6<f64> {
        self.bodies.system().mass(body)
    }

    fn forces(&self, t: f64, q: &[f64], v: &[f64], out: &mut Forces) {
        self.bodies.system().forces(t, q, v, out);
    }

    fn gyroscopic(&self, body: usize, v: &[f64]) -> Option<Matrix6<f64>> {
        self.bodies.system().gyroscopic(body, v)
    }

    fn jacobian(&self, t: f64, q: &[f64], v: &[f64], out: &mut ForceJacobian) {
        self.bodies.system().jacobian(t, q, v, out);
    }

    fn jacobian_kind(&self) -> JacobianKind {
        self.bodies.system().jacobian_kind()
    }

    fn joints(&self, t: f64, q: &[f64], out: &mut Vec<JointRow>) {
        self.bodies.system().joints(t, q, out);
    }

    fn surface_speed(&self, t: f64, q: &[f64], v: &[f64]) -> f64 {
        self.bodies.system().surface_speed(t, q, v)
    }

    fn prescribed_speed(&self, t: f64) -> f64 {
        self.bodies.system().prescribed_speed(t)
    }

    fn size(&self) -> f64 {
        self.bodies.system().size()
    }

    fn gravity(&self) -> f64 {
        self.bodies.system().gravity()
    }

    fn potential(&self, t: f64, q: &[f64]) -> f64 {
        self.bodies.system().potential(t, q)
    }

    fn momentum(&self, q: &[f64], v: &[f64]) -> ([f64; 3], [f64; 3]) {
        self.bodies.system().momentum(q, v)
    }
}
