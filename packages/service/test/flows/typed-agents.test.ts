import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { forgetTypes } from '../../src/agents/listing/declare-types.ts';
import { isOthersFault } from '../../src/calls/finish/end-invocations.ts';
import { readHomeAnswer } from '../../src/calls/remote/home-answer.ts';
import { callTool, modern } from '../http/gateways/mcp/raw-client.ts';
import { contradictions } from '../support/books.ts';
import { fixedClock } from '../support/fixed-clock.ts';
import type { Answer, Harness, TestAccount } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

const types = {
  inputSchema: {
    type: 'object',
    properties: { text: { type: 'string', maxLength: 100 }, style: { $ref: '#/$defs/style' } },
    required: ['text'],
    additionalProperties: false,
    $defs: { style: { enum: ['short', 'long'] } },
  },
  outputSchema: { type: 'object', properties: { words: { type: 'integer' } }, required: ['words'] },
  examples: [{ description: 'Two words', input: { text: 'two words' }, output: { words: 2 } }],
  estimatedTime: '2-4s',
  capabilities: { count: { outputSchema: { type: 'integer' } } },
};
const good = answerWith(200, { result: { words: 3 } });

let h: Harness;
let owner: TestAccount;
let buyer: Client;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  buyer = await newClient(h, '10.00');
  agent = await startTestAgent(h, { owner, perRequest: '0.10', capabilities: ['counting', 'count'] });
});
beforeEach(async () => {
  agent.behave(good);
  expect((await declare(types)).status).toBe(200);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const declare = (declared: unknown) =>
  h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { types: declared } });
const call = (body: object, headers: Record<string, string> = { 'x-sync': 'true' }) =>
  h.request('POST', `/invoke/${agent.id}`, { key: buyer.key, body: { task: 'count', ...body }, headers });
const balance = () => balanceOf(h, buyer.key);
const fieldsOf = ({ status, body }: Answer) => [
  status,
  body.error?.details.fields.map((field: { path: string; message: string }) => `${field.path} ${field.message}`),
];

