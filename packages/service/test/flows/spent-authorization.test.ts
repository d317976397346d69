import { randomBytes } from 'node:crypto';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../src/accounts/open-account.ts';
import { authorizationDigest } from '../../src/chain/keys/authorization.ts';
import { payoutNonce } from '../../src/chain/keys/payment-nonces.ts';
import { awaitRefunds } from '../../src/payments/payouts/await-refunds.ts';
import { readTransfers } from '../../src/payments/reconcile/read-transfers.ts';
import { newContractWallet } from '../http/api/support/chain-actions.ts';
import { contradictions, walletByBooks } from '../support/books.ts';
import { paymentIn, submitPayment, submitSigned } from '../support/chain-actions.ts';
import { type Answer, type Harness, startHarness, type TestAccount, type TestWallet } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { until } from '../support/until.ts';
import { type PaymentChanges, payV1, payV2 } from '../support/x402-payer.ts';

type Headers = Record<string, string>;

let h: Harness;
let agent: TestAgent;
let thief: TestAccount;
beforeAll(async () => {
  h = await startHarness();
  [agent, thief] = await Promise.all([startTestAgent(h, { perRequest: '0.05' }), h.newAccount()]);
  await h.request('POST', '/payments/treasury', { key: thief.key, body: {} });
  const points = async () => (await h.ctx.db.query('count-points', 'select 1 from transfer_point')).length;
  await until(async () => (await points()) > 0 || null);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});
afterEach(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});

const reason = 'invalid_exact_evm_nonce_already_used';
const refused = { status: 402, body: { error: { details: { reason } } } };

const invoke = (key: string, headers: Headers = {}) =>
  h.request('POST', `/invoke/${agent.id}`, {
    key,
    body: { task: 'x' },
    headers: { 'x-payment-method': 'x402', ...headers },
  });
const deposit = (key: string, headers: Headers = {}) =>
  h.request('POST', '/payments/treasury/deposit', { key, body: { amount: '0.05' }, headers });
const available = async (key: string): Promise<string> =>
  (await h.request('GET', '/payments/balance', { key })).body.data.available;

/** An account that has proven this wallet, with a treasury. */
async function accountOf(wallet: TestWallet): Promise<{ key: string; accountId: string }> {
  const { accountId } = await openAccount(h.ctx, { address: wallet.address, plan: 'enterprise', isWalletProven: true });
  const scopes = ['invoke', 'payments:read', 'payments:write'] as const;
  const { apiKey: key } = await issueApiKey(h.ctx, { accountId, name: 'test', scopes, expiresAt: null });
  await h.request('POST', '/payments/treasury', { key, body: {} });
  return { key, accountId };
}

/** The payment of `stolen` as the answer to another's 402: with the terms that this one was offered. */
async function shownBy(wallet: TestWallet, unpaid: Answer, stolen: Headers, version: 1 | 2): Promise<Headers> {
  const { authorization, signature } = paymentIn(stolen);
  const changes: PaymentChanges = {
    signature,
    nonce: authorization.nonce as `0x${string}`,
    validBefore: authorization.validBeforeS,
  };
  return version === 2 ? payV2(h, wallet, unpaid, changes) : payV1(h, wallet, unpaid, changes);
}

/** The reader takes what nobody has shown in time. */
const readLater = () =>
  readTransfers({ ...h.ctx, clock: { now: () => new Date(h.ctx.clock.now().getTime() + 21 * 60_000) } });
const isBooked = () =>
  expect
    .poll(async () => {
      await readTransfers(h.ctx);
      await readLater();
      return (await h.usdcOf(h.ctx.chain.wallet)) - (await walletByBooks(h.databaseUrl));
    })
    .toBe(0n);

