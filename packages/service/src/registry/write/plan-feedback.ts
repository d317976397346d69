import { type KnownChainId, reputationRegistryByChain } from '@agent-network/chain/addresses';
import { reputationRegistryAbi } from '@agent-network/chain/reputation-registry-abi';
import type { FeedbackFile } from '@agent-network/contracts/agents/feedback';
import { encodeFunctionData, keccak256, toBytes } from 'viem';
import type { Tx } from '../../db/sql.ts';
import { insertFeedbackWrite } from './feedback-write-store.ts';

/** A feedback to be written. The registry gets the hash of its file's bytes. */
export interface PlannedFeedback {
  readonly chainId: KnownChainId;
  readonly requestId: string;
  readonly tokenId: bigint;
  readonly file: FeedbackFile;
  readonly text: string;
  readonly uri: string;
}

/** Call of `giveFeedback` of the ERC-8004 reputation registry. */
export function feedbackCall({
  tokenId,
  file,
  text,
  uri,
}: Omit<PlannedFeedback, 'chainId' | 'requestId'>): `0x${string}` {
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
