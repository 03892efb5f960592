//! Whole runs until all bodies are at rest: final infeasibility, and snapshots. HA10 Figures 4, 7 and 9

use super::event::GapForm;
use super::line;
use super::run::{Ha10Method, Ha10Run};
use super::scenes::Ha10Scene;
use super::system::{EitherModel, Polyhedra};
use crate::{ExperimentError, Figure, FigureContent, Outline, Reproduction, Snapshot};
use nalgebra::{Isometry3, Point2, Point3, Vector3};
use std::collections::BTreeMap;
use stiction::{Scheme, State, planar, spatial};
use stiction_geometry::spatial::Polyhedron;

/// Step size [s].
const REST_STEP: f64 = 0.01;

/// Times of the snapshots [s]: as many as in the paper and the last at its time, the others while the bodies move here.
fn moments(scene: Ha10Scene) -> &'static [f64] {
    match scene {
        Ha10Scene::Balance2 => &[0.0, 0.4, 0.6, 0.8, 1.2, 12.0],
        Ha10Scene::Pyramid1 => &[0.0, 0.3, 1.4, 1.9, 2.4, 10.0],
        Ha10Scene::Dice3 => &[0.0, 0.6, 0.9, 3.0],
        Ha10Scene::Block => &[0.0, 2.0],
    }
}

/// Runs a scene until it is at rest.
pub fn run(scene: Ha10Scene, method: Ha10Method) -> Result<Ha10Run, ExperimentError> {
    watched(scene, &method, |_, _| ())
}

fn watched(
    scene: Ha10Scene,
    method: &Ha10Method,
    watch: impl FnMut(&Polyhedra, &State),
) -> Result<Ha10Run, ExperimentError> {
    let time = moments(scene).last().copied().unwrap_or(0.0);
    Ha10Run::watched(scene, 0, *method, REST_STEP, time, watch)
}

/// Measurements at the end of each scene, and its figures.
pub(super) fn reproduce(out: &mut Reproduction) -> Result<(), ExperimentError> {
    for (scene, name, title) in [
        (Ha10Scene::Balance2, "ha10-balance2-frames", "HA10 Fig. 4: Balance2"),
        (Ha10Scene::Pyramid1, "ha10-pyramid1-frames", "HA10 Fig. 7: Pyramid1"),
        (Ha10Scene::Dice3, "ha10-dice3-frames", "HA10 Fig. 9: Dice3"),
    ] {
        for (case, method) in [
            ("Φ = ρ", Ha10Method::paper(GapForm::Rho, 1.0, true)),
            ("Φ = r − 1", Ha10Method::paper(GapForm::Ratio, 1.0, true)),
            ("own gap, first order", Ha10Method::own(Scheme::first_order())),
        ] {
            let mut frames = Vec::new();
            let due = moments(scene);
            let end = watched(scene, &method, |system, state| {
                if due.get(frames.len()).is_some_and(|&t| state.t > t - 0.5 * REST_STEP) {
                    frames.push(frame(system, state));
                }
            })?;
            let case = format!("{}, {case}, h = {REST_STEP}", scene.name());
            let mut add = |quantity, value| out.lines.push(line("whole runs", &case, quantity, value));
            add("kinetic energy at the end [J]", end.kinetic);
            add("largest max(0, −ρ)", end.most);
            add("max(0, −ρ) at the end", end.last);
            add("largest residual of a certificate", end.residual);
            if method.form == GapForm::Rho {
                let content = FigureContent::Snapshots(frames);
                out.figures.push(Figure { name: name.into(), title: title.into(), content });
            }
        }
    }
    Ok(())
}

fn frame(system: &Polyhedra, state: &State) -> Snapshot {
    let outlines = match &system.bodies {
        EitherModel::Planar(model) => polygons(model, state),
        EitherModel::Spatial(model) => polyhedra(model, state),
    };
    Snapshot { t: state.t, outlines, colours: Vec::new() }
}

/// Polygons of a state, and the part of the floor below them.
fn polygons(model: &planar::Model, state: &State) -> Vec<Outline> {
    let mut outlines = Vec::new();
    for (id, _) in model.world().bodies() {
        let Some(pose) = model.pose(state, id) else { continue };
        for (_, attached) in model.world().shapes(id) {
            if let planar::Shape::Polygon(polygon) = &attached.shape {
                let place = |v: &Point2<f64>| (pose * attached.pose * v).coords.into();
                outlines
                    .push(Outline { closed: true, points: polygon.vertices().iter().map(place).collect() });
            }
        }
    }
    let along = || outlines.iter().flat_map(|o: &Outline| &o.points).map(|p: &[f64; 2]| p[0]);
    let (left, right) = (along().fold(f64::INFINITY, f64::min), along().fold(f64::NEG_INFINITY, f64::max));
    outlines.insert(0, Outline { closed: false, points: vec![[left - 0.2, 0.0], [right + 0.2, 0.0]] });
    outlines
}

/// Polyhedra of a state seen from the right, front and above: silhouettes and visible edges.
fn polyhedra(model: &spatial::Model, state: &State) -> Vec<Outline> {
    let eye = Vector3::new(0.5, -1.0, 0.5).normalize();
    let right = Vector3::z().cross(&eye).normalize();
    let up = eye.cross(&right);
    let seen = |p: &Point3<f64>| [right.dot(&p.coords), up.dot(&p.coords)];
    let floor = [[-1.0, -1.2], [2.2, -1.2], [2.2, 1.2], [-1.0, 1.2]];
    let points = floor.iter().map(|[x, y]| seen(&Point3::new(*x, *y, 0.0))).collect();
    let mut outlines = vec![Outline { closed: true, points }];
    let mut edges = Vec::new();
    for (id, _) in model.world().bodies() {
        let Some(pose) = model.pose(state, id) else { continue };
        for (_, attached) in model.world().shapes(id) {
            if let spatial::Shape::Polyhedron(polyhedron) = &attached.shape {
                let (silhouette, inner) = visible(polyhedron, &(pose * attached.pose), &eye);
                outlines.push(Outline { closed: true, points: silhouette.iter().map(seen).collect() });
                edges.extend(
                    inner
                        .iter()
                        .map(|edge| Outline { closed: false, points: edge.iter().map(seen).collect() }),
                );
            }
        }
    }
    // bodies keep their order, and so their colours
    outlines.extend(edges);
    outlines
}

/// Corners of the silhouette of a polyhedron in order, and the edges between two visible facets.
fn visible(
    polyhedron: &Polyhedron,
    pose: &Isometry3<f64>,
    eye: &Vector3<f64>,
) -> (Vec<Point3<f64>>, Vec<[Point3<f64>; 2]>) {
    let faces = |facet: usize| (pose * polyhedron.normals()[facet]).dot(eye) > 0.0;
    let place = |corner: u32| pose * polyhedron.vertices()[corner as usize];
    let mut rim = BTreeMap::new();
    let mut inner = Vec::new();
    for facet in (0..polyhedron.normals().len()).filter(|&f| faces(f)) {
        let corners = polyhedron.corners(facet);
        for (i, &across) in polyhedron.neighbours(facet).iter().enumerate() {
            let (from, to) = (corners[i], corners[(i + 1) % corners.len()]);
            if !faces(across as usize) {
                rim.insert(from, to);
            } else if facet < across as usize {
                inner.push([place(from), place(to)]);
            }
        }
    }
    let mut silhouette = Vec::new();
    let mut at = rim.keys().next().copied();
    while let Some(corner) = at {
        silhouette.push(place(corner));
        at = rim.remove(&corner).filter(|next| rim.contains_key(next));
    }
    (silhouette, inner)
}
