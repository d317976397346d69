import type { Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';
import { freezeLedgerAccount, type LedgerAccount, thawLedgerAccount } from './ledger-store.ts';
import { agentTreasuryId } from './treasury.ts';

/** From now on nothing leaves an agent's treasury; what it earns still comes in. In the caller's transaction. */
export const freezeTreasury = (tx: Tx, agentId: string, now: Date): Promise<void> =>
  freezeLedgerAccount(tx, agentTreasuryId(agentId), now);

/** Gives an agent's treasury, with all that is in it, to an account, and lets it pay again. In the caller's transaction. */
export const giveTreasury = (tx: Tx, agentId: string, accountId: string): Promise<void> =>
  thawLedgerAccount(tx, agentTreasuryId(agentId), accountId);

/** Throws CONFLICT for a treasury that is frozen. */
export function requireUnfrozen({ frozenAt }: Pick<LedgerAccount, 'frozenAt'>): void {
  if (frozenAt === null) return;
  throw new AppError(
    'CONFLICT',
    "This treasury is frozen: its agent's token belongs to another wallet by now, which has to be proven first (POST /identity/verify).",
  );
}
