import type { TransactionReceipt } from 'viem';
import { DEPOSIT_COLLECTOR, SETTLEMENT_CONTRACT } from './channels/channel-calls.ts';
import { channelEventOf } from './channels/channel-events.ts';
import type { Authorization } from './keys/authorization.ts';
import { type UsdcEvent, usdcEventsOf } from './usdc-events.ts';

/** A block, as identified by a log or a receipt. */
export interface BlockReference {
  readonly blockNumber: bigint;
  readonly blockHash: string;
}

/** A transfer caused by an authorization, according to the chain's logs. */
export interface UsedAuthorization extends BlockReference {
  readonly transactionHash: string;
  readonly to: string;
  readonly valueMicro: bigint;
  /** The channel that its money was deposited in; null: none. */
  readonly channelId: string | null;
}

export const authorizationKey = (a: Pick<Authorization, 'from' | 'nonce'>): string => `${a.from} ${a.nonce}`;

type Logs = TransactionReceipt['logs'];

/** True if one of these was a deposit of this wallet in this channel. */
export const hasDeposited = (used: ReadonlyMap<string, UsedAuthorization>, from: string, channelId: string): boolean =>
  [...used].some(
    ([key, each]) => each.channelId === channelId && key.startsWith(authorizationKey({ from, nonce: '' })),
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
      channelId: transfer.to === DEPOSIT_COLLECTOR ? channelOf(logs, transfer, events[index + 2]) : null,
    });
  }
  return used;
}

/**
 * The channel of a deposit: the collector forwards its money at once, and the next event is the deposit of exactly as much. Money sent to
 * the collector in any other way is in no channel, even if the same transaction makes deposits too.
 */
function channelOf(
  logs: Logs,
  taken: UsdcEvent<Logs[number]> & { kind: 'transfer' },
  forwarded: UsdcEvent<Logs[number]> | undefined,
): string | null {
  if (forwarded?.kind !== 'transfer' || forwarded.from !== DEPOSIT_COLLECTOR || forwarded.to !== SETTLEMENT_CONTRACT)
    return null;
  const after = logs.slice(logs.indexOf(forwarded.log) + 1).find((log) => channelEventOf(log) !== null);
  const event = after && channelEventOf(after);
  const isSame = forwarded.valueMicro === taken.valueMicro;
  return isSame && event?.kind === 'deposited' && event.amountMicro === taken.valueMicro ? event.channelId : null;
}
