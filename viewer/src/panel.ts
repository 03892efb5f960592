// Side panel: plots, display options, files, and settings of a live simulation.

import type { Description, Frame } from './data';
import { make, write } from './dom';
import type { Command, Status } from './live';
import { Plot } from './plots';
import { Quantities, type Figure } from './quantities';
import { SHADES, type ShadeName } from './shading';
import { palette } from './theme';

export interface Toggle {
  name: string;
  key: string;
  on: boolean;
  set: (on: boolean) => void;
}

export interface PanelEvents {
  /** Plots have another size or number. */
  resized(): void;
  shade(name: ShadeName): void;
  picture(): void;
  video(): void;
  table(): void;
}

/** Time limit for the server to confirm a change [ms]. */
const ECHO = 1000;
/** Names offered below the field that adds a plot. */
const OFFERED = 60;

interface Shown {
  plot: Plot;
  output: HTMLOutputElement;
  element: HTMLElement;
}

export class Panel {
  private plots: Shown[] = [];
  private readonly figures = make('div');
  private readonly wanted = make('input', {
    type: 'search', list: 'quantities', 'aria-label': 'Add a plot', placeholder: 'Add a plot: body, joint, pair …', autocomplete: 'off',
  });
  private readonly offered = make('datalist', { id: 'quantities' });
  private readonly boxes = new Map<string, HTMLInputElement>();
  private readonly record = make('button', { class: 'outlined' }, 'Record a video');
  private change: Change | null = null;
  private readonly look: HTMLElement;
  private quantities: Quantities | null = null;
  private description: Description | null = null;
  /** Plot of the selected body, which changes with the selection. */
  private followed: string | null = null;
  private turn = 0;
  /** Plots are those of the start. */
  private chosen = true;

