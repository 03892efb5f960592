// Files that the page writes: a picture, a video, and tables of what is plotted.

import type { Frame } from './data';
import { make } from './dom';
import type { Figure } from './quantities';

/** Offers data as a file. */
export function offer(name: string, data: Blob): void {
  const link = make('a', { download: name });
  link.href = URL.createObjectURL(data);
  link.click();
  // the browser has begun to read it by then
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** Name of a scene as a part of a file name. */
export const fileName = (name: string) => name.replace(/[^\p{L}\p{N}._-]+/gu, '-').replace(/^-+|-+$/g, '') || 'scene';

/** Field of a table: quoted where it holds a separator. */
const field = (text: string) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** Table of the curves of plots over all frames. */
export function table(figures: Figure[], frames: Frame[]): string {
  const curves = figures.flatMap(({ title, unit, curves }) =>
    curves.map(({ name, value }) => ({ head: `${title}${name ? ` ${name}` : ''}${unit ? ` [${unit}]` : ''}`, value })));
  const rows = frames.map((frame, i) =>
    [String(frame.t), ...curves.map(({ value }) => {
      const x = value(frame, frames[i - 1]);
      return Number.isFinite(x) ? String(x) : '';
    })].join(','));
  return `${['t [s]', ...curves.map(({ head }) => field(head))].join(',')}\n${rows.join('\n')}\n`;
}

/** Frames of a video per second. */
const VIDEO_RATE = 30;

/** Recorder of a canvas. */
export class Video {
  private recorder: MediaRecorder | null = null;
  /** Size of what is recorded so far [bytes]. */
  bytes = 0;

  get running(): boolean {
    return this.recorder !== null;
  }

  /** Begins; `done` gets the video when it has ended. */
  begin(canvas: HTMLCanvasElement, done: (video: Blob) => void): void {
    const type = ['video/webm;codecs=vp9', 'video/webm;codecs=vp8', 'video/webm'].find((t) => MediaRecorder.isTypeSupported(t));
    if (!type) throw new Error('this browser cannot record WebM');
    const chunks: Blob[] = [];
    const recorder = new MediaRecorder(canvas.captureStream(VIDEO_RATE), { mimeType: type, videoBitsPerSecond: 8e6 });
    this.bytes = 0;
    recorder.ondataavailable = ({ data }) => {
      this.bytes += data.size;
      chunks.push(data);
    };
    recorder.onstop = () => done(new Blob(chunks, { type: 'video/webm' }));
    recorder.start(250);
    this.recorder = recorder;
  }

  end(): void {
    this.recorder?.stop();
    this.recorder?.stream.getTracks().forEach((track) => track.stop());
    this.recorder = null;
  }
}
