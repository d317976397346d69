import { type Hex, toEventSelector } from 'viem';

/** A log as an RPC node returns it. */
export interface TokenLog {
  readonly address: string;
  readonly topics: readonly string[];
  readonly data: string;
}

/** A USDC event that moves money; addresses and nonces in lower case. */
export type UsdcEvent<Log extends TokenLog = TokenLog> =
  | {
      readonly kind: 'transfer';
      readonly log: Log;
      readonly from: string;
      readonly to: string;
      readonly valueMicro: bigint;
    }
  | { readonly kind: 'authorization used'; readonly log: Log; readonly from: string; readonly nonce: string };

const TRANSFER: Hex = toEventSelector('Transfer(address,address,uint256)');
const USED: Hex = toEventSelector('AuthorizationUsed(address,bytes32)');
const WORD = 66;

/**
 * The token's money-moving events, in log order; other events are left out. Decoded by position, because a settlement has hundreds of them
 * and a general decoder hashes each event's signature again for every log.
 */
export const usdcEventsOf = <Log extends TokenLog>(token: string, logs: readonly Log[]): UsdcEvent<Log>[] =>
  logs.flatMap((log) => (log.address.toLowerCase() === token ? (toEvent(log) ?? []) : []));

function toEvent<Log extends TokenLog>(log: Log): UsdcEvent<Log> | null {
  const [selector, first, second] = log.topics;
  if (first === undefined || second === undefined || log.topics.length !== 3) return null;
  if (selector === TRANSFER && log.data.length === WORD)
    return { kind: 'transfer', log, from: addressIn(first), to: addressIn(second), valueMicro: BigInt(log.data) };
  if (selector === USED)
    return { kind: 'authorization used', log, from: addressIn(first), nonce: second.toLowerCase() };
  return null;
}

const addressIn = (topic: string): string => `0x${topic.slice(-40).toLowerCase()}`;
