// What the page does for somebody who only looks at it: sizes, views, keys, touch, colours, plots, files and lists.

import assert from 'node:assert/strict';
import { readFileSync, statSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { drawn, launch, looks, measure, open, out, record, root, serve } from './browser.mjs';

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser?.close());

const scene = (name) => `${root}scenes/${name}.toml`;
const button = (page, name) => page.getByRole('button', { name, exact: true });
const framed = async (page) => {
  await drawn(page);
  return page.evaluate(() => window.stiction.framed());
};
const where = (page, name) => page.evaluate((body) => window.stiction.where(body), name);
const later = (page, t) => page.waitForFunction((at) => window.stiction.measure().t > at, t, { timeout: 30000 });

/** Runs a test with a live scene. */
async function withScene(file, act) {
  const server = await serve(file);
  try {
    await act(server);
  } finally {
    server.end();
  }
}

/** What moves is inside the uncovered part and fills most of it in one direction. */
function fills({ bodies, open: [left, top, right, bottom] }, least) {
  const [x0, y0, x1, y1] = bodies;
  assert.ok(x0 >= left && y0 >= top && x1 <= right && y1 <= bottom, `${bodies} is not within ${left} ${top} ${right} ${bottom}`);
  const share = Math.max((x1 - x0) / (right - left), (y1 - y0) / (bottom - top));
  assert.ok(share > least, `${Math.round(100 * share)} % of the view`);
}

for (const [look, size] of Object.entries(looks)) {
  test(`${look}: bodies fill the view, home frames them, a drum shows its contents`, async () => {
    await withScene(scene('drum'), async (server) => {
      const { page, errors } = await open(browser, server.url, size);
      fills(await framed(page), 0.6);
      await page.locator('#view').focus();
      for (let k = 0; k < 5; k++) await page.keyboard.press('[');
      await page.keyboard.press('Shift+ArrowRight');
      await drawn(page);
      await button(page, 'Show all that moves').click();
      await drawn(page);
      fills(await framed(page), 0.6);
      await button(page, 'Bodies, joints and contacts').click();
      await drawn(page);
      fills(await framed(page), 0.5);
      assert.equal(await button(page, 'drum is faded').count(), 1, 'the drum is faded by itself');
      await page.screenshot({ path: `${out}/drum-${look}.png` });
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), size.width);
      assert.deepEqual(errors, []);
      await page.close();
    });
  });
}

test('a dropped body has the size of its neighbours, or the chosen one', async () => {
  await withScene(scene('arch'), async (server) => {
    const { page, errors } = await open(browser, server.url);
    fills(await framed(page), 0.6);
    const size = page.getByRole('spinbutton', { name: 'Size of a dropped body [m]' });
    // a stone is .3 m thick and between .45 and .58 m long
    const suggested = Number(await size.inputValue());
    assert.ok(suggested > 0.25 && suggested < 0.6, `${suggested} m`);
    await button(page, 'Drop a ball').click();
    const radius = (name) => page.waitForFunction((body) => {
      const { bodies } = window.stiction.timeline.description(window.stiction.timeline.last);
      return bodies.find((b) => b.name === body)?.shapes[0].radius;
    }, name).then((handle) => handle.jsonValue());
    assert.ok(Math.abs((await radius('dropped ball 1')) - 0.5 * suggested) < 1e-6);
    await size.fill('0.2');
    await button(page, 'Drop a ball').click();
    assert.ok(Math.abs((await radius('dropped ball 2')) - 0.1) < 1e-9);
    // the changes are taken back one after the other
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => window.stiction.timeline.description(window.stiction.timeline.last).bodies.length === 9);
    await page.keyboard.press('Control+z');
    await page.waitForFunction(() => window.stiction.timeline.description(window.stiction.timeline.last).bodies.length === 8);
    await button(page, 'Drop a box').click();
    await later(page, -1);
    await page.screenshot({ path: `${out}/arch-dropped.png` });
    assert.deepEqual(errors, []);
    await page.close();
  });
});

test('the cursor shows what can be grabbed, and thin bodies can be', async () => {
  await withScene(scene('chain'), async (server) => {
    const { page, errors } = await open(browser, server.url);
    const cursor = () => page.evaluate(() => document.getElementById('view').style.cursor);
    const at = await where(page, 'link[2]');
    // links are a few pixels thick: beside one
    await page.mouse.move(at.x, at.y + 9);
    await page.waitForFunction(() => document.getElementById('view').style.cursor === 'grab');
    await page.mouse.move(at.x, at.y + 140);
    await page.waitForFunction(() => document.getElementById('view').style.cursor === '');
    await page.mouse.move(at.x, at.y + 8);
    await page.mouse.down();
    await page.mouse.move(at.x, at.y - 60, { steps: 4 });
    await later(page, 0.05);
    assert.ok(await page.evaluate(() => document.body.classList.contains('grabbing')));
    await page.mouse.up();
    assert.notEqual(await cursor(), undefined);
    assert.deepEqual(errors, []);
    await page.close();
  });
});

