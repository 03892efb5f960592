// Application: connects playback, picture, panel and controls, and draws a frame when something changed.

import { Vector3 } from 'three';
import type { Contact, Description, Frame } from './data';
import { byId, icon, make, write } from './dom';
import { help } from './help';
import { listenToKeys } from './keyboard';
import { paintLegend, showScales, showShade } from './legend';
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
import { Tree } from './tree';
import { Video, fileName, offer, table } from './save';

/** Step of a turn of the view by a key, in right angles. */
const TURN = 0.12;
/** Factor of a zoom by a key. */
const ZOOM = 1.25;
/** Time between two updates of the list of contacts while a run plays [ms]. */
const LIST_INTERVAL = 250;
/** Time window of the plots while the simulation is live [s]. */
const WINDOW = 20;

export class App {
  private readonly playback: Playback;
  private readonly transport: Transport;
  private readonly picture: Picture;
  private readonly panel: Panel;
  private readonly tree: Tree;
  private readonly pointer: Pointer;
  private readonly video = new Video();
  /** Cause of the message that is shown. */
  private cause: 'refused' | 'stopped' | 'note' | null = null;
  private readonly stopwatch = new Stopwatch();
  /** Something changed since the last frame was drawn. */
  private dirty = true;
  /** Number of frames drawn. */
  drawn = 0;
  /** Time of the last animation frame [ms]. */
  private last = 0;
  /** Time at which plots were drawn last [ms]; 0 draws all of them. */
  private plotted = 0;
  /** Time at which the list of contacts was shown last [ms]. */
  private listed = 0;

