import fc from 'fast-check';
import { keccak256 as keccak256OfViem } from 'viem';
import { expect, it } from 'vitest';
import { keccak256 } from './keccak.ts';

it('hashes as viem does, whatever was hashed before', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1000 }), (bytes) => {
      expect(keccak256(bytes)).toBe(keccak256OfViem(bytes));
    }),
  );
});

it('hashes what is longer than a block of memory', () => {
  const bytes = new Uint8Array(100_000).fill(7);
  expect(keccak256(bytes)).toBe(keccak256OfViem(bytes));
});