test('reloading keeps the past, and several pages look at one run', async () => {
  await withScene(scene('pendulum'), async (server) => {
    const first = await open(browser, server.url);
    await button(first.page, 'Play').click();
    await later(first.page, 0.5);
    await button(first.page, 'Pause').click();
    await first.page.waitForFunction(() => document.getElementById('play').getAttribute('aria-label') === 'Play');
    const before = await measure(first.page);
    await first.page.reload();
    await first.page.waitForFunction((n) => window.stiction?.timeline.frames.length >= n, before.frames, { timeout: 20000 });
    assert.equal(await first.page.evaluate(() => window.stiction.timeline.start), 0);
    // a second page, on a phone, sees the same past, and may look at it
    const second = await open(browser, server.url, looks.phone);
    await second.page.waitForFunction((n) => window.stiction.timeline.frames.length >= n, before.frames, { timeout: 20000 });
    await second.page.getByRole('slider', { name: 'Time' }).fill('0.2');
    await second.page.getByText(/^0\.\d+ s of /).waitFor();
    await first.page.locator('#view').focus();
    await first.page.keyboard.press('.');
    await later(first.page, before.t);
    assert.ok((await measure(second.page)).t < 0.21, 'the second page still shows the past');
    await first.page.screenshot({ path: `${out}/reloaded.png` });
    assert.deepEqual([...first.errors, ...second.errors], []);
    await first.page.close();
    await second.page.close();
  });
});

test('space plays wherever the focus is, and everything can be done by keys', async () => {
  await withScene(`${root}viewer/tests/scenes/tower.toml`, async (server) => {
    const { page, errors } = await open(browser, server.url, looks['desktop-dark']);
    const playing = (label) => page.waitForFunction((word) => document.getElementById('play').getAttribute('aria-label') === word, label);
    const focusable = [button(page, 'Help'), page.getByRole('checkbox', { name: 'Grid' }), page.getByRole('slider', { name: 'Time' }),
      page.getByRole('combobox', { name: 'Scheme' }), page.getByRole('spinbutton', { name: 'Friction μ' })];
    let on = false;
    for (const place of focusable) {
      await place.focus();
      await page.keyboard.press('Space');
      on = !on;
      await playing(on ? 'Pause' : 'Play');
    }
    if (on) await page.keyboard.press('Space');
    await playing('Play');
    assert.equal(await page.locator('dialog[open]').count(), 0, 'space did not press the button');
    // Enter switches what has the focus
    const grid = page.getByRole('checkbox', { name: 'Grid' });
    await grid.focus();
    await page.keyboard.press('Enter');
    assert.equal(await grid.isChecked(), false);
    // a body is found, selected, faded and pulled without a mouse
    await page.locator('#view').focus();
    await page.keyboard.press('b');
    await page.getByRole('searchbox', { name: 'Search bodies, joints and contacts' }).fill('box[7]');
    await page.getByRole('searchbox', { name: 'Search bodies, joints and contacts' }).press('Tab');
    await button(page, 'box[7]').press('Enter');
    assert.equal(await button(page, 'box[7]').getAttribute('aria-pressed'), 'true');
    await page.keyboard.press('h');
    await button(page, 'box[7] is faded').waitFor();
    const t = (await measure(page)).t;
    const start = (await where(page, 'box[7]')).at;
    await page.keyboard.down('Alt');
    for (let k = 0; k < 6; k++) await page.keyboard.down('ArrowRight');
    await later(page, t + 0.3);
    await page.keyboard.up('ArrowRight');
    await page.keyboard.up('Alt');
    const end = (await where(page, 'box[7]')).at;
    assert.ok(end[0] > start[0] + 0.01, `pulled by ${end[0] - start[0]} m`);
    await page.screenshot({ path: `${out}/keys.png` });
    assert.deepEqual(errors, []);
    await page.close();
  });
});

test('everything has a name for screen readers', async () => {
  await withScene(scene('pendulum'), async (server) => {
    for (const look of ['desktop', 'phone']) {
      const { page } = await open(browser, server.url, looks[look]);
      await button(page, 'Bodies, joints and contacts').click();
      const nameless = await page.evaluate(() => [...document.querySelectorAll('button, input, select, canvas, nav, aside, dialog')]
        .filter((e) => e.checkVisibility())
        .filter((e) => !(e.getAttribute('aria-label') || e.textContent.trim() || e.labels?.[0]?.textContent.trim()))
        .map((e) => e.outerHTML));
      assert.deepEqual(nameless, []);
      await page.close();
    }
  });
});

