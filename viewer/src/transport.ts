// Transport: buttons, slider and speed that control a playback, and the bar of a live page that shows the past.

import { byId, icon, write } from './dom';
import type { Playback } from './playback';
import { number } from './words';

export class Transport {
  private readonly scrub = byId<HTMLInputElement>('scrub');
  private readonly speed = byId<HTMLSelectElement>('speed');

  constructor(private readonly playback: Playback) {
    byId('reset').onclick = () => playback.reset();
    byId('back').onclick = () => playback.move(-1);
    byId('play').onclick = () => playback.play(!playback.running);
    byId('step').onclick = () => playback.move(1);
    byId('now').onclick = () => playback.toNow();
    byId('branch').onclick = () => playback.branch();
    this.scrub.oninput = () => playback.seek(Number(this.scrub.value));
    this.speed.onchange = () => this.setSpeed(Number(this.speed.value));
  }

  /** Chooses the next faster or slower speed, +1 or −1. */
  changeSpeed(by: number): void {
    const speeds = [...this.speed.options].map((o) => Number(o.value));
    const place = speeds.indexOf(this.playback.speed) + by;
    this.setSpeed(speeds[Math.max(0, Math.min(place, speeds.length - 1))]);
  }

  private setSpeed(speed: number): void {
    this.speed.value = String(speed);
    this.playback.setSpeed(speed);
  }

  /** Shows play or pause, and the time. */
  show(): void {
    const { timeline, running, atNow, live, status } = this.playback;
    const { shown, end, start } = timeline;
    const button = byId('play');
    icon(button, running ? 'pause' : 'play');
    button.setAttribute('aria-label', running ? 'Pause' : 'Play');
    byId('past').hidden = atNow || !shown;
    if (shown && !atNow) byId('past-words').textContent = `${shown.t.toFixed(3)} s of ${end.toFixed(3)} s`;
    const { scrub } = this;
    const [low, high] = [String(start), String(Math.max(end, start + 1e-6))];
    if (scrub.min !== low) scrub.min = low;
    if (scrub.max !== high) scrub.max = high;
    if (shown) {
      scrub.value = String(shown.t);
      scrub.setAttribute('aria-valuetext', `${shown.t.toFixed(3)} seconds`);
      const rate = live && status?.playing ? ` · ${number(status.rate, 2)}×` : '';
      write(byId('time'), `${shown.t.toFixed(3)} s${live ? rate : ` / ${end.toFixed(2)} s`}`);
    }
  }
}
