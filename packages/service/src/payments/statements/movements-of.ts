import type { Store } from '../../store/database.ts';
import { listMovements, type Movement } from '../chain-outbox/chain-payment-list-store.ts';

export type { Movement };

/** On-chain payments of a request, in any state: its payment, the agent's bill and the refunds. */
export const movementsOf = (ctx: Store, requestId: string): Promise<Movement[]> => listMovements(ctx.db, requestId);
