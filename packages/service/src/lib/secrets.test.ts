import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createSecrets } from './secrets.ts';

const secrets = createSecrets('a secret of at least thirty-two characters');
const others = createSecrets('another secret of at least thirty-two characters');
const text = fc.string({ unit: 'grapheme' });

describe('sealing', () => {
  it('keeps every text, and never looks the same twice', () => {
    fc.assert(
      fc.property(text, (said) => {
        expect(secrets.open(secrets.seal(said))).toBe(said);
        expect(secrets.seal(said).equals(secrets.seal(said))).toBe(false);
      }),
    );
  });

  it('shows nothing of the text', () =>
    expect(secrets.seal('identity-token').toString('latin1')).not.toContain('identity'));

  it('is not opened with another secret, nor when any bit was changed or it was cut', () => {
    const sealed = secrets.seal('text');
    expect(() => others.open(sealed)).toThrow();
    expect([others.openOrNull(sealed), secrets.openOrNull(sealed)]).toEqual([null, 'text']);
    for (let at = 0; at < sealed.length; at++) {
      const changed = Buffer.from(sealed);
      changed.writeUInt8(sealed.readUInt8(at) ^ 1, at);
      expect(() => secrets.open(changed)).toThrow();
      expect(() => secrets.open(sealed.subarray(0, at))).toThrow();
    }
  });

  it('opens in another process with the same secret', () => {
    const again = createSecrets('a secret of at least thirty-two characters');
    expect(again.open(secrets.seal('text'))).toBe('text');
  });
});

describe('authentication', () => {
  it('knows its own code, for its own purpose, parts and secret only', () => {
    fc.assert(
      fc.property(text, fc.array(text), text, fc.array(text), (purpose, parts, otherPurpose, otherParts) => {
        const code = secrets.authenticate(purpose, parts);
        expect(secrets.isAuthentic(purpose, parts, code)).toBe(true);
        expect(others.isAuthentic(purpose, parts, code)).toBe(false);
        const isSame = purpose === otherPurpose && JSON.stringify(parts) === JSON.stringify(otherParts);
        expect(secrets.isAuthentic(otherPurpose, otherParts, code)).toBe(isSame);
      }),
    );
  });

  it('tells parts apart however they are cut, joined or moved into the purpose', () => {
    const codes = [
      secrets.authenticate('p', ['ab', 'c']),
      secrets.authenticate('p', ['a', 'bc']),
      secrets.authenticate('p', ['abc']),
      secrets.authenticate('p', ['abc', '']),
      secrets.authenticate('p', ['a\n2:bc']),
      secrets.authenticate('p\n3:abc', []),
      secrets.authenticate('p', ['c', 'ab']),
    ];
    expect(new Set(codes).size).toBe(codes.length);
  });

  it('refuses codes of every other length and character without falling over', () => {
    const code = secrets.authenticate('p', []);
    for (const wrong of ['', code.slice(1), `${code}=`, 'é'.repeat(code.length), '\u0000'.repeat(code.length)])
      expect(secrets.isAuthentic('p', [], wrong)).toBe(false);
  });
});

describe('a change of the secret', () => {
  const both = createSecrets(
    'another secret of at least thirty-two characters',
    'a secret of at least thirty-two characters',
  );

  it('makes everything with the newest, and reads what the older ones made', () => {
    expect([both.open(secrets.seal('text')), others.open(both.seal('text'))]).toEqual(['text', 'text']);
    expect(both.authenticate('p', ['x'])).toBe(others.authenticate('p', ['x']));
    expect(both.isAuthentic('p', ['x'], secrets.authenticate('p', ['x']))).toBe(true);
    expect(both.codesOf('p', ['x'])).toEqual([others, secrets].map((each) => each.authenticate('p', ['x'])));
    expect([both.isRotating, secrets.isRotating]).toEqual([true, false]);
  });

  it('seals anew only what an older one sealed', () => {
    expect(others.open(both.sealAnew(secrets.seal('text')) as Buffer)).toBe('text');
    expect([both.sealAnew(others.seal('text')), others.sealAnew(secrets.seal('text'))]).toEqual([null, null]);
  });
});
