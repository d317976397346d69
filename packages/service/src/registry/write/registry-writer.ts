import { randomUUID } from 'node:crypto';
import { LEASE_MS } from '../../chain/keys/lease.ts';
import { noteMined } from '../../payments/onchain/own-transactions.ts';
import { createTransactionMonitor } from '../../payments/settlement/transaction-monitor.ts';
import { type FollowWrites, recordWrites } from './record-writes.ts';
import { createWriteAhead } from './send-writes.ts';
import type { WriterContext } from './writer-context.ts';

/** Sends due writes to the shared registries. */
export interface RegistryWriter {
  /** Sends due writes, one transaction after the other, and records the outcomes of all sent ones. Concurrent runs are harmless. */
  write(): Promise<void>;
  /** Stops waiting; the reconciler continues with pending transactions. */
  stop(): void;
}

export interface HasRegistryWriter {
  /** Requests a run now instead of at the next interval. */
  readonly registryWrites: { requestRun(): void };
}

/** Time that a transaction is monitored here; after that the reconciler monitors it, and the next run sees its outcome. */
const MINED_WITHIN_MS = 20_000;
const idle: RegistryWriter = { write: async () => undefined, stop: () => undefined };

/** Sends one transaction at a time, as the key carries one: writes that become due meanwhile share the next. */
export function createRegistryWriter(ctx: WriterContext, follow: FollowWrites): RegistryWriter {
  const { registrar } = ctx;
  if (!registrar) return idle;
  const stopping = new AbortController();
  const { signal } = stopping;
  const lease = { holder: `registrar ${randomUUID()}`, leaseMs: LEASE_MS };
  const writeAhead = createWriteAhead(ctx, registrar.address, lease);

  /** Returns true when due writes were mined; false when nothing was due or the outcome is unknown. */
  async function writeOnce(): Promise<boolean> {
    const open = await writeAhead();
    if (!open) return false;
    const monitor = createTransactionMonitor(ctx, open, lease);
    const mined = await monitor.untilMined(performance.now() + MINED_WITHIN_MS, signal).catch((error) => {
      ctx.log.warn({ err: error, hash: monitor.hash() }, 'registry write outcome unknown; the next run checks it');
      return null;
    });
    if (!mined) await monitor.leave();
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
