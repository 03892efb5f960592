// Live simulations: pushed, changed, taken back, saved; pages come and go.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { drawn, launch, looks, measure, open, out, root, serve } from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const scene = (name) => `${root}viewer/tests/scenes/${name}.toml`;
const where = (page, name) => page.evaluate((body) => window.stiction.where(body), name);
const time = async (page) => (await measure(page)).t;
/** Waits until the page shows a time after this one [s]. */
const later = (page, t) => page.waitForFunction((at) => window.stiction.measure().t > at, t, { timeout: 30000 });

test('a body is pushed with the mouse, and the run goes on without the page', async () => {
  const server = await serve(scene('tower'));
  try {
    const { page, errors } = await open(browser, server.url);
    // a second page sees what the server has, whoever pushes
    const other = await open(browser, server.url);
    assert.equal(await time(page), 0);
    const body = 'box[7]';
    const before = (await where(other.page, body)).at;
    const at = await where(page, body);
    await page.mouse.move(at.x, at.y);
    await page.mouse.down();
    for (let k = 1; k <= 10; k++) await page.mouse.move(at.x + 12 * k, at.y - 8 * k);
    await later(page, 0.3);
    await page.screenshot({ path: `${out}/pushed.png` });
    await page.mouse.up();
    await later(other.page, await time(page));
    const after = (await where(other.page, body)).at;
    const moved = Math.hypot(after[0] - before[0], after[1] - before[1]);
    console.log(`${body} moved by ${(100 * moved).toFixed(0)} cm`);
    assert.ok(moved > 0.01, `it moved by ${moved} m`);
    const variance = await page.evaluate(() => window.stiction.variance());
    assert.ok(variance > 20, `${variance}`);
    assert.equal((await measure(page)).lost, false);
    assert.deepEqual([...errors, ...other.errors], []);
    const closed = await time(page);
    await page.close();
    await other.page.close();
    await new Promise((resolve) => setTimeout(resolve, 500));
    const again = await open(browser, server.url);
    assert.ok((await time(again.page)) > closed, 'it ran while no page was open');
    await again.page.close();
  } finally {
    server.end();
  }
});

test('everything can be changed while it runs, and taken back', async () => {
  const server = await serve(scene('pile'));
  try {
    const { page, errors } = await open(browser, server.url);
    const button = (name) => page.getByRole('button', { name, exact: true });
    const message = page.getByRole('alert');
    await button('Step').click();
    await later(page, 0);
    const step = await time(page);
    assert.ok(Math.abs(step - 0.01) < 1e-9, `one step is ${step} s`);
    await button('Play').click();
    await later(page, 0.3);
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('0.25');
    // values: taken, or refused in words
    const friction = page.getByRole('spinbutton', { name: 'Friction μ' });
    await friction.fill('0.1');
    await friction.press('Enter');
    await friction.fill('-1');
    await friction.press('Enter');
    await message.getByText('must be finite and not negative').waitFor();
    await page.screenshot({ path: `${out}/refused.png` });
    await button('Close the message').click();
    await friction.blur();
    await page.waitForFunction(() => document.querySelector('[aria-label="Friction μ"]').value === '0.1');
    await page.getByRole('combobox', { name: 'Scheme' }).selectOption('ah04');
    const gamma = page.getByRole('spinbutton', { name: 'Stabilization γ' });
    await gamma.fill('0.5');
    await gamma.press('Enter');
    await page.getByRole('checkbox', { name: 'Stabilization' }).uncheck();
    await page.getByRole('checkbox', { name: 'Stabilization' }).check();
    const h = page.getByRole('spinbutton', { name: 'Step h [s]' });
    await h.fill('0.005');
    await h.press('Enter');
    // something new
    const bodies = await page.locator('select[aria-label="Follow a body"] option').count();
    await button('Drop a box').click();
    await button('Drop a ball').click();
    await page.waitForFunction((n) => document.querySelectorAll('select[aria-label="Follow a body"] option').length === n + 2, bodies);
    await page.screenshot({ path: `${out}/changed.png` });
    // back to an earlier moment, and on from there
    await page.getByRole('slider', { name: 'Time' }).fill('0.2');
    await page.getByText(/^0\.\d+ s of /).waitFor();
    const past = await time(page);
    await button('Continue from here').click();
    await page.waitForFunction((t) => Math.abs(window.stiction.timeline.end - t) < 1e-9, past);
    assert.equal(await page.locator('select[aria-label="Follow a body"] option').count(), bodies, 'what was dropped later is gone');
    // the current state as a scene file
    const [download] = await Promise.all([page.waitForEvent('download'), button('Save as a scene').click()]);
    const saved = `${out}/saved.toml`;
    await download.saveAs(saved);
    assert.match(readFileSync(saved, 'utf8'), /^format = 1$/m);
    const second = await serve(saved);
    try {
      const copy = await open(browser, second.url);
      assert.ok(Math.abs((await time(copy.page)) - past) < 1e-9, 'it starts where it was saved');
      const [a, b] = [await where(page, 'ball[1]'), await where(copy.page, 'ball[1]')];
      a.at.forEach((x, i) => assert.ok(Math.abs(x - b.at[i]) < 1e-6, `${a.at} and ${b.at}`));
      await copy.page.close();
    } finally {
      second.end();
    }
    await button('Reset').click();
    await page.waitForFunction(() => window.stiction.timeline.end === 0);
    assert.deepEqual(errors, []);
    await page.close();
  } finally {
    server.end();
  }
});

