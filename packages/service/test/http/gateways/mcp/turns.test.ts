import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TASKS } from '../../../../src/http/gateways/mcp/tasks.ts';
import { contradictions } from '../../../support/books.ts';
import { type Harness, send } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client as Buyer, balanceOf, newClient, untilEnded } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { paymentOf } from '../../../support/x402-payer.ts';
import { callTool, modern } from './raw-client.ts';
import { stockClients } from './stock-clients.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

let h: Harness;
let agent: TestAgent;
let buyer: Buyer;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { name: 'Asker', perRequest: '0.05' });
});
beforeEach(async () => {
  agent.behave(asks({ message: 'Which day?', schema: day }));
  agent.calls.length = 0;
  buyer = await newClient(h, '1.00');
});
afterEach(async () => expect(await contradictions(h.databaseUrl)).toEqual([]));
afterAll(async () => {
  await agent?.die();
  await h?.stop();
});

const day = { type: 'object', properties: { day: { enum: ['Monday', 'Friday'] } }, required: ['day'] };
/** Asks these questions, then answers with the answers. */
const asks =
  (...questions: readonly object[]): Behaviour =>
  (request, response) => {
    const given = request.body.answers ?? [];
    if (given.at(-1)?.action === 'decline')
      return answerWith(422, { error: { message: 'It needs an answer.' } })(request, response);
    const input = questions[given.length];
    if (input) return answerWith(200, { status: 'input_required', input })(request, response);
    const answers = given.map(({ input: fields, message }: Any) => message ?? fields);
    return answerWith(200, { result: { answers } })(request, response);
  };
const args = (more: object = {}) => ({ agentId: agent.id, task: 'Book a table', maxCost: '0.05', ...more });
const untouched = { available: '0.95', held: '0.00' };

/** The newest stock client, which answers elicitations in turn; it sees them in `seen`. */
async function elicited(
  answers: readonly object[],
  { key = buyer.key as string | null, elicitation = {} as Any } = {},
) {
  const client = new Client(
    { name: 'host', version: '1.0.0' },
    { capabilities: { elicitation }, versionNegotiation: { mode: 'auto' } },
  );
  const seen: Any[] = [];
  const left = [...answers];
  client.setRequestHandler('elicitation/create', async ({ params }: Any) => {
    seen.push(params);
    return (left.shift() ?? { action: 'cancel' }) as Any;
  });
  const headers: Record<string, string> = key === null ? {} : { authorization: `Bearer ${key}` };
  await client.connect(new StreamableHTTPClientTransport(new URL(`${h.baseUrl}/mcp`), { requestInit: { headers } }));
  const invoke = async (more: object = {}, _meta?: object): Promise<Any> =>
    client.callTool({ name: 'invoke_agent', arguments: args(more), ...(_meta ? { _meta } : {}) } as Any);
  return { client, seen, invoke };
}

