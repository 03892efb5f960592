// Legend: friction modes with their colors, and the scale bars of arrows and lengths.

import { byId, make, write } from './dom';
import type { Stage } from './stage';
import { SHADES, type Shading } from './shading';
import { RAMP_BACKGROUND, palette } from './theme';
import { number } from './words';

const GLYPHS = ['○', '●', '◆'];
/** Length of the arrow of the legend, about [px]. */
const ARROW = 44;
/** Longest scale bar of lengths [px]. */
const RULER = 110;

/** Style of a friction mode: its color and its glyph. */
export function modeStyle(mode: number): string {
  return `--c: ${palette().modes[mode]}; --glyph: '${GLYPHS[mode]}'`;
}

/** Draws the modes, in the colors of the theme. */
export function paintLegend(): void {
  const words = ['open', 'sticks', 'slips'];
  byId('legend').replaceChildren(
    ...words.map((word, mode) => make('span', { class: 'mode', style: modeStyle(mode) }, word)),
    make('span', { class: 'scale' }),
    make('span', { class: 'thin' }, 'thin: its reaction'),
    make('span', { class: 'shade', hidden: '' }),
  );
}

/** Draws both scale bars; `scale` is the length of arrows [m/N]. */
export function showScales(stage: Stage, scale: number): void {
  const pixel = stage.pixel(stage.controls.target);
  showForceScale(pixel, scale);
  const ruler = byId('ruler');
  // lengths on the screen differ with the distance in space
  ruler.hidden = stage.dimension === 3;
  if (!ruler.hidden) showRuler(ruler, pixel);
}

/** Colours of bodies with the range that they stand for. */
export function showShade(shading: Shading): void {
  const key = byId('legend').querySelector<HTMLElement>('.shade')!;
  if (key.dataset.key === shading.key) return;
  key.dataset.key = shading.key;
  key.hidden = shading.name === 'body';
  const { words, unit } = SHADES[shading.name];
  const [low, high] = shading.range.map((x) => number(x, 2));
  key.replaceChildren(words, make('i', { style: `background: ${RAMP_BACKGROUND}` }), `${low} to ${high} ${unit}`);
}

/** Arrow of a round force. */
function showForceScale(pixel: number, scale: number): void {
  const key = byId('legend').querySelector<HTMLElement>('.scale')!;
  const force = scale > 0 ? (ARROW * pixel) / scale : 0;
  const round = force > 0 ? Number(force.toPrecision(1)) : 0;
  key.hidden = round === 0;
  (key.nextElementSibling as HTMLElement).hidden = round === 0;
  const long = `${((ARROW * round) / (force || 1)).toFixed(0)}px`;
  if (key.style.getPropertyValue('--length') !== long) key.style.setProperty('--length', long);
  write(key, `${number(round, 2)} N`);
}

/** Scale bar of a round length. */
function showRuler(ruler: HTMLElement, pixel: number): void {
  // the largest 1, 2 or 5 of a decade
  const most = RULER * pixel;
  const decade = 10 ** Math.floor(Math.log10(most));
  const length = [5, 2, 1].map((k) => k * decade).find((l) => l <= most) ?? decade;
  const width = `${(length / pixel).toFixed(1)}px`;
  if (ruler.style.width !== width) ruler.style.width = width;
  const [value, unit] = length >= 1000 ? [length / 1000, 'km'] : length >= 1 ? [length, 'm'] : length >= 0.01 ? [100 * length, 'cm'] : [1000 * length, 'mm'];
  write(ruler.querySelector('span')!, `${Number(value.toPrecision(6))} ${unit}`);
}
