import { batchExecutorAbi } from '@agent-network/chain/batch-executor';
import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { parseEventLogs } from 'viem';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import { findOwnTransaction, recordMinedTransaction } from '../../payments/chain-outbox/open-transaction.ts';
import { WATCHED_BLOCKS } from '../../payments/reconcile/watch-reorgs.ts';
import type { Tx } from '../../store/sql.ts';
import { type EndedWrites, type RegistryWrite, triesOf } from './registry-write.ts';
import { endWrites, listSentWrites, reopenWrites, type WriteEnd } from './registry-write-store.ts';
import type { WriterContext } from './writer-context.ts';

/** Applies the consequences of ended writes, in the transaction that records them. */
export type FollowWrites = (tx: Tx, ended: EndedWrites) => Promise<void>;

const MAX_AT_ONCE = 500;
const nothing: EndedWrites = { done: [], failed: [], undone: [] };

/**
 * Reads the transactions that carry writes from the chain and records each outcome once. Outcomes that moved to another block are read
 * again: token ids may differ there.
 */
export async function recordWrites(ctx: WriterContext, registrar: string, follow: FollowWrites): Promise<void> {
  await reopenMoved(ctx, follow);
  const sent = await listSentWrites(ctx.db, ctx.chain.chainId, MAX_AT_ONCE);
  for (const [hash, writes] of Map.groupBy(sent, ({ transactionHash }) => transactionHash)) {
    if (hash === null) continue;
    const where = await findOwnTransaction(ctx, hash);
    if (where.state === 'mined') await record(ctx, registrar, { hash, writes, mined: where.mined, follow });
    if (where.state === 'given up')
      await ctx.db.transaction((tx) =>
        endWrites(
          tx,
          writes.map((write) => asNotSent(write, hash)),
          ctx.clock.now(),
        ),
      );
  }
}

async function reopenMoved(ctx: WriterContext, follow: FollowWrites): Promise<void> {
  const { chainId } = ctx.chain;
  const fromBlock = (await ctx.usdc.headBlock()) - WATCHED_BLOCKS;
  await ctx.db.transaction(async (tx) => {
    const undone = await reopenWrites(tx, chainId, fromBlock);
    if (undone.length > 0) await follow(tx, { ...nothing, undone });
  });
}

/** Writes and the transaction that they were sent in; one with another fee may be mined in its place. */
interface Sent {
  readonly hash: string;
  readonly writes: readonly RegistryWrite[];
}

async function record(
  ctx: WriterContext,
  registrar: string,
  { hash, writes, mined, follow }: Sent & { mined: MinedTransaction; follow: FollowWrites },
): Promise<void> {
  const outcomes = outcomesOf(writes, mined, { registrar, registry: ctx.registry.address });
  const { blockNumber, blockHash } = mined;
  const place = { carriedBy: hash, transactionHash: mined.hash, blockNumber, blockHash };
  const isOwn = mined.hasSucceeded || writes.length === 1;
  const ends = writes.map((write, index): WriteEnd => {
    const outcome = outcomes[index];
    if (outcome?.isDone) return { id: write.id, state: 'done', tokenId: outcome.tokenId, failure: null, ...place };
    const failure = outcome?.failure ?? 'no log shows its outcome';
    if (write.tries + 1 < triesOf(write, isOwn)) return { ...asNotSent(write, hash), failure };
    return { id: write.id, state: 'failed', tokenId: null, failure, ...place };
  });
  for (const { id, state, failure } of ends)
    if (failure !== null) ctx.log.warn({ writeId: id, state, failure }, 'registry write reverted on chain');
  await ctx.db.transaction(async (tx) => {
    await recordMinedTransaction(tx, mined);
    const ended = await endWrites(tx, ends, ctx.clock.now());
    const done = ended.filter(({ state }) => state === 'done');
    const failed = ended.filter(({ state }) => state === 'failed');
    await follow(tx, { ...nothing, done, failed });
    failpoint('before-registry-record-commit');
  });
  failpoint('after-registry-record-commit');
}

const nowhere = { transactionHash: null, tokenId: null, blockNumber: null, blockHash: null };
const asNotSent = ({ id }: RegistryWrite, carriedBy: string): WriteEnd => ({
  ...nowhere,
  ...{ id, carriedBy, state: 'due', failure: null },
});

/** Outcome of a write in a mined transaction: done, with its token, or reverted. */
type WriteOutcome =
  | { readonly isDone: true; readonly tokenId: string | null }
  | { readonly isDone: false; readonly failure: string };

/** Reads the outcomes of the writes that a transaction carried, in order, from its logs. */
function outcomesOf(
  writes: readonly RegistryWrite[],
  { hasSucceeded, logs }: Pick<MinedTransaction, 'hasSucceeded' | 'logs'>,
  { registrar, registry }: { registrar: string; registry: string },
): WriteOutcome[] {
  const of = (address: string) => logs.filter((log) => log.address.toLowerCase() === address);
  const undone = parseEventLogs({ abi: batchExecutorAbi, eventName: 'CallFailed', logs: of(registrar) });
  const reasons = new Map(undone.map(({ args }) => [Number(args.place), args.reason]));
  const registered = parseEventLogs({ abi: identityRegistryAbi, eventName: 'Registered', logs: of(registry) });
  const tokens = new Map(registered.map(({ args }) => [args.agentURI, args.agentId.toString()]));
  return writes.map((write) => {
    const reason = reasons.get(write.place ?? 0);
    if (!hasSucceeded) return { isDone: false, failure: 'the transaction reverted' };
    if (reason !== undefined) return { isDone: false, failure: `reverted: ${reason.slice(0, 300)}` };
    if (write.kind !== 'register') return { isDone: true, tokenId: write.tokenId };
    const tokenId = tokens.get(write.uri ?? '');
    return tokenId === undefined ? { isDone: false, failure: 'no token was minted' } : { isDone: true, tokenId };
  });
}
