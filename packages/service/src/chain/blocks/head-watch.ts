import { singleFlight } from '../../lib/concurrency/single-flight.ts';
import type { UsdcClient } from '../usdc-client.ts';
import type { GateName } from './gate-store.ts';

/** Recurring work on the chain's state, which need not run again until the head has changed. */
export interface FollowsHead {
  readonly work: () => Promise<void>;
  /** True when the head is not the one of the last complete run, or that run was long ago. Throws while the chain does not answer. */
  readonly isDue: () => Promise<boolean>;
}

export interface HeadWatch {
  /**
   * Runs `work` when the head changes. `work` resolves with false when it has not seen everything up to the head: it is then due again.
   * `gate`: records the progress; null: not needed.
   */
  follow(gate: GateName | null, work: () => Promise<boolean>): FollowsHead;
}

interface WatchContext {
  readonly usdc: Pick<UsdcClient, 'newestBlock'>;
  /** Notes the head up to which a follower has seen everything (null: not this time), or why its run failed. */
  readonly record: (gate: GateName, block: bigint | null, reason: string | null) => Promise<void>;
}

type Newest = Awaited<ReturnType<UsdcClient['newestBlock']>>;

/** Time after which work runs again even at the same head, in case something else has changed. */
const MAX_PAUSE_MS = 10_000;

/** All who ask at the same moment share one request to the chain. */
export function createHeadWatch({ usdc, record }: WatchContext): HeadWatch {
  const head = singleFlight(() => usdc.newestBlock());
  return {
    follow(gate, work) {
      const recordHere = async (block: bigint | null, reason: string | null) => {
        if (gate !== null) await record(gate, block, reason);
      };
      let found: Newest | null = null;
      let done: { readonly hash: string | undefined; readonly atMs: number } | null = null;
      return {
        async work() {
          const seen = found;
          const startMs = performance.now();
          done = null;
          const isComplete = await work().catch(async (error) => {
            await recordHere(null, String(error?.message ?? error).slice(0, 500));
            throw error;
          });
          await recordHere(isComplete ? (seen?.number ?? null) : null, null);
          if (isComplete) done = { hash: seen?.hash, atMs: startMs };
        },
        async isDue() {
          found = await head();
          return done === null || done.hash !== found.hash || performance.now() - done.atMs >= MAX_PAUSE_MS;
        },
      };
    },
  };
}
