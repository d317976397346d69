import OpenAI from 'openai';
import { expect, it } from 'vitest';
import { commonHeaders, preflightHeaders } from './common-headers.ts';

const listIn = (headers: Readonly<Record<string, string>>, name: string): string[] =>
  (headers[name] ?? '').toLowerCase().split(', ');

/** Names of the headers that OpenAI's client sends with a completion. */
async function namesSent(): Promise<string[]> {
  const sent: string[] = [];
  const fetch = async (_url: unknown, { headers }: { headers?: unknown } = {}) => {
    sent.push(...new Headers(headers as Headers).keys());
    return Response.json({ choices: [] });
  };
  const client = new OpenAI({
    baseURL: 'https://node.example/v1',
    apiKey: 'k',
    fetch: fetch as typeof globalThis.fetch,
  });
  await client.chat.completions.create({ model: 'agt_1', messages: [] });
  return sent;
}

it("a page of any origin may call with OpenAI's client, whatever headers it adds", async () => {
  const allowed = listIn(preflightHeaders, 'access-control-allow-headers');
  const names = await namesSent();
  expect(names).toEqual(expect.arrayContaining(['authorization', 'x-stainless-retry-count', 'x-stainless-lang']));
  // The wildcard is none for Authorization (Fetch, CORS protocol).
  expect(
    names.filter((name) => !allowed.includes(name) && (name === 'authorization' || !allowed.includes('*'))),
  ).toEqual([]);
});

it('it sees what tells it not to repeat a call', () => {
  expect(listIn(commonHeaders, 'access-control-expose-headers')).toEqual(
    expect.arrayContaining(['x-should-retry', 'retry-after', 'payment-required', 'www-authenticate']),
  );
});

it('a client of A2A sees which extensions are activated, in the header of its version', () => {
  expect(listIn(commonHeaders, 'access-control-expose-headers')).toEqual(
    expect.arrayContaining(['a2a-extensions', 'x-a2a-extensions']),
  );
});

it('it sends no credentials of the browser, for which a wildcard stands for nothing', () => {
  expect(preflightHeaders).not.toHaveProperty('access-control-allow-credentials');
  expect(preflightHeaders['access-control-allow-origin']).toBe('*');
});
