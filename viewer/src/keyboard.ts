// Keyboard: keys of the page and their actions.

export type Actions = Record<string, () => void>;

/** Whether an element takes text. */
function writes(target: EventTarget | null): boolean {
  return target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && /^(text|search)$/.test(target.type));
}

/** Name of a key with its modifiers, as actions name it: `Shift+ArrowLeft`, `Ctrl+z`. */
function named(event: KeyboardEvent): string {
  const key = event.key.length === 1 && event.key !== event.key.toLowerCase() ? event.key.toLowerCase() : event.key;
  if (event.ctrlKey || event.metaKey) return `Ctrl+${key}`;
  if (event.altKey) return `Alt+${key}`;
  // shift is a part of the character where there is one
  return event.shiftKey && key.length > 1 ? `Shift+${key}` : key;
}

/** Listens to keys. Keys without an action go to `other`, which returns `true` if it used one. */
export function listenToKeys(actions: Actions, other: (key: string) => boolean, released: () => void): void {
  window.addEventListener('keydown', (event) => {
    const { target } = event;
    if (writes(target)) return;
    const name = named(event);
    const modified = name.length > 1 && name.includes('+');
    if (name === 'Enter' && target instanceof HTMLInputElement && target.type === 'checkbox') {
      // the space bar plays and pauses, so that Enter switches
      target.click();
      event.preventDefault();
      return;
    }
    const field = target instanceof HTMLSelectElement || (target instanceof HTMLInputElement && target.type !== 'checkbox' && target.type !== 'range');
    if (field && name !== ' ' && !modified) return;
    // arrows move the slider by its own steps, and so does Home
    if (target instanceof HTMLInputElement && target.type === 'range' && (name === 'Home' || name === 'End')) return;
    const action = actions[name];
    if (action) action();
    else if (modified || !other(name)) return;
    event.preventDefault();
  });
  window.addEventListener('keyup', (event) => {
    // the space bar would press a focused button
    if (event.key === ' ' && !writes(event.target)) event.preventDefault();
    if (event.key.startsWith('Arrow') || event.key === 'Alt') released();
  });
}
