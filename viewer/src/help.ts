// The keys, and what the mouse does.

import { make } from './dom';

const KEYS: [string[], string][] = [
  [['space'], 'play or pause'],
  [['.', ','], 'one step on, one frame back'],
  [['+', '−'], 'faster, slower'],
  [['R'], 'back to the start'],
  [['F'], 'follow the chosen body, or nothing'],
  [['Home'], 'the whole scene'],
  [['C', 'I', 'J', 'G', 'D'], 'contact points, impulses, joints, gaps, grid'],
  [['P', 'T'], 'plots and settings; light or dark'],
];

const LIVE: [string[], string][] = [
  [['Z'], 'go on from the moment that is shown'],
  [['N'], 'back to now'],
];

export function help(dialog: HTMLDialogElement, live: boolean): void {
  const rows = [...KEYS, ...(live ? LIVE : [])].flatMap(([keys, words]) => [
    make('dt', {}, ...keys.flatMap((k, i) => (i > 0 ? [' ', make('kbd', {}, k)] : [make('kbd', {}, k)]))),
    make('dd', {}, words),
  ]);
  const push = 'Drag a body to push it: a spring pulls the point you hold to the cursor. Hold shift to move the view instead. ';
  const close = make('button', { class: 'outlined' }, 'Close');
  close.onclick = () => dialog.close();
  dialog.replaceChildren(
    make('h2', {}, 'How to look around'),
    make('p', {}, `${live ? push : ''}Drag the background to move the view, scroll or pinch to come nearer. Point at a contact to read what it does; click a body to choose it.`),
    make('dl', {}, ...rows),
    make('div', { class: 'actions' }, close),
  );
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  dialog.showModal();
}
