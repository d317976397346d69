import type { ChainPoint } from '../../chain/blocks/chain-point.ts';
import type { Telemetry } from '../../lib/telemetry/telemetry.ts';
import type { Store } from '../../store/database.ts';
import type { Tx } from '../../store/sql.ts';
import type { FetchedRange } from './fetch-range.ts';
import { insertLogs, listLogsOf, removeLogsAbove } from './registry-log-store.ts';
import { tokensAfter } from './registry-logs.ts';
import { addPoints, newestPoint, removePointsAbove } from './registry-point-store.ts';
import { lockReading } from './registry-reading-store.ts';
import { findTokens, writeTokens } from './registry-token-store.ts';
import type { RegistryIndex } from './registry-tokens.ts';

export type WriteContext = Store & Telemetry & Pick<RegistryIndex, 'registry'>;

/** Number of tokens rebuilt per statement. */
const TOKENS_AT_ONCE = 2000;

/**
 * Stores a fetched range atomically: logs, tokens and the following points. Tokens with late logs are derived again from all of their logs,
 * before the new ones are applied. Returns false, having written nothing, when the newest point has changed.
 */
export async function writeRange(ctx: WriteContext, after: ChainPoint | null, range: FetchedRange): Promise<boolean> {
  const { chainId } = ctx.registry;
  const { logs, malformed, upgrades } = range;
  const late = await ctx.db.transaction(async (tx) => {
    if (!(await lockAt(ctx, tx, after))) return null;
    const tokens = await insertLogs(tx, chainId, range.again);
    await makeAllAnew(tx, chainId, tokens);
    await insertLogs(tx, chainId, logs);
    const before = await findTokens(tx, chainId, [...new Set(logs.map(({ tokenId }) => tokenId))]);
    await writeTokens(tx, chainId, tokensAfter(before, logs));
    await addPoints(tx, chainId, range.points);
    return tokens;
  });
  if (late === null) return false;
  if (late.length > 0) {
    ctx.metrics.registryLogs.inc({ kind: 'late' }, late.length);
    ctx.log.warn(
      { tokens: late.map(String) },
      'the RPC node had left out logs of the shared registry; they are read now',
    );
  }
  for (const { kind } of logs) ctx.metrics.registryLogs.inc({ kind });
  if (malformed > 0) ctx.metrics.registryLogs.inc({ kind: 'malformed' }, malformed);
  if (upgrades > 0) ctx.metrics.registryLogs.inc({ kind: 'upgraded' }, upgrades);
  if (upgrades > 0) ctx.log.warn({ block: String(range.fromBlock) }, 'shared registry was upgraded');
  return true;
}

/**
 * Rewinds to a point, or to the beginning for null: tokens that lost logs are rebuilt from the remaining ones. Returns false, having
 * changed nothing, when the newest point is no longer `newest`.
 */
export async function takeBackTo(ctx: WriteContext, newest: ChainPoint, to: ChainPoint | null): Promise<boolean> {
  const { chainId } = ctx.registry;
  const isTaken = await ctx.db.transaction(async (tx) => {
    if (!(await lockAt(ctx, tx, newest))) return false;
    const touched = await removeLogsAbove(tx, chainId, to?.block ?? -1n);
    await removePointsAbove(tx, chainId, to?.block ?? -1n);
    await makeAllAnew(tx, chainId, touched);
    return true;
  });
  if (!isTaken) return false;
  ctx.metrics.registryReorgs.inc();
  const fields = { from: String(newest.block), to: to === null ? null : String(to.block) };
  if (to) ctx.log.warn(fields, 'chain reorganised; reading the shared registry again from this block');
  else ctx.log.error(fields, 'no recorded block is on this chain; reading the shared registry from its start');
  return true;
}

/** Derives tokens again from all of their logs. */
async function makeAllAnew(tx: Tx, chainId: number, tokenIds: readonly bigint[]): Promise<void> {
  for (let start = 0; start < tokenIds.length; start += TOKENS_AT_ONCE)
    await makeAnew(tx, chainId, tokenIds.slice(start, start + TOKENS_AT_ONCE));
}

async function makeAnew(tx: Tx, chainId: number, tokenIds: readonly bigint[]): Promise<void> {
  const tokens = tokensAfter(new Map(), await listLogsOf(tx, chainId, tokenIds));
  await writeTokens(tx, chainId, new Map(tokenIds.map((tokenId) => [tokenId, tokens.get(tokenId) ?? null])));
}

/** Locks the sync row and returns true if the newest point is this one; it stays so until the transaction ends. */
async function lockAt(ctx: WriteContext, tx: Tx, point: ChainPoint | null): Promise<boolean> {
  await lockReading(tx, ctx.registry.chainId, ctx.clock.now());
  const newest = await newestPoint(tx, ctx.registry.chainId);
  return newest?.block === point?.block && newest?.hash === point?.hash;
}
