import type { HasUsdc, SpentAuthorization } from '../../chain/usdc-client.ts';
import type { PlaceOnChain } from '../../chain/used-authorizations.ts';
import type { NewChainPayment } from './chain-payment.ts';

/**
 * Outcome of a payment whose authorization is spent: it paid us (or is in its channel), or it was cancelled or used otherwise. Null when the chain does not tell,
 * which proves nothing.
 */
export type Fate =
  | { readonly kind: 'paid'; readonly place: PlaceOnChain & { readonly transactionHash: string } }
  | { readonly kind: 'taken back'; readonly place: PlaceOnChain };

/** Number of blocks per log query; many RPC nodes refuse more. */
const BLOCKS_AT_ONCE = 5000n;
/** Maximum validity of an authorization: one day. */
const LONGEST_WINDOW_S = 86_400n;

/**
 * Searches the logs for the use of an authorization, from the newest block back to before it can have been signed. `madeAt`: the time at
 * which the payment was shown to us.
 */
export async function findFate(ctx: HasUsdc, payment: NewChainPayment, madeAt: Date): Promise<Fate | null> {
  const earliestS = BigInt(Math.floor(madeAt.getTime() / 1000)) - LONGEST_WINDOW_S;
  for (let toBlock = await ctx.usdc.headBlock(); ; toBlock -= BLOCKS_AT_ONCE) {
    const fromBlock = toBlock >= BLOCKS_AT_ONCE ? toBlock - BLOCKS_AT_ONCE + 1n : 0n;
    const spent = await ctx.usdc.findSpent(payment.authorization, { fromBlock, toBlock });
    if (spent) return fateOf(payment, spent);
    if (fromBlock === 0n || ((await ctx.usdc.timeOfS(fromBlock)) ?? 0n) < earliestS) return null;
  }
}

/** The outcome of a payment by the use of its authorization: a deposit has paid if the money is in its channel. */
export function fateOf({ authorization, channelId }: NewChainPayment, spent: SpentAuthorization): Fate {
  if ('cancelledIn' in spent) return { kind: 'taken back', place: spent.cancelledIn };
  const { to, valueMicro, channelId: deposited, ...place } = spent;
  const isOurs =
    to === authorization.to && valueMicro === authorization.valueMicro && (!channelId || deposited === channelId);
  return { kind: isOurs ? 'paid' : 'taken back', place };
}
