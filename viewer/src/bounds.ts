// Bounding box of a run, for the camera.

import { Box3, Vector3 } from 'three';
import type { Bodies } from './bodies';
import type { Frame } from './data';
import type { Timeline } from './timeline';

/** Box around the bodies at a few times, without bodies that leave the scene. */
export function bounds(bodies: Bodies, frame: Frame, { frames }: Timeline): Box3 {
  const box = new Box3();
  const at = new Vector3();
  const add = (k: number) => {
    const radius = bodies.radii[k];
    if (radius === 0) return;
    at.setFromMatrixPosition(bodies.poses[k]);
    const reach = new Vector3(radius, radius, radius);
    box.expandByPoint(at.clone().sub(reach)).expandByPoint(at.clone().add(reach));
  };
  bodies.show(frame);
  bodies.poses.forEach((_, k) => add(k));
  const size = box.getSize(new Vector3()).length();
  const limit = box.clone().expandByScalar(0.6 * size);
  for (const share of [0.25, 0.5, 0.75, 1]) {
    const later = frames[Math.round(share * (frames.length - 1))];
    if (later.revision !== frame.revision) continue;
    bodies.show(later);
    bodies.poses.forEach((pose, k) => {
      if (limit.containsPoint(at.setFromMatrixPosition(pose))) add(k);
    });
  }
  reach(bodies, frames[0], box);
  return box.isEmpty() ? new Box3(new Vector3(-1, -1, 0), new Vector3(1, 1, 0)) : box;
}

/** Extends the box to the floor that bodies fall on and to the reach of hanging bodies. */
function reach(bodies: Bodies, first: Frame, box: Box3): void {
  const { description, poses, radii } = bodies;
  const up = description.dimension - 1;
  const size = box.getSize(new Vector3()).length();
  const at = new Vector3();
  bodies.show(first);
  description.bodies.forEach((body, i) => {
    const floor = body.shapes.find((s) => s.kind === 'half_space' || s.kind === 'half_plane');
    const height = at.setFromMatrixPosition(poses[i]).getComponent(up);
    const least = box.min.getComponent(up);
    if (floor && height < least && height > least - 3 * size) box.min.setComponent(up, height);
  });
  for (const joint of description.joints) {
    const side = joint.bodies.findIndex((i) => description.bodies[i].motion === 'fixed');
    if (side < 0) continue;
    const [x, y, z] = joint.frames[side];
    const pivot = new Vector3(x, y, description.dimension === 3 ? z : 0).applyMatrix4(poses[joint.bodies[side]]);
    // all bodies that hang on it, also through other joints
    const hanging = new Set([joint.bodies[1 - side]]);
    for (let grown = true; grown; ) {
      grown = false;
      for (const { bodies: [a, b] } of description.joints) {
        for (const [from, to] of [[a, b], [b, a]]) {
          if (hanging.has(from) && !hanging.has(to) && description.bodies[to].motion !== 'fixed') grown = !!hanging.add(to);
        }
      }
    }
    const far = Math.max(...[...hanging].map((i) => at.setFromMatrixPosition(poses[i]).distanceTo(pivot) + radii[i]));
    const low = pivot.clone().addScalar(-far);
    const high = pivot.clone().addScalar(far).setComponent(up, pivot.getComponent(up));
    if (description.dimension === 2) [low.z, high.z] = [0, 0];
    box.expandByPoint(low).expandByPoint(high);
  }
}
