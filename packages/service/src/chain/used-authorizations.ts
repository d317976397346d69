import type { TransactionReceipt } from 'viem';
import type { Authorization } from './authorization.ts';
import { usdcEventsOf } from './usdc-events.ts';

/** A transfer caused by an authorization, according to the chain's logs. */
export interface UsedAuthorization {
  readonly transactionHash: string;
  readonly blockNumber: bigint;
  readonly blockHash: string;
  readonly to: string;
  readonly valueMicro: bigint;
}

export const authorizationKey = (a: Pick<Authorization, 'from' | 'nonce'>): string => `${a.from} ${a.nonce}`;

type Logs = TransactionReceipt['logs'];

/** True if the token logs a transfer of this amount between these two addresses. */
export const hasMoved = (
  token: string,
  logs: Logs,
  { from, to, valueMicro }: Pick<Authorization, 'from' | 'to' | 'valueMicro'>,
): boolean =>
  usdcEventsOf(token, logs).some(
    (event) => event.kind === 'transfer' && event.from === from && event.to === to && event.valueMicro === valueMicro,
  );

/** Transfers caused by authorizations, by authorization key: each AuthorizationUsed with the Transfer that USDC logs right after it. */
export function usedIn(token: string, logs: Logs): Map<string, UsedAuthorization> {
  const used = new Map<string, UsedAuthorization>();
  const events = usdcEventsOf(token, logs);
  for (const [index, event] of events.entries()) {
    const transfer = events[index + 1];
    if (event.kind !== 'authorization used' || transfer?.kind !== 'transfer' || transfer.from !== event.from) continue;
    const { transactionHash, blockNumber, blockHash } = event.log;
    used.set(authorizationKey(event), {
      transactionHash,
      blockNumber: BigInt(blockNumber),
      blockHash,
      to: transfer.to,
      valueMicro: transfer.valueMicro,
    });
  }
  return used;
}
