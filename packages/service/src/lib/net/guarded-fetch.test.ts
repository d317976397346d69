import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { expectKind, type LoopbackEndpoint, startLoopbackEndpoint } from '../../../test/support/loopback-endpoint.ts';
import type { ResolvedAddress } from './guarded-fetch-connect.ts';

let endpoint: LoopbackEndpoint;

beforeEach(async () => {
  endpoint = await startLoopbackEndpoint();
});

afterEach(() => endpoint[Symbol.asyncDispose]());

describe('a request', () => {
  test('sends method, headers and body, and returns status, headers and body', async () => {
    endpoint.handle = (request, response) => {
      const { method, url, headers } = request;
      request.on('data', (chunk) => {
        response
          .writeHead(418, { 'x-reply': 'yes' })
          .end(JSON.stringify({ method, url, headers, body: String(chunk) }));
      });
    };
    const answer = await endpoint.open().request({
      ...endpoint.get(`http://127.0.0.1:${endpoint.port}/path?q=1`),
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'accept-encoding': 'gzip' },
      body: 'hello',
    });
    expect(answer.status).toBe(418);
    expect(answer.headers['x-reply']).toBe('yes');
    expect(JSON.parse(String(answer.body))).toMatchObject({
      method: 'POST',
      url: '/path?q=1',
      body: 'hello',
      headers: {
        'accept-encoding': 'identity',
        'user-agent': 'test/1',
        host: `127.0.0.1:${endpoint.port}`,
        'content-length': '5',
      },
    });
  });

  test('one after the other needs no more than two connections: the second while the first is being put back', async () => {
    const ports = new Set<number | undefined>();
    endpoint.handle = (request, response) => {
      ports.add(request.socket.remotePort);
      response.end();
    };
    const guarded = endpoint.open();
    for (let i = 0; i < 10; i++) await guarded.request(endpoint.get());
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test('waits for a connection once the limit of an origin is reached', async () => {
    let connectionCount = 0;
    endpoint.server.on('connection', () => connectionCount++);
    let held: (() => void)[] = [];
    endpoint.handle = (_request, response) => {
      held.push(() => response.end());
      if (held.length < 3) return;
      for (const release of held) release();
      held = [];
    };
    const guarded = endpoint.open({ connections: 3 });
    await Promise.all(Array.from({ length: 21 }, () => guarded.request(endpoint.get())));
    expect({ connectionCount, requestCount: endpoint.requestCount }).toEqual({ connectionCount: 3, requestCount: 21 });
  });

  test('a header that cannot be sent is our own mistake and is thrown as such', async () => {
    await expect(endpoint.open().request({ ...endpoint.get(), headers: { 'x-a': 'a\r\nb: c' } })).rejects.toMatchObject(
      {
        code: 'UND_ERR_INVALID_ARG',
      },
    );
  });
});

describe('refused targets', () => {
  test.each([
    'https://127.0.0.1:PORT/',
    'https://2130706433:PORT/',
    'https://0x7f000001:PORT/',
    'https://0177.0.0.1:PORT/',
    'https://[::ffff:127.0.0.1]:PORT/',
    'https://[::1]:PORT/',
    'https://0.0.0.0:PORT/',
    'https://localhost:PORT/',
    'https://169.254.169.254/',
    'https://[fd00::1]/',
    'https://100.64.0.1/',
    'https://[64:ff9b::7f00:1]/',
  ])('public rules never connect to %s', async (url) => {
    const error = await expectKind(
      endpoint.open({ allowPrivate: false }).request(endpoint.get(url.replace('PORT', `${endpoint.port}`))),
      'blocked',
    );
    expect(error.isRetryable).toBe(false);
    expect(endpoint.requestCount).toBe(0);
  });

  test.each(['http://example.com/', 'nonsense'])('public rules refuse %s as a URL', async (url) => {
    await expectKind(endpoint.open({ allowPrivate: false }).request(endpoint.get(url)), 'invalid_url');
  });

  test.each(['http://0.0.0.0:PORT/', 'http://169.254.169.254/', 'http://[fd00:ec2::254]/'])(
    'local rules never connect to %s',
    async (url) => {
      await expectKind(endpoint.open().request(endpoint.get(url.replace('PORT', `${endpoint.port}`))), 'blocked');
      expect(endpoint.requestCount).toBe(0);
    },
  );

  test('local rules reach loopback under every spelling', async () => {
    const guarded = endpoint.open();
    for (const host of ['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::ffff:127.0.0.1]', 'localhost']) {
      expect((await guarded.request(endpoint.get(`http://${host}:${endpoint.port}/`))).status).toBe(200);
    }
  });
});

describe('names', () => {
  const loopback: ResolvedAddress = { address: '127.0.0.1', family: 4 };
  const metadata: ResolvedAddress = { address: '169.254.169.254', family: 4 };

  test('a name with one refused address among good ones is refused', async () => {
    const guarded = endpoint.open({ resolve: async () => [loopback, metadata] });
    await expectKind(guarded.request(endpoint.get(`http://agent.test:${endpoint.port}/`)), 'blocked');
    expect(endpoint.requestCount).toBe(0);
  });

  test('a public name that resolves to loopback is refused', async () => {
    const guarded = endpoint.open({ allowPrivate: false, resolve: async () => [loopback] });
    await expectKind(guarded.request(endpoint.get(`https://agent.example:${endpoint.port}/`)), 'blocked');
  });

  test('an answer that changes is judged again for every connection, and each connection resolves once', async () => {
    const answers = [[loopback], [metadata]];
    let resolveCount = 0;
    const guarded = endpoint.open({ resolve: async () => answers[resolveCount++] ?? [] });
    endpoint.handle = (_request, response) => response.setHeader('connection', 'close').end();
    const url = `http://agent.test:${endpoint.port}/`;
    expect((await guarded.request(endpoint.get(url))).status).toBe(200);
    expect(resolveCount).toBe(1);
    await expectKind(guarded.request(endpoint.get(url)), 'blocked');
    expect({ resolveCount, requestCount: endpoint.requestCount }).toEqual({ resolveCount: 2, requestCount: 1 });
  });

  test('the socket goes to the judged address, whatever the system would resolve', async () => {
    const guarded = endpoint.open({ resolve: async () => [loopback] });
    expect((await guarded.request(endpoint.get(`http://no-such-name.invalid:${endpoint.port}/`))).status).toBe(200);
  });

  test('a name that does not resolve may be retried, and reads like a refused one', async () => {
    const failing = endpoint.open({
      resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })),
    });
    const dns = await expectKind(failing.request(endpoint.get('http://agent.test/')), 'dns');
    const empty = await expectKind(
      endpoint.open({ resolve: async () => [] }).request(endpoint.get('http://agent.test/')),
      'dns',
    );
    const blocked = await expectKind(
      endpoint.open({ resolve: async () => [metadata] }).request(endpoint.get('http://agent.test/')),
      'blocked',
    );
    expect(dns.isRetryable && empty.isRetryable).toBe(true);
    expect(dns.message).toBe(blocked.message);
  });
});
