import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Harness } from '../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { startJoinableHarness, startMortalNode } from './support/second-node.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startJoinableHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  client = await newClient(h, '0.05');
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const body = { task: 'x', stream: true };
const invokeAt = (host: { baseUrl: string }) => openSse(host, 'POST', `/invoke/${agent.id}`, { key: client.key, body });
const followAt = (host: { baseUrl: string }, requestId: string, after = 0) =>
  openSse(host, 'GET', `/invoke/${requestId}/events?after=${after}`, { key: client.key });

it('a process is killed in mid-stream: the agent says everything again, and no reader misses or hears anything twice', async () => {
  const mortal = await startMortalNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invokeAt(mortal);
  const { requestId } = (await stream.next())?.data ?? {};
  const first = await talk.next();
  const texts = Array.from({ length: 30 }, (_, index) => chunk({ index, zero: -0 }));
  for (const each of texts.slice(0, 20)) first.say(each);
  const heard = [{ id: 1 }, ...(await stream.take(12))];
  await mortal.kill();
  await expect(stream.rest()).rejects.toThrow();
  const again = await talk.next();
  for (const each of texts) again.say(each);
  again.say(result('end'));
  const rest = await (await followAt(h, requestId, heard.at(-1)?.id)).rest();
  expect([...heard, ...rest].map(({ id }) => id)).toEqual(Array.from({ length: 33 }, (_, index) => index + 1));
  const whole = await (await followAt(h, requestId)).rest();
  expect(problemWithStream(whole)).toBeNull();
  expect(whole.slice(2, -1).map(({ data }) => data.index)).toEqual(texts.map((_, index) => index));
  expect(whole.slice(13)).toEqual(rest);
  expect(await untilEnded(h, client.key, requestId)).toMatchObject({ status: 'completed', cost: '0.05' });
});

it('an agent that says something else the second time is heard from where it differs, under new ids', async () => {
  const mortal = await startMortalNode(h);
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const stream = await invokeAt(mortal);
  const { requestId } = (await stream.next())?.data ?? {};
  const first = await talk.next();
  for (const text of ['a', 'b', 'c']) first.say(chunk(text));
  await stream.take(4);
  await mortal.kill();
  const again = await talk.next();
  for (const text of ['a', 'x', 'c']) again.say(chunk(text));
  again.say(result('end'));
  await untilEnded(h, client.key, requestId);
  const whole = await (await followAt(h, requestId)).rest();
  expect(problemWithStream(whole)).toBeNull();
  expect(whole.slice(2, -1).map(({ data }) => data.chunk)).toEqual(['a', 'b', 'c', 'x', 'c']);
});
