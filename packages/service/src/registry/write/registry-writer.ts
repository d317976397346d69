import { randomUUID } from 'node:crypto';
import { LEASE_MS } from '../../chain/keys/signer.ts';
import { recordMinedTransaction } from '../../payments/chain-outbox/open-transaction.ts';
import { createTransactionMonitor } from '../../payments/settlement/transaction-monitor.ts';
import { type FollowWrites, recordWrites } from './record-writes.ts';
import { createWriteAhead } from './send-writes.ts';
import type { WriterContext } from './writer-context.ts';

/** Sends due writes to the shared registries. */
export interface RegistryWriter {
  /**
   * Sends due writes, one transaction after the other, and records the outcomes of all sent ones. Concurrent runs are harmless. Does nothing
   * once stopped.
   */
  write(): Promise<void>;
  /** Ends the wait for transactions, which the reconciler continues with. Resolves when no run is in progress. */
  stop(): Promise<void>;
}

/** Time that a transaction is monitored here; after that the reconciler monitors it, and the next run sees its outcome. */
const MINED_WITHIN_MS = 20_000;
const idle: RegistryWriter = { write: async () => undefined, stop: async () => undefined };

/** Sends one transaction at a time, as the key carries one: writes that become due in the meantime share the next. */
export function createRegistryWriter(ctx: WriterContext, follow: FollowWrites): RegistryWriter {
  const { registrar } = ctx;
  if (!registrar) return idle;
  const stopping = new AbortController();
  const { signal } = stopping;
  const runs = new Set<Promise<void>>();
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
    else if (open.isEmpty) await ctx.db.transaction((tx) => recordMinedTransaction(tx, mined));
    return mined !== null;
  }

  async function run(address: string): Promise<void> {
    do await recordWrites(ctx, address, follow);
    while (!signal.aborted && (await writeOnce()));
  }

  return {
    async write() {
      if (signal.aborted) return;
      const running = run(registrar.address);
      runs.add(running);
      await running.finally(() => runs.delete(running));
    },
    async stop() {
      stopping.abort(new Error('the node is stopping'));
      await Promise.allSettled(runs);
    },
  };
}
