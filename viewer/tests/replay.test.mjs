// Recorded runs: they load from a file, play, scrub, and explain themselves.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { drawn, launch, measure, open, out, program, record, root, scriptTime, serve } from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

async function healthy(page, errors) {
  const { lost } = await measure(page);
  assert.equal(lost, false, 'the WebGL context is lost');
  const variance = await page.evaluate(() => window.stiction.variance());
  assert.ok(variance > 20, `the canvas is all but uniform: ${variance}`);
  assert.deepEqual(errors, []);
}

test('a run of ten seconds and twenty bodies is a page under 5 MB that plays and scrubs', async () => {
  const html = record('pile');
  const size = statSync(html).size;
  console.log(`pile.html: ${(size / 1e6).toFixed(2)} MB`);
  assert.ok(size < 5e6, `${size} bytes`);
  const { page, errors } = await open(browser, `file://${html}`);
  // it plays by itself
  const first = (await measure(page)).t;
  await page.waitForFunction((t) => window.stiction.measure().t > t + 0.2, first);
  await page.getByRole('button', { name: 'Pause' }).click();
  const paused = (await measure(page)).t;
  await page.getByRole('button', { name: 'Step', exact: true }).click();
  assert.ok((await measure(page)).t > paused, 'a step goes on');
  await page.getByRole('button', { name: 'Step back' }).click();
  assert.equal((await measure(page)).t, paused);
  await page.getByRole('slider', { name: 'Time' }).fill('9');
  await drawn(page);
  assert.ok(Math.abs((await measure(page)).t - 9) < 0.02, 'the slider goes to its time');
  await healthy(page, errors);
  await page.screenshot({ path: `${out}/space.png` });
  // a contact in words
  const at = await page.evaluate(() => window.stiction.bearing());
  await page.mouse.move(at.x, at.y);
  const words = await page.locator('#tip').getAttribute('aria-label');
  assert.match(words, /: (sticks|slips), normal impulse .* N s \(.* N\), friction .* % of its bound, .*(gap|overlap) .* m/);
  await page.screenshot({ path: `${out}/contact.png` });
  await page.getByRole('button', { name: 'Light or dark' }).click();
  await drawn(page);
  await page.screenshot({ path: `${out}/space-dark.png` });
  await page.getByRole('button', { name: 'Reset' }).click();
  assert.equal((await measure(page)).t, 0);
  await page.close();
});

test('a run to an accuracy shows forces at the instant', async () => {
  const { page, errors } = await open(browser, `file://${record('resting', '--accuracy', '1e-6')}`);
  await page.getByRole('slider', { name: 'Time' }).fill('0.2');
  await drawn(page);
  const at = await page.evaluate(() => window.stiction.bearing());
  await page.mouse.move(at.x, at.y);
  const words = await page.locator('#tip').getAttribute('aria-label');
  // 1000 kg/m² × 0.4 m × 0.2 m × 9.81 m/s², half of it on each corner
  assert.match(words, /: sticks, normal force 392 N, friction .* N, 0 % of its bound, .*(gap|overlap) .* m/);
  assert.deepEqual(errors, []);
  await page.close();
});

test('forces that are not determined are hatched, with the interval of those that cause the same motion', async () => {
  const { page, errors } = await open(browser, `file://${record('table', '--intervals')}`);
  await page.getByRole('slider', { name: 'Time' }).fill('0.1');
  await drawn(page);
  const at = await page.evaluate(() => window.stiction.bearing());
  await page.mouse.move(at.x, at.y);
  const words = await page.locator('#tip').getAttribute('aria-label');
  // a quarter of 39.24 N, anything from none to half of it
  assert.match(words, /: sticks, normal impulse .* \(9\.81 N\), .*normal within (0|.*×10⁻.*) to 19\.6 N, friction within −.* to .* N/);
  await healthy(page, errors);
  await page.screenshot({ path: `${out}/intervals.png` });
  // the forces of a ball on the ground are determined
  const { page: other } = await open(browser, `file://${record('ball', '--intervals')}`);
  await other.getByRole('slider', { name: 'Time' }).fill('0.1');
  await drawn(other);
  const ball = await other.evaluate(() => window.stiction.bearing());
  await other.mouse.move(ball.x, ball.y);
  assert.match(await other.locator('#tip').getAttribute('aria-label'), /determined no other force causes this motion/);
  await other.screenshot({ path: `${out}/determined.png` });
  await other.close();
  await page.close();
});