describe('a client that declares elicitation', () => {
  it('is asked within the call, twice, and gets one result at one price', async () => {
    agent.behave(asks({ message: 'Which day?', schema: day }, { message: 'Anything else?' }));
    const { client, seen, invoke } = await elicited([
      { action: 'accept', content: { day: 'Monday' } },
      { action: 'accept', content: { answer: 'A window seat.' } },
    ]);
    const { structuredContent, isError } = await invoke();
    expect(isError ?? false).toBe(false);
    expect(structuredContent).toMatchObject({ status: 'completed', cost: '0.05', turn: 3 });
    expect(structuredContent.result).toEqual({ answers: [{ day: 'Monday' }, 'A window seat.'] });
    expect(seen).toEqual([
      {
        mode: 'form',
        message: 'The agent "Asker" asks: Which day?',
        requestedSchema: { ...day, properties: { day: { type: 'string', enum: ['Monday', 'Friday'] } } },
      },
      {
        mode: 'form',
        message: 'The agent "Asker" asks: Anything else?',
        requestedSchema: {
          ...{ type: 'object', required: ['answer'] },
          properties: { answer: { type: 'string', title: 'Answer' } },
        },
      },
    ]);
    expect(agent.calls).toHaveLength(3);
    expect(await balanceOf(h, buyer.key)).toEqual(untouched);
    await client.close();
  });

  it('declines, and gets its money back', async () => {
    const { client, invoke } = await elicited([{ action: 'decline' }]);
    expect(await invoke()).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', error: { code: 'input_declined' }, refund: '0.05' },
    });
    await client.close();
  });

  it('cancels, which leaves the question open for answer_invocation', async () => {
    const { client, seen, invoke } = await elicited([{ action: 'cancel' }]);
    const { structuredContent: record, content, isError } = await invoke();
    expect([isError ?? false, record.status, seen.length]).toEqual([false, 'input_required', 1]);
    expect(JSON.parse(content[0].text)).toEqual(record);
    expect(content[1].text).toContain('<agent_question>\nWhich day?\n</agent_question>');
    const { requestId, inputRequest } = record;
    const answer = { requestId, inputId: inputRequest.inputId, action: 'accept', input: { day: 'Friday' } };
    const call = { name: 'answer_invocation', arguments: answer };
    for (let nth = 0; nth < 2; nth++)
      expect((await client.callTool(call)).structuredContent).toMatchObject({ status: 'completed' });
    const late = { name: 'answer_invocation', arguments: { ...answer, input: { day: 'Monday' } } };
    expect(await client.callTool(late)).toMatchObject({
      isError: true,
      structuredContent: { error: { code: 'INPUT_ALREADY_ANSWERED' } },
    });
    expect(agent.calls).toHaveLength(2);
    expect(await balanceOf(h, buyer.key)).toEqual(untouched);
    await client.close();
  });

  it('answers with JSON what has no form, and is asked again until it fits', async () => {
    const nested = { type: 'object', properties: { at: { type: 'object', required: ['day'] } }, required: ['at'] };
    agent.behave(asks({ message: 'When?', schema: nested }));
    const { client, seen, invoke } = await elicited(
      ['Monday', '{"at":{}}', '{"at":{"day":1}}'].map((answer) => ({ action: 'accept', content: { answer } })),
    );
    expect((await invoke()).structuredContent.result).toEqual({ answers: [{ at: { day: 1 } }] });
    expect(seen.map(({ message }) => message)).toEqual([
      'The agent "Asker" asks: When?',
      expect.stringMatching(/^The answer did not fit\. .*JSON object.*\n\nThe agent "Asker" asks: When\?$/s),
      expect.stringMatching(/^The answer did not fit\. .*input\.at/),
    ]);
    expect(seen[0].requestedSchema.properties.answer.description).toContain(JSON.stringify(nested));
    await client.close();
  });

  it.each([
    ['opens a link, and says when it is done', { form: {}, url: {} }, ['url', 'form'], 'completed'],
    ['opens a link with no form', { url: {} }, ['url'], 'completed'],
    ['is not shown a link that it can not open', { form: {} }, [], 'input_required'],
  ])('%s', async (_, elicitation, modes, status) => {
    const url = 'https://bank.example/approve?id=1';
    agent.behave(asks({ message: 'Approve the transfer.', url }));
    const accepted = { action: 'accept', content: {} };
    const { client, seen, invoke } = await elicited([accepted, accepted], { elicitation });
    const { structuredContent } = await invoke();
    expect(structuredContent.status).toBe(status);
    expect(seen.map(({ mode }) => mode).toSorted()).toEqual(modes.toSorted());
    expect(seen.flatMap((each) => each.url ?? [])).toEqual(modes.length > 0 ? [url] : []);
    await client.close();
  });

  it('pays with x402 without a key: the wallet of the payment is who answers', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const { client, invoke } = await elicited([{ action: 'accept', content: { day: 'Monday' } }], { key: null });
    const terms = await invoke();
    const payment = await paymentOf(h, wallet, terms.structuredContent);
    const paid = await invoke({}, { 'x402/payment': payment });
    expect(paid.structuredContent).toMatchObject({
      ...{ status: 'completed', cost: '0.05', result: { answers: [{ day: 'Monday' }] } },
      resultToken: expect.stringMatching(/^anr_/),
    });
    const { transaction, payer } = paid._meta['x402/payment-response'];
    expect(transaction).toBe(paid.structuredContent.paymentHash);
    expect(payer.toLowerCase()).toBe(wallet.address.toLowerCase());
    expect(agent.calls).toHaveLength(2);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
    await client.close();
  });
});

describe.each(stockClients)('%s', (_name, connect) => {
  it('without elicitation gets the record when it calls interactively, and answers by a tool', async () => {
    const client = await connect(`${h.baseUrl}/agents/${agent.id}/mcp`, buyer.key);
    const { agentId: _, ...plain } = args();
    const failed = await client.call('invoke', plain);
    expect(failed).toMatchObject({ isError: true, data: { error: { code: 'agent_needs_input' }, refund: '0.05' } });
    const asked = await client.call('invoke', { ...plain, interactive: true });
    expect(asked).toMatchObject({ isError: false, data: { status: 'input_required', turn: 1 } });
    const { requestId, inputRequest } = asked.data;
    const read = await client.call('get_invocation', { requestId, waitSeconds: 5 });
    expect(read).toMatchObject({ isError: false, data: { status: 'input_required' } });
    const answer = { requestId, inputId: inputRequest.inputId, action: 'accept' };
    const wrong = await client.call('answer_invocation', { ...answer, input: { day: 'Sunday' } });
    expect(wrong).toMatchObject({ isError: true, data: { error: { code: 'VALIDATION_ERROR' } } });
    const ended = await client.call('answer_invocation', { ...answer, input: { day: 'Friday' } });
    expect(ended).toMatchObject({ isError: false, data: { status: 'completed', cost: '0.05' } });
    await client.close();
  });
});

