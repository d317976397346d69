import OpenAI, { type APIError } from 'openai';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import type { Harness } from '../../../support/harness.ts';
import { send } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../../support/treasury.ts';
import { payV2 } from '../../../support/x402-payer.ts';

// biome-ignore lint/suspicious/noExplicitAny: fields of ours are not among the types of the client
type Any = any;

let h: Harness;
let agent: TestAgent;
let buyer: Client;
let openai: OpenAI;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
});
beforeEach(async () => {
  agent.behave(asksTwice);
  agent.calls.length = 0;
  buyer = await newClient(h, '1.00');
  openai = new OpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey: buyer.key });
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const schema = { type: 'object', properties: { day: { enum: ['Monday', 'Friday'] } }, required: ['day'] };
const questions = [{ message: 'Which day?', schema }, { message: 'At what time?' }];
const asksTwice: Behaviour = (request, response) => {
  const given = request.body.answers ?? [];
  if (given.at(-1)?.action === 'decline')
    return answerWith(422, { error: { message: 'It needs a day.' } })(request, response);
  const input = questions[given.length];
  if (input) return answerWith(200, { status: 'input_required', input })(request, response);
  return answerWith(200, { result: { text: `${given[0].input.day}, ${given[1].message}` } })(request, response);
};
const once: Behaviour = (request, response) =>
  (request.body.answers
    ? answerWith(200, { result: 'done' })
    : answerWith(200, { status: 'input_required', input: questions[0] }))(request, response);

const chatTool = { type: 'function' as const, function: { name: 'agent_input' } };
const tool: Any = { type: 'function', name: 'agent_input', parameters: null, strict: false };
const user = { role: 'user' as const, content: 'Book a table' };
const untouched = { available: '0.95', held: '0.00' };
const failure = (work: Promise<unknown>): Promise<APIError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error) => error as APIError,
  );
const all = async <T>(events: AsyncIterable<T>): Promise<T[]> => {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
};

/** The next completion of a conversation. */
const complete = (messages: readonly Any[], more: object = {}): Promise<Any> =>
  openai.chat.completions.create({ model: agent.id, messages: [...messages], tools: [chatTool], ...more } as Any);
/** The conversation behind a completion, with an answer to its question. */
const answered = (messages: readonly Any[], { choices }: Any, content: string): Any[] => {
  const [{ message }] = choices;
  return [...messages, message, { role: 'tool', tool_call_id: message.tool_calls[0].id, content }];
};
const asking = (id: Any, question: object) => ({
  ...{ id, type: 'function' },
  function: { name: 'agent_input', arguments: JSON.stringify(question) },
});