describe('types', () => {
  it('show in the detail of the agent and in quotes, and go with null', async () => {
    expect((await h.request('GET', `/agents/${agent.id}`)).body.data.types).toEqual(types);
    const fresh = await startTestAgent(h, { owner, perRequest: '0' });
    expect((await h.request('GET', `/agents/${fresh.id}`)).body.data).not.toHaveProperty('types');
    const quote = () => h.request('POST', `/invoke/${fresh.id}/quote`, { key: buyer.key, body: { task: 't' } });
    expect((await quote()).body.data.estimatedTime).toBe('1-30s');
    const put = (declared: unknown) =>
      h.request('PUT', `/agents/${fresh.id}`, { key: owner.key, body: { types: declared } });
    expect((await put({ estimatedTime: '40-90s' })).body.data.updated).toEqual(['types']);
    expect((await quote()).body.data.estimatedTime).toBe('40-90s');
    expect((await put({ estimatedTime: '40-90s' })).body.data.updated).toEqual([]);
    expect((await put(null)).body.data.updated).toEqual(['types']);
    expect((await h.request('GET', `/agents/${fresh.id}`)).body.data).not.toHaveProperty('types');
    await fresh.die();
  });

  it.each<[string, unknown, RegExp]>([
    [
      'with a pattern that hangs other engines by look-around',
      { inputSchema: { type: 'object', properties: { a: { pattern: '(?=a)(a+)+$' } } } },
      /types\.inputSchema\.properties\.a\.pattern .*RE2/,
    ],
    ['that refer to themselves', { outputSchema: { $ref: '#' } }, /types\.outputSchema refers to itself/],
    ['that refer to other documents', { outputSchema: { $ref: 'http://127.0.0.1/x' } }, /types\.outputSchema\.\$ref/],
    ['of 60 kB', { outputSchema: { description: 'x'.repeat(60_000) } }, /more than 32768 bytes/],
    ['of 500 kB', { outputSchema: { description: 'x'.repeat(500_000) } }, /more than 65536/],
    ['with __proto__', { outputSchema: { properties: JSON.parse('{"__proto__":{}}') } }, /__proto__/],
    ['whose input is no object', { inputSchema: { type: 'array' } }, /must be "object"/],
    [
      'with an example that does not fit',
      { ...types, examples: [{ input: { text: 5 } }] },
      /types\.examples\.0\.input\.text must be of type string/,
    ],
    [
      'of a capability that the agent does not have',
      { capabilities: { sing: {} } },
      /types\.capabilities\.sing is not a capability/,
    ],
    [
      'with more schemas than one agent may have',
      {
        capabilities: Object.fromEntries(
          ['counting', 'count'].map((name) => [
            name,
            {
              inputSchema: { type: 'object', anyOf: Array(300).fill(true) },
              outputSchema: { anyOf: Array(300).fill(true) },
            },
          ]),
        ),
      },
      /more than 1000 schemas/,
    ],
  ])('%s are refused', async (_, declared, says) => {
    const { status, body } = await declare(declared);
    expect(status).toBe(400);
    expect(body.error.message).toMatch(says);
  });

  it('of a capability that is dropped are refused until they are dropped with it', async () => {
    const drop = (more: object) =>
      h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { capabilities: ['counting'], ...more } });
    expect(fieldsOf(await drop({}))).toEqual([400, ['types.capabilities.count is not a capability of the agent']]);
    expect((await drop({ types: { ...types, capabilities: {} } })).status).toBe(200);
    await h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { capabilities: ['counting', 'count'] } });
  });

  it('are kept in twenty versions at most', async () => {
    const busy = await startTestAgent(h, { owner });
    const statuses: number[] = [];
    for (let version = 1; version <= 25; version++) {
      const body = { types: { estimatedTime: `${version}s` } };
      statuses.push((await h.request('PUT', `/agents/${busy.id}`, { key: owner.key, body })).status);
    }
    expect(statuses).toEqual([...Array(20).fill(200), ...Array(5).fill(409)]);
    await busy.die();
  });

  it('of a removed agent, and those that were replaced, are removed two days later', async () => {
    const gone = await startTestAgent(h, { owner });
    const path = `/agents/${gone.id}`;
    for (const estimatedTime of ['1s', '2s'])
      await h.request('PUT', path, { key: owner.key, body: { types: { estimatedTime } } });
    expect((await h.request('DELETE', path, { key: owner.key })).status).toBe(200);
    const left = async () =>
      (await h.ctx.db.query('', 'select from agent_types where agent_id = $1', [gone.id])).length;
    const after = (hours: number) => ({ db: h.ctx.db, clock: fixedClock(new Date(Date.now() + hours * 3_600_000)) });
    await forgetTypes(after(47));
    expect(await left()).toBe(2);
    await forgetTypes(after(49));
    expect(await left()).toBe(0);
    await gone.die();
  });

  it('that an agent has again, as one of another node that comes back, stay and hold up nothing', async () => {
    const back = await startTestAgent(h, { owner });
    const path = `/agents/${back.id}`;
    const declareFor = (estimatedTime: string) =>
      h.request('PUT', path, { key: owner.key, body: { types: { estimatedTime } } });
    await declareFor('1s');
    await h.ctx.db.query('', 'update agent_types set replaced_at = now() where agent_id = $1', [back.id]);
    const hours = 3_600_000 * 49;
    await forgetTypes({ db: h.ctx.db, clock: fixedClock(new Date(Date.now() + hours)) });
    expect((await h.request('GET', path)).body.data.types).toEqual({ estimatedTime: '1s' });
    await back.die();
  });
});

