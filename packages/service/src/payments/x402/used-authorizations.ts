import { usdcAbi } from '@agent-network/chain/usdc-abi';
import { parseEventLogs, type TransactionReceipt } from 'viem';
import type { Authorization } from './authorization.ts';

/** A transfer that an authorization caused, as the chain's logs tell. */
export interface UsedAuthorization {
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly to: string;
  readonly valueMicro: bigint;
}

export const authorizationKey = (a: Pick<Authorization, 'from' | 'nonce'>): string => `${a.from} ${a.nonce}`;

type Logs = TransactionReceipt['logs'];
const eventsOf = (token: string, logs: Logs) =>
  parseEventLogs({ abi: usdcAbi, logs: logs.filter((log) => log.address.toLowerCase() === token) });

/** Whether the token logs a transfer of this amount between these two. */
export const hasMoved = (
  token: string,
  logs: Logs,
  { from, to, valueMicro }: Pick<Authorization, 'from' | 'to' | 'valueMicro'>,
): boolean =>
  eventsOf(token, logs).some(
    ({ eventName, args }) =>
      eventName === 'Transfer' &&
      args.from.toLowerCase() === from &&
      args.to.toLowerCase() === to &&
      args.value === valueMicro,
  );

/** What authorizations moved, by their keys: each AuthorizationUsed with the Transfer that USDC logs right after it. */
export function usedIn(token: string, logs: Logs): Map<string, UsedAuthorization> {
  const used = new Map<string, UsedAuthorization>();
  const events = eventsOf(token, logs);
  for (const [index, event] of events.entries()) {
    const transfer = events[index + 1];
    if (event.eventName !== 'AuthorizationUsed' || transfer?.eventName !== 'Transfer') continue;
    used.set(authorizationKey({ from: event.args.authorizer.toLowerCase(), nonce: event.args.nonce.toLowerCase() }), {
      transactionHash: event.transactionHash,
      blockNumber: BigInt(event.blockNumber),
      blockHash: event.blockHash,
      to: transfer.args.to.toLowerCase(),
      valueMicro: transfer.args.value,
    });
  }
  return used;
}
