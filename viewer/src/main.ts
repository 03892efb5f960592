// Entry point: replays an embedded run, or shows the live simulation of the server.

import { App } from './app';
import { embedded } from './data';
import { byId } from './dom';

declare global {
  interface Window {
    /** For tests. */
    stiction?: App;
  }
}

function fail(error: unknown): void {
  const message = byId('message');
  message.hidden = false;
  message.querySelector('span')!.textContent =
    `This page cannot be shown: ${error instanceof Error ? error.message : String(error)}`;
}

async function start(): Promise<void> {
  const page = await embedded();
  if (!page) throw new Error('it contains no scene');
  const app = new App(page.descriptions[0].dimension);
  window.stiction = app;
  if (page.frames) app.replay(page.descriptions, page.frames);
  else app.connect();
}

start().catch(fail);
