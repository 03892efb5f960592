// A browser, the program and its pages, for the tests.

import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
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
];

export const launch = () => chromium.launch({ executablePath, args });

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
  return html;
}

/** Starts the server for a scene or a journal; where it is, and how to end it. */
export async function serve(file) {
  const child = spawn(program, ['view', file, '--no-open'], { stdio: ['ignore', 'pipe', 'inherit'] });
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
