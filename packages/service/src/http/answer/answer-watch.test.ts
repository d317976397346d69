import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { HttpBindings } from '@hono/node-server';
import { type Context, Hono } from 'hono';
import { expect, it, onTestFinished, vi } from 'vitest';
import type { StopStep } from '../../lib/process/graceful-stop.ts';
import { listen } from '../admission/listen.ts';
import { linkOf } from '../api/mount.ts';
import { recordingEnd, WHOLE_MS } from './answer-watch.ts';
import { SseAnswer, sseBody, sseHeaders } from './sse.ts';

/** More than the buffers of the kernel hold. */
const LAST = 'x'.repeat(16 * 1024 * 1024);

/** A stream with one event of ours, as all endpoints and two gateways make it. */
function ours(c: Context, ended: () => void): ReadableStream<Uint8Array> {
  const events = async function* () {
    yield { id: 1, type: 'last', data: LAST };
    ended();
  };
  return sseBody(new SseAnswer(events), linkOf({ log: console as never }, 'x', 'req_1', c));
}

/** A stream of a library that takes no heed of its reader: its last event comes while another one waits. */
function foreign(c: Context, ended: () => void): ReadableStream<Uint8Array> {
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of [LAST, 'x']) controller.enqueue(Buffer.from(text));
      controller.close();
      ended();
    },
  });
  return recordingEnd(c, body);
}

it.each([
  ['ours', ours],
  ['the MCP library', foreign],
])(
  'a stream of %s whose last event is larger than what the kernel takes is read within four minutes of its end',
  async (_, make) => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
    const stops: StopStep[] = [];
    onTestFinished(async () => {
      for (const { stop } of stops) await stop();
      vi.useRealTimers();
    });
    const config = { host: '127.0.0.1', port: 0, baseUrl: null, trustedProxies: [] };
    const front = await listen({ ...config, connectionLimits: { max: 10, maxPerAddress: 10 } }, stops);
    const ended = Promise.withResolvers<void>();
    const asked = Promise.withResolvers<HttpBindings>();
    const app = new Hono().get('/', (c) => {
      asked.resolve(c.env as HttpBindings);
      return new Response(make(c, ended.resolve), { headers: sseHeaders });
    });
    front.serve(app.fetch);
    const client: Socket = connect(front.port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void client.destroy());
    client.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
    const { incoming, outgoing } = await asked.promise;
    await ended.promise;
    await once(client, 'readable');
    vi.advanceTimersByTime(WHOLE_MS + 10_000);
    expect([incoming.socket.destroyed, outgoing.writableEnded]).toEqual([false, false]);
    vi.advanceTimersByTime(WHOLE_MS + 10_000);
    expect(incoming.socket.destroyed).toBe(true);
  },
);
