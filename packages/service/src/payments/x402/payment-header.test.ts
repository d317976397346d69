import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { AppError } from '../../lib/app-error.ts';
import { channelOnWire, isVoucher } from '../schemes/batch-settlement/channel-on-wire.ts';
import { exactOnWire } from '../schemes/exact/exact-on-wire.ts';
import { type PaymentHeaders, readPaymentHeader } from './payment-header.ts';

const readHeaders = (headers: PaymentHeaders) => readPaymentHeader(headers, [exactOnWire, channelOnWire]);

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
  payer: `0x${'aa'.repeat(20)}`,
};

describe('a payment header', () => {
  it('of either version is folded into one form, all in lower case', () => {
    expect(readHeaders({ 'payment-signature': v2 })).toEqual({
      ...read,
      scheme: 'exact',
      namedScheme: 'exact',
      version: 2,
      network: 'eip155:84532',
      accepted: { ...accepted, extra: {} },
    });
    expect(readHeaders({ 'x-payment': v1 })).toEqual({
      ...read,
      scheme: 'exact',
      namedScheme: 'exact',
      version: 1,
      network: 'base-sepolia',
      accepted: null,
    });
  });

  it('is null when there is none', () => expect(readHeaders({})).toBeNull());

  it('takes both versions in either header', () => {
    expect(readHeaders({ 'payment-signature': v1 })).toMatchObject({ ...read, version: 1 });
    expect(readHeaders({ 'x-payment': v2 })).toMatchObject({ ...read, version: 2 });
  });

  it('that comes twice is one payment, of the version that echoes its offer; two payments are refused', () => {
    for (const [first, second] of [
      [v1, v2],
      [v2, v1],
      [v2, v2],
      [v2, ''],
      [' ', v2],
    ])
      expect(readHeaders({ 'payment-signature': first, 'x-payment': second })).toMatchObject({
        ...read,
        version: 2,
      });
    const authorization = { ...payload.authorization, nonce: `0x${'Cd'.repeat(32)}` };
    const other = encode({ x402Version: 2, accepted, payload: { ...payload, authorization } });
    for (const headers of [
      { 'payment-signature': other, 'x-payment': v1 },
      { 'payment-signature': v1, 'x-payment': other },
      { 'payment-signature': v2, 'x-payment': other },
      { 'payment-signature': v2, 'x-payment': 'cut' },
    ])
      expect(() => readHeaders(headers)).toThrow(AppError);
  });

  it('is read from base64, base64url and JSON, with and without padding, and numbers for text', () => {
    const { authorization } = payload;
    const numbers = { ...authorization, value: 50_000, validAfter: 0, validBefore: 1_795_255_500 };
    const json = JSON.stringify({ x402Version: 2, note: 'ÿþ>?~', accepted, payload });
    const forms = [
      json,
      ...(['base64', 'base64url'] as const).map((encoding) => Buffer.from(json).toString(encoding)),
      Buffer.from(json).toString('base64').replace(/=+$/, ''),
      `${Buffer.from(`${json}  `).toString('base64url')}`,
      ` ${v2} `,
      encode({ x402Version: 2, accepted, payload: { ...payload, authorization: numbers } }),
    ];
    for (const form of forms) expect(readHeaders({ 'payment-signature': form })).toMatchObject(read);
  });

  it.each([
    ['the hash of a transaction', `0x${'ab'.repeat(32)}`, 'is a transaction hash'],
    [
      'the hash of a transaction for a signature',
      encode({ x402Version: 2, accepted, payload: { ...payload, signature: `0x${'ab'.repeat(32)}` } }),
      'PAYMENT-SIGNATURE.payload.signature is a transaction hash',
    ],
    [
      'the hash of a transaction in a field of its own',
      encode({ x402Version: 2, accepted, payload: { txHash: `0x${'ab'.repeat(32)}` } }),
      'POST /payments/claims',
    ],
    [
      'a payload of another scheme',
      encode({ x402Version: 2, accepted: { ...accepted, scheme: 'upto' }, payload: { permit2Authorization: {} } }),
      'PAYMENT-SIGNATURE.accepted.scheme is "upto": this node takes "exact"',
    ],
    [
      'a payload for Permit2',
      encode({ x402Version: 2, accepted, payload: { signature: '0x00', permit2Authorization: {} } }),
      'sign an EIP-3009 TransferWithAuthorization',
    ],
  ])('%s is refused in words that say what to send', (_what, header, words) => {
    expect(() => readHeaders({ 'payment-signature': header })).toThrow(words);
  });

  it('that cannot be read is always a VALIDATION_ERROR, whatever it holds', () => {
    const json = fc.oneof(
      fc.json(),
      fc.string(),
      fc.constantFrom('{"x402Version":2}', '{"__proto__":{}}', '[]', 'null'),
    );
    const any = fc.oneof(
      fc.string(),
      json.map((text) => Buffer.from(text).toString('base64')),
    );
    const header = any.filter((text) => text.trim() !== '');
    fc.assert(
      fc.property(header, fc.constantFrom('payment-signature', 'x-payment'), (text, name) => {
        expect(() => readHeaders({ [name]: text })).toThrow(expect.objectContaining({ code: 'VALIDATION_ERROR' }));
      }),
      { numRuns: 500 },
    );
  });

  it('cut off anywhere is refused', () => {
    for (let length = 1; length < v2.length - 2; length++)
      expect(() => readHeaders({ 'payment-signature': v2.slice(0, length) })).toThrow(
        expect.objectContaining({ code: 'VALIDATION_ERROR' }),
      );
  });

  describe('of a channel', () => {
    const config = {
      payer: `0x${'Aa'.repeat(20)}`,
      payerAuthorizer: `0x${'Ab'.repeat(20)}`,
      receiver: `0x${'Bb'.repeat(20)}`,
      receiverAuthorizer: `0x${'Bb'.repeat(20)}`,
      token: `0x${'Cc'.repeat(20)}`,
      withdrawDelay: 86_400,
      salt: `0x${'Dd'.repeat(32)}`,
    };
    const voucher = {
      channelId: `0x${'Ee'.repeat(32)}`,
      maxClaimableAmount: '1000',
      signature: `0x${'AB'.repeat(65)}`,
    };
    const erc3009Authorization = {
      ...{ validAfter: '0', validBefore: '1795255500' },
      ...{ salt: `0x${'Ff'.repeat(32)}`, signature: `0x${'AB'.repeat(65)}` },
    };
    const offered = { ...accepted, scheme: 'batch-settlement' };
    const shown = (changes: object = {}) =>
      readHeaders({
        'payment-signature': encode({
          x402Version: 2,
          accepted: offered,
          payload: { type: 'voucher', channelConfig: config, voucher, ...changes },
        }),
      });

    it('takes turns under its signature: who guesses its sum does not hold it up', () => {
      const keyOf = (signature: string) => {
        const read = shown({ voucher: { ...voucher, signature } });
        return read && isVoucher(read) ? channelOnWire.turnKey(read) : null;
      };
      expect(keyOf(`0x${'AB'.repeat(65)}`)).toBe(keyOf(`0x${'ab'.repeat(65)}`));
      expect(keyOf(`0x${'ab'.repeat(65)}`)).not.toBe(keyOf(`0x${'ac'.repeat(65)}`));
    });

    it('is read with addresses, hashes and signatures in lower case', () => {
      expect(shown()).toMatchObject({
        version: 2,
        scheme: 'batch-settlement',
        type: 'voucher',
        voucher: {
          channelId: voucher.channelId.toLowerCase(),
          maxMicro: 1000n,
          signature: voucher.signature.toLowerCase(),
          config: { payer: config.payer.toLowerCase(), salt: config.salt.toLowerCase(), withdrawDelayS: 86_400 },
        },
        deposit: null,
        refundMicro: null,
      });
      const deposit = { amount: '10000', authorization: { erc3009Authorization } };
      expect(shown({ type: 'deposit', deposit })).toMatchObject({
        deposit: { amountMicro: 10_000n, authorization: { validBeforeS: 1_795_255_500n } },
      });
      expect(shown({ type: 'refund', amount: '7' })).toMatchObject({ type: 'refund', refundMicro: 7n });
      // A deposit by Permit2 is readable; it is refused by its code.
      expect(shown({ type: 'deposit', deposit: { amount: '1', authorization: {} } })).toMatchObject({
        deposit: { authorization: null },
      });
    });

    it.each([
      ['no voucher', { voucher: undefined }],
      ['no configuration', { channelConfig: undefined }],
      ['an amount with a sign', { voucher: { ...voucher, maxClaimableAmount: '-1' } }],
      ['an amount above uint128', { voucher: { ...voucher, maxClaimableAmount: '9'.repeat(39) } }],
      ['an amount that is a number', { voucher: { ...voucher, maxClaimableAmount: 1000 } }],
      ['a signature that is no hexadecimal', { voucher: { ...voucher, signature: '0xzz' } }],
      ['an address that is none', { channelConfig: { ...config, payer: '0x1' } }],
      ['a delay that is a text', { channelConfig: { ...config, withdrawDelay: '86400' } }],
      ['a delay above uint40', { channelConfig: { ...config, withdrawDelay: 2 ** 40 } }],
      ['a payload of exact', { type: undefined }],
    ])('with %s is malformed', (_what, changes) => expect(() => shown(changes)).toThrow(AppError));
  });
});
