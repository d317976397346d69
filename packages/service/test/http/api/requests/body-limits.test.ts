import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answer } from '../../../support/harness.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';
import { startWorld, type World } from '../support/world.ts';

const MIB = 1024 * 1024;
let world: World;
beforeAll(async () => {
  world = await startWorld();
});
afterAll(() => world.stop());

/** An invocation whose JSON is exactly this many bytes. */
function bodyOf(bytes: number, character = 'a'): string {
  const frame = JSON.stringify({ task: 'big', input: { text: '' } });
  const count = (bytes - Buffer.byteLength(frame)) / Buffer.byteLength(character);
  return frame.replace('""', `"${character.repeat(count)}"`);
}

const invoke = (text: string, headers: Record<string, string> = {}) =>
  world.h.request('POST', `/invoke/${world.strangersAgent.id}`, {
    key: world.owner.key,
    text,
    headers: { 'x-sync': 'true', ...headers },
  });

/** The same without a content-length, in chunks. */
function invokeChunked(text: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      `${world.h.baseUrl}/invoke/${world.strangersAgent.id}`,
      {
        method: 'POST',
        headers: { authorization: `Bearer ${world.owner.key}`, 'transfer-encoding': 'chunked', 'x-sync': 'true' },
      },
      async (response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of response) chunks.push(chunk as Buffer);
        const headers = new Headers(response.headers as Record<string, string>);
        resolve({ status: response.statusCode ?? 0, headers, body: JSON.parse(Buffer.concat(chunks).toString()) });
      },
    );
    request.on('error', reject);
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += 65_537) request.write(bytes.subarray(at, at + 65_537));
    request.end();
  });
}

describe.each([
  ['with a content-length', (text: string) => invoke(text)],
  ['in chunks', invokeChunked],
])('a body %s', (_how, send) => {
  it('of exactly 1 MiB is taken and reaches the agent whole', async () => {
    const text = bodyOf(MIB);
    expect(Buffer.byteLength(text)).toBe(MIB);
    const answer = await send(text);
    expect(answer.status).toBe(200);
    expect(world.strangersAgent.calls.at(-1)?.body.input).toEqual(JSON.parse(text).input);
  });

  it('of 1 MiB and a byte is refused and changes nothing', async () => {
    const [digest, calls] = [await databaseDigest(world.h), world.strangersAgent.calls.length];
    expectError(await send(bodyOf(MIB + 1)), 'PAYLOAD_TOO_LARGE');
    expect(await databaseDigest(world.h)).toEqual(digest);
    expect(world.strangersAgent.calls).toHaveLength(calls);
  });

  it('is measured in bytes, not in characters', async () => {
    expectError(await send(`${bodyOf(MIB - 3, '€')}€€`), 'PAYLOAD_TOO_LARGE');
  });

  it('keeps every character, also where chunks cut it in two', async () => {
    const text = JSON.stringify({ task: 'é€💥', input: { text: '€💥'.repeat(40_000) } });
    await send(text);
    expect(world.strangersAgent.calls.at(-1)?.body).toMatchObject(JSON.parse(text));
  });
});

const nested = (levels: number) => ({
  task: 'deep',
  input: { a: JSON.parse('['.repeat(levels - 2) + ']'.repeat(levels - 2)) },
});

describe('nesting', () => {
  it('of 32 levels is taken', async () => {
    expect((await invoke(JSON.stringify(nested(32)))).status).toBe(200);
  });

  it.each([33, 34, 1000])('of %i levels is refused', async (levels) => {
    expectError(await invoke(JSON.stringify(nested(levels))), 'VALIDATION_ERROR', 'body');
  });

  it('of half a million brackets is refused without falling over', async () => {
    expectError(await invoke('['.repeat(500_000) + ']'.repeat(500_000)), 'PAYLOAD_TOO_LARGE');
    expectError(await invoke('['.repeat(90_000) + ']'.repeat(90_000)), 'VALIDATION_ERROR', 'body');
    expectError(await invoke('{"a":'.repeat(40_000)), 'VALIDATION_ERROR', 'body');
    expect((await world.h.request('GET', '/livez')).status).toBe(200);
  });
});

describe('in a free-form field', () => {
  it.each([
    '{"task":"x","__proto__":{"priority":"high"}}',
    '{"task":"x","input":{"__proto__":1}}',
    '{"task":"x","metadata":{"a":[{"b":{"__proto__":null}}]}}',
  ])('a key named __proto__ is refused: %s', async (text) => {
    expectError(await invoke(text), 'VALIDATION_ERROR', 'body');
  });

  it.each(['1e400', '-1e400', '1e-400', '12345678901234567890'])(
    'a number that would reach the agent as another one is refused, and nothing runs: %s',
    async (number) => {
      const calls = world.strangersAgent.calls.length;
      for (const field of ['input', 'metadata']) {
        const refused = await invoke(`{"task":"x","${field}":{"a":[${number}]}}`);
        expectError(refused, 'VALIDATION_ERROR', `${field}.a.0`);
        expect(refused.body.error.message).toContain(number);
      }
      expect(world.strangersAgent.calls).toHaveLength(calls);
    },
  );

  it.each([
    ['NUL', { text: '\u0000', '\u0000key': 1 }],
    ['lone surrogates', { text: '\ud800', '\udc00key': 'a\udfff' }],
    ['large and tiny numbers', { a: 1.7976931348623157e308, b: 5e-324, c: -0.1, d: 9007199254740993n.toString() }],
    ['keys that objects have', { constructor: 1, toString: { prototype: 2 }, hasOwnProperty: 3 }],
    ['empty keys and values', { '': '', a: [], b: {}, c: null }],
  ])('%s reach the agent and come back unchanged', async (_what, input) => {
    const metadata = { kept: input };
    const answer = await invoke(JSON.stringify({ task: 'x', input, metadata }));
    expect(answer.body.data).toMatchObject({ status: 'completed', metadata });
    expect(world.strangersAgent.calls.at(-1)?.body.input).toEqual(input);
    const read = await world.h.request('GET', `/invoke/${answer.body.data.requestId}`, { key: world.owner.key });
    expect(read.body.data).toMatchObject({ result: { input }, metadata });
  });
});

describe('text for people', () => {
  it.each(['\u0000', '\u0007', '\u001b[2J', '\u007f', '\u202e', '\ud800', 'a\udc00b'])(
    'may not hold %j',
    async (bad) => {
      const digest = await databaseDigest(world.h);
      for (const field of ['task', 'context'])
        expectError(await invoke(JSON.stringify({ task: 'x', [field]: `a${bad}b` })), 'VALIDATION_ERROR', field);
      expect(await databaseDigest(world.h)).toEqual(digest);
    },
  );

  it('may hold tabs, line breaks and characters beyond the first plane', async () => {
    const task = 'a\tb\r\nc é 漢 💥 👩‍👩‍👧';
    const answer = await invoke(JSON.stringify({ task }));
    expect(answer.body.data).toMatchObject({ task, result: { echo: task } });
  });
});

it('text that is not UTF-8 is refused rather than guessed at', async () => {
  const text = Buffer.concat([Buffer.from('{"task":"a'), Buffer.from([0xff, 0xc3]), Buffer.from('"}')]);
  const answer = await world.h.request('POST', `/invoke/${world.strangersAgent.id}`, {
    key: world.owner.key,
    text: new Uint8Array(text),
  });
  expectError(answer, 'VALIDATION_ERROR', 'body');
});
