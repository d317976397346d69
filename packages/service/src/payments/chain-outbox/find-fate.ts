import type { ChainAccess } from '../../chain/chain-access.ts';
import { type IncomingTransfer, incomingIn } from '../../chain/incoming-transfer-client.ts';
import { MAX_AUTHORIZATION_WINDOW_S } from '../../chain/keys/authorization.ts';
import { nonceOfReturned, transferNonce } from '../../chain/keys/payment-nonces.ts';
import { searchLogRanges } from '../../chain/rpc/log-ranges.ts';
import type { SpentAuthorization } from '../../chain/usdc-client.ts';
import { authorizationKey, type BlockReference } from '../../chain/used-authorizations.ts';
import type { ChainPayment, NewChainPayment } from './chain-payment.ts';
import type { PaymentPlace } from './chain-payment-store.ts';

/**
 * Outcome of a payment with a spent authorization: it paid us (or its channel), or it was cancelled or used otherwise. Null when the RPC
 * node does not say, which proves nothing.
 */
export type Fate =
  | { readonly kind: 'paid'; readonly place: BlockReference & { readonly transactionHash: string } }
  | { readonly kind: 'taken back'; readonly place: BlockReference };

/** Time that a search may take while a request waits for it: with an RPC node that takes few blocks a query, a day has thousands of queries. */
export const SEARCH_FOR_REQUEST_MS = 10_000;

/**
 * Looks for the use of an authorization: in the transaction that was sent for the payment, then in the logs, from the newest block back to
 * before it can have been signed. `madeAt`: the time at which the payment was shown to us. Throws when that takes longer than `withinMs`.
 */
export async function findFate(
  ctx: Pick<ChainAccess, 'usdc'>,
  payment: NewChainPayment & { readonly transactionHash?: string | null },
  madeAt: Date,
  withinMs = Number.POSITIVE_INFINITY,
): Promise<Fate | null> {
  const endMs = performance.now() + withinMs;
  const { authorization, transactionHash } = payment;
  const mined = transactionHash ? await ctx.usdc.findMined([transactionHash]) : null;
  const used = mined?.used.get(authorizationKey(authorization));
  if (used) return fateOf(payment, used);
  const earliestS = BigInt(Math.floor(madeAt.getTime() / 1000)) - MAX_AUTHORIZATION_WINDOW_S;
  const search = async (fromBlock: bigint, toBlock: bigint) => {
    const spent = await ctx.usdc.findSpent(authorization, { fromBlock, toBlock });
    if (spent) return fateOf(payment, spent);
    return ((await ctx.usdc.timeOfS(fromBlock)) ?? 0n) < earliestS ? null : undefined;
  };
  return (await searchLogRanges(0n, await ctx.usdc.headBlock(), search, endMs)) ?? null;
}

/** The outcome of a payment by the use of its authorization: a deposit has paid if the money is in its channel. */
export function fateOf({ authorization, channelId }: NewChainPayment, spent: SpentAuthorization): Fate {
  if ('cancelledIn' in spent) return { kind: 'taken back', place: spent.cancelledIn };
  const { to, valueMicro, channelId: deposited, ...place } = spent;
  const isOurs =
    to === authorization.to && valueMicro === authorization.valueMicro && (!channelId || deposited === channelId);
  return { kind: isOurs ? 'paid' : 'taken back', place };
}

/** Depth required of evidence that a payment cannot happen any more, so that the next reorg does not undo it. */
export const FINAL_DEPTH = 12n;

/** True if the authorization was unused when its expiry was as deep as no reorg reaches. */
export async function hasExpiredForGood(
  ctx: ChainAccess,
  { authorization }: Pick<NewChainPayment, 'authorization'>,
): Promise<boolean> {
  const head = await ctx.usdc.headBlock();
  if (head < FINAL_DEPTH) return false;
  const finalS = await ctx.usdc.timeOfS(head - FINAL_DEPTH);
  if (finalS === null || authorization.validBeforeS > finalS) return false;
  const isSpent = await ctx.usdc.isSpent(authorization, head);
  return isSpent === false;
}

/** True for a deposit by plain transfer: credited after the fact, it cannot be submitted again. */
export const isPlain = ({ direction, authorization }: ChainPayment): boolean =>
  direction === 'in' && authorization.validBeforeS === 0n;

/** The current block of a settled payment; null when it has none. Its transaction being mined proves nothing: it may have failed there. */
export async function findPlace(ctx: ChainAccess, payment: ChainPayment): Promise<PaymentPlace | null> {
  const { authorization, transactionHash } = payment;
  const isSpent = await ctx.usdc.isSpent(authorization);
  if (isSpent) {
    const fate = await findFate(ctx, payment, payment.createdAt);
    return fate?.kind === 'paid' ? fate.place : null;
  }
  if (!isPlain(payment) || transactionHash === null) return null;
  const mined = await ctx.usdc.findMined([transactionHash]);
  const isThere = mined && incomingIn(mined, payment.token, authorization.to).some((each) => isOf(payment, each));
  return isThere ? { transactionHash: mined.hash, blockNumber: mined.blockNumber, blockHash: mined.blockHash } : null;
}

/** Reversals of one transfer that are looked through: each takes a reorg of its own. */
const MAX_REVERSALS = 8;

/**
 * True if this is the transfer that the payment credited. An equal amount in another position of the same transaction is another transfer,
 * credited on its own, as the transfers of a contract may depend on the block.
 */
function isOf({ chainId, authorization }: ChainPayment, transfer: IncomingTransfer): boolean {
  const { from, valueMicro } = authorization;
  if (transfer.from !== from || transfer.valueMicro !== valueMicro) return false;
  let nonce = transfer.nonce ?? transferNonce(chainId, transfer.transactionHash, transfer.ordinal);
  for (let reversals = 0; nonce !== authorization.nonce; reversals++) {
    if (reversals === MAX_REVERSALS) return false;
    nonce = nonceOfReturned(nonce);
  }
  return true;
}
