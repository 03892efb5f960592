// Timeline: frames sorted by time, and the one that is shown.

import type { Description, Frame } from './data';

/** Frame limit of a live page. Above it, every other frame of the older half is dropped. */
const MAX_FRAMES = 20000;

export class Timeline {
  readonly frames: Frame[] = [];
  private readonly descriptions = new Map<number, Description>();
  /** Index of the shown frame. */
  at = 0;

  describe(description: Description): void {
    this.descriptions.set(description.revision, description);
  }

  /** Description that a frame belongs to. */
  description(frame: Frame): Description | undefined {
    return this.descriptions.get(frame.revision);
  }

  /** Appends a frame and drops frames that are not before it. */
  push(frame: Frame): void {
    while (this.frames.length > 0 && this.frames[this.frames.length - 1].t >= frame.t) this.frames.pop();
    this.frames.push(frame);
    if (this.frames.length > MAX_FRAMES) {
      const half = this.frames.length >> 1;
      const kept = this.frames.filter((_, i) => i >= half || i % 2 === 0);
      this.frames.splice(0, this.frames.length, ...kept);
    }
    this.at = Math.min(this.at, this.frames.length - 1);
  }

  /** Replaces all frames; the shown time stays if it can. */
  load(frames: Frame[]): void {
    const t = this.shown?.t;
    this.frames.splice(0, this.frames.length);
    frames.forEach((frame) => this.push(frame));
    if (t !== undefined) this.seek(t);
  }

  get shown(): Frame | undefined {
    return this.frames[this.at];
  }

  get last(): Frame | undefined {
    return this.frames[this.frames.length - 1];
  }

  get start(): number {
    return this.frames[0]?.t ?? 0;
  }

  get end(): number {
    return this.last?.t ?? 0;
  }

  /** Shows the last frame that is not after a time [s]. */
  seek(t: number): void {
    let low = 0;
    let high = this.frames.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      // the slider rounds times
      if (this.frames[middle].t <= t + 1e-9) low = middle;
      else high = middle - 1;
    }
    this.at = Math.max(0, low);
  }

  /** Median of the typical normal forces within this time before the shown frame [N]. */
  typical(seconds: number): number {
    const { shown } = this;
    const forces: number[] = [];
    for (let i = this.at; i >= 0 && shown && this.frames[i].t >= shown.t - seconds; i--) {
      if (this.frames[i].typical > 0) forces.push(this.frames[i].typical);
    }
    return forces.sort((a, b) => a - b)[forces.length >> 1] ?? 0;
  }

  move(by: number): void {
    this.at = Math.max(0, Math.min(this.frames.length - 1, this.at + by));
  }
}