test('a touch shows the words of a contact until the next touch', async () => {
  const html = record('tower');
  for (const look of ['phone', 'phone-dark']) {
    const { page, errors } = await open(browser, `file://${html}`, looks[look]);
    await page.getByRole('slider', { name: 'Time' }).fill('0.3');
    await drawn(page);
    const at = await page.evaluate(() => window.stiction.bearing());
    await page.touchscreen.tap(at.x, at.y);
    await page.locator('#tip').waitFor();
    await drawn(page);
    assert.ok(await page.locator('#tip').isVisible(), 'the words stay when the finger is lifted');
    const box = await page.locator('#tip').boundingBox();
    assert.ok(box.x >= 0 && box.y >= 0 && box.x + box.width <= 390 && box.y + box.height <= 844, JSON.stringify(box));
    await page.screenshot({ path: `${out}/touched-${look}.png` });
    await page.touchscreen.tap(300, 120);
    await page.locator('#tip').waitFor({ state: 'hidden' });
    assert.deepEqual(errors, []);
    await page.close();
  }
});

test('a message goes when its cause does', async () => {
  await withScene(scene('arch'), async (server) => {
    const { page, errors } = await open(browser, server.url, looks.phone);
    await button(page, 'Plots and settings').click();
    const friction = page.getByRole('spinbutton', { name: 'Friction μ' });
    await friction.fill('-1');
    await friction.press('Enter');
    await page.getByRole('alert').waitFor();
    await friction.fill('0.4');
    await friction.press('Enter');
    await page.getByRole('alert').waitFor({ state: 'hidden' });
    assert.deepEqual(errors, []);
    await page.close();
  });
});

for (const look of ['desktop', 'phone-dark']) {
  test(`${look}: bodies are coloured by material, speed and force`, async () => {
    const { page, errors } = await open(browser, `file://${record('pile')}`, looks[look]);
      if (look.startsWith('phone')) await button(page, 'Plots and settings').click();
    await page.getByRole('slider', { name: 'Time' }).fill('0.6');
    const colours = page.getByRole('combobox', { name: 'Colour of bodies' });
    const seen = new Set();
    for (const name of ['body', 'material', 'speed', 'force']) {
      await colours.selectOption(name);
      await drawn(page);
      seen.add(JSON.stringify(await page.evaluate(() => window.stiction.colors())));
      const key = page.locator('#legend .shade');
      assert.equal(await key.isVisible(), name !== 'body');
      if (name === 'speed') {
        assert.match(await key.textContent(), /speed.*0 to .* m\/s/);
        await page.screenshot({ path: `${out}/speed-${look}.png` });
      }
    }
    assert.equal(seen.size, 4, 'each of them colours bodies in another way');
    assert.deepEqual(errors, []);
    await page.close();
  });
}

test('action and reaction are drawn, of the same size and opposite', async () => {
  const { page } = await open(browser, `file://${record('resting')}`);
  await page.getByRole('slider', { name: 'Time' }).fill('0.2');
  await drawn(page);
  const both = await page.evaluate(() => window.stiction.arrows());
  await page.getByRole('checkbox', { name: 'Reactions' }).uncheck();
  await drawn(page);
  const one = await page.evaluate(() => window.stiction.arrows());
  assert.equal(both.length, 2 * one.length);
  assert.ok(one.length >= 2, `${one.length} arrows`);
  const sum = both.reduce((total, v) => total.map((x, i) => x + v[i]), [0, 0, 0]);
  const size = Math.max(...both.map((v) => Math.hypot(...v)));
  assert.ok(Math.hypot(...sum) < 1e-5 * size, `${sum}`);
  // half of 1000 kg/m² × 0.4 m × 0.2 m × 9.81 m/s² on each corner
  const force = await page.evaluate(() => window.stiction.forceOf(Math.hypot(...window.stiction.arrows()[0])));
  assert.ok(Math.abs(force - 392.4) < 0.5, `${force} N`);
  await page.close();
});

