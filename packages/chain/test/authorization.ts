import { type Address, type Hex, hexToSignature, type PrivateKeyAccount } from 'viem';
import { generatePrivateKey } from 'viem/accounts';
import { LOCAL_CHAIN_ID, usdcByChain } from '../src/addresses.ts';

const USDC = usdcByChain[LOCAL_CHAIN_ID];

export type Authorization = {
  from: Address;
  to: Address;
  value: bigint;
  validAfter: bigint;
  validBefore: bigint;
  nonce: Hex;
};

const authorizationFields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;

export const types = {
  TransferWithAuthorization: authorizationFields,
  ReceiveWithAuthorization: authorizationFields,
  CancelAuthorization: [
    { name: 'authorizer', type: 'address' },
    { name: 'nonce', type: 'bytes32' },
  ],
} as const;

export const domain = { name: 'USDC', version: '2', chainId: LOCAL_CHAIN_ID, verifyingContract: USDC } as const;

/** An authorization that is open for the next hour, with a fresh nonce, changed as asked. */
export function openAuthorization(from: Address, to: Address, change: Partial<Authorization> = {}): Authorization {
  const validBefore = BigInt(Math.floor(Date.now() / 1000) + 3600);
  return { from, to, value: 10_000n, validAfter: 0n, validBefore, nonce: generatePrivateKey(), ...change };
}

export function signTransfer(
  signer: PrivateKeyAccount,
  message: Authorization,
  signedDomain: Partial<typeof domain> | Record<string, unknown> = domain,
): Promise<Hex> {
  return signer.signTypedData({ domain: signedDomain, types, primaryType: 'TransferWithAuthorization', message });
}

/** Arguments of the `bytes` forms. */
export function bytesArguments(authorization: Authorization, signature: Hex) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  return [from, to, value, validAfter, validBefore, nonce, signature] as const;
}

/** Arguments of the `v, r, s` forms. */
export function splitArguments(authorization: Authorization, signature: Hex) {
  const { from, to, value, validAfter, validBefore, nonce } = authorization;
  const { v, r, s } = hexToSignature(signature);
  return [from, to, value, validAfter, validBefore, nonce, Number(v), r, s] as const;
}