test('a planar run is followed by keys and shows in the dark and on a phone', async () => {
  const html = record('tower');
  const { page, errors } = await open(browser, `file://${html}`, { dark: true });
  await page.getByRole('slider', { name: 'Time' }).fill('1.2');
  await page.getByRole('combobox', { name: 'Follow a body' }).selectOption('ball');
  await drawn(page);
  const before = await page.evaluate(() => window.stiction.where('ball'));
  await page.getByRole('slider', { name: 'Time' }).fill('0.4');
  await drawn(page);
  const after = await page.evaluate(() => window.stiction.where('ball'));
  assert.ok(Math.hypot(after.at[0] - before.at[0], after.at[1] - before.at[1]) > 0.5, 'the ball has moved');
  assert.ok(Math.hypot(after.x - before.x, after.y - before.y) < 2, 'and the camera with it');
  await page.getByRole('combobox', { name: 'Follow a body' }).selectOption('none');
  await page.locator('#view').focus();
  await page.keyboard.press('Home');
  await page.keyboard.press('.');
  await page.keyboard.press('?');
  await page.getByRole('heading', { name: 'How to look around' }).waitFor();
  await page.screenshot({ path: `${out}/help.png` });
  await page.getByRole('button', { name: 'Close', exact: true }).click();
  await page.getByRole('slider', { name: 'Time' }).fill('1.3');
  await drawn(page);
  await healthy(page, errors);
  await page.screenshot({ path: `${out}/plane-dark.png` });
  await page.close();

  const phone = await open(browser, `file://${html}`, { width: 390, height: 844 });
  await phone.page.getByRole('slider', { name: 'Time' }).fill('1.3');
  await drawn(phone.page);
  await phone.page.screenshot({ path: `${out}/phone.png` });
  const wide = await phone.page.evaluate(() => document.documentElement.scrollWidth);
  assert.equal(wide, 390, 'nothing is wider than the window');
  await phone.page.getByRole('button', { name: 'Plots and settings' }).tap();
  await drawn(phone.page);
  await phone.page.screenshot({ path: `${out}/phone-plots.png` });
  await healthy(phone.page, phone.errors);
  await phone.page.close();
});

test('a journal is served as a recorded run', async () => {
  record('tower');
  const server = await serve(`${root}out/view/tower.journal`);
  try {
    const { page, errors } = await open(browser, server.url);
    assert.ok((await measure(page)).frames > 200);
    await healthy(page, errors);
    await page.close();
  } finally {
    server.end();
  }
});

for (const [name, bodies, limit] of [['two-hundred', 200, 4], ['thousand', 1000, 16]]) {
  test(`${bodies} bodies take at most ${limit} ms of script per frame and 20 draw calls`, async () => {
    const html = record(name);
    const { page, errors } = await open(browser, `file://${html}`);
    // slowly, from when all boxes bear
    await page.getByRole('combobox', { name: 'Speed' }).selectOption('0.01');
    await page.getByRole('slider', { name: 'Time' }).fill('0.15');
    await page.getByRole('button', { name: 'Play' }).click();
    const { time, count } = await scriptTime(browser, page);
    const { draws, contacts, triangles } = await measure(page);
    console.log(`${bodies} bodies, ${contacts} contacts: ${time.toFixed(2)} ms of script per frame (median of ${count}), ` +
      `${draws} draw calls, ${triangles} triangles`);
    assert.ok(draws <= 20, `${draws} draw calls`);
    assert.ok(time <= limit, `${time} ms`);
    assert.deepEqual(errors, []);
    await page.getByRole('slider', { name: 'Time' }).fill('0.2');
    await page.screenshot({ path: `${out}/${name}.png` });
    await page.close();
  });
}

test('the gallery shows a picture of every scene and opens its replay', async () => {
  const ran = spawnSync(program, ['gallery', `${root}scenes/chain.toml`, `${root}scenes/falling-rod.toml`, '--out', `${out}/gallery`], { encoding: 'utf8' });
  assert.equal(ran.status, 0, ran.stdout + ran.stderr);
  const page = await browser.newPage();
  await page.goto(`file://${out}/gallery/index.html`);
  assert.equal(await page.locator('img').count(), 2);
  // those further down the page are loaded when there is time
  await page.waitForFunction(() => [...document.images].every((img) => img.complete && img.naturalWidth > 0));
  await page.screenshot({ path: `${out}/gallery.png` });
  await page.getByRole('link', { name: /Chain/ }).click();
  await page.waitForFunction(() => window.stiction?.measure().t > 0.05);
  await page.screenshot({ path: `${out}/chain-replay.png` });
  await page.close();
});
