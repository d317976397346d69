import { expect, it, onTestFinished, vi } from 'vitest';
import { startHarness } from '../../support/harness.ts';
import { startTestAgent } from '../../support/test-agent.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, spokenBy } from './support/streaming-agent.ts';

const READERS = 40;
const WORDS = 30;

it('many readers hear all that is said, and the database is asked for all of them together', async () => {
  const h = await startHarness();
  const talk = spokenBy();
  const agent = await startTestAgent(h, { perRequest: '0', behaviour: talk.behaviour });
  onTestFinished(async () => {
    await agent.die();
    await h.stop();
  });
  const { key } = await h.newAccount();
  const first = await openSse(h, 'POST', `/invoke/${agent.id}`, { key, body: { task: 'x', stream: true } });
  const begun = await first.take(2);
  const path = `/invoke/${begun[0]?.data.requestId}/events`;
  const others = await Promise.all(Array.from({ length: READERS }, () => openSse(h, 'GET', path, { key })));
  for (const reader of others) await reader.take(2);
  const said = await talk.next();

  const queries = vi.spyOn(h.ctx.db, 'query');
  for (let word = 0; word < WORDS; word++) {
    said.say(chunk({ word }));
    expect(await first.next()).toMatchObject({ type: 'invocation.chunk', data: { word } });
  }
  said.say(result('end'));
  const rests = await Promise.all(others.map((reader) => reader.rest()));
  const asked = queries.mock.calls.filter(([name]) => /chunk|invocations$|marks/.test(name));

  for (const rest of rests) {
    expect(problemWithStream([...begun, ...rest])).toBeNull();
    expect(rest.slice(0, -1).map(({ data }) => data.word)).toEqual(Array.from({ length: WORDS }, (_, word) => word));
  }
  expect(asked.length).toBeLessThan(READERS);
});
