// Keyboard: keys of the page and their actions.

export type Actions = Record<string, () => void>;

/** Listens to keys. Keys without an action go to `other`, which returns `true` if it used one. */
export function listenToKeys(actions: Actions, other: (key: string) => boolean): void {
  window.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName)) {
      if (!(target instanceof HTMLInputElement && target.type === 'range')) return;
    }
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    // the space bar presses a focused button
    if (action && !(event.key === ' ' && target instanceof HTMLButtonElement)) {
      action();
      event.preventDefault();
    } else if (!action && other(event.key.toLowerCase())) {
      event.preventDefault();
    }
  });
}
