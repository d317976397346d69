import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Socket, type Server as TcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createGuardedFetch, type GuardedFetch, type GuardedFetchOptions } from './guarded-fetch.ts';
import type { ResolvedAddress } from './guarded-fetch-connect.ts';
import { GuardedFetchError, type GuardedFetchErrorKind } from './guarded-fetch-error.ts';

const MIB = 1024 * 1024;
let cleanups: (() => unknown)[] = [];
let handle: RequestListener;
let server: Server;
let port: number;
let requestCount: number;

beforeEach(async () => {
  requestCount = 0;
  server = createServer((request, response) => {
    requestCount++;
    handle(request, response);
  });
  port = await listen(server);
  handle = (_request, response) => response.end('ok');
});

afterEach(async () => {
  for (const cleanup of cleanups.reverse()) await cleanup();
  cleanups = [];
});

async function listen(listening: Server | TcpServer): Promise<number> {
  const sockets = new Set<Socket>();
  listening.on('connection', (socket: Socket) => sockets.add(socket));
  listening.listen(0, '127.0.0.1');
  await once(listening, 'listening');
  cleanups.push(() => {
    for (const socket of sockets) socket.destroy();
    return new Promise((resolve) => listening.close(resolve));
  });
  return (listening.address() as AddressInfo).port;
}

function open(options: Partial<GuardedFetchOptions> = {}): GuardedFetch {
  const guarded = createGuardedFetch({ allowPrivate: true, userAgent: 'test/1', ...options });
  cleanups.push(() => guarded.close());
  return guarded;
}

const get = (url = `http://127.0.0.1:${port}/`) => ({ url, method: 'GET', timeoutMs: 5_000, maxBytes: MIB });

async function failureOf(work: Promise<unknown>): Promise<GuardedFetchError> {
  const error = await work.then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(GuardedFetchError);
  return error;
}

async function expectKind(work: Promise<unknown>, kind: GuardedFetchErrorKind): Promise<GuardedFetchError> {
  const error = await failureOf(work);
  expect({ kind: error.kind, cause: error.cause }).toMatchObject({ kind });
  expect(error.message).not.toMatch(/\d+\.\d+|::|127|ECONN|localhost/);
  return error;
}

describe('a request', () => {
  test('sends method, headers and body, and returns status, headers and body', async () => {
    handle = (request, response) => {
      const { method, url, headers } = request;
      request.on('data', (chunk) => {
        response
          .writeHead(418, { 'x-reply': 'yes' })
          .end(JSON.stringify({ method, url, headers, body: String(chunk) }));
      });
    };
    const answer = await open().request({
      ...get(`http://127.0.0.1:${port}/path?q=1`),
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
        host: `127.0.0.1:${port}`,
        'content-length': '5',
      },
    });
  });

  test('one after the other needs no more than two connections: the second while the first is being put back', async () => {
    const ports = new Set<number | undefined>();
    handle = (request, response) => {
      ports.add(request.socket.remotePort);
      response.end();
    };
    const guarded = open();
    for (let i = 0; i < 10; i++) await guarded.request(get());
    expect(ports.size).toBeLessThanOrEqual(2);
  });

  test('waits for a connection once the limit of an origin is reached', async () => {
    let connectionCount = 0;
    server.on('connection', () => connectionCount++);
    let held: (() => void)[] = [];
    handle = (_request, response) => {
      held.push(() => response.end());
      if (held.length < 3) return;
      for (const release of held) release();
      held = [];
    };
    const guarded = open({ connections: 3 });
    await Promise.all(Array.from({ length: 21 }, () => guarded.request(get())));
    expect({ connectionCount, requestCount }).toEqual({ connectionCount: 3, requestCount: 21 });
  });

  test('a header that cannot be sent is our own mistake and is thrown as such', async () => {
    await expect(open().request({ ...get(), headers: { 'x-a': 'a\r\nb: c' } })).rejects.toMatchObject({
      code: 'UND_ERR_INVALID_ARG',
    });
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
      open({ allowPrivate: false }).request(get(url.replace('PORT', `${port}`))),
      'blocked',
    );
    expect(error.isRetryable).toBe(false);
    expect(requestCount).toBe(0);
  });

  test.each(['http://example.com/', 'nonsense'])('public rules refuse %s as a URL', async (url) => {
    await expectKind(open({ allowPrivate: false }).request(get(url)), 'invalid_url');
  });

  test.each(['http://0.0.0.0:PORT/', 'http://169.254.169.254/', 'http://[fd00:ec2::254]/'])(
    'local rules never connect to %s',
    async (url) => {
      await expectKind(open().request(get(url.replace('PORT', `${port}`))), 'blocked');
      expect(requestCount).toBe(0);
    },
  );

  test('local rules reach loopback under every spelling', async () => {
    const guarded = open();
    for (const host of ['127.0.0.1', '2130706433', '0x7f000001', '0177.0.0.1', '[::ffff:127.0.0.1]', 'localhost']) {
      expect((await guarded.request(get(`http://${host}:${port}/`))).status).toBe(200);
    }
  });
});

