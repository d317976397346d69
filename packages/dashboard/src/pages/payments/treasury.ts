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

/** Treasuries under their labels, or the names of their agents; the account's first, as it pays for calls. */
export function nameTreasuries(treasuries: Balance['treasuries']): NamedTreasury[] {
  const named = treasuries.map(({ treasuryId, agentId, agentName, label, available, held }) => ({
    treasuryId,
    agentId,
    name: label ?? (agentId === null ? 'Account' : (agentName ?? 'Agent')),
    available,
    held,
  }));
  return [...named.filter(({ agentId }) => agentId === null), ...named.filter(({ agentId }) => agentId !== null)];
}

/** The account's treasury while there is none: it is opened by the first deposit. */
export const NOT_OPEN = '';
const unopened: NamedTreasury = {
  treasuryId: NOT_OPEN,
  agentId: null,
  name: 'Account',
  available: '0.00',
  held: '0.00',
};

/** With the account's treasury in front, even if it is not open yet. */
export const withAccount = (
  treasuries: readonly NamedTreasury[],
): readonly [NamedTreasury, ...(readonly NamedTreasury[])] => {
  const [first = unopened, ...others] = treasuries;
  return first.agentId === null ? [first, ...others] : [unopened, ...treasuries];
};

const isZero = (amount: string): boolean => /^0(\.0*)?$/.test(amount);

/** True for an agent's treasury that holds nothing: lists leave it out at first. */
export const isIdle = ({ agentId, available, held }: NamedTreasury): boolean =>
  agentId !== null && isZero(available) && isZero(held);

/** For lists to choose from. */
export const treasuryOptions = (treasuries: readonly NamedTreasury[]) => treasuries.map(optionOf);

const optionOf = ({ treasuryId, name, available }: NamedTreasury) => ({
  value: treasuryId,
  label: `${name}: ${available} USDC`,
});

/** Options for deposits: the account's treasury first, open or not. */
export const fundingOptions = (treasuries: readonly NamedTreasury[]) => {
  const [account, ...others] = withAccount(treasuries);
  return [optionOf(account), ...others.map(optionOf)] as const;
};

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
  collect: 'Earnings collected',
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
