import type { Balance } from '@agent-network/contracts/payments/payments';

/** A treasury with what people call it. */
export interface NamedTreasury {
  readonly treasuryId: string;
  readonly agentId: string | null;
  readonly name: string;
  readonly available: string;
  readonly held: string;
}

/** Treasuries under their labels, or the names of their agents. */
export const nameTreasuries = (treasuries: Balance['treasuries']): NamedTreasury[] =>
  treasuries.map(({ treasuryId, agentId, agentName, label, available, held }) => ({
    treasuryId,
    agentId,
    name: label ?? (agentId === null ? 'Account' : (agentName ?? 'Agent')),
    available,
    held,
  }));

/** For lists to choose from. */
export const treasuryOptions = (treasuries: readonly NamedTreasury[]) =>
  treasuries.map(({ treasuryId, name, available }) => ({ value: treasuryId, label: `${name}: ${available} USDC` }));
