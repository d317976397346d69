import type { HasDb } from '../../db/database.ts';
import type { HasClock } from '../../lib/clock.ts';
import { DAY_MS } from '../../lib/duration.ts';
import type { Telemetry } from '../../lib/log/telemetry.ts';
import { readSpentWei } from './signer-store.ts';

/** The operator's cap of what the sending keys of all processes spend on gas in 24 hours (`GAS_PER_DAY`). */
export interface GasCap {
  /** True while it is reached, as of the last five seconds. Throws when the database does not answer. */
  isReached(): Promise<boolean>;
}

const READ_EVERY_MS = 5000;

export interface GasCapContext extends HasDb, HasClock, Telemetry {
  readonly chain: { readonly chainId: number };
}

export function createGasCap(ctx: GasCapContext, signers: readonly string[], capWei: bigint): GasCap {
  let wasReached = false;
  let reading: { readonly atMs: number; readonly isReached: Promise<boolean> } | null = null;

  async function read(): Promise<boolean> {
    const spentWei = await readSpentWei(
      ctx.db,
      { chainId: ctx.chain.chainId, signers },
      new Date(ctx.clock.now().getTime() - DAY_MS),
    );
    const isReached = spentWei >= capWei;
    ctx.metrics.gasSpent.set(Number(spentWei));
    ctx.metrics.gasCapReached.set(isReached ? 1 : 0);
    if (isReached && !wasReached)
      ctx.log.error(
        { spentWei: String(spentWei), capWei: String(capWei), remedy: 'docs/alerts.md#gascapreached' },
        'the cap of gas for a day is reached: payments, deposits and withdrawals are refused until less was spent in 24 hours',
      );
    wasReached = isReached;
    return isReached;
  }

  return {
    async isReached() {
      const nowMs = performance.now();
      if (reading === null || nowMs - reading.atMs > READ_EVERY_MS) {
        const started = { atMs: nowMs, isReached: read() };
        reading = started;
        // One that failed is not kept: the next question reads again.
        started.isReached.catch(() => {
          if (reading === started) reading = null;
        });
      }
      return reading.isReached;
    },
  };
}
