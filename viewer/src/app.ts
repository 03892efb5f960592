// Application: connects playback, picture, panel and controls, and draws a frame when something changed.

import { Vector3 } from 'three';
import type { Contact, Description, Frame } from './data';
import { byId, icon, make } from './dom';
import { help } from './help';
import { listenToKeys } from './keyboard';
import { paintLegend, showScales } from './legend';
import { Live } from './live';
import { Stopwatch, brightnessVariance, type Times } from './measure';
import { Panel } from './panel';
import { Picture } from './picture';
import { Playback } from './playback';
import { Pointer } from './pointer';
import type { Timeline } from './timeline';
import { hideTip, showTip } from './tooltip';
import { Transport } from './transport';
import { onTheme, switchTheme } from './theme';

/** Time window of the plots while the simulation is live [s]. */
const WINDOW = 20;

export class App {
  private readonly playback: Playback;
  private readonly transport: Transport;
  private readonly picture: Picture;
  private readonly panel: Panel;
  private readonly stopwatch = new Stopwatch();
  /** Something changed since the last frame was drawn. */
  private dirty = true;
  /** Number of frames drawn. */
  drawn = 0;
  /** Time of the last animation frame [ms]. */
  private last = 0;
  /** Time at which plots were drawn last [ms]; 0 draws all of them. */
  private plotted = 0;

  constructor(dimension: 2 | 3) {
    this.picture = new Picture(dimension, (description) => this.describe(description));
    this.playback = new Playback({ moved: () => this.redraw(), changed: () => this.transport.show() });
    this.transport = new Transport(this.playback);
    this.panel = this.makePanel();
    this.listenToPointer();
    this.picture.stage.controls.addEventListener('change', () => this.redraw());
    new ResizeObserver(() => this.cover()).observe(this.picture.stage.canvas);
    onTheme(() => this.paint());
    this.listenToButtons();
    this.listenToKeys();
    paintLegend();
    this.cover();
    requestAnimationFrame((now) => this.tick(now));
  }

  get timeline(): Timeline {
    return this.playback.timeline;
  }

  /** Plays a recorded run. */
  replay(descriptions: Description[], frames: Frame[]): void {
    descriptions.forEach((d) => this.timeline.describe(d));
    frames.forEach((f) => this.timeline.push(f));
    this.timeline.at = 0;
    byId('kind').textContent = 'recorded run';
    this.picture.show(this.timeline);
    this.playback.play(true);
  }

  /** Shows a live simulation. */
  connect(): void {
    const live = new Live({
      description: (description) => this.timeline.describe(description),
      frame: (frame) => this.playback.receive(frame),
      status: (status) => {
        this.playback.status = status;
        this.panel.status(status);
        this.transport.show();
      },
      error: (words) => this.say(words, true),
      scene: (text) => this.download(text),
      connected: (yes) => {
        const kind = byId('kind');
        kind.className = yes ? 'badge live' : 'badge live lost';
        kind.textContent = yes ? 'live' : 'not connected';
      },
    });
    this.playback.live = live;
    this.panel.live((command) => live.send(command), () => this.picture.above());
  }

  private makePanel(): Panel {
    const { contacts, lines, stage } = this.picture;
    const redraw = (set: (on: boolean) => void) => (on: boolean) => {
      set(on);
      this.redraw();
    };
    return new Panel(byId('panel'), [
      { name: 'Contact points', key: 'C', on: true, set: redraw((on) => (contacts.points = on)) },
      { name: 'Impulses', key: 'I', on: true, set: redraw((on) => (contacts.arrows = on)) },
      { name: 'Joints, springs', key: 'J', on: true, set: redraw((on) => (lines.joints = on)) },
      { name: 'Gaps', key: 'G', on: true, set: redraw((on) => (lines.gaps = on)) },
      { name: 'Grid', key: 'D', on: true, set: redraw((on) => stage.showGrid(on)) },
    ], () => this.redrawPlots());
  }

