import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isLong } from '../../../support/long.ts';
import type { VoucherPayer } from '../../../support/voucher-payer.ts';
import {
  type Call,
  DUE,
  type Headers,
  isTelling,
  MIN_DEPOSIT,
  PRICE,
  type RefusalSite,
  startRefusalSite,
} from './support/refusal-site.ts';

let site: RefusalSite;
let depositor: VoucherPayer;
beforeAll(async () => {
  site = await startRefusalSite();
  depositor = await site.depositor();
});
afterAll(() => site.stop());

/** A payload that is good but for its shape, by the place that is wrong and what stands there. */
const malformed: [string, (string | number)[], unknown][] = [
  ['no channel', ['channelConfig'], undefined],
  ['an address that is none', ['channelConfig', 'payer'], '0x12'],
  ['a delay that is no number', ['channelConfig', 'withdrawDelay'], '86400'],
  ['a delay of more than 40 bits', ['channelConfig', 'withdrawDelay'], 2 ** 40],
  ['a delay below 0', ['channelConfig', 'withdrawDelay'], -1],
  ['a short salt', ['channelConfig', 'salt'], '0x00'],
  ['no voucher', ['voucher'], null],
  ['a sum in exponents', ['voucher', 'maxClaimableAmount'], '1e3'],
  ['a sum below 0', ['voucher', 'maxClaimableAmount'], '-1'],
  ['a sum that is a number', ['voucher', 'maxClaimableAmount'], 50_000],
  ['a sum of 32 digits', ['voucher', 'maxClaimableAmount'], '9'.repeat(32)],
  ['a signature of half a byte', ['voucher', 'signature'], '0x1'],
  ['a signature that is a list', ['voucher', 'signature'], ['0x']],
  ['a type that is no text', ['type'], 1],
  ['an amount below 0', ['amount'], '-1'],
  ['a deposit of nothing that is known', ['deposit'], { amount: '1' }],
  ['a deposit of a fraction', ['deposit', 'amount'], '0.5'],
];

describe('a payload that is malformed', () => {
  const change = (headers: Headers, path: (string | number)[], value: unknown): Headers => {
    const shown = JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString());
    setAt(shown.payload, path, value);
    return { 'payment-signature': Buffer.from(JSON.stringify(shown)).toString('base64') };
  };

  it.each(malformed)('with %s is a 400 wherever it is shown', async (_what, path, value) => {
    const payer = depositor;
    const payload = await payer.deposit(MIN_DEPOSIT);
    for (const call of [site.keyed, site.keyless, site.askRefund]) {
      const headers = change(payer.pay(await call(), DUE, { payload }), path, value);
      await site.expectRefused(payer, () => call(headers), { code: '=malformed', status: 400 });
    }
  });

  it.each([
    ['cut off', (header: string) => header.slice(0, header.length / 2 - 2)],
    ['that is not base64', () => '%%%'],
    ['that holds no object', () => Buffer.from('[]x').toString('base64')],
  ])('in a header %s is a 400', async (_what, spoil) => {
    const { 'payment-signature': header = '' } = depositor.pay(await site.keyed(), DUE);
    for (const call of [site.keyed, site.keyless, site.askRefund])
      await site.expectRefused(depositor, () => call({ 'payment-signature': spoil(header) }), {
        code: '=malformed',
        status: 400,
      });
  });

  it('whatever stands in whichever field, a good payload that is changed pays for nothing', async () => {
    const payer = await site.usedPayer();
    const voucher = payer.pay(await site.keyed(), DUE);
    const withDeposit = payer.pay(await site.keyed(), DUE, { payload: await payer.deposit(MIN_DEPOSIT) });
    const asked = depositor.pay(await site.askRefund(), PRICE, { payload: { type: 'refund', amount: '20000' } });
    const shows: [VoucherPayer, Call, Headers][] = [
      [payer, site.keyed, voucher],
      [payer, site.keyed, withDeposit],
      [depositor, site.askRefund, asked],
    ];
    const nasty = fc.oneof(
      fc.constantFrom<unknown>(
        null,
        '',
        '0x',
        0,
        -1,
        1.5,
        2 ** 53,
        true,
        [],
        {},
        '0',
        '-1',
        '1e3',
        '٣',
        '9'.repeat(31),
        '9'.repeat(64),
      ),
      fc.constantFrom<unknown>(
        `0x${'00'.repeat(20)}`,
        `0x${'ff'.repeat(32)}`,
        `0x${'ab'.repeat(65)}`,
        '\u0000',
        '__proto__',
      ),
      fc.string(),
      fc.bigInt(1n, 10n ** 30n).map((n) => `7${n}`),
      fc.uint8Array({ minLength: 1, maxLength: 70 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`),
    );
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...shows), fc.nat(), nasty, async ([by, call, headers], pick, value) => {
        const shown = JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString());
        const paths = pathsOf(shown.payload);
        const path = paths[pick % paths.length] ?? [];
        // Changed into what it is, as a `validAfter` of "0", it is the good payload.
        fc.pre(valueAt(shown.payload, path) !== value);
        const before = { world: await site.world(by), refusals: sum(await site.refusals()) };
        const answer = await call(change(headers, path, value));
        expect([400, 402], JSON.stringify(answer.body)).toContain(answer.status);
        expect(sum(await site.refusals())).toBe(before.refusals + 1);
        expect(await site.world(by)).toEqual(before.world);
        expect(isTelling(answer)).toBe(false);
      }),
      { numRuns: isLong ? 3000 : 60 },
    );
    expect((await site.keyed(voucher)).status, 'the good payload').toBe(200);
  });
});

const sum = (counts: Record<string, number>) => Object.values(counts).reduce((a, b) => a + b, 0);

/** Paths of all fields of a JSON value. */
const pathsOf = (value: unknown): string[][] =>
  typeof value === 'object' && value !== null
    ? Object.entries(value).flatMap(([key, inner]) => [[key], ...pathsOf(inner).map((path) => [key, ...path])])
    : [];

const valueAt = (value: unknown, path: readonly string[]): unknown =>
  path.reduce((at, key) => (at as Record<string, unknown>)[key], value);

function setAt(target: Record<string, unknown>, path: readonly (string | number)[], value: unknown): void {
  const [key = '', ...rest] = path;
  if (rest.length === 0) target[key] = value;
  else setAt(target[key] as Record<string, unknown>, rest, value);
}
