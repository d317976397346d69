import { formatUsdc } from '@agent-network/contracts/money';
import type { Balance, Treasury } from '@agent-network/contracts/payments/payments';
import type { KnownCaller } from '../../accounts/caller.ts';
import type { UsageContext } from '../../accounts/limits/read-limit-use.ts';
import { assetIdOf, type NodeIdentity, nameAsset } from '../../chain/chain-info.ts';
import { type Networks, nameOfAsset, onEach } from '../../chain/networks.ts';
import { AppError, notFound } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import type { Store } from '../../store/database.ts';
import { createLazyCopies } from '../../store/replica/lazy-copies.ts';
import type { Replica } from '../../store/replica/replica.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import { assetOf, inAsset, type LedgerAsset, plainId } from './asset-account.ts';
import { findBalanceAlert } from './balance-alert-store.ts';
import { isBusyRow } from './ledger-batcher.ts';
import type { Ledger, SeenTreasuries } from './ledger-services.ts';
import {
  findLedgerAccount,
  findLedgerAccounts,
  findTreasuryIds,
  findTreasuryOf,
  findWalletOf,
  freezeAgentAccounts,
  giveAgentAccounts,
  type LedgerAccount,
  labelLedgerAccount,
  listAgentTreasuries,
  listTreasuries,
  listTreasuryNames,
  MAX_TREASURIES_LISTED,
  openBeside,
  openLedgerAccount,
  sumTreasuriesByAsset,
} from './ledger-store.ts';
import { sumPendingDeposits } from './payment-history-store.ts';
import type { Payer } from './scheme-id.ts';
import { readSpendable } from './spendable.ts';

/** Id of an agent's one treasury, derived from the agent's id: crediting earnings needs no look-up. */
export const agentTreasuryId = (agentId: string): string => `trs_${agentId.slice(4)}`;

/** The agent's treasury that earns an account's payments, in the same asset. */
export const earningAccountOf = (agentId: string, payerLedgerId: string | null): string =>
  inAsset(agentTreasuryId(agentId), payerLedgerId === null ? null : assetOf(payerLedgerId));

/** Ledger account of a wallet that pays by x402: holds its payment until the call is charged. */
export const payerAccountId = (address: string): string => `payer:${address}`;

/** The wallet that pays for a request by a transfer; null: another scheme pays, or the call is free. */
export const payingWalletOf = ({ scheme, payerLedgerId }: Payer): string | null =>
  scheme === 'exact' && payerLedgerId !== null ? plainId(payerLedgerId).slice(payerAccountId('').length) : null;

/**
 * The wallet that gets money back after a request has ended: the payer's, for channels too, as their voucher covers only the charge. Null:
 * money returns to the paying treasury.
 */
export const returnWalletOf = (sql: Sql, ledgerAccountId: string): Promise<string | null> =>
  findWalletOf(sql, ledgerAccountId);

/** Opens an agent's treasury, in the transaction that registers the agent. */
export const openAgentTreasury = (tx: Tx, agent: { id: string; accountId: string }, now: Date): Promise<void> =>
  openLedgerAccount(tx, {
    id: agentTreasuryId(agent.id),
    kind: 'agent',
    accountId: agent.accountId,
    agentId: agent.id,
    now,
  });

/** Id of the treasury that pays for a caller's calls; null: it has none. */
export const payingTreasury = async (ctx: Ledger, caller: KnownCaller): Promise<string | null> =>
  caller.kind === 'agent' ? agentTreasuryId(caller.agentId) : ctx.seenTreasuries.of(caller.accountId);

/** The treasury that pays for a caller's calls; null: there is none. */
export async function findPayingTreasury(ctx: Store & Ledger, caller: KnownCaller): Promise<LedgerAccount | null> {
  const id = await payingTreasury(ctx, caller);
  return id === null ? null : findLedgerAccount(ctx.db, id);
}

