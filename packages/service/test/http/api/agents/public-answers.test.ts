import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { api, type EndpointName } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import { request } from 'undici';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPRESSED_FROM_BYTES } from '../../../../src/http/answer/encodings.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { until } from '../../../support/until.ts';

let h: Harness;
let agent: TestAgent;
let key: string;

beforeAll(async () => {
  // Some answers tell ages, or when they were made: they change by the clock.
  h = await startHarness({ clock: fixedClock(new Date()) });
  agent = await startTestAgent(h, { perRequest: '0' });
  ({ key } = await h.newAccount());
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** As it stands on the wire: nothing is unpacked. */
async function get(path: string, headers: Record<string, string> = {}, method: 'GET' | 'HEAD' = 'GET') {
  const { statusCode, headers: got, body } = await request(h.baseUrl + path, { method, headers });
  return { status: statusCode, headers: got, bytes: Buffer.from(await body.arrayBuffer()) };
}

const rows = (Object.keys(api) as EndpointName[]).map((name) => ({ name, row: api[name] as Endpoint }));
const publicPaths = rows.filter(({ row }) => row.isPublic).map(({ row }) => row.path);
const documents = ['/openapi.json', '/docs', '/llms.txt', '/agents/{id}/registration.json'];
const of = (path: string) => path.replace('{id}', agent.id);

describe.each([...publicPaths, ...documents])('%s', (path) => {
  it('is 304 without a body to a client that has it, whichever way it says so; HEAD says the same', async () => {
    // A block that the node reads meanwhile changes some answers: then what the client has is another one.
    const checked = async () => {
      const { status, headers, bytes } = await get(of(path));
      const etag = String(headers.etag);
      const given = [etag, `W/${etag}`, `"other", ${etag}`, '*'];
      const again = await Promise.all(given.map((tag) => get(of(path), { 'if-none-match': tag })));
      const head = await get(of(path), {}, 'HEAD');
      const headAgain = await get(of(path), { 'if-none-match': etag }, 'HEAD');
      const other = await get(of(path), { 'if-none-match': '"other"' });
      const isUnchanged = (await get(of(path))).bytes.equals(bytes);
      return isUnchanged && { status, etag, length: bytes.length, again, head, headAgain, other };
    };
    const { status, etag, length, again, head, headAgain, other } = await until(checked);
    expect([status, other.status, head.status, headAgain.status]).toEqual([200, 200, 200, 304]);
    expect(again.map((each) => each.status)).toEqual([304, 304, 304, 304]);
    expect(etag).toMatch(/^"[\w-]{27}"$/);
    expect(again.map(({ bytes }) => bytes.length)).toEqual([0, 0, 0, 0]);
    expect(again[0]?.headers).toMatchObject({ etag, 'cache-control': expect.stringMatching(/^public, /) });
    expect([head.bytes.length, headAgain.bytes.length]).toEqual([0, 0]);
    expect([head.headers.etag, Number(head.headers['content-length'])]).toEqual([etag, length]);
  });
});

describe('public answers', () => {
  it('are the same for everyone; answers to a key have its limits in their headers, so shared caches do not keep them', async () => {
    for (const path of ['/agents', `/agents/${agent.id}`, '/agents/facets']) {
      const nobody = await get(path);
      const someone = await get(path, { authorization: `Bearer ${key}` });
      expect(someone.bytes.equals(nobody.bytes)).toBe(true);
      expect(someone.headers.etag).toBe(nobody.headers.etag);
      expect(nobody.headers['cache-control']).toBe('public, no-cache');
      expect(someone.headers['cache-control']).toBe('private, no-cache');
      const credentials = 'Authorization, Cookie, Accept-Encoding';
      // This address has a page as well.
      const vary = path === `/agents/${agent.id}` ? `Accept, ${credentials}` : credentials;
      for (const { headers } of [nobody, someone]) expect(headers.vary).toBe(vary);
    }
  });

  it('that changed are sent again at once: the tag of before is that of another answer', async () => {
    const { key: owner } = await h.newAccount();
    const body = { name: 'Before', description: 'x', capabilities: ['tagged'], rates: { perRequest: '0' } };
    const made = await h.request('POST', '/agents', {
      key: owner,
      body: { ...body, endpoint: 'http://127.0.0.1:9/agent' },
    });
    const { id } = made.body.data;
    const path = `/agents/${id}`;
    for (const name of ['First', 'Second']) {
      const { headers } = await get(path);
      await h.request('PUT', path, { key: owner, body: { name } });
      const next = await get(path, { 'if-none-match': String(headers.etag) });
      expect(next.status).toBe(200);
      expect(JSON.parse(next.bytes.toString()).data.name).toBe(name);
    }
  });

  it('are the only ones that anybody keeps: those of an account, errors and changes are stored nowhere and have no tag', async () => {
    const authorization = `Bearer ${key}`;
    const kept = [
      await get('/account', { authorization }),
      await get('/payments/balance', { authorization, 'if-none-match': '*' }),
      await get('/events', { authorization, 'if-none-match': '*' }),
      await get('/auth/session', { 'if-none-match': '*' }),
      await get('/agents/agt_0000000000'),
      await get('/agents?limit=x'),
    ];
    expect(kept.map(({ status }) => status)).toEqual([200, 200, 200, 200, 404, 400]);
    for (const { headers } of kept) {
      expect(headers['cache-control']).toBe('no-store');
      expect([headers.etag, headers['content-encoding']]).toEqual([undefined, undefined]);
    }
  });
});

describe('compression', () => {
  const LIST = '/agents?capability=wordy&limit=100';

  beforeAll(async () => {
    const { key: owner } = await h.newAccount();
    const capabilities = ['wordy', ...Array.from({ length: 15 }, (_, nth) => `one-of-many-capabilities-${nth}`)];
    for (let nth = 0; nth < 25; nth++) {
      const body = { name: `Wordy ${nth}`, description: '', capabilities, rates: { perRequest: '0' } };
      await h.request('POST', '/agents', { key: owner, body: { ...body, endpoint: `http://127.0.0.1:9/${nth}` } });
    }
  });

  it('is for large public answers, in the encoding that the client takes; each form has its tag, and any of them is known', async () => {
    const plain = await get(LIST);
    expect(plain.bytes.length).toBeGreaterThan(COMPRESSED_FROM_BYTES);
    expect(plain.headers['content-encoding']).toBeUndefined();
    const br = await get(LIST, { 'accept-encoding': 'gzip, br' });
    const gzip = await get(LIST, { 'accept-encoding': 'gzip' });
    const refused = await get(LIST, { 'accept-encoding': 'gzip;q=0, br;q=0' });
    expect([br, gzip].map(({ headers }) => headers['content-encoding'])).toEqual(['br', 'gzip']);
    expect(brotliDecompressSync(br.bytes).equals(plain.bytes)).toBe(true);
    expect(gunzipSync(gzip.bytes).equals(plain.bytes)).toBe(true);
    expect(refused.bytes.equals(plain.bytes)).toBe(true);
    for (const { bytes } of [br, gzip]) expect(bytes.length * 4).toBeLessThan(plain.bytes.length);
    const tags = [plain, br, gzip].map(({ headers }) => String(headers.etag));
    expect(new Set(tags).size).toBe(3);
    for (const tag of tags) {
      const again = await get(LIST, { 'accept-encoding': 'gzip', 'if-none-match': tag });
      expect([again.status, again.headers.etag]).toEqual([304, tag]);
    }
  });

  it('is for no small answer, none of an account, and no stream', async () => {
    const headers = { 'accept-encoding': 'gzip, br', authorization: `Bearer ${key}` };
    const input = { text: 'y'.repeat(2 * COMPRESSED_FROM_BYTES) };
    const made = await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x', input } });
    const own = await get(`/invoke/${made.body.data.requestId}?detail=true`, headers);
    expect(own.bytes.length).toBeGreaterThan(COMPRESSED_FROM_BYTES);
    const small = await get('/agents?limit=1', headers);
    const stream = await request(`${h.baseUrl}/events`, { headers: { ...headers, accept: 'text/event-stream' } });
    expect(stream.headers['content-type']).toBe('text/event-stream');
    stream.body.destroy();
    stream.body.on('error', () => undefined);
    expect([own, small, stream].map((each) => each.headers['content-encoding'])).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
