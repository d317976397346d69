import { randomBytes } from 'node:crypto';
import { type Hex, isHex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import {
  type Answer,
  type Harness,
  startHarness,
  type TestAccount,
  type TestWallet,
} from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type PaymentChanges, payV1, payV2 } from '../../../support/x402-payer.ts';
import { cancelAuthorization, submitAuthorization } from '../support/chain-actions.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

const clock = fixedClock(new Date());
const nowS = () => BigInt(Math.floor(clock.now().getTime() / 1000));
let h: Harness;
let agent: TestAgent;
let other: TestAgent;
let account: TestAccount;
let wallet: TestWallet;
beforeAll(async () => {
  h = await startHarness({ clock });
  [agent, other, account, wallet] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05' }),
    startTestAgent(h, { perRequest: '0.05' }),
    h.newAccount(),
    h.newWallet(1_000_000n),
  ]);
});
afterAll(async () => {
  await Promise.all([agent.die(), other.die()]);
  await h.stop();
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));

const invoke = (headers: Record<string, string> = {}, { to = agent, by = account, task = 'x' } = {}) =>
  h.request('POST', `/invoke/${to.id}`, { key: by.key, body: { task }, headers });
const decode = (header: string | null) => JSON.parse(Buffer.from(header ?? '', 'base64').toString());
const memoOf = ({ headers }: Answer) => decode(headers.get('payment-required')).accepts[0].extra.memo;

/** Sends the payment and expects that it is refused for this reason and that nothing at all came of it. */
async function expectRefused(headers: Record<string, string>, reason: string, payer = wallet): Promise<void> {
  const [digest, balance, calls] = [await databaseDigest(h), await h.usdcOf(payer.address), agent.calls.length];
  const answer = await invoke(headers);
  expectError(answer, 'PAYMENT_REQUIRED');
  expect(answer.body.error.details).toEqual({ reason });
  expect(decode(answer.headers.get('payment-response'))).toMatchObject({
    success: false,
    errorReason: reason,
    transaction: '',
  });
  expect(decode(answer.headers.get('payment-required')).error).toBe(reason);
  expect(answer.body.error.payment).toMatchObject({ amount: '0.05', currency: 'USDC', memo: memoOf(answer) });
  expect(await databaseDigest(h)).toEqual(digest);
  expect(await h.usdcOf(payer.address)).toBe(balance);
  expect(agent.calls).toHaveLength(calls);
}

const ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const stranger: Hex = `0x${'12'.repeat(20)}`;
const value = 'invalid_exact_evm_payload_authorization_value_mismatch';
const validAfter = 'invalid_exact_evm_payload_authorization_valid_after';
const validBefore = 'invalid_exact_evm_payload_authorization_valid_before';
const signature = 'invalid_exact_evm_signature';

const wrong: readonly [string, string, () => PaymentChanges][] = [
  ['one micro too little', value, () => ({ value: 49_999n })],
  ['one micro too much', value, () => ({ value: 50_001n })],
  ['nothing', value, () => ({ value: 0n })],
  ['more than any token holds', value, () => ({ value: 10n ** 30n })],
  ['another recipient', 'invalid_exact_evm_payload_recipient_mismatch', () => ({ to: stranger })],
  ['not valid yet', validAfter, () => ({ validAfter: nowS() + 60n })],
  ['never valid', validAfter, () => ({ validAfter: 10n ** 17n, validBefore: 10n ** 17n + 300n })],
  ['expired', validBefore, () => ({ validBefore: nowS() - 1n })],
  ['about to expire', validBefore, () => ({ validBefore: nowS() + 5n })],
  ['another chain', 'invalid_network', () => ({ network: 'eip155:8453' })],
  ['a network that does not exist', 'invalid_network', () => ({ network: 'solana' })],
  ['another scheme', 'unsupported_scheme', () => ({ scheme: 'upto' })],
  [
    "a domain of another token's name",
    'invalid_exact_evm_token_name_mismatch',
    () => ({ domain: { name: 'USD Coin' } }),
  ],
  ['a domain of another version', 'invalid_exact_evm_token_version_mismatch', () => ({ domain: { version: '1' } })],
  ['a domain of another chain', 'invalid_network', () => ({ domain: { chainId: 8453 } })],
  ['a signature of 65 random bytes', signature, () => ({ signature: `0x${randomBytes(64).toString('hex')}1b` })],
  ['a signature beyond the order of the curve', signature, () => ({ signature: `0x${'ff'.repeat(64)}1b` })],
  ['a signature whose r is beyond it', signature, () => ({ signature: `0x${'ff'.repeat(32)}${'11'.repeat(32)}1c` })],
  ['a signature of zeros', signature, () => ({ signature: `0x${'00'.repeat(65)}` })],
  ['a signature of one byte', signature, () => ({ signature: '0x00' })],
  ['a signature of 4096 bytes', signature, () => ({ signature: `0x${'ab'.repeat(4096)}` })],
];

