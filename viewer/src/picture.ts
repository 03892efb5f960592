// Picture: the 3D scene of one frame, with bodies, contacts and lines, the selected body and the followed one.

import { Vector3 } from 'three';
import { Bodies } from './bodies';
import { bounds } from './bounds';
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
  private readonly anchor = new Vector3();

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
    if (this.bodies?.description !== description) this.build(description, frame, timeline);
    const bodies = this.bodies!;
    bodies.show(frame);
    if (this.following >= 0 && this.following < bodies.poses.length) {
      const at = new Vector3().setFromMatrixPosition(bodies.poses[this.following]);
      this.stage.follow(at.clone().sub(this.anchor));
      this.anchor.copy(at);
    }
    this.contacts.show(frame, this.stage, timeline.typical(RECENT), this.middling);
    this.lines.show(bodies, frame, this.stage);
  }

  private build(description: Description, frame: Frame, timeline: Timeline): void {
    if (this.bodies) {
      this.stage.scene.remove(this.bodies.group);
      this.bodies.dispose();
    } else {
      const trial = new Bodies(description, 1);
      this.stage.frame(bounds(trial, frame, timeline));
      trial.dispose();
    }
    this.bodies = new Bodies(description, this.stage.size);
    this.bodies.highlight(this.selected);
    this.stage.scene.add(this.bodies.group);
    this.described(description);
  }

  select(body: number): void {
    this.selected = body;
    this.bodies?.highlight(body);
  }

  /** Follows a body from where it is; −1 follows none. */
  follow(body: number): void {
    this.following = body;
    if (body >= 0 && this.bodies) this.anchor.setFromMatrixPosition(this.bodies.poses[body]);
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

  /** Position above the centre of the view, and size, of a body to be dropped. */
  above(): { at: number[]; size: number } {
    const { stage } = this;
    const at = stage.controls.target.clone();
    at.setComponent(stage.dimension - 1, at.getComponent(stage.dimension - 1) + 0.3 * stage.size);
    return { at: this.numbers(at), size: this.middling };
  }

  /** Size of a typical body [m]. */
  private get middling(): number {
    return this.bodies?.middling || 0.1 * this.stage.size;
  }
}
