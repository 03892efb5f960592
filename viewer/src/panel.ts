// Side panel: plots, display options, and settings of a live simulation.

import type { Description, Frame } from './data';
import { make, write } from './dom';
import type { Command, Status } from './live';
import { Plot, type Curve } from './plots';
import { poseLength } from './pose';
import { palette } from './theme';

export interface Toggle {
  name: string;
  key: string;
  on: boolean;
  set: (on: boolean) => void;
}

const COORDINATES = { 2: ['x', 'y', 'angle'], 3: ['x', 'y', 'z'] } as const;

/** Time limit for the server to confirm a change [ms]. */
const ECHO = 1000;

export class Panel {
  private readonly plots: { plot: Plot; output: HTMLOutputElement }[] = [];
  private readonly coordinate: Plot;
  private readonly body = make('select', { 'aria-label': 'Body of the coordinate' });
  private readonly axis = make('select', { 'aria-label': 'Coordinate' });
  private readonly boxes = new Map<string, HTMLInputElement>();
  private change: Change | null = null;
  private readonly look: HTMLElement;
  private moving: number[] = [];

  constructor(private readonly element: HTMLElement, private readonly toggles: Toggle[], resized: () => void) {
    const plots = make('section', {}, make('h2', {}, 'Over time'));
    const add = (title: string, plot: Plot) => {
      plot.canvas.setAttribute('aria-label', `${title} over time`);
      const output = make('output');
      const keys = plot.curves.length > 1
        ? plot.curves.map((c, i) => make('i', { style: `--c: var(--plot-${i})` }, c.name))
        : [output];
      plots.append(make('div', { class: 'figure' }, make('div', {}, make('strong', {}, title), make('span', {}, ...keys)), plot.canvas));
      plot.resized = resized;
      this.plots.push({ plot, output });
      return plot;
    };
    add('Energy [J]', new Plot([
      { name: 'kinetic', value: (f) => f.kinetic },
      { name: 'potential', value: (f) => f.potential },
      { name: 'total', value: (f) => f.kinetic + f.potential },
    ], { unit: 'J' }));
    add('Infeasibility', new Plot([{ name: '', value: (f) => f.infeasibility }], { unit: 'm', log: true }));
    add('Worst residual', new Plot([{ name: '', value: (f) => f.certificate }], { unit: '', log: true }));
    this.coordinate = add('Coordinate', new Plot([{ name: '', value: () => NaN }], { unit: 'm' }));
    plots.append(make('div', { class: 'choose' }, this.body, this.axis));
    this.body.onchange = this.axis.onchange = () => this.choose();

    const look = make('div', { class: 'toggles' });
    for (const toggle of toggles) {
      const box = make('input', { type: 'checkbox' });
      box.checked = toggle.on;
      box.onchange = () => toggle.set(box.checked);
      this.boxes.set(toggle.name, box);
      look.append(make('label', { title: `Key ${toggle.key}` }, box, toggle.name));
    }
    this.look = make('section', {}, make('h2', {}, 'Shown'), look);
    element.append(plots, this.look);
    this.paint();
  }

  paint(): void {
    palette().plots.forEach((color, i) => this.element.style.setProperty(`--plot-${i}`, color));
  }

  /** Toggles a display option, as its key does. */
  toggle(key: string): boolean {
    const toggle = this.toggles.find((t) => t.key.toLowerCase() === key);
    const box = toggle && this.boxes.get(toggle.name);
    if (!toggle || !box) return false;
    box.checked = !box.checked;
    toggle.set(box.checked);
    return true;
  }

  describe(description: Description): void {
    const [body, axis] = [this.body.value, this.axis.value];
    this.moving = description.bodies.flatMap((b, i) => (b.motion === 'fixed' ? [] : [i]));
    this.body.replaceChildren(...this.moving.map((i) => make('option', { value: String(i) }, description.bodies[i].name)));
    const names = COORDINATES[description.dimension];
    this.axis.replaceChildren(...names.map((name, i) => make('option', { value: String(i) }, name)));
    if (body && this.moving.includes(Number(body))) this.body.value = body;
    this.axis.value = axis || '1';
    this.stride = poseLength(description.dimension);
    this.choose();
  }

  private stride = 3;
  private turn = 0;

