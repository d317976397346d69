import { createServer } from 'node:net';

/** Returns the preferred port if it is free, else any free port. */
export function freePort(wish: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', () => (wish === 0 ? reject(new Error('no port is free')) : resolve(freePort(0))));
    server.listen(wish, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}
