// Tooltip of the contact under the cursor.

import type { Contact, Description, Frame } from './data';
import { byId, make } from './dom';
import { modeStyle } from './legend';
import { MODE_WORDS, contactLines, contactSentence, pair } from './words';

/** Hides the tooltip. */
export function hideTip(): void {
  byId('tip').hidden = true;
}

/** Part of the window that no bar covers [px]. */
export interface OpenPart {
  left: number;
  top: number;
  width: number;
  height: number;
}

/** Shows the values of a contact beside a point of the window [px], within its open part where there is room. */
export function showTip(contact: Contact, frame: Frame, description: Description, x: number, y: number, open: OpenPart): void {
  const tip = byId('tip');
  tip.hidden = false;
  const lines = contactLines(contact, frame.h, description.forces).flatMap(([what, value]) => [
    make('dt', {}, what),
    make('dd', {}, value),
  ]);
  tip.setAttribute('aria-label', contactSentence(contact, description, frame.h));
  tip.replaceChildren(
    `${pair(contact, description)} `,
    make('span', { class: 'mode', style: modeStyle(contact.mode) }, MODE_WORDS[contact.mode]),
    make('dl', {}, ...lines),
  );
  const { width, height } = tip.getBoundingClientRect();
  const within = (at: number, size: number, from: number, room: number, whole: number) => {
    // a tip that is larger than the open part may cover bars, but does not leave the window
    const [low, high] = room >= size + 16 ? [from, from + room] : [0, whole];
    return Math.max(low + 8, Math.min(at, high - size - 8));
  };
  const below = y + 16 + height < open.top + open.height;
  tip.style.left = `${within(x + 16, width, open.left, open.width, window.innerWidth)}px`;
  tip.style.top = `${within(below ? y + 16 : y - height - 12, height, open.top, open.height, window.innerHeight)}px`;
}