  constructor(private readonly element: HTMLElement, private readonly toggles: Toggle[], private readonly events: PanelEvents) {
    const plots = make('section', {}, make('h2', {}, 'Over time'), this.figures, make('div', { class: 'choose' }, this.wanted), this.offered);
    this.wanted.oninput = () => this.offer();
    this.wanted.onfocus = () => this.offer();
    this.wanted.onchange = () => this.addWanted();
    this.wanted.onkeydown = (event) => {
      if (event.key === 'Enter') this.addWanted();
    };

    const look = make('div', { class: 'toggles' });
    for (const toggle of toggles) {
      const box = make('input', { type: 'checkbox' });
      box.checked = toggle.on;
      box.onchange = () => toggle.set(box.checked);
      this.boxes.set(toggle.name, box);
      look.append(make('label', { title: `Key ${toggle.key}` }, box, toggle.name));
    }
    const shade = make('select', { 'aria-label': 'Colour of bodies' });
    shade.append(...Object.entries(SHADES).map(([name, { words }]) => make('option', { value: name }, words)));
    shade.onchange = () => events.shade(shade.value as ShadeName);
    const button = (words: string, act: () => void) => {
      const made = make('button', { class: 'outlined' }, words);
      made.onclick = act;
      return made;
    };
    this.record.onclick = () => events.video();
    this.look = make('section', {}, make('h2', {}, 'Shown'), look, make('label', { class: 'row' }, make('span', {}, 'Colour by'), shade));
    element.append(plots, this.look, make('section', {}, make('h2', {}, 'Save'), make('div', { class: 'actions' },
      button('Picture (PNG)', () => events.picture()), this.record, button('Plots (CSV)', () => events.table()))));
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

  /** Shows whether a video is being recorded. */
  recording(on: boolean): void {
    write(this.record, on ? 'Stop and save the video' : 'Record a video');
  }

  /** Plots by name. */
  get shown(): Figure[] {
    return this.plots.map(({ plot }) => plot.figure);
  }

  describe(description: Description, frames: Frame[]): void {
    this.description = description;
    this.quantities = new Quantities(description);
    for (const share of [0, 0.5, 1]) {
      const frame = frames[Math.round(share * (frames.length - 1))];
      if (frame?.revision === description.revision) this.quantities.see(frame);
    }
    const names = this.plots.length > 0 ? this.plots.map(({ plot }) => plot.figure.title) : this.quantities.first();
    this.plots.forEach(({ element }) => element.remove());
    this.plots = [];
    for (const name of names) this.add(name);
    if (this.quantities.firstBody >= 0 && !this.followed) this.select(this.quantities.firstBody);
  }

  /** Names that contain what is typed. */
  private offer(): void {
    const names = this.quantities?.matching(this.wanted.value, OFFERED) ?? [];
    this.offered.replaceChildren(...names.map((name) => make('option', { value: name })));
    // a choice from the list is complete
    if (names.includes(this.wanted.value)) this.addWanted();
  }

  private addWanted(): void {
    const text = this.wanted.value;
    if (!text) return;
    // the shortest name says no more than what was typed
    const [first] = (this.quantities?.matching(text, OFFERED) ?? []).sort((a, b) => a.length - b.length);
    this.chosen = false;
    if (this.add(text) || (first && this.add(first))) this.wanted.value = '';
  }

  /** Adds a plot; `false` where there is no quantity of this name. */
  add(name: string): boolean {
    const figure = this.quantities?.named(name);
    if (!figure) return false;
    if (this.plots.some(({ plot }) => plot.figure.title === figure.title)) return true;
    const plot = new Plot(figure);
    plot.canvas.setAttribute('aria-label', `${figure.title} over time`);
    const output = make('output');
    const title = `${figure.title}${figure.unit ? ` [${figure.unit}]` : ''}`;
    const keys = figure.curves.length > 1
      ? figure.curves.map((c, i) => make('i', { style: `--c: var(--plot-${i})` }, c.name))
      : [output];
    const close = make('button', { class: 'close', 'aria-label': `Remove the plot of ${figure.title}`, title: 'Remove' }, '✕');
    const element = make('div', { class: 'figure' },
      make('div', {}, make('strong', { title }, title), make('span', {}, ...keys, close)), plot.canvas);
    const shown = { plot, output, element };
    close.onclick = () => {
      this.chosen = false;
      this.remove(shown);
    };
    plot.resized = () => this.events.resized();
    this.plots.push(shown);
    this.figures.append(element);
    this.events.resized();
    return true;
  }

  private remove(shown: Shown): void {
    shown.element.remove();
    this.plots = this.plots.filter((other) => other !== shown);
    if (shown.plot.figure.title === this.followed) this.followed = null;
    this.events.resized();
  }

  /** Plots the position of a body instead of that of the body before. */
  select(body: number): void {
    const { description, quantities } = this;
    if (!description || !quantities || body < 0 || description.bodies[body]?.motion === 'fixed') return;
    const before = this.plots.find(({ plot }) => plot.figure.title === this.followed);
    const name = `${description.bodies[body].name}: position`;
    if (before && before.plot.figure.title === name) return;
    if (before) this.remove(before);
    this.followed = name;
    this.add(name);
  }

  /** Adds the settings of a live simulation. */
  live(send: (command: Command) => void, place: () => number[]): void {
    this.change ??= new Change(this.look, send, place);
  }

  /** Size of a dropped body that suits its neighbours: half its edge [m]. */
  suggestSize(half: number): void {
    this.change?.suggestSize(half);
  }

  status(status: Status): void {
    this.change?.status(status);
  }

  /** Draws the next plot in turn, or all of them. */
  draw(frames: Frame[], at: number, from: number, to: number, all: boolean): void {
    if (this.plots.length === 0) return;
    const [shown, before] = [frames[at], frames[at - 1]];
    if (this.quantities?.see(shown) && this.chosen) this.add('Normal force of all contacts');
    this.turn = (this.turn + 1) % this.plots.length;
    for (const { plot, output } of all ? this.plots : [this.plots[this.turn]]) {
      plot.draw(frames, from, to, shown.t);
      if (plot.figure.curves.length === 1) write(output, plot.words(shown, before));
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

  private readonly edge = make('input', { type: 'number', step: 'any', min: '0', 'aria-label': 'Size of a dropped body [m]' });
  /** Size that was suggested last; another one was chosen by hand. */
  private suggested = '';

  constructor(below: HTMLElement, send: (command: Command) => void, place: () => number[]) {
    const drop = (shape: 'box' | 'ball') => {
      const at = place();
      const half = 0.5 * Number(this.edge.value);
      // a ball by its radius, a box by half its diagonal
      send({ command: 'drop', shape, at, size: shape === 'ball' ? half : half * Math.sqrt(at.length) });
    };
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
        row('Size of a dropped body [m]', 'edge or diameter', this.edge),
        make('div', { class: 'actions' },
          button('Drop a box', () => drop('box')),
          button('Drop a ball', () => drop('ball')),
          button('Save as a scene', () => send({ command: 'save' })))),
    );
  }

  suggestSize(half: number): void {
    const text = String(Number((2 * half).toPrecision(2)));
    if (this.edge.value === this.suggested) this.edge.value = text;
    this.suggested = text;
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
