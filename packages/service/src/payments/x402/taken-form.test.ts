import {
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  signatureToCompactSignature,
} from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { signDigest } from '../../chain/keys/local-signer.ts';
import { takenForm } from './read-presented-payment.ts';

const digest = `0x${'5a'.repeat(32)}` as const;

/** Keys of both parities of v. */
const keys = Array.from({ length: 12 }, generatePrivateKey);

describe('the signature of a key is taken', () => {
  it.each(keys)('with v as 27 and 28 or 0 and 1, and with both in one (EIP-2098)', (key) => {
    const wallet = privateKeyToAccount(key).address.toLowerCase();
    const strict = signDigest(digest, key);
    const lowV = `${strict.slice(0, 130)}${strict.endsWith('1b') ? '00' : '01'}`;
    const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(strict)));
    for (const shown of [strict, lowV, compact])
      expect(takenForm(wallet, digest, shown)).toEqual({ signature: strict, isWrapped: false });
  });

  it.each(keys)('out of a wrapper of ERC-6492', (key) => {
    const wallet = privateKeyToAccount(key).address.toLowerCase();
    const strict = signDigest(digest, key);
    const lowV = `0x${strict.slice(2, 130)}${strict.endsWith('1b') ? '00' : '01'}` as const;
    for (const signature of [strict, lowV]) {
      const wrapped = serializeErc6492Signature({ address: `0x${'ab'.repeat(20)}`, data: '0x1234', signature });
      expect(takenForm(wallet, digest, wrapped)).toEqual({ signature: strict, isWrapped: true });
    }
  });
});

it('what a key did not sign for this wallet stays as it is: to a contract, the same bytes mean something else', () => {
  const contract = `0x${'cc'.repeat(20)}`;
  const [key = '0x'] = keys;
  const lowV = `${signDigest(digest, key).slice(0, 130)}00`;
  const texts = [lowV, lowV.slice(0, 130), '0x', '0x00', `0x${'ab'.repeat(4096)}`, `0x${'64926492'.repeat(8)}`];
  for (const shown of texts) expect(takenForm(contract, digest, shown)).toEqual({ signature: shown, isWrapped: false });
});
