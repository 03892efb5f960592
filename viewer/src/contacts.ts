// Contact points, and impulses as arrows: colour and form tell the mode.

import {
  BufferGeometry, CircleGeometry, Color, ConeGeometry, CylinderGeometry, DynamicDrawUsage, Float32BufferAttribute,
  Group, InstancedMesh, Matrix4, MeshBasicMaterial, Quaternion, RingGeometry, Vector3,
} from 'three';
import { OPEN, type Contact, type Frame } from './data';
import type { Stage } from './stage';
import { palette } from './theme';

/** Sizes on the screen [px]. */
const POINT = 3.6;
const SHAFT = 1.1;
const HEAD = 3.6;
/** Length of an arrow of the usual force and of the longest one, in radii of a body. */
const USUAL = 0.6;
const LONGEST = 3;

const UP = new Vector3(0, 1, 0);

/** Instances that come and go. */
class Pool {
  readonly group = new Group();
  private mesh: InstancedMesh;
  private used = 0;

  constructor(private readonly geometry: BufferGeometry, private readonly order: number) {
    this.mesh = this.make(64);
  }

  private make(capacity: number): InstancedMesh {
    const material = new MeshBasicMaterial({ depthTest: false, depthWrite: false, transparent: true, opacity: 0.92, vertexColors: this.geometry.hasAttribute('color') });
    const mesh = new InstancedMesh(this.geometry, material, capacity);
    mesh.instanceMatrix.setUsage(DynamicDrawUsage);
    mesh.setColorAt(0, new Color());
    mesh.frustumCulled = false;
    mesh.renderOrder = this.order;
    mesh.count = 0;
    this.group.add(mesh);
    return mesh;
  }

  clear(): void {
    this.used = 0;
  }

  add(matrix: Matrix4, color: Color): void {
    const { mesh } = this;
    if (this.used === mesh.instanceMatrix.count) {
      this.mesh = this.make(2 * this.used);
      this.mesh.instanceMatrix.array.set(mesh.instanceMatrix.array);
      this.mesh.instanceColor!.array.set(mesh.instanceColor!.array);
      this.group.remove(mesh);
      mesh.dispose();
    }
    this.mesh.setMatrixAt(this.used, matrix);
    this.mesh.setColorAt(this.used, color);
    this.used += 1;
  }

  finish(): void {
    this.mesh.count = this.used;
    this.mesh.visible = this.used > 0;
    this.mesh.instanceMatrix.needsUpdate = true;
    this.mesh.instanceColor!.needsUpdate = true;
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

export class Contacts {
  readonly group = new Group();
  /** The contacts that are shown. */
  shown: Contact[] = [];
  /** Length of an arrow per force [m/N]. */
  scale = 0;
  private longest = 0;
  points = true;
  arrows = true;
  private readonly glyphs = [
    new Pool(new RingGeometry(0.7, 1.1, 20), 20),
    new Pool(rimmed(20, 0), 21),
    new Pool(rimmed(4, 0), 22),
  ];
  private readonly shafts = new Pool(new CylinderGeometry(1, 1, 1, 8).translate(0, 0.5, 0), 18);
  private readonly heads = new Pool(new ConeGeometry(1, 2.4, 12).translate(0, -1.2, 0), 19);
  private colors: Color[] = [];
  private readonly matrix = new Matrix4();
  private readonly at = new Vector3();
  private readonly along = new Vector3();
  private readonly turn = new Quaternion();
  private readonly stretch = new Vector3();

  constructor() {
    for (const pool of [...this.glyphs, this.shafts, this.heads]) this.group.add(pool.group);
    this.paint();
  }

  paint(): void {
    this.colors = palette().modes.map((c) => new Color(c));
  }

  /** Draws the contacts of a frame, where forces are usually of a size [N] and bodies of a radius [m]. */
  show(frame: Frame, stage: Stage, usual: number, radius: number): void {
    this.shown = Array.from({ length: frame.contactCount }, (_, i) => frame.contact(i));
    const pools = [...this.glyphs, this.shafts, this.heads];
    pools.forEach((pool) => pool.clear());
    this.scale = usual > 0 ? (USUAL * radius) / usual : 0;
    this.longest = LONGEST * radius;
    const perImpulse = this.scale / (frame.h || 1);
    for (const contact of this.shown) {
      this.at.set(...contact.point);
      if (stage.dimension === 2) this.at.z = 2 * stage.size;
      const pixel = stage.pixel(this.at);
      const color = this.colors[contact.mode];
      if (this.arrows && contact.mode !== OPEN) {
        this.arrow(contact.normal, contact.impulse * perImpulse, pixel, color);
        const friction = Math.hypot(...contact.friction);
        if (friction > 0) this.arrow(contact.friction, friction * perImpulse, pixel, color);
      }
      if (this.points) {
        const size = (contact.mode === OPEN ? 0.7 : contact.mode === 2 ? 1.15 : 1) * POINT * pixel;
        this.matrix.compose(this.at, stage.camera.quaternion, this.stretch.setScalar(size));
        this.glyphs[contact.mode].add(this.matrix, color);
      }
    }
    pools.forEach((pool) => pool.finish());
  }

  /** An arrow from where the contact is, along a direction, of a length [m]; an impact would cross the screen. */
  private arrow(direction: [number, number, number], wanted: number, pixel: number, color: Color): void {
    const length = Math.min(wanted, this.longest);
    // what is shorter than its head is not drawn
    if (!(length > HEAD * pixel)) return;
    this.along.set(...direction).normalize();
    this.turn.setFromUnitVectors(UP, this.along);
    const head = HEAD * pixel;
    const shaft = Math.max(length - 2.4 * head, 0.2 * head);
    this.matrix.compose(this.at, this.turn, this.stretch.set(SHAFT * pixel, shaft, SHAFT * pixel));
    this.shafts.add(this.matrix, color);
    const tip = this.along.multiplyScalar(shaft + 2.4 * head).add(this.at);
    this.matrix.compose(tip, this.turn, this.stretch.setScalar(head));
    this.heads.add(this.matrix, color);
  }

  /** The contact nearest to a point of the canvas, within reach [px]. */
  near(x: number, y: number, reach: number, stage: Stage): Contact | null {
    let best: Contact | null = null;
    let least = reach;
    for (const contact of this.shown) {
      const p = stage.project(this.at.set(...contact.point));
      // what bears is preferred where several are about as near
      const distance = Math.hypot(p.x - x, p.y - y) + (contact.mode === OPEN ? 3 : 0);
      if (p.ahead && distance < least) {
        best = contact;
        least = distance;
      }
    }
    return best;
  }
}
