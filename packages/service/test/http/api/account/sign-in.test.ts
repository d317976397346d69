import { callChain } from '@agent-network/chain/chain-rpc-client';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { parseSiweMessage } from 'viem/siwe';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { openAccount } from '../../../../src/accounts/open-account.ts';
import { challengeIdOf, newNonce } from '../../../../src/accounts/proofs/challenge-id.ts';
import { createSecrets } from '../../../../src/lib/secrets.ts';
import { listNode } from '../../../network/calls/support/list-node.ts';
import { fromOwnPage } from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({
    clock: { now: () => new Date(Date.now() + offsetMs) },
    env: { NODE_REQUESTS_PER_HOUR: '5000', NODE_INVOCATIONS_PER_HOUR: '400' },
  });
});
afterAll(() => h.stop());

const newSigner = () => privateKeyToAccount(generatePrivateKey());
const ask = async (address: string) => (await h.request('POST', '/auth/challenge', { body: { address } })).body.data;
const send = (body: unknown, headers: Record<string, string> = {}) =>
  h.request('POST', '/auth/sign-in', { body, headers });
async function signIn(wallet: ReturnType<typeof newSigner>, more: object = {}, headers: Record<string, string> = {}) {
  const { challengeId, message } = await ask(wallet.address);
  return send({ challengeId, signature: await wallet.signMessage({ message }), ...more }, headers);
}
const account = async (key: string) => (await h.request('GET', '/account', { key })).body.data;

