// Contact points, and forces as arrows on both bodies; colour and shape show the friction mode. Forces that are not
// determined are hatched, with a bar from the least to the greatest.

import {
  BufferGeometry, CircleGeometry, Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, Float32BufferAttribute,
  Group, InstancedBufferAttribute, InstancedMesh, MeshBasicMaterial, RingGeometry, Vector3,
} from 'three';
import { OPEN, STICK, type Contact, type Frame } from './data';
import type { Stage } from './stage';
import { palette } from './theme';

/** Sizes on the screen [px]. */
const POINT = 3.6;
const SHAFT = 1.1;
const HEAD = 3.6;
/** Length of a dash and of the gap after it [px]. */
const DASH = 5;
/** Width of the bar of an interval, and half the length of the strokes at its ends [px]. */
const BAR = 0.5;
const STROKE = 4;
/** Limit on the screen size of points and arrows, relative to the radius of a body. */
const CROWD = 32;
/** Length of the arrow of the typical force: in sizes of a body, and its limits on the screen [px]. */
const USUAL = 0.8;
const USUAL_RANGE = [14, 46];
/** Length of the longest arrow, relative to that of the typical force. */
const LONGEST = 2.4;
/** Thickness of the reaction, relative to the action: it is told apart from it. */
const REACTION = 0.55;

/** Buffer of instances that change in every frame, written without allocation: there may be thousands. */
class Pool {
  readonly group = new Group();
  private mesh: InstancedMesh;
  private matrices!: Float32Array;
  private colors!: Float32Array;
  private used = 0;

  constructor(private readonly geometry: BufferGeometry, private readonly order: number) {
    this.mesh = this.make(64);
  }

  private make(capacity: number): InstancedMesh {
    const vertexColors = this.geometry.hasAttribute('color');
    const material = new MeshBasicMaterial({ depthTest: false, depthWrite: false, transparent: true, opacity: 0.92, vertexColors });
    const mesh = new InstancedMesh(this.geometry, material, capacity);
    mesh.instanceColor = new InstancedBufferAttribute(new Float32Array(3 * capacity), 3);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.instanceColor.setUsage(DynamicDrawUsage);
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    mesh.count = 0;
    this.matrices = mesh.instanceMatrix.array as Float32Array;
    this.colors = mesh.instanceColor.array as Float32Array;
    this.group.add(mesh);
    return mesh;
  }

  clear(): void {
    this.used = 0;
  }

  /** Second axes and positions of the instances. */
  instances(): { along: number[]; at: number[] }[] {
    const m = this.matrices;
    return Array.from({ length: this.used }, (_, k) => ({
      along: [...m.subarray(16 * k + 4, 16 * k + 7)],
      at: [...m.subarray(16 * k + 12, 16 * k + 15)],
    }));
  }

  /** Adds an instance with axes x, y, z (three numbers each) at a position. */
  add(
    xx: number, xy: number, xz: number, yx: number, yy: number, yz: number, zx: number, zy: number, zz: number,
    x: number, y: number, z: number, color: Color,
  ): void {
    if (16 * this.used === this.matrices.length) this.grow();
    const m = this.matrices;
    const i = 16 * this.used;
    m[i] = xx;
    m[i + 1] = xy;
    m[i + 2] = xz;
    m[i + 4] = yx;
    m[i + 5] = yy;
    m[i + 6] = yz;
    m[i + 8] = zx;
    m[i + 9] = zy;
    m[i + 10] = zz;
    m[i + 12] = x;
    m[i + 13] = y;
    m[i + 14] = z;
    m[i + 15] = 1;
    const k = 3 * this.used;
    this.colors[k] = color.r;
    this.colors[k + 1] = color.g;
    this.colors[k + 2] = color.b;
    this.used += 1;
  }

  private grow(): void {
    const { mesh, matrices, colors } = this;
    this.mesh = this.make(2 * this.used);
    this.matrices.set(matrices);
    this.colors.set(colors);
    this.group.remove(mesh);
    mesh.dispose();
  }

  finish(): void {
    const { mesh, used } = this;
    mesh.count = used;
    mesh.visible = used > 0;
    for (const [attribute, items] of [[mesh.instanceMatrix, 16], [mesh.instanceColor!, 3]] as const) {
      // upload only the used part
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, items * used);
      attribute.needsUpdate = true;
    }
  }
}

/** A flat glyph with a dark rim. */
function rimmed(segments: number, turn: number): BufferGeometry {
  const inner = new CircleGeometry(1, segments, turn).toNonIndexed();
  const outer = new RingGeometry(1, 1.3, segments, 1, turn).toNonIndexed();
  const geometry = new BufferGeometry();
  const position = [...inner.getAttribute('position').array, ...outer.getAttribute('position').array];
  geometry.setAttribute('position', new Float32BufferAttribute(position, 3));
  const count = inner.getAttribute('position').count;
  const color = Array.from({ length: position.length }, (_, i) => (i < 3 * count ? 1 : 0.12));
  geometry.setAttribute('color', new Float32BufferAttribute(color, 3));
  return geometry;
}