  private listenToPointer(): void {
    const { picture, playback } = this;
    new Pointer(picture.stage, picture.contacts, {
      bodies: () => picture.bodies,
      pushes: () => playback.live !== null && playback.atNow,
      grab: (body, point) => {
        picture.grab(body, point);
        playback.live?.send({ command: 'grab', body, point: picture.numbers(point) });
        if (playback.status && !playback.status.playing) playback.live?.send({ command: 'play' });
      },
      move: (target) => {
        picture.lines.pull?.target.copy(target);
        playback.live?.send({ command: 'move', target: picture.numbers(target) });
      },
      release: () => {
        picture.lines.pull = null;
        playback.live?.send({ command: 'release' });
      },
      select: (body) => this.select(body),
      explain: (contact, x, y) => this.explain(contact, x, y),
    });
  }

  private listenToButtons(): void {
    for (const name of ['home', 'theme', 'help', 'panels', 'reset', 'back', 'play', 'step']) icon(byId(name), name);
    byId('home').onclick = () => this.home();
    byId('theme').onclick = switchTheme;
    byId('help').onclick = () => this.help();
    byId('panels').onclick = () => this.togglePanel();
    byId('message').querySelector('button')!.onclick = () => (byId('message').hidden = true);
    const follow = byId<HTMLSelectElement>('follow');
    follow.onchange = () => this.follow(Number(follow.value));
    // on a phone, hide the plots at first
    if (window.innerWidth <= 760) this.togglePanel();
  }

  private listenToKeys(): void {
    const { picture, playback, transport } = this;
    listenToKeys({
      ' ': () => playback.play(!playback.running),
      '.': () => playback.move(1),
      ',': () => playback.move(-1),
      ArrowRight: () => playback.move(1),
      ArrowLeft: () => playback.move(-1),
      '+': () => transport.changeSpeed(1),
      '-': () => transport.changeSpeed(-1),
      r: () => playback.reset(),
      t: switchTheme,
      p: () => this.togglePanel(),
      f: () => this.follow(picture.following < 0 ? picture.selected : -1),
      n: () => playback.toNow(),
      z: () => playback.branch(),
      Home: () => this.home(),
      '?': () => this.help(),
      Escape: () => this.select(-1),
    }, (key) => this.panel.toggle(key));
  }

  private redraw(): void {
    this.dirty = true;
  }

  private redrawPlots(): void {
    this.plotted = 0;
    this.redraw();
  }

  private help(): void {
    help(byId<HTMLDialogElement>('keys'), this.playback.live !== null);
  }

  private home(): void {
    this.picture.stage.goHome();
    this.redraw();
  }

  private togglePanel(): void {
    const panel = byId('panel');
    panel.hidden = !panel.hidden;
    byId('panels').setAttribute('aria-expanded', String(!panel.hidden));
    this.cover();
    this.redrawPlots();
  }

  /** Passes the covered part of the canvas to the camera. */
  private cover(): void {
    const { stage } = this.picture;
    const { clientWidth: width, clientHeight: height } = stage.canvas;
    const panel = byId('panel').getBoundingClientRect();
    const shown = !byId('panel').hidden;
    // at the side of a wide window, below in a narrow one
    const beside = panel.width < 0.6 * width;
    const below = height - byId('transport').getBoundingClientRect().top;
    document.documentElement.style.setProperty('--below', `${below}px`);
    stage.cover({
      right: shown && beside ? width - panel.left : 0,
      top: byId('top').getBoundingClientRect().bottom,
      bottom: shown && !beside ? height - panel.top : below,
    });
    this.redraw();
  }

  private select(body: number): void {
    this.picture.select(body);
    this.panel.select(body);
    this.redrawPlots();
  }

  private follow(body: number): void {
    this.picture.follow(body);
    byId<HTMLSelectElement>('follow').value = String(body);
    if (body >= 0 && this.picture.bodies) this.select(body);
  }

  /** Shows the values of the contact under the cursor, if there is one. */
  private explain(contact: Contact | null, x: number, y: number): void {
    const frame = this.timeline.shown;
    const description = frame && this.timeline.description(frame);
    if (contact && frame && description) showTip(contact, frame, description, x, y);
    else hideTip();
  }

