// Helpers for HTML elements.

export function byId<T extends HTMLElement>(id: string): T {
  const element = document.getElementById(id);
  if (!element) throw new Error(`the page has no #${id}`);
  return element as T;
}

/** An element with attributes and children. */
export function make<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Record<string, string> = {},
  ...children: (Node | string)[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Sets a text if it differs, because setting it causes a layout. */
export function write(element: HTMLElement, text: string): void {
  if (element.textContent !== text) element.textContent = text;
}

const ICONS: Record<string, string> = {
  play: '<path d="M7 4.5v15l12-7.5z" fill="currentColor"/>',
  pause: '<path d="M8 5v14M16 5v14" stroke-width="3"/>',
  step: '<path d="M6 5v14l9-7zM18.5 5v14" fill="currentColor"/>',
  back: '<path d="M18 5v14l-9-7zM5.5 5v14" fill="currentColor"/>',
  reset: '<path d="M4.5 5v5h5M5 10a8 8 0 1 1-.8 4.5"/>',
  home: '<path d="M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5"/>',
  theme: '<circle cx="12" cy="12" r="7.5"/><path d="M12 4.5a7.5 7.5 0 0 1 0 15z" fill="currentColor"/>',
  help: '<path d="M9 9a3 3 0 1 1 4.5 2.6c-1 .6-1.5 1.2-1.5 2.4M12 17.5v.1"/><circle cx="12" cy="12" r="9"/>',
  list: '<path d="M9 6h11M9 12h11M9 18h11M4.5 6v.1M4.5 12v.1M4.5 18v.1"/>',
  shown: '<path d="M2.5 12s3.5-6.5 9.5-6.5 9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12z"/><circle cx="12" cy="12" r="3" fill="currentColor"/>',
  faded: '<path d="M2.5 12s3.5-6.5 9.5-6.5 9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12z" stroke-dasharray="2.5 3"/><circle cx="12" cy="12" r="2.5"/>',
  hidden: '<path d="M2.5 12s3.5-6.5 9.5-6.5 9.5 6.5 9.5 6.5-3.5 6.5-9.5 6.5S2.5 12 2.5 12zM4 20 20 4"/>',
  panels: '<path d="M4 19V5M4 19h16M7 15l4-5 3 3 5-7"/>',
};

/** Puts an icon into a button. */
export function icon(button: HTMLElement, name: string): void {
  if (button.dataset.icon === name) return;
  button.dataset.icon = name;
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true">${ICONS[name]}</svg>`;
}
