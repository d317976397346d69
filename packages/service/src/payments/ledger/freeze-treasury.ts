import type { Tx } from '../../db/sql.ts';
import { AppError } from '../../lib/app-error.ts';
import { freezeLedgerAccount, type LedgerAccount, thawLedgerAccount } from './ledger-store.ts';
import { agentTreasuryId } from './treasury.ts';

/** Freezes an agent's treasury: debits are refused, earnings are still credited. In the caller's transaction. */
export const freezeTreasury = (tx: Tx, agentId: string, now: Date): Promise<void> =>
  freezeLedgerAccount(tx, agentTreasuryId(agentId), now);

/** Transfers an agent's treasury with its balance to an account and unfreezes it. In the caller's transaction. */
export const giveTreasury = (tx: Tx, agentId: string, accountId: string): Promise<void> =>
  thawLedgerAccount(tx, agentTreasuryId(agentId), accountId);

/** Throws CONFLICT for a frozen treasury. */
export function requireUnfrozen({ frozenAt }: Pick<LedgerAccount, 'frozenAt'>): void {
  if (frozenAt === null) return;
  throw new AppError(
    'CONFLICT',
    "This treasury is frozen: its agent's token now belongs to another wallet, which has to be proven first (POST /identity/verify).",
  );
}
