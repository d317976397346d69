import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { STOPPING } from '../../../src/calls/protocols/adapter.ts';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { awaitEnd } from '../../../src/calls/stream/await-end.ts';
import { askDatabase } from '../../support/books.ts';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';

let h: Harness;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0' });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** A call whose agent does not answer before it is let go, and a caller who waits for it. */
async function callSlowly() {
  const letGo = Promise.withResolvers<void>();
  const called = Promise.withResolvers<string>();
  agent.behave(async (request, response) => {
    called.resolve(request.body.request_id);
    await letGo.promise;
    await echo(request, response);
  });
  const { key } = await h.newAccount();
  const options = { key, body: { task: 'x' }, headers: { 'x-sync': 'true' } };
  const answered = h.request('POST', `/invoke/${agent.id}`, options);
  return { requestId: await called.promise, answered, letGo: letGo.resolve };
}

it('a caller that waits at a process which lost the request gets its end, not its current state', async () => {
  const { requestId, answered, letGo } = await callSlowly();
  const here = h.ctx.runner.ending(requestId);
  const wait = { waitMs: 30_000, signal: new AbortController().signal };
  const awaited = awaitEnd(h.ctx, requestId, wait, here);
  const other = randomUUID();
  await askDatabase(h.databaseUrl, `insert into process (id, label) values ($1, 'other')`, [other]);
  const take = 'update invocation set attempt = attempt + 1, worker = $2 where id = $1';
  await askDatabase(h.databaseUrl, take, [requestId, other]);
  letGo();
  expect(await here).toMatchObject({ status: 'processing' });
  agent.behave(echo);
  await askDatabase(h.databaseUrl, 'delete from process where id = $1', [other]);
  await recoverInvocations(h.ctx);
  expect((await answered).body.data).toMatchObject({ requestId, status: 'completed', result: { echo: 'x' } });
  expect(await awaited).toBeNull();
});

it('a caller that waits at a stopping process gets the current state', async () => {
  const { requestId, answered, letGo } = await callSlowly();
  const stopping = new AbortController();
  const ctx = { ...h.ctx, runner: { ...h.ctx.runner, signal: stopping.signal } };
  const wait = { waitMs: 30_000, signal: new AbortController().signal };
  const awaited = awaitEnd(ctx, requestId, wait, null);
  stopping.abort(STOPPING);
  expect(await awaited).toBeNull();
  expect(h.ctx.runner.trackedIds()).toContain(requestId);
  letGo();
  expect((await answered).body.data).toMatchObject({ status: 'completed' });
});
