import { HumanMessage, ToolMessage } from '@langchain/core/messages';
import { ChatOpenAI } from '@langchain/openai';
import OpenAI, { type APIError } from 'openai';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { KnownCaller } from '../../../../src/accounts/caller.ts';
import { agentSlug } from '../../../../src/agents/agent-slug.ts';
import { findTwin } from '../../../../src/calls/read/find-twin.ts';
import { startOpenaiUpstream } from '../../../calls/protocols/support/openai-upstream.ts';
import { type Listed, listUpstream, type TestUpstream } from '../../../calls/protocols/support/upstream.ts';
import { askDatabase, contradictions } from '../../../support/books.ts';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../../support/treasury.ts';

// What models answer beside a text, through the adapter and the gateway; and what clients do that read statuses alone.

let h: Harness;
let buyer: Client;
let site: TestUpstream;
let model: Listed;
let failing: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  buyer = await newClient(h, '10');
  site = await startOpenaiUpstream();
  model = await listUpstream(h, site);
  failing = await startTestAgent(h, { name: 'Failing', behaviour: answerWith(400, { error: { message: 'no' } }) });
});
beforeEach(() => {
  site.work.length = 0;
});
afterAll(async () => {
  await failing?.die();
  await site?.stop();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: what the node and the model said, as it is
type Any = any;

const says = (message: object, finish_reason = 'stop') => {
  const text = JSON.stringify({ model: 'm', choices: [{ index: 0, message, finish_reason }] });
  site.mode = { kind: 'says', status: 200, text };
};
const streams = (deltas: readonly object[], finish_reason = 'stop') => {
  const events = [...deltas.map((delta) => ({ choices: [{ delta }] })), { choices: [{ delta: {}, finish_reason }] }];
  const text = `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
  site.mode = { kind: 'says', status: 200, text, headers: { 'content-type': 'text/event-stream' } };
};

const open = (apiKey = buyer.key) => new OpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey, maxRetries: 2 });
const said = (content: string) => [{ role: 'user' as const, content }];
const spent = async (work: () => Promise<unknown>) => {
  const { available } = await balanceOf(h, buyer.key);
  await work();
  return Number((Number(available) - Number((await balanceOf(h, buyer.key)).available)).toFixed(6));
};
const failure = (work: Promise<unknown>): Promise<APIError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error) => error as APIError,
  );

const weather = {
  type: 'function' as const,
  function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
};
const call = { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
const asks = { role: 'assistant', content: null, tool_calls: [call] };

describe('tools of the caller', () => {
  it('of another kind are not passed on, nor is a tool choice without a tool', async () => {
    says({ role: 'assistant', content: 'Hi.' });
    const hosted = [{ type: 'web_search' }, { type: 'custom', custom: { name: 'done' } }];
    for (const tools of [[], hosted, [...hosted, weather]]) {
      site.work.length = 0;
      const more: object = { tools, tool_choice: 'auto', parallel_tool_calls: false };
      await open().chat.completions.create({ model: model.id, messages: said('Hi.'), ...more });
      const { tools: sent, tool_choice, parallel_tool_calls } = (site.work[0]?.body ?? {}) as Any;
      const isWhole = tools.length === 3;
      expect([sent, tool_choice, parallel_tool_calls]).toEqual(
        isWhole ? [[weather], 'auto', false] : [undefined, undefined, undefined],
      );
    }
  });

  it('are offered to the model, which asks for them; the result goes on to it', async () => {
    const cost = await spent(async () => {
      says(asks, 'tool_calls');
      const messages: Any[] = said('Weather in Rome?');
      const asked = await open().chat.completions.create({ model: model.id, messages, tools: [weather] });
      expect(site.work[0]?.body.tools).toEqual([weather]);
      expect(asked.choices[0]).toMatchObject({
        finish_reason: 'tool_calls',
        message: { content: null, tool_calls: [call] },
      });
      says({ role: 'assistant', content: 'Sun.' });
      const result = { role: 'tool', tool_call_id: 'call_a', content: 'sun' };
      const more = [...messages, asked.choices[0]?.message, result];
      const answered = await open().chat.completions.create({ model: model.id, messages: more, tools: [weather] });
      expect(answered.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'Sun.' } });
      expect(site.work[1]?.body.messages.at(-1)).toEqual(result);
    });
    expect(cost).toBe(0.1);
  });

  it('are asked for in a stream', async () => {
    streams(
      [
        { content: 'Let me see.' },
        { tool_calls: [{ index: 0, ...call, function: { name: 'weather', arguments: '{"city":' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] },
      ],
      'tool_calls',
    );
    const stream = open().chat.completions.stream({ model: model.id, messages: said('Weather?'), tools: [weather] });
    const { choices } = await stream.finalChatCompletion();
    expect(choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: 'Let me see.', tool_calls: [{ id: 'call_a', function: call.function }] },
    });
  });

  it('of a response are asked for as its items, and their results go on from it', async () => {
    const { name, parameters } = weather.function;
    const tools = [{ type: 'function' as const, name, parameters, strict: false }];
    says(asks, 'tool_calls');
    const asked = await open().responses.create({ model: model.id, input: 'Weather in Rome?', tools });
    expect(site.work[0]?.body.tools).toEqual([{ type: 'function', function: { name, parameters, strict: false } }]);
    expect(asked).toMatchObject({
      status: 'completed',
      output: [{ type: 'function_call', call_id: 'call_a', name: 'weather', arguments: call.function.arguments }],
    });
    says({ role: 'assistant', content: 'Sun.' });
    const input = [{ type: 'function_call_output' as const, call_id: 'call_a', output: 'sun' }];
    const answered = await open().responses.create({ model: model.id, input, tools, previous_response_id: asked.id });
    expect(answered.output_text).toBe('Sun.');
    expect(site.work[1]?.body.messages).toEqual([
      { role: 'user', content: 'Weather in Rome?' },
      { role: 'assistant', content: null, tool_calls: [call] },
      { role: 'tool', tool_call_id: 'call_a', content: 'sun' },
    ]);
  });

  it('of a streamed response come as events', async () => {
    streams([{ tool_calls: [{ index: 0, ...call }] }], 'tool_calls');
    const { name, parameters } = weather.function;
    const tools = [{ type: 'function' as const, name, parameters, strict: false }];
    const stream = open().responses.stream({ model: model.id, input: 'Weather?', tools });
    const { output } = await stream.finalResponse();
    expect(output).toContainEqual(expect.objectContaining({ type: 'function_call', call_id: 'call_a', name }));
  });
});

describe('the end of an answer', () => {
  it.each([
    ['length', 'incomplete', { reason: 'max_output_tokens' }],
    ['content_filter', 'incomplete', { reason: 'content_filter' }],
    ['stop', 'completed', null],
  ])('%s is passed on as the model sent it', async (finish, status, incomplete_details) => {
    says({ role: 'assistant', content: 'Once upon' }, finish);
    const chat = await open().chat.completions.create({ model: model.id, messages: said('Tell.') });
    expect(chat.choices[0]).toMatchObject({ finish_reason: finish, message: { content: 'Once upon' } });
    const response = await open().responses.create({ model: model.id, input: 'Tell.' });
    expect(response).toMatchObject({ status, incomplete_details, output_text: 'Once upon' });
    streams([{ content: 'Once upon' }], finish);
    const stream = await open().chat.completions.create({ model: model.id, messages: said('Tell!'), stream: true });
    const reasons: unknown[] = [];
    for await (const { choices } of stream) reasons.push(choices[0]?.finish_reason);
    expect(reasons.at(-1)).toBe(finish);
    const events: Any[] = [];
    for await (const event of await open().responses.create({ model: model.id, input: 'Tell?', stream: true }))
      events.push(event);
    expect(events.at(-1)).toMatchObject({ type: `response.${status}`, response: { status } });
  });

  it('as a refusal is a text, which is paid', async () => {
    says({ role: 'assistant', content: null, refusal: 'I cannot.' });
    const cost = await spent(async () => {
      const { choices } = await open().chat.completions.create({ model: model.id, messages: said('Do it.') });
      expect(choices[0]?.message).toMatchObject({ content: 'I cannot.', refusal: 'I cannot.' });
    });
    expect(cost).toBe(0.05);
  });

  it.each<[string, object, string]>([
    ['nothing', { role: 'assistant', content: '' }, 'stop'],
    ['thoughts only', { role: 'assistant', content: null, reasoning_content: 'hm' }, 'length'],
    ['what a filter left over', { role: 'assistant', content: '' }, 'content_filter'],
    ['half a text and an error', { role: 'assistant', content: 'Hal' }, 'error'],
    ['calls of tools that nobody offered', asks, 'tool_calls'],
  ])('as %s is no answer: the money is back, and the agent is asked once', async (_what, message, finish) => {
    says(message, finish);
    const cost = await spent(async () => {
      const error = await failure(open().chat.completions.create({ model: model.id, messages: said('Answer.') }));
      expect([error.status, error.type]).toEqual([400, 'agent_error']);
      const response: Any = await open().responses.create({ model: model.id, input: 'Answer.' });
      expect(response).toMatchObject({ status: 'failed', error: { code: 'invalid_prompt', type: 'agent_error' } });
    });
    expect(cost).toBe(0);
    expect(site.work).toHaveLength(2);
  });
});

describe('a client that reads the status alone (LangChain)', () => {
  const langchain = (name: string, apiKey = buyer.key) =>
    new ChatOpenAI({ model: name, apiKey, configuration: { baseURL: `${h.baseUrl}/v1` } });

  it('runs an agent that fails once, and is told of too little money once', async () => {
    const before = failing.calls.length;
    await expect(langchain(failing.id).invoke('x')).rejects.toMatchObject({ status: 400 });
    const runs = new Set(failing.calls.slice(before).map(({ headers }) => headers['idempotency-key']));
    expect(runs.size).toBe(1);
    const poor = await newClient(h, '0.01');
    await expect(langchain(model.id, poor.key).invoke('x')).rejects.toMatchObject({
      status: 402,
      code: 'insufficient_quota',
    });
  });

  it('calls its tools', async () => {
    says(asks, 'tool_calls');
    const bound = langchain(model.id).bindTools([weather]);
    const question = new HumanMessage('Weather in Rome?');
    const asked = await bound.invoke([question]);
    expect(asked.tool_calls).toMatchObject([{ name: 'weather', args: { city: 'Rome' }, id: 'call_a' }]);
    says({ role: 'assistant', content: 'Sun.' });
    const result = new ToolMessage({ tool_call_id: 'call_a', content: 'sun' });
    expect((await bound.invoke([question, asked, result])).content).toBe('Sun.');
  });
});

it('a failed response that is streamed says what the Codex client takes for final', async () => {
  const events: Any[] = [];
  for await (const event of await open().responses.create({ model: failing.id, input: 'x', stream: true }))
    events.push(event);
  expect(events.at(-1)).toMatchObject({
    type: 'response.failed',
    response: { status: 'failed', error: { code: 'invalid_prompt', type: 'agent_error', reason: 'agent_error' } },
  });
});

describe('a model', () => {
  it('is named by its slug as by its id', async () => {
    says({ role: 'assistant', content: 'Hi.' });
    const { name } = (await h.request('GET', `/agents/${model.id}`)).body.data;
    const slug = agentSlug({ id: model.id, name });
    expect(slug).not.toBe(model.id);
    expect(await open().models.retrieve(slug)).toMatchObject({ id: model.id, slug });
    const { choices } = await open().chat.completions.create({ model: slug, messages: said('x') });
    expect(choices[0]?.message.content).toBe('Hi.');
  });

  it('that is auto is one purchase for a client that asks again at another process', async () => {
    const chosen = await startTestAgent(h, { name: 'Kaiserschmarrn cook' });
    const messages = said('Cook a Kaiserschmarrn.');
    const body = { model: 'auto', messages, max_cost: '0.05' };
    expect((await h.request('POST', '/v1/chat/completions', { key: buyer.key, body })).status).toBe(200);
    const [made] = await askDatabase<Any>(
      h.databaseUrl,
      'select id, account_id, task, context, input from invocation where agent_id = $1',
      [chosen.id],
    );
    const caller = { kind: 'account', accountId: made.account_id } as KnownCaller;
    const asked = { task: made.task, context: made.context, input: made.input };
    expect(await findTwin(h.ctx, caller, { ...asked, agentId: 'auto' })).toBe(made.id);
    expect(await findTwin(h.ctx, caller, { ...asked, agentId: model.id })).toBeNull();
    await chosen.die();
  });

  it('that is auto is the best agent within max_cost, which it must have', async () => {
    const chosen = await startTestAgent(h, { name: 'Zwetschgendatschi baker' });
    const messages = said('Bake a Zwetschgendatschi.');
    const ask = (more: object) => open().chat.completions.create({ model: 'auto', messages, ...more });
    const answered: Any = await ask({ max_cost: '0.05' });
    expect(answered).toMatchObject({ model: chosen.id, agent_network: { status: 'completed' } });
    expect((await failure(ask({}))).param).toBe('max_cost');
    const none = await failure(ask({ max_cost: '0.000001' }));
    expect([none.status, none.code]).toEqual([400, 'no_agent_fits']);
    expect(await open().models.retrieve('auto')).toMatchObject({ id: 'auto' });
    await chosen.die();
  });

  it.each(['', '/v1/v1', '/api/v1', '/openai/v1', '/v1/chat/completions'])(
    'below the wrong base URL %j: the error names the right one',
    async (path) => {
      const client = new OpenAI({ baseURL: h.baseUrl + path, apiKey: buyer.key, maxRetries: 0 });
      const error = await failure(client.chat.completions.create({ model: model.id, messages: said('x') }));
      expect(error.status).toBe(404);
      expect(error.message).toMatch(/base URL.*\/v1|\/v1 as the base URL/);
    },
  );
});

it('a call that was left before its end is answered when it comes again, and marked as a repetition', async () => {
  let release: () => void = () => undefined;
  const slow = await startTestAgent(h, {
    name: 'Slow',
    behaviour: (request, response) => {
      release = () => void answerWith(200, { result: { text: 'Done.' } })(request, response);
    },
  });
  const body = { model: slow.id, messages: said('Take your time.') };
  const gone = new AbortController();
  const left = failure(open().chat.completions.create(body, { signal: gone.signal }));
  await expect.poll(() => slow.calls.length).toBe(1);
  gone.abort();
  await left;
  const cost = await spent(async () => {
    const again = open().chat.completions.create(body, { maxRetries: 0 }).withResponse();
    release();
    const { data, response } = await again;
    expect(response.headers.get('idempotency-replayed')).toBe('true');
    expect((data as Any).agent_network).toMatchObject({ status: 'completed', repeated: true });
  });
  expect(cost).toBeLessThanOrEqual(0);
  await slow.die();
});
