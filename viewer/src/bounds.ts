// Bounding boxes of what moves, for the camera.

import { Box3, Vector3 } from 'three';
import type { Bodies } from './bodies';
import type { Frame } from './data';
import type { Timeline } from './timeline';

/** Bodies farther away than this from the middle half of all bodies, relative to the extent of that half, have left. */
const GONE = 20;

/** Box around all bodies that move at the shown poses and the bounded fixed ones near them. */
export function boundsNow(bodies: Bodies): Box3 {
  const box = new Box3();
  const movers = bodies.movers.filter((body) => !bodies.boxes[body].isEmpty());
  const points = movers.map((body) => bodies.centre(body));
  const stays = within(points);
  movers.forEach((body, i) => stays(points[i]) && bodies.corners(body).forEach((p) => box.expandByPoint(p)));
  return finished(bodies, box);
}

/** Box around the bodies during a run: at the start, at a few later times, or where joints and floors let them go. */
export function boundsOfRun(bodies: Bodies, frame: Frame, { frames }: Timeline): Box3 {
  bodies.show(frame);
  const box = boundsNow(bodies);
  const limit = box.clone().expandByScalar(0.6 * box.getSize(new Vector3()).length());
  if (frames.length > 1) {
    for (const share of [0.25, 0.5, 0.75, 1]) {
      const later = frames[Math.round(share * (frames.length - 1))];
      if (later.revision !== frame.revision) continue;
      bodies.show(later);
      for (const body of bodies.movers) {
        // without bodies that leave the scene
        if (limit.containsPoint(bodies.centre(body))) bodies.corners(body).forEach((p) => box.expandByPoint(p));
      }
    }
    bodies.show(frame);
  } else {
    expandToReach(bodies, box);
  }
  return finished(bodies, box);
}

/** Whether a point is not far from most of them. */
function within(points: Vector3[]): (point: Vector3) => boolean {
  if (points.length < 4) return () => true;
  const ranges = [0, 1, 2].map((axis) => {
    const sorted = points.map((p) => p.getComponent(axis)).sort((a, b) => a - b);
    return [sorted[sorted.length >> 2], sorted[(3 * sorted.length) >> 2]];
  });
  const most = GONE * Math.max(...ranges.map(([low, high]) => high - low));
  return (p) => most === 0 || ranges.every(([low, high], i) => p.getComponent(i) > low - most && p.getComponent(i) < high + most);
}

/** Adds fixed bodies and the floor where they are near. */
function finished(bodies: Bodies, box: Box3): Box3 {
  const { description, poses } = bodies;
  const up = description.dimension - 1;
  if (box.isEmpty()) {
    description.bodies.forEach((_, i) => bodies.corners(i).forEach((p) => box.expandByPoint(p)));
  }
  if (box.isEmpty()) return new Box3(new Vector3(-1, -1, 0), new Vector3(1, 1, 0));
  const size = box.getSize(new Vector3()).length() || 1;
  const near = box.clone().expandByScalar(0.5 * size);
  const at = new Vector3();
  description.bodies.forEach((body, i) => {
    if (body.motion !== 'fixed') return;
    const corners = bodies.corners(i);
    if (corners.length > 0 && corners.every((p) => near.containsPoint(p))) corners.forEach((p) => box.expandByPoint(p));
    const floor = body.shapes.find((s) => s.kind === 'half_space' || s.kind === 'half_plane');
    const height = at.setFromMatrixPosition(poses[i]).getComponent(up);
    const least = box.min.getComponent(up);
    if (floor && height < least && height > least - size) box.min.setComponent(up, height);
  });
  return box;
}

/** Extends the box to the reach of hanging bodies. */
function expandToReach(bodies: Bodies, box: Box3): void {
  const { description, poses } = bodies;
  const up = description.dimension - 1;
  for (const joint of description.joints) {
    const side = joint.bodies.findIndex((i) => description.bodies[i].motion === 'fixed');
    if (side < 0) continue;
    const [x, y, z] = joint.frames[side];
    const pivot = new Vector3(x, y, description.dimension === 3 ? z : 0).applyMatrix4(poses[joint.bodies[side]]);
    const first = joint.bodies[1 - side];
    const hanging = hangingOn(bodies, first);
    // a body that is held at another place too does not swing with its neighbours
    const held = description.joints.filter((other) => {
      const [p, q] = other.bodies;
      return hanging.has(p) !== hanging.has(q);
    });
    const swinging = held.length > 1 ? [first] : [...hanging];
    const far = Math.max(0, ...swinging.flatMap((i) => bodies.corners(i).map((p) => p.distanceTo(pivot))));
    const low = pivot.clone().addScalar(-far);
    const high = pivot.clone().addScalar(far).setComponent(up, pivot.getComponent(up));
    if (description.dimension === 2) [low.z, high.z] = [0, 0];
    box.expandByPoint(low).expandByPoint(high);
  }
}

/** Bodies that hang on a body through joints, with itself. */
function hangingOn({ description }: Bodies, first: number): Set<number> {
  const hanging = new Set([first]);
  for (let grown = true; grown; ) {
    grown = false;
    for (const { bodies: [a, b] } of description.joints) {
      for (const [from, to] of [[a, b], [b, a]]) {
        if (hanging.has(from) && !hanging.has(to) && description.bodies[to].motion !== 'fixed') grown = !!hanging.add(to);
      }
    }
  }
  return hanging;
}
