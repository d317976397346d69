import { countLiving, hashesOfNonce, markMined } from '../../chain/transaction-store.ts';
import type { HasUsdc, MinedTransaction } from '../../chain/usdc-client.ts';
import type { HasDb } from '../../db/database.ts';
import type { Tx } from '../../db/sql.ts';

/** Where a transaction of ours is: in a block, on its way, or given up, as a stranger used its nonce. */
export type Whereabouts =
  | { readonly state: 'mined'; readonly mined: MinedTransaction }
  | { readonly state: 'open' }
  | { readonly state: 'given up' };

/** Asks the chain for a transaction in whatever form it was signed. */
export async function findOwnTransaction(ctx: HasDb & HasUsdc, hash: string): Promise<Whereabouts> {
  const mined = await ctx.usdc.findMined(await hashesOfNonce(ctx.db, hash));
  if (mined) return { state: 'mined', mined };
  return { state: (await countLiving(ctx.db, hash)) > 0 ? 'open' : 'given up' };
}

/** Notes in the caller's transaction which block has it: its key is free. */
export const noteMined = (tx: Tx, mined: MinedTransaction): Promise<void> => markMined(tx, mined);
