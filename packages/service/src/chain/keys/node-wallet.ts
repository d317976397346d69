import type { PaymentReceipt } from '@agent-network/contracts/payments/receipt-types';
import type { InvocationReceipt } from '@agent-network/contracts/payments/receipts';
import secp256k1 from 'secp256k1';
import { hashMessage, hexToBytes, serializeTransaction } from 'viem';
import { hashAuthorization } from 'viem/utils';
import { keccak256 } from '../../lib/keccak.ts';
import { type Authorization, addressOf, authorizationDigest, signDigest } from '../signatures/authorization.ts';
import { invocationReceiptDigest, paymentReceiptDigest } from '../signatures/receipt-digests.ts';

type Hex = `0x${string}`;

/** A key that sends transactions and pays their gas. The private key never leaves this closure. */
export interface Sender {
  /** Lower case. */
  readonly address: string;
  signTransaction(transaction: UnsignedTransaction): { raw: Hex; hash: Hex };
}

/** The key that receives payments and signs payouts; it can also send transactions. */
export interface NodeWallet extends Sender {
  signAuthorization(domainSeparator: Hex, authorization: Authorization): Hex;
  /** Signs what the settlement contract asks of the receiver's authorizer: claims and refunds of channels (EIP-712). */
  signForChannels(digest: Hex): Hex;
  /** Signs claims and refunds of channels by their digests (EIP-712). */
  signDigest(digest: Hex): Hex;
  /** Signs a text as a wallet does (EIP-191). */
  signText(text: string): Hex;
  /** Signs what is known of a request that has ended: a type and a domain that no contract takes. */
  signInvocationReceipt(chainId: number, receipt: InvocationReceipt): Hex;
  /** The same for the receipt of an x402 payment. */
  signPaymentReceipt(receipt: PaymentReceipt): Hex;
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
  /** Contract to which the sending key delegates from this transaction on (EIP-7702). */
  readonly delegateTo?: Hex | undefined;
}

export const createNodeWallet = (privateKey: Hex): NodeWallet => ({
  ...createSender(privateKey),
  signAuthorization: (domainSeparator, authorization) =>
    signDigest(authorizationDigest(domainSeparator, authorization), privateKey),
  signForChannels: (digest) => signDigest(digest, privateKey),
  signDigest: (digest) => signDigest(digest, privateKey),
  signText: (text) => signDigest(hashMessage(text), privateKey),
  signInvocationReceipt: (chainId, receipt) => signDigest(invocationReceiptDigest(chainId, receipt), privateKey),
  signPaymentReceipt: (receipt) => signDigest(paymentReceiptDigest(receipt), privateKey),
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

/** Transaction hash of raw bytes. */
export const hashOfTransaction = (raw: Hex): Hex => keccak256(Buffer.from(raw.slice(2), 'hex'));

const partsOf = (signature: Hex) => ({
  r: signature.slice(0, 66) as Hex,
  s: `0x${signature.slice(66, 130)}` as const,
  yParity: Number.parseInt(signature.slice(130), 16) - 27,
});

/** Signs an EIP-7702 delegation. In a transaction of the key itself, its nonce is one higher than the transaction's. */
function signDelegation({ chainId, nonce }: { chainId: number; nonce: number }, address: Hex, privateKey: Hex) {
  const delegation = { chainId, address, nonce: nonce + 1 };
  return { ...delegation, ...partsOf(signDigest(hashAuthorization(delegation), privateKey)) };
}

/** Deterministic nonce of a payout authorization: the same purpose and subject give the same nonce, so the token pays it at most once. */
export const payoutNonce = (chainId: number, purpose: string, subjectId: string): string =>
  keccak256(Buffer.from(`agent-network:${chainId}:${purpose}:${subjectId}`));

/** Deterministic substitute nonce of a plain transfer, which has none of its own. */
export const transferNonce = (chainId: number, transactionHash: string, ordinal: number): string =>
  keccak256(Buffer.from(`agent-network:${chainId}:transfer:${transactionHash}:${ordinal}`));

/** Substitute nonce of a transfer that was reversed and mined again, derived from the reversed payment's nonce. */
export const nonceOfReturned = (nonce: string): string => keccak256(Buffer.from(`agent-network:returned:${nonce}`));