describe('names', () => {
  const loopback: ResolvedAddress = { address: '127.0.0.1', family: 4 };
  const metadata: ResolvedAddress = { address: '169.254.169.254', family: 4 };

  test('a name with one refused address among good ones is refused', async () => {
    const guarded = open({ resolve: async () => [loopback, metadata] });
    await expectKind(guarded.request(get(`http://agent.test:${port}/`)), 'blocked');
    expect(requestCount).toBe(0);
  });

  test('a public name that resolves to loopback is refused', async () => {
    const guarded = open({ allowPrivate: false, resolve: async () => [loopback] });
    await expectKind(guarded.request(get(`https://agent.example:${port}/`)), 'blocked');
  });

  test('an answer that changes is judged again for every connection, and each connection resolves once', async () => {
    const answers = [[loopback], [metadata]];
    let resolveCount = 0;
    const guarded = open({ resolve: async () => answers[resolveCount++] ?? [] });
    handle = (_request, response) => response.setHeader('connection', 'close').end();
    const url = `http://agent.test:${port}/`;
    expect((await guarded.request(get(url))).status).toBe(200);
    expect(resolveCount).toBe(1);
    await expectKind(guarded.request(get(url)), 'blocked');
    expect({ resolveCount, requestCount }).toEqual({ resolveCount: 2, requestCount: 1 });
  });

  test('the socket goes to the judged address, whatever the system would resolve', async () => {
    const guarded = open({ resolve: async () => [loopback] });
    expect((await guarded.request(get(`http://no-such-name.invalid:${port}/`))).status).toBe(200);
  });

  test('a name that does not resolve may be retried, and reads like a refused one', async () => {
    const failing = open({ resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) });
    const dns = await expectKind(failing.request(get('http://agent.test/')), 'dns');
    const empty = await expectKind(open({ resolve: async () => [] }).request(get('http://agent.test/')), 'dns');
    const blocked = await failureOf(open({ resolve: async () => [metadata] }).request(get('http://agent.test/')));
    expect(dns.isRetryable && empty.isRetryable).toBe(true);
    expect(dns.message).toBe(blocked.message);
  });
});

describe('answers', () => {
  test.each([301, 302, 303, 304, 307, 308])('a %i is not followed', async (status) => {
    handle = (_request, response) => response.writeHead(status, { location: '/elsewhere' }).end();
    await expectKind(open().request(get()), 'redirect');
    expect(requestCount).toBe(1);
  });

  test('exactly the allowed number of bytes is read, one more is refused, announced or not', async () => {
    const guarded = open();
    let size = MIB;
    handle = (request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', size);
      else response.write('x');
      response.end(Buffer.alloc(request.url === '/announced' ? size : size - 1, 'x'));
    };
    for (const path of ['announced', 'chunked']) {
      size = MIB;
      const url = `http://127.0.0.1:${port}/${path}`;
      expect((await guarded.request(get(url))).body).toHaveLength(MIB);
      size = MIB + 1;
      await expectKind(guarded.request(get(url)), 'too_large');
    }
  });

  test('an endless body is cut off and its connection closed', async () => {
    const closed = new Promise((resolve) => {
      handle = (_request, response) => {
        response.on('close', resolve);
        const pour = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384)));
        };
        response.on('drain', pour);
        pour();
      };
    });
    await expectKind(open().request(get()), 'too_large');
    await closed;
  });

  test('a compressed answer is refused, and "identity" is not compression', async () => {
    handle = (_request, response) => response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(100)));
    await expectKind(open().request(get()), 'encoding');
    handle = (_request, response) => response.setHeader('content-encoding', 'identity').end('plain');
    expect(String((await open().request(get())).body)).toBe('plain');
  });

  test('early hints are skipped', async () => {
    handle = (_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.end('done');
    };
    expect(await open().request(get())).toMatchObject({ status: 200, body: Buffer.from('done') });
  });

  test('an answer that is not HTTP, or breaks off, counts as reset and may not be retried', async () => {
    const tcp = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'));
    const tcpPort = await listen(tcp);
    const error = await expectKind(open().request(get(`http://127.0.0.1:${tcpPort}/`)), 'reset');
    expect(error.isRetryable).toBe(false);
    handle = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half', () => response.destroy());
    };
    await expectKind(open().request(get()), 'reset');
  });

  test('a closed port may be retried: the request was never sent', async () => {
    const tcp = createTcpServer();
    const closedPort = await listen(tcp);
    await new Promise((resolve) => tcp.close(resolve));
    const error = await expectKind(open().request(get(`http://127.0.0.1:${closedPort}/`)), 'connect');
    expect(error.isRetryable).toBe(true);
  });
});

