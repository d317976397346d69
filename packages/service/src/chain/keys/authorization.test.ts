import fc from 'fast-check';
import { domainSeparator, type Hex, hashTypedData, recoverAddress } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { describe, expect, it } from 'vitest';
import { authorizationDigest, receiveAuthorizationDigest, splitSignature } from './authorization.ts';
import { signDigest } from './local-signer.ts';

const fields = [
  { name: 'from', type: 'address' },
  { name: 'to', type: 'address' },
  { name: 'value', type: 'uint256' },
  { name: 'validAfter', type: 'uint256' },
  { name: 'validBefore', type: 'uint256' },
  { name: 'nonce', type: 'bytes32' },
] as const;
const types = { TransferWithAuthorization: fields, ReceiveWithAuthorization: fields } as const;

const hexOf = (bytes: number) =>
  fc
    .uint8Array({ minLength: bytes, maxLength: bytes })
    .map((array) => `0x${Buffer.from(array).toString('hex')}` as Hex);
const uint256 = fc.bigInt(0n, 2n ** 256n - 1n);
const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const privateKey = fc.bigInt(1n, ORDER - 1n).map((key) => `0x${key.toString(16).padStart(64, '0')}` as Hex);

describe('the digest of an authorization', () => {
  it('is that of viem, for every domain and every message', () => {
    const domain = fc.record({
      name: fc.string(),
      version: fc.string(),
      chainId: fc.nat(),
      verifyingContract: hexOf(20),
    });
    const message = fc.record({
      from: hexOf(20),
      to: hexOf(20),
      value: uint256,
      validAfter: uint256,
      validBefore: uint256,
      nonce: hexOf(32),
    });
    fc.assert(
      fc.property(domain, message, (inDomain, said) => {
        const { value: valueMicro, validAfter: validAfterS, validBefore: validBeforeS, ...rest } = said;
        const ours = { ...rest, valueMicro, validAfterS, validBeforeS };
        const signed = { domain: inDomain, types, message: said };
        const separator = domainSeparator({ domain: inDomain });
        expect(authorizationDigest(separator, ours)).toBe(
          hashTypedData({ ...signed, primaryType: 'TransferWithAuthorization' }),
        );
        expect(receiveAuthorizationDigest(separator, ours)).toBe(
          hashTypedData({ ...signed, primaryType: 'ReceiveWithAuthorization' }),
        );
      }),
    );
  });
});

describe('a signature', () => {
  it('that we make is of the key, has a low s, and is taken apart into what it was made of', async () => {
    await fc.assert(
      fc.asyncProperty(hexOf(32), privateKey, async (digest, key) => {
        const signature = signDigest(digest, key);
        expect(await recoverAddress({ hash: digest, signature })).toBe(privateKeyToAccount(key).address);
        const parts = splitSignature(signature);
        expect(BigInt(parts?.s ?? 0)).toBeLessThanOrEqual(ORDER / 2n);
        expect(`${parts?.r}${parts?.s.slice(2)}${parts?.v.toString(16)}`).toBe(signature);
      }),
      { numRuns: 50 },
    );
  });

  it('with a high s is not taken apart: the token refuses it', () => {
    fc.assert(
      fc.property(hexOf(32), privateKey, (digest, key) => {
        const good = signDigest(digest, key);
        const highS = (ORDER - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, '0');
        expect(splitSignature(`${good.slice(0, 66)}${highS}${good.slice(130)}`)).toBeNull();
      }),
      { numRuns: 50 },
    );
  });

  const good = signDigest(`0x${'01'.repeat(32)}`, `0x${'02'.repeat(32)}`);
  const max = 'f'.repeat(64);
  it.each([
    ['0x', '0x'],
    ['64 bytes', good.slice(0, 130)],
    ['66 bytes', `${good}00`],
    ['v of 0', `${good.slice(0, 130)}00`],
    ['v of 1', `${good.slice(0, 130)}01`],
    ['v of 29', `${good.slice(0, 130)}1d`],
    ['no hex', `0x${'zz'.repeat(65)}`],
    ['s of zero and r of zero', `0x${'0'.repeat(128)}1b`],
    ['s beyond the order', `${good.slice(0, 66)}${max}1b`],
    ['r beyond the order', `0x${max}${good.slice(66, 130)}1b`],
  ])('of %s is either refused or left to the token, but never throws', (_what, signature) => {
    const parts = splitSignature(signature);
    if (parts) expect(BigInt(parts.s)).toBeLessThanOrEqual(ORDER / 2n);
  });
});