/** Available amount in that treasury; without one, nothing. */
export async function availableToPay(ctx: Store & Ledger, caller: KnownCaller): Promise<bigint> {
  const treasury = await findPayingTreasury(ctx, caller);
  return treasury ? treasury.postedMicro - treasury.heldMicro : 0n;
}

const MAX_SEEN = 50_000;
/** Maximum age of the cache: a process of the release before opens treasuries without logging the change. */
const SEEN_AGE_MS = 60_000;

/** Caches which accounts have a treasury, also negatively: opening one evicts the entry. */
export function createSeenTreasuries(ctx: Pick<Store, 'db'> & { readonly replica: Replica }): SeenTreasuries {
  const copies = createLazyCopies<{ readonly accountId: string; readonly treasuryId: string | null }>(ctx, {
    ...{ max: MAX_SEEN, maxAgeMs: SEEN_AGE_MS, topics: ['treasury'] },
    tagsOf: ({ accountId }) => [`treasury ${accountId}`],
    async read(accountIds) {
      const found = await findTreasuryIds(ctx.db, accountIds);
      return new Map(
        accountIds.map((accountId) => [accountId, { accountId, treasuryId: found.get(accountId) ?? null }]),
      );
    },
  });
  return {
    of: async (accountId) => (await copies.find(accountId))?.treasuryId ?? null,
    payers: createBoundedCache<string>(MAX_SEEN),
  };
}

/** An agent's treasury exists from its registration; in another asset than the default one, from the first call that is paid in that. */
export async function openEarning(ctx: Store & Ledger, agentId: string, payerLedgerId: string): Promise<void> {
  const asset = assetOf(payerLedgerId);
  if (asset === null) return;
  const id = earningAccountOf(agentId, payerLedgerId);
  if (ctx.seenTreasuries.payers.has(id)) return;
  await ctx.db.transaction((tx) => openBeside(tx, [agentTreasuryId(agentId)], asset, ctx.clock.now()));
  ctx.seenTreasuries.payers.set(id, id);
}

/** Opens a paying wallet's ledger account, unless it exists. */
export async function openPayer(
  ctx: Store & Ledger,
  { id, address }: { readonly id: string; readonly address: string },
  now: Date,
): Promise<void> {
  if (ctx.seenTreasuries.payers.has(id)) return;
  await openLedgerAccount(ctx.db, { id, kind: 'payer', address, now });
  ctx.seenTreasuries.payers.set(id, id);
}

/**
 * Creates the account's treasury or returns the existing one; an agent's exists from its registration. A label that is given is that of
 * the treasury from then on.
 */
export async function createTreasury(
  ctx: Store & NodeIdentity,
  caller: KnownCaller,
  { agentId, label }: { agentId?: string | undefined; label?: string | undefined },
): Promise<Treasury> {
  const treasury = await openTreasury(ctx, caller, caller.kind === 'agent' ? caller.agentId : agentId);
  if (label === undefined) return toTreasury(ctx, treasury);
  await labelLedgerAccount(ctx.db, treasury.id, label);
  return toTreasury(ctx, { ...treasury, label });
}

async function openTreasury(ctx: Store, caller: KnownCaller, agentId: string | undefined): Promise<LedgerAccount> {
  if (agentId !== undefined) return requireTreasury(ctx, caller, agentTreasuryId(agentId));
  const { accountId } = caller;
  await openLedgerAccount(ctx.db, { id: newId('trs'), kind: 'treasury', accountId, now: ctx.clock.now() });
  const treasury = await findTreasuryOf(ctx.db, accountId);
  if (!treasury) throw notFound('treasury');
  return treasury;
}

