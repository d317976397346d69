import type { HasDb } from '../../db/database.ts';
import { listMovements, type Movement } from '../onchain/chain-payment-list-store.ts';

export type { Movement };

/** What moved on chain for a request, or was to: its payment, the bill of its agent, what goes back. */
export const movementsOf = (ctx: HasDb, requestId: string): Promise<Movement[]> => listMovements(ctx.db, requestId);
