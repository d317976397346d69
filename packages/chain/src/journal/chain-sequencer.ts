import { kindOf } from './chain-methods.ts';
import type { UpstreamAnswer } from './chain-upstream.ts';
import { createChainWriter, type Turn, type WriteCall, type WriterParts } from './chain-writer.ts';

/**
 * Serializes all changes of the chain. Calls run one after the other, each once it is in the journal on disk; calls that arrive together
 * share one write and, if they are transactions, one block. The same calls at the same block times give the same chain.
 */
export type ChainSequencer = {
  /** Resolves when the call is made and, unless automining is off, its transaction is mined. Throws when the outcome is unknown. */
  submit(call: WriteCall): Promise<UpstreamAnswer>;
  /** Runs work while nothing else changes the chain. */
  exclusively<Result>(work: (turn: Turn) => Promise<Result>): Promise<Result>;
  /** Number of changes since the state was last saved. */
  unsavedChanges(): number;
  /** Arrival time of the last transaction, in milliseconds. */
  lastSentMs(): number;
};

type Waiting = { call: WriteCall; resolve: (answer: UpstreamAnswer) => void; reject: (error: unknown) => void };
type Work = { run: () => Promise<void> };

const MAX_TOGETHER = 256;

export function createChainSequencer(parts: WriterParts): ChainSequencer {
  const writer = createChainWriter(parts);
  const jobs: (Waiting | Work)[] = [];
  let isRunning = false;

  const takeGroup = (first: Waiting): Waiting[] => {
    const end = jobs.findIndex((each) => 'run' in each || !isGrouped(each.call));
    return [first, ...(jobs.splice(0, Math.min(end === -1 ? jobs.length : end, MAX_TOGETHER - 1)) as Waiting[])];
  };
  const make = async (group: readonly Waiting[], work: () => Promise<UpstreamAnswer[]>) => {
    try {
      const answers = await work();
      for (const [index, { resolve }] of group.entries()) resolve(answers[index] as UpstreamAnswer);
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
  };
  const runNext = (job: Waiting | Work): Promise<void> => {
    if ('run' in job) return job.run();
    if (!isGrouped(job.call)) return make([job], async () => [await writer.makeOne(job.call)]);
    const group = takeGroup(job);
    return make(group, () => writer.makeTogether(group.map(({ call }) => call)));
  };
  const runAll = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) await runNext(job);
    isRunning = false;
  };
  const add = (job: Waiting | Work) => {
    jobs.push(job);
    if (isRunning) return;
    isRunning = true;
    // Calls of the same moment run together.
    setImmediate(() => void runAll());
  };

  return {
    submit: (call) => new Promise((resolve, reject) => add({ call, resolve, reject })),
    exclusively: (work) =>
      new Promise((resolve, reject) => add({ run: () => work(writer.turn).then(resolve, reject) })),
    unsavedChanges: () => writer.unsavedChanges(),
    lastSentMs: () => writer.lastSentMs(),
  };
}

function isGrouped({ method }: WriteCall): boolean {
  const kind = kindOf(method);
  return kind === 'send' || kind === 'set';
}
