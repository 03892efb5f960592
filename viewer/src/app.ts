// Application: timeline of frames, the 3D scene that draws one of them, and the controls.

import { Vector3 } from 'three';
import { Bodies } from './bodies';
import { bounds } from './bounds';
import { Contacts } from './contacts';
import type { Contact, Description, Frame } from './data';
import { byId, icon, make, write } from './dom';
import { help } from './help';
import { Lines } from './lines';
import { Live, type Status } from './live';
import { Panel } from './panel';
import { Pointer } from './pointer';
import { Stage } from './stage';
import { onTheme, palette, switchTheme } from './theme';
import { Timeline } from './timeline';
import { MODE_WORDS, contactLines, contactSentence, number, pair } from './words';

const GLYPHS = ['○', '●', '◆'];
/** Time window of the plots while the simulation is live [s]. */
const WINDOW = 20;
/** Time window over which the typical force that scales arrows is measured [s]. */
const RECENT = 0.5;
/** Number of frames over which drawing times are measured. */
const MEASURED = 240;

/** Drawing times of a frame [ms]: total, scene update, and submission to the graphics card. */
interface Times {
  script: number;
  show: number;
  render: number;
}

export class App {
  readonly timeline = new Timeline();
  readonly stage: Stage;
  private readonly contacts = new Contacts();
  private readonly lines = new Lines();
  private readonly panel: Panel;
  private bodies: Bodies | null = null;
  private live: Live | null = null;
  private status: Status | null = null;
  private playing = false;
  private speed = 1;
  private clock = 0;
  private following = -1;
  private selected = -1;
  /** `true` while a live page shows the latest frame. */
  private atNow = true;
  private dirty = true;
  /** Number of frames drawn. */
  drawn = 0;
  private last = 0;
  private plotted = 0;
  private readonly anchor = new Vector3();
  private readonly times: Times[] = [];
  private hovered: { contact: Contact; x: number; y: number } | null = null;

  constructor(dimension: 2 | 3) {
    this.stage = new Stage(byId<HTMLCanvasElement>('view'), dimension);
    this.stage.scene.add(this.contacts.group, this.lines.object);
    const redraw = (set: (on: boolean) => void) => (on: boolean) => {
      set(on);
      this.dirty = true;
    };
    this.panel = new Panel(byId('panel'), [
      { name: 'Contact points', key: 'C', on: true, set: redraw((on) => (this.contacts.points = on)) },
      { name: 'Impulses', key: 'I', on: true, set: redraw((on) => (this.contacts.arrows = on)) },
      { name: 'Joints, springs', key: 'J', on: true, set: redraw((on) => (this.lines.joints = on)) },
      { name: 'Gaps', key: 'G', on: true, set: redraw((on) => (this.lines.gaps = on)) },
      { name: 'Grid', key: 'D', on: true, set: redraw((on) => this.stage.showGrid(on)) },
    ], () => {
      this.plotted = 0;
      this.dirty = true;
    });
    new Pointer(this.stage, this.contacts, {
      bodies: () => this.bodies,
      pushes: () => this.live !== null && this.atNow,
      grab: (body, point) => {
        const local = point.clone().applyMatrix4(this.bodies!.poses[body].clone().invert());
        this.lines.pull = { body, local, target: point.clone() };
        this.live?.send({ command: 'grab', body, point: this.numbers(point) });
        if (this.status && !this.status.playing) this.live?.send({ command: 'play' });
      },
      move: (target) => {
        this.lines.pull?.target.copy(target);
        this.live?.send({ command: 'move', target: this.numbers(target) });
      },
      release: () => {
        this.lines.pull = null;
        this.live?.send({ command: 'release' });
      },
      select: (body) => this.select(body),
      explain: (contact, x, y) => {
        this.hovered = contact && { contact, x, y };
        this.tip();
      },
    });
    this.stage.controls.addEventListener('change', () => (this.dirty = true));
    new ResizeObserver(() => this.cover()).observe(this.stage.canvas);
    onTheme(() => this.paint());
    this.buttons();
    this.legend();
    this.cover();
    requestAnimationFrame((now) => this.tick(now));
  }

  /** Plays a recorded run. */
  replay(descriptions: Description[], frames: Frame[]): void {
    descriptions.forEach((d) => this.timeline.describe(d));
    frames.forEach((f) => this.timeline.push(f));
    this.timeline.at = 0;
    byId('kind').textContent = 'recorded run';
    this.show();
    this.play(true);
  }