test('any quantity is plotted by name, and saved with the picture and a video', async () => {
  const { page, errors } = await open(browser, `file://${record('tower')}`, looks['desktop-dark']);
  const titles = () => page.locator('.figure strong').allTextContents();
  assert.deepEqual(await titles(), ['Energy [J]', 'rope: force [N]', 'Normal force of all contacts [N]', 'box[0]: position [m]'], 'motion and forces first');
  const add = page.getByRole('combobox', { name: 'Add a plot' });
  for (const [typed, found] of [['ball speed', 'ball: speed [m/s]'], ['ground box normal', 'ground – box[0]: normal force [N]'], ['residual', 'Worst residual']]) {
    await add.fill(typed);
    await add.press('Enter');
    assert.ok((await titles()).includes(found), `${await titles()}`);
  }
  await add.fill('nothing of this name');
  await add.press('Enter');
  assert.equal((await titles()).length, 7, 'what does not exist adds nothing');
  await button(page, 'Remove the plot of Worst residual').click();
  await page.getByRole('slider', { name: 'Time' }).fill('0.1');
  await drawn(page);
  await page.screenshot({ path: `${out}/plots.png` });
  const save = async (name, file) => {
    const [download] = await Promise.all([page.waitForEvent('download'), button(page, name).click()]);
    await download.saveAs(`${out}/${file}`);
    return download.suggestedFilename();
  };
  assert.match(await save('Plots (CSV)', 'plots.csv'), /\.csv$/);
  const [head, ...rows] = readFileSync(`${out}/plots.csv`, 'utf8').trim().split('\n');
  assert.equal(head, 't [s],Energy kinetic [J],Energy potential [J],Energy total [J],rope: force [N],Normal force of all contacts [N],'
    + 'box[0]: position x [m],box[0]: position y [m],ball: speed [m/s],ground – box[0]: normal force [N]');
  assert.equal(rows.length, (await measure(page)).frames);
  // the ball falls from rest on its rope: not faster than free fall, but for the error of steps
  const early = rows.slice(1, 12).map((row) => row.split(',').map(Number));
  early.forEach((row) => assert.ok(row[7] > 0 && row[7] < 1.1 * 9.81 * row[0], `speed ${row[7]} m/s at ${row[0]} s`));
  assert.match(await save('Picture (PNG)', 'picture.png'), /-0\.\d+s\.png$/);
  const png = readFileSync(`${out}/picture.png`);
  assert.equal(png.subarray(1, 4).toString(), 'PNG');
  assert.ok(png.length > 10000, `${png.length} bytes`);
  await page.getByRole('combobox', { name: 'Speed' }).selectOption('0.25');
  await button(page, 'Record a video').click();
  await page.waitForFunction(() => window.stiction.recorded > 5000);
  assert.match(await save('Stop and save the video', 'video.webm'), /\.webm$/);
  assert.equal(readFileSync(`${out}/video.webm`).readUInt32BE(0), 0x1a45dfa3, 'a WebM file');
  assert.ok(statSync(`${out}/video.webm`).size > 5000);
  assert.deepEqual(errors, []);
  await page.close();
});

test('joints are plotted live with their forces', async () => {
  await withScene(scene('pendulum'), async (server) => {
    const { page, errors } = await open(browser, server.url);
    const joint = await page.evaluate(() => window.stiction.timeline.description(window.stiction.timeline.last).joints[0].name);
    assert.ok((await page.locator('.figure strong').allTextContents()).includes(`${joint}: force [N]`));
    await button(page, 'Step').click();
    await later(page, 0);
    await page.waitForFunction((name) => [...document.querySelectorAll('.figure')].some((f) => f.textContent.includes(`${name}: force`) && /\d N/.test(f.querySelector('output')?.textContent ?? '')), joint);
    assert.deepEqual(errors, []);
    await page.close();
  });
});

test('the list and the view select the same body, and a contact marks its pair', async () => {
  const { page, errors } = await open(browser, `file://${record('tower')}`);
  await page.getByRole('slider', { name: 'Time' }).fill('0.2');
  await button(page, 'Bodies, joints and contacts').click();
  await drawn(page);
  const at = await where(page, 'box[4]');
  await page.mouse.click(at.x, at.y);
  assert.equal(await button(page, 'box[4]').getAttribute('aria-pressed'), 'true', 'a click in the view selects in the list');
  await button(page, 'box[2]').click();
  assert.equal(await page.evaluate(() => window.stiction.selected), 'box[2]', 'and the other way round');
  const contact = await page.evaluate(() => window.stiction.bearing());
  await page.mouse.move(contact.x, contact.y);
  assert.equal(await page.locator('#tree li.marked').count(), 1);
  await page.getByRole('button', { name: /^ground – box\[0\]/ }).click();
  assert.match(await page.locator('#tip').getAttribute('aria-label'), /box\[0\] on ground/);
  await button(page, 'box[4] is shown').click();
  await button(page, 'box[4] is faded').click();
  await button(page, 'box[4] is hidden').waitFor();
  await page.screenshot({ path: `${out}/list.png` });
  assert.deepEqual(errors, []);
  await page.close();
});