describe('input that does not fit is refused with its fields before anything is paid', () => {
  const wrong = { input: { text: 1, style: 'wide', more: true } };
  const said = [
    'input.more is not allowed',
    'input.style must be one of ["short","long"]',
    'input.text must be of type string',
  ];
  const refused = (answer: Answer) => {
    const [status, fields] = fieldsOf(answer);
    expect([status, [...fields].sort()]).toEqual([400, said]);
  };
  let before: unknown;
  beforeEach(async () => {
    before = await balance();
    agent.calls.length = 0;
  });

  const untouched = async () => {
    expect(await balance()).toEqual(before);
    expect(agent.calls).toHaveLength(0);
  };

  it('at quotes, calls and bulk requests', async () => {
    refused(await h.request('POST', `/invoke/${agent.id}/quote`, { key: buyer.key, body: { task: 't', ...wrong } }));
    refused(await call(wrong));
    refused(await call(wrong, {}));
    refused(await call(wrong, { 'x-payment-method': 'x402' }));
    const bulk = { task: 't', agents: [agent.id], ...wrong };
    refused(await h.request('POST', '/invoke/bulk', { key: buyer.key, body: bulk }));
    await untouched();
  });

  it('without a key, with a payment, also one for another body; unpaid, the terms are told', async () => {
    const path = `/x402/${agent.id}`;
    expect((await h.request('POST', path, { body: { task: 't', ...wrong } })).status).toBe(402);
    const wallet = await h.newWallet();
    const fitting = { task: 't', input: { text: 'a' } };
    const unpaid = await h.request('POST', path, { body: fitting });
    expect(unpaid.status).toBe(402);
    const headers = await payV2(h, wallet, unpaid);
    refused(await h.request('POST', path, { body: { task: 't', ...wrong }, headers }));
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000_000n);
    const paid = await h.request('POST', path, { body: fitting, headers });
    expect(paid.body.data).toMatchObject({ status: 'completed', result: { words: 3 } });
    agent.calls.length = 0;
    await untouched();
  });

  it('over MCP and by an OpenAI client', async () => {
    const asked = { task: 't', maxCost: '1', ...wrong };
    const { body } = await callTool(h.baseUrl, buyer.key, 'invoke', asked, `/agents/${agent.id}/mcp`);
    expect(body.result.isError).toBe(true);
    expect(JSON.stringify(body.result)).toContain('input.text must be of type string');
    const chat = { model: agent.id, messages: [{ role: 'user', content: 'count' }] };
    const openai = await h.request('POST', '/v1/chat/completions', { key: buyer.key, body: chat });
    expect([openai.status, openai.body.error.message]).toEqual([
      400,
      expect.stringContaining('input.text is required'),
    ]);
    await untouched();
  });

  it('and the agent that the node chooses for a task takes the input', async () => {
    const plain = await startTestAgent(h, { perRequest: '0.20', capabilities: ['counting'], name: 'Plain' });
    const body = { task: 'counting words', capabilities: ['counting'], maxCost: '1', input: { odd: 1 } };
    const chosen = await h.request('POST', '/invoke/auto', { key: buyer.key, body, headers: { 'x-sync': 'true' } });
    expect(chosen.body.data).toMatchObject({ agentId: plain.id, status: 'completed' });
    await plain.die();
    expect(agent.calls).toHaveLength(0);
  });

  it('when the name of a field holds half of a character', async () => {
    const [status, fields] = fieldsOf(await call({ input: { text: 'a', '\ud800': 1 } }));
    expect([status, fields]).toEqual([400, ['input does not fit at a name that holds half of a character']]);
    await untouched();
  });

  it('when it is too large to be checked', async () => {
    await declare({ inputSchema: { type: 'object', properties: { l: { items: { type: 'integer' } } } } });
    const [status, fields] = fieldsOf(await call({ input: { l: Array(200_000).fill(1) } }));
    expect([status, fields]).toEqual([400, [expect.stringMatching(/^input is too large to be checked/)]]);
    await untouched();
  });
});

describe('schemas with patterns', () => {
  const names = Array.from({ length: 29 }, (_, at) => `(?i:${'[B-\u{1e940}]'.repeat(80)})${at}`);
  const bomb = { outputSchema: { patternProperties: Object.fromEntries(names.map((name) => [name, {}])) } };

  it('that take seconds to compile are refused in no time, at a registration as at a change', async () => {
    const body = {
      name: 'Bomb',
      endpoint: agent.endpoint,
      capabilities: ['a'],
      rates: { perRequest: '0' },
      types: bomb,
    };
    const before = process.threadCpuUsage();
    const said = [await h.request('POST', '/agents', { key: owner.key, body }), await declare(bomb)];
    expect(said.map(({ status }) => status)).toEqual([400, 400]);
    expect(said[0]?.body.error.message).toMatch(/patternProperties.*is too large.*cover \d+ characters/);
    const { user, system } = process.threadCpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(2000);
  });

  it('check input and results, also where they were stored by an older version', async () => {
    const text = { type: 'string', pattern: '^(?i:[a-z ]+)$' };
    const withPatterns = {
      inputSchema: { type: 'object', properties: { text } },
      outputSchema: { properties: { note: text } },
    };
    expect((await declare(withPatterns)).status).toBe(200);
    expect((await call({ input: { text: 'Two Words' } })).body.data.status).toBe('completed');
    expect(fieldsOf(await call({ input: { text: '2' } }))).toEqual([
      400,
      ['input.text must match the pattern "^(?i:[a-z ]+)$"'],
    ]);
    agent.behave(answerWith(200, { result: { note: '3' } }));
    expect((await call({ input: { text: 'a' } })).body.data.error.message).toContain('result.note must match');
    agent.behave(good);
    await declare({ inputSchema: { type: 'object', title: 'old' } });
    await h.ctx.db.query(
      '',
      `update agent_types set declared = $2 where id = (select types_id from agent where id = $1)`,
      [agent.id, JSON.stringify({ inputSchema: { type: 'object', patternProperties: { [names[0] ?? '']: {} } } })],
    );
    const [status, fields] = fieldsOf(await call({ input: { text: 'a' } }));
    expect([status, fields]).toEqual([400, [expect.stringMatching(/^input is too large to be checked/)]]);
  });
});

