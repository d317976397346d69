import { countLiving, hashesOfNonce, markMined } from '../../chain/transaction-store.ts';
import type { HasUsdc, MinedTransaction } from '../../chain/usdc-client.ts';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';

/** Status of a transaction of ours: mined, pending, or given up because a foreign transaction used its nonce. */
export type Whereabouts =
  | { readonly state: 'mined'; readonly mined: MinedTransaction }
  | { readonly state: 'open' }
  | { readonly state: 'given up' };

/** Looks a transaction up on chain, in every version that was signed. */
export async function findOwnTransaction(ctx: HasDb & HasUsdc, hash: string): Promise<Whereabouts> {
  const mined = await ctx.usdc.findMined(await hashesOfNonce(ctx.db, hash));
  if (mined) return { state: 'mined', mined };
  return { state: (await countLiving(ctx.db, hash)) > 0 ? 'open' : 'given up' };
}

/** Records the block of a transaction in the caller's transaction; this frees its key. */
export const noteMined = (tx: Tx, mined: MinedTransaction): Promise<void> => markMined(tx, mined);
