import { setTimeout as sleep } from 'node:timers/promises';
import { PROBE } from '../torture/bank-agents.ts';
import type { BankBook, Deal } from '../torture/bank-book.ts';
import type { BankClient } from '../torture/bank-world.ts';
import { sendWithin } from '../torture/insist.ts';
import type { Random } from '../torture/random.ts';

/** Pays a call from a treasury, over and over, and remembers when a first attempt succeeded. */
export interface Prober {
  /** Longest time without a success since `sinceMs`, up to now. */
  longestGapMs(sinceMs: number): number;
  /** Resolves with the time of the first success since `sinceMs`; default: now. */
  nextSuccess(sinceMs?: number): Promise<number>;
  /** First attempts, and those that did not succeed, since `sinceMs`. */
  attempts(sinceMs: number): { readonly made: number; readonly failed: readonly string[] };
  stop(): Promise<void>;
}

export interface ProbeOptions {
  readonly baseUrl: string;
  readonly client: BankClient;
  readonly agentId: string;
  readonly random: Random;
  /** Book of its purchases, for the audit. */
  readonly book: BankBook;
}

const PAUSE_MS = 50;
const PATIENCE_MS = 3_000;

export function startProber({ baseUrl, client: { key }, agentId, random, book }: ProbeOptions): Prober {
  const successes: number[] = [performance.now()];
  const tries: { readonly atMs: number; readonly failure: string | null }[] = [];
  let waiting: ((atMs: number) => void)[] = [];
  let isStopped = false;
  const probe = async (): Promise<void> => {
    const atMs = performance.now();
    const deal: Deal = { mark: random.id(), kind: 'treasury', key, ids: new Set(), wasToldToPay: false, requests: 1 };
    book.deals.push(deal);
    const options = {
      key,
      headers: { 'idempotency-key': deal.mark, 'x-sync': 'true', 'x-payment-method': 'treasury' },
      body: { task: PROBE, metadata: { mark: deal.mark } },
    };
    const failure = await sendWithin(baseUrl, 'POST', `/invoke/${agentId}`, options, PATIENCE_MS).then(
      ({ status, body }) => {
        if (status !== 200) return `${status} ${body?.error?.code ?? ''}`;
        deal.ids.add(body.data.requestId);
        return null;
      },
      (error: Error) => error.message,
    );
    tries.push({ atMs, failure });
    if (failure !== null) return;
    const doneMs = performance.now();
    successes.push(doneMs);
    for (const tell of waiting) tell(doneMs);
    waiting = [];
  };
  const loop = async (): Promise<void> => {
    while (!isStopped) {
      await probe();
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
    async nextSuccess(sinceMs = performance.now()) {
      return successes.find((atMs) => atMs >= sinceMs) ?? new Promise((resolve) => waiting.push(resolve));
    },
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