describe('a call that names a capability', () => {
  it('is held to them as a tool of MCP too, and tells the agent', async () => {
    agent.behave(answerWith(200, { result: 3 }));
    const asked = { task: 'count', maxCost: '0.10', capability: 'count', input: { text: 'a' } };
    const { body } = await callTool(h.baseUrl, buyer.key, 'invoke', asked, `/agents/${agent.id}/mcp`);
    expect(body.result.structuredContent).toMatchObject({ status: 'completed', result: 3 });
    expect(agent.calls.at(-1)?.body).toMatchObject({ capability: 'count' });
  });

  it('is held to the schemas of that capability, and else to those of the agent', async () => {
    agent.behave(answerWith(200, { result: 7 }));
    const counted = await call({ capability: 'count', input: { text: 'a' } });
    expect(counted.body.data).toMatchObject({ status: 'completed', result: 7 });
    expect(agent.calls.at(-1)?.body).toMatchObject({ capability: 'count' });
    expect((await call({ input: { text: 'a' } })).body.data.error.code).toBe('result_invalid');
    expect(fieldsOf(await call({ capability: 'count', input: {} }))).toEqual([400, ['input.text is required']]);
    expect(fieldsOf(await call({ capability: 'sing', input: { text: 'a' } }))).toEqual([
      400,
      ['capability is not a capability of this agent'],
    ]);
  });
});

describe('a result that does not fit', () => {
  const fitting = { input: { text: 'a' } };
  const failures = async () => (await h.request('GET', `/agents/${agent.id}`)).body.data;

  it('at a name that holds half of a character fails at once, and not at its deadline', async () => {
    await declare({ outputSchema: { type: 'object', additionalProperties: { type: 'integer' } } });
    agent.behave(answerWith(200, { result: { '\ud800': 'a' } }));
    agent.calls.length = 0;
    const { body } = await call(fitting);
    expect(body.data).toMatchObject({ status: 'failed', refund: '0.10', error: { code: 'result_invalid' } });
    expect(agent.calls).toHaveLength(1);
  });

  it('is a failed call with the fields, refunded in full, and counts against the agent', async () => {
    agent.behave(answerWith(200, { result: { words: 'three\u001b' }, cost: '0.01' }));
    const [before, agentBefore] = [await balance(), await failures()];
    const { body } = await call(fitting);
    expect(body.data).toMatchObject({ status: 'failed', result: null, cost: '0.00', refund: '0.10' });
    expect(body.data.error).toEqual({
      code: 'result_invalid',
      message: 'The result does not fit the schema that the agent declares: result.words must be of type integer.',
    });
    expect(await balance()).toEqual(before);
    const agentNow = await failures();
    expect(agentNow.totalRequests).toBe(agentBefore.totalRequests + 1);
    expect(agentNow.successRate).toBeLessThan(agentBefore.successRate);
    const outcomes = await h.ctx.db.query('outcomes-of-test', 'select is_good from outcome where request_id = $1', [
      body.data.requestId,
    ]);
    expect(outcomes).toEqual([{ is_good: false }]);
  });

  it('of a stream is found at its end', async () => {
    const stream = (result: unknown) =>
      agent.behave((_, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: chunk\ndata: {"text":"one"}\n\n');
        response.end(`event: result\ndata: ${JSON.stringify({ result })}\n\n`);
      });
    const events = async () => {
      const headers = { accept: 'text/event-stream' };
      return (await call({ ...fitting, stream: true }, headers)).body as string;
    };
    stream({ words: 1 });
    expect(await events()).toMatch(/event: invocation\.chunk[\s\S]*event: invocation\.completed/);
    stream('none');
    const failed = await events();
    // It is refunded, so nothing of it was shown.
    expect(failed).not.toContain('event: invocation.chunk');
    expect(failed).toMatch(/event: invocation\.failed\ndata: .*"result_invalid".*result must be of type object/);
  });

  it('of an x402 payment is refunded to the wallet', async () => {
    agent.behave(answerWith(200, { result: null }));
    const wallet = await h.newWallet(100_000n);
    const path = `/x402/${agent.id}`;
    const unpaid = await h.request('POST', path, { body: { task: 't', ...fitting } });
    const headers = await payV2(h, wallet, unpaid);
    const { body } = await h.request('POST', path, { body: { task: 't', ...fitting }, headers });
    expect(body.data).toMatchObject({ status: 'failed', error: { code: 'result_invalid' }, refund: '0.10' });
    await expect.poll(() => h.usdcOf(wallet.address)).toBe(100_000n);
  });

  it('is judged by the schema that the call was accepted with', async () => {
    const held = Promise.withResolvers<void>();
    agent.behave(async (request, response) => {
      await held.promise;
      good(request, response);
    });
    const { body } = await call(fitting, {});
    await declare({ outputSchema: { type: 'string' } });
    held.resolve();
    const ended = await untilEnded(h, buyer.key, body.data.requestId);
    expect(ended).toMatchObject({ status: 'completed', result: { words: 3 } });
    agent.behave(good);
    expect((await call(fitting)).body.data.error.code).toBe('result_invalid');
  });

  it('and is too large to be checked has not been checked, so it has failed', async () => {
    await declare({ outputSchema: { items: { type: 'integer' } } });
    agent.behave(answerWith(200, { result: Array(200_000).fill(1) }));
    expect((await call(fitting)).body.data.error).toMatchObject({
      code: 'result_invalid',
      message: expect.stringContaining('too large to be checked'),
    });
  });
});