/** Unit vector across a unit vector; it avoids the coordinate axis most parallel to it. */
function across(x: number, y: number, z: number): [number, number, number] {
  const [ax, ay, az] = Math.abs(x) < 0.6 ? [0, z, -y] : [-z, 0, x];
  const norm = Math.sqrt(ax * ax + ay * ay + az * az) || 1;
  return [ax / norm, ay / norm, az / norm];
}

export class Contacts {
  readonly group = new Group();
  /** Length of an arrow per force [m/N]. */
  scale = 0;
  points = true;
  arrows = true;
  /** Draws the reaction on the first body too. */
  reactions = true;
  private frame: Frame | null = null;
  private longest = 0;
  private readonly glyphs = [
    new Pool(new RingGeometry(0.7, 1.1, 14), 20),
    new Pool(rimmed(14, 0), 21),
    new Pool(rimmed(4, 0), 22),
  ];
  private readonly shafts = new Pool(new CylinderGeometry(1, 1, 1, 6, 1, true).translate(0, 0.5, 0), 18);
  /** Tails of the arrows: three numbers each. */
  private readonly tails: number[] = [];
  private readonly heads = new Pool(new ConeGeometry(1, 2.4, 10, 1).translate(0, -1.2, 0), 19);
  private colors: Color[] = [];
  private readonly at = new Vector3();

  constructor() {
    for (const pool of [...this.glyphs, this.shafts, this.heads]) this.group.add(pool.group);
    this.paint();
  }

  paint(): void {
    this.colors = palette().modes.map((c) => new Color(c));
  }

  get count(): number {
    return this.frame?.contactCount ?? 0;
  }

  /** Draws the contacts of a frame, scaled by the typical force [N], the view and the size of a body [m]. */
  show(frame: Frame, stage: Stage, usual: number, radius: number): void {
    this.frame = frame;
    const pools = [...this.glyphs, this.shafts, this.heads];
    pools.forEach((pool) => pool.clear());
    this.tails.length = 0;
    const view = stage.pixel(stage.controls.target);
    const length = Math.max(USUAL_RANGE[0] * view, Math.min(USUAL * radius, USUAL_RANGE[1] * view));
    this.scale = usual > 0 ? length / usual : 0;
    this.longest = LONGEST * length;
    const perImpulse = this.scale / (frame.h || 1);
    const flat = stage.dimension === 2;
    const [u, v, w] = [new Vector3(1, 0, 0), new Vector3(0, 1, 0), new Vector3(0, 0, 1)]
      .map((axis) => axis.applyQuaternion(stage.camera.quaternion));
    const { at } = this;
    frame.eachContact((mode, numbers, i, _a, _b, determined) => {
      // point, normal, friction, then the normal impulse
      const d = stage.dimension;
      at.set(numbers[i], numbers[i + 1], flat ? 2 * stage.size : numbers[i + 2]);
      // seen from afar, points are smaller than their size on the screen
      const pixel = Math.min(stage.pixel(at), radius / CROWD);
      const color = this.colors[mode];
      if (this.arrows && mode !== OPEN) {
        const z = (k: number) => (flat ? 0 : numbers[k]);
        const thin = Math.min(pixel, 0.06 * length);
        const [nx, ny, nz] = [numbers[i + d], numbers[i + d + 1], z(i + d + 2)];
        if (!determined && frame.hasIntervals) {
          const [least, greatest] = [numbers[i + 3 * d + 4], numbers[i + 3 * d + 5]];
          this.bar(nx, ny, nz, least * perImpulse, greatest * perImpulse, thin, color);
        }
        this.pair(nx, ny, nz, numbers[i + 3 * d] * perImpulse, thin, color, !determined);
        const [fx, fy, fz] = [numbers[i + 2 * d], numbers[i + 2 * d + 1], z(i + 2 * d + 2)];
        const friction = Math.sqrt(fx * fx + fy * fy + fz * fz);
        if (friction > 0) this.pair(fx / friction, fy / friction, fz / friction, friction * perImpulse, thin, color, !determined);
      }
      if (this.points) {
        const s = (mode === OPEN ? 0.7 : mode === STICK ? 1 : 1.15) * POINT * pixel;
        this.glyphs[mode].add(s * u.x, s * u.y, s * u.z, s * v.x, s * v.y, s * v.z, s * w.x, s * w.y, s * w.z, at.x, at.y, at.z, color);
      }
    });
    pools.forEach((pool) => pool.finish());
  }

