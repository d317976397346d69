import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { expect, it } from 'vitest';
import { freePort } from './free-port.ts';

it('a free port is one that no connection and no listener is given before its use, and nobody else of this process', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, () => freePort(0)));
  expect(new Set(ports).size).toBe(20);
  // Linux gives 32768 and above, other systems 49152 and above.
  expect(Math.max(...ports)).toBeLessThan(32_768);
});

it('a preferred port is given while it is free', async () => {
  const wish = await freePort(0);
  expect(await freePort(wish)).toBe(wish);
  const server = createServer().listen(wish, '127.0.0.1');
  await once(server, 'listening');
  expect((server.address() as AddressInfo).port).toBe(wish);
  expect(await freePort(wish)).not.toBe(wish);
  server.close();
});
