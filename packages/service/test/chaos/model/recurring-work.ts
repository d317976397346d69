import { setTimeout as sleep } from 'node:timers/promises';
import { readTransfers } from '../../../src/payments/reconcile/read-transfers.ts';
import { reconcilePayments } from '../../../src/payments/reconcile/reconcile.ts';
import type { Database } from '../../../src/store/database.ts';
import { WAIT_MS } from '../../support/until.ts';
import type { MortalNode } from './mortal-node.ts';

/** The node's recurring work that moves money. */
export interface RecurringWork {
  /** Does it once, as if a minute had passed. */
  lookAround(): Promise<void>;
  /** Resolves when nothing that moves money on chain is open. What is open for longer than `untouchedMs` is looked after. */
  untilAtRest(untouchedMs: number, meanwhile?: () => Promise<void>): Promise<void>;
  stop(): void;
}

interface Parts {
  readonly db: Database;
  current(): MortalNode;
  /** Lets a minute pass and does the work when nothing else of the kind is under way. */
  inAMinute(work: () => Promise<void>): Promise<void>;
}

const TICK_MS = 500;

/** Payments that have not ended, or that a reorg took back, and transactions that no block is known to have. */
const OPEN = `
  select (select count(*) from chain_payment where state in ('claimed', 'broadcasting') or (state = 'settled' and lost_at is not null))
       + (select count(*) from chain_transaction where state = 'sent') as count`;

export function startRecurringWork({ db, current, inAMinute }: Parts): RecurringWork {
  const isOpen = async () => (await db.query<{ count: bigint }>('', OPEN))[0]?.count !== 0n;
  // As with all that comes round: what fails is tried again.
  const readAll = () => readTransfers(current().ctx).catch(() => undefined);
  const lookAround = () =>
    inAMinute(async () => {
      await reconcilePayments(current().ctx);
      await readAll();
    });
  /** A waiting call may depend on this. */
  const tick = async () => void (await ((await isOpen()) ? lookAround() : readAll()));
  const ticking = setInterval(() => void tick().catch(() => undefined), TICK_MS);
  return {
    lookAround,
    async untilAtRest(untouchedMs, meanwhile = async () => {}) {
      const startMs = performance.now();
      for (let pauseMs = 2; await isOpen(); pauseMs = Math.min(pauseMs * 2, 50)) {
        const waitedMs = performance.now() - startMs;
        if (waitedMs > WAIT_MS) throw new Error('money on chain does not come to rest');
        await sleep(pauseMs);
        await meanwhile();
        if (waitedMs >= untouchedMs) await lookAround();
      }
    },
    stop: () => clearInterval(ticking),
  };
}
