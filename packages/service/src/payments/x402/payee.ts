import { getAddress, type Hex } from 'viem';
import type { HasChain } from '../../chain/chain-info.ts';
import { openAddressReason } from './open-addresses.ts';

/** The node's own addresses: its wallet, and the keys that only send transactions. */
export interface KnowsOwn extends HasChain {
  readonly senders: readonly { readonly address: string }[];
  readonly registrar: { readonly address: string } | null;
}

/**
 * The reason that USDC must not be sent to an address; null when there is none. USDC sent to the token is lost, USDC sent to a key of the
 * node would be the node's without being booked, and USDC sent to an open contract can be taken by anyone.
 */
export function payeeProblem({ chain, senders, registrar }: KnowsOwn, to: string): string | null {
  const address = to.toLowerCase();
  if (address === chain.token) return 'is the address of the token';
  if (address === chain.wallet) return "is the node's own wallet";
  if ([registrar, ...senders].some((key) => key?.address === address)) return "is one of the node's own keys";
  const reason = openAddressReason(address);
  if (reason) return reason;
  const digits = to.slice(2);
  const isMixed = digits !== digits.toLowerCase() && digits !== digits.toUpperCase();
  return isMixed && getAddress(address as Hex) !== to ? 'has a wrong checksum (EIP-55): a digit is mistyped' : null;
}
