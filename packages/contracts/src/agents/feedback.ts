import { z } from 'zod';
import { Timestamp, TransactionHash, WalletAddress } from '../scalars.ts';

/** `GET /agents/{id}/feedback/{requestId}.json`: the file behind a feedback in the reputation registry (ERC-8004, off-chain feedback file). */
export const FeedbackFile = z.object({
  /** `eip155:{chainId}:{registry}` */
  agentRegistry: z.string(),
  agentId: z.int().min(0),
  /** Address of the feedback's author (CAIP-10). */
  clientAddress: z.string(),
  createdAt: Timestamp,
  /** 100 for a completed call, 0 for a failed one: the mean is the success rate in percent. */
  value: z.int().min(0).max(100),
  valueDecimals: z.literal(0),
  tag1: z.literal('successRate'),
  tag2: z.literal('paid'),
  endpoint: z.string(),
  proofOfPayment: z.object({
    fromAddress: WalletAddress,
    toAddress: WalletAddress,
    chainId: z.int(),
    txHash: TransactionHash,
  }),
});
export type FeedbackFile = z.infer<typeof FeedbackFile>;
