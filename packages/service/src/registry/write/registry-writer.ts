import { randomUUID } from 'node:crypto';
import { LEASE_MS } from '../../chain/lease.ts';
import { noteMined } from '../../payments/onchain/own-transactions.ts';
import { createCare } from '../../payments/settlement/transaction-monitor.ts';
import { type FollowWrites, recordWrites } from './record-writes.ts';
import { createWriteAhead } from './send-writes.ts';
import type { WriterContext } from './writer-context.ts';

/** Writes to the shared registries what is noted as due. */
export interface RegistryWriter {
  /** Sends what is due, one transaction after the other, and notes what came of all that was sent. Another run of it is no harm. */
  write(): Promise<void>;
  /** Leaves what is on its way to whoever goes on. */
  stop(): void;
}

export interface HasRegistryWriter {
  /** Writes soon, rather than when it comes round. */
  readonly registryWrites: { requestRun(): void };
}

/** How long a transaction is looked after here; then the reconciler does, and the next run sees what came of it. */
const MINED_WITHIN_MS = 20_000;
const idle: RegistryWriter = { write: async () => undefined, stop: () => undefined };

/** One transaction at a time, as the key carries one: what becomes due meanwhile shares the next. */
export function createRegistryWriter(ctx: WriterContext, follow: FollowWrites): RegistryWriter {
  const { registrar } = ctx;
  if (!registrar) return idle;
  const stopping = new AbortController();
  const { signal } = stopping;
  const lease = { holder: `registrar ${randomUUID()}`, leaseMs: LEASE_MS };
  const writeAhead = createWriteAhead(ctx, registrar.address, lease);

  /** Whether a block has what was due; false: nothing was, or it is not known yet. */
  async function writeOnce(): Promise<boolean> {
    const open = await writeAhead();
    if (!open) return false;
    const care = createCare(ctx, open, lease);
    const mined = await care.untilMined(performance.now() + MINED_WITHIN_MS, signal).catch((error) => {
      ctx.log.warn({ err: error, hash: care.hash() }, 'registry write outcome unknown; the next run checks it');
      return null;
    });
    if (!mined) await care.leave();
    else if (open.isEmpty) await ctx.db.transaction((tx) => noteMined(tx, mined));
    return mined !== null;
  }

  return {
    async write() {
      do await recordWrites(ctx, registrar.address, follow);
      while (!signal.aborted && (await writeOnce()));
    },
    stop: () => stopping.abort(new Error('the node is stopping')),
  };
}
