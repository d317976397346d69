import { setTimeout as delay } from 'node:timers/promises';
import type { Store } from '../store/database.ts';
import { askToDrain, listProcesses, type ProcessRow, takeBackDrain } from './operator-store.ts';

/** Processes of a node: all of them, or the one of this id (or its beginning), place or label. */
export type Which = { readonly name: string } | 'all';

export interface DrainOrder {
  readonly which: Which;
  readonly waitMs: number;
  /** Called with the states of the processes whenever it has changed. */
  readonly tell: (states: readonly Draining[]) => void;
}

export interface Draining {
  readonly process: string;
  /** `ended`: it has stopped, and other processes have its work. */
  readonly state: 'asked' | 'draining' | 'drained' | 'silent' | 'ended';
  /** Remaining work, as of its last heartbeat. */
  readonly open: ProcessRow['openWork'];
}

const LOOK_MS = 500;

/**
 * Asks processes to stop taking calls, and waits until they have finished or the time is over; returns the state of each. The request is
 * one statement, so interrupting the wait does not undo it. A process that starts again has a new row, without the request.
 */
export async function drainProcesses(
  { db }: Pick<Store, 'db'>,
  { which, waitMs, tell }: DrainOrder,
): Promise<Draining[]> {
  const chosen = choose(await listProcesses(db), which);
  const tooOld = chosen.find(({ schemaVersion }) => schemaVersion === null);
  if (tooOld)
    throw new Error(`${nameOf(tooOld)} runs a version that cannot be drained; SIGTERM lets it finish and hand over`);
  const ids = chosen.map(({ processId }) => processId);
  await askToDrain(db, ids);
  const endMs = performance.now() + waitMs;
  let told = '';
  for (;;) {
    const states = statesOf(chosen, await listProcesses(db));
    if (told !== JSON.stringify(states)) tell(states);
    told = JSON.stringify(states);
    if (states.every(isDrained) || performance.now() >= endMs) return states;
    await delay(Math.min(LOOK_MS, Math.max(0, endMs - performance.now())));
  }
}

/** Lets processes take calls again; they do with their next heartbeat. */
export async function undoDrain({ db }: Pick<Store, 'db'>, which: Which): Promise<string[]> {
  const chosen = choose(await listProcesses(db), which).filter(({ drainAskedAt }) => drainAskedAt !== null);
  await takeBackDrain(
    db,
    chosen.map(({ processId }) => processId),
  );
  return chosen.map(nameOf);
}

export const isDrained = ({ state }: Draining): boolean => state === 'drained' || state === 'ended';

function statesOf(chosen: readonly ProcessRow[], rows: readonly ProcessRow[]): Draining[] {
  return chosen.map((each) => {
    const row = rows.find(({ processId }) => processId === each.processId) ?? successorOf(each, rows);
    return { process: nameOf(each), state: stateOf(row), open: row?.openWork ?? null };
  });
}

/**
 * The row under which a process that was declared dead continues with a new id; it keeps the request to drain, which a restarted process
 * would not have.
 */
const successorOf = ({ place, processId }: ProcessRow, rows: readonly ProcessRow[]) =>
  rows.find((row) => row.place === place && row.processId !== processId && row.drainAskedAt !== null);

function stateOf(row: ProcessRow | undefined): Draining['state'] {
  if (!row) return 'ended';
  if (row.isSilent) return 'silent';
  if (!row.drainingSince || !row.openWork) return 'asked';
  return row.openWork.invocations + row.openWork.calls === 0 ? 'drained' : 'draining';
}

function choose(rows: readonly ProcessRow[], which: Which): readonly ProcessRow[] {
  if (which === 'all') return rows;
  const { name } = which;
  const found = rows.filter(
    ({ processId, place, label }) => processId.startsWith(name) || place === name || label === name,
  );
  if (found.length === 1) return found;
  const list = rows.map((row) => `  ${nameOf(row)}`).join('\n');
  throw new Error(
    `${found.length === 0 ? 'no process' : 'more than one process'} is called ${name}; these run:\n${list}`,
  );
}

const nameOf = ({ processId, place, label }: ProcessRow) => `${processId} (${place ?? label})`;
