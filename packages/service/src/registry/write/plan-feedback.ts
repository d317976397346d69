import { type KnownChainId, reputationRegistryByChain } from '@agent-network/chain/addresses';
import { reputationRegistryAbi } from '@agent-network/chain/reputation-registry-abi';
import type { FeedbackFile } from '@agent-network/contracts/agents/feedback';
import { encodeFunctionData, keccak256, toBytes } from 'viem';
import type { Tx } from '../../db/sql.ts';
import { insertFeedbackWrite } from './feedback-write-store.ts';

/** A feedback that is to be written: its file's bytes are what the registry gets the hash of. */
export interface PlannedFeedback {
  readonly chainId: KnownChainId;
  readonly requestId: string;
  readonly tokenId: bigint;
  readonly file: FeedbackFile;
  readonly text: string;
  readonly uri: string;
}

/** The call that gives it: `giveFeedback` of the ERC-8004 reputation registry. */
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

/** Notes that a feedback is to be written to the registry, once for each request; whoever writes to the registry sends it. */
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
