import { setTimeout as sleep } from 'node:timers/promises';
import { sendWithin } from '../torture/insist.ts';

/** Pays a call from a treasury, over and over, and remembers when a first attempt succeeded. */
export interface Prober {
  /** Longest time without a success since `sinceMs`, up to now. */
  longestGapMs(sinceMs: number): number;
  /** Resolves with the next success. */
  nextSuccess(): Promise<void>;
  /** First attempts, and those that did not succeed, since `sinceMs`. */
  attempts(sinceMs: number): { readonly made: number; readonly failed: readonly string[] };
  stop(): Promise<void>;
}

export interface ProbeOptions {
  readonly baseUrl: string;
  readonly key: string;
  readonly agentId: string;
}

const PAUSE_MS = 50;
const PATIENCE_MS = 3_000;

export function startProber({ baseUrl, key, agentId }: ProbeOptions): Prober {
  const successes: number[] = [performance.now()];
  const tries: { readonly atMs: number; readonly failure: string | null }[] = [];
  let waiting: (() => void)[] = [];
  let isStopped = false;
  const probe = async (count: number): Promise<void> => {
    const atMs = performance.now();
    const options = {
      key,
      headers: { 'idempotency-key': `probe-${count}`, 'x-sync': 'true', 'x-payment-method': 'treasury' },
      body: { task: 'probe', metadata: { mark: `probe ${count}` } },
    };
    const failure = await sendWithin(baseUrl, 'POST', `/invoke/${agentId}`, options, PATIENCE_MS).then(
      ({ status, body }) => (status === 200 ? null : `${status} ${body?.error?.code ?? ''}`),
      (error: Error) => error.message,
    );
    tries.push({ atMs, failure });
    if (failure !== null) return;
    successes.push(performance.now());
    for (const tell of waiting) tell();
    waiting = [];
  };
  const loop = async (): Promise<void> => {
    for (let count = 0; !isStopped; count++) {
      await probe(count);
      await sleep(PAUSE_MS);
    }
  };
  const looping = loop();
  return {
    longestGapMs(sinceMs) {
      const times = [...successes.filter((atMs) => atMs >= sinceMs), performance.now()];
      const before = successes.findLast((atMs) => atMs < sinceMs) ?? sinceMs;
      return times.reduce((most, atMs, index) => Math.max(most, atMs - (times[index - 1] ?? before)), 0);
    },
    nextSuccess: () => new Promise((resolve) => waiting.push(resolve)),
    attempts(sinceMs) {
      const made = tries.filter(({ atMs }) => atMs >= sinceMs);
      return { made: made.length, failed: made.flatMap(({ failure }) => failure ?? []) };
    },
    async stop() {
      isStopped = true;
      await looping;
    },
  };
}
