// Quantities that can be plotted: energies, contacts, bodies, pairs of bodies, joints and whatever else frames hold, by name.

import type { Description, Frame } from './data';
import { poseLength } from './pose';
import { bodySpeed } from './shading';

/** A quantity over time. */
export interface Curve {
  name: string;
  value: (frame: Frame, before?: Frame) => number;
}

/** Quantities in one plot. */
export interface Figure {
  title: string;
  unit: string;
  /** Logarithmic axis. */
  log?: boolean;
  curves: Curve[];
}

const AXES = ['x', 'y', 'z'];

/** Value of every frame, computed once. */
function remembered(value: (frame: Frame) => number): (frame: Frame) => number {
  const known = new WeakMap<Frame, number>();
  return (frame) => {
    let x = known.get(frame);
    if (x === undefined) known.set(frame, (x = value(frame)));
    return x;
  };
}

const single = (title: string, unit: string, value: Curve['value'], log = false): Figure => ({
  title, unit, log, curves: [{ name: '', value }],
});

/** Normal force of all contacts [N]. */
const allForces = remembered((frame) => {
  let sum = 0;
  frame.eachContact((_, numbers, i) => (sum += numbers[i + 3 * frame.dimension]));
  return sum / (frame.h || 1);
});

/** Name of a pair of bodies. */
export const pairName = (description: Description, a: number, b: number) =>
  `${description.bodies[a]?.name} – ${description.bodies[b]?.name}`;

type OfPair = 'normal force' | 'friction force' | 'smallest gap' | 'speed of slip' | 'number of contacts';
const UNITS: Record<OfPair, string> = {
  'normal force': 'N', 'friction force': 'N', 'smallest gap': 'm', 'speed of slip': 'm/s', 'number of contacts': '',
};

/** Value of the contacts of a pair of bodies; forces are sums of their sizes. */
function ofPair(what: OfPair, p: number, q: number): (frame: Frame) => number {
  return remembered((frame) => {
    const d = frame.dimension;
    let [sum, gap, slip, count] = [0, Infinity, 0, 0];
    frame.eachContact((mode, x, i, a, b) => {
      if (!((a === p && b === q) || (a === q && b === p))) return;
      if (mode !== 0) count += 1;
      sum += what === 'friction force' ? Math.hypot(x[i + 2 * d], x[i + 2 * d + 1], d === 3 ? x[i + 2 * d + 2] : 0) : x[i + 3 * d];
      gap = Math.min(gap, x[i + 3 * d + 2]);
      slip = Math.max(slip, x[i + 3 * d + 3]);
    });
    if (what === 'smallest gap') return Number.isFinite(gap) ? gap : NaN;
    if (what === 'speed of slip') return slip;
    return what === 'number of contacts' ? count : sum / (frame.h || 1);
  });
}

/** Quantities of a scene, found by name. */
export class Quantities {
  private readonly moving: number[];
  /** Contact pairs that were seen, as `a b`. */
  private readonly pairs = new Set<string>();

  constructor(private readonly description: Description) {
    this.moving = description.bodies.flatMap((b, i) => (b.motion === 'fixed' ? [] : [i]));
  }

  /** Takes the pairs of a frame into the list; `true` where they are the first ones. */
  see(frame: Frame): boolean {
    const none = this.pairs.size === 0;
    frame.eachContact((_, __, ___, a, b) => this.pairs.add(`${a} ${b}`));
    return none && this.pairs.size > 0;
  }

  /** First body whose motion is computed, or −1. */
  get firstBody(): number {
    const free = this.moving.find((i) => this.description.bodies[i].motion !== 'kinematic');
    return free ?? this.moving[0] ?? -1;
  }

  /** Plots of the start: motion and forces; how well steps were solved is there on request. */
  first(): string[] {
    const joint = this.description.joints[0];
    const names = ['Energy'];
    if (joint && this.named(`${joint.name}: force`)) names.push(`${joint.name}: force`);
    if (!joint || this.pairs.size > 0) names.push('Normal force of all contacts');
    return names;
  }