const able = { elicitation: { form: {} } };
const raw = async (params: object, { key = buyer.key, capabilities = able as object, path = '/mcp' } = {}) => {
  const { headers, body } = modern('tools/call', { name: 'invoke_agent', arguments: args(), ...params }, capabilities);
  return (await send(h.baseUrl, 'POST', path, { key, body, headers })).body as Any;
};
/** The repetition of an asked call, with an answer. */
const repetition = ({ inputRequests, requestState }: Any, content: object = { day: 'Monday' }) => {
  const [inputId = ''] = Object.keys(inputRequests);
  return { requestState, inputResponses: { [inputId]: { action: 'accept', content } } };
};

describe('a requestState', () => {
  it('goes with its call and its caller alone, and buys nothing, however often it comes', async () => {
    const { result } = await raw({});
    expect(result).toMatchObject({ resultType: 'input_required', requestState: expect.any(String) });
    const again = repetition(result);
    const [body = '', code = ''] = result.requestState.split('.');
    const other = await newClient(h, '1.00');
    const refused = await Promise.all([
      raw({ ...again, requestState: `${body}.${code.slice(1)}x` }),
      raw({ ...again, requestState: `${Buffer.from('["req_1","inp_1",9e15]').toString('base64url')}.${code}` }),
      raw({ ...again, arguments: args({ task: 'Another task' }) }),
      raw(again, { key: other.key }),
      raw(
        { ...again, name: 'invoke', arguments: { task: 'Book a table', maxCost: '0.05' } },
        {
          path: `/agents/${agent.id}/mcp`,
        },
      ),
      raw({ ...again, name: 'get_agent', arguments: { agentId: agent.id } }),
      raw({ inputResponses: again.inputResponses }),
      raw({ ...again, requestState: 5 }),
    ]);
    expect(refused.map(({ error }) => error?.code)).toEqual(refused.map(() => -32_602));
    expect(agent.calls).toHaveLength(1);

    const answered = await Promise.all([raw(again), raw(again)]);
    answered.push(await raw(again), await raw(repetition(result, { day: 'Friday' })));
    const records = answered.map((each) => each.result.structuredContent);
    expect(new Set(records.map(({ requestId, status }) => `${requestId} ${status}`)).size).toBe(1);
    expect(records[3]).toMatchObject({ status: 'completed', result: { answers: [{ day: 'Monday' }] } });
    expect(agent.calls).toHaveLength(2);
    expect(await balanceOf(h, buyer.key)).toEqual(untouched);
    expect((await balanceOf(h, other.key)).available).toBe('1.00');
  });

  it('that comes late tells that nobody answered in time', async () => {
    agent.behave(asks({ message: 'Which day?', schema: day, timeout: 1 }));
    const { result } = await raw({});
    const { requestId } = (await raw({}, { capabilities: {} })).result.structuredContent;
    await untilEnded(h, buyer.key, requestId);
    expect((await raw(repetition(result))).result).toMatchObject({
      isError: true,
      structuredContent: { status: 'failed', error: { code: 'input_timeout' }, refund: '0.05' },
    });
    expect(agent.calls).toHaveLength(1);
    expect((await balanceOf(h, buyer.key)).available).toBe('1.00');
  });
});

it('the same call while its question waits is the same purchase; after its answer it is another', async () => {
  const first = (await raw({})).result;
  const second = (await raw({})).result;
  expect(Object.keys(second.inputRequests)).toEqual(Object.keys(first.inputRequests));
  // A client that can not be asked finds it as well.
  const found = (await raw({}, { capabilities: {} })).result.structuredContent;
  expect(found.status).toBe('input_required');
  const ended = (await raw(repetition(second))).result.structuredContent;
  expect(ended).toMatchObject({ requestId: found.requestId, status: 'completed' });
  const another = (await raw({})).result;
  expect(Object.keys(another.inputRequests)).not.toEqual(Object.keys(first.inputRequests));
  expect(agent.calls).toHaveLength(3);
});

