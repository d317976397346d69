import { once } from 'node:events';
import { connect } from 'node:net';
import { Hono } from 'hono';
import { afterEach, expect, it, onTestFinished, vi } from 'vitest';
import { AppError } from '../../lib/app-error.ts';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import { listen } from '../admission/listen.ts';
import { trailOf } from './body-bounds.ts';
import { MAX_BODY_BYTES, MAX_OF_NETWORK_BYTES, readBody } from './read-body.ts';

const stops: StopStep[] = [];
afterEach(async () => {
  for (const { stop } of stops.splice(0)) await stop();
});

/** A server, and what reading the body of its first request ends in. */
async function startReader() {
  const config = { host: '127.0.0.1', port: 0, baseUrl: null, trustedProxies: [] };
  const front = await listen({ ...config, connectionLimits: { max: 100, maxPerAddress: 100 } }, stops);
  const begun = Promise.withResolvers<void>();
  const read = Promise.withResolvers<unknown>();
  const app = new Hono().post('/', async (c) => {
    begun.resolve();
    const ended = await readBody({ trustedProxies: [] }, c, {
      maxValues: 100,
      maxChars: 1000,
      content: trailOf('a'),
    }).catch((error: unknown) => error);
    read.resolve(ended);
    return c.json(ended instanceof AppError ? { code: ended.code, ...ended.extra } : {});
  });
  front.serve(app.fetch);
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
  const text = JSON.stringify({ a: 'x'.repeat(30_000) });
  const chunks = [...text].map((character) => `1\r\n${character}\r\n`).join('');
  const socket = connect(port, '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`);
  expect(await read).toEqual({ a: 'x'.repeat(30_000) });
  expect(Math.max(...concat.mock.calls.map(([parts]) => parts.length))).toBeLessThan(1000);
});

it('large bodies of one address that are not whole are bounded in all; small ones and those of later are read', async () => {
  const { port } = await startReader();
  const send = (length: number | null, sent: string) => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const header = length === null ? 'Transfer-Encoding: chunked' : `Content-Length: ${length}`;
    socket.on('error', () => undefined).write(`POST / HTTP/1.1\r\nHost: a\r\n${header}\r\n\r\n${sent}`);
    return { socket, answer: once(socket, 'data').then(([bytes]: Buffer[]) => String(bytes)) };
  };
  const part = ' '.repeat(MAX_BODY_BYTES - 1);
  const parts = Array.from({ length: MAX_OF_NETWORK_BYTES / part.length + 1 }, () => send(MAX_BODY_BYTES, part));
  expect(await Promise.any(parts.map(({ answer }) => answer))).toContain('{"code":"UNAVAILABLE"');
  expect(await send(2, '{}').answer).toContain('\r\n\r\n{}');
  expect(await send(null, '2\r\n{}\r\n0\r\n\r\n').answer).toContain('\r\n\r\n{}');
  for (const { socket } of parts) socket.destroy();
  const isRead = async () => (await send(MAX_BODY_BYTES, `${part}1`).answer).includes('\r\n\r\n{}');
  await expect.poll(isRead).toBe(true);
});

it('bodies that wait to be parsed count as those that arrive: one address holds no more of them', async () => {
  const waited = new AbortController();
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(waited.signal);
  // No time passes, so that none of them is parsed while the others arrive.
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  onTestFinished(() => void vi.restoreAllMocks());
  const { port } = await startReader();
  const text = `[${'{},'.repeat(98_000)}0]`.padEnd(MAX_BODY_BYTES);
  const refusals = Array.from({ length: MAX_OF_NETWORK_BYTES / MAX_BODY_BYTES + 4 }, async () => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    const head = `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${MAX_BODY_BYTES}\r\n\r\n`;
    socket.on('error', () => undefined).write(head + text);
    const [answer] = (await once(socket, 'data')) as [Buffer];
    if (!String(answer).includes('{"code":"UNAVAILABLE"')) throw new Error('it was read');
  });
  await Promise.any(refusals).finally(() => waited.abort());
});