describe.each([
  ['v2', payV2],
  ['v1', payV1],
])('a %s payment is refused with its reason, fresh terms and no trace', (_version, pay) => {
  it.each(wrong)('%s: %s', async (_what, reason, changes) => {
    const terms = await invoke();
    await expectRefused(await pay(h, wallet, terms, changes()), reason);
  });

  it('a high s, which the token would refuse', async () => {
    const name = pay === payV2 ? 'payment-signature' : 'x-payment';
    const header = await pay(h, wallet, await invoke());
    const payment = decode(header[name] ?? '');
    const good: string = payment.payload.signature;
    const highS = (ORDER - BigInt(`0x${good.slice(66, 130)}`)).toString(16).padStart(64, '0');
    payment.payload.signature = `${good.slice(0, 66)}${highS}${good.endsWith('1b') ? '1c' : '1b'}`;
    await expectRefused({ [name]: Buffer.from(JSON.stringify(payment)).toString('base64') }, signature);
  });

  it("another wallet's signature", async () => {
    const thief = await h.newWallet();
    const signatureOf = await pay(h, thief, await invoke());
    const stolen = decode(Object.values(signatureOf)[0] ?? '').payload.signature;
    expect(isHex(stolen)).toBe(true);
    await expectRefused(await pay(h, wallet, await invoke(), { signature: stolen }), signature);
  });

  it('a wallet that holds one micro too little', async () => {
    const poor = await h.newWallet(49_999n);
    await expectRefused(await pay(h, poor, await invoke()), 'invalid_exact_evm_insufficient_balance', poor);
  });

  it('an authorization that was cancelled on chain', async () => {
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
    await cancelAuthorization(h, wallet, nonce);
    await expectRefused(await pay(h, wallet, await invoke(), { nonce }), 'invalid_exact_evm_nonce_already_used');
  });

  it('a nonce that was used on chain to pay somebody else', async () => {
    const nonce: Hex = `0x${randomBytes(32).toString('hex')}`;
    await submitAuthorization(h, await payV2(h, wallet, await invoke(), { nonce, to: stranger }));
    await expectRefused(await pay(h, wallet, await invoke(), { nonce }), 'invalid_exact_evm_nonce_already_used');
  });
});

describe('an offer', () => {
  const extraOf = (answer: Answer) => decode(answer.headers.get('payment-required')).accepts[0].extra;

  it.each([
    ['without its code', () => ({ offer: undefined })],
    ['without its memo', () => ({ memo: undefined })],
    ['with another memo', () => ({ memo: 'req_01k0000000000000000000000a' })],
    ['with a later end', (offer: string) => ({ offer: offer.replace(/^\d+/, (end) => String(Number(end) + 1)) })],
    [
      'with a changed code',
      (offer: string) => ({ offer: `${offer.slice(0, -2)}${offer.endsWith('AA') ? 'BB' : 'AA'}` }),
    ],
    ['that is a number', () => ({ offer: 5 })],
    ['that is empty', () => ({ offer: '', memo: '' })],
  ])('%s is not ours', async (_how, change) => {
    const terms = await invoke();
    const extra = { ...extraOf(terms), ...change(extraOf(terms).offer) };
    await expectRefused(await payV2(h, wallet, terms, { extra }), 'invalid_offer');
  });

  it('made to another account, for another agent or for a deposit is not good here', async () => {
    const elsewhere = [await invoke({}, { by: await h.newAccount() }), await invoke({}, { to: other })];
    await h.request('POST', '/payments/treasury', { key: (await h.newAccount()).key, body: {} });
    for (const terms of elsewhere) await expectRefused(await payV2(h, wallet, terms), 'invalid_offer');
  });

  it('is good until its end, and not after', async () => {
    const terms = await invoke();
    clock.advance(899_000);
    const late = () => payV2(h, wallet, terms);
    expect((await invoke(await late())).status).toBe(200);
    clock.advance(2_000);
    await expectRefused(await late(), 'invalid_offer');
  });
});

it('a payment valid from this second on, which the last block has not reached, is refused as too early', async () => {
  const ahead = await startHarness({ clock: fixedClock(new Date(Date.now() + 60_000)) });
  const early = await startTestAgent(ahead, { perRequest: '0.05' });
  try {
    const payer = await ahead.newWallet(50_000n);
    const call = (headers: Record<string, string> = {}) =>
      ahead.request('POST', `/x402/${early.id}`, { body: { task: 'x' }, headers });
    const second = BigInt(Math.floor(ahead.ctx.clock.now().getTime() / 1000));
    const refused = await call(await payV2(ahead, payer, await call(), { validAfter: second }));
    expectError(refused, 'PAYMENT_REQUIRED');
    expect(refused.body.error.details).toEqual({ reason: validAfter });
    expect(early.calls).toHaveLength(0);
    expect(await ahead.usdcOf(payer.address)).toBe(50_000n);
  } finally {
    await early.die();
    await ahead.stop();
  }
});
