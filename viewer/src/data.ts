// Data of the page: the description of the scene and its frames, as crates/stiction-view writes them.

/** Description of a scene as it is drawn. */
export interface Description {
  revision: number;
  name: string;
  dimension: 2 | 3;
  /** Gravity [m/s²]. */
  gravity: number[];
  bodies: Body[];
  joints: Joint[];
  springs: Spring[];
  /** Quantities that every frame has beside its bodies and contacts, in their order. */
  quantities: Quantity[];
  /** Contacts have forces at the instant of a frame, not impulses over a step. */
  forces: boolean;
}

/** Recorded quantity of a joint or of the whole scene. */
export interface Quantity {
  /** Joint, sensor or kind of energy that it belongs to. */
  of: string;
  name: string;
  unit: string;
}

export interface Body {
  name: string;
  motion: 'rigid' | 'point' | 'slider' | 'fixed' | 'kinematic';
  /** Pose at the start: x, y, angle, or x, y, z and a quaternion x, y, z, w [m; rad]. */
  pose: number[];
  shapes: Shape[];
}

/** A shape with its pose in the body frame. */
export type Shape = { pose: number[]; sensor: boolean; friction: number; restitution: number } & ShapeKind;

export type ShapeKind =
  | { kind: 'disk'; radius: number }
  | { kind: 'ellipse'; semi_axes: number[] }
  | { kind: 'polygon'; vertices: number[][]; rounding: number }
  | { kind: 'half_plane' }
  | { kind: 'capsule'; half_length: number; radius: number }
  | { kind: 'sphere'; radius: number }
  | { kind: 'ellipsoid'; semi_axes: number[] }
  | { kind: 'box'; half_extents: number[]; rounding: number }
  | { kind: 'cylinder'; half_length: number; radius: number; rounding: number }
  | { kind: 'cone'; half_length: number; radius: number; rounding: number }
  | { kind: 'polyhedron'; vertices: number[][]; facets: number[][]; rounding: number }
  | { kind: 'half_space' };

export interface Joint {
  name: string;
  kind: string;
  /** Numbers of the bodies in the description. */
  bodies: [number, number];
  /** Frames in the bodies, as poses. */
  frames: [number[], number[]];
}

export interface Spring {
  bodies: [number, number];
  points: [number[], number[]];
}

export const OPEN = 0;
export const STICK = 1;
export const SLIP = 2;
export type Mode = 0 | 1 | 2;
/** Flag beside the mode of a contact whose force is not determined. */
const UNDETERMINED = 256;
/** Flag beside the number of quantities of a frame whose contacts have intervals. */
const INTERVALS = 2 ** 31;

const HEADER = 48;

/** Frame of a run, decoded from its bytes on demand. */
export class Frame {
  readonly revision: number;
  readonly t: number;
  /** Size of the step [s]; 0 at the start. */
  readonly h: number;
  readonly step: number;
  readonly kinetic: number;
  readonly potential: number;
  readonly infeasibility: number;
  readonly certificate: number;
  readonly contactCount: number;
  /** Poses of the bodies that are not fixed, one after the other. */
  readonly poses: Float32Array;
  /** Values of the quantities of the description. */
  readonly quantities: Float32Array;
  private readonly view: DataView;
  private readonly contactsAt: number;
  /** Contacts have the intervals of their forces. */
  readonly hasIntervals: boolean;

  constructor(buffer: ArrayBuffer, offset: number, readonly dimension: 2 | 3) {
    const view = new DataView(buffer, offset);
    this.view = view;
    this.revision = view.getUint32(0, true);
    this.step = view.getUint32(4, true);
    this.t = view.getFloat64(8, true);
    this.h = view.getFloat32(16, true);
    this.kinetic = view.getFloat32(20, true);
    this.potential = view.getFloat32(24, true);
    this.infeasibility = view.getFloat32(28, true);
    this.certificate = view.getFloat32(32, true);
    const bodies = view.getUint32(36, true);
    this.contactCount = view.getUint32(40, true);
    const poses = bodies * (dimension === 2 ? 3 : 7);
    this.poses = new Float32Array(buffer, offset + HEADER, poses);
    const word = view.getUint32(44, true);
    this.hasIntervals = word >= INTERVALS;
    const quantities = word % INTERVALS;
    this.quantities = new Float32Array(buffer, offset + HEADER + 4 * poses, quantities);
    this.contactsAt = HEADER + 4 * (poses + quantities);
  }

