import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type LoopbackEndpoint, startLoopbackEndpoint } from '../../../test/support/loopback-endpoint.ts';
import { postWebhook } from './webhook-client.ts';

let endpoint: LoopbackEndpoint;
beforeEach(async () => {
  endpoint = await startLoopbackEndpoint();
});
afterEach(() => endpoint[Symbol.asyncDispose]());

const post = () =>
  postWebhook(
    { guardedFetch: endpoint.open() },
    { url: endpoint.get().url, headers: {}, body: '{}', signal: new AbortController().signal },
  );

it.each(['gzip', 'br', 'x-unknown'])('a receiver that compresses its 200 with %s has taken the event', async (name) => {
  endpoint.handle = (_request, response) => response.setHeader('content-encoding', name).end(gzipSync('ok'));
  expect(await post()).toMatchObject({ status: 200, error: null, response: null });
});

it('what it says uncompressed is kept', async () => {
  endpoint.handle = (_request, response) => response.writeHead(429, { 'retry-after': '60' }).end('later\0');
  expect(await post()).toMatchObject({ status: 429, error: null, response: 'later\ufffd', retryAfter: '60' });
});

it('a redirect is a failure, and is not followed', async () => {
  endpoint.handle = (_request, response) => response.writeHead(307, { location: '/' }).end();
  expect(await post()).toMatchObject({ status: null, error: expect.stringContaining('redirect'), response: null });
  expect(endpoint.requestCount).toBe(1);
});
