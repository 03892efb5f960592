// Joints, springs, ropes and open gaps, as lines in one draw call.

import { BufferAttribute, BufferGeometry, Color, DynamicDrawUsage, LineBasicMaterial, LineSegments, Matrix4, Vector3 } from 'three';
import type { Bodies } from './bodies';
import type { Frame } from './data';
import { poseMatrix } from './pose';
import type { Stage } from './stage';
import { palette } from './theme';

/** Size of a joint on the screen [px]. */
const JOINT = 8;
/** Distance of the two frames of a joint from which on a line connects them [px]. */
const APART = 1.5;
/** Number of coils of a drawn spring. */
const COILS = 8;
const AXES = ['#d1495b', '#4f9d52', '#3f7cc4'];

export class Lines {
  readonly object: LineSegments;
  joints = true;
  gaps = true;
  /** Spring of the mouse: a point of a body, in its frame, and the target. */
  pull: { body: number; local: Vector3; target: Vector3 } | null = null;
  private position = new Float32Array(3 * 4096);
  private color = new Float32Array(3 * 4096);
  private used = 0;

  constructor() {
    const material = new LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true });
    this.object = new LineSegments(new BufferGeometry(), material);
    this.object.frustumCulled = false;
    this.object.renderOrder = 15;
    this.attach();
  }

  private attach(): void {
    const { geometry } = this.object;
    geometry.setAttribute('position', new BufferAttribute(this.position, 3).setUsage(DynamicDrawUsage));
    geometry.setAttribute('color', new BufferAttribute(this.color, 3).setUsage(DynamicDrawUsage));
  }

  private line(a: Vector3, b: Vector3, color: Color): void {
    if (3 * (this.used + 2) > this.position.length) {
      const [position, shade] = [this.position, this.color];
      this.position = new Float32Array(2 * position.length);
      this.color = new Float32Array(2 * position.length);
      this.position.set(position);
      this.color.set(shade);
      this.object.geometry.dispose();
      this.attach();
    }
    a.toArray(this.position, 3 * this.used);
    b.toArray(this.position, 3 * this.used + 3);
    color.toArray(this.color, 3 * this.used);
    color.toArray(this.color, 3 * this.used + 3);
    this.used += 2;
  }

  show(bodies: Bodies, frame: Frame, stage: Stage): void {
    this.used = 0;
    const ink = new Color(palette().joint);
    const warning = new Color(palette().warning);
    const axes = AXES.map((c) => new Color(c));
    const { description, poses } = bodies;
    const front = stage.dimension === 2 ? 2 * stage.size : 0;
    const lift = (p: Vector3) => (stage.dimension === 2 ? p.setZ(front) : p);
    if (this.joints) {
      for (const joint of description.joints) {
        const frames = joint.bodies.map((body, i) =>
          poseMatrix(joint.frames[i], 0, description.dimension, new Matrix4()).premultiply(poses[body]));
        const [a, b] = frames.map((m) => lift(new Vector3().setFromMatrixPosition(m)));
        const pixel = stage.pixel(a);
        if (joint.kind === 'distance') {
          this.line(a, b, ink);
        } else if (a.distanceTo(b) > APART * pixel && !SLIDES.has(joint.kind)) {
          // a joint with a visible error
          this.line(a, b, warning);
        }
        frames.forEach((frame, i) => this.frame(frame, i === 0 ? a : b, JOINT * pixel, joint.kind, i === 0, ink, axes));
      }
    }
    for (const spring of description.springs) {
      const [a, b] = spring.bodies.map((body, i) => {
        const [x, y, z] = spring.points[i];
        return lift(new Vector3(x, y, z ?? 0).applyMatrix4(poses[body]));
      });
      this.spring(a, b, stage, ink);
    }
    if (this.pull && this.pull.body < poses.length) {
      const held = lift(this.pull.local.clone().applyMatrix4(poses[this.pull.body]));
      this.line(held, lift(this.pull.target.clone()), new Color(palette().modes[1]));
    }
    if (this.gaps) {
      const d = stage.dimension;
      const least = 3 * stage.pixel(stage.controls.target);
      const colors = palette().modes.map((c) => new Color(c));
      frame.eachContact((mode, numbers, i) => {
        const gap = numbers[i + 3 * d + 2];
        // skip gaps that are too small to be seen
        if (Math.abs(gap) < least) return;
        const z = (k: number) => (d === 3 ? numbers[k] : 0);
        const at = lift(new Vector3(numbers[i], numbers[i + 1], z(i + 2)));
        const half = new Vector3(numbers[i + d], numbers[i + d + 1], z(i + d + 2)).multiplyScalar(0.5 * gap);
        this.line(at.clone().sub(half), at.clone().add(half), gap < 0 ? warning : colors[mode]);
      });
    }
    const { geometry } = this.object;
    geometry.setDrawRange(0, this.used);
    for (const name of ['position', 'color']) {
      const attribute = geometry.getAttribute(name) as BufferAttribute;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 3 * this.used);
      attribute.needsUpdate = true;
    }
    this.object.visible = this.used > 0;
  }

  private frame(frame: Matrix4, at: Vector3, size: number, kind: string, first: boolean, ink: Color, axes: Color[]): void {
    const e = frame.elements;
    const direction = [0, 1, 2].map((i) => new Vector3(e[4 * i], e[4 * i + 1], e[4 * i + 2]));
    const tip = (x: number, y: number, z = 0) =>
      at.clone().addScaledVector(direction[0], x).addScaledVector(direction[1], y).addScaledVector(direction[2], z);
    // the axes of the first frame longer than those of the second
    const length = first ? 1.9 * size : 1.3 * size;
    this.line(at, tip(length, 0), axes[0]);
    this.line(at, tip(0, length), axes[1]);
    this.line(tip(0, 0, -0.5 * length), tip(0, 0, length), axes[2]);
    if (!first) return;
    const sides = kind === 'fixed' || kind === 'prismatic' ? 4 : 16;
    for (let k = 0; k < sides; k++) {
      const [p, q] = [k, k + 1].map((i) => {
        const angle = (2 * Math.PI * (i + 0.5)) / sides;
        return tip(0.75 * size * Math.cos(angle), 0.75 * size * Math.sin(angle));
      });
      this.line(p, q, ink);
    }
  }

  private spring(a: Vector3, b: Vector3, stage: Stage, ink: Color): void {
    const along = b.clone().sub(a);
    const length = along.length();
    if (length === 0) return;
    const eye = new Vector3(0, 0, 1).applyQuaternion(stage.camera.quaternion);
    const across = along.clone().cross(eye).normalize().multiplyScalar(5 * stage.pixel(a));
    let last = a;
    for (let k = 1; k <= 2 * COILS; k++) {
      const next = a.clone().addScaledVector(along, k / (2 * COILS));
      if (k > 1 && k < 2 * COILS) next.addScaledVector(across, k % 2 === 0 ? 1 : -1);
      this.line(last, next, ink);
      last = next;
    }
  }
}

/** Joints whose origins may be apart. */
const SLIDES = new Set(['prismatic', 'cylindrical', 'planar', 'distance']);
