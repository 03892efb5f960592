// A page with a run in it plays that run; one without asks the server that it came from.

import { App } from './app';
import { recorded } from './data';
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
  const run = await recorded();
  if (run) {
    const app = new App(run.descriptions[0].dimension);
    window.stiction = app;
    app.replay(run.descriptions, run.frames);
    return;
  }
  if (!location.protocol.startsWith('http')) throw new Error('there is no run in it');
  // the dimension of the scene decides the camera, so it comes first
  const answer = await fetch('dimension');
  if (!answer.ok) throw new Error(`the server answered ${answer.status}`);
  const app = new App((await answer.text()).trim() === '3' ? 3 : 2);
  window.stiction = app;
  app.connect();
}

start().catch(fail);