  /** Draws the force on the second body and, thinner, its reaction on the first. */
  private pair(x: number, y: number, z: number, wanted: number, pixel: number, color: Color, hatched: boolean): void {
    this.arrow(x, y, z, wanted, pixel, color, hatched);
    if (this.reactions) this.arrow(-x, -y, -z, wanted, REACTION * pixel, color, hatched);
  }

  /**
   * Draws an arrow from the contact along a unit vector; its length [m] is limited, because impacts would cross the screen.
   * A hatched one has a shaft of dashes.
   */
  private arrow(
    x: number, y: number, z: number, wanted: number, pixel: number, color: Color, hatched: boolean,
  ): void {
    const length = Math.min(wanted, this.longest);
    // skip arrows shorter than their head
    if (!(length > HEAD * pixel)) return;
    const head = HEAD * pixel;
    const shaft = Math.max(length - 2.4 * head, 0.2 * head);
    const { at } = this;
    const step = hatched ? DASH * pixel : shaft;
    for (let from = 0; from < shaft; from += 2 * step) {
      this.stroke(x, y, z, from, Math.min(from + step, shaft), SHAFT * pixel, color);
    }
    const [ax, ay, az] = across(x, y, z);
    const [bx, by, bz] = [y * az - z * ay, z * ax - x * az, x * ay - y * ax];
    const tip = shaft + 2.4 * head;
    this.tails.push(at.x, at.y, at.z);
    this.heads.add(
      head * ax, head * ay, head * az, head * x, head * y, head * z, head * bx, head * by, head * bz,
      at.x + tip * x, at.y + tip * y, at.z + tip * z, color,
    );
  }

  /** Draws a piece of the line from the contact along a unit vector, from and to distances [m], with a radius [m]. */
  private stroke(x: number, y: number, z: number, from: number, to: number, s: number, color: Color): void {
    const [ax, ay, az] = across(x, y, z);
    const [bx, by, bz] = [y * az - z * ay, z * ax - x * az, x * ay - y * ax];
    const { at } = this;
    const [dx, dy, dz] = [(to - from) * x, (to - from) * y, (to - from) * z];
    this.shafts.add(
      s * ax, s * ay, s * az, dx, dy, dz, s * bx, s * by, s * bz, at.x + from * x, at.y + from * y, at.z + from * z, color,
    );
  }

  /** Draws the bar of an interval, with strokes across its ends; an end beyond the longest arrow has none. */
  private bar(x: number, y: number, z: number, least: number, greatest: number, pixel: number, color: Color): void {
    const end = Math.min(greatest, this.longest);
    // an interval of nothing, or one that was not found
    if (!(end - Math.max(least, 0) > pixel)) return;
    this.stroke(x, y, z, Math.max(least, 0), end, BAR * pixel, color);
    for (const at of greatest > this.longest ? [least] : [least, greatest]) {
      const half = 0.5 * SHAFT * pixel;
      if (at >= 0) this.stroke(x, y, z, at - half, at + half, STROKE * pixel, color);
    }
  }

  /** The contact nearest to a point of the canvas, within reach [px]. */
  near(x: number, y: number, reach: number, stage: Stage): Contact | null {
    let best = -1;
    let least = reach;
    let place = -1;
    this.frame?.eachContact((mode, numbers, i) => {
      place += 1;
      const p = stage.project(this.at.set(numbers[i], numbers[i + 1], stage.dimension === 3 ? numbers[i + 2] : 0));
      // prefer closed contacts among those about as near
      const distance = Math.hypot(p.x - x, p.y - y) + (mode === OPEN ? 3 : 0);
      if (p.ahead && distance < least) {
        best = place;
        least = distance;
      }
    });
    return best >= 0 ? this.frame!.contact(best) : null;
  }

  /** Arrows from tail to tip [m]. */
  drawn(): number[][] {
    return this.heads.instances().map(({ at }, k) => at.map((x, i) => x - this.tails[3 * k + i]));
  }

  /** Point of a contact in the world [m]. */
  point(contact: Contact): Vector3 {
    return new Vector3(...contact.point);
  }

  /** First contact of two bodies, or `null`. */
  between(a: number, b: number): Contact | null {
    for (let i = 0; i < this.count; i++) {
      const contact = this.frame!.contact(i);
      if (contact.bodies[0] === a && contact.bodies[1] === b) return contact;
    }
    return null;
  }

  /** First closed contact. */
  bearing(): Contact | null {
    for (let i = 0; i < this.count; i++) {
      const contact = this.frame!.contact(i);
      if (contact.mode !== OPEN) return contact;
    }
    return null;
  }
}
