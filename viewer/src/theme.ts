// Colours: light or dark, by the preference of the system or by the switch.

import type { Color } from 'three';

export interface Palette {
  background: string;
  ground: string;
  grid: string;
  edge: string;
  bodies: string[];
  fixed: string;
  /** Open, stick, slip: distinguishable by brightness and hue in all common forms of colour blindness. */
  modes: [string, string, string];
  joint: string;
  warning: string;
  plots: string[];
  text: string;
}

const LIGHT: Palette = {
  background: '#f5f6f8',
  ground: '#e3e6ea',
  grid: '#9aa4b2',
  edge: '#2b3440',
  bodies: ['#9db9d3', '#c9d6a8', '#e2c6a2', '#b9b3d6', '#a9d0c8', '#d9b3b0', '#c3c8cf', '#d8d09b'],
  fixed: '#cfd4da',
  modes: ['#7b8591', '#0063b2', '#d95f02'],
  joint: '#3d4855',
  warning: '#b3123f',
  plots: ['#0063b2', '#d95f02', '#2b3440', '#5b7f2b'],
  text: '#1d2530',
};

const DARK: Palette = {
  background: '#12161b',
  ground: '#1d232b',
  grid: '#5a6675',
  edge: '#0a0d10',
  bodies: ['#5f87ab', '#8a9c5f', '#b18d5e', '#827bb0', '#5f9d92', '#ad7a77', '#858d98', '#a39a5c'],
  fixed: '#3a434e',
  modes: ['#98a3b0', '#56b4f5', '#ffa14a'],
  joint: '#c3ccd6',
  warning: '#ff6f91',
  plots: ['#56b4f5', '#ffa14a', '#dfe6ee', '#a8cc70'],
  text: '#dfe6ee',
};

const system = window.matchMedia('(prefers-color-scheme: dark)');
let chosen: 'light' | 'dark' | null = null;
const listeners: (() => void)[] = [];

export const isDark = () => (chosen ? chosen === 'dark' : system.matches);
export const palette = () => (isDark() ? DARK : LIGHT);

export function onTheme(listener: () => void): void {
  listeners.push(listener);
}

function changed(): void {
  document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';
  listeners.forEach((listener) => listener());
}

export function switchTheme(): void {
  chosen = isDark() ? 'light' : 'dark';
  changed();
}

system.addEventListener('change', changed);
document.documentElement.dataset.theme = isDark() ? 'dark' : 'light';

/** Colours of a range, from low to high: brightness grows along it, so it is read without hues too. */
const RAMP = ['#3b2f72', '#3a5a9b', '#2f8f9d', '#5bbd7a', '#c8de5a', '#fde33f'];

const channels = RAMP.map((text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16) / 255));

/** Colour of a value between 0 and 1. */
export function ramp(share: number, out: Color): Color {
  const place = Math.max(0, Math.min(share || 0, 1)) * (RAMP.length - 1);
  const i = Math.min(Math.floor(place), RAMP.length - 2);
  const [r, g, b] = channels[i].map((low, k) => low + (place - i) * (channels[i + 1][k] - low));
  return out.setRGB(r, g, b, 'srgb');
}

/** The range as a background of CSS. */
export const RAMP_BACKGROUND = `linear-gradient(90deg, ${RAMP.join(', ')})`;