  /** Bytes of the whole frame. */
  get size(): number {
    return this.contactsAt + this.contactCount * this.stride;
  }

  /** Bytes of a contact. */
  private get stride(): number {
    return (this.dimension === 2 ? 48 : 60) + (this.hasIntervals ? 24 : 0);
  }

  private middle = -1;

  /** Median normal force of the closed contacts [N]. */
  get typical(): number {
    if (this.middle < 0) {
      const forces = new Float32Array(this.contactCount);
      let bearing = 0;
      this.eachContact((_, numbers, at) => {
        const impulse = numbers[at + 3 * this.dimension];
        if (impulse > 0) forces[bearing++] = impulse / (this.h || 1);
      });
      this.middle = forces.subarray(0, bearing).sort()[bearing >> 1] ?? 0;
    }
    return this.middle;
  }

  /**
   * Visits every contact without allocation: its mode, the index of its first number, the point, its bodies, and whether
   * its force is determined.
   */
  eachContact(visit: (mode: Mode, numbers: Float32Array, at: number, a: number, b: number, determined: boolean) => void): void {
    const stride = this.stride / 4;
    const from = this.view.byteOffset + this.contactsAt;
    const { buffer } = this.view;
    const numbers = new Float32Array(buffer, from, this.contactCount * stride);
    const words = new Uint32Array(buffer, from, this.contactCount * stride);
    for (let i = 0, at = 0; i < this.contactCount; i++, at += stride) {
      const [bodies, word] = [words[at], words[at + 1]];
      visit((word % UNDETERMINED) as Mode, numbers, at + 2, bodies & 0xffff, bodies >>> 16, word < UNDETERMINED);
    }
  }

  contact(i: number): Contact {
    const d = this.dimension;
    const at = this.contactsAt + i * this.stride;
    const view = this.view;
    const vector = (k: number): [number, number, number] => {
      const from = at + 8 + 4 * k * d;
      const z = d === 3 ? view.getFloat32(from + 8, true) : 0;
      return [view.getFloat32(from, true), view.getFloat32(from + 4, true), z];
    };
    const number = (k: number) => view.getFloat32(at + 8 + 4 * (3 * d + k), true);
    const word = view.getUint32(at + 4, true);
    const interval = (k: number): [number, number] => [number(4 + 2 * k), number(5 + 2 * k)];
    const examined = this.hasIntervals && !Number.isNaN(number(4));
    return {
      bodies: [view.getUint16(at, true), view.getUint16(at + 2, true)],
      mode: (word % UNDETERMINED) as Mode,
      determined: word < UNDETERMINED,
      intervals: examined ? [interval(0), interval(1), interval(2)].slice(0, d) : null,
      point: vector(0),
      normal: vector(1),
      friction: vector(2),
      impulse: number(0),
      bound: number(1),
      gap: number(2),
      slip: number(3),
    };
  }
}

/** Contact; impulses act on the second body. */
export interface Contact {
  bodies: [number, number];
  mode: Mode;
  /** No other force causes the same motion; true where that was not examined. */
  determined: boolean;
  /** Least and greatest impulse along the normal and the tangents [N s], if they were found. */
  intervals: [number, number][] | null;
  /** [m] */
  point: [number, number, number];
  normal: [number, number, number];
  /** Friction impulse [N s]. */
  friction: [number, number, number];
  /** Normal impulse [N s]. */
  impulse: number;
  /** Friction bound μ N [N s]. */
  bound: number;
  /** [m] */
  gap: number;
  /** Speed of slip [m/s]. */
  slip: number;
}

/** Data embedded in the page: the scene, and the frames of a recorded run. */
export async function embedded(): Promise<{ descriptions: Description[]; frames: Frame[] | null } | null> {
  const description = document.getElementById('description')?.textContent;
  if (!description) return null;
  const descriptions = JSON.parse(description) as Description[];
  const packed = document.getElementById('frames')?.textContent;
  if (!packed) return { descriptions, frames: null };
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  const buffer = await new Response(stream).arrayBuffer();
  const frames: Frame[] = [];
  for (let at = 0; at + HEADER <= buffer.byteLength; ) {
    const frame = new Frame(buffer, at, descriptions[0].dimension);
    frames.push(frame);
    at += frame.size;
  }
  return { descriptions, frames };
}
