import secp256k1 from 'secp256k1';
import { hashMessage, hexToBytes, serializeTransaction } from 'viem';
import { hashAuthorization } from 'viem/utils';
import { keccak256 } from '../lib/keccak.ts';
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
  /** The contract whose code the sending key is to act by, from this transaction on (EIP-7702). */
  readonly delegateTo?: Hex | undefined;
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
    signTransaction({ delegateTo, ...transaction }) {
      const common = { ...transaction, nonce: Number(transaction.nonce) };
      const unsigned =
        delegateTo === undefined
          ? { ...common, type: 'eip1559' as const }
          : {
              ...common,
              type: 'eip7702' as const,
              authorizationList: [signDelegation(common, delegateTo, privateKey)],
            };
      const digest = hashOfTransaction(serializeTransaction(unsigned));
      const raw = serializeTransaction(unsigned, partsOf(signDigest(digest, privateKey)));
      return { raw, hash: hashOfTransaction(raw) };
    },
  };
}

/** What a transaction is known by: the hash of its bytes. */
export const hashOfTransaction = (raw: Hex): Hex => keccak256(Buffer.from(raw.slice(2), 'hex'));

const partsOf = (signature: Hex) => ({
  r: signature.slice(0, 66) as Hex,
  s: `0x${signature.slice(66, 130)}` as const,
  yParity: Number.parseInt(signature.slice(130), 16) - 27,
});

/** Within a key's own transaction its nonce is one higher by then (EIP-7702). */
function signDelegation({ chainId, nonce }: { chainId: number; nonce: number }, address: Hex, privateKey: Hex) {
  const delegation = { chainId, address, nonce: nonce + 1 };
  return { ...delegation, ...partsOf(signDigest(hashAuthorization(delegation), privateKey)) };
}

/** The nonce of an outgoing authorization: the same cause always gets the same one, so the token pays it once at most. */
export const payoutNonce = (chainId: number, purpose: string, subjectId: string): string =>
  keccak256(Buffer.from(`agent-network:${chainId}:${purpose}:${subjectId}`));

/** A stand-in for the nonce that a plain transfer lacks: the same transfer always gets the same one. */
export const transferNonce = (chainId: number, transactionHash: string, ordinal: number): string =>
  keccak256(Buffer.from(`agent-network:${chainId}:transfer:${transactionHash}:${ordinal}`));

/** Another stand-in, for a transfer that was reversed and is in a block again; given the nonce of the payment that was reversed. */
export const nonceOfReturned = (nonce: string): string => keccak256(Buffer.from(`agent-network:returned:${nonce}`));
