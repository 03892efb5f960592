// Playback: which frame is shown, and how it moves, by the clock of a recorded run or by commands to a live simulation.

import type { Frame } from './data';
import type { Live, Status } from './live';
import { Timeline } from './timeline';

export interface PlaybackListener {
  /** Another frame is shown. */
  moved(): void;
  /** Play, pause, or the shown time: the controls show it. */
  changed(): void;
}

export class Playback {
  readonly timeline = new Timeline();
  /** Connection of a live page. */
  live: Live | null = null;
  /** Last status of a live simulation. */
  status: Status | null = null;
  /** `true` while a live page shows the latest frame. */
  atNow = true;
  speed = 1;
  /** A recorded run plays. */
  private playing = false;
  /** Time of a recorded run that plays [s]. */
  private clock = 0;

  constructor(private readonly listener: PlaybackListener) {}

  get running(): boolean {
    return this.live ? (this.status?.playing ?? false) : this.playing;
  }

  /** Adds a frame of the live simulation. */
  receive(frame: Frame): void {
    this.timeline.push(frame);
    if (this.atNow) this.timeline.at = this.timeline.frames.length - 1;
    this.listener.moved();
  }

  /** Takes the frames from before the connection. */
  load(frames: Frame[]): void {
    this.timeline.load(frames);
    if (this.atNow) this.timeline.at = this.timeline.frames.length - 1;
    this.listener.moved();
    this.listener.changed();
  }

  /** Takes back the last change of a live simulation; goes one frame back in a recorded run. */
  takeBack(): void {
    if (!this.live) {
      this.move(-1);
      return;
    }
    this.live.send({ command: 'take_back' });
    this.atNow = true;
    this.listener.changed();
  }

  /** Moves a recorded run that plays by real time [s]; `true` if it does. */
  advance(seconds: number): boolean {
    if (this.live || !this.playing) return false;
    this.clock = Math.min(this.clock + seconds * this.speed, this.timeline.end);
    this.timeline.seek(this.clock);
    if (this.clock >= this.timeline.end) this.playing = false;
    return true;
  }

  play(on: boolean): void {
    if (this.live) {
      if (on) this.toNow();
      this.live.send({ command: on ? 'play' : 'pause' });
    } else {
      // at the end, play restarts
      if (on && this.timeline.at >= this.timeline.frames.length - 1) this.timeline.at = 0;
      this.clock = this.timeline.shown?.t ?? 0;
      this.playing = on;
    }
    this.listener.changed();
  }

  /** Moves by frames. At the end of a live timeline, a move forward is a step of the simulation. */
  move(by: number): void {
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

  seek(t: number): void {
    this.pause();
    this.timeline.seek(t);
    this.looked();
  }

  /** Shows the latest frame of a live simulation. */
  toNow(): void {
    if (!this.live) return;
    this.timeline.at = Math.max(0, this.timeline.frames.length - 1);
    this.looked();
  }

  /** Continues the simulation from the shown state. */
  branch(): void {
    const shown = this.timeline.shown;
    if (!this.live || this.atNow || !shown) return;
    this.live.send({ command: 'undo', time: shown.t });
    this.atNow = true;
    this.listener.changed();
  }

  reset(): void {
    if (this.live) {
      this.atNow = true;
      this.live.send({ command: 'reset' });
    } else {
      this.seek(this.timeline.start);
    }
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.live?.send({ command: 'speed', value: speed });
  }

  private pause(): void {
    if (this.live && this.status?.playing) this.live.send({ command: 'pause' });
    this.playing = false;
    this.listener.changed();
  }

  /** Shows another time. */
  private looked(): void {
    this.clock = this.timeline.shown?.t ?? 0;
    this.atNow = !this.live || this.timeline.at >= this.timeline.frames.length - 1;
    this.listener.moved();
    this.listener.changed();
  }
}
