import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const dark = matchMedia('(prefers-color-scheme: dark)');
const listeners = new Set<() => void>();

function chosenTheme(): Theme {
  const stored = localStorage.getItem('theme');
  return stored === 'light' || stored === 'dark' ? stored : 'system';
}

/** Returns the active theme. public/theme.js does the same before the first paint. */
const shownTheme = (): 'light' | 'dark' => {
  const theme = chosenTheme();
  return theme === 'system' ? (dark.matches ? 'dark' : 'light') : theme;
};

function apply(): void {
  document.documentElement.dataset.theme = shownTheme();
  for (const listener of listeners) listener();
}

dark.addEventListener('change', apply);
addEventListener('storage', apply);

export function chooseTheme(theme: Theme): void {
  if (theme === 'system') localStorage.removeItem('theme');
  else localStorage.setItem('theme', theme);
  apply();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export const useTheme = (): Theme => useSyncExternalStore(subscribe, chosenTheme);
export const useShownTheme = (): 'light' | 'dark' => useSyncExternalStore(subscribe, shownTheme);
