// Tree: a searchable list of bodies, joints and contact pairs beside the view.

import type { Look } from './bodies';
import type { Description, Frame } from './data';
import { byId, icon, make, write } from './dom';
import { pairName } from './quantities';
import { number } from './words';

/** Rows of a group; more are found by the search. */
const MAX_ROWS = 200;

const LOOKS: Look[] = ['shown', 'faded', 'hidden'];

export interface TreeEvents {
  select(body: number): void;
  mark(bodies: number[]): void;
  /** A contact pair was chosen. */
  explain(pair: [number, number]): void;
  look(name: string, look: Look): void;
  follow(body: number): void;
  plot(name: string): void;
}

interface Group {
  element: HTMLDetailsElement;
  title: HTMLElement;
  rows: HTMLElement;
}

interface Pair {
  bodies: [number, number];
  name: string;
  count: number;
  /** Sum of normal forces [N]. */
  force: number;
}

export class Tree {
  private readonly element = byId('tree');
  private readonly search = make('input', { type: 'search', 'aria-label': 'Search bodies, joints and contacts', placeholder: 'Search …' });
  private readonly bodies = this.group('Bodies', true);
  private readonly joints = this.group('Joints', true);
  private readonly contacts = this.group('Contacts', true);
  private description: Description | null = null;
  private frame: Frame | null = null;
  private looks: ReadonlyMap<string, Look> = new Map();
  private selected = -1;
  private pair = '';
  /** Rows of contact pairs, by their names. */
  private readonly rows = new Map<string, { row: HTMLElement; value: HTMLElement }>();

  constructor(private readonly events: TreeEvents) {
    this.element.append(this.search, this.bodies.element, this.joints.element, this.contacts.element);
    this.search.oninput = () => this.fill();
  }

  private group(name: string, open: boolean): Group {
    const title = make('summary', {}, name);
    const rows = make('ul');
    const element = make('details', open ? { open: '' } : {}, title, rows);
    return { element, title, rows };
  }

  get shown(): boolean {
    return !this.element.hidden;
  }

  describe(description: Description, looks: ReadonlyMap<string, Look>): void {
    this.description = description;
    this.looks = looks;
    this.rows.clear();
    this.contacts.rows.replaceChildren();
    this.fill();
  }

  private matches(name: string): boolean {
    return name.toLowerCase().includes(this.search.value.trim().toLowerCase());
  }

  /** Lists what the search finds. */
  fill(): void {
    const { description } = this;
    if (!description || !this.shown) return;
    const bodies = description.bodies.flatMap((body, i) => (this.matches(body.name) ? [i] : []));
    this.list(this.bodies, 'Bodies', bodies, description.bodies.length, (i) => this.bodyRow(i));
    const joints = description.joints.flatMap((joint, i) => (this.matches(joint.name) ? [i] : []));
    this.list(this.joints, 'Joints', joints, description.joints.length, (i) => this.jointRow(i));
    this.rows.clear();
    this.contacts.rows.replaceChildren();
    this.showContacts();
  }

  private list(group: Group, name: string, found: number[], all: number, row: (i: number) => HTMLElement): void {
    group.element.hidden = all === 0;
    write(group.title, found.length === all ? `${name} (${all})` : `${name} (${found.length} of ${all})`);
    group.rows.replaceChildren(...found.slice(0, MAX_ROWS).map(row), ...this.more(found.length));
  }

  private more(found: number): HTMLElement[] {
    return found > MAX_ROWS ? [make('li', { class: 'more' }, `… and ${found - MAX_ROWS} more: search for them`)] : [];
  }

  private bodyRow(i: number): HTMLElement {
    const body = this.description!.bodies[i];
    const name = make('button', { class: 'name', 'aria-pressed': String(i === this.selected) }, body.name);
    name.onclick = () => this.events.select(i);
    name.ondblclick = () => body.motion !== 'fixed' && this.events.follow(i);
    const eye = make('button', { class: 'eye' });
    this.showLook(eye, body.name);
    eye.onclick = () => {
      this.cycle(body.name);
      this.showLook(eye, body.name);
    };
    return make('li', { 'data-body': String(i) }, name, eye);
  }

