import { callChain } from '@agent-network/chain/chain-rpc-client';
import {
  type Hex,
  parseSignature,
  serializeCompactSignature,
  serializeErc6492Signature,
  signatureToCompactSignature,
} from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import type { Answer, Harness, TestAccount, TestWallet } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { startWatch } from '../../../support/watch.ts';
import { payV1, payV2 } from '../../../support/x402-payer.ts';
import { newContractWallet } from '../support/chain-actions.ts';
import { problemWithError } from '../support/expect-error.ts';

const HELD = 1_000_000n;
const PRICE = 50_000n;
let h: Harness;
let agent: TestAgent;
let account: TestAccount;
let treasury: TestAccount;
beforeAll(async () => {
  h = await borrowHarness();
  [agent, account, treasury] = await Promise.all([
    startTestAgent(h, { perRequest: '0.05' }),
    h.newAccount(),
    h.newAccount(),
  ]);
  await h.request('POST', '/payments/treasury', { key: treasury.key, body: {} });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));

type Headers = Record<string, string>;

/** The ways in which a payment reaches the node by a header. */
const ways: Record<string, (headers?: Headers) => Promise<Answer>> = {
  'a call': (headers = {}) =>
    h.request('POST', `/invoke/${agent.id}`, { key: account.key, body: { task: 'x' }, headers }),
  'a call without a key': (headers = {}) => h.request('POST', `/x402/${agent.id}`, { body: { task: 'x' }, headers }),
  'a chat completion': (headers = {}) =>
    h.request('POST', '/v1/chat/completions', {
      key: 'x402',
      body: { model: agent.id, messages: [{ role: 'user', content: 'x' }] },
      headers,
    }),
  'a deposit': (headers = {}) =>
    h.request('POST', '/payments/treasury/deposit', { key: treasury.key, body: { amount: '0.05' }, headers }),
};

const jsonOf = (headers: Headers) => Buffer.from(Object.values(headers)[0] ?? '', 'base64').toString();
const spell = (headers: Headers, change: (signature: Hex) => Hex): Headers => {
  const payment = JSON.parse(jsonOf(headers));
  payment.payload.signature = change(payment.payload.signature);
  const [name = ''] = Object.keys(headers);
  return { [name]: Buffer.from(JSON.stringify(payment)).toString('base64') };
};
const compact = (signature: Hex) => serializeCompactSignature(signatureToCompactSignature(parseSignature(signature)));
const lowV = (signature: Hex): Hex => `0x${signature.slice(2, 130)}${signature.endsWith('1b') ? '00' : '01'}`;
const wrap = (signature: Hex) =>
  serializeErc6492Signature({ address: `0x${'ab'.repeat(20)}`, data: '0x1234', signature });

/** Forms in which wallets and clients send one and the same payment. */
const forms: [string, (wallet: TestWallet, unpaid: Answer) => Promise<Headers>][] = [
  ['version 2 in X-PAYMENT', async (w, u) => ({ 'x-payment': (await payV2(h, w, u))['payment-signature'] ?? '' })],
  [
    'version 1 in PAYMENT-SIGNATURE',
    async (w, u) => ({ 'payment-signature': (await payV1(h, w, u))['x-payment'] ?? '' }),
  ],
  [
    'the same in both headers',
    async (w, u) => {
      const header = (await payV2(h, w, u))['payment-signature'] ?? '';
      return { 'payment-signature': header, 'x-payment': header };
    },
  ],
  [
    'base64url without padding',
    async (w, u) => ({ 'payment-signature': Buffer.from(`${jsonOf(await payV2(h, w, u))} `).toString('base64url') }),
  ],
  ['JSON', async (w, u) => ({ 'payment-signature': jsonOf(await payV2(h, w, u)) })],
  ['a signature whose v is 0 or 1', async (w, u) => spell(await payV2(h, w, u), lowV)],
  ['a compact signature (EIP-2098)', async (w, u) => spell(await payV2(h, w, u), compact)],
  ['a signature in a wrapper (ERC-6492)', async (w, u) => spell(await payV2(h, w, u), wrap)],
];

describe.each(Object.entries(ways))('%s is paid once by', (_way, call) => {
  it.each(forms)('%s', async (_form, pay) => {
    const wallet = await h.newWallet(HELD);
    const headers = await pay(wallet, await call());
    expect(await call(headers)).toMatchObject({ status: 200 });
    expect(await h.usdcOf(wallet.address)).toBe(HELD - PRICE);
    // Without a key, a repetition in version 1 is told no result: everybody can read its payment on the chain.
    expect([200, 403]).toContain((await call(headers)).status);
    expect(await h.usdcOf(wallet.address)).toBe(HELD - PRICE);
  });
});