/** Loads a treasury of the caller's by id. Throws NOT_FOUND for others'. */
export async function requireTreasury(ctx: Store, caller: KnownCaller, treasuryId: string): Promise<LedgerAccount> {
  const found = await findLedgerAccount(ctx.db, treasuryId);
  const isTheirs =
    found !== null &&
    (found.kind === 'treasury' || found.kind === 'agent') &&
    found.accountId === caller.accountId &&
    (caller.kind === 'account' || found.agentId === caller.agentId);
  if (!isTheirs) throw notFound('treasury');
  return found;
}

/** A treasury of the caller's, as shown on the wire. Others' are NOT_FOUND. */
export const readTreasury = async (
  ctx: Store & NodeIdentity,
  caller: KnownCaller,
  treasuryId: string,
): Promise<Treasury> => toTreasury(ctx, await requireTreasury(ctx, caller, treasuryId));

function toTreasury(ctx: NodeIdentity & Partial<Networks>, account: LedgerAccount): Treasury {
  return {
    treasuryId: account.id,
    address: ctx.chain.wallet,
    balance: formatUsdc(account.postedMicro - account.heldMicro),
    currency: 'USDC',
    network: nameOfAsset(ctx, account.asset),
    createdAt: account.createdAt.toISOString(),
    agentId: account.agentId,
    label: account.label,
  };
}

/** Treasuries visible to a caller, in all assets: the account's for a key, as many as are listed; its own for an agent. */
export async function visibleTreasuries(ctx: Store, caller: KnownCaller): Promise<LedgerAccount[]> {
  if (caller.kind === 'account') return listTreasuries(ctx.db, caller.accountId);
  const own = await listAgentTreasuries(ctx.db, caller.agentId);
  return own.filter(({ accountId }) => accountId === caller.accountId);
}

/** A treasury of an account as people know it, with its id. */
export async function treasuryTitle(
  ctx: Store,
  accountId: string,
  { id, agentId, label }: LedgerAccount,
): Promise<string> {
  if (label !== null) return `the treasury "${label}" (${id})`;
  if (agentId === null) return `the account's treasury (${id})`;
  const name = (await listTreasuryNames(ctx.db, accountId, id)).get(id);
  return name === undefined ? `the treasury ${id}` : `the treasury of the agent "${name}" (${id})`;
}

/** Sums of these treasuries by asset, in the same reading as each of them; of accounts with more than are listed, of all. */
async function sumsOf(ctx: Store, { accountId }: KnownCaller, treasuries: readonly LedgerAccount[]) {
  const isAll = treasuries.length < MAX_TREASURIES_LISTED;
  const rows = isAll ? treasuries : await sumTreasuriesByAsset(ctx.db, accountId);
  const sums = new Map<LedgerAsset, { postedMicro: bigint; heldMicro: bigint }>([[null, nothing]]);
  for (const { asset, postedMicro, heldMicro } of rows) {
    const before = sums.get(asset) ?? nothing;
    sums.set(asset, { postedMicro: before.postedMicro + postedMicro, heldMicro: before.heldMicro + heldMicro });
  }
  return sums;
}

const nothing = { postedMicro: 0n, heldMicro: 0n };

