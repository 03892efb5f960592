// A browser, the program and its pages, for the tests.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Where pages and screenshots are kept. */
export const out = `${root}out/view`;
mkdirSync(out, { recursive: true });

const target = process.env.CARGO_TARGET_DIR ?? `${root}target`;
export const program = process.env.STICTION ?? `${target}/release/stiction`;
const candidates = [process.env.CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];
const executablePath = candidates.find((path) => path && existsSync(path));
if (!executablePath) throw new Error('no Chromium was found: install one, or set CHROMIUM to its path');
if (!existsSync(program)) throw new Error(`${program} is missing: cargo build --release -p stiction-cli`);

const args = [
  // WebGL without a graphics card
  '--enable-unsafe-swiftshader', '--disable-gpu', '--disable-background-networking', '--no-first-run',
  // a container has no sandbox of its own to give
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  // a page that the test hands over is not one of this machine
  ...(process.env.PAGE === 'dist' ? ['--disable-features=LocalNetworkAccessChecks'] : []),
];

export const launch = () => chromium.launch({ executablePath, args });

/**
 * With PAGE=dist, pages are those of viewer/dist with the runs that the program has put into its own: the page is tried
 * without building the program again.
 */
const fresh = process.env.PAGE === 'dist' ? readFileSync(`${root}viewer/dist/index.html`, 'utf8') : null;

function refreshed(html) {
  const run = html.match(/<script type="application\/json" id="description">[\s\S]*?(?=<script>)/);
  return fresh && run ? fresh.replace('<!-- run -->', () => run[0]) : html;
}

/** Sizes and themes in which the page is tried. */
export const looks = {
  desktop: { width: 1280, height: 800 },
  'desktop-dark': { width: 1280, height: 800, dark: true },
  phone: { width: 390, height: 844 },
  'phone-dark': { width: 390, height: 844, dark: true },
};

/** A page whose errors are collected. */
export async function open(browser, url, { width = 1280, height = 800, dark = false } = {}) {
  const phone = width < 500;
  const page = await browser.newPage({
    viewport: { width, height },
    colorScheme: dark ? 'dark' : 'light',
    deviceScaleFactor: phone ? 2 : 1,
    hasTouch: phone,
    acceptDownloads: true,
  });
  const errors = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(error.message));
  if (fresh && url.startsWith('http')) {
    await page.route((at) => at.pathname === '/', async (route) => {
      const response = await route.fetch();
      await route.fulfill({ response, body: refreshed(await response.text()) });
    });
  }
  await page.goto(url);
  await page.waitForFunction(() => window.stiction?.timeline.frames.length > 0, null, { timeout: 30000 });
  return { page, errors };
}

export const measure = (page) => page.evaluate(() => window.stiction.measure());

/** Runs a scene of the tests and makes its page; its path. */
export function record(name, ...more) {
  const html = `${out}/${name}.html`;
  const scene = `${root}viewer/tests/scenes/${name}.toml`;
  const journal = `${out}/${name}.journal`;
  const ran = spawnSync(program, ['run', scene, '--out', journal, '--overwrite', '--html', html, ...more], { encoding: 'utf8' });
  if (ran.status !== 0) throw new Error(`${ran.stdout}\n${ran.stderr}`);
  if (fresh) writeFileSync(html, refreshed(readFileSync(html, 'utf8')));
  return html;
}

/** Waits until the page has drawn what it was asked for. */
export const drawn = (page) => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

/** Time that the processor spends in the script of a frame [ms], whatever else the machine does: the median. */
export async function scriptTime(browser, page, drawn = 30) {
  await browser.startTracing(page, { categories: ['devtools.timeline'] });
  const frames = await page.evaluate(() => window.stiction.drawn);
  // asked by a timer: a question in every frame would be measured too
  await page.waitForFunction((n) => window.stiction.drawn > n, frames + drawn, { timeout: 60000, polling: 250 });
  const trace = JSON.parse((await browser.stopTracing()).toString());
  const all = trace.traceEvents.filter((e) => e.name === 'FireAnimationFrame' && e.tdur > 0).map((e) => e.tdur / 1000);
  // without the animation frames in which nothing was drawn: these are the shortest
  const times = all.sort((a, b) => b - a).slice(0, drawn);
  if (times.length < 10) throw new Error(`${times.length} frames were traced`);
  return { time: times[times.length >> 1], count: times.length };
}

/** Starts the server for a scene or a journal, or for all scenes; where it is, and how to end it. */
export async function serve(file) {
  const child = spawn(program, ['view', ...(file ? [file] : []), '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const url = await new Promise((resolve, reject) => {
    let text = '';
    child.stdout.on('data', (chunk) => {
      text += chunk;
      const found = text.match(/http:\/\/\S+/);
      if (found) resolve(found[0]);
    });
    child.on('exit', (code) => reject(new Error(`stiction view ended with ${code}: ${text}`)));
  });
  return { url, child, end: () => child.kill() };
}
