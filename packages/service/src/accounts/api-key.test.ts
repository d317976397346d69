import { apiKeyPattern } from '@agent-network/contracts/access/access';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hashSecret, keyStart, newApiKey, parseApiKey } from './api-key.ts';

describe('an API key', () => {
  it('is recognised by its own checksum and gives its public id', () => {
    fc.assert(
      fc.property(fc.constantFrom('live' as const, 'test' as const), (mode) => {
        const { key, id } = newApiKey(mode);
        expect(key).toMatch(apiKeyPattern);
        expect(key.startsWith(`ank_${mode}_${id}_`)).toBe(true);
        expect(parseApiKey(key)).toBe(id);
      }),
    );
  });

  it('with any one character changed is not recognised', () => {
    const { key } = newApiKey('live');
    fc.assert(
      fc.property(fc.nat(key.length - 1), fc.stringMatching(/^[ -~]$/), (at, character) => {
        const changed = key.slice(0, at) + character + key.slice(at + 1);
        expect(parseApiKey(changed)).toBe(changed === key ? key.slice(9, 21) : null);
      }),
      { numRuns: 2_000 },
    );
  });

  it('with two neighbours swapped is not recognised', () => {
    const { key } = newApiKey('test');
    for (let at = 21; at < key.length - 1; at++) {
      const swapped = key.slice(0, at) + key[at + 1] + key[at] + key.slice(at + 2);
      if (swapped !== key) expect(parseApiKey(swapped)).toBeNull();
    }
  });

  it('is nothing like other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseApiKey(text)).toBeNull();
      }),
    );
  });

  it('is never made twice, and its start gives none of the secret away', () => {
    const keys = Array.from({ length: 200 }, () => newApiKey('test').key);
    expect(new Set(keys).size).toBe(200);
    for (const key of keys) expect(key.indexOf(keyStart(key)) + keyStart(key).length).toBeLessThanOrEqual(21);
  });

  it('is stored as 32 bytes that tell nothing of it', () => {
    const { key } = newApiKey('test');
    expect(hashSecret(key)).toHaveLength(32);
    expect(hashSecret(key)).toEqual(hashSecret(key));
    expect(hashSecret(key)).not.toEqual(hashSecret(`${key} `));
  });
});