  /** Shows a live simulation. */
  connect(): void {
    this.live = new Live({
      description: (description) => this.timeline.describe(description),
      frame: (frame) => {
        this.timeline.push(frame);
        if (this.atNow) this.timeline.at = this.timeline.frames.length - 1;
        this.dirty = true;
      },
      status: (status) => {
        this.status = status;
        this.panel.status(status);
        this.transport();
      },
      error: (words) => this.say(words, true),
      scene: (text) => this.download(text),
      connected: (yes) => {
        const kind = byId('kind');
        kind.className = yes ? 'badge live' : 'badge live lost';
        kind.textContent = yes ? 'live' : 'not connected';
      },
    });
    this.panel.live((command) => this.live?.send(command), () => this.above());
  }

  private numbers(point: Vector3): number[] {
    return this.stage.dimension === 2 ? [point.x, point.y] : [point.x, point.y, point.z];
  }

  /** Position above the centre of the view, and size, of a body to be dropped. */
  private above(): { at: number[]; size: number } {
    const at = this.stage.controls.target.clone();
    at.setComponent(this.stage.dimension - 1, at.getComponent(this.stage.dimension - 1) + 0.3 * this.stage.size);
    return { at: this.numbers(at), size: this.bodies?.middling || 0.1 * this.stage.size };
  }

  private buttons(): void {
    for (const name of ['home', 'theme', 'help', 'panels', 'reset', 'back', 'play', 'step']) icon(byId(name), name);
    byId('home').onclick = () => this.home();
    byId('theme').onclick = switchTheme;
    const keys = byId<HTMLDialogElement>('keys');
    byId('help').onclick = () => help(keys, this.live !== null);
    byId('panels').onclick = () => this.togglePanel();
    byId('reset').onclick = () => this.reset();
    byId('back').onclick = () => this.move(-1);
    byId('play').onclick = () => this.play(!this.running);
    byId('step').onclick = () => this.move(1);
    byId('now').onclick = () => this.toNow();
    byId('branch').onclick = () => this.branch();
    byId('message').querySelector('button')!.onclick = () => (byId('message').hidden = true);
    const scrub = byId<HTMLInputElement>('scrub');
    scrub.oninput = () => this.seek(Number(scrub.value));
    const speed = byId<HTMLSelectElement>('speed');
    speed.onchange = () => this.setSpeed(Number(speed.value));
    const follow = byId<HTMLSelectElement>('follow');
    follow.onchange = () => this.follow(Number(follow.value));
    // on a phone, hide the plots at first
    if (window.innerWidth <= 760) this.togglePanel();
    window.addEventListener('keydown', (event) => this.key(event));
  }

  private togglePanel(): void {
    const panel = byId('panel');
    panel.hidden = !panel.hidden;
    byId('panels').setAttribute('aria-expanded', String(!panel.hidden));
    this.cover();
    this.plotted = 0;
    this.dirty = true;
  }

  /** Passes the covered part of the canvas to the camera. */
  private cover(): void {
    const { clientWidth: width, clientHeight: height } = this.stage.canvas;
    const panel = byId('panel').getBoundingClientRect();
    const shown = !byId('panel').hidden;
    // at the side of a wide window, below in a narrow one
    const beside = panel.width < 0.6 * width;
    const below = height - byId('transport').getBoundingClientRect().top;
    document.documentElement.style.setProperty('--below', `${below}px`);
    this.stage.cover({
      right: shown && beside ? width - panel.left : 0,
      top: byId('top').getBoundingClientRect().bottom,
      bottom: shown && !beside ? height - panel.top : below,
    });
    this.dirty = true;
  }