const invoke = ways['a call'] as (headers?: Headers) => Promise<Answer>;

it('a payment that is shown again in another form finds the same request', async () => {
  const wallet = await h.newWallet(HELD);
  const headers = await payV2(h, wallet, await invoke());
  const first = await invoke(spell(headers, lowV));
  for (const again of [headers, spell(headers, compact), { 'x-payment': headers['payment-signature'] ?? '' }])
    expect((await invoke(again)).body.data).toEqual(first.body.data);
  expect(await h.usdcOf(wallet.address)).toBe(HELD - PRICE);
});

const reasonOf = ({ body }: Answer) => body.error?.details?.reason;

it('a wrapped signature pays as soon as its wallet is deployed, and is told apart before', async () => {
  const owner = await h.newWallet(0n);
  const deployed = await newContractWallet(h, owner, 0n);
  const wallet = { ...owner, address: (await h.newWallet(HELD)).address };
  const headers = spell(await payV2(h, wallet, await invoke()), wrap);
  const early = await invoke(headers);
  expect(reasonOf(early)).toBe('invalid_exact_evm_payload_undeployed_smart_wallet');
  expect(early.body.error.message).toContain('deploy it');
  // The code of the same wallet at the address that was without.
  const code = await callChain(h.rpcUrl, 'eth_getCode', deployed.address, 'latest');
  await callChain(h.rpcUrl, 'anvil_setCode', wallet.address, code);
  expect(await invoke(headers)).toMatchObject({ status: 200 });
  expect(await h.usdcOf(wallet.address)).toBe(HELD - PRICE);
});

it('an error names the delegated code (EIP-7702) that refuses the signature of its wallet', async () => {
  const wallet = await h.newWallet(HELD);
  const headers = await payV2(h, wallet, await invoke());
  await callChain(h.rpcUrl, 'anvil_setCode', wallet.address, `0xef0100${h.ctx.chain.token.slice(2)}`);
  const answer = await invoke(headers);
  expect(reasonOf(answer)).toBe('invalid_exact_evm_signature_of_delegated_wallet');
  expect(answer.body.error.message).toContain('EIP-7702');
  await callChain(h.rpcUrl, 'anvil_setCode', wallet.address, '0x');
  expect(await invoke(headers)).toMatchObject({ status: 200 });
});

it('the hash of a transfer is answered with where a plain transfer is credited', async () => {
  const hash = `0x${'ab'.repeat(32)}`;
  for (const headers of [{ 'x-payment': hash }, { 'payment-signature': hash }]) {
    const answer = await invoke(headers as Headers);
    expect(problemWithError(answer, 'VALIDATION_ERROR', Object.keys(headers)[0]?.toUpperCase())).toBeNull();
    expect(answer.body.error.message).toContain('POST /payments/claims');
  }
});

describe('a payment whose time has not come', () => {
  const nowS = () => BigInt(Math.floor(Date.now() / 1000));

  it.each([0n, 1n, 2n])('is waited for within the time of its caller: from %s s from now', async (fromNowS) => {
    const wallet = await h.newWallet(HELD);
    const headers = await payV2(h, wallet, await invoke(), { validAfter: nowS() + fromNowS });
    expect(await invoke(headers)).toMatchObject({ status: 200 });
  });

  it('by more than that returns by how much', async () => {
    const wallet = await h.newWallet(HELD);
    const answer = await invoke(await payV2(h, wallet, await invoke(), { validAfter: nowS() + 90n }));
    expect(reasonOf(answer)).toBe('invalid_exact_evm_payload_authorization_valid_after');
    expect(answer.body.error.message).toMatch(/It is from (89|90|91) s from now, by this node's clock/);
    const late = await invoke(await payV2(h, wallet, await invoke(), { validBefore: nowS() - 35n }));
    expect(late.body.error.message).toMatch(/it ended 3[5-7] s ago/);
  });

  it('is not waited for when its wallet did not sign it', async () => {
    const wallet = await h.newWallet(HELD);
    const tookMs = startWatch();
    const signature = `0x${'12'.repeat(64)}1b`;
    const answer = await invoke(await payV2(h, wallet, await invoke(), { validAfter: nowS() + 4n, signature }));
    expect(reasonOf(answer)).toBe('invalid_exact_evm_payload_authorization_valid_after');
    expect(tookMs()).toBeLessThan(2_500);
  });
});
