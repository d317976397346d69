import { type Hex, parseTransaction } from 'viem';
import type { ChainAccess } from '../../chain/chain-access.ts';
import type { Fees } from '../../chain/chain-fees.ts';
import { senderOf } from '../../chain/keys/node-keys.ts';
import { hashOfTransaction, type Lease, signTransaction, type UnsignedTransaction } from '../../chain/keys/signer.ts';
import {
  extendLease,
  findFreeKey,
  keyTakenAt,
  type NextNonce,
  type SignerKey,
  takeKeyAt,
} from '../../chain/keys/signer-store.ts';
import {
  countLiving,
  hashesOfNonce,
  insertTransaction,
  markMined,
  transactionInserted,
} from '../../chain/transaction-store.ts';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import type { Statement, Tx } from '../../store/sql.ts';
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

/** A call to sign, with the keys that can pay its gas. */
interface ToSign {
  readonly signers: readonly string[];
  readonly call: ChainCall;
  readonly fees: Fees;
}

/** A signed transaction that is not stored yet, and must not be sent before it is. */
export interface SignedTransaction extends NextNonce {
  readonly nonces: number;
  readonly raw: Hex;
  readonly hash: Hex;
  readonly costWei: bigint;
}

/**
 * Signs a transaction for a free key at its next nonce, outside of any database transaction: a signature may take seconds. Nothing is taken
 * yet. Null when none of these keys is free.
 */
export async function signNext(ctx: ChainContext, { signers, call, fees }: ToSign): Promise<SignedTransaction | null> {
  const { chainId } = ctx.chain;
  const next = await findFreeKey(ctx.db, { chainId, signers });
  if (!next) return null;
  const sender = senderOf(ctx, next.signer);
  invariant(sender !== undefined, 'only keys of this process are taken');
  const signed = await signTransaction(sender, { chainId, nonce: next.nonce, ...call, ...fees });
  // A key that delegates in its own transaction uses a further nonce for the delegation (EIP-7702).
  return { ...next, ...signed, ...costOf(call.gas, fees), nonces: call.delegateTo === undefined ? 1 : 2 };
}

/** Takes the key and nonce of a signed transaction and stores it, as guarded statements of a flush. */
export const transactionOpened = (signed: SignedTransaction, lease: Lease, now: Date): readonly Statement[] => [
  keyTakenAt({ ...signed, ...lease }),
  transactionInserted(signed, { ...signed, now }),
];

export const openOf = ({ chainId, signer, nonce, raw, hash }: SignedTransaction): OpenTransaction => ({
  ...{ chainId, signer, nonce, raw },
  hashes: [hash],
});

/** Maximum signatures for one transaction, as another process may take the nonce first. */
const MAX_TRIES = 3;

interface ToOpen extends ToSign {
  readonly lease: Lease;
  /** Records the payload of the transaction under its hash, in the database transaction that stores it. */
  readonly record: (tx: Tx, hash: string) => Promise<void>;
  /** Called last in that transaction. */
  readonly beforeCommit: () => void;
}

/**
 * Signs a transaction, then takes its key and nonce and stores it in one commit: after that another process can continue from it; before
 * that, it is never sent. Null when none of these keys is free.
 */
export async function openTransaction(ctx: ChainContext, asked: ToOpen): Promise<OpenTransaction | null> {
  const { lease, record, beforeCommit } = asked;
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const signed = await signNext(ctx, asked);
    if (!signed) return null;
    const isOpen = await ctx.db.transaction(async (tx) => {
      if (!(await takeKeyAt(tx, { ...signed, ...lease }))) return false;
      await Promise.all([insertTransaction(tx, signed, { ...signed, now: ctx.clock.now() }), record(tx, signed.hash)]);
      beforeCommit();
      return true;
    });
    if (isOpen) return openOf(signed);
  }
  return null;
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
  const fees = await ctx.fees.raised(before);
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

/** Status of this node's transaction: mined, pending, or given up because a foreign transaction used its nonce. */
type Whereabouts =
  | { readonly state: 'mined'; readonly mined: MinedTransaction }
  | { readonly state: 'open' }
  | { readonly state: 'given up' };

/** Looks a transaction up on chain, in every version that was signed. */
export async function findOwnTransaction(ctx: Store & ChainAccess, hash: string): Promise<Whereabouts> {
  const mined = await ctx.usdc.findMined(await hashesOfNonce(ctx.db, hash));
  if (mined) return { state: 'mined', mined };
  return { state: (await countLiving(ctx.db, hash)) > 0 ? 'open' : 'given up' };
}

/** Records the block of a transaction in the caller's transaction; this frees its key. */
export const recordMinedTransaction = (tx: Tx, mined: MinedTransaction): Promise<void> => markMined(tx, mined);
