// A page with a run in it plays that run; one without shows the simulation of the server that it came from.

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
  if (!page) throw new Error('there is no run in it');
  const app = new App(page.descriptions[0].dimension);
  window.stiction = app;
  if (page.frames) app.replay(page.descriptions, page.frames);
  else app.connect();
}

start().catch(fail);
