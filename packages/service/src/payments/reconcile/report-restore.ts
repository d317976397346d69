import { formatUsdc } from '@agent-network/contracts/money';
import type { HasDb } from '../../store/database.ts';
import { type CatchUp, listCatchUps } from '../payouts/catch-up-store.ts';
import { type FoundPayout, listFoundPayouts } from '../payouts/found-payout-store.ts';
import { type CreditedTransfer, listCredited, readWaitingMoney, type WaitingMoney } from './restore-report-store.ts';

export interface RestoreReport {
  /** The last time that another database was compared with the chain; null: never. */
  readonly restored: CatchUp | null;
  readonly repaired: readonly FoundPayout[];
  readonly credited: readonly CreditedTransfer[];
  /** Payouts that requests of the books will claim automatically. */
  readonly expected: readonly FoundPayout[];
  readonly undecided: readonly FoundPayout[];
  /** Charged to accounts that lack some of it, which is the node's loss until they have it. */
  readonly due: readonly FoundPayout[];
  readonly waiting: WaitingMoney;
}

/** Findings on the chain since the database was restored: repairs, and open decisions for an operator. */
export async function reportRestore({ db }: HasDb): Promise<RestoreReport> {
  const catchUps = await listCatchUps(db);
  const restored = catchUps.findLast(({ isRestored }) => isRestored) ?? null;
  const payouts = await listFoundPayouts(db, null, null);
  const inState = (...states: readonly FoundPayout['state'][]) => payouts.filter(({ state }) => states.includes(state));
  return {
    restored,
    repaired: inState('booked', 'explained', 'decided'),
    credited: restored ? await listCredited(db, restored.fromBlock, restored.toBlock) : [],
    expected: inState('expected'),
    undecided: inState('undecided', 'found'),
    due: inState('due'),
    waiting: await readWaitingMoney(db),
  };
}

/** True when an operator has something to decide or to collect. */
export const needsOperator = ({ undecided, due }: RestoreReport): boolean => undecided.length + due.length > 0;

const lineOf = (payout: FoundPayout): string => {
  const { id, valueMicro, to, transactionHash, blockNumber, state, source, dueMicro, requestId, purpose } = payout;
  const parts = [
    `${id}  ${formatUsdc(valueMicro)} USDC to ${to}`,
    `  transaction ${transactionHash}, block ${blockNumber}: ${state}`,
    source ? `, charged to ${source}` : '',
    dueMicro > 0n ? `, which lacks ${formatUsdc(dueMicro)}` : '',
    requestId ? `, ${purpose} of ${requestId}` : '',
    payout.decidedBy ? `, decided by ${payout.decidedBy}: ${payout.decision}` : '',
  ];
  return `  ${parts[0]}\n  ${parts.slice(1).join('')}`;
};

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : [`${title} (${lines.length})`, ...lines, ''];

/** Work that waits for the operator, with the next step: it blocks withdrawals of all accounts after a restore, else of one account. */
function whatWaits(report: RestoreReport): string[] {
  const { undecided, due } = report;
  if (!needsOperator(report)) return ['Nothing is left to decide.'];
  const lines: string[] = [];
  if (undecided.some(({ isRestored }) => isRestored))
    lines.push('Withdrawals of all accounts wait until it is decided.');
  if (due.length > 0)
    lines.push(
      'Withdrawals of accounts that lack some wait until they have it: it is collected automatically, or decided as --loss.',
    );
  return [...lines, 'npm run operator -- decide <id> --by <name> --charge <account> | --loss | --own'];
}

/** The report as an operator reads it. */
export function reportText(report: RestoreReport): string {
  const { restored, waiting } = report;
  const credited = report.credited.map(
    ({ from, valueMicro, transactionHash, account }) =>
      `  ${formatUsdc(valueMicro)} USDC from ${from}\n    transaction ${transactionHash}: credited to ${account}`,
  );
  const sums = [
    [
      waiting.unshownCount,
      waiting.unshownMicro,
      'payments that no call has presented yet; credited to their senders 20 minutes after they were read',
    ],
    [
      waiting.suspenseCount,
      waiting.suspenseMicro,
      'wallets without an account, in suspense until their owners claim it',
    ],
    [
      waiting.channelCount,
      waiting.channelMicro,
      'channels of which more was claimed on chain than the books have charged',
    ],
  ] as const;
  return [
    restored
      ? `Another database since ${restored.caughtUpAt.toISOString()}: read from block ${restored.fromBlock} to ${restored.toBlock}.`
      : 'This database has not replaced another one.',
    '',
    ...section('TO DECIDE: payouts that no account is known for', report.undecided.map(lineOf)),
    ...section('TO COLLECT: payouts charged to accounts that lack some of it', report.due.map(lineOf)),
    ...section('Left to their requests; to decide only if one ends without it', report.expected.map(lineOf)),
    ...section('Repaired: payouts', report.repaired.map(lineOf)),
    ...section('Repaired: transfers credited to their senders', credited),
    ...section(
      'Money that waits for its owner',
      sums
        .filter(([count]) => count > 0)
        .map(([count, micro, what]) => `  ${formatUsdc(micro)} USDC of ${count} ${what}`),
    ),
    ...whatWaits(report),
  ].join('\n');
}
