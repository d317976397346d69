import type { UsdcClient } from './usdc-client.ts';

/** Recurring work on what the chain says: it need not run again while the chain's head is the one that it has seen. */
export interface FollowsHead {
  readonly work: () => Promise<void>;
  /** True when the head is not the one of the last complete run, or that run was long ago. Throws while the chain does not answer. */
  readonly isDue: () => Promise<boolean>;
}

export interface HeadWatch {
  /** `work` resolves with false when it has not seen everything up to the head: it is then due again. */
  follow(work: () => Promise<boolean>): FollowsHead;
}

/** Time after which work is done again even at the same head, for whatever else may have changed. */
const MAX_PAUSE_MS = 10_000;

/** All who ask at the same moment share one request to the chain. */
export function createHeadWatch({ usdc }: { readonly usdc: Pick<UsdcClient, 'headHash'> }): HeadWatch {
  let asking: Promise<string | null> | null = null;
  const head = (): Promise<string | null> => {
    asking ??= usdc.headHash().finally(() => {
      asking = null;
    });
    return asking;
  };
  return {
    follow(work) {
      let found: string | null = null;
      let done: { readonly hash: string | null; readonly atMs: number } | null = null;
      return {
        async work() {
          const hash = found;
          const startMs = performance.now();
          done = null;
          if (await work()) done = { hash, atMs: startMs };
        },
        async isDue() {
          found = await head();
          return done === null || done.hash !== found || performance.now() - done.atMs >= MAX_PAUSE_MS;
        },
      };
    },
  };
}
