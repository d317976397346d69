import { expect, onTestFinished, test } from 'vitest';
import { startLoopbackEndpoint } from '../../../test/support/loopback-endpoint.ts';
import { createRemoteModel } from './remote-model.ts';

async function newEndpoint() {
  const endpoint = await startLoopbackEndpoint();
  onTestFinished(() => endpoint[Symbol.asyncDispose]());
  const model = createRemoteModel({
    url: `http://127.0.0.1:${endpoint.port}/v1/embeddings`,
    model: 'some',
    apiKey: 'sk-1',
  });
  return { endpoint, model };
}

const vectorOf = (first: number, length = 8) => [first, ...Array.from({ length: length - 1 }, () => 0.5)];
const entry = (index: number, embedding: unknown) => ({ object: 'embedding', index, embedding });

test('asks as OpenAI has it, and takes the vectors in the order of the texts', async () => {
  const { endpoint, model } = await newEndpoint();
  const asked: unknown[] = [];
  endpoint.handle = async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    const { method, url, headers } = request;
    asked.push({ method, url, authorization: headers.authorization, body: JSON.parse(text) });
    response.end(JSON.stringify({ object: 'list', data: [entry(1, vectorOf(2)), entry(0, vectorOf(1))] }));
  };
  const vectors = await model.ofAgents(['one', '二']);
  expect(vectors.map((vector) => vector?.[0])).toEqual([1, 2]);
  const body = { model: 'some', input: ['one', '二'] };
  expect(asked).toEqual([{ method: 'POST', url: '/v1/embeddings', authorization: 'Bearer sk-1', body }]);
});

test.each<[string, unknown]>([
  ['one vector for two texts', { data: [entry(0, vectorOf(1))] }],
  ['a vector twice', { data: [entry(0, vectorOf(1)), entry(0, vectorOf(1))] }],
  ['vectors for other texts', { data: [entry(0, vectorOf(1)), entry(2, vectorOf(1))] }],
  ['three vectors', { data: [entry(0, vectorOf(1)), entry(1, vectorOf(1)), entry(2, vectorOf(1))] }],
  ['vectors of two lengths', { data: [entry(0, vectorOf(1)), entry(1, vectorOf(1, 9))] }],
  ['vectors of too many numbers', { data: [entry(0, vectorOf(1, 5000)), entry(1, vectorOf(1, 5000))] }],
  ['no numbers', { data: [entry(0, 'AACAPw=='), entry(1, 'AACAPw==')] }],
  [
    'zeros',
    {
      data: [
        entry(0, vectorOf(1)),
        entry(
          1,
          Array.from({ length: 8 }, () => 0),
        ),
      ],
    },
  ],
  ['numbers beyond all bounds', { data: [entry(0, vectorOf(1)), entry(1, vectorOf(1e300))] }],
  ['something else', { error: { message: 'no' } }],
  ['no JSON', '<html>'],
  ['far too much', `[${'1,'.repeat(5_000_000)}1]`],
])('does not take %s', async (_, answer) => {
  const { endpoint, model } = await newEndpoint();
  endpoint.handle = (_request, response) => response.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  await expect(model.ofAgents(['one', 'two'])).rejects.toThrow();
});

test.each([302, 401, 500])('does not take an answer with the status %i', async (status) => {
  const { endpoint, model } = await newEndpoint();
  endpoint.handle = (_request, response) =>
    response
      .writeHead(status, { location: 'http://127.0.0.1:9/' })
      .end(JSON.stringify({ data: [entry(0, vectorOf(1))] }));
  await expect(model.ofSearch('one', 2000)).rejects.toThrow();
});

test('a search does not wait for one that is silent', async () => {
  const { endpoint, model } = await newEndpoint();
  endpoint.handle = () => undefined;
  const startMs = performance.now();
  await expect(model.ofSearch('one', 2000)).rejects.toThrow();
  expect(performance.now() - startMs).toBeLessThan(10_000);
});