  private showLook(eye: HTMLElement, name: string): void {
    const look = this.looks.get(name) ?? 'shown';
    icon(eye, look);
    eye.setAttribute('aria-label', `${name} is ${look}`);
    eye.title = 'Shown, faded or hidden (H for the selected body)';
  }

  private cycle(name: string): void {
    const next = LOOKS[(LOOKS.indexOf(this.looks.get(name) ?? 'shown') + 1) % LOOKS.length];
    this.events.look(name, next);
  }

  /** Draws the selected body in the next way. */
  cycleSelected(): void {
    const body = this.description?.bodies[this.selected];
    if (!body) return;
    this.cycle(body.name);
    const eye = this.bodies.rows.querySelector<HTMLElement>(`[data-body="${this.selected}"] .eye`);
    if (eye) this.showLook(eye, body.name);
  }

  private jointRow(i: number): HTMLElement {
    const joint = this.description!.joints[i];
    const button = make('button', { class: 'name' }, joint.name, make('small', {}, ` ${joint.kind}`));
    button.onclick = () => {
      this.events.mark([...joint.bodies]);
      this.events.plot(`${joint.name}: force`);
    };
    return make('li', {}, button);
  }

  /** Selects a body in the list. */
  select(body: number): void {
    this.selected = body;
    for (const button of this.bodies.rows.querySelectorAll('[aria-pressed="true"]')) button.setAttribute('aria-pressed', 'false');
    const row = this.bodies.rows.querySelector(`[data-body="${body}"]`);
    row?.querySelector('.name')?.setAttribute('aria-pressed', 'true');
    row?.scrollIntoView({ block: 'nearest' });
  }

  /** Marks the pair of a contact in the list. */
  markPair(bodies: [number, number] | null): void {
    const name = bodies && this.description ? pairName(this.description, ...bodies) : '';
    if (name === this.pair) return;
    this.rows.get(this.pair)?.row.classList.remove('marked');
    this.pair = name;
    const row = this.rows.get(name)?.row;
    row?.classList.add('marked');
    row?.scrollIntoView({ block: 'nearest' });
  }

  /** Shows the contacts of a frame. */
  show(frame: Frame): void {
    this.frame = frame;
    if (this.shown && this.contacts.element.open) this.showContacts();
  }

  private showContacts(): void {
    const { frame, description } = this;
    if (!frame || !description) return;
    const pairs = new Map<number, Pair>();
    frame.eachContact((mode, numbers, i, a, b) => {
      let pair = pairs.get((a << 16) | b);
      if (!pair) pairs.set((a << 16) | b, (pair = { bodies: [a, b], name: '', count: 0, force: 0 }));
      if (mode !== 0) pair.count += 1;
      pair.force += numbers[i + 3 * frame.dimension] / (frame.h || 1);
    });
    this.contacts.element.hidden = pairs.size === 0 && this.rows.size === 0;
    let found = 0;
    const seen = new Set<string>();
    for (const pair of pairs.values()) {
      pair.name = pairName(description, ...pair.bodies);
      if (!this.matches(pair.name)) continue;
      found += 1;
      if (seen.size >= MAX_ROWS) continue;
      seen.add(pair.name);
      const shown = this.rows.get(pair.name) ?? this.contactRow(pair);
      write(shown.value, pair.count === 0 ? 'open' : `${pair.count} · ${number(pair.force)} N`);
    }
    for (const [name, { row }] of this.rows) {
      if (seen.has(name)) continue;
      row.remove();
      this.rows.delete(name);
    }
    const rest = found > seen.size ? `, ${seen.size} listed` : '';
    write(this.contacts.title, `Contacts (${frame.contactCount} in ${pairs.size} ${pairs.size === 1 ? 'pair' : 'pairs'}${rest})`);
  }

  private contactRow({ bodies, name }: Pair): { row: HTMLElement; value: HTMLElement } {
    const value = make('small');
    const button = make('button', { class: 'name' }, name, value);
    button.onclick = () => {
      this.events.mark(bodies);
      this.events.explain(bodies);
    };
    const shown = { row: make('li', {}, button), value };
    if (name === this.pair) shown.row.classList.add('marked');
    this.rows.set(name, shown);
    this.contacts.rows.append(shown.row);
    return shown;
  }
}
