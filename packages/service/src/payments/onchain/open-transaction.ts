import { type Hex, parseTransaction } from 'viem';
import { type Fees, raisedFees } from '../../chain/fees.ts';
import type { Lease } from '../../chain/keys/lease.ts';
import { senderOf } from '../../chain/keys/node-keys.ts';
import { hashOfTransaction, signTransaction, type UnsignedTransaction } from '../../chain/keys/signer.ts';
import { extendLease, type SignerKey, takeKey } from '../../chain/keys/signer-store.ts';
import { insertTransaction } from '../../chain/transaction-store.ts';
import type { Tx } from '../../db/sql.ts';
import { invariant } from '../../lib/invariant.ts';
import type { ChainContext } from './chain-context.ts';
import { moveToTransaction } from './chain-payment-store.ts';

/** A transaction that may be pending, with every version that was signed. */
export interface OpenTransaction extends SignerKey {
  readonly nonce: bigint;
  /** Newest first: any of them may be the one that is mined. */
  readonly hashes: readonly string[];
  /** Raw bytes of the newest version. */
  readonly raw: string;
}

/** The call of a transaction and its gas limit. */
export type ChainCall = Pick<UnsignedTransaction, 'to' | 'data' | 'gas' | 'delegateTo'>;

const costOf = (gas: bigint, { maxFeePerGas }: Fees) => ({ costWei: gas * maxFeePerGas });

/**
 * Takes a free key and its next nonce and stores the signed transaction, in the caller's transaction: if the process dies after the commit,
 * another can continue from it. `note` records, by transaction hash, what it carries. Null when none of these keys is free.
 */
export async function openTransaction(
  ctx: ChainContext,
  tx: Tx,
  {
    signers,
    call,
    fees,
    lease,
    note,
  }: {
    signers: readonly string[];
    call: ChainCall;
    fees: Fees;
    lease: Lease;
    note: (hash: string) => Promise<void>;
  },
): Promise<OpenTransaction | null> {
  const { chainId } = ctx.chain;
  // A key that delegates in its own transaction uses a further nonce for the delegation (EIP-7702).
  const nonces = call.delegateTo === undefined ? 1 : 2;
  const key = await takeKey(tx, { chainId, signers, nonces, ...lease });
  if (!key) return null;
  const sender = senderOf(ctx, key.signer);
  invariant(sender !== undefined, 'only keys of this process are taken');
  const { raw, hash } = await signTransaction(sender, { chainId, nonce: key.nonce, ...call, ...fees });
  const now = ctx.clock.now();
  await Promise.all([
    insertTransaction(
      tx,
      { chainId, signer: key.signer },
      { raw, hash, nonce: key.nonce, ...costOf(call.gas, fees), now },
    ),
    note(hash),
  ]);
  return { chainId, ...key, raw, hashes: [hash] };
}

/**
 * Signs a replacement under the same nonce at higher fees and stores it. Returns the same transaction when the fees are at their maximum or
 * the key is not configured any more, and null when another holder has the lease by now.
 */
export async function signAgain(
  ctx: ChainContext,
  open: OpenTransaction,
  lease: Lease,
): Promise<OpenTransaction | null> {
  const { chainId, signer, nonce } = open;
  const { to, data, gas, maxFeePerGas, maxPriorityFeePerGas, ...rest } = parseTransaction(open.raw as Hex);
  const before: Fees = { maxFeePerGas: maxFeePerGas ?? 0n, maxPriorityFeePerGas: maxPriorityFeePerGas ?? 0n };
  const fees = raisedFees(before, await ctx.fees.baseFeePerGas());
  const sender = senderOf(ctx, signer);
  if (!fees || !sender || !to || !data || !gas) return (await extendLease(ctx.db, open, lease)) ? open : null;
  const delegateTo = 'authorizationList' in rest ? rest.authorizationList?.[0]?.address : undefined;
  const { raw, hash } = await signTransaction(sender, { chainId, nonce, to, data, gas, delegateTo, ...fees });
  return ctx.db.transaction(async (tx) => {
    if (!(await extendLease(tx, open, lease))) return null;
    await insertTransaction(tx, open, { raw, hash, nonce, ...costOf(gas, fees), now: ctx.clock.now() });
    await moveToTransaction(tx, hashOfTransaction(open.raw as Hex), hash);
    return { ...open, raw, hashes: [hash, ...open.hashes] };
  });
}