  private key(event: KeyboardEvent): void {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (!(target instanceof HTMLInputElement && target.type === 'range')) return;
    }
    const speeds = [...byId<HTMLSelectElement>('speed').options].map((o) => Number(o.value));
    const place = speeds.indexOf(this.speed);
    const actions: Record<string, () => void> = {
      ' ': () => this.play(!this.running),
      '.': () => this.move(1),
      ',': () => this.move(-1),
      ArrowRight: () => this.move(1),
      ArrowLeft: () => this.move(-1),
      '+': () => this.setSpeed(speeds[Math.min(place + 1, speeds.length - 1)]),
      '-': () => this.setSpeed(speeds[Math.max(place - 1, 0)]),
      r: () => this.reset(),
      t: switchTheme,
      p: () => this.togglePanel(),
      f: () => this.follow(this.following < 0 ? this.selected : -1),
      n: () => this.toNow(),
      z: () => this.branch(),
      Home: () => this.home(),
      '?': () => help(byId<HTMLDialogElement>('keys'), this.live !== null),
      Escape: () => this.select(-1),
    };
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    // the space bar presses a focused button
    if (action && !(event.key === ' ' && target instanceof HTMLButtonElement)) {
      action();
      event.preventDefault();
    } else if (!action && this.panel.toggle(event.key.toLowerCase())) {
      event.preventDefault();
    }
  }

  private get running(): boolean {
    return this.live ? (this.status?.playing ?? false) : this.playing;
  }

  private play(on: boolean): void {
    if (this.live) {
      if (on) this.toNow();
      this.live.send({ command: on ? 'play' : 'pause' });
    } else {
      // at the end, play restarts
      if (on && this.timeline.at >= this.timeline.frames.length - 1) this.timeline.at = 0;
      this.clock = this.timeline.shown?.t ?? 0;
      this.playing = on;
    }
    this.transport();
  }

  private move(by: number): void {
    const atEnd = this.timeline.at >= this.timeline.frames.length - 1;
    if (this.live && by > 0 && atEnd) {
      this.toNow();
      this.live.send({ command: 'step' });
      return;
    }
    this.pause();
    this.timeline.move(by);
    this.looked();
  }

  private pause(): void {
    if (this.live && this.status?.playing) this.live.send({ command: 'pause' });
    this.playing = false;
    this.transport();
  }

  private seek(t: number): void {
    this.pause();
    this.timeline.seek(t);
    this.looked();
  }

  /** Shows another time. */
  private looked(): void {
    this.clock = this.timeline.shown?.t ?? 0;
    this.atNow = !this.live || this.timeline.at >= this.timeline.frames.length - 1;
    this.dirty = true;
    this.transport();
  }

  private toNow(): void {
    if (!this.live) return;
    this.timeline.at = Math.max(0, this.timeline.frames.length - 1);
    this.looked();
  }

  /** Continues the simulation from the shown state. */
  private branch(): void {
    const shown = this.timeline.shown;
    if (!this.live || this.atNow || !shown) return;
    this.live.send({ command: 'undo', time: shown.t });
    this.atNow = true;
    this.transport();
  }

  private reset(): void {
    if (this.live) {
      this.atNow = true;
      this.live.send({ command: 'reset' });
    } else {
      this.seek(this.timeline.start);
    }
  }

  private setSpeed(speed: number): void {
    this.speed = speed;
    byId<HTMLSelectElement>('speed').value = String(speed);
    this.live?.send({ command: 'speed', value: speed });
  }

  private select(body: number): void {
    this.selected = body;
    this.bodies?.highlight(body);
    this.panel.select(body);
    this.plotted = 0;
    this.dirty = true;
  }

  private follow(body: number): void {
    this.following = body;
    byId<HTMLSelectElement>('follow').value = String(body);
    if (body >= 0 && this.bodies) {
      this.anchor.setFromMatrixPosition(this.bodies.poses[body]);
      this.select(body);
    }
  }

  private home(): void {
    this.stage.goHome();
    this.dirty = true;
  }

  private say(words: string, bad: boolean): void {
    const message = byId('message');
    message.className = bad ? '' : 'note';
    message.querySelector('span')!.textContent = words;
    message.hidden = false;
  }

  private download(text: string): void {
    const link = make('a', { download: `${this.bodies?.description.name ?? 'scene'}.toml` });
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/toml' }));
    link.click();
    URL.revokeObjectURL(link.href);
    this.say('The current state was saved as a scene file.', false);
  }

  private paint(): void {
    this.stage.paint();
    this.bodies?.paint();
    this.contacts.paint();
    this.panel.paint();
    this.legend();
    this.plotted = 0;
    this.dirty = true;
  }

  private legend(): void {
    const { modes } = palette();
    const words = ['open', 'sticks', 'slips'];
    byId('legend').replaceChildren(
      ...words.map((word, i) => make('span', { class: 'mode', style: `--c: ${modes[i]}; --glyph: '${GLYPHS[i]}'` }, word)),
      make('span', { class: 'scale' }),
    );
  }

  private transport(): void {
    const button = byId('play');
    icon(button, this.running ? 'pause' : 'play');
    button.setAttribute('aria-label', this.running ? 'Pause' : 'Play');
    const { shown, end, start } = this.timeline;
    const past = byId('past');
    past.hidden = this.atNow || !shown;
    if (shown && !this.atNow) byId('past-words').textContent = `${shown.t.toFixed(3)} s of ${end.toFixed(3)} s`;
    const scrub = byId<HTMLInputElement>('scrub');
    const [low, high] = [String(start), String(Math.max(end, start + 1e-6))];
    if (scrub.min !== low) scrub.min = low;
    if (scrub.max !== high) scrub.max = high;
    if (shown) {
      scrub.value = String(shown.t);
      scrub.setAttribute('aria-valuetext', `${shown.t.toFixed(3)} seconds`);
      const rate = this.live && this.status?.playing ? ` · ${number(this.status.rate, 2)}×` : '';
      write(byId('time'), `${shown.t.toFixed(3)} s${this.live ? rate : ` / ${end.toFixed(2)} s`}`);
    }
  }

  /** Tooltip of the contact under the cursor. */
  private tip(): void {
    const tip = byId('tip');
    const frame = this.timeline.shown;
    const description = frame && this.timeline.description(frame);
    tip.hidden = !this.hovered || !frame || !description;
    if (!this.hovered || !frame || !description) return;
    const { contact, x, y } = this.hovered;
    const style = `--c: ${palette().modes[contact.mode]}; --glyph: '${GLYPHS[contact.mode]}'`;
    const lines = contactLines(contact, frame.h).flatMap(([what, value]) => [make('dt', {}, what), make('dd', {}, value)]);
    tip.setAttribute('aria-label', contactSentence(contact, description, frame.h));
    tip.replaceChildren(
      `${pair(contact, description)} `,
      make('span', { class: 'mode', style }, MODE_WORDS[contact.mode]),
      make('dl', {}, ...lines),
    );
    const { width, height } = tip.getBoundingClientRect();
    tip.style.left = `${Math.max(8, Math.min(x + 16, window.innerWidth - width - 8))}px`;
    tip.style.top = `${y + 16 + height > window.innerHeight ? y - height - 12 : y + 16}px`;
  }

  /** Draws the frame that is shown. */
  private show(): void {
    const frame = this.timeline.shown;
    const description = frame && this.timeline.description(frame);
    if (!frame || !description) return;
    if (this.bodies?.description !== description) this.build(description, frame);
    const bodies = this.bodies!;
    bodies.show(frame);
    if (this.following >= 0 && this.following < bodies.poses.length) {
      const at = new Vector3().setFromMatrixPosition(bodies.poses[this.following]);
      this.stage.follow(at.clone().sub(this.anchor));
      this.anchor.copy(at);
    }
    const radius = bodies.middling || 0.1 * this.stage.size;
    this.contacts.show(frame, this.stage, this.timeline.typical(RECENT), radius);
    this.lines.show(bodies, frame, this.stage);
  }

  private build(description: Description, frame: Frame): void {
    const first = this.bodies === null;
    if (this.bodies) {
      this.stage.scene.remove(this.bodies.group);
      this.bodies.dispose();
    }
    if (first) {
      const trial = new Bodies(description, 1);
      this.stage.frame(bounds(trial, frame, this.timeline));
      trial.dispose();
    }
    this.bodies = new Bodies(description, this.stage.size);
    this.bodies.highlight(this.selected);
    this.stage.scene.add(this.bodies.group);
    this.panel.describe(description);
    document.title = `${description.name} · Stiction`;
    byId('name').textContent = description.name;
    const follow = byId<HTMLSelectElement>('follow');
    const moving = description.bodies.flatMap((b, i) => (b.motion === 'fixed' ? [] : [make('option', { value: String(i) }, b.name)]));
    follow.replaceChildren(make('option', { value: '-1' }, 'none'), ...moving);
    follow.value = String(this.following);
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    const begun = performance.now();
    const dt = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    if (!this.live && this.playing) {
      this.clock = Math.min(this.clock + dt * this.speed, this.timeline.end);
      this.timeline.seek(this.clock);
      if (this.clock >= this.timeline.end) this.playing = false;
      this.dirty = true;
    }
    if (!this.dirty || !this.timeline.shown) return;
    this.dirty = false;
    this.show();
    const shown = performance.now();
    this.stage.render();
    const rendered = performance.now();
    this.transport();
    this.ruler();
    // plots change slowly: draw one per frame
    if (now - this.plotted > 40 || !this.running) this.plot(now);
    const done = performance.now();
    this.times.push({ script: done - begun, show: shown - begun, render: rendered - shown });
    if (this.times.length > MEASURED) this.times.shift();
    this.drawn += 1;
  }

  private plot(now: number): void {
    const { frames, shown, start, end } = this.timeline;
    if (!shown || byId('panel').hidden) return;
    const from = this.live ? Math.max(start, Math.min(end - WINDOW, shown.t)) : start;
    this.panel.draw(frames, shown, from, this.live ? Math.max(from + Math.min(WINDOW, end - from), from + 1e-3) : end, !this.running || this.plotted === 0);
    this.plotted = now;
  }

  /** Scale bars: of the arrows, and in the plane of lengths. */
  private ruler(): void {
    const { scale } = this.contacts;
    const key = byId('legend').querySelector<HTMLElement>('.scale')!;
    // a round force whose arrow is about this long [px]
    const force = scale > 0 ? (44 * this.stage.pixel(this.stage.controls.target)) / scale : 0;
    const round = force > 0 ? Number(force.toPrecision(1)) : 0;
    key.hidden = round === 0;
    const long = `${((44 * round) / (force || 1)).toFixed(0)}px`;
    if (key.style.getPropertyValue('--length') !== long) key.style.setProperty('--length', long);
    write(key, `${number(round, 2)} N`);
    const ruler = byId('ruler');
    ruler.hidden = this.stage.dimension === 3;
    if (ruler.hidden) return;
    const pixel = this.stage.pixel(this.stage.controls.target);
    // the largest 1, 2 or 5 of a decade within 110 pixels
    const most = 110 * pixel;
    const decade = 10 ** Math.floor(Math.log10(most));
    const length = [5, 2, 1].map((k) => k * decade).find((l) => l <= most) ?? decade;
    const width = `${(length / pixel).toFixed(1)}px`;
    if (ruler.style.width !== width) ruler.style.width = width;
    const [value, unit] = length >= 1000 ? [length / 1000, 'km'] : length >= 1 ? [length, 'm'] : length >= 0.01 ? [100 * length, 'cm'] : [1000 * length, 'mm'];
    write(ruler.querySelector('span')!, `${Number(value.toPrecision(6))} ${unit}`);
  }

  /** Figures for tests: drawing time of a frame [ms], over the fastest quarter because the machine is shared, and counts. */
  measure(): Times & { frames: number; draws: number; triangles: number; lost: boolean; t: number; contacts: number } {
    const quick = (key: keyof Times) => {
      const sorted = this.times.map((times) => times[key]).sort((a, b) => a - b);
      return sorted[sorted.length >> 2] ?? 0;
    };
    const { calls, triangles } = this.stage.renderer.info.render;
    return {
      script: quick('script'),
      show: quick('show'),
      render: quick('render'),
      frames: this.timeline.frames.length,
      draws: calls,
      triangles,
      lost: this.stage.lost,
      t: this.timeline.shown?.t ?? -1,
      contacts: this.contacts.count,
    };
  }

  /** Position of a body on the screen [px] and in the world [m]. */
  where(name: string): { x: number; y: number; at: number[] } | null {
    const body = this.bodies?.description.bodies.findIndex((b) => b.name === name) ?? -1;
    if (!this.bodies || body < 0) return null;
    const at = new Vector3().setFromMatrixPosition(this.bodies.poses[body]);
    const { x, y } = this.stage.project(at);
    return { x, y, at: at.toArray() };
  }

  /** Position of a closed contact on the screen [px]. */
  bearing(): { x: number; y: number } | null {
    const contact = this.contacts.bearing();
    return contact ? this.stage.project(new Vector3(...contact.point)) : null;
  }

  /** Variance of the brightness of the canvas, 0 to 255². */
  variance(): number {
    this.show();
    this.stage.render();
    const gl = this.stage.renderer.getContext();
    const [width, height] = [gl.drawingBufferWidth, gl.drawingBufferHeight];
    const pixels = new Uint8Array(4 * width * height);
    gl.readPixels(0, 0, width, height, gl.RGBA, gl.UNSIGNED_BYTE, pixels);
    let [sum, squares] = [0, 0];
    for (let i = 0; i < pixels.length; i += 4) {
      const y = (pixels[i] + pixels[i + 1] + pixels[i + 2]) / 3;
      sum += y;
      squares += y * y;
    }
    const n = width * height;
    return squares / n - (sum / n) ** 2;
  }
}
