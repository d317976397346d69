import { randomUUID } from 'node:crypto';
import type { Hex } from 'viem';
import { withDataGas } from '../../chain/chain-fees.ts';
import { LEASE_MS, type Lease } from '../../chain/keys/signer.ts';
import { settlementCall } from '../../chain/settlement-call.ts';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import type { Wake } from '../../lib/concurrency/wake.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Statement, Tx } from '../../store/sql.ts';
import type { ChainContext } from '../chain-outbox/chain-context.ts';
import type { NewChainPayment } from '../chain-outbox/chain-payment.ts';
import { markBroadcasting, newPaymentsBroadcasting } from '../chain-outbox/chain-payment-store.ts';
import {
  type OpenTransaction,
  openOf,
  openTransaction,
  type SignedTransaction,
  signNext,
  transactionOpened,
} from '../chain-outbox/open-transaction.ts';
import { createTransactionMonitor, type TransactionMonitor } from './transaction-monitor.ts';

/** Maximum time that a batch is monitored here, from waiting for a key to being mined. */
const SENT_WITHIN_MS = 20_000;
const KEY_LOOK_MS = { first: 5, most: 100 };

/** A sent transaction, with its block if it was mined in time. */
export interface Sent {
  readonly hash: string | null;
  readonly mined: MinedTransaction | null;
}

/** Sends payments. Neither of the two that send ever rejects: errors are logged, and the payments are left to the reconciler. */
export interface Sending {
  /** Settles payments in one transaction, by the first key that is free. */
  send(payments: readonly NewChainPayment[], gas?: bigint): Promise<Sent>;
  /** Signs the transaction of a payment that is about to be claimed; null: no key is free that can pay for it. */
  sign(payment: NewChainPayment): Promise<SignedTransaction | null>;
  /** Stores it with the claim of its payment, as guarded statements of a flush. */
  stored(payment: NewChainPayment, signed: SignedTransaction, now: Date): readonly Statement[];
  /** Settles the payment of a transaction that was stored in this way. */
  sendStored(signed: SignedTransaction): Promise<Sent>;
}

export function createSending(ctx: ChainContext, { signal, freed }: { signal: AbortSignal; freed: Wake }): Sending {
  const lease: Lease = { holder: `settler ${randomUUID()}`, leaseMs: LEASE_MS };

  /** Waits for the first key to become free while other batches use all of them. */
  async function takeTurn(
    payments: readonly NewChainPayment[],
    { endMs, gas }: { endMs: number; gas: bigint | undefined },
  ): Promise<OpenTransaction | null> {
    for (let pauseMs = KEY_LOOK_MS.first; ; pauseMs = Math.min(pauseMs * 2, KEY_LOOK_MS.most)) {
      signal.throwIfAborted();
      const open = await writeAhead(ctx, payments, lease, gas);
      if (open || performance.now() > endMs) return open;
      await freed.wait(pauseMs);
    }
  }

  async function follow(opening: Promise<OpenTransaction | null>, endMs: number): Promise<Sent> {
    let monitor: TransactionMonitor | null = null;
    try {
      const open = await opening;
      if (open) monitor = createTransactionMonitor(ctx, open, lease);
      const mined = await monitor?.untilMined(endMs, signal);
      if (mined) return { mined, hash: mined.hash };
    } catch (error) {
      ctx.log.warn({ err: error, hash: monitor?.hash() }, 'settlement outcome unknown; left to the reconciler');
    }
    await monitor?.leave();
    return { mined: null, hash: monitor?.hash() ?? null };
  }

  return {
    send(payments, gas) {
      const endMs = performance.now() + SENT_WITHIN_MS;
      const opening = takeTurn(payments, { endMs, gas }).then((open) => {
        if (!open) ctx.log.warn({ payments: payments.length }, 'no free sender key to settle payments');
        return open;
      });
      return follow(opening, endMs);
    },
    async sign(payment) {
      const { call, fees, signers } = await termsOf(ctx, [payment]);
      return signNext(ctx, { signers, call, fees });
    },
    stored: ({ id }, signed, now) => [
      ...transactionOpened(signed, lease, now),
      newPaymentsBroadcasting([id], signed.hash),
    ],
    sendStored(signed) {
      ctx.gas.spend(signed.signer, signed.costWei);
      return follow(Promise.resolve(openOf(signed)), performance.now() + SENT_WITHIN_MS);
    },
  };
}

/** The call that settles payments, its maximum cost, and the keys that can pay for it. */
async function termsOf(ctx: ChainContext, payments: readonly NewChainPayment[], gas?: bigint) {
  const call = await withDataGas(ctx, settlementCall(ctx.chain.token as Hex, payments, gas));
  const fees = await ctx.fees.current();
  const costWei = call.gas * fees.maxFeePerGas;
  return { call, fees, costWei, signers: ctx.gas.fundedSenders(costWei) };
}

/** Some of the payments have ended since they were read, as a payout that was credited here: nothing is written, and nothing is sent. */
class EndedMeanwhileError extends Error {
  readonly openIds: ReadonlySet<string>;

  constructor(openIds: ReadonlySet<string>) {
    super('payments of the batch have ended meanwhile');
    this.openIds = openIds;
  }
}

/**
 * Takes a free key and its next nonce and stores the signed transaction that will carry the payments, in one commit: if the process dies,
 * another can continue from it. Payments that have ended are left out; throws when all have. Null when no free key can pay the gas.
 */
async function writeAhead(
  ctx: ChainContext,
  payments: readonly NewChainPayment[],
  lease: Lease,
  gas?: bigint,
): Promise<OpenTransaction | null> {
  const { call, fees, costWei, signers } = await termsOf(ctx, payments, gas);
  const ids = payments.map(({ id }) => id);
  const record = async (tx: Tx, hash: string) => {
    const openIds = await markBroadcasting(tx, ids, hash);
    if (openIds.size < ids.length) throw new EndedMeanwhileError(openIds);
  };
  const beforeCommit = () => failpoint('before-write-ahead-commit');
  const write = openTransaction(ctx, { signers, call, fees, lease, record, beforeCommit });
  const written = await write.catch((error: unknown) => {
    const left = error instanceof EndedMeanwhileError ? payments.filter(({ id }) => error.openIds.has(id)) : [];
    if (left.length === 0 || left.length === payments.length) throw error;
    return left;
  });
  if (Array.isArray(written)) return writeAhead(ctx, written, lease, gas);
  failpoint('after-write-ahead-commit');
  if (written) ctx.gas.spend(written.signer, costWei);
  return written;
}