  /** All names; those of bodies and pairs are many. */
  *names(): Generator<string> {
    yield* ['Energy', 'Kinetic energy', 'Potential energy', 'Total energy', 'Normal force of all contacts', 'Number of contacts',
      'Infeasibility', 'Worst residual', 'Step size'];
    const { quantities, dimension, bodies } = this.description;
    for (const { of, name } of quantities) yield of ? `${of}: ${name}` : name;
    for (const body of this.moving) {
      const axes = dimension === 2 ? ['x', 'y', 'angle'] : AXES;
      for (const what of [...axes, 'position', 'speed']) yield `${bodies[body].name}: ${what}`;
    }
    for (const pair of this.pairs) {
      const [a, b] = pair.split(' ').map(Number);
      for (const what of Object.keys(UNITS)) yield `${pairName(this.description, a, b)}: ${what}`;
    }
  }

  /** Names that contain all words of a text, at most so many. */
  matching(text: string, most: number): string[] {
    const words = text.toLowerCase().split(/\s+/).filter((word) => word);
    const found: string[] = [];
    for (const name of this.names()) {
      const low = name.toLowerCase();
      if (words.every((word) => low.includes(word))) found.push(name);
      if (found.length >= most) break;
    }
    return found;
  }

  /** Plot of a quantity, or `null` for an unknown name. */
  named(name: string): Figure | null {
    const whole = this.ofScene(name);
    if (whole) return whole;
    const { quantities } = this.description;
    const place = quantities.findIndex((q) => (q.of ? `${q.of}: ${q.name}` : q.name) === name);
    if (place >= 0) return single(name, quantities[place].unit, (frame) => frame.quantities[place] ?? NaN);
    const cut = name.lastIndexOf(': ');
    return cut < 0 ? null : this.ofBody(name, name.slice(0, cut), name.slice(cut + 2)) ?? this.ofPair(name, name.slice(0, cut), name.slice(cut + 2));
  }

  private ofScene(name: string): Figure | null {
    switch (name) {
      case 'Energy':
        return { title: name, unit: 'J', curves: [
          { name: 'kinetic', value: (f) => f.kinetic },
          { name: 'potential', value: (f) => f.potential },
          { name: 'total', value: (f) => f.kinetic + f.potential },
        ] };
      case 'Kinetic energy': return single(name, 'J', (f) => f.kinetic);
      case 'Potential energy': return single(name, 'J', (f) => f.potential);
      case 'Total energy': return single(name, 'J', (f) => f.kinetic + f.potential);
      case 'Normal force of all contacts': return single(name, 'N', allForces);
      case 'Number of contacts': return single(name, '', (f) => f.contactCount);
      case 'Infeasibility': return single(name, 'm', (f) => f.infeasibility, true);
      case 'Worst residual': return single(name, '', (f) => f.certificate, true);
      case 'Step size': return single(name, 's', (f) => f.h || NaN);
      default: return null;
    }
  }

  private ofBody(title: string, body: string, what: string): Figure | null {
    const { bodies, dimension } = this.description;
    const place = this.moving.findIndex((i) => bodies[i].name === body);
    if (place < 0) return null;
    const at = place * poseLength(dimension);
    const axes = dimension === 2 ? ['x', 'y', 'angle'] : AXES;
    const coordinate = (k: number) => (frame: Frame) => frame.poses[at + k] ?? NaN;
    if (what === 'position') {
      return { title, unit: 'm', curves: AXES.slice(0, dimension).map((name, k) => ({ name, value: coordinate(k) })) };
    }
    if (what === 'speed') return single(title, 'm/s', (frame, before) => bodySpeed(frame, before, place));
    const k = axes.indexOf(what);
    return k < 0 ? null : single(title, what === 'angle' ? 'rad' : 'm', coordinate(k));
  }

  private ofPair(title: string, pair: string, what: string): Figure | null {
    if (!(what in UNITS)) return null;
    for (const known of this.pairs) {
      const [a, b] = known.split(' ').map(Number);
      if (pairName(this.description, a, b) === pair) return single(title, UNITS[what as OfPair], ofPair(what as OfPair, a, b));
    }
    return null;
  }
}
