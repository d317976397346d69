import { connect } from 'node:net';
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { SseAnswer, type SseEvent, sseBody, streamBody } from '../../../src/http/answer/sse.ts';
import { endIdleLoans } from '../../support/lend.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent } from '../../support/test-agent.ts';
import { newClient, untilEnded } from '../../support/treasury.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, says } from './support/streaming-agent.ts';

// Timers are faked, and counted: a node that waits for its next file sets some.
beforeAll(endIdleLoans);
afterEach(() => void vi.useRealTimers());

/** An endless source that counts what is made of it. */
function endless() {
  const made = { count: 0, isLetGo: false, signal: undefined as AbortSignal | undefined };
  const answer = new SseAnswer((signal) => {
    made.signal = signal;
    return (async function* (): AsyncGenerator<SseEvent> {
      try {
        for (let id = 1; ; id++) {
          made.count = id;
          yield { id, type: 'invocation.chunk', data: { id } };
        }
      } finally {
        made.isLetGo = true;
      }
    })();
  });
  return { made, body: sseBody(answer) };
}

/** A source that says nothing until it is hung up. */
const silent = () =>
  sseBody(
    new SseAnswer((signal) =>
      (async function* (): AsyncGenerator<SseEvent> {
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
      })(),
    ),
  );

const textOf = async (reader: ReadableStreamDefaultReader<Uint8Array>) =>
  new TextDecoder().decode((await reader.read()).value);
const settle = async () => {
  for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
};

describe('the bytes of a stream', () => {
  it('are made no faster than they are taken', async () => {
    const { made, body } = endless();
    await settle();
    expect(made.count).toBeLessThanOrEqual(2);
    const reader = body.getReader();
    for (let taken = 0; taken < 10; taken++) await reader.read();
    await settle();
    expect(made.count).toBeLessThanOrEqual(12);
    await reader.cancel();
    expect(made.signal?.aborted).toBe(true);
  });

  it('end for a reader that takes nothing for 30 s; not for one that takes its time', async () => {
    vi.useFakeTimers();
    const { made, body } = endless();
    const reader = body.getReader();
    await vi.advanceTimersByTimeAsync(0);
    for (let turn = 0; turn < 3; turn++) {
      await vi.advanceTimersByTimeAsync(29_000);
      await reader.read();
    }
    expect(made.signal?.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(30_001);
    expect(made.signal?.aborted).toBe(true);
    expect(made.isLetGo).toBe(true);
    await expect(
      (async () => {
        while (!(await reader.read()).done);
      })(),
    ).rejects.toThrow('stopped reading');
  });

  it('hold a comment every 15 s while nothing happens', async () => {
    vi.useFakeTimers();
    const reader = silent().getReader();
    expect(await textOf(reader)).toBe('retry: 2000\n\n');
    for (let turn = 0; turn < 3; turn++) {
      const next = textOf(reader);
      await vi.advanceTimersByTimeAsync(15_000);
      expect(await next).toBe(': alive\n');
    }
    await reader.cancel();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('hold no event without data, as a client reads them that ends one at each blank line', async () => {
    vi.useFakeTimers();
    const speaks = Promise.withResolvers<void>();
    const body = streamBody({
      open: () =>
        (async function* () {
          await speaks.promise;
          yield 'data: late\n\n';
        })(),
      encode: (text: string) => new TextEncoder().encode(text),
      opening: '',
    });
    const text = new Response(body).text();
    await vi.advanceTimersByTimeAsync(31_000);
    speaks.resolve();
    expect((await text).split('\n\n')).toEqual([': alive\n: alive\ndata: late', '']);
  });
});

it('a stalled reader delays no others, and misses nothing when it comes back', async () => {
  const h = await borrowHarness();
  const words = Array.from({ length: 3000 }, (_, index) => chunk({ index, text: 'x'.repeat(1000) }));
  const agent = await startTestAgent(h, { perRequest: '0', behaviour: says(...words, result('end')) });
  onTestFinished(async () => {
    await agent.die();
    await h.stop();
  });
  const { key } = await newClient(h, '0.01');
  const text = JSON.stringify({ task: 'x', stream: true });
  const { hostname, port } = new URL(h.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  socket.pause();
  socket.write(
    `POST /invoke/${agent.id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\naccept: text/event-stream\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n\r\n${text}`,
  );
  let requestId: string | undefined;
  for (let looks = 0; requestId === undefined && looks < 500; looks++) {
    requestId = (await h.request('GET', '/invoke/history', { key })).body.data.requests[0]?.requestId;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  expect(await untilEnded(h, key, requestId ?? '')).toMatchObject({ status: 'completed', result: 'end' });
  socket.destroy();
  const events = await (await openSse(h, 'GET', `/invoke/${requestId}/events`, { key })).rest();
  expect(problemWithStream(events)).toBeNull();
  expect(events.slice(2, -1).map(({ data }) => data.index)).toEqual(words.map((_, index) => index));
});
