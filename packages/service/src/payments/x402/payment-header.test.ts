import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/app-error.ts';
import { readPaymentHeader } from './payment-header.ts';

const payload = {
  signature: `0x${'AB'.repeat(65)}`,
  authorization: {
    from: `0x${'Aa'.repeat(20)}`,
    to: `0x${'Bb'.repeat(20)}`,
    value: '50000',
    validAfter: '0',
    validBefore: '1795255500',
    nonce: `0x${'Cc'.repeat(32)}`,
  },
};
const accepted = {
  scheme: 'exact',
  network: 'eip155:84532',
  amount: '50000',
  asset: payload.authorization.to,
  payTo: payload.authorization.to,
  maxTimeoutSeconds: 300,
};
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const v2 = encode({ x402Version: 2, accepted, payload });
const v1 = encode({ x402Version: 1, scheme: 'exact', network: 'base-sepolia', payload });

const read = {
  signature: payload.signature.toLowerCase(),
  authorization: {
    from: `0x${'aa'.repeat(20)}`,
    to: `0x${'bb'.repeat(20)}`,
    valueMicro: 50_000n,
    validAfterS: 0n,
    validBeforeS: 1_795_255_500n,
    nonce: `0x${'cc'.repeat(32)}`,
  },
  identifier: null,
};

describe('a payment header', () => {
  it('of either version is folded into one form, all in lower case', () => {
    expect(readPaymentHeader({ 'payment-signature': v2 })).toEqual({
      ...read,
      version: 2,
      scheme: 'exact',
      network: 'eip155:84532',
      accepted: { ...accepted, extra: {} },
    });
    expect(readPaymentHeader({ 'x-payment': v1 })).toEqual({
      ...read,
      version: 1,
      scheme: 'exact',
      network: 'base-sepolia',
      accepted: null,
    });
  });

  it('is null when there is none', () => expect(readPaymentHeader({})).toBeNull());

  it('of both versions at once, or in the place of the other, is refused', () => {
    for (const headers of [
      { 'payment-signature': v2, 'x-payment': v1 },
      { 'payment-signature': v1 },
      { 'x-payment': v2 },
    ])
      expect(() => readPaymentHeader(headers)).toThrow(AppError);
  });

  it('that cannot be read is always a VALIDATION_ERROR, whatever it holds', () => {
    const json = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('{"x402Version":2}', '{"__proto__":{}}', '[]', 'null'),
    );
    const header = fc.oneof(
      fc.string(),
      json.map((text) => Buffer.from(text).toString('base64')),
    );
    fc.assert(
      fc.property(header, fc.constantFrom('payment-signature', 'x-payment'), (text, name) => {
        expect(() => readPaymentHeader({ [name]: text })).toThrow(
          expect.objectContaining({ code: 'VALIDATION_ERROR' }),
        );
      }),
      { numRuns: 500 },
    );
  });

  it('cut off anywhere is refused', () => {
    for (let length = 0; length < v2.length - 2; length++)
      expect(() => readPaymentHeader({ 'payment-signature': v2.slice(0, length) })).toThrow(
        expect.objectContaining({ code: 'VALIDATION_ERROR' }),
      );
  });
});
