import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { getRequestListener } from '@hono/node-server';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../lib/clock.ts';
import { createMetrics } from '../../lib/metrics.ts';
import { type AdmissionContext, createAdmission, inTurn } from './admission.ts';

/** A node that answers with the names of what it ran; while it is held, its database has no room. */
async function startGuarded({ maxQueueMs = 60_000, maxQueued = 1000, turnMs = 0 } = {}) {
  const state = { isHeld: false };
  const ran: string[] = [];
  const metrics = createMetrics();
  const ctx: Pick<AdmissionContext, 'clock' | 'metrics' | 'trustedProxies' | 'admissionLimits'> = {
    ...{ clock: systemClock, metrics, trustedProxies: [] },
    admissionLimits: { maxQueueMs, maxQueued },
  };
  const parts = {
    ...ctx,
    db: { queueAgeMs: () => (state.isHeld ? 500 : 0) },
    acceptor: { waitingMs: () => 0 },
    finisher: { waitingMs: () => 0 },
    authenticator: { recentAccountOf: (header: string) => (header.startsWith('bad') ? null : header) },
  };
  const guard = createAdmission(parts as unknown as AdmissionContext, {
    read: () => ({ cpuMs: turnMs, wallMs: turnMs }),
  });
  const listener = getRequestListener((request) => {
    const name = request.headers.get('x-name') ?? '';
    ran.push(name);
    if (name === 'broken') throw new Error('the handler failed at once');
    return request.text().then((text) => new Response(`${request.method} ${text.length}`));
  });
  const server = createServer(inTurn(guard(listener))).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const came = { count: 0 };
  server.on('request', () => {
    came.count += 1;
  });
  return {
    ...{ ran, state, metrics, came },
    /** All answers, until the server closes the connection. */
    sendRaw: (...requests: string[]) => {
      const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
      socket.write(requests.join(''));
      return text(socket);
    },
    stop: () =>
      new Promise(
        (resolve) => server.close(resolve) && (server as { closeAllConnections?(): void }).closeAllConnections?.(),
      ),
    ask: (
      name: string,
      { path = '/invoke/agt_1', method = 'POST', account = 'a', body = {} as unknown, headers = {} } = {},
    ) =>
      globalThis.fetch(url + path, {
        method,
        headers: { 'x-name': name, authorization: account, ...headers },
        ...(method === 'GET' ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
      }),
  };
}

let node: Awaited<ReturnType<typeof startGuarded>>;
afterEach(() => node.stop());
const arrived = (count: number) => expect.poll(() => node.came.count, { interval: 5 }).toBe(count);
const statusOf = async (answer: Promise<Response>) => (await answer).status;
/** Sends one after the other, so that the order of arrival is known. */
async function sendAll(...requests: Parameters<typeof node.ask>[]) {
  const answers = [];
  for (const request of requests) {
    answers.push(node.ask(...request));
    await arrived(answers.length);
  }
  return answers;
}

describe('requests that write, while the node does not keep up', () => {
  it('wait, and are all served in turns as short as they can be', async () => {
    node = await startGuarded({ turnMs: 1000 });
    const answers = Array.from({ length: 50 }, (_, n) => node.ask(String(n)));
    expect(await Promise.all(answers.map(statusOf))).toEqual(Array(50).fill(200));
  });

  it('are served account by account; of one by priority; low when no account has another', async () => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answers = await sendAll(
      ['a low', { body: { priority: 'low' } }],
      ['a normal'],
      ['a normal 2'],
      ['a high', { body: { priority: 'high' } }],
      ['a write', { path: '/webhooks' }],
      ['b normal', { account: 'b' }],
    );
    node.state.isHeld = false;
    expect(await Promise.all(answers.map(statusOf))).toEqual(Array(6).fill(200));
    expect(node.ran).toEqual(['a write', 'b normal', 'a high', 'a normal', 'a normal 2', 'a low']);
  });

  it('a large body takes the turns of several small ones', async () => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answers = await sendAll(
      ['a large', { body: { text: 'x'.repeat(200_000) } }],
      ['a small'],
      ...['b 1', 'b 2', 'b 3', 'b 4'].map((name) => [name, { account: 'b' }] as Parameters<typeof node.ask>),
    );
    node.state.isHeld = false;
    expect(await Promise.all(answers.map(statusOf))).toEqual(Array(6).fill(200));
    expect(node.ran.indexOf('a large')).toBeGreaterThan(node.ran.indexOf('b 3'));
  });

  it('strangers with credentials that were never good share the lane of their address', async () => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answers = await sendAll(
      ['s1', { account: 'bad 1' }],
      ['s2', { account: 'bad 2' }],
      ['a'],
      ['s3', { account: 'bad 3' }],
    );
    node.state.isHeld = false;
    await Promise.all(answers);
    expect(node.ran).toEqual(['s1', 'a', 's2', 's3']);
  });

  it('are refused with 503 and Retry-After when they waited too long; what reads or cancels is served at once', async () => {
    node = await startGuarded({ maxQueueMs: 20 });
    node.state.isHeld = true;
    const refused = node.ask('write', { headers: { 'x-request-id': 'req_of_mine' } });
    await arrived(1);
    expect(await statusOf(node.ask('read', { method: 'GET' }))).toBe(200);
    expect(await statusOf(node.ask('cancel', { path: '/invoke/req_1/cancel' }))).toBe(200);
    const answer = await refused;
    const { error } = (await answer.json()) as { error: unknown };
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^([5-9]|10)$/)]);
    expect(error).toMatchObject({ code: 'UNAVAILABLE', requestId: 'req_of_mine', details: { outcome: 'nothing' } });
    expect(node.ran).toEqual(['read', 'cancel']);
    const { text } = await node.metrics.exposition('text');
    expect(text).toContain('requests_shed_total{reason="queue_time",priority="normal"} 1');
  });

  it('a repetition of what was started is served when newcomers are refused', async () => {
    node = await startGuarded({ maxQueueMs: 200 });
    const key = { headers: { 'idempotency-key': 'paid-1' } };
    await node.ask('first', key);
    node.state.isHeld = true;
    // The line stands: it is not empty for more than 500 ms, and its waiting ones are refused after 200.
    const filler = setInterval(() => void node.ask('newcomer').catch(() => undefined), 20);
    try {
      await expect
        .poll(async () => (await node.metrics.exposition('text')).text, { interval: 20 })
        .toMatch(/reason="queue_time",priority="normal"} [1-9]/);
      const repeated = node.ask('repetition', key);
      expect(await statusOf(node.ask('newcomer'))).toBe(503);
      node.state.isHeld = false;
      expect(await statusOf(repeated)).toBe(200);
    } finally {
      clearInterval(filler);
    }
  });

  it('when too many wait, the newest and lowest of whoever sent most is refused first', async () => {
    node = await startGuarded({ maxQueued: 3 });
    node.state.isHeld = true;
    const answers = await sendAll(['a1'], ['a2'], ['a3'], ['a4'], ['b1', { account: 'b' }]);
    expect([await statusOf(answers[3] as Promise<Response>), await statusOf(answers[2] as Promise<Response>)]).toEqual([
      503, 503,
    ]);
    node.state.isHeld = false;
    await Promise.all(answers);
    expect(node.ran).toEqual(['a1', 'b1', 'a2']);
  });

  it('a handler that fails at once fails its own request, and the line goes on', async () => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answers = await sendAll(['broken'], ['sound']);
    node.state.isHeld = false;
    expect(await Promise.all(answers.map(statusOf))).toEqual([500, 200]);
  });

  it('is refused once its own deadline has passed, and never begun', async () => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answer = node.ask('late', { body: { deadline: new Date(Date.now() + 150).toISOString() } });
    const { error } = (await (await answer).json()) as { error: { message: string } };
    expect(error.message).toContain('deadline');
    expect(node.ran).toEqual([]);
  });

  it('is begun with a deadline that had passed when it came: the handler tells what is wrong with it', async () => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answer = node.ask('past', { body: { deadline: new Date(Date.now() - 1000).toISOString() } });
    await arrived(1);
    node.state.isHeld = false;
    expect((await answer).status).toBe(200);
    expect(node.ran).toEqual(['past']);
  });

  it.each([
    ['small', 'x'],
    ['large', 'x'.repeat(300_000)],
    ['empty', ''],
  ])('a %s body arrives whole after the wait', async (_, body) => {
    node = await startGuarded();
    node.state.isHeld = true;
    const answer = node.ask('body', { body });
    await arrived(1);
    node.state.isHeld = false;
    expect(await (await answer).text()).toBe(`POST ${body.length}`);
  });
});

it('requests behind one that waits, on the same connection, are answered in its order', async () => {
  node = await startGuarded();
  node.state.isHeld = true;
  const body = JSON.stringify({ priority: 'low' });
  const headOf = (name: string) => `host: x\r\nx-name: ${name}\r\nauthorization: a\r\n`;
  const answers = node.sendRaw(
    `POST /invoke/agt_1 HTTP/1.1\r\n${headOf('low')}content-length: ${body.length}\r\n\r\n${body}`,
    `GET /agents/agt_1 HTTP/1.1\r\n${headOf('read')}connection: close\r\n\r\n`,
  );
  await arrived(2);
  expect(node.ran).toEqual([]);
  node.state.isHeld = false;
  expect((await answers).match(/(POST|GET) \d+/g)).toEqual([`POST ${body.length}`, 'GET 0']);
  expect(node.ran).toEqual(['low', 'read']);
});
