import { type Hex, keccak256, parseTransaction } from 'viem';
import { failpoint } from '../../lib/failpoint.ts';
import { invariant } from '../../lib/invariant.ts';
import type { ChainContext } from './chain-context.ts';
import type { NewChainPayment } from './chain-payment.ts';
import { markBroadcasting, moveToTransaction } from './chain-payment-store.ts';
import { type Fees, raisedFees } from './fees.ts';
import { senderOf } from './senders.ts';
import { settlementCall } from './settlement-call.ts';
import { extendLease, type Lease, type SignerKey, takeKey } from './signer-store.ts';
import { insertTransaction } from './transaction-store.ts';

/** A transaction that may be on its way, in all the forms in which it was signed. */
export interface OpenTransaction extends SignerKey {
  readonly nonce: bigint;
  /** Newest first: any of them may be the one that is mined. */
  readonly hashes: readonly string[];
  /** The newest one's bytes. */
  readonly raw: string;
}

/**
 * Takes a free key and its next nonce, and stores the signed transaction that will carry the payments, all in one commit: whoever
 * dies now leaves all that another needs to go on. Null when no key is free that can pay.
 */
export async function writeAhead(
  ctx: ChainContext,
  payments: readonly NewChainPayment[],
  lease: Lease,
): Promise<OpenTransaction | null> {
  const { chainId } = ctx.chain;
  const call = settlementCall(ctx.chain.token as Hex, payments);
  const fees = await ctx.fees.current();
  const costWei = call.gas * fees.maxFeePerGas;
  const signers = ctx.gas.thatBear(costWei);
  const written = await ctx.db.transaction(async (tx) => {
    const key = await takeKey(tx, { chainId, signers, ...lease });
    if (!key) return null;
    const sender = senderOf(ctx, key.signer);
    invariant(sender !== undefined, 'only keys of this process are taken');
    const { raw, hash } = sender.signTransaction({ chainId, nonce: key.nonce, ...call, ...fees });
    const ids = payments.map(({ id }) => id);
    await Promise.all([
      insertTransaction(tx, { chainId, signer: key.signer }, { raw, hash, nonce: key.nonce, now: ctx.clock.now() }),
      markBroadcasting(tx, ids, hash),
    ]);
    failpoint('before-write-ahead-commit');
    return { chainId, ...key, raw, hashes: [hash] };
  });
  failpoint('after-write-ahead-commit');
  if (written) ctx.gas.spend(written.signer, costWei);
  return written;
}

/**
 * Signs a transaction again under its nonce, at fees that the chain takes for a replacement, and stores it. The same transaction
 * when the fees are at their maximum, or its key is none of ours any more. Null when the lease is another's by now.
 */
export async function signAgain(
  ctx: ChainContext,
  open: OpenTransaction,
  lease: Lease,
): Promise<OpenTransaction | null> {
  const { chainId, signer, nonce } = open;
  const { to, data, gas, maxFeePerGas, maxPriorityFeePerGas } = parseTransaction(open.raw as Hex);
  const before: Fees = { maxFeePerGas: maxFeePerGas ?? 0n, maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n };
  const fees = raisedFees(before, await ctx.fees.baseFeePerGas());
  const sender = senderOf(ctx, signer);
  if (!fees || !sender || !to || !data || !gas) return (await extendLease(ctx.db, open, lease)) ? open : null;
  const { raw, hash } = sender.signTransaction({ chainId, nonce, to, data, gas, ...fees });
  return ctx.db.transaction(async (tx) => {
    if (!(await extendLease(tx, open, lease))) return null;
    await insertTransaction(tx, open, { raw, hash, nonce, now: ctx.clock.now() });
    await moveToTransaction(tx, keccak256(open.raw as Hex), hash);
    return { ...open, raw, hashes: [hash, ...open.hashes] };
  });
}
