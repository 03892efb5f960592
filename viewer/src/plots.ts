// Small plots over time, drawn on canvases of their own.

import type { Frame } from './data';
import type { Figure } from './quantities';
import { palette } from './theme';
import { number, power } from './words';

/** Room for numbers at the left and the time below [px]. */
const LEFT = 50;
const BOTTOM = 4;
const TOP = 5;
/** Smallest range of a linear axis, in the unit of the plot. */
const LEAST = 1e-6;
/** Lower end of a logarithmic axis: smaller values are round-off. */
const FLOOR = 1e-17;

export class Plot {
  readonly canvas = document.createElement('canvas');
  private size = [0, 0];
  // drawn by the processor: reading back from the graphics card would stall
  private readonly pen = this.canvas.getContext('2d', { willReadFrequently: true });

  /** Called after a change of size, to redraw. */
  resized: () => void = () => {};

  constructor(readonly figure: Figure) {
    this.canvas.className = 'plot';
    this.canvas.setAttribute('role', 'img');
    // reading the size while drawing would force a layout
    new ResizeObserver(([entry]) => {
      this.size = [entry.contentRect.width, entry.contentRect.height];
      this.resized();
    }).observe(this.canvas);
  }

  /** Draws the frames of a time window; a line marks the shown time. */
  draw(frames: Frame[], from: number, to: number, now: number): void {
    const { canvas, pen, figure: options } = this;
    const ratio = Math.min(window.devicePixelRatio, 2);
    const [width, height] = this.size;
    if (width === 0 || height === 0 || !pen) return;
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    const colors = palette();
    const scale = (x: number) => (options.log ? Math.log10(Math.max(Math.abs(x), FLOOR)) : x);

    // as many samples as there are pixels
    const every = Math.max(1, Math.floor(frames.length / (2 * width)));
    let [low, high] = [Infinity, -Infinity];
    // value of a curve that is constant
    let level: number | null = null;
    const drawn = options.curves.map((curve) => {
      const points: [number, number][] = [];
      for (let i = 0; i < frames.length; i += every) {
        const frame = frames[i];
        if (frame.t < from || frame.t > to) continue;
        const value = curve.value(frame, frames[i - 1]);
        const y = scale(value);
        // zero has no logarithm
        if (!Number.isFinite(y) || (options.log && value === 0)) continue;
        low = Math.min(low, y);
        high = Math.max(high, y);
        points.push([frame.t, y]);
      }
      return points;
    });
    if (low > high) [low, high] = options.log ? [-16, -8] : [0, 1];
    if (options.log) {
      [low, high] = [Math.floor(low), Math.max(Math.ceil(high), Math.floor(low) + 1)];
    } else {
      // do not magnify round-off
      const least = Math.max(LEAST, 1e-6 * Math.max(Math.abs(high), Math.abs(low)));
      if (high - low < least) {
        level = 0.5 * (low + high);
        [low, high] = [level - least, level + least];
      }
    }
    const label = (value: number) => {
      if (Math.abs(value) < 1e-6 * (high - low)) return '0';
      const text = number(value);
      // fewer digits where the label does not fit
      return text.length > 7 ? number(value, 2) : text;
    };
    const span = Math.max(to - from, 1e-9);
    const x = (t: number) => LEFT + ((t - from) / span) * (width - LEFT - 6);
    const y = (v: number) => height - BOTTOM - ((v - low) / (high - low)) * (height - BOTTOM - TOP);

    pen.font = '10.5px system-ui, sans-serif';
    pen.textAlign = 'right';
    pen.lineWidth = 1;
    for (const mark of level === null ? [low, high] : [level]) {
      pen.strokeStyle = colors.grid;
      pen.globalAlpha = 0.45;
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(y(mark)) + 0.5);
      pen.lineTo(width - 6, Math.round(y(mark)) + 0.5);
      pen.stroke();
      pen.globalAlpha = 0.8;
      pen.fillStyle = colors.text;
      pen.textBaseline = level !== null ? 'middle' : mark === low ? 'bottom' : 'top';
      const shift = level !== null ? 0 : mark === low ? 3 : -3;
      pen.fillText(options.log ? power(mark) : label(mark), LEFT - 6, y(mark) + shift);
    }
    pen.globalAlpha = 1;
    drawn.forEach((points, i) => {
      pen.strokeStyle = colors.plots[i];
      pen.lineWidth = 1.4;
      pen.beginPath();
      points.forEach(([t, v], k) => (k === 0 ? pen.moveTo(x(t), y(v)) : pen.lineTo(x(t), y(v))));
      pen.stroke();
    });
    pen.strokeStyle = colors.text;
    pen.globalAlpha = 0.55;
    pen.beginPath();
    pen.moveTo(x(now), TOP);
    pen.lineTo(x(now), height - BOTTOM);
    pen.stroke();
    pen.globalAlpha = 1;
  }

  /** Values at a frame, as text. */
  words(frame: Frame, before?: Frame): string {
    const { curves, unit } = this.figure;
    const values = curves.map(({ name, value }) => {
      const x = value(frame, before);
      const text = Number.isNaN(x) ? '–' : `${number(x)}${unit ? ` ${unit}` : ''}`;
      return name ? `${name} ${text}` : text;
    });
    return values.join(' · ');
  }
}
