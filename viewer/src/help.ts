// Help dialog: keys and mouse.

import { make } from './dom';

const KEYS: [string[], string][] = [
  [['space'], 'play or pause'],
  [['.', ','], 'one step forward, one frame back'],
  [['+', '−'], 'faster, slower'],
  [['R'], 'back to the start'],
  [['B', 'H'], 'list of bodies, joints and contacts; show, fade or hide the selected body'],
  [['F'], 'follow the selected body, or none'],
  [['Home', '[', ']'], 'all that moves; away, nearer'],
  [['Shift + arrows'], 'turn or move the view'],
  [['C', 'I', 'X', 'J', 'G', 'D'], 'contact points, forces, reactions, joints, gaps, grid'],
  [['P', 'T'], 'plots and settings; light or dark'],
];

const LIVE: [string[], string][] = [
  [['Z'], 'continue from the shown time'],
  [['N'], 'return to live'],
  [['Ctrl + Z'], 'take back the last change'],
  [['Alt + arrows'], 'pull the selected body'],
];

export function help(dialog: HTMLDialogElement, live: boolean): void {
  const rows = [...KEYS, ...(live ? LIVE : [])].flatMap(([keys, words]) => [
    make('dt', {}, ...keys.flatMap((k, i) => (i > 0 ? [' ', make('kbd', {}, k)] : [make('kbd', {}, k)]))),
    make('dd', {}, words),
  ]);
  const push = 'Drag a body to push it: a spring pulls the grabbed point to the cursor. Hold shift to move the view instead. ';
  const close = make('button', { class: 'outlined' }, 'Close');
  close.onclick = () => dialog.close();
  dialog.replaceChildren(
    make('h2', {}, 'How to look around'),
    make('p', {}, `${live ? push : ''}Drag the background to move the view, scroll or pinch to zoom. Point at a contact to see its values; click a body to select it.`),
    make('p', {}, 'A dashed arrow is a force that rigid bodies do not determine: others cause the same motion. A run with --intervals shows the bar from the least of them to the greatest.'),
    make('dl', {}, ...rows),
    make('div', { class: 'actions' }, close),
  );
  dialog.onclick = (event) => {
    if (event.target === dialog) dialog.close();
  };
  dialog.showModal();
}
