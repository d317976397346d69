import type { Balance } from '@agent-network/contracts/payments/payments';
import type { StatementEntry } from '@agent-network/contracts/payments/statements';
import type { CsvColumn } from '../../app/export/csv.ts';

/** A treasury with its display name. */
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

/** Label of each entry type. */
export const entryTexts: Readonly<Record<StatementEntry['type'], string>> = {
  deposit: 'Deposit',
  charge: 'Call',
  earning: 'Earning',
  fee: 'Node fee',
  refund: 'Refund',
  withdrawal: 'Withdrawal',
  return: 'Withdrawal returned',
  reversal: 'Deposit reversed',
  claim: 'Wallet claim',
  bill: 'Call, billed on chain',
  bill_return: 'Charge returned',
  fee_payout: 'Fees paid out',
};

const DAY_MS = 86_400_000;
const isDay = (text: string | undefined): text is string =>
  text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text));

/** Whole days (UTC, the last one included) as the period of a statement. */
export function statementPeriod({ from, to }: { from?: string; to?: string }): { from?: string; to?: string } {
  return {
    ...(isDay(from) ? { from: new Date(from).toISOString() } : {}),
    ...(isDay(to) ? { to: new Date(Date.parse(to) + DAY_MS).toISOString() } : {}),
  };
}

/** Columns of a statement as a file: the fields of the API, and the name of the treasury. */
export const statementCsv = (treasury: { id: string; name: string }): readonly CsvColumn<StatementEntry>[] => [
  ['createdAt', (row) => row.createdAt],
  ['type', (row) => row.type],
  ['direction', (row) => row.direction],
  ['amount', (row) => row.amount],
  ['balance', (row) => row.balance],
  ['currency', () => 'USDC'],
  ['treasury', () => treasury.name],
  ['treasuryId', () => treasury.id],
  ['counterparty', (row) => row.counterparty],
  ['counterpartyName', (row) => row.counterpartyName],
  ['requestId', (row) => row.requestId],
  ['paymentId', (row) => row.paymentId],
  ['withdrawalId', (row) => row.withdrawalId],
  ['transactionHash', (row) => row.transactionHash],
  ['entryId', (row) => row.entryId],
];
