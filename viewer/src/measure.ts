// Measurements for tests: drawing times, and the brightness of the canvas.

import type { Stage } from './stage';

/** Number of frames over which drawing times are measured. */
const MEASURED = 240;

/** Drawing times of a frame [ms]: total, scene update, and submission to the graphics card. */
export interface Times {
  script: number;
  show: number;
  render: number;
}

/** Drawing times of the last frames. */
export class Stopwatch {
  private readonly times: Times[] = [];

  add(times: Times): void {
    this.times.push(times);
    if (this.times.length > MEASURED) this.times.shift();
  }

  /** Times over the fastest quarter, because the machine is shared. */
  get quick(): Times {
    const quick = (key: keyof Times) => {
      const sorted = this.times.map((times) => times[key]).sort((a, b) => a - b);
      return sorted[sorted.length >> 2] ?? 0;
    };
    return { script: quick('script'), show: quick('show'), render: quick('render') };
  }
}

/** Variance of the brightness of the canvas, 0 to 255². */
export function brightnessVariance(stage: Stage): number {
  const gl = stage.renderer.getContext();
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