describe('signing in with a wallet', () => {
  it('opens its account the first time and finds it the next; the wallet is proven, the plan free', async () => {
    const wallet = newSigner();
    const first = (await signIn(wallet)).body.data;
    expect(first).toMatchObject({ name: 'sign-in', address: wallet.address.toLowerCase() });
    expect(first.scopes).toEqual(['agents:write', 'invoke', 'payments:read', 'payments:write']);
    expect(await account(first.apiKey)).toMatchObject({ accountId: first.accountId, plan: 'free', walletProven: true });
    const second = (await signIn(wallet, { name: 'again', scopes: ['invoke'], expiresInS: 60 })).body.data;
    expect(second).toMatchObject({ accountId: first.accountId, name: 'again', scopes: ['invoke'] });
    expect(Date.parse(second.expiresAt) - Date.parse(second.createdAt)).toBeCloseTo(60_000, -3);
    expectError(await h.request('GET', '/payments/balance', { key: second.apiKey }), 'FORBIDDEN');
  });

  it('leaves the plan of an account that there is, and proves its wallet', async () => {
    const wallet = newSigner();
    await h.ctx.db.query('old-account', `insert into account values ('acc_pro', $1, 'pro', null, now())`, [
      wallet.address.toLowerCase(),
    ]);
    const { apiKey } = (await signIn(wallet)).body.data;
    expect(await account(apiKey)).toMatchObject({ accountId: 'acc_pro', plan: 'pro', walletProven: true });
  });

  it.each(['/auth/sign-in', '/auth/session'])(
    'by %s verifies the agents that the account has already, once',
    async (path) => {
      const wallet = newSigner();
      const { address, accountId } = await openAccount(h.ctx, {
        address: wallet.address,
        plan: 'pro',
        isWalletProven: false,
      });
      const scopes = ['agents:write', 'webhooks:manage'] as const;
      const { apiKey: key } = await issueApiKey(h.ctx, { accountId, name: 'test', scopes, expiresAt: null });
      const agent = await startTestAgent(h, { owner: { accountId, address, key } });
      const isVerified = async () => (await h.request('GET', `/agents/${agent.id}`)).body.data.verified;
      expect(await isVerified()).toBe(false);
      for (const _ of [1, 2]) {
        const { challengeId, message } = await ask(wallet.address);
        const body = { challengeId, signature: await wallet.signMessage({ message }) };
        expect((await h.request('POST', path, { body, headers: fromOwnPage(h) })).status).toBe(200);
        expect(await isVerified()).toBe(true);
      }
      const { events } = (await h.request('GET', '/events?type=agent.verified', { key })).body.data;
      expect(events).toMatchObject([{ data: { id: agent.id, verified: true } }]);
      await agent.die();
    },
  );

  it('shows a text of EIP-4361 that names the node and says what it is for', async () => {
    const wallet = newSigner();
    const { challengeId, message } = await ask(wallet.address);
    expect(parseSiweMessage(message)).toMatchObject({
      domain: new URL(h.baseUrl).host,
      address: wallet.address,
      uri: `${h.baseUrl}/auth/sign-in`,
      requestId: challengeId,
      statement: expect.stringContaining('moves no money'),
    });
  });

  it('takes contract wallets', async () => {
    const { address } = newSigner();
    await callChain(h.rpcUrl, 'anvil_setCode', address, '0x631626ba7e60e01b60005260206000f3');
    const { challengeId } = await ask(address);
    expect((await send({ challengeId, signature: '0x1234' })).body.data.address).toBe(address.toLowerCase());
  });

  it('takes a challenge once', async () => {
    const wallet = newSigner();
    const { challengeId, message } = await ask(wallet.address);
    const body = { challengeId, signature: await wallet.signMessage({ message }) };
    const answers = await Promise.all([send(body), send(body), send(body)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
    expectError(await send(body), 'CONFLICT');
  });

  it('takes it for five minutes', async () => {
    const wallet = newSigner();
    const { challengeId, message } = await ask(wallet.address);
    const body = { challengeId, signature: await wallet.signMessage({ message }) };
    offsetMs += 301_000;
    expectError(await send(body), 'CONFLICT');
    await ask(newSigner().address);
    expectError(await send(body), 'CONFLICT');
  });

  it('refuses the signature of another wallet, or of another text', async () => {
    const wallet = newSigner();
    const { challengeId, message } = await ask(wallet.address);
    expectError(await send({ challengeId, signature: await newSigner().signMessage({ message }) }), 'VALIDATION_ERROR');
    const changed = await wallet.signMessage({ message: `${message} ` });
    expectError(await send({ challengeId, signature: changed }), 'VALIDATION_ERROR');
  });

  describe('for a key with more than the default scopes', () => {
    const grant = { scopes: ['payments:read', 'payments:withdraw'], expiresInS: 3600 };
    const askFor = async (address: string, more: object = grant) =>
      (await h.request('POST', '/auth/challenge', { body: { address, ...more } })).body.data;

    it('gives each scope that the signed text names, for the lifetime that it names', async () => {
      for (const scopes of [['keys:manage', 'webhooks:manage', 'invoke'], grant.scopes]) {
        const wallet = newSigner();
        const { challengeId, message } = await askFor(wallet.address, { scopes, expiresInS: 3600 });
        expect(message).toContain(`valid for 3600 seconds, with the scopes ${[...scopes].sort().join(', ')}.`);
        const signature = await wallet.signMessage({ message });
        const { data } = (await send({ challengeId, signature, scopes, expiresInS: 3600 })).body;
        expect([...data.scopes].sort()).toEqual([...scopes].sort());
        expect(Math.abs(Date.parse(data.expiresAt) - Date.parse(data.createdAt) - 3_600_000)).toBeLessThan(5000);
      }
    });

    it('gives a thief of a plain signature, or of one for less, nothing', async () => {
      const wallet = newSigner();
      for (const scope of ['payments:withdraw', 'keys:manage', 'webhooks:manage'])
        expectError(await signIn(wallet, { scopes: [scope] }), 'VALIDATION_ERROR', 'challengeId');
      const less = await askFor(wallet.address, { scopes: ['payments:read'], expiresInS: 60 });
      const signature = await wallet.signMessage({ message: less.message });
      for (const more of [grant, { ...grant, expiresInS: 60 }, { scopes: ['payments:read'], expiresInS: 3600 }])
        expectError(await send({ challengeId: less.challengeId, signature, ...more }), 'VALIDATION_ERROR', 'scopes');
    });

    it('takes a signature once, for five minutes', async () => {
      const wallet = newSigner();
      const { challengeId, message } = await askFor(wallet.address);
      const signed = { challengeId, signature: await wallet.signMessage({ message }), ...grant };
      const answers = await Promise.all([send(signed), send(signed), send(signed)]);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409]);
      const late = await askFor(wallet.address);
      const signature = await wallet.signMessage({ message: late.message });
      offsetMs += 301_000;
      expectError(await send({ ...signed, challengeId: late.challengeId, signature }), 'CONFLICT');
    });

    it('signs nobody in to a session', async () => {
      const wallet = newSigner();
      const { challengeId, message } = await askFor(wallet.address);
      const body = { challengeId, signature: await wallet.signMessage({ message }) };
      expectError(await h.request('POST', '/auth/session', { body, headers: fromOwnPage(h) }), 'NOT_FOUND');
    });

    it('never gives a scope of the node, nor withdrawals for more than a day or with the right to make keys', async () => {
      const { address } = newSigner();
      for (const [more, path] of [
        [{ scopes: ['operator'] }, 'scopes.0'],
        [{ scopes: ['metrics:read'] }, 'scopes.0'],
        [{ scopes: ['payments:withdraw', 'keys:manage'] }, 'scopes'],
        [{ scopes: ['payments:withdraw'], expiresInS: 86_401 }, 'expiresInS'],
      ] as const)
        expectError(
          await h.request('POST', '/auth/challenge', { body: { address, ...more } }),
          'VALIDATION_ERROR',
          path,
        );
    });

    it('makes a key that a thief of it, or of one that manages keys, can neither renew nor pass on', async () => {
      const wallet = newSigner();
      const keyWith = async (given: { scopes: string[]; expiresInS?: number }) => {
        const { challengeId, message } = await askFor(wallet.address, given);
        return (await send({ challengeId, signature: await wallet.signMessage({ message }), ...given })).body.data;
      };
      const withdrawing = await keyWith(grant);
      const managing = await keyWith({ scopes: ['keys:manage', 'invoke'] });
      const create = (key: string, scopes: string[]) =>
        h.request('POST', '/account/keys', { key, body: { name: 'x', scopes } });
      expectError(await create(withdrawing.apiKey, ['payments:withdraw']), 'FORBIDDEN');
      expectError(await create(managing.apiKey, ['payments:withdraw']), 'FORBIDDEN');
      for (const { apiKey } of [withdrawing, managing])
        expectError(
          await h.request('POST', `/account/keys/${withdrawing.keyId}/roll`, { key: apiKey, body: {} }),
          'FORBIDDEN',
        );
    });
  });

  it('tells a refused caller where and how to get what is missing', async () => {
    const { apiKey } = (await signIn(newSigner())).body.data;
    const refused = async (key: string | undefined, path: string, body: object) =>
      (await h.request('POST', path, { key, body })).body.error;
    expect(await refused(undefined, '/account/keys', {})).toMatchObject({
      ...{
        code: 'UNAUTHORIZED',
        help: { page: '/dashboard/keys', docs: '/docs/conventions#keys', command: 'agentnet login' },
      },
    });
    expect(await refused(apiKey, '/account/keys', { name: 'x' })).toMatchObject({
      code: 'FORBIDDEN',
      help: {
        page: '/dashboard/keys',
        docs: '/docs/conventions#keys',
        command: 'agentnet login --wallet --scope keys:manage',
      },
    });
    expect(await (await fetch(`${h.baseUrl}/docs/conventions`)).text()).toContain('id="keys"');
  });

  it('takes no challenge of another kind, and other things take none of this kind', async () => {
    const owner = await h.newAccount();
    const wallet = newSigner();
    const claim = await h.request('POST', '/payments/claims', { key: owner.key, body: { address: wallet.address } });
    const { challengeId, message } = claim.body.data;
    expectError(await send({ challengeId, signature: await wallet.signMessage({ message }) }), 'NOT_FOUND');
    const other = await ask(wallet.address);
    const signature = await wallet.signMessage({ message: other.message });
    const body = { challengeId: other.challengeId, signature };
    expectError(await h.request('POST', '/payments/claims', { key: owner.key, body }), 'NOT_FOUND');
  });

  it('does not let in a wallet that another account has claimed', async () => {
    const owner = await h.newAccount();
    const wallet = newSigner();
    const claim = await h.request('POST', '/payments/claims', { key: owner.key, body: { address: wallet.address } });
    const { challengeId, message } = claim.body.data;
    const body = { challengeId, signature: await wallet.signMessage({ message }) };
    expect((await h.request('POST', '/payments/claims', { key: owner.key, body })).status).toBe(200);
    expectError(await signIn(wallet), 'CONFLICT');
  });

  it('stays possible with a challenge that was given before strangers asked for many in the name of the wallet', async () => {
    const wallet = newSigner();
    const { challengeId, message } = await ask(wallet.address);
    await Promise.all(Array.from({ length: 40 }, () => ask(wallet.address)));
    const signed = { challengeId, signature: await wallet.signMessage({ message }) };
    expect((await send(signed)).status).toBe(200);
  });

  it('stores what was signed and used, and nothing for who only asks', async () => {
    const count = async () =>
      (await h.ctx.db.query<{ n: bigint }>('', 'select count(*) as n from used_challenge'))[0]?.n;
    const before = await count();
    await ask(newSigner().address);
    expect(await count()).toBe(before);
    await signIn(newSigner());
    expect(await count()).toBe((before ?? 0n) + 1n);
  });

  it('removes used challenges after their expiry', async () => {
    await h.ctx.db.query(
      '',
      `insert into used_challenge select 'old_' || n, now() - interval '1 day' from generate_series(1, 15) as n`,
    );
    await signIn(newSigner());
    expect(await h.ctx.db.query('', `select from used_challenge where id like 'old_%'`)).toEqual([]);
  });

  it('takes no challenge that was altered, or that another node gave', async () => {
    const wallet = newSigner();
    const { challengeId, message } = await ask(wallet.address);
    const signature = await wallet.signMessage({ message });
    for (const nth of [5, 12, 30, 60, challengeId.length - 1]) {
      const other = challengeId[nth] === 'A' ? 'B' : 'A';
      const altered = challengeId.slice(0, nth) + other + challengeId.slice(nth + 1);
      expectError(await send({ challengeId: altered, signature }), 'NOT_FOUND');
    }
    const secrets = createSecrets('x'.repeat(32));
    const address = wallet.address.toLowerCase();
    const [issuedAt, nonce] = [new Date(Date.now() + offsetMs), newNonce()];
    const made = {
      purpose: 'sign-in',
      accountId: null,
      agentId: null,
      termsDigest: null,
      address,
      issuedAt,
      nonce,
    } as const;
    expectError(await send({ challengeId: challengeIdOf(secrets, made), signature }), 'NOT_FOUND');
    expect((await send({ challengeId, signature })).status).toBe(200);
  });
});

describe('a node that is listed', () => {
  it('has limits of its own while it is online', async () => {
    const wallet = newSigner();
    const stranger = { baseUrl: 'http://node.test', ctx: { wallet: { address: wallet.address.toLowerCase() } } };
    const nodeId = await listNode(h, stranger as Parameters<typeof listNode>[1]);
    const { apiKey } = (await signIn(wallet, {}, { 'x-agent-network-via': 'http://node.test' })).body.data;
    const limit = async () => (await h.request('GET', '/account', { key: apiKey })).headers.get('x-ratelimit-limit');
    expect(await limit()).toBe('5000');
    await h.ctx.db.query('leave', `update network_node set status = 'offline' where id = $1`, [nodeId]);
    expect(await limit()).toBe('100');
  });
});