/** Balance of all treasuries of an account, or of the agent that calls: in the default asset, with each visible to the caller; and by asset. */
export async function readBalance(
  ctx: UsageContext & NodeIdentity & Partial<Networks>,
  caller: KnownCaller,
): Promise<Balance> {
  const visible = await visibleTreasuries(ctx, caller);
  const treasuries = visible.filter(({ asset }) => asset === null);
  const [sums, names, spendable, alertMicro] = await Promise.all([
    sumsOf(ctx, caller, visible),
    listTreasuryNames(ctx.db, caller.accountId),
    readSpendable(ctx, caller, treasuries),
    findBalanceAlert(ctx.db, caller.accountId),
  ]);
  const plainIds = [...new Set(visible.map(({ id }) => plainId(id)))];
  // A first deposit in an asset is pending before there is an account in it.
  const offered = onEach(ctx).map(({ chain }) => chain.ledgerAsset);
  const assets = [...new Set<LedgerAsset>([...sums.keys(), ...offered])];
  const all = await Promise.all(
    assets.map(async (asset) => {
      const ids = plainIds.map((id) => inAsset(id, asset));
      const { postedMicro, heldMicro } = sums.get(asset) ?? nothing;
      return { asset, postedMicro, heldMicro, pendingMicro: await sumPendingDeposits(ctx.db, ids) };
    }),
  );
  const amounts = ({ postedMicro, heldMicro, pendingMicro }: (typeof all)[number]) => ({
    available: formatUsdc(postedMicro - heldMicro),
    held: formatUsdc(heldMicro),
    pending: formatUsdc(pendingMicro),
  });
  const [own, ...others] = all;
  invariant(own?.asset === null, 'the default asset is the first');
  const shown = others.filter(({ asset, pendingMicro }) => sums.has(asset) || pendingMicro > 0n);
  const payer = treasuries.find(({ id }) => id === spendable.treasuryId);
  const inPayer = payer ? payer.postedMicro - payer.heldMicro : 0n;
  return {
    spendable,
    earnings: formatUsdc(own.postedMicro - own.heldMicro - inPayer),
    alertBelow: alertMicro === null ? null : formatUsdc(alertMicro),
    ...amounts(own),
    currency: 'USDC',
    network: ctx.chain.name,
    treasuries: treasuries.map((each) => balanceOf(each, names)),
    otherTreasuries: visible.flatMap((each) => {
      const { asset } = each;
      return asset === null ? [] : { ...balanceOf(each, names), ...nameAsset(asset) };
    }),
    byAsset: [own, ...shown].map((each) => {
      const asset = each.asset ?? assetIdOf(ctx.chain);
      return { ...nameAsset(asset), ...amounts(each) };
    }),
  };
}

const balanceOf = (treasury: LedgerAccount, names: ReadonlyMap<string, string>): Balance['treasuries'][number] => ({
  treasuryId: treasury.id,
  agentId: treasury.agentId,
  label: treasury.label,
  agentName: names.get(treasury.id) ?? null,
  available: formatUsdc(treasury.postedMicro - treasury.heldMicro),
  held: formatUsdc(treasury.heldMicro),
});

/** Freezes an agent's treasury: debits are refused, earnings are still credited. In the caller's transaction. */
export const freezeTreasury = (tx: Tx, agentId: string, now: Date): Promise<void> =>
  freezeAgentAccounts(tx, agentId, now);

/** Transfers an agent's treasury with its balance to an account and unfreezes it. In the caller's transaction. */
export const giveTreasury = (tx: Tx, agentId: string, accountId: string): Promise<void> =>
  giveAgentAccounts(tx, agentId, accountId);

/** Throws CONFLICT for a frozen treasury. */
export function requireUnfrozen({ frozenAt }: Pick<LedgerAccount, 'frozenAt'>): void {
  if (frozenAt === null) return;
  throw new AppError(
    'CONFLICT',
    "This treasury is frozen: its agent's token now belongs to another wallet, which has to be proven first (POST /identity/verify).",
  );
}

/** Turns a lock timeout of a treasury into UNAVAILABLE; returns other errors unchanged. */
export const busyTreasury = (error: unknown): unknown =>
  isBusyRow(error)
    ? new AppError(
        'UNAVAILABLE',
        'Another payment of this treasury takes long. Nothing was done; repeat the request.',
        { details: { outcome: 'nothing' } },
        { cause: error },
      )
    : error;

/** Treasuries of agents, by agent id; agents without one are left out. */
export async function agentTreasuries(
  ctx: Store,
  agentIds: readonly string[],
): Promise<ReadonlyMap<string, LedgerAccount>> {
  const found = await findLedgerAccounts(ctx.db, agentIds.map(agentTreasuryId));
  return new Map(found.flatMap((account) => (account.agentId ? [[account.agentId, account] as const] : [])));
}
