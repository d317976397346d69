import { request as rawRequest } from 'node:http';
import { networkInterfaces } from 'node:os';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Browser,
  cookieOf,
  fromOwnPage,
  newSigner,
  openBrowser,
  signedChallenge,
} from '../../../support/browser.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let browser: Browser;
let webhookId: string;
let keyId: string;
beforeAll(async () => {
  h = await startHarness();
  browser = await openBrowser(h);
  webhookId = (await browser.request('POST', '/account/webhooks', { body: { url: 'https://you.example/hooks' } })).body
    .data.webhookId;
  keyId = (await browser.request('POST', '/account/keys', { body: { name: 'x' } })).body.data.keyId;
});
afterAll(() => h.stop());

const port = () => new URL(h.baseUrl).port;
const own = () => h.baseUrl;

/** What browsers, and whoever has stolen a cookie, could say of themselves in place of the node's own page. */
const elsewhere: Record<string, () => Record<string, string>> = {
  'another site': () => ({ 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' }),
  'another port of the same host': () => ({ 'sec-fetch-site': 'same-site', origin: 'http://127.0.0.1:1' }),
  'another name of loopback': () => ({ origin: `http://localhost:${port()}` }),
  'another scheme': () => ({ origin: own().replace('http:', 'https:') }),
  'a sandboxed page': () => ({ 'sec-fetch-site': 'cross-site', origin: 'null' }),
  'the address bar': () => ({ 'sec-fetch-site': 'none' }),
  'a site that forges the origin': () => ({ 'sec-fetch-site': 'cross-site', origin: own() }),
  'a page of the same site that forges the origin': () => ({ 'sec-fetch-site': 'same-site', origin: own() }),
  'an old browser on another site': () => ({ origin: 'https://evil.example' }),
  'a link on another site': () => ({ referer: 'https://evil.example/' }),
  'a referer that only begins alike': () => ({ referer: `${own()}.evil.example/` }),
  'an origin that only begins alike': () => ({ origin: `${own()}.evil.example` }),
  'nobody who says where': () => ({}),
};

const calls: Record<string, () => [string, string, unknown?]> = {
  GET: () => ['GET', '/account'],
  POST: () => ['POST', '/account/keys', { name: 'stolen' }],
  PUT: () => ['PUT', `/account/webhooks/${webhookId}`, { url: 'https://evil.example/' }],
  DELETE: () => ['DELETE', `/account/keys/${keyId}`],
};

describe.each(Object.entries(elsewhere))('a call by cookie from %s', (_from, headersOf) => {
  it.each(Object.entries(calls))('is refused and changes nothing: %s', async (_method, callOf) => {
    const [method, path, body] = callOf();
    const before = await databaseDigest(h);
    const headers = headersOf();
    expectError(await browser.request(method, path, { ...(body ? { body } : {}), headers }), 'FORBIDDEN');
    expect(await databaseDigest(h)).toEqual(before);
  });

  it('neither signs in nor out, and does not see the session', async () => {
    const headers = headersOf();
    const body = await signedChallenge(h, newSigner());
    const before = await databaseDigest(h);
    for (const [method, path] of [
      ['POST', '/auth/session'],
      ['POST', '/auth/session/local'],
      ['DELETE', '/auth/session'],
    ] as const) {
      const answer = await browser.request(method, path, {
        headers,
        ...(path === '/auth/session' && method === 'POST' ? { body } : {}),
      });
      expectError(answer, 'FORBIDDEN');
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect((await browser.request('GET', '/auth/session', { headers })).body.data.session).toBeNull();
    expect(await databaseDigest(h)).toEqual(before);
  });
});

describe('a call by cookie from a page of the node', () => {
  it.each([
    ['GET', 'with Fetch Metadata', () => ({ 'sec-fetch-site': 'same-origin' })],
    ['GET', 'with a referer, of an old browser', () => ({ referer: `${own()}/dashboard` })],
    ['GET', 'with an origin, of an old browser', () => ({ origin: own() })],
    ['POST', 'with Fetch Metadata', () => fromOwnPage(h)],
    ['POST', 'with an origin, of an old browser', () => ({ origin: own() })],
  ])('is answered: %s %s', async (method, _how, headers) => {
    const path = method === 'GET' ? '/account' : '/payments/treasury';
    const answer = await browser.request(method, path, { headers: headers() as Record<string, string> });
    expect(answer.status).toBe(200);
    expect(answer.headers.get('access-control-allow-credentials')).toBeNull();
    expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  });

  it('is refused without an origin when it changes something', async () => {
    const headers = { 'sec-fetch-site': 'same-origin' };
    expectError(await browser.request('POST', '/payments/treasury', { headers }), 'FORBIDDEN');
    const referer = { referer: `${own()}/dashboard` };
    expectError(await browser.request('POST', '/payments/treasury', { headers: referer }), 'FORBIDDEN');
  });
});

it('no preflight lets other origins send cookies', async () => {
  const headers = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
  const { headers: answered } = await h.request('OPTIONS', '/auth/session', { headers });
  expect(answered.get('access-control-allow-credentials')).toBeNull();
  expect(answered.get('access-control-allow-origin')).toBe('*');
});

it('a call that needs no key is answered to a foreign page as to anybody, not as to the account', async () => {
  const headers = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  const { status, headers: answered } = await browser.request('GET', '/agents', { headers });
  expect([status, answered.get('x-ratelimit-limit')]).toEqual([200, '1000000000']);
  const { headers: ownAnswer } = await browser.request('GET', '/agents');
  expect(ownAnswer.get('x-ratelimit-limit')).toBe('10000');
});

/** `fetch` does not send a `Host` of one's own. */
function asHost(host: string, path: string, headers: Record<string, string>) {
  // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  return new Promise<{ status: number; cookie: string | undefined; body: any }>((resolve, reject) => {
    const method = path === '/auth/session' ? 'GET' : 'POST';
    const sent = rawRequest(
      { host: '127.0.0.1', port: port(), path, method, headers: { ...headers, host } },
      async (answer) => {
        let text = '';
        for await (const part of answer) text += part;
        resolve({ status: answer.statusCode ?? 0, cookie: answer.headers['set-cookie']?.[0], body: JSON.parse(text) });
      },
    );
    sent.on('error', reject).end();
  });
}

describe("local mode's own account", () => {
  const path = '/auth/session/local';

  it('is signed in without a wallet on the machine of the node, and withdraws without a signature', async () => {
    const answer = await h.request('POST', path, { headers: fromOwnPage(h) });
    expect(answer.body.data).toMatchObject({ isLocal: true, plan: 'enterprise', address: h.ctx.localAccount });
    const local = await openBrowser(h, newSigner(), cookieOf(answer));
    const { treasuryId } = (await local.request('POST', '/payments/treasury', { body: {} })).body.data;
    const body = { amount: '1', treasuryId };
    expectError(await local.request('POST', '/payments/withdraw', { body }), 'INSUFFICIENT_FUNDS');
  });

  it('is signed in under each name of loopback', async () => {
    for (const name of ['localhost', '127.0.0.1']) {
      const host = `${name}:${port()}`;
      expect((await asHost(host, path, { origin: `http://${host}` })).status).toBe(200);
    }
  });

  it('is not signed in under a foreign name that leads here (DNS rebinding)', async () => {
    for (const name of ['evil.example', 'localhost.evil.example', '127.0.0.1.evil.example', '127.evil.example']) {
      const host = `${name}:${port()}`;
      const rebound = await asHost(host, path, { origin: `http://${host}`, 'sec-fetch-site': 'same-origin' });
      expect([rebound.status, rebound.cookie]).toEqual([403, undefined]);
      expect([(await asHost(host, path, { origin: own() })).status]).toEqual([404]);
      expect((await asHost(host, '/auth/session', {})).body.data.hasLocalAccount).toBe(false);
    }
  });

  it('is not signed in through a proxy', async () => {
    for (const header of [
      'x-forwarded-for',
      'forwarded',
      'x-real-ip',
      'via',
      'x-forwarded-proto',
      'cf-connecting-ip',
    ]) {
      const headers = { ...fromOwnPage(h), [header]: '127.0.0.1' };
      expectError(await h.request('POST', path, { headers }), 'NOT_FOUND');
    }
  });

  it('is not signed in on a node that others reach, from wherever they call', async () => {
    const outside = Object.values(networkInterfaces())
      .flat()
      .find((each) => each?.family === 'IPv4' && !each.internal)?.address;
    const open = await startHarness({ env: { HOST: '0.0.0.0' } });
    try {
      const own = `http://127.0.0.1:${new URL(open.baseUrl).port}`;
      if (outside) {
        const { port } = new URL(open.baseUrl);
        const answered = await new Promise<number>((resolve, reject) => {
          const headers = { host: `127.0.0.1:${port}`, origin: own };
          const sent = rawRequest({ host: outside, port, path, method: 'POST', headers, localAddress: outside });
          sent
            .on('response', (answer) => resolve(answer.resume().statusCode ?? 0))
            .on('error', reject)
            .end();
        });
        expect(answered).toBe(404);
      }
      expect((await open.request('POST', path, { headers: { origin: own } })).status).toBe(404);
    } finally {
      await open.stop();
    }
  });
});
