import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { beforeDeadline } from '../../support/deadline.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../support/treasury.ts';
import { countStalls } from '../../support/watch.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { beginStream, chunk, encodeSaid, result, says } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  client = await newClient(h, '0.05');
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

async function invoke(body: object = {}) {
  const options = { key: client.key, body: { task: 'x', stream: true, ...body } };
  return readAll(await openSse(h, 'POST', `/invoke/${agent.id}`, options));
}

async function readAll(stream: Awaited<ReturnType<typeof openSse>>) {
  const events = await stream.rest();
  expect(problemWithStream(events)).toBeNull();
  return { events, record: events.at(-1)?.data, chunks: events.slice(2, -1).map(({ data }) => data) };
}

const writes =
  (text: string): Behaviour =>
  (_request, response) => {
    beginStream(response);
    response.end(text);
  };
const forever =
  (text: string): Behaviour =>
  (_request, response) => {
    beginStream(response);
    const go = () => {
      while (!response.destroyed) if (!response.write(text)) return void response.once('drain', go);
    };
    go();
  };
const breaksOff: Behaviour = (_request, response) => {
  beginStream(response);
  response.write(encodeSaid(chunk('half')), () => response.socket?.destroy());
};
const deep = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

const failing: Record<string, { behaviour: Behaviour; code: string; says?: RegExp; chunks?: number }> = {
  'breaks off in the middle': { behaviour: breaksOff, code: 'agent_unreachable', chunks: 1 },
  'ends without a result': { behaviour: says(chunk('a'), chunk('b')), code: 'invalid_response', chunks: 2 },
  'ends in the middle of its result': {
    behaviour: writes('event: result\ndata: {"result":1}'),
    code: 'invalid_response',
  },
  'is empty': { behaviour: writes(''), code: 'invalid_response' },
  'is junk': { behaviour: writes('\u0000\uffff not: sse\n\n\n<html>\r\r: x\ndata\n\n'), code: 'invalid_response' },
  'has a result that is no JSON': { behaviour: writes('event: result\ndata: {oops\n\n'), code: 'invalid_response' },
  'has a result without a result': {
    behaviour: says({ event: 'result', data: { answer: 1 } }),
    code: 'invalid_response',
  },
  'names a cost that is none': { behaviour: says(result(1, { cost: '-1' })), code: 'invalid_response' },
  'says an error': {
    behaviour: says(chunk('a'), { event: 'error', data: { error: { code: 'E', message: 'no \u001b[31mluck' } } }),
    code: 'agent_error',
    says: /E: no {2}\[31mluck/,
    chunks: 1,
  },
  'says an error that is no JSON': { behaviour: writes('event: error\ndata: oops\n\n'), code: 'agent_error' },
  'is an error page in SSE': {
    behaviour: (_request, response) => {
      beginStream(response, 500);
      response.end(encodeSaid(result('not meant')));
    },
    code: 'agent_error',
    says: /500/,
  },
  'has a chunk of more than 64 KiB': { behaviour: says(chunk('x'.repeat(65_537))), code: 'response_too_large' },
  'has a result of more than 1 MiB': { behaviour: says(result('x'.repeat(1024 * 1024))), code: 'response_too_large' },
  'has an event without end': { behaviour: forever('data: xxxxxxxxxxxxxxxx'), code: 'response_too_large' },
  'has comments without end': { behaviour: forever(`: ${'x'.repeat(1000)}\n\n`), code: 'response_too_large' },
  'has events that we do not know without end': {
    behaviour: forever('event: x\ndata: x\n\n'),
    code: 'response_too_large',
  },
  'has a chunk nested too deep': {
    behaviour: writes(`event: chunk\ndata: ${deep(30_000)}\n\n`),
    code: 'invalid_response',
  },
  'has a result nested too deep': {
    behaviour: writes(`event: result\ndata: {"result":${deep(30_000)}}\n\n`),
    code: 'invalid_response',
  },
  'is refused with a JSON error': {
    behaviour: answerWith(429, { error: { message: 'busy' } }),
    code: 'agent_error',
    says: /429: busy/,
  },
};

describe.each(Object.entries(failing))('an agent with a stream that %s', (_name, expected) => {
  it(`ends with ${expected.code}, once, and the money is back`, async () => {
    agent.behave(expected.behaviour);
    const calls = agent.calls.length;
    const { record, chunks } = await invoke();
    expect(record).toMatchObject({ status: 'failed', error: { code: expected.code }, cost: '0.00', refund: '0.05' });
    if (expected.says) expect(record.error.message).toMatch(expected.says);
    expect(chunks.length).toBe(expected.chunks ?? 0);
    expect(agent.calls.length - calls).toBe(1);
    expect(await balanceOf(h, client.key)).toEqual({ available: '0.05', held: '0.00' });
  });
});

it('more than 10,000 events are too many; what came before is kept', async () => {
  agent.behave(forever(encodeSaid(chunk('x')).repeat(100)));
  const { record, chunks } = await invoke();
  expect(record).toMatchObject({ status: 'failed', error: { code: 'response_too_large' } });
  expect(chunks.length).toBeGreaterThan(9_900);
});

it('an agent that falls silent in mid-stream fails at the deadline, and what it has shown is paid', async () => {
  agent.behave((_request, response) => {
    beginStream(response);
    response.write(encodeSaid(chunk('and then')));
  });
  const stalls = countStalls();
  const { deadline, record, chunks } = await beforeDeadline(400, async (soon) => {
    client = await newClient(h, '0.05');
    const options = { key: client.key, body: { task: 'x', stream: true, deadline: soon } };
    const stream = await openSse(h, 'POST', `/invoke/${agent.id}`, options).catch(() => null);
    const told = stream && (await readAll(stream));
    return told?.chunks.length === 1 ? { deadline: soon, ...told } : null;
  });
  expect(record).toMatchObject({
    status: 'failed',
    error: { code: 'deadline_exceeded' },
    cost: '0.05',
    refund: '0.00',
  });
  expect(chunks.length).toBe(1);
  expect(Date.parse(record.completedAt) - Date.parse(deadline) - stalls()).toBeLessThan(500);
});

it('events of the agent after its result are ignored, and so are events of unknown types', async () => {
  agent.behave(says({ event: 'ping', data: '1' }, { data: 'no name' }, result('end'), chunk('late'), result('other')));
  const { record, chunks } = await invoke();
  expect(record).toMatchObject({ status: 'completed', result: 'end' });
  expect(chunks).toEqual([]);
});

it('events cut anywhere, in every line ending, with a BOM and with characters of several bytes arrive whole', async () => {
  const text =
    '\ufeff: hi\r\nevent: chunk\r\ndata: "é💥"\r\n\r\nevent: chunk\rdata: {"a":\rdata: 1}\r\revent:result\ndata:{"result":"ü"}\n\n';
  agent.behave(async (_request, response) => {
    beginStream(response);
    for (const byte of Buffer.from(text)) {
      response.write(Buffer.of(byte));
      await new Promise((resolve) => setImmediate(resolve));
    }
    response.end();
  });
  const { record, chunks } = await invoke();
  expect(chunks).toMatchObject([{ chunk: 'é💥' }, { a: 1 }]);
  expect(record).toMatchObject({ status: 'completed', result: 'ü' });
});

it('every JSON value is passed on as it was sent', async () => {
  const values = [0, -1.5, true, null, 'a\u0000b\u2028', { nested: { list: [1, { '': null }] } }, [[]], {}, ''];
  agent.behave(says(...values.map(chunk), result('end')));
  const { chunks, events } = await invoke();
  const { requestId } = events[0]?.data ?? {};
  const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);
  expect(chunks).toEqual(
    values.map((value) => (isObject(value) ? { requestId, ...(value as object) } : { requestId, chunk: value })),
  );
});
