import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { MAX_STREAMS } from '../../../src/events/outbox/live-events.ts';
import { MAX_WAITING } from '../../../src/http/admission/admission.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { until } from '../../support/until.ts';
import { type OpenStream, openSse } from './support/sse-client.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0', behaviour: () => {} });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const newAccount = () => h.newAccount({ scopes: ['webhooks:manage', 'invoke'] });
const openEvents = (key: string) => openSse(h, 'GET', '/events', { key });
const sseRequest = (method: string, path: string, key: string) =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\naccept: text/event-stream\r\n\r\n`;

async function connectRaw(): Promise<Socket> {
  const { hostname, port } = new URL(h.baseUrl);
  const socket = connect(Number(port), hostname);
  socket.on('error', () => undefined);
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Opens as many live streams as an account may have; null when it may not within some seconds. */
async function openAll(key: string): Promise<OpenStream[] | null> {
  const open: OpenStream[] = [];
  return until(async () => {
    const stream = await openEvents(key).catch(() => null);
    if (stream) open.push(stream);
    return open.length === MAX_STREAMS ? open : null;
  });
}

const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;

it('HEAD on a stream answers without opening one: no timer and no place is left behind', async () => {
  const { key } = await newAccount();
  const { requestId } = (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' } })).body.data;
  const before = timers();
  const headers = { accept: 'text/event-stream' };
  for (let nth = 0; nth < 3 * MAX_STREAMS; nth++)
    for (const path of ['/events', `/invoke/${requestId}/events`]) {
      const answer = await h.request('HEAD', path, { key, headers });
      expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    }
  expect(timers() - before).toBeLessThan(MAX_STREAMS);
  expect(await openAll(key)).toHaveLength(MAX_STREAMS);
});

it('streams that wait on a connection behind another answer give their places back when it breaks', async () => {
  const { key } = await newAccount();
  const body = JSON.stringify({ task: 'hang' });
  const socket = await connectRaw();
  const called = agent.calls.length;
  socket.write(
    `POST /invoke/${agent.id} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\nx-sync: true\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}${sseRequest('GET', '/events', key).repeat(MAX_STREAMS)}`,
  );
  const isCalled = async () => agent.calls.length > called;
  await until(isCalled);
  // Answered after what came before it on this process: the streams have been opened, if they ever are.
  await h.request('GET', '/events', { key });
  socket.destroy();
  expect(await openAll(key)).toHaveLength(MAX_STREAMS);
});

it('a connection that asks for far more than it takes is ended, and nothing is opened for it', async () => {
  const { key } = await newAccount();
  const socket = await connectRaw();
  socket.resume();
  socket.write(sseRequest('GET', '/events', key).repeat(MAX_WAITING + 2));
  await once(socket, 'close');
  expect(await openAll(key)).toHaveLength(MAX_STREAMS);
});

it('requests on one connection are answered in their order', async () => {
  const { key } = await newAccount();
  const socket = await connectRaw();
  const request = (path: string) => `GET ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n\r\n`;
  socket.write(['/account', '/nowhere', '/events'].map(request).join(''));
  let heard = '';
  for await (const bytes of socket) {
    heard += bytes;
    if (heard.split('HTTP/1.1 ').length === 4 && heard.includes('"hasMore"')) break;
  }
  expect([...heard.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(['200', '404', '200']);
});

it('clients that vanish before the first byte of a stream leave no place taken', async () => {
  const { key } = await newAccount();
  for (let nth = 0; nth < 2 * MAX_STREAMS; nth++) {
    const socket = await connectRaw();
    socket.write(sseRequest('GET', '/events', key), () => socket.resetAndDestroy());
    await once(socket, 'close');
  }
  expect(await openAll(key)).toHaveLength(MAX_STREAMS);
});

it('of many streams that one account opens at once no more are opened than it may have', async () => {
  const { key } = await newAccount();
  const opened = await Promise.allSettled(Array.from({ length: 3 * MAX_STREAMS }, () => openEvents(key)));
  expect(opened.filter(({ status }) => status === 'fulfilled')).toHaveLength(MAX_STREAMS);
});
