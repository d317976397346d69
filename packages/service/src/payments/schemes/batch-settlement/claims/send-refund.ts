import { randomUUID } from 'node:crypto';
import { withDataGas } from '../../../../chain/chain-fees.ts';
import { LEASE_MS, type Lease } from '../../../../chain/keys/signer.ts';
import { until } from '../../../../lib/concurrency/until.ts';
import { newId } from '../../../../lib/id.ts';
import { failpoint } from '../../../../lib/process/failpoint.ts';
import type { Tx } from '../../../../store/sql.ts';
import { type ChainCall, type OpenTransaction, openTransaction } from '../../../chain-outbox/open-transaction.ts';
import { beginBooks } from './book-claims.ts';
import type { ClaimContext } from './claim-context.ts';
import { insertClaim } from './claim-store.ts';
import { followClaim } from './follow-claim.ts';
import { planRefund, type RefundAsk } from './refund-plan.ts';
import { insertRefund, lockRefundable } from './refund-store.ts';

/** A key is free within this time, or the channel is busy. */
const KEY_WITHIN_MS = 3000;

interface PlannedRefund {
  readonly call: ChainCall;
  readonly amountMicro: bigint;
  readonly nonce: bigint;
}

/**
 * Writes a refund down, sends it and records its outcome. `changed`: nothing is written, because no key is free, or a call or a claim came in
 * between.
 */
export async function sendRefund(
  ctx: ClaimContext,
  ask: RefundAsk,
  refund: PlannedRefund,
): Promise<'written' | 'changed'> {
  const lease = { holder: `refund ${randomUUID()}`, leaseMs: LEASE_MS };
  await beginBooks(ctx);
  const write = () => writeAhead(ctx, ask, { ...refund, lease });
  const open = await until(write, { timeoutMs: KEY_WITHIN_MS, firstMs: 20, maxMs: 250 }).catch((error) => {
    if (error instanceof ChangedMeanwhileError) return null;
    throw error;
  });
  if (!open) return 'changed';
  await followClaim(ctx, open, { lease, signal: new AbortController().signal });
  return 'written';
}

/**
 * Commits together: a key with its nonce, the signed bytes, the refund, and the closing of the channel for vouchers. Null: no key is free.
 */
async function writeAhead(
  ctx: ClaimContext,
  ask: RefundAsk,
  { call: planned, lease, ...refund }: PlannedRefund & { readonly lease: Lease },
): Promise<OpenTransaction | null> {
  const call = await withDataGas(ctx, planned);
  const fees = await ctx.fees.current();
  const costWei = call.gas * fees.maxFeePerGas;
  const signers = ctx.gas.fundedSenders(costWei);
  const record = (tx: Tx, transactionHash: string) => recordRefund(ctx, tx, ask, { ...refund, transactionHash });
  const beforeCommit = () => failpoint('before-channel-refund-commit');
  const open = await openTransaction(ctx, { signers, call, fees, lease, record, beforeCommit });
  if (!open) return null;
  failpoint('after-channel-refund-commit');
  ctx.gas.spend(open.signer, costWei);
  return open;
}

/** The channel has changed since it was judged: a call or a claim came in between. Nothing is written. */
class ChangedMeanwhileError extends Error {}

const anyAmount = { minRefundMicro: 0n, refundsPerDay: 0 };

async function recordRefund(
  ctx: ClaimContext,
  tx: Tx,
  { channelId, voucher, payloadKey, client }: RefundAsk,
  { amountMicro, nonce, transactionHash }: Omit<PlannedRefund, 'call'> & { readonly transactionHash: string },
): Promise<void> {
  const now = ctx.clock.now();
  const channel = await lockRefundable(tx, channelId);
  const plan = planRefund(channel, { voucher, amountMicro }, channel ?? { balanceMicro: 0n }, anyAmount);
  if (plan.kind !== 'refund') throw new ChangedMeanwhileError();
  const claimId = newId('clm');
  const rows = [{ channelId, maxMicro: voucher.maxMicro, totalMicro: voucher.maxMicro }];
  if (!(await insertClaim(tx, { id: claimId, asset: ctx.chain, reason: 'refund', transactionHash, rows }, now)))
    throw new ChangedMeanwhileError();
  await insertRefund(tx, { id: newId('crf'), channelId, payloadKey, amountMicro, nonce, client, claimId }, now);
}
