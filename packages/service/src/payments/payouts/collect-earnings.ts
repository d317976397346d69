import type { Api } from '@agent-network/contracts/api';
import type { DataOf } from '@agent-network/contracts/endpoint';
import { formatUsdc } from '@agent-network/contracts/money';
import type { AccountCaller } from '../../accounts/caller.ts';
import type { Once } from '../../accounts/idempotency/once.ts';
import { assetIdOf, type NodeIdentity, nameAsset } from '../../chain/chain-info.ts';
import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { invariant } from '../../lib/invariant.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { LedgerAsset } from '../ledger/asset-account.ts';
import {
  findLedgerAccount,
  type LedgerAccount,
  listEarnings,
  listTreasuryNames,
  lockLedgerAccounts,
  postTransfers,
  sumCollected,
} from '../ledger/ledger-store.ts';
import { openTreasury } from '../ledger/open-treasury.ts';
import { agentTreasuryId, requireTreasury, requireUnfrozen } from '../ledger/treasury.ts';
import { sumWithdrawn } from './refund-store.ts';
import type { TreasuryOwners } from './treasury-owners.ts';

type CollectContext = Store & NodeIdentity & { readonly treasuryOwners: TreasuryOwners };
type Collected = DataOf<Api['collectEarnings']>;

/** Treasuries of one call: the chain is asked who owns each agent. */
const AT_ONCE = 100;
const ASKED_AT_ONCE = 10;

/**
 * Moves what the agents of an account have available to the account's treasury, in each asset, in one transaction with the answer under the
 * call's Idempotency-Key: a repetition moves nothing more. As for a withdrawal, the chain is asked first who owns each agent. Throws
 * NOT_FOUND for a named agent of another account, CONFLICT for one that is frozen or belongs to another wallet by now; where none is named,
 * such agents are left out.
 */
export async function collectEarnings(
  ctx: CollectContext,
  caller: AccountCaller,
  { agentId }: { readonly agentId?: string | undefined },
  once: Once,
): Promise<Collected> {
  const { accountId } = caller;
  if (agentId !== undefined) requireUnfrozen(await requireTreasury(ctx, caller, agentTreasuryId(agentId)));
  const found = await listEarnings(ctx.db, { accountId, agentId: agentId ?? null, most: AT_ONCE + 1 });
  const agents = [...new Set(found.slice(0, AT_ONCE).map(agentOf))];
  const owned = await agentsOwned(ctx, agents, agentId !== undefined);
  const names = await listTreasuryNames(ctx.db, accountId);
  const data = await ctx.db.transaction(async (tx) => {
    const moved = await move(
      ctx,
      tx,
      accountId,
      found.slice(0, AT_ONCE).filter((each) => owned.has(agentOf(each))),
    );
    const collected = answerOf(
      ctx,
      moved,
      names,
      [...new Set(found.map(agentOf))].filter((id) => !owned.has(id)),
    );
    const kept = await once.keep(tx, collected);
    failpoint('before-collect-commit');
    return kept;
  });
  failpoint('after-collect-commit');
  return data;
}

const agentOf = ({ agentId }: LedgerAccount): string => agentId ?? '';

/** The agents that the chain does not name another owner of. `isNamed`: an error about one ends the call. */
async function agentsOwned(
  { treasuryOwners }: CollectContext,
  agentIds: readonly string[],
  isNamed: boolean,
): Promise<ReadonlySet<string>> {
  const owned = new Set<string>();
  const ask = async (agentId: string) => {
    try {
      await treasuryOwners.require(agentId);
      owned.add(agentId);
    } catch (error) {
      if (isNamed || !(error instanceof AppError)) throw error;
    }
  };
  for (let from = 0; from < agentIds.length; from += ASKED_AT_ONCE)
    await Promise.all(agentIds.slice(from, from + ASKED_AT_ONCE).map(ask));
  return owned;
}

interface Moved {
  readonly treasury: LedgerAccount;
  readonly parts: readonly (Pick<LedgerAccount, 'id' | 'agentId' | 'asset'> & { readonly micro: bigint })[];
}

/** Moves what is available in these treasuries as locked: they may have been given away, frozen or charged since they were read. */
async function move(
  { clock }: CollectContext,
  tx: Tx,
  accountId: string,
  found: readonly LedgerAccount[],
): Promise<Moved> {
  const now = clock.now();
  const into = new Map<LedgerAsset, string>();
  for (const asset of new Set<LedgerAsset>([null, ...found.map((each) => each.asset)]))
    into.set(asset, await openTreasury(tx, accountId, now, asset));
  const locked = await lockLedgerAccounts(tx, [...found.map(({ id }) => id), ...into.values()]);
  const parts = locked
    .filter((each) => each.kind === 'agent' && each.accountId === accountId && each.frozenAt === null)
    .map(({ id, agentId, asset, postedMicro, heldMicro }) => ({ id, agentId, asset, micro: postedMicro - heldMicro }))
    .filter(({ micro }) => micro > 0n);
  const subjectId = newId('col');
  const transfers = parts.map(({ id, asset, micro: amountMicro }) => ({
    ...{ id: `${subjectId}:${id}`, debit: id, credit: into.get(asset) ?? '', amountMicro },
    ...{ kind: 'collect' as const, subjectId },
  }));
  if (transfers.length > 0) await postTransfers(tx, transfers, now);
  const treasury = await findLedgerAccount(tx, into.get(null) ?? '');
  invariant(treasury !== null, 'a treasury that was opened is there');
  return { treasury, parts };
}

function answerOf(
  { chain }: CollectContext,
  { treasury, parts }: Moved,
  names: ReadonlyMap<string, string>,
  left: readonly string[],
): Collected {
  const inDefault = parts.filter(({ asset }) => asset === null).reduce((sum, { micro }) => sum + micro, 0n);
  return {
    treasuryId: treasury.id,
    amount: formatUsdc(inDefault),
    balance: formatUsdc(treasury.postedMicro - treasury.heldMicro),
    byAgent: parts.map(({ id, agentId, asset, micro }) => ({
      ...nameAsset(asset ?? assetIdOf(chain)),
      ...{ agentId: agentId ?? '', agentName: names.get(id) ?? null, amount: formatUsdc(micro) },
    })),
    left: [...left],
  };
}

/** Sum of what left an agent's treasury since a time, in the default asset: to wallets, and to the treasury of its owner. */
export async function readWithdrawn(ctx: Store, treasuryId: string, since: Date | null): Promise<bigint> {
  const [paidOut, collected] = await Promise.all([
    sumWithdrawn(ctx.db, treasuryId, since),
    sumCollected(ctx.db, treasuryId, since),
  ]);
  return paidOut + collected;
}
