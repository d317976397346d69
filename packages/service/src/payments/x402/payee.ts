import { getAddress, type Hex, zeroAddress } from 'viem';
import type { ChainInfo } from './chain-info.ts';

/** Why USDC must not be sent to an address; null when nothing speaks against it. What goes to the token itself is lost. */
export function payeeProblem(chain: Pick<ChainInfo, 'token' | 'wallet'>, to: string): string | null {
  const address = to.toLowerCase();
  if (address === zeroAddress) return 'is the zero address';
  if (address === chain.token) return 'is the address of the token';
  if (address === chain.wallet) return "is the node's own wallet";
  const digits = to.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return isMixed && getAddress(address as Hex) !== to ? 'has a wrong checksum (EIP-55): a digit is mistyped' : null;
}