describe('a spent authorization is refused to a stranger', () => {
  const ways = [
    ['a deposit', 2, deposit],
    ['a deposit', 1, deposit],
    ['a call', 2, invoke],
    ['a call', 1, invoke],
  ] as const;
  it.each(ways)(
    'that presents it for %s (x402 v%i), and its money is credited to the wallet that sent it',
    async (_what, version, buy) => {
      const wallet = await h.newWallet(50_000n);
      const owner = await accountOf(wallet);
      const signed = await payV2(h, wallet, await deposit(owner.key));
      await submitPayment(h.rpcUrl, h, signed);
      const stolen = await shownBy(wallet, await buy(thief.key), signed, version);
      const calls = agent.calls.length;
      const answer = await buy(thief.key, stolen);
      expect(answer).toMatchObject(refused);
      expect(answer.body.error.message).toContain('/payments/claims');
      expect([agent.calls.length, await available(thief.key)]).toEqual([calls, '0.00']);
      await isBooked();
      expect([await available(owner.key), await available(thief.key)]).toEqual(['0.05', '0.00']);
      expect((await buy(thief.key, stolen)).status).toBe(409);
    },
  );

  it('also when the wallet is unproven: its money waits in suspense for a proof', async () => {
    const wallet = await h.newWallet(50_000n);
    const signed = await payV2(h, wallet, await deposit(thief.key));
    await submitPayment(h.rpcUrl, h, signed);
    expect(await deposit(thief.key, signed)).toMatchObject(refused);
    await isBooked();
    const claim = (body: object) => h.request('POST', '/payments/claims', { key: thief.key, body });
    const { challengeId, message } = (await claim({ address: wallet.address })).body.data;
    const proof = { challengeId, signature: await wallet.signMessage({ message }) };
    const before = await available(thief.key);
    expect((await claim(proof)).body.data).toMatchObject({ amount: '0.05' });
    expect([before, await available(thief.key)]).toEqual(['0.00', '0.05']);
  });
});

describe('a spent authorization pays for the account that has proven its wallet', () => {
  it.each([['a deposit', deposit] as const, ['a call', invoke] as const])('as its own: %s', async (_what, buy) => {
    const wallet = await h.newWallet(50_000n);
    const { key } = await accountOf(wallet);
    const headers = await payV2(h, wallet, await buy(key));
    await submitPayment(h.rpcUrl, h, headers);
    expect((await buy(key, headers)).status).toBe(200);
    await isBooked();
  });

  it('as a further wallet of it', async () => {
    const wallet = await h.newWallet(50_000n);
    const { key } = await h.newAccount();
    const claim = (body: object) => h.request('POST', '/payments/claims', { key, body });
    const headers = await payV2(h, wallet, await invoke(key));
    await submitPayment(h.rpcUrl, h, headers);
    expect(await invoke(key, headers)).toMatchObject(refused);
    const { challengeId, message } = (await claim({ address: wallet.address })).body.data;
    await claim({ challengeId, signature: await wallet.signMessage({ message }) });
    expect((await invoke(key, headers)).body.data).toMatchObject({ status: 'completed' });
    await isBooked();
  });

  it('but not for an account that was opened for the wallet without a proof', async () => {
    const wallet = await h.newWallet(50_000n);
    const { key, accountId } = await accountOf(wallet);
    await h.ctx.db.query('unprove', 'update account set wallet_proven_at = null where id = $1', [accountId]);
    const headers = await payV2(h, wallet, await deposit(key));
    await submitPayment(h.rpcUrl, h, headers);
    expect(await deposit(key, headers)).toMatchObject(refused);
    await isBooked();
  });
});

it('a made-up signature of a contract wallet is refused when its authorization is spent, also to the account that proved the wallet', async () => {
  const wallet = await newContractWallet(h, await h.newWallet(0n), 50_000n);
  const { key } = await accountOf(wallet);
  const signed = await payV2(h, wallet, await deposit(key));
  await submitPayment(h.rpcUrl, h, signed);
  const { nonce } = paymentIn(signed).authorization;
  const pretend = (changes: PaymentChanges) =>
    deposit(key).then((unpaid) => payV2(h, wallet, unpaid, { nonce: nonce as `0x${string}`, ...changes }));
  const nowS = BigInt(Math.floor(Date.now() / 1000));
  for (const forged of [
    { signature: '0xdead' },
    { signature: `0x${'11'.repeat(65)}` },
    { signature: paymentIn(signed).signature, validBefore: nowS + 7000n },
  ])
    expect(await deposit(key, await pretend(forged))).toMatchObject(refused);
  expect(await available(key)).toBe('0.00');
  expect((await deposit(key, signed)).status).toBe(200);
  expect(await available(key)).toBe('0.05');
});

