import { randomBytes } from 'node:crypto';
import { privateKeyToAccount } from 'viem/accounts';

type Hex = `0x${string}`;

/** Terms of a 402 of x402 version 2 (scheme `exact`). */
export interface Offer {
  readonly network: string;
  readonly amount: string;
  readonly asset: Hex;
  readonly payTo: Hex;
  readonly maxTimeoutSeconds: number;
  readonly extra: { readonly name: string; readonly version: string };
}

export interface SignedTransfer {
  readonly signature: Hex;
  readonly authorization: Record<'from' | 'to' | 'value' | 'validAfter' | 'validBefore' | 'nonce', string>;
}

const types = {
  TransferWithAuthorization: [
    { name: 'from', type: 'address' },
    { name: 'to', type: 'address' },
    { name: 'value', type: 'uint256' },
    { name: 'validAfter', type: 'uint256' },
    { name: 'validBefore', type: 'uint256' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

/** Signs this many transfers as `@x402/evm` does: EIP-3009, with viem, by each wallet in turn. */
export async function signTransfers(
  offer: Offer,
  keys: readonly Hex[],
  count: number,
): Promise<{ transfers: SignedTransfer[]; eachMs: number }> {
  const accounts = keys.map((key) => privateKeyToAccount(key));
  const { name, version } = offer.extra;
  const domain = { name, version, chainId: Number(offer.network.split(':')[1]), verifyingContract: offer.asset };
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + offer.maxTimeoutSeconds);
  const transfers: SignedTransfer[] = [];
  const startMs = performance.now();
  while (transfers.length < count) {
    const account = accounts[transfers.length % accounts.length];
    if (!account) throw new Error('nobody pays');
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
    const message = {
      from: account.address,
      to: offer.payTo,
      value: BigInt(offer.amount),
      validAfter: 0n,
      validBefore,
      nonce,
    };
    const signature = await account.signTypedData({ domain, types, primaryType: 'TransferWithAuthorization', message });
    const texts = { value: offer.amount, validAfter: '0', validBefore: validBefore.toString() };
    transfers.push({ signature, authorization: { ...message, ...texts } });
  }
  return { transfers, eachMs: (performance.now() - startMs) / count };
}
