import { expect, test } from 'vitest';
import { guardedConnector } from './guarded-fetch-connect.ts';
import { GuardedFetchError } from './guarded-fetch-error.ts';

test.each(['127.0.0.1', '::1', '[::1]', '::ffff:127.0.0.1', '169.254.169.254', '10.0.0.1'])(
  'a literal %s is refused before a socket exists and without being resolved',
  async (hostname) => {
    let resolveCount = 0;
    const resolve = async () => {
      resolveCount++;
      return [];
    };
    const connect = guardedConnector({ allowPrivate: false, connectTimeoutMs: 1_000, resolve });
    const [error, socket] = await new Promise<[Error | null, unknown]>((done) => {
      connect({ hostname, protocol: 'http:', port: '80' }, (...answer) => done(answer));
    });
    expect(error).toBeInstanceOf(GuardedFetchError);
    expect(error).toMatchObject({ kind: 'blocked' });
    expect({ socket, resolveCount }).toEqual({ socket: null, resolveCount: 0 });
  },
);