  constructor(dimension: 2 | 3) {
    this.picture = new Picture(dimension, (description) => this.describe(description));
    this.playback = new Playback({ moved: () => this.redraw(), changed: () => this.transport.show() });
    this.transport = new Transport(this.playback);
    this.panel = this.makePanel();
    this.tree = this.makeTree();
    this.pointer = this.listenToPointer();
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
      frame: (frame) => {
        // the simulation goes on
        if (this.cause === 'stopped' && frame.t !== this.timeline.end) this.unsay();
        this.playback.receive(frame);
      },
      past: (frames) => this.playback.load(frames),
      status: (status) => {
        this.playback.status = status;
        this.panel.status(status);
        this.transport.show();
      },
      error: (words, stopped) => this.say(words, stopped ? 'stopped' : 'refused'),
      sent: (command) => {
        if (command.command === 'move') return;
        // if it is refused too, the server says so
        if (this.cause !== 'note') this.unsay();
      },
      scene: (text) => this.download(text),
      connected: (yes) => {
        const kind = byId('kind');
        kind.className = yes ? 'badge live' : 'badge live lost';
        kind.textContent = yes ? 'live' : 'not connected';
      },
    });
    this.playback.live = live;
    // one of several scenes
    byId('scenes').hidden = !new URLSearchParams(location.search).has('scene');
    this.panel.live((command) => live.send(command), () => this.picture.above());
    this.panel.suggestSize(this.picture.middling);
  }

  private makePanel(): Panel {
    const { contacts, lines, stage } = this.picture;
    const redraw = (set: (on: boolean) => void) => (on: boolean) => {
      set(on);
      this.redraw();
    };
    return new Panel(byId('panel'), [
      { name: 'Contact points', key: 'C', on: true, set: redraw((on) => (contacts.points = on)) },
      { name: 'Forces', key: 'I', on: true, set: redraw((on) => (contacts.arrows = on)) },
      { name: 'Reactions', key: 'X', on: true, set: redraw((on) => (contacts.reactions = on)) },
      { name: 'Joints, springs', key: 'J', on: true, set: redraw((on) => (lines.joints = on)) },
      { name: 'Gaps', key: 'G', on: true, set: redraw((on) => (lines.gaps = on)) },
      { name: 'Grid', key: 'D', on: true, set: redraw((on) => stage.showGrid(on)) },
    ], {
      resized: () => this.redrawPlots(),
      shade: (name) => {
        this.picture.shadeBy(name);
        this.redraw();
      },
      picture: () => this.savePicture(),
      video: () => this.toggleVideo(),
      table: () => offer(`${this.fileName}.csv`, new Blob([table(this.panel.shown, this.timeline.frames)], { type: 'text/csv' })),
    });
  }

  private makeTree(): Tree {
    return new Tree({
      select: (body) => this.select(body),
      mark: (bodies) => {
        this.picture.mark(bodies);
        this.redraw();
      },
      explain: ([a, b]) => {
        const { contacts, stage } = this.picture;
        const contact = contacts.between(a, b);
        if (!contact) return;
        const { x, y } = stage.project(contacts.point(contact));
        this.explain(contact, x, y);
      },
      look: (name, look) => {
        this.picture.setLook(name, look);
        this.redraw();
      },
      follow: (body) => this.follow(body),
      plot: (name) => this.panel.add(name),
    });
  }

  private get fileName(): string {
    return fileName(this.picture.bodies?.description.name ?? 'scene');
  }

  private savePicture(): void {
    const { stage } = this.picture;
    // drawn again, because the browser clears what it has shown
    stage.render();
    stage.canvas.toBlob((data) => {
      if (data) offer(`${this.fileName}-${(this.timeline.shown?.t ?? 0).toFixed(3)}s.png`, data);
    });
  }

  /** Begins a video, which a recorded run fills from its start, or ends it. */
  private toggleVideo(): void {
    const { video, playback } = this;
    if (video.running) {
      video.end();
    } else {
      try {
        video.begin(this.picture.stage.canvas, (data) => {
          this.panel.recording(false);
          offer(`${this.fileName}.webm`, data);
        });
      } catch (error) {
        this.say(error instanceof Error ? error.message : String(error), 'refused');
        return;
      }
      if (!playback.live) playback.reset();
      if (!playback.running) playback.play(true);
    }
    this.panel.recording(video.running);
  }

  private listenToPointer(): Pointer {
    const { picture, playback } = this;
    return new Pointer(picture.stage, picture.contacts, {
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
    for (const name of ['home', 'theme', 'help', 'panels', 'list', 'reset', 'back', 'play', 'step']) icon(byId(name), name);
    byId('home').onclick = () => this.home();
    byId('theme').onclick = switchTheme;
    byId('help').onclick = () => this.help();
    byId('panels').onclick = () => this.togglePanel();
    byId('list').onclick = () => this.toggleTree();
    byId('message').querySelector('button')!.onclick = () => this.unsay();
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
      b: () => this.toggleTree(),
      h: () => this.tree.cycleSelected(),
      'Ctrl+z': () => playback.takeBack(),
      'Shift+ArrowLeft': () => this.turn(-TURN, 0),
      'Shift+ArrowRight': () => this.turn(TURN, 0),
      'Shift+ArrowUp': () => this.turn(0, TURN),
      'Shift+ArrowDown': () => this.turn(0, -TURN),
      '[': () => this.zoom(1 / ZOOM),
      ']': () => this.zoom(ZOOM),
      'Alt+ArrowLeft': () => this.push(-1, 0),
      'Alt+ArrowRight': () => this.push(1, 0),
      'Alt+ArrowUp': () => this.push(0, 1),
      'Alt+ArrowDown': () => this.push(0, -1),
      Home: () => this.home(),
      '?': () => this.help(),
      Escape: () => this.select(-1),
    }, (key) => this.panel.toggle(key), () => this.endPush());
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
    this.picture.home();
    this.redraw();
  }

  private turn(right: number, up: number): void {
    this.picture.stage.turn(right, up);
    this.redraw();
  }

  private zoom(factor: number): void {
    this.picture.stage.zoom(factor);
    this.redraw();
  }

  /** Pulls the selected body to one side of the view, as the mouse does. */
  private push(right: number, up: number): void {
    const { picture, playback } = this;
    const { bodies, selected, stage, lines } = picture;
    if (!bodies || !playback.live || !playback.atNow || !bodies.movers.includes(selected)) return;
    if (!lines.pull) {
      const at = bodies.centre(selected);
      picture.grab(selected, at);
      playback.live.send({ command: 'grab', body: selected, point: picture.numbers(at) });
      if (playback.status && !playback.status.playing) playback.live.send({ command: 'play' });
    }
    const step = new Vector3(right, up, 0).applyQuaternion(stage.camera.quaternion).multiplyScalar(0.5 * picture.middling);
    lines.pull!.target.add(step);
    playback.live.send({ command: 'move', target: picture.numbers(lines.pull!.target) });
  }

  private endPush(): void {
    const { lines } = this.picture;
    if (!lines.pull || document.body.classList.contains('grabbing')) return;
    lines.pull = null;
    this.playback.live?.send({ command: 'release' });
  }

  private toggleTree(): void {
    const tree = byId('tree');
    tree.hidden = !tree.hidden;
    byId('list').setAttribute('aria-expanded', String(!tree.hidden));
    // on a phone there is room for one of them
    if (!tree.hidden && window.innerWidth <= 760 && !byId('panel').hidden) this.togglePanel();
    this.tree.fill();
    this.cover();
  }

  private togglePanel(): void {
    const panel = byId('panel');
    panel.hidden = !panel.hidden;
    byId('panels').setAttribute('aria-expanded', String(!panel.hidden));
    if (!panel.hidden && window.innerWidth <= 760 && !byId('tree').hidden) this.toggleTree();
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
    const beside = width > 760;
    const below = height - byId('transport').getBoundingClientRect().top;
    const tree = byId('tree').getBoundingClientRect();
    const listed = !byId('tree').hidden;
    document.documentElement.style.setProperty('--below', `${below}px`);
    document.documentElement.style.setProperty('--left', listed && beside ? `${tree.right}px` : '0px');
    const drawer = shown && !beside ? panel.top : listed && !beside ? tree.top : height - below;
    const before = JSON.stringify(stage.open);
    stage.cover({
      left: listed && beside ? tree.right : 0,
      right: shown && beside ? width - panel.left : 0,
      top: byId('top').getBoundingClientRect().bottom,
      bottom: height - drawer,
    });
    // what was framed stays clear of the bars
    if (before !== JSON.stringify(stage.open)) stage.reframe();
    this.redraw();
  }

  private select(body: number): void {
    this.picture.select(body);
    this.panel.select(body);
    this.tree.select(body);
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
    this.tree.markPair(contact && contact.bodies);
    if (contact && frame && description) showTip(contact, frame, description, x, y, this.picture.stage.open);
    else hideTip();
  }

  private say(words: string, cause: 'refused' | 'stopped' | 'note'): void {
    const message = byId('message');
    message.className = cause === 'note' ? 'note' : '';
    write(message.querySelector('span')!, words);
    message.hidden = false;
    this.cause = cause;
  }

  private unsay(): void {
    byId('message').hidden = true;
    this.cause = null;
  }

  private download(text: string): void {
    offer(`${this.fileName}.toml`, new Blob([text], { type: 'application/toml' }));
    this.say('The current state was saved as a scene file.', 'note');
  }

  private paint(): void {
    this.picture.paint();
    this.panel.paint();
    paintLegend();
    this.redrawPlots();
  }

  /** Shows names of another description. */
  private describe(description: Description): void {
    this.panel.describe(description, this.timeline.frames);
    this.panel.suggestSize(this.picture.middling);
    this.tree.describe(description, this.picture.looks);
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
    if (this.playback.advance(seconds)) {
      this.redraw();
      if (this.video.running && !this.playback.running) this.toggleVideo();
    }
    this.pointer.showCursor();
    if (!this.dirty || !this.timeline.shown) return;
    this.dirty = false;
    const { picture } = this;
    picture.show(this.timeline);
    const shown = performance.now();
    picture.stage.render();
    const rendered = performance.now();
    this.transport.show();
    showScales(picture.stage, picture.contacts.scale);
    showShade(picture.shading);
    if (now - this.listed > LIST_INTERVAL || !this.playback.running) {
      this.listed = now;
      this.tree.show(this.timeline.shown);
    }
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
    this.panel.draw(frames, this.timeline.at, from, to, !running || this.plotted === 0);
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
    const at = bodies.centre(body);
    const { x, y } = stage.project(at);
    return { x, y, at: at.toArray() };
  }

  /** Boxes on the canvas [px], for tests: what moves, the uncovered part, and the tips of arrows. */
  framed(): { bodies: number[]; open: number[] } {
    const { bodies, stage } = this.picture;
    const points = (bodies?.movers ?? []).flatMap((body) => bodies!.corners(body)).map((p) => stage.project(p));
    const { left, top, width, height } = stage.open;
    const [x, y] = [points.map((p) => p.x), points.map((p) => p.y)];
    return {
      bodies: [Math.min(...x), Math.min(...y), Math.max(...x), Math.max(...y)],
      open: [left, top, left + width, top + height],
    };
  }

  /** Colours of the bodies as they are drawn, for tests. */
  colors(): string[] {
    return this.picture.bodies?.colors() ?? [];
  }

  /** Drawn arrows from tail to tip [m], for tests. */
  arrows(): number[][] {
    return this.picture.contacts.drawn();
  }

  /** Force that an arrow of a length stands for [N], for tests. */
  forceOf(length: number): number {
    return length / this.picture.contacts.scale;
  }

  /** Size of the video that is recorded so far [bytes], for tests. */
  get recorded(): number {
    return this.video.bytes;
  }

  /** Name of the selected body, for tests. */
  get selected(): string | undefined {
    return this.picture.bodies?.description.bodies[this.picture.selected]?.name;
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
