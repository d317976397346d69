import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { type LoopbackEndpoint, startLoopbackEndpoint } from '../../support/loopback-endpoint.ts';
import { until } from '../../support/until.ts';

/** Words of one meaning, in several languages. */
const meanings = [
  ['weather', 'forecast', 'rain', '天気', 'дождь'],
  ['translate', 'translator', '翻訳', 'перевод'],
  ['parcel', 'tracker', '荷物', 'посылка'],
];

const vectorOf = (text: string, length = 8) =>
  Array.from({ length }, (_, index) => {
    const words = meanings[index] ?? [];
    return 0.01 + words.filter((word) => text.toLowerCase().includes(word)).length;
  });

let endpoint: LoopbackEndpoint;
let h: Harness;
let owner: TestAccount;
/** Behaviour of the endpoint. */
let answer: 'well' | 'never' | 'otherwise' = 'well';

beforeAll(async () => {
  endpoint = await startLoopbackEndpoint();
  endpoint.handle = async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    if (answer === 'never') return;
    const { input } = JSON.parse(text) as { input: string[] };
    const length = answer === 'well' ? 8 : 9;
    response.end(JSON.stringify({ data: input.map((each, index) => ({ index, embedding: vectorOf(each, length) })) }));
  };
  const env = {
    SEARCH_BY: 'auto',
    EMBEDDINGS_URL: `http://127.0.0.1:${endpoint.port}/`,
    EMBEDDINGS_MODEL: 'of-a-test',
  };
  h = await startHarness({ env });
  owner = await h.newAccount();
  for (const name of ['Weather Forecast', 'Translator', 'Parcel Tracker']) {
    const body = { name, capabilities: ['work'], rates: { perRequest: '0.01' }, endpoint: 'http://127.0.0.1:9/' };
    await h.request('POST', '/agents', { key: owner.key, body });
  }
  const due = 'select from agent_vector where due_at is not null';
  await until(async () => (await h.ctx.db.pool.query(due)).rowCount === 0, 50);
});
afterAll(async () => {
  await h.stop();
  await endpoint[Symbol.asyncDispose]();
});

async function search(text: string, by = 'auto') {
  const { body } = await h.request('POST', '/agents/search', { body: { query: { text }, by } });
  const { rankedBy, agents } = body.data;
  return { rankedBy, names: agents.map(({ name }: { name: string }) => name) };
}

it('agents are found in the languages of the model', async () => {
  expect(await search('明日の天気は？', 'meaning')).toEqual({ rankedBy: 'meaning', names: ['Weather Forecast'] });
  expect(await search('где моя посылка', 'meaning')).toEqual({ rankedBy: 'meaning', names: ['Parcel Tracker'] });
  const { rows } = await h.ctx.db.pool.query('select distinct model, length(vector) from agent_vector');
  expect(rows).toEqual([{ model: 'url/of-a-test', length: 8 }]);
});

it('while it is silent or answers vectors of another length, searches are by words, and agents are registered', async () => {
  const byWords = { rankedBy: 'words', names: ['Translator'] };
  answer = 'never';
  expect(await search('translator 1')).toEqual(byWords);
  answer = 'otherwise';
  expect(await search('translator 2', 'meaning')).toEqual(byWords);
  const body = { name: 'New', capabilities: ['work'], rates: { perRequest: '0.01' }, endpoint: 'http://127.0.0.1:9/' };
  expect((await h.request('POST', '/agents', { key: owner.key, body })).status).toBe(200);
  answer = 'well';
  expect(await search('перевод', 'meaning')).toEqual({ rankedBy: 'meaning', names: ['Translator'] });
  await until(async () => (await search('перевод')).rankedBy === 'meaning');
});
