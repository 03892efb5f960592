// Picture: the 3D scene of one frame, with bodies, contacts and lines, the selected body and the followed one.

import { Vector3 } from 'three';
import { Bodies, type Look } from './bodies';
import { boundsNow, boundsOfRun } from './bounds';
import { Shading, type ShadeName } from './shading';
import { Contacts } from './contacts';
import type { Description, Frame } from './data';
import { byId } from './dom';
import { Lines } from './lines';
import { Stage } from './stage';
import type { Timeline } from './timeline';

/** Time window over which the typical force that scales arrows is measured [s]. */
const RECENT = 0.5;

export class Picture {
  readonly stage: Stage;
  readonly contacts = new Contacts();
  readonly lines = new Lines();
  /** Bodies of the shown description. */
  bodies: Bodies | null = null;
  /** Index of the body that the camera follows, or −1. */
  following = -1;
  /** Index of the selected body, or −1. */
  selected = -1;
  readonly shading = new Shading();
  /** How bodies are drawn that are not simply shown, by name. */
  readonly looks = new Map<string, Look>();
  private readonly anchor = new Vector3();
  /** Bodies to be built again, because one is drawn in another way. */
  private stale = false;

  /** `described` is called when a frame has another description than the one before. */
  constructor(dimension: 2 | 3, private readonly described: (description: Description) => void) {
    this.stage = new Stage(byId<HTMLCanvasElement>('view'), dimension);
    this.stage.scene.add(this.contacts.group, this.lines.object);
  }

  /** Draws the shown frame of a timeline. */
  show(timeline: Timeline): void {
    const frame = timeline.shown;
    const description = frame && timeline.description(frame);
    if (!frame || !description) return;
    if (this.bodies?.description !== description || this.stale) this.build(description, frame, timeline);
    const bodies = this.bodies!;
    bodies.show(frame);
    this.shading.show(bodies, timeline);
    if (this.following >= 0 && this.following < bodies.poses.length) {
      const at = bodies.centre(this.following);
      this.stage.follow(at.clone().sub(this.anchor));
      this.anchor.copy(at);
    }
    this.contacts.show(frame, this.stage, timeline.typical(RECENT), this.middling);
    this.lines.show(bodies, frame, this.stage);
  }

  private build(description: Description, frame: Frame, timeline: Timeline): void {
    const before = this.bodies;
    if (before) {
      this.stage.scene.remove(before.group);
      before.dispose();
    } else {
      const trial = new Bodies(description, 1);
      fadeContainers(trial, frame, this.looks);
      const bounds = boundsOfRun(trial, frame, timeline);
      this.stage.measure(bounds);
      this.stage.frame(bounds);
      trial.dispose();
    }
    this.stale = false;
    this.bodies = new Bodies(description, this.stage.size, this.looks);
    this.bodies.show(frame);
    this.bodies.highlight(this.marked);
    this.shading.apply(this.bodies);
    this.stage.scene.add(this.bodies.group);
    if (before?.description !== description) this.described(description);
  }

  private marked: readonly number[] = [];

  /** Selects a body; −1 selects none. */
  select(body: number): void {
    this.selected = body;
    this.mark(body < 0 ? [] : [body]);
  }

  /** Marks bodies by their colour. */
  mark(bodies: readonly number[]): void {
    this.marked = bodies;
    this.bodies?.highlight(bodies);
  }

  /** Draws a body in another way. */
  setLook(name: string, look: Look): void {
    if (look === 'shown') this.looks.delete(name);
    else this.looks.set(name, look);
    this.stale = true;
  }

  /** Chooses the quantity that colours bodies. */
  shadeBy(name: ShadeName): void {
    this.shading.name = name;
    if (this.bodies) this.shading.apply(this.bodies);
  }

  /** Frames what moves. */
  home(): void {
    if (this.bodies) this.stage.frame(boundsNow(this.bodies));
  }

  /** Follows a body, which moves to the middle of the view; −1 follows none. */
  follow(body: number): void {
    this.following = body;
    if (body < 0 || !this.bodies) return;
    this.bodies.centre(body, this.anchor);
    this.stage.centreOn(this.anchor);
  }

  /** Shows the spring of the mouse, from a point of a body. */
  grab(body: number, point: Vector3): void {
    const local = point.clone().applyMatrix4(this.bodies!.poses[body].clone().invert());
    this.lines.pull = { body, local, target: point.clone() };
  }

  /** Draws everything in the colors of the theme. */
  paint(): void {
    this.stage.paint();
    this.bodies?.paint();
    this.contacts.paint();
  }

  /** Coordinates of a point, as many as the scene has dimensions. */
  numbers(point: Vector3): number[] {
    return this.stage.dimension === 2 ? [point.x, point.y] : [point.x, point.y, point.z];
  }

  /** Place above the centre of the view for a body to be dropped [m]. */
  above(): number[] {
    const { stage } = this;
    const at = stage.controls.target.clone();
    at.setComponent(stage.dimension - 1, at.getComponent(stage.dimension - 1) + 0.3 * stage.size);
    return this.numbers(at);
  }

  /** Size of a typical body: half its edge [m]. */
  get middling(): number {
    return this.bodies?.middling || 0.1 * this.stage.size;
  }
}

/** Fades bodies in space that surround others: a drum would hide its contents. */
function fadeContainers(bodies: Bodies, frame: Frame, looks: Map<string, Look>): void {
  const { description } = bodies;
  if (description.dimension === 2) return;
  bodies.show(frame);
  const at = new Vector3();
  description.bodies.forEach((body, i) => {
    if (body.shapes.length < 4 || bodies.boxes[i].isEmpty()) return;
    const turned = bodies.poses[i].clone().invert();
    const inside = bodies.movers.filter((k) => k !== i && bodies.boxes[i].containsPoint(bodies.centre(k, at).applyMatrix4(turned)));
    if (inside.length > 1) looks.set(body.name, 'faded');
  });
}
