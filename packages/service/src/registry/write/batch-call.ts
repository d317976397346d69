import {
  BATCH_EXECUTOR_ADDRESS,
  batchExecutorAbi,
  CREATE2_FACTORY,
  putBatchExecutorData,
} from '@agent-network/chain/batch-executor';
import { encodeFunctionData, type Hex } from 'viem';
import type { ChainCall } from '../../payments/onchain/open-transaction.ts';
import { gasOfAll, type NewWrite } from './registry-write.ts';

/** Deploys the executor on a chain that lacks it; anyone may do so once. */
export const putExecutorCall: ChainCall = { to: CREATE2_FACTORY, data: putBatchExecutorData, gas: 500_000n };

/**
 * Builds the transaction for writes: one goes straight to its registry; several go to the registrar itself, which delegates to the executor
 * in the same transaction (EIP-7702), so that the registry sees the registrar as the caller.
 */
export function batchCall(registrar: string, writes: readonly NewWrite[]): ChainCall {
  const gas = gasOfAll(writes);
  const [only] = writes;
  if (only && writes.length === 1) return { to: only.target as Hex, data: only.data as Hex, gas };
  const calls = writes.map(({ target, data }) => ({ target: target as Hex, data: data as Hex }));
  const data = encodeFunctionData({ abi: batchExecutorAbi, functionName: 'execute', args: [calls] });
  return { to: registrar as Hex, data, gas, delegateTo: BATCH_EXECUTOR_ADDRESS };
}
