import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newClient } from '../../../support/treasury.ts';

const DAY_MS = 86_400_000;
const CALLS = 5;
let h: Harness;
let agent: TestAgent;
let client: Awaited<ReturnType<typeof newClient>>;
const requestIds: string[] = [];

const call = async (key: string, task: string) => {
  const body = { task, input: { of: task }, context: `of ${task}` };
  const { body: answer } = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers: { 'x-sync': 'true' } });
  expect(answer.data.status).toBe('completed');
  return answer.data.requestId as string;
};
const page = async (query = '', key = client.key) => {
  const { status, body } = await h.request('GET', `/account/export${query}`, { key });
  expect(status).toBe(200);
  return body.data;
};

beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.01' });
  agent.behave((asked, response) => answerWith(200, { result: { to: asked.body.task } })(asked, response));
  client = await newClient(h, '10.00');
  for (let nth = 0; nth < CALLS; nth++) requestIds.push(await call(client.key, `task ${nth}`));
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

describe('the export of an account', () => {
  it('has every ended request once, oldest first, with input, context and result, and until when they are kept', async () => {
    const found = [];
    let cursor = '';
    do {
      const { requests, nextCursor, hasMore, keptDays } = await page(`?limit=2${cursor}`);
      expect(hasMore).toBe(nextCursor !== null);
      expect(keptDays).toEqual({ results: 90, streams: 7, events: 30 });
      found.push(...requests);
      cursor = nextCursor === null ? '' : `&cursor=${nextCursor}`;
    } while (cursor !== '');
    expect(found.map(({ requestId }) => requestId)).toEqual(requestIds);
    for (const [nth, request] of found.entries()) {
      const { body } = await h.request('GET', `/invoke/${request.requestId}`, { key: client.key });
      const { input, context, keptUntil, ...record } = request;
      expect(record).toEqual(body.data);
      expect([input, context, record.result]).toEqual([{ of: `task ${nth}` }, `of task ${nth}`, { to: `task ${nth}` }]);
      expect(Date.parse(keptUntil) - Date.parse(record.completedAt)).toBe(90 * DAY_MS);
    }
  });

  it('has nothing of another account, and of an agent only its own requests', async () => {
    const stranger = await newClient(h, '1.00');
    expect((await page('', stranger.key)).requests).toEqual([]);
    const own = await startTestAgent(h, { owner: client, perRequest: '0' });
    expect((await page('', own.identityToken)).requests).toEqual([]);
    await own.die();
  });

  it('fills a page by bytes, with one request at least', async () => {
    const large = await newClient(h, '1.00');
    const ids = [await call(large.key, 'a'), await call(large.key, 'b'), await call(large.key, 'c')];
    await h.ctx.db.query('enlarge', 'update invocation set result = to_json($2::text) where id = any($1)', [
      ids.slice(0, 2),
      randomBytes(3 * 512 * 1024).toString('hex'),
    ]);
    const first = await page('', large.key);
    expect(first.requests.map(({ requestId }: { requestId: string }) => requestId)).toEqual(ids.slice(0, 2));
    const rest = await page(`?cursor=${first.nextCursor}`, large.key);
    expect(rest.requests.map(({ requestId }: { requestId: string }) => requestId)).toEqual(ids.slice(2));
    expect(rest.hasMore).toBe(false);
  });

  it.each(['?cursor=x', '?limit=0', '?limit=101', '?offset=1'])('refuses %s', async (query) => {
    const { status, body } = await h.request('GET', `/account/export${query}`, { key: client.key });
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
  });
});
