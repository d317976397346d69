import { type KnownChainId, reputationRegistryByChain } from '@agent-network/chain/addresses';
import { reputationRegistryAbi } from '@agent-network/chain/reputation-registry-abi';
import type { FeedbackFile } from '@agent-network/contracts/agents/feedback';
import { encodeFunctionData, keccak256, toBytes } from 'viem';
import type { Store } from '../../store/database.ts';
import type { Sql, Tx } from '../../store/sql.ts';
import type { RegistryIndex } from '../read/registry-tokens.ts';
import { insertFeedbackWrite } from './feedback-write-store.ts';
import type { NewWrite, RegistryWrite, WriteKind } from './registry-write.ts';
import { dropDueWrite, findWrite, insertWrite, isFailedAfter } from './registry-write-store.ts';

/** Queues a registry write in the caller's transaction; one that is already queued or done is left unchanged. */
export const queueWrite = ({ registry }: RegistryIndex, tx: Tx, write: NewWrite, now: Date): Promise<void> =>
  insertWrite(tx, registry.chainId, write, now);

/** Withdraws a write that has not been sent; one that has been sent runs to its end. */
export const dropWrite = (
  { registry }: RegistryIndex,
  tx: Tx,
  write: Pick<NewWrite, 'kind' | 'subjectId'> & { failure: string; now: Date },
): Promise<void> => dropDueWrite(tx, registry.chainId, write);

/** The newest write of these kinds for a subject, preferring one that has not failed; null when there is none. */
export const latestWrite = (
  ctx: Store & RegistryIndex,
  kinds: readonly WriteKind[],
  subjectId: string,
  sql: Sql = ctx.db,
): Promise<RegistryWrite | null> => findWrite(sql, ctx.registry.chainId, kinds, subjectId);

/** True if the registry has reverted a write of this kind and URI for the subject since a time, in every attempt. */
export const hasFailedAfter = (
  ctx: Store & RegistryIndex,
  write: Pick<NewWrite, 'kind' | 'subjectId' | 'uri'>,
  after: Date,
): Promise<boolean> => isFailedAfter(ctx.db, ctx.registry.chainId, write, after);

/** A feedback to be written. The registry gets the hash of its file's bytes. */
interface PlannedFeedback {
  readonly chainId: KnownChainId;
  readonly requestId: string;
  readonly tokenId: bigint;
  readonly file: FeedbackFile;
  readonly text: string;
  readonly uri: string;
}

/** Call of `giveFeedback` of the ERC-8004 reputation registry. */
function feedbackCall({ tokenId, file, text, uri }: Omit<PlannedFeedback, 'chainId' | 'requestId'>): `0x${string}` {
  const { value, valueDecimals, tag1, tag2, endpoint } = file;
  const hash = keccak256(toBytes(text));
  return encodeFunctionData({
    abi: reputationRegistryAbi,
    functionName: 'giveFeedback',
    args: [tokenId, BigInt(value), valueDecimals, tag1, tag2, endpoint, uri, hash],
  });
}

/** Queues a feedback for the registry writer, once per request. */
export const planFeedback = (tx: Tx, feedback: PlannedFeedback, now: Date): Promise<void> =>
  insertFeedbackWrite(
    tx,
    {
      chainId: feedback.chainId,
      requestId: feedback.requestId,
      target: reputationRegistryByChain[feedback.chainId].toLowerCase(),
      data: feedbackCall(feedback),
    },
    now,
  );
