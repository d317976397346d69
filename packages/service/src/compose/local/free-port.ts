import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below those that Linux, macOS and Windows give to connections, and to listeners that ask for any: none of these takes a port before its use. */
const FIRST = 20_000;
const COUNT = 12_000;
let next = randomInt(COUNT);

/** Returns the preferred port if it is free, else any free port. A process is given none twice. */
export async function freePort(wish: number): Promise<number> {
  if (wish !== 0 && (await isFree(wish))) return wish;
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + next;
    next = (next + 1) % COUNT;
    if (await isFree(port)) return port;
  }
  throw new Error('no port is free');
}

async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, '127.0.0.1');
  try {
    await once(server, 'listening');
  } catch {
    return false;
  }
  server.close();
  await once(server, 'close');
  return true;
}
