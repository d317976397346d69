import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { NodeKeys } from '../../chain/keys/node-keys.ts';
import { onToken } from '../../chain/networks.ts';
import { createBatcher } from '../../lib/concurrency/batcher.ts';
import { endsWithin } from '../../lib/concurrency/within.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Repeating } from '../../store/queue/schedule.ts';
import type { Tx } from '../../store/sql.ts';
import type { PaymentConditions } from '../chain-outbox/chain-context.ts';
import type { ChainPayment } from '../chain-outbox/chain-payment.ts';
import { listUnsentPayouts } from '../chain-outbox/chain-payment-list-store.ts';
import { renewSignatures } from '../chain-outbox/chain-payment-store.ts';
import { holdRefused } from '../chain-outbox/hold-payout.ts';
import type { ChannelServices } from '../schemes/batch-settlement/channel-services.ts';
import type { PaymentChecks } from '../schemes/exact/payment-checks.ts';
import type { Settler } from './settler.ts';
import { isUnsigned, signPayout } from './sign-payout.ts';

type SendContext = Store &
  Telemetry &
  Pick<NodeIdentity, 'chain'> &
  Pick<NodeKeys, 'wallet'> &
  Pick<ChannelServices, 'walletFunds'> &
  Pick<PaymentChecks, 'simulator'> &
  PaymentConditions & { readonly settler: Settler };

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

/** Sends payouts, after claiming from channels the amount that the wallet lacks. */
async function sendAll(ctx: SendContext, ids: readonly string[]): Promise<void> {
  const payments = await listUnsentPayouts(ctx.db, ids);
  failpoint('before-pay-owed');
  const byAsset = Map.groupBy(payments, ({ chainId, token }) => `${chainId} ${token}`);
  await Promise.all(
    [...byAsset.values()].map(async (some) => {
      const on = some[0] && onToken(ctx, some[0]);
      // Left to a process that has the asset.
      if (!on) return;
      await sendIn(on, some).catch((err: unknown) =>
        logUnsent(
          ctx,
          err,
          some.map(({ id }) => id),
        ),
      );
    }),
  );
}

async function sendIn(ctx: SendContext, payments: readonly ChainPayment[]): Promise<void> {
  // The payouts themselves are open already: nothing has to be added to them.
  await ctx.walletFunds.ensure(0n);
  const ready = await Promise.all(
    payments.map(async (before) => {
      const after = await signedIfTaken(ctx, before).catch((err: unknown) => {
        logUnsent(ctx, err, [before.id]);
        return null;
      });
      return after === null ? [] : { before, after };
    }),
  );
  const payouts = ready.flat();
  failpoint('before-sign-payout-commit');
  const renewed = payouts.filter(({ before, after }) => before !== after);
  const stored = await renewSignatures(ctx.db, renewed);
  failpoint('after-sign-payout-commit');
  for (const { before, after } of payouts) if (before === after || stored.has(after.id)) settle(ctx, after);
}

/** The payout, signed. null: the token refuses it. It is held then, and its signature stays unknown to others. */
async function signedIfTaken(ctx: SendContext, payment: ChainPayment): Promise<ChainPayment | null> {
  const signed = isUnsigned(payment) ? { ...payment, ...(await signPayout(ctx, payment, nowSOf(ctx))) } : payment;
  const refused = await ctx.simulator.simulate(signed);
  if (refused === null) return signed;
  await holdRefused(ctx, payment, refused);
  return null;
}

/** The next batch does not wait for the block of this one. */
function settle(ctx: SendContext, payment: ChainPayment): void {
  ctx.settler.settle(payment).then(
    () => failpoint('after-pay-owed'),
    (err: unknown) => logUnsent(ctx, err, [payment.id]),
  );
}

const nowSOf = ({ clock }: SendContext): bigint => BigInt(Math.floor(clock.now().getTime() / 1000));

const logUnsent = ({ log }: Telemetry, err: unknown, paymentIds: readonly string[]): void =>
  log.warn({ err, paymentIds }, 'payouts not sent; left to the reconciler');
