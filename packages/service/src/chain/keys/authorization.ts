import secp256k1 from 'secp256k1';
import { keccak256 } from '../../lib/keccak.ts';
import { addressWord, hashOf, typedDigest, typeHash, word } from '../../lib/typed-digest.ts';

type Hex = `0x${string}`;

/** An EIP-3009 TransferWithAuthorization; addresses and nonce in lower case, times in seconds. */
export interface Authorization {
  readonly from: string;
  readonly to: string;
  readonly valueMicro: bigint;
  readonly validAfterS: bigint;
  readonly validBeforeS: bigint;
  readonly nonce: string;
}

/**
 * Maximum validity of a wallet's authorization. No x402 client signs for longer; one without an end would have to be watched for ever, and
 * the search for its use on chain goes back this far before a payment.
 */
export const MAX_AUTHORIZATION_WINDOW_S = 86_400n;

const FIELDS = '(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)';
const TRANSFER = typeHash(`TransferWithAuthorization${FIELDS}`);
const RECEIVE = typeHash(`ReceiveWithAuthorization${FIELDS}`);

/** The EIP-712 digest that the payer signs (EIP-3009). */
export const authorizationDigest = (domainSeparator: Hex, authorization: Authorization): Hex =>
  digestOf(TRANSFER, domainSeparator, authorization);

/** Digest of a payment that only its receiver may submit: a deposit, received by the channels' collector. */
export const receiveAuthorizationDigest = (domainSeparator: Hex, authorization: Authorization): Hex =>
  digestOf(RECEIVE, domainSeparator, authorization);

function digestOf(type: Hex, domainSeparator: Hex, authorization: Authorization): Hex {
  const struct = hashOf(
    type,
    addressWord(authorization.from),
    addressWord(authorization.to),
    word(authorization.valueMicro),
    word(authorization.validAfterS),
    word(authorization.validBeforeS),
    authorization.nonce,
  );
  return typedDigest(domainSeparator, struct);
}

/** Half the order of secp256k1's group. USDC accepts only signatures with an s up to it. */
const HALF_ORDER = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;

/** Splits a 65-byte signature into r, s and v; null for a signature that USDC rejects (v must be 27 or 28, s in the lower half). */
export function splitSignature(signature: string): { r: Hex; s: Hex; v: 27 | 28 } | null {
  if (!/^0x[0-9a-fA-F]{130}$/.test(signature)) return null;
  const v = Number.parseInt(signature.slice(130), 16);
  if (v !== 27 && v !== 28) return null;
  if (BigInt(`0x${signature.slice(66, 130)}`) > HALF_ORDER) return null;
  return { r: `0x${signature.slice(2, 66)}`, s: `0x${signature.slice(66, 130)}`, v };
}

/**
 * A key's signature in the form that USDC and the channel contract accept: 65 bytes, v of 27 or 28. Wallets also write 0 or 1 for v, and v
 * as the first bit of s (64 bytes, EIP-2098). Others are unchanged. Lower case.
 */
export function strictForm(signature: string): string {
  if (/^0x[0-9a-f]{128}0[01]$/.test(signature))
    return `${signature.slice(0, 130)}${signature.endsWith('0') ? '1b' : '1c'}`;
  if (!/^0x[0-9a-f]{128}$/.test(signature)) return signature;
  const parityAndS = BigInt(`0x${signature.slice(66)}`);
  const s = word(parityAndS & ((1n << 255n) - 1n)).slice(2);
  return `${signature.slice(0, 66)}${s}${parityAndS >> 255n === 0n ? '1b' : '1c'}`;
}

/** The address of an uncompressed public key, lower case. */
export const addressOf = (publicKey: Uint8Array): string => `0x${keccak256(publicKey.subarray(1)).slice(-40)}`;

/** Recovers the signer's address, lower case; null for a signature that USDC does not accept from a key. */
export function signerOf(digest: Hex, signature: string): string | null {
  const parts = splitSignature(signature);
  if (!parts) return null;
  try {
    return addressOf(secp256k1.ecdsaRecover(bytesOf(signature.slice(0, 130)), parts.v - 27, bytesOf(digest), false));
  } catch {
    return null;
  }
}

/** Converts hex to bytes. It is on the path of every paid call, and viem's conversions take some microseconds each. */
const bytesOf = (hex: string): Buffer => Buffer.from(hex.slice(2), 'hex');