  private choose(): void {
    const place = this.moving.indexOf(Number(this.body.value)) * this.stride + Number(this.axis.value);
    const angle = this.axis.selectedOptions[0]?.textContent === 'angle';
    this.coordinate.options.unit = angle ? 'rad' : 'm';
    const curve: Curve = { name: '', value: (frame: Frame) => frame.poses[place] ?? NaN };
    this.coordinate.curves = [curve];
  }

  /** Shows the plot of a body. */
  select(body: number): void {
    if (!this.moving.includes(body)) return;
    this.body.value = String(body);
    this.choose();
  }

  /** Adds the settings of a live simulation. */
  live(send: (command: Command) => void, place: () => { at: number[]; size: number }): void {
    this.change ??= new Change(this.look, send, place);
  }

  status(status: Status): void {
    this.change?.status(status);
  }

  /** Draws the next plot in turn, or all of them. */
  draw(frames: Frame[], shown: Frame, from: number, to: number, all: boolean): void {
    this.turn = (this.turn + 1) % this.plots.length;
    for (const { plot, output } of all ? this.plots : [this.plots[this.turn]]) {
      plot.draw(frames, from, to, shown.t);
      if (plot.curves.length === 1) write(output, plot.words(shown));
    }
  }
}

/** Settings of a live simulation. */
class Change {
  private readonly inputs = new Map<string, HTMLInputElement>();
  private readonly scheme = make('select', { 'aria-label': 'Scheme' });
  private readonly stabilized = make('input', { type: 'checkbox', 'aria-label': 'Stabilization' });
  /** Requested values, until the server confirms them or the time limit passes. */
  private wanted: { on: boolean; until: number } | null = null;

  constructor(below: HTMLElement, send: (command: Command) => void, place: () => { at: number[]; size: number }) {
    const row = (words: string, small: string, control: HTMLElement) =>
      make('label', { class: 'row' }, make('span', {}, words, ...(small ? [make('small', {}, small)] : [])), control);
    const number = (command: 'friction' | 'restitution' | 'gamma' | 'step_size', words: string, small: string, limits: Record<string, string>) => {
      const input = make('input', { type: 'number', step: 'any', 'aria-label': words, ...limits });
      input.onchange = () => {
        if (input.value !== '') send({ command, value: Number(input.value) });
      };
      this.inputs.set(command, input);
      return row(words, small, input);
    };
    this.scheme.onchange = () => send({ command: 'scheme', name: this.scheme.value });
    this.stabilized.onchange = () => {
      this.wanted = { on: this.stabilized.checked, until: performance.now() + ECHO };
      send({ command: 'stabilize', on: this.stabilized.checked });
    };
    const button = (words: string, act: () => void) => {
      const made = make('button', { class: 'outlined' }, words);
      made.onclick = act;
      return made;
    };
    below.before(
      make('section', {},
        make('h2', {}, 'Change it'),
        number('friction', 'Friction μ', 'of every surface', { min: '0' }),
        number('restitution', 'Restitution e', 'of every surface', { min: '0', max: '1' }),
        number('step_size', 'Step h [s]', '', { min: '0' }),
        row('Scheme', '', this.scheme),
        number('gamma', 'Stabilization γ', 'fraction of a position error corrected per step', { min: '0', max: '1' }),
        row('Stabilization', 'off: joints and contacts drift', this.stabilized),
        make('div', { class: 'actions' },
          button('Drop a box', () => send({ command: 'drop', shape: 'box', ...place() })),
          button('Drop a ball', () => send({ command: 'drop', shape: 'ball', ...place() })),
          button('Save as a scene', () => send({ command: 'save' })))),
    );
  }

  status(status: Status): void {
    if (this.scheme.options.length === 0) {
      this.scheme.append(...status.schemes.map((name) => make('option', { value: name }, name)));
    }
    this.scheme.value = status.scheme;
    // a status from before the click would revert it briefly
    const waits = this.wanted !== null && performance.now() < this.wanted.until;
    if (!waits || status.stabilized === this.wanted?.on) {
      this.wanted = null;
      this.stabilized.checked = status.stabilized;
    }
    const values = { friction: status.friction, restitution: status.restitution, gamma: status.gamma, step_size: status.h };
    for (const [name, value] of Object.entries(values)) {
      const input = this.inputs.get(name);
      if (!input || input === document.activeElement) continue;
      input.value = value === null ? '' : String(value);
      input.placeholder = name === 'gamma' ? 'none' : 'various';
      if (name === 'gamma') input.disabled = value === null;
    }
  }
}
