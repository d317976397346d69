import { listNewest, type StoredTransaction } from '../../chain/transaction-store.ts';
import type { HasDb } from '../../db/database.ts';
import { type PaidIn, sumPaidIn } from '../onchain/chain-payment-list-store.ts';

/** More transactions than a local chain can lose: it saves its state about once a second. */
const NEWEST = 5000;

/** Our transactions that a chain which lost its newest blocks may lack, in their original order. */
export const transactionsToReplay = async (ctx: HasDb, chainId: number): Promise<StoredTransaction[]> =>
  (await listNewest(ctx.db, chainId, NEWEST)).toReversed();

/** Amount that each wallet paid in these transactions. */
export const payersIn = (ctx: HasDb, hashes: readonly string[]): Promise<PaidIn[]> => sumPaidIn(ctx.db, hashes);