describe('time', () => {
  test('a silent endpoint and a dripping body both end at the deadline', async () => {
    const timers: NodeJS.Timeout[] = [];
    cleanups.push(() => timers.forEach(clearInterval));
    handle = (request, response) => {
      if (request.url === '/drip') timers.push(setInterval(() => response.write('x'), 20));
    };
    const guarded = open();
    for (const path of ['silent', 'drip']) {
      const startedAt = performance.now();
      await expectKind(guarded.request({ ...get(`http://127.0.0.1:${port}/${path}`), timeoutMs: 150 }), 'timeout');
      expect(performance.now() - startedAt).toBeLessThan(2_000);
    }
  });

  test('a request that waits for a connection times out without ever being sent', async () => {
    const held: (() => void)[] = [];
    handle = (_request, response) => held.push(() => response.end());
    const guarded = open({ connections: 1 });
    const first = guarded.request(get());
    await expect.poll(() => requestCount).toBe(1);
    await expectKind(guarded.request({ ...get(`http://127.0.0.1:${port}/late`), timeoutMs: 50 }), 'timeout');
    held[0]?.();
    await first;
    handle = (request, response) => response.end(request.url);
    expect(String((await guarded.request(get(`http://127.0.0.1:${port}/next`))).body)).toBe('/next');
    expect(requestCount).toBe(2);
  });

  test('an aborted signal ends a call before and while it runs', async () => {
    const guarded = open();
    await expectKind(guarded.request({ ...get(), signal: AbortSignal.abort() }), 'aborted');
    expect(requestCount).toBe(0);
    const controller = new AbortController();
    handle = () => controller.abort();
    await expectKind(guarded.request({ ...get(), signal: controller.signal }), 'aborted');
  });

  test('closing ends what still runs', async () => {
    const guarded = open();
    handle = () => {};
    const failure = expectKind(guarded.request(get()), 'aborted');
    await expect.poll(() => requestCount).toBe(1);
    await guarded.close();
    await failure;
    await expectKind(guarded.request(get()), 'aborted');
  });
});

describe('a stream', () => {
  const openStream = (extra: object = {}) => open().stream({ ...get(), idleTimeoutMs: 2_000, ...extra });

  test('hands bytes over as they arrive', async () => {
    let respond = (_text: string) => {};
    handle = (_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      respond = (text) => (text ? response.write(text) : response.end());
    };
    const { status, headers, body } = await openStream();
    expect({ status, type: headers['content-type'] }).toEqual({ status: 200, type: 'text/event-stream' });
    const received: string[] = [];
    respond('data: 1\n\n');
    for await (const chunk of body) {
      received.push(String(chunk));
      respond(received.length < 3 ? `data: ${received.length + 1}\n\n` : '');
    }
    expect(received).toEqual(['data: 1\n\n', 'data: 2\n\n', 'data: 3\n\n']);
  });

  test('makes a fast endpoint wait for a slow reader and loses no byte', async () => {
    const sent = Buffer.alloc(32 * MIB, Buffer.from(Array.from({ length: 251 }, (_, i) => i)));
    let isFlushed = false;
    handle = (_request, response) => response.end(sent, () => (isFlushed = true));
    const { body } = await openStream({ maxBytes: 32 * MIB });
    const received: Buffer[] = [];
    for await (const chunk of body) {
      for (let turn = 0; received.length === 0 && turn < 2_000; turn++) await new Promise(setImmediate);
      if (received.length === 1) expect(isFlushed).toBe(false);
      received.push(chunk);
    }
    expect(Buffer.concat(received).equals(sent)).toBe(true);
  });

  test('a silence longer than the idle timeout is thrown to the reader, before and after the head', async () => {
    handle = () => {};
    await expectKind(openStream({ idleTimeoutMs: 60 }), 'timeout');
    handle = (_request, response) => response.write('one');
    const { body } = await openStream({ idleTimeoutMs: 60 });
    const received: string[] = [];
    const reading = (async () => {
      for await (const chunk of body) received.push(String(chunk));
    })();
    await expectKind(reading, 'timeout');
    expect(received).toEqual(['one']);
  });

  test('has the guards of a request', async () => {
    handle = (_request, response) => response.writeHead(302, { location: '/' }).end();
    await expectKind(openStream(), 'redirect');
    handle = (_request, response) => response.setHeader('content-encoding', 'br').end('x');
    await expectKind(openStream(), 'encoding');
    await expectKind(openStream({ url: 'http://169.254.169.254/' }), 'blocked');
    handle = (_request, response) => response.end('x'.repeat(11));
    await expectKind(openStream({ maxBytes: 10 }), 'too_large');
    handle = (_request, response) => {
      response.write('x'.repeat(8));
      setImmediate(() => response.end('x'.repeat(8)));
    };
    const { body } = await openStream({ maxBytes: 10 });
    await expectKind(Array.fromAsync(body), 'too_large');
  });

  test('leaving the loop early, or cancelling an unread body, closes the connection', async () => {
    for (const leave of ['break', 'cancel']) {
      const closed = new Promise((resolve) => {
        handle = (_request, response) => {
          response.on('close', resolve);
          response.write('x');
        };
      });
      const { body, cancel } = await openStream();
      if (leave === 'cancel') cancel();
      else for await (const _chunk of body) break;
      await closed;
    }
  });
});
