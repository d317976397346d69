import type { Records } from '../../db/records.ts';
import type { Tx } from '../../db/sql.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { endsWithin } from '../../lib/concurrency/within.ts';
import type { HasLog } from '../../lib/log/log.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Repeating } from '../../queue/schedule.ts';
import type { ChainPayment } from '../onchain/chain-payment.ts';
import { listUnsentPayouts } from '../onchain/chain-payment-list-store.ts';
import type { HasWalletFunds } from '../onchain/channel-claims.ts';
import { holdRefused } from '../onchain/hold-payout.ts';
import type { HasSettlementHalt } from '../onchain/settlement-halt.ts';
import type { HasSimulator } from './payment-simulator.ts';
import type { HasSettler } from './settler.ts';

/** The way of a payout to the chain: what the wallet lacks, what the token says, the transaction. */
interface PayoutWay extends HasWalletFunds, HasSimulator, HasSettlementHalt, HasSettler {}

type SendContext = Records & HasLog & PayoutWay;

const TOPIC = 'payout';
/** Payouts that are read together, and batches that are simulated at the same time: a burst of refunds leaves connections to calls. */
const MAX_BATCH = 100;
const MAX_CONCURRENT = 4;
/** Maximum time that `stop` waits for payouts on their way to the settler. */
const STOP_MS = 500;

/** Sends a payout as soon as the caller's transaction, which records it, has committed. */
export const sendAfterCommit = (tx: Tx, paymentId: string): void => tx.afterCommit(TOPIC, paymentId);

/**
 * Starts sending the payouts that transactions of this process record. A payout that does not get through, because this process dies or
 * the database or the chain is away, stays open, and the reconciler of any process sends it a few seconds later.
 */
export function startPayouts(ctx: SendContext): Repeating {
  const batcher = createBatcher({
    run: async (ids: string[]) => {
      await sendAll(ctx, ids).catch((err: unknown) => logUnsent(ctx, err, ids));
      return ids.map(() => undefined);
    },
    maxSize: MAX_BATCH,
    maxConcurrent: MAX_CONCURRENT,
  });
  const unsubscribe = ctx.db.onCommit(TOPIC, (paymentId) => void batcher.add(paymentId));
  return {
    async stop() {
      unsubscribe();
      await endsWithin(batcher.idle(), STOP_MS);
    },
  };
}

/** Claims what the wallet lacks for them from channels first. */
async function sendAll(ctx: SendContext, ids: readonly string[]): Promise<void> {
  const payments = await listUnsentPayouts(ctx.db, ids);
  failpoint('before-pay-owed');
  // The payouts themselves are open already: nothing has to be added to them.
  if (payments.length > 0) await ctx.walletFunds.ensure(0n);
  await Promise.all(
    payments.map((payment) => send(ctx, payment).catch((err: unknown) => logUnsent(ctx, err, [payment.id]))),
  );
}

/** A payout that the token refuses is held, and its signature stays unknown to others. */
async function send(ctx: SendContext, payment: ChainPayment): Promise<void> {
  const refused = await ctx.simulator.simulate(payment);
  if (refused !== null) return holdRefused(ctx, payment, refused);
  // The next batch does not wait for the block of this one.
  ctx.settler.settle(payment).then(
    () => failpoint('after-pay-owed'),
    (err: unknown) => logUnsent(ctx, err, [payment.id]),
  );
}

const logUnsent = ({ log }: HasLog, err: unknown, paymentIds: readonly string[]): void =>
  log.warn({ err, paymentIds }, 'payouts not sent; left to the reconciler');
