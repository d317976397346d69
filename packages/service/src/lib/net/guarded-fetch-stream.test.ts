import { once } from 'node:events';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  expectKind,
  inSingleBytes,
  type LoopbackEndpoint,
  MIB,
  startLoopbackEndpoint,
} from '../../../test/support/loopback-endpoint.ts';

let endpoint: LoopbackEndpoint;

beforeEach(async () => {
  endpoint = await startLoopbackEndpoint();
});

afterEach(() => endpoint[Symbol.asyncDispose]());

describe('a stream', () => {
  const openStream = (extra: object = {}) =>
    endpoint.open().stream({ ...endpoint.get(), idleTimeoutMs: 2_000, ...extra });

  test('hands bytes over as they arrive', async () => {
    let respond = (_text: string) => {};
    endpoint.handle = (_request, response) => {
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

  test('hands over as one piece what came together, in chunks of one byte as well', async () => {
    const port = await endpoint.listen(inSingleBytes(60_000));
    const { body } = await openStream({ url: `http://127.0.0.1:${port}/` });
    const received = await Array.fromAsync(body);
    expect(Buffer.concat(received)).toHaveLength(60_000);
    expect(received.length).toBeLessThan(1000);
  });

  test('makes a fast endpoint wait for a slow reader and loses no byte', async () => {
    const sent = Buffer.alloc(32 * MIB, Buffer.from(Array.from({ length: 251 }, (_, i) => i)));
    let isFlushed = false;
    endpoint.handle = (_request, response) => response.end(sent, () => (isFlushed = true));
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
    endpoint.handle = () => {};
    await expectKind(openStream({ idleTimeoutMs: 60 }), 'timeout');
    endpoint.handle = (_request, response) => response.write('one');
    // Enough for the head on a busy machine.
    const { body } = await openStream({ idleTimeoutMs: 500 });
    const received: string[] = [];
    const reading = (async () => {
      for await (const chunk of body) received.push(String(chunk));
    })();
    await expectKind(reading, 'timeout');
    expect(received).toEqual(['one']);
  });

  test('a full body without a reader ends after the idle time; one with a reader waits for it', async () => {
    const closed = new Map<string, Promise<unknown>>();
    endpoint.handle = (request, response) => {
      closed.set(request.url ?? '', once(response, 'close'));
      response.write(Buffer.alloc(MIB));
    };
    const url = (path: string) => `http://127.0.0.1:${endpoint.port}/${path}`;
    const read = await openStream({ url: url('read'), idleTimeoutMs: 500, maxBytes: 2 * MIB });
    const reader = read.body[Symbol.asyncIterator]();
    let bytes = (await reader.next()).value.byteLength;
    await openStream({ url: url('dropped'), idleTimeoutMs: 500, maxBytes: 2 * MIB });
    await closed.get('/dropped');
    while (bytes < MIB) bytes += (await reader.next()).value.byteLength;
    await expectKind(reader.next(), 'timeout');
  });

  test('has the guards of a request', async () => {
    endpoint.handle = (_request, response) => response.writeHead(302, { location: '/' }).end();
    await expectKind(openStream(), 'redirect');
    endpoint.handle = (_request, response) => response.setHeader('content-encoding', 'br').end('x');
    await expectKind(openStream(), 'encoding');
    await expectKind(openStream({ url: 'http://169.254.169.254/' }), 'blocked');
    endpoint.handle = (_request, response) => response.end('x'.repeat(11));
    await expectKind(openStream({ maxBytes: 10 }), 'too_large');
    endpoint.handle = (_request, response) => {
      response.write('x'.repeat(8));
      setImmediate(() => response.end('x'.repeat(8)));
    };
    const { body } = await openStream({ maxBytes: 10 });
    await expectKind(Array.fromAsync(body), 'too_large');
  });

  test('leaving the loop early, or cancelling an unread body, closes the connection', async () => {
    for (const leave of ['break', 'cancel']) {
      const closed = new Promise((resolve) => {
        endpoint.handle = (_request, response) => {
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
