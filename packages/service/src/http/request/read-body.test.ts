import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import { listen } from '../listen.ts';
import { readBody } from './read-body.ts';

const stops: StopStep[] = [];
afterEach(async () => {
  for (const { stop } of stops.splice(0)) await stop();
});

/** A server, and what reading the body of its one request ends in. */
async function startReader() {
  const config = { host: '127.0.0.1', port: 0, baseUrl: null, trustedProxies: [] };
  const front = await listen({ ...config, connectionLimits: { most: 10, mostOfAddress: 10 } }, stops);
  const begun = Promise.withResolvers<void>();
  const read = Promise.withResolvers<unknown>();
  front.serve(async (request) => {
    begun.resolve();
    await readBody(request).then(read.resolve, read.resolve);
    return new Response();
  });
  return { port: front.port, begun: begun.promise, read: read.promise };
}

it.each([
  ['with a length', 'Content-Length: 100\r\n\r\n{"a":'],
  ['in chunks', 'Transfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n'],
])('a body %s that its client breaks off is a bad request, and no fault of the node', async (_, rest) => {
  const { port, begun, read } = await startReader();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${rest}`);
  await begun;
  socket.destroy();
  expect(await read).toMatchObject({ code: 'VALIDATION_ERROR', message: expect.stringContaining('was cut off') });
});

it('a body in chunks of one byte is held in a few buffers', async () => {
  const { port, read } = await startReader();
  const concat = vi.spyOn(Buffer, 'concat');
  onTestFinished(() => void concat.mockRestore());
  const text = JSON.stringify('x'.repeat(30_000));
  const chunks = [...text].map((character) => `1\r\n${character}\r\n`).join('');
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  expect(await read).toBe('x'.repeat(30_000));
  expect(Math.max(...concat.mock.calls.map(([parts]) => parts.length))).toBeLessThan(1000);
});
