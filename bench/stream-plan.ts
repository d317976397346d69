import { watch } from 'node:fs';
import { access } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The chunks that a streaming agent is asked to send: their number, the pause before each, and their text. */
export interface StreamPlan {
  readonly chunks: number;
  readonly everyMs: number;
  readonly text: string;
  /** A file that whoever asks makes when all streams are open: nothing is said before. */
  readonly gate?: string;
  /** Say nothing and fail. */
  readonly fails?: true;
}

const gates = new Map<string, Promise<void>>();

/** Resolves when the gate of a plan is open; however many wait for it, it is watched once. */
export function gateOpened({ gate }: StreamPlan): Promise<void> {
  if (gate === undefined) return Promise.resolve();
  const waiting = gates.get(gate) ?? untilExists(gate);
  gates.set(gate, waiting);
  return waiting;
}

async function untilExists(file: string): Promise<void> {
  const watcher = watch(dirname(file));
  try {
    const exists = () =>
      access(file).then(
        () => true,
        () => false,
      );
    while (!(await exists())) await new Promise((resolve) => watcher.once('change', resolve));
  } finally {
    watcher.close();
  }
}
