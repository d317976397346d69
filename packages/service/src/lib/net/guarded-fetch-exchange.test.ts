import { createServer as createTcpServer } from 'node:net';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  expectKind,
  inSingleBytes,
  type LoopbackEndpoint,
  MIB,
  startLoopbackEndpoint,
} from '../../../test/support/loopback-endpoint.ts';
import { startWatch } from '../../../test/support/watch.ts';

let endpoint: LoopbackEndpoint;

beforeEach(async () => {
  endpoint = await startLoopbackEndpoint();
});

afterEach(() => endpoint[Symbol.asyncDispose]());

describe('answers', () => {
  test.each([301, 302, 303, 304, 307, 308])('a %i is not followed', async (status) => {
    endpoint.handle = (_request, response) => response.writeHead(status, { location: '/elsewhere' }).end();
    await expectKind(endpoint.open().request(endpoint.get()), 'redirect');
    expect(endpoint.requestCount).toBe(1);
  });

  test('exactly the allowed number of bytes is read, one more is refused, announced or not', async () => {
    const guarded = endpoint.open();
    let size = MIB;
    endpoint.handle = (request, response) => {
      if (request.url === '/announced') response.setHeader('content-length', size);
      else response.write('x');
      response.end(Buffer.alloc(request.url === '/announced' ? size : size - 1, 'x'));
    };
    for (const path of ['announced', 'chunked']) {
      size = MIB;
      const url = `http://127.0.0.1:${endpoint.port}/${path}`;
      expect((await guarded.request(endpoint.get(url))).body).toHaveLength(MIB);
      size = MIB + 1;
      await expectKind(guarded.request(endpoint.get(url)), 'too_large');
    }
  });

  test('an endless body is cut off and its connection closed', async () => {
    const closed = new Promise((resolve) => {
      endpoint.handle = (_request, response) => {
        response.on('close', resolve);
        const pour = () => {
          while (!response.destroyed && response.write(Buffer.alloc(16_384)));
        };
        response.on('drain', pour);
        pour();
      };
    });
    await expectKind(endpoint.open().request(endpoint.get()), 'too_large');
    await closed;
  });

  test('a body in chunks of one byte is held in a few buffers', async () => {
    const port = await endpoint.listen(inSingleBytes(60_000));
    const concat = vi.spyOn(Buffer, 'concat');
    onTestFinished(() => void concat.mockRestore());
    const { body } = await endpoint.open().request(endpoint.get(`http://127.0.0.1:${port}/`));
    expect(body).toHaveLength(60_000);
    expect(Math.max(...concat.mock.calls.map(([parts]) => parts.length))).toBeLessThan(1000);
  });

  test('a compressed answer is refused, and "identity" is not compression', async () => {
    endpoint.handle = (_request, response) =>
      response.setHeader('content-encoding', 'gzip').end(gzipSync('x'.repeat(100)));
    await expectKind(endpoint.open().request(endpoint.get()), 'encoding');
    endpoint.handle = (_request, response) => response.setHeader('content-encoding', 'identity').end('plain');
    expect(String((await endpoint.open().request(endpoint.get())).body)).toBe('plain');
  });

  test('early hints are skipped', async () => {
    endpoint.handle = (_request, response) => {
      response.writeEarlyHints({ link: '</x>; rel=preload' });
      response.end('done');
    };
    expect(await endpoint.open().request(endpoint.get())).toMatchObject({ status: 200, body: Buffer.from('done') });
  });

  test('an answer that is not HTTP, or breaks off, counts as reset and may not be retried', async () => {
    const tcp = createTcpServer((socket) => socket.on('error', () => {}).end('SSH-2.0-OpenSSH_9.6\r\n'));
    const tcpPort = await endpoint.listen(tcp);
    const error = await expectKind(endpoint.open().request(endpoint.get(`http://127.0.0.1:${tcpPort}/`)), 'reset');
    expect(error.isRetryable).toBe(false);
    endpoint.handle = (_request, response) => {
      response.writeHead(200, { 'content-length': 10 });
      response.write('half', () => response.destroy());
    };
    await expectKind(endpoint.open().request(endpoint.get()), 'reset');
  });

  test('a closed port may be retried: the request was never sent', async () => {
    const tcp = createTcpServer();
    const closedPort = await endpoint.listen(tcp);
    await new Promise((resolve) => tcp.close(resolve));
    const error = await expectKind(endpoint.open().request(endpoint.get(`http://127.0.0.1:${closedPort}/`)), 'connect');
    expect(error.isRetryable).toBe(true);
  });
});

describe('time', () => {
  test('a silent endpoint and a dripping body both end at the deadline', async () => {
    const timers: NodeJS.Timeout[] = [];
    endpoint.cleanups.push(() => timers.forEach(clearInterval));
    endpoint.handle = (request, response) => {
      if (request.url === '/drip') timers.push(setInterval(() => response.write('x'), 20));
    };
    const guarded = endpoint.open();
    for (const path of ['silent', 'drip']) {
      const tookMs = startWatch();
      await expectKind(
        guarded.request({ ...endpoint.get(`http://127.0.0.1:${endpoint.port}/${path}`), timeoutMs: 150 }),
        'timeout',
      );
      expect(tookMs()).toBeLessThan(2_000);
    }
  });

  test('a request that waits for a connection times out without ever being sent', async () => {
    const held: (() => void)[] = [];
    endpoint.handle = (_request, response) => held.push(() => response.end());
    const guarded = endpoint.open({ connections: 1 });
    const first = guarded.request(endpoint.get());
    await expect.poll(() => endpoint.requestCount).toBe(1);
    await expectKind(
      guarded.request({ ...endpoint.get(`http://127.0.0.1:${endpoint.port}/late`), timeoutMs: 50 }),
      'timeout',
    );
    held[0]?.();
    await first;
    endpoint.handle = (request, response) => response.end(request.url);
    expect(String((await guarded.request(endpoint.get(`http://127.0.0.1:${endpoint.port}/next`))).body)).toBe('/next');
    expect(endpoint.requestCount).toBe(2);
  });

  test('an aborted signal ends a call before and while it runs', async () => {
    const guarded = endpoint.open();
    await expectKind(guarded.request({ ...endpoint.get(), signal: AbortSignal.abort() }), 'aborted');
    expect(endpoint.requestCount).toBe(0);
    const controller = new AbortController();
    endpoint.handle = () => controller.abort();
    await expectKind(guarded.request({ ...endpoint.get(), signal: controller.signal }), 'aborted');
  });

  test('closing ends what still runs', async () => {
    const guarded = endpoint.open();
    endpoint.handle = () => {};
    const failure = expectKind(guarded.request(endpoint.get()), 'aborted');
    await expect.poll(() => endpoint.requestCount).toBe(1);
    await guarded.close();
    await failure;
    await expectKind(guarded.request(endpoint.get()), 'aborted');
  });
});