it('input that the home node of an agent refuses is a failure that is not held against the agent', () => {
  const error = { code: 'VALIDATION_ERROR', details: { fields: [{ path: 'input.text', message: 'is required' }] } };
  const answer = { status: 400, headers: {}, body: Buffer.from(JSON.stringify({ status: 'error', error })) };
  expect(readHomeAnswer(answer)).toMatchObject({ kind: 'refused', outcome: { reason: 'input_invalid' } });
  const isExcused = (reason: 'input_invalid' | 'result_invalid') =>
    isOthersFault({ costMicro: null, promisedMicro: null }, { kind: 'failed', reason, message: '' });
  expect([isExcused('input_invalid'), isExcused('result_invalid')]).toEqual([true, false]);
});

describe('types are shown to callers', () => {
  it('in the OpenAPI document of the agent, with references that lead somewhere', async () => {
    const { body } = await h.request('GET', `/agents/${agent.id}/openapi.json`);
    const { post } = body.paths[`/x402/${agent.id}`];
    const { schema } = post.requestBody.content['application/json'];
    expect(schema.required).toContain('input');
    expect(schema.properties.input).toMatchObject({
      $ref: '#/components/schemas/Input',
      examples: [{ text: 'two words' }],
    });
    const { Input, Output } = body.components.schemas;
    expect(Input.properties.style).toEqual({ $ref: '#/components/schemas/Input/$defs/style' });
    expect(Input.$defs.style).toEqual({ enum: ['short', 'long'] });
    expect(Output).toEqual(types.outputSchema);
    const answer = post.responses[200].content['application/json'].schema.properties.data;
    expect(answer.properties.result).toEqual({ anyOf: [{ $ref: '#/components/schemas/Output' }, { type: 'null' }] });
  });

  it('as the arguments of its tool over MCP', async () => {
    const inputSchemaOf = async () => {
      const path = `/agents/${agent.id}/mcp`;
      const { body } = await h.request('POST', path, { key: buyer.key, ...modern('tools/list') });
      return body.result.tools[0].inputSchema;
    };
    const { properties, required } = await inputSchemaOf();
    expect(required).toEqual(expect.arrayContaining(['task', 'maxCost', 'input']));
    expect(properties.input.properties.style).toEqual({ $ref: '#/properties/input/$defs/style' });
    await declare({ capabilities: { count: { inputSchema: types.inputSchema } } });
    const byCapability = await inputSchemaOf();
    expect(byCapability.required).not.toContain('input');
    expect(byCapability.properties.input.anyOf[0].properties.style).toEqual({
      $ref: '#/properties/input/anyOf/0/$defs/style',
    });
  });
});

it('an agent without types takes and gives anything', async () => {
  await declare(null);
  agent.behave(echo);
  expect((await call({ input: { any: [1] } })).body.data).toMatchObject({ status: 'completed' });
});