  private say(words: string, bad: boolean): void {
    const message = byId('message');
    message.className = bad ? '' : 'note';
    message.querySelector('span')!.textContent = words;
    message.hidden = false;
  }

  private download(text: string): void {
    const link = make('a', { download: `${this.picture.bodies?.description.name ?? 'scene'}.toml` });
    link.href = URL.createObjectURL(new Blob([text], { type: 'application/toml' }));
    link.click();
    URL.revokeObjectURL(link.href);
    this.say('The current state was saved as a scene file.', false);
  }

  private paint(): void {
    this.picture.paint();
    this.panel.paint();
    paintLegend();
    this.redrawPlots();
  }

  /** Shows names of another description. */
  private describe(description: Description): void {
    this.panel.describe(description);
    document.title = `${description.name} · Stiction`;
    byId('name').textContent = description.name;
    const follow = byId<HTMLSelectElement>('follow');
    const moving = description.bodies.flatMap((b, i) => (b.motion === 'fixed' ? [] : [make('option', { value: String(i) }, b.name)]));
    follow.replaceChildren(make('option', { value: '-1' }, 'none'), ...moving);
    follow.value = String(this.picture.following);
  }

  private tick(now: number): void {
    requestAnimationFrame((next) => this.tick(next));
    const begun = performance.now();
    const seconds = Math.min((now - this.last) / 1000, 0.1);
    this.last = now;
    if (this.playback.advance(seconds)) this.redraw();
    if (!this.dirty || !this.timeline.shown) return;
    this.dirty = false;
    const { picture } = this;
    picture.show(this.timeline);
    const shown = performance.now();
    picture.stage.render();
    const rendered = performance.now();
    this.transport.show();
    showScales(picture.stage, picture.contacts.scale);
    // plots change slowly: draw one per frame
    if (now - this.plotted > 40 || !this.playback.running) this.plot(now);
    const done = performance.now();
    this.stopwatch.add({ script: done - begun, show: shown - begun, render: rendered - shown });
    this.drawn += 1;
  }

  private plot(now: number): void {
    const { frames, shown, start, end } = this.timeline;
    const { live, running } = this.playback;
    if (!shown || byId('panel').hidden) return;
    const from = live ? Math.max(start, Math.min(end - WINDOW, shown.t)) : start;
    const to = live ? Math.max(from + Math.min(WINDOW, end - from), from + 1e-3) : end;
    this.panel.draw(frames, shown, from, to, !running || this.plotted === 0);
    this.plotted = now;
  }

  /** Figures for tests: drawing time of a frame [ms], and counts. */
  measure(): Times & { frames: number; draws: number; triangles: number; lost: boolean; t: number; contacts: number } {
    const { stage, contacts } = this.picture;
    const { calls, triangles } = stage.renderer.info.render;
    return {
      ...this.stopwatch.quick,
      frames: this.timeline.frames.length,
      draws: calls,
      triangles,
      lost: stage.lost,
      t: this.timeline.shown?.t ?? -1,
      contacts: contacts.count,
    };
  }

  /** Position of a body on the screen [px] and in the world [m], for tests. */
  where(name: string): { x: number; y: number; at: number[] } | null {
    const { bodies, stage } = this.picture;
    const body = bodies?.description.bodies.findIndex((b) => b.name === name) ?? -1;
    if (!bodies || body < 0) return null;
    const at = new Vector3().setFromMatrixPosition(bodies.poses[body]);
    const { x, y } = stage.project(at);
    return { x, y, at: at.toArray() };
  }

  /** Position of a closed contact on the screen [px], for tests. */
  bearing(): { x: number; y: number } | null {
    const contact = this.picture.contacts.bearing();
    return contact ? this.picture.stage.project(new Vector3(...contact.point)) : null;
  }

  /** Variance of the brightness of the canvas, 0 to 255², for tests. */
  variance(): number {
    this.picture.show(this.timeline);
    this.picture.stage.render();
    return brightnessVariance(this.picture.stage);
  }
}