it('an answer whose client leaves before the result is found again by the same call', async () => {
  let release = () => {};
  agent.behave(async (request, response) => {
    if (request.body.answers) await new Promise<void>((resolve) => (release = resolve));
    await asks({ message: 'Which day?', schema: day })(request, response);
  });
  const { result } = await raw({});
  const gone = new AbortController();
  const { headers, body } = modern(
    'tools/call',
    { name: 'invoke_agent', arguments: args(), ...repetition(result) },
    able,
  );
  const lost = fetch(`${h.baseUrl}/mcp`, {
    ...{ method: 'POST', signal: gone.signal, body: JSON.stringify(body) },
    headers: { ...headers, authorization: `Bearer ${buyer.key}` },
  }).catch(() => null);
  await expect.poll(() => agent.calls.length).toBe(2);
  gone.abort();
  expect(await lost).toBeNull();
  const again = raw({});
  release();
  expect((await again).result.structuredContent).toMatchObject({ status: 'completed', cost: '0.05' });
  expect(agent.calls).toHaveLength(2);
  expect(await balanceOf(h, buyer.key)).toEqual(untouched);
});

it('a task waits for its input, and goes on after an update', async () => {
  const capabilities = { ...able, extensions: { [TASKS]: {} } };
  const created = (await raw({}, { capabilities })).result;
  expect(created).toMatchObject({ resultType: 'task', status: 'input_required' });
  const { taskId } = created;
  const call = async (method: string, params: object = {}, able_: object = capabilities) => {
    const { headers, body } = modern(method, { taskId, ...params }, able_);
    return (await send(h.baseUrl, 'POST', '/mcp', { key: buyer.key, body, headers })).body as Any;
  };
  const { inputRequests, status } = (await call('tasks/get')).result;
  expect(status).toBe('input_required');
  const [inputId = ''] = Object.keys(inputRequests);
  expect(inputRequests[inputId]).toMatchObject({ method: 'elicitation/create', params: { mode: 'form' } });
  const unable = (await call('tasks/get', {}, { extensions: { [TASKS]: {} } })).result;
  expect(unable).toMatchObject({ inputRequests: {}, statusMessage: expect.stringContaining('answer_invocation') });
  const update = (response: object, key = inputId) =>
    call('tasks/update', { inputResponses: { [key]: response } }).then(({ result, error }) => error?.code ?? result);
  const nothing = { resultType: 'complete', _meta: expect.anything() };
  expect(await update({ action: 'accept', content: { day: 'Monday' } }, 'another')).toEqual(nothing);
  expect(await update({ action: 'cancel' })).toEqual(nothing);
  expect(await update({ action: 'accept', content: { day: 'Sunday' } })).toBe(-32_602);
  expect((await call('tasks/get')).result.status).toBe('input_required');
  expect(await update({ action: 'accept', content: { day: 'Friday' } })).toEqual(nothing);
  const ended = await until(async () => {
    const { result } = await call('tasks/get');
    return result.status === 'completed' ? result : null;
  });
  expect(ended.result.structuredContent.result).toEqual({ answers: [{ day: 'Friday' }] });
  expect(await update({ action: 'accept', content: { day: 'Monday' } })).toEqual(nothing);
  expect(agent.calls).toHaveLength(2);
});

it('without a key and without elicitation, the token of the record answers and cancels', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const buy = async (task: string) => {
    const given = args({ task, interactive: true });
    const { headers, body } = modern('tools/call', { name: 'invoke_agent', arguments: given });
    const terms = (await send(h.baseUrl, 'POST', '/mcp', { body, headers })).body.result.structuredContent;
    const _meta = { 'x402/payment': await paymentOf(h, wallet, terms) };
    const paid = modern('tools/call', { name: 'invoke_agent', arguments: given, _meta });
    return (await send(h.baseUrl, 'POST', '/mcp', { body: paid.body, headers: paid.headers })).body.result
      .structuredContent as Any;
  };
  const record = await buy('Book a table');
  const { requestId, answerToken, resultToken } = record;
  const answer = { requestId, inputId: record.inputRequest.inputId, action: 'accept', input: { day: 'Monday' } };
  const call = async (tool: string, given: object) =>
    (await callTool(h.baseUrl, undefined, tool, given)).body.result.structuredContent as Any;
  expect((await call('answer_invocation', answer)).error.code).toBe('UNAUTHORIZED');
  expect((await call('answer_invocation', { ...answer, answerToken: resultToken })).error.code).toMatch(
    /UNAUTHORIZED|VALIDATION_ERROR/,
  );
  expect(await call('answer_invocation', { ...answer, answerToken })).toMatchObject({ status: 'completed' });
  const other = await buy('Another table');
  expect((await call('cancel_invocation', { requestId: other.requestId, answerToken })).error.code).toBe(
    'UNAUTHORIZED',
  );
  const cancelled = await call('cancel_invocation', { requestId: other.requestId, answerToken: other.answerToken });
  expect(cancelled).toMatchObject({ cancelled: true, refund: '0.05' });
});