test('without stabilization a chain comes apart', async () => {
  const server = await serve(`${root}scenes/chain.toml`);
  try {
    const { page, errors } = await open(browser, server.url);
    await page.getByRole('checkbox', { name: 'Stabilization' }).uncheck();
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('5');
    await page.getByRole('button', { name: 'Play' }).click();
    await later(page, 1);
    const drift = await page.evaluate(() => window.stiction.timeline.last.infeasibility);
    await page.screenshot({ path: `${out}/chain.png` });
    await page.getByRole('checkbox', { name: 'Stabilization' }).check();
    await later(page, (await time(page)) + 0.5);
    const held = await page.evaluate(() => window.stiction.timeline.last.infeasibility);
    console.log(`infeasibility without stabilization ${drift.toExponential(1)} m, with it ${held.toExponential(1)} m`);
    assert.ok(drift > 1e-4 && held < 1e-3 * drift, `${drift} m, then ${held} m`);
    assert.deepEqual(errors, []);
    await page.close();
  } finally {
    server.end();
  }
});

test('without a file every scene is one click from running', async () => {
  const server = await serve();
  try {
    for (const look of ['desktop', 'phone-dark']) {
      const page = await browser.newPage({ viewport: looks[look], colorScheme: looks[look].dark ? 'dark' : 'light' });
      await page.goto(server.url);
      assert.ok((await page.locator('main a').count()) > 25, 'all scenes');
      await page.waitForFunction(() => [...document.images].filter((img) => img.getBoundingClientRect().top < innerHeight).every((img) => img.complete && img.naturalWidth > 0));
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), looks[look].width);
      await page.screenshot({ path: `${out}/start-${look}.png` });
      await page.getByRole('link', { name: /Chain/ }).click();
      await page.waitForFunction(() => window.stiction?.measure().t > 0.05, null, { timeout: 30000 });
      await page.getByRole('link', { name: 'All scenes' }).click();
      await page.getByRole('heading', { name: 'Scenes of Stiction' }).waitFor();
      await page.close();
    }
  } finally {
    server.end();
  }
});

test('ten thousand contacts of 2,500 bodies take at most 25 draw calls, live', async () => {
  const server = await serve(scene('field'));
  try {
    const { page, errors } = await open(browser, server.url);
    await page.getByRole('button', { name: 'Play' }).click();
    await later(page, 0);
    await page.waitForFunction(() => window.stiction.measure().contacts >= 10000, null, { timeout: 60000 });
    await page.getByRole('combobox', { name: 'Colour of bodies' }).selectOption('force');
    await drawn(page);
    const { draws, contacts } = await measure(page);
    console.log(`${contacts} contacts live: ${draws} draw calls`);
    await page.screenshot({ path: `${out}/field.png` });
    assert.ok(contacts >= 10000 && draws <= 25, `${contacts} contacts, ${draws} draw calls`);
    assert.deepEqual(errors, []);
    await page.close();
  } finally {
    server.end();
  }
});
