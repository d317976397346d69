import secp256k1 from 'secp256k1';
import { hexToBytes, keccak256, serializeTransaction, stringToBytes } from 'viem';
import { type Authorization, authorizationDigest, signDigest } from './authorization.ts';

type Hex = `0x${string}`;

/** The key that receives payments, signs what the node pays out, and pays the gas. The key never leaves this closure. */
export interface NodeWallet {
  /** Lower case. */
  readonly address: string;
  signAuthorization(domainSeparator: Hex, authorization: Authorization): Hex;
  signTransaction(transaction: UnsignedTransaction): { raw: Hex; hash: Hex };
}

export interface HasWallet {
  readonly wallet: NodeWallet;
}

export interface UnsignedTransaction {
  readonly chainId: number;
  readonly nonce: bigint;
  readonly to: Hex;
  readonly data: Hex;
  readonly gas: bigint;
  readonly maxFeePerGas: bigint;
  readonly maxPriorityFeePerGas: bigint;
}

export function createNodeWallet(privateKey: Hex): NodeWallet {
  const publicKey = secp256k1.publicKeyCreate(hexToBytes(privateKey), false);
  return {
    address: `0x${keccak256(publicKey.subarray(1)).slice(-40)}`,
    signAuthorization: (domainSeparator, authorization) =>
      signDigest(authorizationDigest(domainSeparator, authorization), privateKey),
    signTransaction(transaction) {
      const unsigned = { ...transaction, type: 'eip1559' as const, nonce: Number(transaction.nonce) };
      const signature = signDigest(keccak256(serializeTransaction(unsigned)), privateKey);
      const raw = serializeTransaction(unsigned, {
        r: signature.slice(0, 66) as Hex,
        s: `0x${signature.slice(66, 130)}`,
        yParity: Number.parseInt(signature.slice(130), 16) - 27,
      });
      return { raw, hash: keccak256(raw) };
    },
  };
}

/** The nonce of an outgoing authorization: the same cause always gets the same one, so the token pays it once at most. */
export const payoutNonce = (chainId: number, purpose: string, subjectId: string): string =>
  keccak256(stringToBytes(`agent-network:${chainId}:${purpose}:${subjectId}`));
