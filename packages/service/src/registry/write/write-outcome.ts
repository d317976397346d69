import { batchExecutorAbi } from '@agent-network/chain/batch-executor';
import { identityRegistryAbi } from '@agent-network/chain/identity-registry-abi';
import { parseEventLogs } from 'viem';
import type { MinedTransaction } from '../../chain/usdc-client.ts';
import type { RegistryWrite } from './registry-write.ts';

/** Outcome of a write in a mined transaction: done, with its token, or reverted. */
export type WriteOutcome =
  | { readonly isDone: true; readonly tokenId: string | null }
  | { readonly isDone: false; readonly failure: string };

/** Reads the outcomes of the writes that a transaction carried, in order, from its logs. */
export function outcomesOf(
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
