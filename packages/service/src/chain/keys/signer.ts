import { hashMessage, serializeTransaction } from 'viem';
import { hashAuthorization } from 'viem/utils';
import { keccak256 } from '../../lib/keccak.ts';

type Hex = `0x${string}`;

/**
 * A secp256k1 key of the node. The private key may be in another process or device, so a signature can take seconds, or fail. The node
 * signs only hashes with such a key: of a transaction, of typed data (EIP-712) or of a text (EIP-191).
 */
export interface Signer {
  /** Lower case. */
  readonly address: string;
  /** 65 bytes: r, s in the lower half of the group's order, v of 27 or 28. */
  signHash(hash: Hex): Promise<Hex>;
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

/** Signs a transaction: its raw bytes, and the hash that the chain knows it by. */
export async function signTransaction(
  signer: Signer,
  { delegateTo, ...transaction }: UnsignedTransaction,
): Promise<{ raw: Hex; hash: Hex }> {
  const common = { ...transaction, nonce: Number(transaction.nonce) };
  const unsigned =
    delegateTo === undefined
      ? { ...common, type: 'eip1559' as const }
      : {
          ...common,
          type: 'eip7702' as const,
          authorizationList: [await signDelegation(signer, common, delegateTo)],
        };
  const signature = await signer.signHash(hashOfTransaction(serializeTransaction(unsigned)));
  const raw = serializeTransaction(unsigned, partsOf(signature));
  return { raw, hash: hashOfTransaction(raw) };
}

/** Signs a text as wallets do (EIP-191). */
export const signText = (signer: Signer, text: string): Promise<Hex> => signer.signHash(hashMessage(text));

/** Transaction hash of raw bytes. */
export const hashOfTransaction = (raw: Hex): Hex => keccak256(Buffer.from(raw.slice(2), 'hex'));

const partsOf = (signature: Hex) => ({
  r: signature.slice(0, 66) as Hex,
  s: `0x${signature.slice(66, 130)}` as const,
  yParity: Number.parseInt(signature.slice(130), 16) - 27,
});

/** Signs an EIP-7702 delegation. In a transaction of the key itself, its nonce is one higher than the transaction's. */
async function signDelegation(signer: Signer, { chainId, nonce }: { chainId: number; nonce: number }, address: Hex) {
  const delegation = { chainId, address, nonce: nonce + 1 };
  return { ...delegation, ...partsOf(await signer.signHash(hashAuthorization(delegation))) };
}

/** The holder of a key's open transaction, and the expiry until which others leave it alone (by the database's clock). */
export interface Lease {
  readonly holder: string;
  readonly leaseMs: number;
}

/** Longer than the interval between fee bumps, so that a live holder never loses its lease. */
export const LEASE_MS = 10_000;
