import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import type { Eip1193Provider } from './injected-wallets.ts';

const BALANCE_OF = '0x70a08231';

/** USDC balance of the address as the wallet reads it from the chain; null when it cannot. */
async function balanceMicro(provider: Eip1193Provider, usdc: string, address: string): Promise<bigint | null> {
  const data = `${BALANCE_OF}${address.slice(2).toLowerCase().padStart(64, '0')}`;
  const answer = await provider
    .request({ method: 'eth_call', params: [{ to: usdc, data }, 'latest'] })
    .catch(() => undefined);
  return typeof answer === 'string' && /^0x[0-9a-f]{1,64}$/i.test(answer) ? BigInt(answer) : null;
}

/** Throws when the wallet holds less than the amount, so that it does not sign an uncovered payment. The node makes the final check. */
export async function requireUsdc(
  provider: Eip1193Provider,
  address: string,
  { usdc, amount }: { usdc: string; amount: string },
): Promise<void> {
  const held = await balanceMicro(provider, usdc, address);
  if (held === null || held >= parseUsdc(amount)) return;
  throw new Error(
    `The wallet ${address} holds ${formatUsdc(held)} USDC, but ${amount} is needed. Send USDC to it, or pay from the treasury. Nothing was signed.`,
  );
}
