// Text of numbers and contacts, with units.

import { OPEN, STICK, type Contact, type Description } from './data';

const UP = '⁰¹²³⁴⁵⁶⁷⁸⁹';

/** Power of ten. */
export function power(exponent: number): string {
  const raised = [...String(Math.abs(exponent))].map((d) => UP[Number(d)]).join('');
  return `10${exponent < 0 ? '⁻' : ''}${raised}`;
}

/** Number with three digits: 12.3, 0.0120, 2.1×10⁻¹². */
export function number(x: number, digits = 3): string {
  if (x === 0) return '0';
  if (!Number.isFinite(x)) return Number.isNaN(x) ? 'not a number' : x > 0 ? '∞' : '−∞';
  const size = Math.abs(x);
  let text: string;
  if (size >= 1e-3 && size < 1e5) {
    text = x.toPrecision(digits);
    if (text.includes('e')) text = Math.round(x).toString();
  } else {
    const [mantissa, exponent] = x.toExponential(digits - 2).split('e');
    text = `${mantissa}×${power(Number(exponent))}`;
  }
  return text.replace('-', '−');
}

export const MODE_WORDS = ['open', 'sticks', 'slips'] as const;

/** Names of the two bodies of a contact. */
export function pair(contact: Contact, description: Description): string {
  const [a, b] = contact.bodies.map((i) => description.bodies[i]?.name ?? `body ${i}`);
  // the second body rests on the first one when the normal points against gravity
  const up = -contact.normal.reduce((sum, n, i) => sum + n * (description.gravity[i] ?? 0), 0);
  const strength = Math.hypot(...description.gravity);
  if (strength > 0 && up > 0.5 * strength) return `${b} on ${a}`;
  if (strength > 0 && up < -0.5 * strength) return `${a} on ${b}`;
  return `${a} against ${b}`;
}

/** Values of a contact: label and text of each. With `forces`, impulses are forces at the instant times h. */
export function contactLines(contact: Contact, h: number, forces: boolean): [string, string][] {
  const lines: [string, string][] = [];
  const force = (impulse: number) => {
    if (!(h > 0)) return `${number(impulse)} N s`;
    return forces ? `${number(impulse / h)} N` : `${number(impulse)} N s (${number(impulse / h)} N)`;
  };
  if (contact.mode !== OPEN) {
    lines.push([forces ? 'normal force' : 'normal impulse', force(contact.impulse)]);
    const friction = Math.hypot(...contact.friction);
    if (contact.bound > 0) {
      const share = `${Math.round((100 * friction) / contact.bound)} % of its bound`;
      lines.push(['friction', `${force(friction)}, ${share}`]);
    } else {
      lines.push(['friction', 'none']);
    }
    const [normal, ...tangents] = contact.intervals ?? [];
    if (contact.determined) {
      if (normal) lines.push(['determined', 'no other force causes this motion']);
    } else if (normal) {
      const bound = (x: number) => (Number.isFinite(x) ? number(h > 0 ? x / h : x) : x > 0 ? 'no bound' : 'no bound below');
      const within = ([least, greatest]: [number, number]) => `${bound(least)} to ${bound(greatest)}${h > 0 ? ' N' : ' N s'}`;
      lines.push(['normal within', within(normal)]);
      for (const tangent of tangents) lines.push(['friction within', within(tangent)]);
      if (contact.intervals!.flat().some((x) => !Number.isFinite(x))) lines.push(['locked', 'a force has no bound']);
    } else {
      lines.push(['not determined', 'other forces cause this motion too']);
    }
    if (contact.mode !== STICK) lines.push(['slips at', `${number(contact.slip)} m/s`]);
  }
  lines.push([contact.gap < 0 ? 'overlap' : 'gap', `${number(Math.abs(contact.gap))} m`]);
  return lines;
}

/** Values of a contact as one sentence. */
export function contactSentence(contact: Contact, description: Description, h: number): string {
  const mode = contact.mode === OPEN ? 'is open' : MODE_WORDS[contact.mode];
  const rest = contactLines(contact, h, description.forces).map(([what, value]) => `${what} ${value}`);
  return `${pair(contact, description)}: ${[mode, ...rest].join(', ')}`;
}
