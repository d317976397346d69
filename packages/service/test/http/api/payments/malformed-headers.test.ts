import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount, type TestWallet } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { problemWithError } from '../support/expect-error.ts';

let h: Harness;
let agent: TestAgent;
let account: TestAccount;
let wallet: TestWallet;
beforeAll(async () => {
  h = await startHarness();
  [agent, account, wallet] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05' }),
    h.newAccount(),
    h.newWallet(),
  ]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const invoke = (headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers });
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64');

describe.each([
  ['PAYMENT-SIGNATURE', payV2],
  ['X-PAYMENT', payV1],
])('%s', (name, pay) => {
  let good: string;
  // biome-ignore lint/suspicious/noExplicitAny: a payment that tests spoil
  let payment: any;
  beforeEach(async () => {
    good = Object.values(await pay(h, wallet, await invoke()))[0] ?? '';
    payment = JSON.parse(Buffer.from(good, 'base64').toString());
  });

  async function expectUnreadable(headers: readonly string[]): Promise<void> {
    const digest = await databaseDigest(h);
    for (const header of headers) {
      const answer = await invoke({ [name]: header });
      const problem = problemWithError(answer, 'VALIDATION_ERROR', name);
      expect(answer.body.error.message).not.toMatch(/Invalid input|Invalid option|Too (big|small)|expected/);
      expect({ header: header.slice(0, 80), problem }).toEqual({ header: header.slice(0, 80), problem: null });
    }
    expect(await databaseDigest(h)).toEqual(digest);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
    expect(agent.calls).toEqual([]);
  }

  it('cut off at any place is malformed, not unpaid', async () => {
    const cuts = Array.from({ length: 60 }, (_, index) => good.slice(0, Math.floor((good.length * (index + 1)) / 64)));
    await expectUnreadable(cuts);
  });

  it('that is no base64 of JSON of an object is malformed', async () => {
    const json = Buffer.from(good, 'base64').toString();
    await expectUnreadable([
      ...[
        '%%%',
        'null',
        'undefined',
        '=',
        '====',
        'a b',
        `${good}!`,
        `"${good}"`,
        `Bearer ${good}`,
        json.slice(0, -1),
        `${json}}`,
      ],
      ...['{', '', 'null', '[]', '"x"', '1', 'true', '[{}]', '{}'].map(encode).map((text) => text || 'AA=='),
      Buffer.from([0xff, 0xfe, 0x00]).toString('base64'),
      encode(good),
    ]);
  });

  it('with any part missing or of another type is malformed', async () => {
    const paths = [['x402Version'], ['payload'], ['payload', 'signature'], ['payload', 'authorization']].concat(
      ['from', 'to', 'value', 'validAfter', 'validBefore', 'nonce'].map((field) => ['payload', 'authorization', field]),
      name === 'X-PAYMENT'
        ? [['scheme'], ['network']]
        : [['accepted'], ...['scheme', 'network', 'amount', 'asset', 'payTo'].map((field) => ['accepted', field])],
    );
    const spoiled = paths.flatMap((path) =>
      [undefined, null, 0.5, true, [], {}, { a: 1 }].map((value) => {
        const copy = structuredClone(payment);
        const parent = path.slice(0, -1).reduce((at, step) => at[step], copy);
        parent[path.at(-1) as string] = value;
        return encode(copy);
      }),
    );
    await expectUnreadable(spoiled);
  });

  it('with amounts, times, addresses or signatures that cannot be is malformed', async () => {
    const bad: [string, string[]][] = [
      ['value', ['', '-1', '0.05', '5e4', '0x10', ' 1', '9'.repeat(80), '٣']],
      ['validAfter', ['', '-1', '1.5', 'now', '9'.repeat(19), '9'.repeat(80)]],
      ['validBefore', ['', '-1', 'never', '9'.repeat(19), '9'.repeat(80)]],
      ['from', ['', '0x', 'vitalik.eth', `0x${'1'.repeat(39)}`, `0x${'g'.repeat(40)}`, `0x${'1'.repeat(64)}`]],
      ['to', ['', '0x', `0x${'1'.repeat(41)}`]],
      ['nonce', ['', '0x', `0x${'1'.repeat(63)}`, `0x${'1'.repeat(66)}`, '1']],
    ];
    const spoiled = bad.flatMap(([field, values]) =>
      values.map((value) =>
        encode({
          ...payment,
          payload: { ...payment.payload, authorization: { ...payment.payload.authorization, [field]: value } },
        }),
      ),
    );
    const signatures = ['', '0x', '0x1', 'x', `0x${'zz'.repeat(65)}`, `0x${'11'.repeat(4097)}`].map((signature) =>
      encode({ ...payment, payload: { ...payment.payload, signature } }),
    );
    await expectUnreadable([...spoiled, ...signatures]);
  });

  it('of the other version is malformed', async () => {
    await expectUnreadable([
      encode({ ...payment, x402Version: payment.x402Version === 1 ? 2 : 1 }),
      encode({ ...payment, x402Version: 3 }),
    ]);
  });

  it('valid for thousands of years is refused, as the node cannot watch it that long', async () => {
    const headers = await pay(h, wallet, await invoke(), { validBefore: 10n ** 18n - 1n });
    const reason = 'invalid_exact_evm_payload_authorization_valid_before';
    expect(await invoke(headers)).toMatchObject({ status: 402, body: { error: { details: { reason } } } });
  });
});

it('payments in both headers are refused, as it is unclear which one should pay', async () => {
  const terms = await invoke();
  const headers = { ...(await payV1(h, wallet, terms)), ...(await payV2(h, wallet, terms)) };
  expect(problemWithError(await invoke(headers), 'VALIDATION_ERROR', 'X-PAYMENT')).toBeNull();
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
});
