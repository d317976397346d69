import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { answerUnread } from '../../../../src/http/answer/answer-unread.ts';
import type { Harness, TestAccount } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** Sends text as it is and resolves with all that comes until the other side ends the connection. */
async function sendRaw(port: number, pieces: readonly (string | Promise<string>)[]): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  let heard = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    heard += text;
  });
  const ended = once(socket, 'close');
  for (const piece of pieces) socket.write(await piece);
  await ended;
  return heard;
}

const post = (body: string, length = body.length) =>
  [
    `POST /invoke/${agent.id} HTTP/1.1`,
    'Host: x',
    `Authorization: Bearer ${owner.key}`,
    'X-Sync: true',
    'Content-Type: application/json',
    `Content-Length: ${length}`,
    '',
    body,
  ].join('\r\n');

/** A server with short times that answers what it has read whole. */
async function startImpatient(): Promise<{ server: Server; port: number }> {
  const times = { headersTimeout: 100, requestTimeout: 200, connectionsCheckingInterval: 20 };
  const server = createServer(times, (request, response) => {
    request.resume().on('end', () => response.end('whole'));
  });
  answerUnread(server, { graceMs: 200 });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { server, port: (server.address() as AddressInfo).port };
}

const statusesIn = (answer: string) => [...answer.matchAll(/^HTTP\/1\.1 (\d+)/gm)].map(([, status]) => Number(status));

it('a request with several Host headers is refused, and ends its connection: a proxy may have judged another of them', async () => {
  const { port } = new URL(h.baseUrl);
  const get = (hosts: readonly string[]) =>
    sendRaw(Number(port), [
      `GET /livez HTTP/1.1\r\n${hosts.map((host) => `${host}\r\n`).join('')}Connection: close\r\n\r\n`,
    ]);
  expect(statusesIn(await get(['Host: a.example']))).toEqual([200]);
  for (const second of ['Host: a.example', 'hOST: b.example', 'Host:']) {
    const refused = await get(['Host: a.example', second]);
    expect([second, ...statusesIn(refused)]).toEqual([second, 400]);
    expect(refused).toContain('VALIDATION_ERROR');
  }
  const smuggled = `GET /livez HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\nGET /livez HTTP/1.1\r\nHost: a\r\n\r\n`;
  expect(statusesIn(await sendRaw(Number(port), [smuggled]))).toEqual([400]);
});

it.each([
  ['no Host', 'GET /livez HTTP/1.1', 'Host is missing'],
  ['no Host in HTTP/1.0', 'GET /livez HTTP/1.0', 'Host is missing'],
  ['a Host that is none', 'GET /livez HTTP/1.1\r\nHost: a b', 'request has no valid URL and Host'],
  ['a backslash in its path', 'GET /\\livez HTTP/1.1\r\nHost: a', 'request has no valid URL and Host'],
  [
    'a fragment in its target',
    'POST /invoke/agt_1#/cancel HTTP/1.1\r\nHost: a',
    'request has a fragment in its target',
  ],
  ['no path', 'OPTIONS * HTTP/1.1\r\nHost: a', 'request has no valid URL and Host'],
])('a request with %s is refused with the reason and an id', async (_what, head, reason) => {
  const refused = await sendRaw(Number(new URL(h.baseUrl).port), [`${head}\r\n\r\n`]);
  expect(statusesIn(refused)).toEqual([400]);
  expect(refused).toContain(`"message":"Invalid request: ${reason}."`);
  const requestId = /^x-request-id: (req_\w+)$/im.exec(refused)?.[1];
  expect(refused).toContain(`"requestId":"${requestId}"`);
});

describe('a request that does not arrive in time', () => {
  it.each([
    ['in its headers', () => 'POST / HTTP/1.1\r\nHost: x\r\nX-Pay'],
    ['in its body', () => post('{"task":', 40)],
  ])(
    '%s is answered 503, with how to learn what an earlier one did: no 4xx, which would look like a refusal',
    async (_where, text) => {
      const { port } = await startImpatient();
      const answer = await sendRaw(port, [text()]);
      expect(statusesIn(answer)).toEqual([503]);
      expect(answer).toMatch(/retry-after: \d+/);
      const { error } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')));
      expect(error).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringContaining('may have run') });
      expect(error.message).toContain('GET /invoke/history');
    },
  );

  it('but had arrived where a paused process could not see it, is read and answered', async () => {
    const { server, port } = await startImpatient();
    const timedOut = once(server, 'clientError').then(() => 'lines: y\r\n\r\n');
    const answer = await sendRaw(port, ['GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nFurther-', timedOut]);
    expect(statusesIn(answer)).toEqual([200]);
  });

  it('but had arrived while the process was busy for longer than the grace, is read and answered', async () => {
    const { server, port } = await startImpatient();
    const socket = connect(port, '127.0.0.1').setEncoding('utf8');
    await once(server, 'clientError');
    // Behind this, timers that are due run before anything is read.
    await new Promise((resolve) => setImmediate(resolve));
    socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    const untilMs = performance.now() + 300;
    while (performance.now() < untilMs);
    const [answer] = await once(socket, 'data');
    expect(statusesIn(answer)).toEqual([200]);
  });
});

it('a connection that brings nothing is closed without an answer, which a browser would take for that to its next request', async () => {
  const { port } = await startImpatient();
  expect(await sendRaw(port, [])).toBe('');
});

it('what is not HTTP is refused under a request id, as everything is', async () => {
  const refused = await sendRaw(Number(new URL(h.baseUrl).port), ['NONSENSE\r\n\r\n']);
  expect(statusesIn(refused)).toEqual([400]);
  const { error } = JSON.parse(refused.slice(refused.indexOf('\r\n\r\n')));
  expect(error.requestId).toMatch(/^req_/);
  expect(refused).toContain(`x-request-id: ${error.requestId}\r\n`);
});

it('an unreadable request behind a running call does not take its answer', async () => {
  const gate = Promise.withResolvers<void>();
  const called = Promise.withResolvers<string>();
  agent.behave(async (_request, response) => {
    called.resolve('NONSENSE\r\n\r\n');
    await gate.promise;
    await answerWith(200, { result: 'done' })({ headers: {}, body: null }, response);
  });
  const port = Number(new URL(h.baseUrl).port);
  const sent = called.promise.then((text) => {
    setImmediate(() => gate.resolve());
    return text;
  });
  const answer = await sendRaw(port, [post('{"task":"x"}'), sent]);
  expect(statusesIn(answer)).toEqual([200]);
  expect(answer).toContain('"result":"done"');
});
