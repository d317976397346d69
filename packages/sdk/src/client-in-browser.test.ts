import { afterEach, expect, it, vi } from 'vitest';
import { createClient } from './client.ts';

afterEach(() => void vi.unstubAllGlobals());

const answer = () =>
  Response.json({ status: 'success', data: { agents: [], total: 0, hasMore: false, nextCursor: null } });

/** As browsers have it: bound to the window, and an error for whatever else it is called on. */
function windowFetch(this: unknown): Promise<Response> {
  if (this !== undefined && this !== globalThis) return Promise.reject(new TypeError('Illegal invocation'));
  return Promise.resolve(answer());
}

it('calls the fetch of a browser as a function, never as a method of something else', async () => {
  vi.stubGlobal('fetch', windowFetch);
  const client = createClient({ baseUrl: 'http://node.test', maxRetries: 0 });
  expect((await client.listAgents()).total).toBe(0);
  const own = createClient({ baseUrl: 'http://node.test', maxRetries: 0, fetch: windowFetch as typeof fetch });
  expect((await own.listAgents()).total).toBe(0);
});

it('calls the fetch that is there at the time of the call', async () => {
  const client = createClient({ baseUrl: 'http://node.test', maxRetries: 0 });
  const late = vi.fn(() => Promise.resolve(answer()));
  vi.stubGlobal('fetch', late);
  await client.listAgents();
  expect(late).toHaveBeenCalledOnce();
});
