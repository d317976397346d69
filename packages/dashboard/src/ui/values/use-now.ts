import { useSyncExternalStore } from 'react';

const STEP_MS = 1000;
let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  timer ??= setInterval(() => {
    nowMs = Date.now();
    for (const each of listeners) each();
  }, STEP_MS);
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The time in steps of `stepMs`; components rerender once per step. One timer serves all. */
export const useNow = (stepMs: number): number =>
  useSyncExternalStore(subscribe, () => Math.floor((timer ? nowMs : Date.now()) / stepMs) * stepMs);
