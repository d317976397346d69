import { formatUsdc } from '@agent-network/contracts/money';
import type { AssetName } from '@agent-network/contracts/payments/networks';
import { assetNameOf, nameAsset, tokenKey } from '../../chain/chain-info.ts';
import type { Database, Store } from '../../store/database.ts';
import { type AssetRow, listAssets } from '../ledger/asset-store.ts';
import { type CatchUp, listCatchUps, listCaughtUp } from '../payouts/catch-up-store.ts';
import { type FoundPayout, listFoundPayouts } from '../payouts/found-payout-store.ts';
import { type CreditedTransfer, listCredited, readWaitingMoney, type WaitingMoney } from './restore-report-store.ts';

/** Findings about one asset. */
interface AssetReport {
  /** False: this database was not compared with the asset's chain yet. */
  readonly isRead: boolean;
  /** The last time that another database was compared with that chain; null: never. */
  readonly restored: CatchUp | null;
  readonly credited: readonly CreditedTransfer[];
  readonly waiting: WaitingMoney;
}

interface Named extends AssetName {
  /** Name in the text: that of the network for its USDC, else that of the asset. */
  readonly name: string;
}

/** Findings after a restore. The lists of payouts are of all assets, the other fields of the default asset. */
export interface RestoreReport extends AssetReport {
  readonly byAsset: readonly (AssetReport & Named)[];
  readonly repaired: readonly FoundPayout[];
  /** Payouts that requests of the books will claim automatically. */
  readonly expected: readonly FoundPayout[];
  readonly undecided: readonly FoundPayout[];
  /** Charged to accounts that lack some of it, which is the node's loss until they have it. */
  readonly due: readonly FoundPayout[];
}

/** Findings on the chain since the database was restored: repairs, and open decisions for an operator. */
export async function reportRestore({ db }: Pick<Store, 'db'>): Promise<RestoreReport> {
  const [assets, catchUps, read] = await Promise.all([listAssets(db), listCatchUps(db), listCaughtUp(db)]);
  const report = async (row: AssetRow) => ({
    ...{ ...nameAsset(row.id), name: nameOf(row) },
    ...(await reportAsset(db, row, { catchUps, isRead: read?.some((each) => isOf(row, each)) ?? true })),
  });
  const byAsset = await Promise.all(assets.map(report));
  const {
    asset: _,
    network: __,
    symbol: ___,
    name: ____,
    ...own
  } = byAsset[0] ?? { ...noAsset, isRead: read?.length !== 0 };
  const payouts = await listFoundPayouts(db, null, null);
  const inState = (...states: readonly FoundPayout['state'][]) => payouts.filter(({ state }) => states.includes(state));
  return {
    ...own,
    byAsset,
    repaired: inState('booked', 'explained', 'decided'),
    expected: inState('expected'),
    undecided: inState('undecided', 'found'),
    due: inState('due'),
  };
}

const nameOf = ({ chainId, token }: Pick<AssetRow, 'chainId' | 'token'>): string =>
  assetNameOf({ chainId, token, caip2: `eip155:${chainId}` });

const isOf = (row: AssetRow, { chainId, token }: Pick<CatchUp, 'chainId' | 'token'>): boolean =>
  chainId === row.chainId && token === tokenKey(row);

async function reportAsset(
  db: Database,
  row: AssetRow,
  { catchUps, isRead }: { readonly catchUps: readonly CatchUp[]; readonly isRead: boolean },
): Promise<AssetReport> {
  const restored = catchUps.findLast((each) => each.isRestored && isOf(row, each)) ?? null;
  const credited = restored ? await listCredited(db, row, restored) : [];
  return { isRead, restored, credited, waiting: await readWaitingMoney(db, row) };
}

/** The node has not recorded its assets yet. */
const noAsset = {
  ...{ asset: '', network: '', symbol: '', name: '', restored: null, credited: [] },
  waiting: {
    unshownCount: 0,
    unshownMicro: 0n,
    suspenseCount: 0,
    suspenseMicro: 0n,
    channelCount: 0,
    channelMicro: 0n,
  },
};

/** True when an operator has something to decide or to collect. */
export const needsOperator = ({ undecided, due }: RestoreReport): boolean => undecided.length + due.length > 0;

/** Names the network of a sum where the node has several. */
type Place = (of: Pick<FoundPayout, 'chainId' | 'token'>) => string;

const lineOf =
  (place: Place) =>
  (payout: FoundPayout): string => {
    const { id, valueMicro, to, transactionHash, blockNumber, state, source, dueMicro, requestId, purpose } = payout;
    const parts = [
      `${id}  ${formatUsdc(valueMicro)} USDC${place(payout)} to ${to}`,
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
  const hasSeveral = report.byAsset.length > 1;
  const line = lineOf((payout) => (hasSeveral ? ` on ${nameOf(payout)}` : ''));
  const parts = hasSeveral
    ? report.byAsset.map((each) => ({ ...each, on: ` on ${each.name}` }))
    : [{ ...report, on: '' }];
  const restored = parts.flatMap((each) => restoredText(each.restored, each.on) ?? []);
  return [
    ...(restored.length > 0 ? restored : ['This database has not replaced another one.']),
    '',
    ...section('TO DECIDE: payouts that no account is known for', report.undecided.map(line)),
    ...section('TO COLLECT: payouts charged to accounts that lack some of it', report.due.map(line)),
    ...section('Left to their requests; to decide only if one ends without it', report.expected.map(line)),
    ...section('Repaired: payouts', report.repaired.map(line)),
    ...section('Repaired: transfers credited to their senders', parts.flatMap(creditedLines)),
    ...section('Money that waits for its owner', parts.flatMap(waitingLines)),
    ...whatWaits(report),
  ].join('\n');
}

const restoredText = (restored: CatchUp | null, on: string): string | null =>
  restored &&
  `Another database since ${restored.caughtUpAt.toISOString()}: read from block ${restored.fromBlock} to ${restored.toBlock}${on}.`;

type Part = AssetReport & { readonly on: string };

const creditedLines = ({ credited, on }: Part): string[] =>
  credited.map(
    ({ from, valueMicro, transactionHash, account }) =>
      `  ${formatUsdc(valueMicro)} USDC${on} from ${from}\n    transaction ${transactionHash}: credited to ${account}`,
  );

function waitingLines({ waiting, on }: Part): string[] {
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
  return sums
    .filter(([count]) => count > 0)
    .map(([count, micro, what]) => `  ${formatUsdc(micro)} USDC${on} of ${count} ${what}`);
}

/** Says which networks this database was not compared with yet; null: with all. */
export function unreadText({ isRead, byAsset }: RestoreReport): string | null {
  const unread = new Set(byAsset.flatMap((each) => (each.isRead ? [] : [each.name])));
  if (isRead && unread.size === 0) return null;
  const what = byAsset.length > 1 ? [...unread].join(', ') : 'the chain';
  return `The node has not read ${what} since the restore: start it, and ask again.`;
}
