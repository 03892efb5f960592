// Tooltip of the contact under the cursor.

import type { Contact, Description, Frame } from './data';
import { byId, make } from './dom';
import { modeStyle } from './legend';
import { MODE_WORDS, contactLines, contactSentence, pair } from './words';

/** Hides the tooltip. */
export function hideTip(): void {
  byId('tip').hidden = true;
}

/** Shows the values of a contact beside a point of the window [px]. */
export function showTip(contact: Contact, frame: Frame, description: Description, x: number, y: number): void {
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
  tip.style.left = `${Math.max(8, Math.min(x + 16, window.innerWidth - width - 8))}px`;
  tip.style.top = `${y + 16 + height > window.innerHeight ? y - height - 12 : y + 16}px`;
}
