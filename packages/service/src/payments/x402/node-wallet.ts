import secp256k1 from 'secp256k1';
import { hashMessage, hexToBytes, keccak256, serializeTransaction, stringToBytes } from 'viem';
import { type Authorization, addressOf, authorizationDigest, signDigest } from './authorization.ts';

type Hex = `0x${string}`;

/** A key that sends transactions and pays their gas. It never leaves this closure. */
export interface Sender {
  /** Lower case. */
  readonly address: string;
  signTransaction(transaction: UnsignedTransaction): { raw: Hex; hash: Hex };
}

/** The key that receives payments and signs what the node pays out; it can send as well. */
export interface NodeWallet extends Sender {
  signAuthorization(domainSeparator: Hex, authorization: Authorization): Hex;
  /** Signs a text as wallets do (EIP-191). */
  signText(text: string): Hex;
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

export const createNodeWallet = (privateKey: Hex): NodeWallet => ({
  ...createSender(privateKey),
  signAuthorization: (domainSeparator, authorization) =>
    signDigest(authorizationDigest(domainSeparator, authorization), privateKey),
  signText: (text) => signDigest(hashMessage(text), privateKey),
});

export function createSender(privateKey: Hex): Sender {
  const publicKey = secp256k1.publicKeyCreate(hexToBytes(privateKey), false);
  return {
    address: addressOf(publicKey),
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

/** A stand-in for the nonce that a plain transfer lacks: the same transfer always gets the same one. */
export const transferNonce = (chainId: number, transactionHash: string, ordinal: number): string =>
  keccak256(stringToBytes(`agent-network:${chainId}:transfer:${transactionHash}:${ordinal}`));

/** Another stand-in, for a transfer that was reversed and is in a block again; given the nonce of the payment that was reversed. */
export const nonceOfReturned = (nonce: string): string => keccak256(stringToBytes(`agent-network:returned:${nonce}`));
