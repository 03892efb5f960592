// Colours of bodies by a quantity: material, speed, or the force of their contacts.

import { Color } from 'three';
import type { Bodies } from './bodies';
import type { Description, Frame, Shape } from './data';
import { poseLength } from './pose';
import { ramp } from './theme';
import type { Timeline } from './timeline';

export type ShadeName = 'body' | 'material' | 'speed' | 'force';

export const SHADES: Record<ShadeName, { words: string; unit: string }> = {
  body: { words: 'body', unit: '' },
  material: { words: 'friction μ of the surface', unit: '' },
  speed: { words: 'speed', unit: 'm/s' },
  force: { words: 'sum of contact forces', unit: 'N' },
};

/** Frames that the range of a quantity is taken from. */
const SAMPLES = 48;
/** Time between two computations of the range [ms]. */
const RANGE_INTERVAL = 700;

/** Sum of the sizes of normal and friction forces on a body [N]. */
export function bodyForce(frame: Frame, body: number): number {
  let sum = 0;
  frame.eachContact((_, numbers, i, a, b) => {
    if (a !== body && b !== body) return;
    sum += numbers[i + 3 * frame.dimension];
  });
  return sum / (frame.h || 1);
}

/** Mean speed of the centre of a moving body between two frames [m/s]; `place` counts the bodies that are not fixed. */
export function bodySpeed(frame: Frame, before: Frame | undefined, place: number): number {
  if (!before || before.revision !== frame.revision || before.t >= frame.t) return NaN;
  const at = place * poseLength(frame.dimension);
  let square = 0;
  for (let k = 0; k < frame.dimension; k++) square += (frame.poses[at + k] - before.poses[at + k]) ** 2;
  return Math.sqrt(square) / (frame.t - before.t);
}

export class Shading {
  name: ShadeName = 'body';
  /** Range of the colours, in the unit of the quantity. */
  range: [number, number] = [0, 1];
  private values = new Float32Array(0);
  private ranged = -Infinity;
  private readonly color = new Color();

  /** Chooses the colours of bodies anew. */
  apply(bodies: Bodies): void {
    this.ranged = -Infinity;
    if (this.name === 'body') {
      bodies.shadeBy(null);
      return;
    }
    if (this.name === 'material') {
      this.range = frictionRange(bodies.description);
      bodies.shadeBy((_, shape: Shape) => this.at(shape.friction));
      return;
    }
    this.values = new Float32Array(bodies.poses.length);
  }

  /** Colours of a frame, where they change with time. */
  show(bodies: Bodies, timeline: Timeline): void {
    const { shown } = timeline;
    if (!shown || (this.name !== 'speed' && this.name !== 'force')) return;
    if (this.values.length !== bodies.poses.length) this.values = new Float32Array(bodies.poses.length);
    const now = performance.now();
    if (now - this.ranged > RANGE_INTERVAL) {
      this.ranged = now;
      let most = 0;
      const { frames } = timeline;
      const every = Math.max(1, Math.floor(frames.length / SAMPLES));
      const peaks: number[] = [];
      for (let i = 0; i < frames.length; i += every) {
        this.measure(bodies, frames[i], frames[Math.max(0, i - 1)]);
        peaks.push(Math.max(0, ...this.values));
      }
      // without the hardest impacts
      peaks.sort((a, b) => a - b);
      most = peaks[Math.floor(0.9 * (peaks.length - 1))] ?? 0;
      this.range = [0, most || 1];
    }
    this.measure(bodies, shown, timeline.frames[Math.max(0, timeline.at - 1)]);
    bodies.shadeBy((body) => (bodies.description.bodies[body].motion === 'fixed' ? null : this.at(this.values[body])));
  }

  private measure(bodies: Bodies, frame: Frame, before: Frame): void {
    this.values.fill(0);
    if (this.name === 'speed') {
      bodies.movers.forEach((body, place) => (this.values[body] = bodySpeed(frame, before, place) || 0));
      return;
    }
    const force = 1 / (frame.h || 1);
    frame.eachContact((_, numbers, i, a, b) => {
      const size = numbers[i + 3 * frame.dimension] * force;
      this.values[a] += size;
      this.values[b] += size;
    });
  }

  private at(value: number): Color {
    const [low, high] = this.range;
    return ramp((value - low) / (high - low || 1), this.color);
  }

  /** Changes where the range does. */
  get key(): string {
    return `${this.name} ${this.range.join()}`;
  }
}

function frictionRange({ bodies }: Description): [number, number] {
  const all = bodies.flatMap((body) => body.shapes.map((shape) => shape.friction));
  return all.length > 0 ? [Math.min(0, ...all), Math.max(...all)] : [0, 1];
}

