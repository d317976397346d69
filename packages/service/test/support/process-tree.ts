import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.ts';

export interface ProcessMark {
  readonly pid: number;
  /** Start time in the kernel's ticks: distinguishes it from a later process of the same pid. */
  readonly startedAt: string;
}

interface Stat extends ProcessMark {
  readonly parent: number;
  readonly state: string;
}

function statOf(pid: number): Stat | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [state = '', parent = '', ...rest] = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { pid, state, parent: Number(parent), startedAt: rest[17] ?? '' };
  } catch {
    return null;
  }
}

/** A process and all that it has started, and they have started. Linux only. */
export function treeOf(root: number): ProcessMark[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (statOf(Number(name)) ?? []) : []));
  const tree = all.filter(({ pid }) => pid === root);
  for (const { pid } of tree) tree.push(...all.filter(({ parent }) => parent === pid));
  return tree;
}

/** Processes that still run; an ended, unreaped one does not count. */
export const stillRunning = (marks: readonly ProcessMark[]): ProcessMark[] =>
  marks.filter((mark) => {
    const now = statOf(mark.pid);
    return now !== null && now.startedAt === mark.startedAt && now.state !== 'Z';
  });

/** Returns the processes that still run after a while; empty as soon as none does. */
export async function leftOf(marks: readonly ProcessMark[]): Promise<ProcessMark[]> {
  await until(async () => stillRunning(marks).length === 0, 10).catch(() => undefined);
  return stillRunning(marks);
}

/** kill -9 of each that still runs; the first deaths may end others on their own. */
export function killAll(marks: readonly ProcessMark[]): void {
  for (const { pid } of stillRunning(marks)) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}