describe('a payment under the nonce of its offer', () => {
  const boundOf = (unpaid: Answer) => unpaid.body.accepts[0].extra.nonce as `0x${string}`;

  it.each([
    ['a deposit', 2, deposit],
    ['a deposit', 1, deposit],
    ['a call', 2, invoke],
    ['a call', 1, invoke],
  ] as const)(
    'is refused to a stranger who shows it first, unspent, and pays for its purchase: %s (x402 v%i)',
    async (_what, version, buy) => {
      const pay = version === 2 ? payV2 : payV1;
      const wallet = await h.newWallet(50_000n);
      const { key } = await h.newAccount();
      await h.request('POST', '/payments/treasury', { key, body: {} });
      const unpaid = await buy(key);
      const signed = await pay(h, wallet, unpaid, { nonce: boundOf(unpaid) });
      const show = async () => buy(thief.key, await shownBy(wallet, await buy(thief.key), signed, version));
      const notTheirs = { status: 402, body: { error: { details: { reason: 'invalid_offer' } } } };
      expect(await show()).toMatchObject(notTheirs);
      await submitSigned(h.rpcUrl, h, paymentIn(signed));
      expect(await show()).toMatchObject(notTheirs);
      // The wallet is nobody's: the nonce alone tells whose purchase it is.
      expect((await buy(key, signed)).status).toBe(200);
      expect(await available(thief.key)).toBe('0.05');
      await isBooked();
    },
  );

  it('is refused for another thing of the same account, and under a nonce that only looks like one it is any payment', async () => {
    const wallet = await h.newWallet(100_000n);
    const { key } = await h.newAccount();
    await h.request('POST', '/payments/treasury', { key, body: {} });
    const nonce = boundOf(await invoke(key));
    expect((await deposit(key, await payV1(h, wallet, await deposit(key), { nonce }))).status).toBe(402);
    const last = nonce.slice(18, 20) === '00' ? '01' : '00';
    const altered = `${nonce.slice(0, 18)}${last}${nonce.slice(20)}` as `0x${string}`;
    expect((await deposit(key, await payV1(h, wallet, await deposit(key), { nonce: altered }))).status).toBe(200);
  });
});

describe('a reserved authorization is never a payment, spent or not', () => {
  it('another node’s refund of a request, even for the account of that node', async () => {
    const wallet = await h.newWallet(100_000n);
    const { key } = await accountOf(wallet);
    const id = `req_${randomBytes(8).toString('hex')}`;
    const nonce = payoutNonce(h.ctx.chain.chainId, 'refund', id) as `0x${string}`;
    const awaited = { requestId: 'req_of_somebody', from: wallet.address.toLowerCase(), homeRequestId: id };
    expect(await h.ctx.db.transaction((tx) => awaitRefunds(h.ctx, tx, awaited))).toBe(true);
    const headers = await payV2(h, wallet, await deposit(key), { nonce });
    expect(await deposit(key, headers)).toMatchObject(refused);
    expect(await invoke(thief.key, await payV2(h, wallet, await invoke(thief.key), { nonce }))).toMatchObject(refused);
    await submitPayment(h.rpcUrl, h, headers);
    expect(await deposit(key, headers)).toMatchObject(refused);
    expect(await available(key)).toBe('0.00');
    // Nobody paid for a request of this name, so what came is the sender's in the end.
    await expect.poll(() => available(key)).toBe('0.05');
  });

  it('one that the node itself signed', async () => {
    const { wallet, chain } = h.ctx;
    const authorization = {
      ...{ from: wallet.address, to: wallet.address, valueMicro: 50_000n, validAfterS: 0n },
      ...{ validBeforeS: BigInt(Math.floor(Date.now() / 1000)) + 300n, nonce: generatePrivateKey() as string },
    };
    const signature = await wallet.signHash(authorizationDigest(chain.domainSeparator, authorization));
    const own = { ...privateKeyToAccount(generatePrivateKey()), address: wallet.address as `0x${string}` };
    const changes = { signature, nonce: authorization.nonce as `0x${string}`, validBefore: authorization.validBeforeS };
    const show = async () => deposit(thief.key, await payV2(h, own, await deposit(thief.key), changes));
    expect(await show()).toMatchObject(refused);
    await submitSigned(h.rpcUrl, h, { authorization, signature });
    expect(await show()).toMatchObject(refused);
  });
});
