import { formatUsdc, parseUsdc, usdcPattern } from '@agent-network/contracts/money';

/** Calls that the usual deposit pays for. */
const USUAL_CALLS = 10n;

export const usualDeposit = (price: string): string => formatUsdc(parseUsdc(price) * USUAL_CALLS);

export interface ChannelPlan {
  /** Remaining amount of the channel, in USDC. */
  readonly left: string;
  readonly needsDeposit: boolean;
  /** Problem of this deposit; undefined: none. */
  readonly problem: string | undefined;
}

/** Throws while the channel's balance is unknown, as the wallet would sign a deposit that the user has not seen. */
export function knownChannel<Channel>(found: Channel | null | undefined): Channel | null {
  if (found === undefined) throw new Error("It isn't known yet what the wallet's channel holds. Nothing was signed.");
  return found;
}

/** The signatures that a call by channel needs from the wallet. `channel` null: there is none yet. */
export function planOf(
  price: string,
  deposit: string,
  channel: { readonly balance: string; readonly charged: string } | null,
): ChannelPlan {
  const leftMicro = channel ? parseUsdc(channel.balance) - parseUsdc(channel.charged) : 0n;
  const missingMicro = parseUsdc(price) - leftMicro;
  const left = formatUsdc(leftMicro > 0n ? leftMicro : 0n);
  if (missingMicro <= 0n) return { left, needsDeposit: false, problem: undefined };
  return { left, needsDeposit: true, problem: problemOf(deposit.trim(), missingMicro) };
}

function problemOf(deposit: string, missingMicro: bigint): string | undefined {
  if (!usdcPattern.test(deposit)) return 'must be an amount of USDC with at most 6 decimals';
  return parseUsdc(deposit) < missingMicro ? `must be at least ${formatUsdc(missingMicro)} USDC` : undefined;
}
