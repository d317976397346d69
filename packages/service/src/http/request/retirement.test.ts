import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { createRetirement } from '../admission/listen.ts';

test('a server that retires refuses new connections, and ends each open one with an answer', async () => {
  const gate = Promise.withResolvers<void>();
  const server = createServer(async (request, response) => {
    if (request.url === '/slow') await gate.promise;
    response.end('done');
  });
  const retirement = createRetirement(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const [kept, busy] = [new Agent({ keepAlive: true, maxSockets: 1 }), new Agent({ keepAlive: true, maxSockets: 1 })];
  const ask = async (path: string, agent: Agent | false) => {
    const asking = get(url + path, { agent });
    const [answer] = (await once(asking, 'response')) as [IncomingMessage];
    await once(answer.resume(), 'end');
    return answer.headers.connection;
  };
  expect(await ask('/', kept)).toBe('keep-alive');
  const slow = ask('/slow', busy);
  await once(server, 'request');

  retirement.begin();
  await expect(ask('/', false)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(await ask('/', kept)).toBe('close');
  const last = retirement.lastAnswers(10_000);
  gate.resolve();
  expect(await slow).toBe('close');
  await last;
  await retirement.closed;
});
