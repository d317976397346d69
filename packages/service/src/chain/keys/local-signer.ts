import secp256k1 from 'secp256k1';
import { addressOf } from './authorization.ts';
import type { Signer } from './signer.ts';

type Hex = `0x${string}`;

/** A signer with a private key in this process. The key never leaves this closure. */
export const createLocalSigner = (privateKey: Hex): Signer => ({
  address: addressOf(secp256k1.publicKeyCreate(bytesOf(privateKey), false)),
  signHash: async (hash) => signDigest(hash, privateKey),
});

/** Signs a digest with a private key; 65 bytes, s in the lower half. */
export function signDigest(digest: Hex, privateKey: Hex): Hex {
  const { signature, recid } = secp256k1.ecdsaSign(bytesOf(digest), bytesOf(privateKey));
  return `0x${Buffer.from(signature).toString('hex')}${(27 + recid).toString(16)}`;
}

/** viem's conversions take some microseconds each. */
const bytesOf = (hex: Hex): Buffer => Buffer.from(hex.slice(2), 'hex');