describe('a chat with the tool agent_input', () => {
  it('is asked by calls of the tool, and its last message goes to the waiting call', async () => {
    const first = await complete([user]);
    expect(first.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: { content: null, tool_calls: [asking(expect.stringMatching(/^inp_/), questions[0] as object)] },
    });
    expect(first.usage).toBeUndefined();
    expect(first.agent_network).toMatchObject({ status: 'input_required', cost: null, input_request: { turn: 1 } });
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '0.95', held: '0.05' });
    const wrong = await failure(complete(answered([user], first, '{"day":"Sunday"}')));
    expect([wrong.status, wrong.message]).toEqual([400, expect.stringContaining('input.day')]);

    const second = await complete(answered([user], first, 'Monday'));
    expect(second.id).toBe(`${first.id}-2`);
    expect(second.choices[0].message.tool_calls).toEqual([asking(expect.any(String), questions[1] as object)]);
    const conversation = answered(answered([user], first, 'Monday'), second, 'Noon');
    const last = await complete(conversation);
    expect(last).toMatchObject({
      choices: [{ finish_reason: 'stop', message: { content: 'Monday, Noon' } }],
      usage: { cost: 0.05 },
      agent_network: { cost: '0.05', request_id: first.id },
    });
    // Once more, as after a lost answer; and another answer, which comes too late.
    const again = await complete(conversation);
    expect([again.id, again.choices, again.agent_network.repeated]).toEqual([last.id, last.choices, true]);
    const late = await failure(complete(answered([user], first, 'Friday')));
    expect([late.status, late.code]).toEqual([409, 'input_already_answered']);
    expect(agent.calls).toHaveLength(3);
    expect(agent.calls[0]?.body.input).not.toHaveProperty('tools');
    expect(await balanceOf(h, buyer.key)).toEqual(untouched);
  });

  it('declines, and gets its money back', async () => {
    const first = await complete([user]);
    const declined = await failure(complete(answered([user], first, '{"action":"decline"}')));
    expect([declined.status, declined.code]).toEqual([400, 'input_declined']);
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('streams its question, and from its answer on', async () => {
    agent.behave((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: chunk\ndata: ${request.body.answers ? 'two' : 'one'}\n\n`);
      response.end(
        request.body.answers
          ? 'event: result\ndata: {"result":"two"}\n\n'
          : 'event: input_required\ndata: {"input":{"message":"Which?"}}\n\n',
      );
    });
    const options = { stream: true, stream_options: { include_usage: true } };
    const textOf = (chunks: Any[]) => chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    const first: Any[] = await all(await complete([user], options));
    const call = first.flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])[0];
    expect([textOf(first), first.at(-1)?.choices[0].finish_reason]).toEqual(['one', 'tool_calls']);
    expect(call).toEqual({ index: 0, ...asking(expect.stringMatching(/^inp_/), { message: 'Which?' }) });
    expect(first.some(({ usage }) => usage)).toBe(false);
    const message = { role: 'assistant', content: 'one', tool_calls: [call] };
    const reply = { role: 'tool', tool_call_id: call.id, content: 'This.' };
    const rest: Any[] = await all(await complete([user, message, reply], options));
    expect(textOf(rest)).toBe('two');
    expect(rest.at(-1)).toMatchObject({ usage: { cost: 0.05 }, id: `${first[0].id}-2` });
    const again: Any[] = await all(await complete([user, message, reply], options));
    expect([textOf(again), again.at(-1)]).toEqual(['two', rest.at(-1)]);
    expect(await balanceOf(h, buyer.key)).toEqual(untouched);
  });

  it('stays silent: it is refunded, and the late answer buys nothing', async () => {
    agent.behave(answerWith(200, { status: 'input_required', input: { message: 'Which?', timeout: 1 } }));
    const first = await complete([user]);
    await untilEnded(h, buyer.key, first.id);
    const late = await failure(complete(answered([user], first, 'Monday')));
    expect([late.status, late.code]).toEqual([409, 'input_expired']);
    expect(agent.calls).toHaveLength(1);
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('is answered by the account that bought alone, and no unknown question buys anything', async () => {
    const first = await complete([user]);
    const stranger = await newClient(h, '1.00');
    const theirs = new OpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey: stranger.key });
    const nobody = new OpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey: 'x402' });
    const messages = answered([user], first, 'Monday');
    const unknown = [user, { role: 'tool', tool_call_id: `inp_${'0'.repeat(26)}`, content: 'x' }];
    const refused = await Promise.all([
      failure(theirs.chat.completions.create({ model: agent.id, messages })),
      failure(nobody.chat.completions.create({ model: agent.id, messages })),
      failure(complete(unknown)),
    ]);
    expect(refused.map(({ status }) => status)).toEqual([404, 401, 404]);
    expect(agent.calls).toHaveLength(1);
    expect((await balanceOf(h, stranger.key)).available).toBe('1.00');
  });

  it('is what the caller says, or the field interactive; without either, and without a key, the call fails', async () => {
    expect((await complete([user], { tools: undefined, interactive: true })).choices[0].finish_reason).toBe(
      'tool_calls',
    );
    const other = { type: 'function', function: { name: 'weather' } };
    await complete([user], { tools: [other, chatTool], tool_choice: chatTool });
    const { input } = agent.calls[1]?.body ?? {};
    expect([input.tools, input.tool_choice]).toEqual([[other], undefined]);
    const failed = await failure(complete([user], { tools: undefined }));
    expect([failed.status, failed.code]).toEqual([400, 'agent_needs_input']);
    const body = { model: agent.id, messages: [user], tools: [chatTool] };
    const path = '/v1/chat/completions';
    const headers = await payV2(h, await h.newWallet(1_000_000n), await send(h.baseUrl, 'POST', path, { body }));
    const keyless = await send(h.baseUrl, 'POST', path, { body, headers });
    expect([keyless.status, keyless.body.error.code]).toEqual([400, 'agent_needs_input']);
  });
});

describe('a response with the tool agent_input', () => {
  const respond = (body: object): Promise<Any> =>
    openai.responses.create({ model: agent.id, tools: [tool], ...body } as Any);
  const output = ({ output: items }: Any, text: unknown) => [
    { type: 'function_call_output', call_id: items.at(-1).call_id, output: text },
  ];

  it('asks by function calls, each in a response of its own, and costs in the last alone', async () => {
    const first = await respond({ input: 'Book a table' });
    expect(first).toMatchObject({ status: 'completed', usage: null, agent_network: { status: 'input_required' } });
    expect(first.output).toEqual([
      {
        ...{ type: 'function_call', name: 'agent_input', status: 'completed', id: expect.any(String) },
        ...{ call_id: expect.stringMatching(/^inp_/), arguments: JSON.stringify(questions[0]) },
      },
    ]);
    const bad = await failure(respond({ input: 'Go on', previous_response_id: first.id }));
    expect([bad.status, bad.param]).toEqual([400, 'previous_response_id']);
    const elsewhere = await failure(respond({ input: output(first, 'x'), previous_response_id: 'req_other' }));
    expect(elsewhere.status).toBe(400);

    const second = await respond({ input: output(first, '{"day":"Friday"}'), previous_response_id: first.id });
    expect(second).toMatchObject({ id: `${first.id}-2`, previous_response_id: first.id, usage: null });
    const text = [{ type: 'input_text', text: 'Noon' }];
    const last = await respond({ input: output(second, text), previous_response_id: second.id });
    expect(last).toMatchObject({ id: `${first.id}-3`, output_text: 'Friday, Noon', usage: { cost: 0.05 } });
    expect(last.agent_network).toMatchObject({ request_id: first.id, cost: '0.05' });

    const read = await Promise.all([first, second, last].map(({ id }) => openai.responses.retrieve(id)));
    expect(read.map(({ output: items }) => items)).toEqual([first, second, last].map(({ output: items }) => items));
    expect(read.map(({ usage }: Any) => usage?.cost)).toEqual([undefined, undefined, 0.05]);
    expect((await failure(openai.responses.retrieve(`${first.id}-4`))).status).toBe(404);
    agent.behave(answerWith(200, { result: 'yes' }));
    const next = await respond({ input: 'And now?', previous_response_id: last.id });
    expect(agent.calls.at(-1)?.body.context).toContain('Friday, Noon');
    expect(next.output_text).toBe('yes');
    expect(agent.calls).toHaveLength(4);
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '0.90', held: '0.00' });
  });

  it('streams its question as events of a function call, and from its answer on', async () => {
    agent.behave(once);
    const events = async (body: object): Promise<Any[]> => all(await respond({ stream: true, ...body }));
    const asked = await events({ input: 'Book a table' });
    const call = asked.find(({ type }) => type === 'response.function_call_arguments.done');
    expect(call).toMatchObject({ name: 'agent_input', arguments: JSON.stringify(questions[0]) });
    const { response } = asked.at(-1);
    expect(response).toMatchObject({ status: 'completed', usage: null });
    const rest = await events({ input: output(response, 'Monday'), previous_response_id: response.id });
    expect(rest.map(({ sequence_number }) => sequence_number)).toEqual(rest.map((_, index) => index));
    expect(rest.at(-1)).toMatchObject({ type: 'response.completed', response: { id: `${response.id}-2` } });
    expect(rest.find(({ type }) => type === 'response.output_text.done')?.text).toBe('done');
    expect(await balanceOf(h, buyer.key)).toEqual(untouched);
  });

  it('in the background is read until it asks, answered, and cancelled at its next question', async () => {
    const begun = await respond({ input: 'Book a table', background: true });
    const until = async (id: string): Promise<Any> => {
      let now: Any = await openai.responses.retrieve(id);
      while (now.status === 'queued' || now.status === 'in_progress') now = await openai.responses.retrieve(id);
      return now;
    };
    const first = await until(begun.id);
    expect(first.output.at(-1)).toMatchObject({ type: 'function_call', name: 'agent_input' });
    // As clients write results that are JSON.
    const body = { input: output(first, '"Monday"'), previous_response_id: first.id, background: true };
    const { id } = await respond(body);
    expect((await until(id)).output.at(-1).arguments).toBe(JSON.stringify(questions[1]));
    expect(await openai.responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await balanceOf(h, buyer.key)).toEqual({ available: '1.00', held: '0.00' });
  });
});
