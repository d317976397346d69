import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import OpenAI, { type APIError } from 'openai';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createApp } from '../../../../src/compose/app.ts';
import { AppError } from '../../../../src/lib/app-error.ts';
import { result, spokenBy } from '../../../calls/stream/support/streaming-agent.ts';
import { createTill } from '../../../support/billing-agent.ts';
import { askDatabase } from '../../../support/books.ts';
import { emptyWallet, refillWallet } from '../../../support/chain-actions.ts';
import { type Harness, newWallet, type TestWallet } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { askingForChannels, chargedOf, stockChannelPayer } from '../../../support/stock-channel-payer.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../../support/treasury.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { filled, runSnippet, snippetsOf } from '../guide-snippets.ts';
import { type StockSite, startStockSite } from '../stock-site.ts';

let site: StockSite;
let h: Harness;
let buyer: Client;
let writer: TestAgent;
let slow: TestAgent;
let failing: TestAgent;
let streaming: TestAgent;
let spent: StockSite['spent'];

beforeAll(async () => {
  site = await startStockSite(await borrowHarness(), {
    name: 'Writer',
    capabilities: ['openai-test'],
    behaviour: answer,
  });
  ({ h, buyer, working: writer, slow, failing, streaming, spent } = site);
});
afterAll(async () => site?.stop());

/** Says what it was asked, and what it knows. */
const answer: TestAgent['behave'] extends (behaviour: infer B) => void ? B : never = ({ body }, response) =>
  answerWith(200, { result: { text: `${body.task}!`, context: body.context ?? null, input: body.input } })(
    { headers: {}, body },
    response,
  );

const open = (options: Partial<ConstructorParameters<typeof OpenAI>[0]> = {}) =>
  new OpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey: buyer.key, maxRetries: 2, ...options });

// biome-ignore lint/suspicious/noExplicitAny: fields of ours are not among the types of the client
type Any = any;
const ours = (answered: unknown): Any => (answered as Any).agent_network;
const said = (text: string) => [{ role: 'user' as const, content: text }];
const failure = (work: Promise<unknown>): Promise<APIError> =>
  work.then(
    () => expect.fail('it was answered'),
    (error) => error as APIError,
  );

const COMPLETIONS = '/v1/chat/completions';
const counted = { 'x-stainless-retry-count': '1' };

/** One request of the buyer as a client sends it, to the node or to another process of it (`app`). */
async function post(
  app: ReturnType<typeof createApp> | null,
  body: object,
  { headers = {}, signal }: { readonly headers?: Record<string, string>; readonly signal?: AbortSignal } = {},
) {
  const call = {
    method: 'POST',
    headers: { authorization: `Bearer ${buyer.key}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    ...(signal ? { signal } : {}),
  };
  const answered = await (app ? app.request(COMPLETIONS, call) : fetch(h.baseUrl + COMPLETIONS, call));
  return { status: answered.status, headers: answered.headers, body: (await answered.json()) as Any };
}

/** A client's fetch, of which the first answer of an agent does not arrive. */
function losingOne() {
  let answers = 0;
  const losing: typeof fetch = async (input, init) => {
    const response = await fetch(input, init);
    if (response.status !== 200) return response;
    answers += 1;
    if (answers > 1) return response;
    await response.text();
    throw new TypeError('the connection was lost');
  };
  return { fetch: losing, answers: () => answers };
}

describe('models', () => {
  it('are the agents that are online, with price and capabilities', async () => {
    const { data } = await open().models.list();
    const found = data.find(({ id }) => id === writer.id) as Any;
    expect(found).toMatchObject({
      object: 'model',
      name: 'Writer',
      capabilities: ['openai-test'],
      pricing: { request: '0.05' },
    });
    expect(await open().models.retrieve(writer.id)).toEqual(found);
    const unknown = await failure(open().models.retrieve('agent_none'));
    expect(unknown.code).toBe('model_not_found');
    expect(unknown.message).toContain('GET /v1/models');
  });
});

describe('a chat completion', () => {
  it('is one invocation, paid from the treasury, with the conversation as context', async () => {
    const messages = [
      { role: 'system' as const, content: 'Be brief.' },
      { role: 'user' as const, content: 'Hi' },
      { role: 'assistant' as const, content: 'Hello' },
      { role: 'user' as const, content: [{ type: 'text' as const, text: 'How are you?' }] },
    ];
    let completion: Any;
    const cost = await spent(async () => {
      completion = await open().chat.completions.create({ model: writer.id, messages, temperature: 0.5 });
    });
    expect(cost).toBe(0.05);
    expect(completion.choices[0]).toMatchObject({ finish_reason: 'stop', message: { content: 'How are you?!' } });
    expect(completion.usage).toMatchObject({ cost: 0.05, total_tokens: expect.any(Number) });
    const { result, request_id } = ours(completion);
    expect(completion.id).toBe(request_id);
    expect(result.context).toBe('system: Be brief.\nuser: Hi\nassistant: Hello');
    expect(result.input).toEqual({ messages, temperature: 0.5 });
    const record = (await h.request('GET', `/invoke/${request_id}`, { key: buyer.key })).body.data;
    expect(record).toMatchObject({ status: 'completed', cost: '0.05' });
  });

  it('streams as the agent does, and ends with usage and our part', async () => {
    const stream = await open().chat.completions.create({
      ...{ model: streaming.id, messages: said('x'), stream: true },
      stream_options: { include_usage: true },
    });
    const chunks: Any[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const deltas = chunks.flatMap(({ choices }) => choices[0]?.delta.content ?? []);
    expect(deltas).toEqual(['', 'one ', 'two']);
    expect(chunks.at(-2)).toMatchObject({
      choices: [{ finish_reason: 'stop' }],
      agent_network: { status: 'completed' },
    });
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { total_tokens: expect.any(Number) } });
  });

  it('streams an error when its key is revoked meanwhile, as does a response, and not as if it were whole', async () => {
    const caller = await newClient(h, '1');
    const talk = spokenBy();
    const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: talk.behaviour });
    const client = open({ apiKey: caller.key });
    const completion = await client.chat.completions.create({ model: agent.id, messages: said('x'), stream: true });
    const response = await client.responses.create({ model: agent.id, input: 'x', stream: true });
    const { keyId } = (await h.request('GET', '/account/keys', { key: caller.key })).body.data.keys[0];
    expect((await h.request('DELETE', `/account/keys/${keyId}`, { key: caller.key })).status).toBe(200);
    const read = async () => {
      for await (const _ of completion);
    };
    const error = await failure(read());
    expect([error.code, error.message]).toEqual(['invalid_api_key', expect.stringContaining('cut off')]);
    const readEvents = async () => {
      for await (const _ of response);
    };
    expect((await failure(readEvents())).message).toContain('cut off');
    // The requests go on.
    for (const { say } of [await talk.next(), await talk.next()]) say(result('done'));
    const sql = `select id from invocation where agent_id = '${agent.id}' and status = 'completed'`;
    await expect.poll(() => askDatabase(h.databaseUrl, sql)).toHaveLength(2);
    await agent.die();
  });

  it('of a stream that was cut off by the end of its key is found by the same call with another key', async () => {
    const caller = await newClient(h, '1');
    const talk = spokenBy();
    const agent = await startTestAgent(h, { perRequest: '0.05', behaviour: talk.behaviour });
    const [first] = (await h.request('GET', '/account/keys', { key: caller.key })).body.data.keys;
    const other = await h.request('POST', '/account/keys', { key: caller.key, body: { name: 'other' } });
    const ask = (key: string) =>
      fetch(h.baseUrl + COMPLETIONS, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: agent.id, messages: said('x'), stream: true }),
      });
    const cut = await ask(caller.key);
    expect((await h.request('DELETE', `/account/keys/${first.keyId}`, { key: caller.key })).status).toBe(200);
    // Read to its end: the node cannot see that its client does not have the answer.
    expect(await cut.text()).toContain('invalid_api_key');
    const again = await ask(other.body.data.apiKey);
    (await talk.next()).say(result('done'));
    expect(await again.text()).toContain('[DONE]');
    expect(await askDatabase(h.databaseUrl, `select id from invocation where agent_id = '${agent.id}'`)).toHaveLength(
      1,
    );
    await agent.die();
  });

  it('streams a failure as an error', async () => {
    const stream = await open().chat.completions.create({ model: failing.id, messages: said('x'), stream: true });
    const read = async () => {
      for await (const _ of stream);
    };
    expect((await failure(read())).message).toContain('was refunded');
  });

  it('is found by the retry of the client after a lost answer: one run, one charge', async () => {
    const calls = writer.calls.length;
    const losing = losingOne();
    let completion: Any;
    const cost = await spent(async () => {
      completion = await open({ fetch: losing.fetch }).chat.completions.create({
        model: writer.id,
        messages: said('once'),
      });
    });
    expect([losing.answers(), writer.calls.length - calls, cost]).toEqual([2, 1, 0.05]);
    expect(completion.choices[0].message.content).toBe('once!');
  });

  it('again without a repetition is another purchase; under one Idempotency-Key it is the same', async () => {
    const ask = (key?: string) =>
      open().chat.completions.create(
        { model: writer.id, messages: said('twice') },
        key ? { headers: { 'Idempotency-Key': key } } : {},
      );
    expect(await spent(async () => Promise.all([ask(), ask()]))).toBe(0.1);
    const [first, second] = [await ask('openai-test-1'), await ask('openai-test-1')];
    expect(second.id).toBe(first.id);
  });

  it('is paid by x402 without a treasury', async () => {
    const stranger = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const client = open({ apiKey: stranger.key });
    const body = { model: writer.id, messages: said('paid') };
    const asked = await failure(client.chat.completions.create(body));
    expect([asked.status, asked.code]).toEqual([402, 'payment_required']);
    const terms = await h.request('POST', '/v1/chat/completions', { key: stranger.key, body });
    expect(terms.body).toMatchObject({
      error: { code: 'payment_required' },
      x402Version: 1,
      accepts: [{ scheme: 'exact' }],
    });
    const headers = await payV2(h, wallet, terms);
    const paid = await client.chat.completions.create(body, { headers });
    expect(paid.choices[0]?.message.content).toBe('paid!');
    expect((await client.chat.completions.create(body, { headers })).id).toBe(paid.id);
  });
});

describe('a chat completion without a key', () => {
  const path = '/v1/chat/completions';
  const counted = { 'x-stainless-retry-count': '1' };
  const asking = (text: string) => ({ model: writer.id, messages: said(text) });
  const paymentFor = async (wallet: TestWallet, text: string) =>
    payV2(h, wallet, await h.request('POST', path, { body: asking(text) }));
  const pay = async (wallet: TestWallet, text: string, headers: Record<string, string> = {}) =>
    h.request('POST', path, { body: asking(text), headers: { ...headers, ...(await paymentFor(wallet, text)) } });

  it.each([1_000_000n, 50_000n])(
    'is found by a repetition with another payment after a lost answer: one run, one charge (of %s)',
    async (hasMicro) => {
      const wallet = await h.newWallet(hasMicro);
      const calls = writer.calls.length;
      const payer = new x402Client().register(h.ctx.chain.caip2 as `eip155:${number}`, new ExactEvmScheme(wallet));
      const losing = losingOne();
      const client = open({ apiKey: 'x402', fetch: wrapFetchWithPayment(losing.fetch, payer) });
      const { data, response } = await client.chat.completions.create(asking(`once of ${hasMicro}`)).withResponse();
      expect([losing.answers(), writer.calls.length - calls]).toEqual([2, 1]);
      expect(await h.usdcOf(wallet.address)).toBe(hasMicro - 50_000n);
      expect(data.choices[0]?.message.content).toBe(`once of ${hasMicro}!`);
      const headers = { 'x-result-token': response.headers.get('x-result-token') ?? '' };
      expect((await h.request('GET', `/v1/responses/${data.id}`, { headers })).body.id).toBe(data.id);
    },
  );

  it('is found by a repetition with another voucher after a lost answer: one run, one charge', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const calls = writer.calls.length;
    const losing = losingOne();
    const client = open({
      apiKey: 'x402',
      fetch: wrapFetchWithPayment(askingForChannels(losing.fetch), stockChannelPayer(h, wallet)),
    });
    const first = await client.chat.completions.create(asking('by channel'));
    expect([losing.answers(), writer.calls.length - calls]).toEqual([2, 1]);
    expect(first.choices[0]?.message.content).toBe('by channel!');
    expect(await chargedOf(h, wallet)).toEqual([{ chargedMicro: 50_000n, reservedMicro: 0n }]);
    // The client goes on with the sum that it was told.
    const second = await client.chat.completions.create(asking('by channel'));
    expect([second.id === first.id, writer.calls.length - calls]).toEqual([false, 2]);
    expect(await chargedOf(h, wallet)).toEqual([{ chargedMicro: 100_000n, reservedMicro: 0n }]);
  });

  it('is found by a repetition of its wallet only, and the same call again without one is another purchase', async () => {
    const [wallet, stranger] = [await h.newWallet(1_000_000n), await h.newWallet(1_000_000n)];
    const text = 'mine';
    const terms = await h.request('POST', path, { body: asking(text) });
    const paid = await payV2(h, wallet, terms);
    const first = await h.request('POST', path, { body: asking(text), headers: paid });
    expect(first.status).toBe(200);
    const calls = writer.calls.length;
    // In the name of the wallet, and signed by another.
    const forged = await pay({ ...stranger, address: wallet.address }, text, counted);
    expect(forged.status).toBe(402);
    // As everybody reads it from the chain, under terms of his own.
    const read = JSON.parse(Buffer.from(paid['payment-signature'] ?? '', 'base64').toString());
    const { body, headers } = await h.request('POST', path, { body: asking(text) });
    const own = await payV2(h, stranger, { body, headers });
    const { accepted } = JSON.parse(Buffer.from(own['payment-signature'] ?? '', 'base64').toString());
    const copied = Buffer.from(JSON.stringify({ ...read, accepted })).toString('base64');
    const withheld = await h.request('POST', path, {
      body: asking(text),
      headers: { ...counted, 'payment-signature': copied },
    });
    expect([withheld.status, withheld.headers.get('x-result-token')]).toEqual([403, null]);
    expect(writer.calls.length).toBe(calls);

    const strangers = await pay(stranger, text, counted);
    const again = await pay(wallet, text);
    expect(new Set([first, strangers, again].map(({ body }) => body.id)).size).toBe(3);
    expect((await pay(wallet, text, counted)).body.id).toBe(again.body.id);
    expect(writer.calls.length).toBe(calls + 2);
    expect([await h.usdcOf(wallet.address), await h.usdcOf(stranger.address)]).toEqual([900_000n, 950_000n]);
  });

  it.each(['0.050001', '0.01'])(
    'is found by a repetition whose payment is for another price, which the owner asks since (%s)',
    async (perRequest) => {
      const owner = await h.newAccount();
      const agent = await startTestAgent(h, { owner, perRequest: '0.05', behaviour: answer });
      const wallet = await h.newWallet(1_000_000n);
      const body = { model: agent.id, messages: said('repriced') };
      const buy = async (headers: Record<string, string> = {}) => {
        const paid = await payV2(h, wallet, await h.request('POST', path, { body }));
        return h.request('POST', path, { body, headers: { ...headers, ...paid } });
      };
      const first = await buy();
      expect(first.status).toBe(200);
      const change = { key: owner.key, body: { rates: { perRequest } } };
      expect((await h.request('PUT', `/agents/${agent.id}`, change)).status).toBe(200);
      expect((await buy(counted)).body.id).toBe(first.body.id);
      expect([agent.calls.length, await h.usdcOf(wallet.address)]).toEqual([1, 950_000n]);
      await agent.die();
    },
  );

  it('is found by a repetition that comes while it is accepted', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const calls = writer.calls.length;
    const headers = { ...counted, ...(await paymentFor(wallet, 'at once')) };
    const [checked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { accept } = h.ctx.acceptor;
    using _held = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce(async (item) => {
      checked.resolve();
      await goesOn.promise;
      return accept(item);
    });
    const first = pay(wallet, 'at once');
    await checked.promise;
    using arrivals = vi.spyOn(h.ctx.drain, 'isRefusing');
    const repetition = h.request('POST', path, { body: asking('at once'), headers });
    await expect.poll(() => arrivals.mock.calls.length, { interval: 1 }).toBeGreaterThan(0);
    goesOn.resolve();
    expect((await repetition).body.id).toBe((await first).body.id);
    expect([writer.calls.length - calls, await h.usdcOf(wallet.address)]).toEqual([1, 950_000n]);
  });

  it('with an unconfirmed payment is found by the same call with another payment, once', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const calls = writer.calls.length;
    const app = createApp({ ...h.ctx, syncWaitMs: 0 });
    const buy = async () => {
      const headers = { 'content-type': 'application/json', ...(await paymentFor(wallet, 'unconfirmed')) };
      const answer = await app.request(path, { method: 'POST', headers, body: JSON.stringify(asking('unconfirmed')) });
      return { status: answer.status, body: (await answer.json()) as Any };
    };
    /** A purchase that is answered before its payment is confirmed, and then ends. */
    const bought = async (status = 'completed') => {
      const pending = await buy();
      expect([pending.status, pending.body.error.code]).toEqual([503, 'payment_pending']);
      const { requestId } = pending.body.error.details;
      const sql = `select id from invocation where id = '${requestId}' and status = '${status}'`;
      await expect.poll(() => askDatabase(h.databaseUrl, sql)).toHaveLength(1);
      return requestId;
    };
    writer.behave(answerWith(500, { error: 'no' }));
    await bought('failed');
    writer.behave(answer);
    // One that failed and was bought anew is found by the one that was bought.
    const first = await bought();
    const found = await buy();
    expect([found.status, found.body.id]).toEqual([200, first]);
    expect(await bought()).not.toBe(first);
    expect(writer.calls.length - calls).toBe(3);
    await expect.poll(() => h.usdcOf(wallet.address)).toBe(900_000n);
  });

  it('with an unconfirmed payment that failed later does not count as a purchase: the repetition buys', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const older = await pay(wallet, 'failed then');
    expect(older.status).toBe(200);
    const app = createApp({ ...h.ctx, syncWaitMs: 0 });
    const buy = async (more: Record<string, string> = {}) => {
      const paid = await paymentFor(wallet, 'failed then');
      const headers = { ...more, ...paid, 'content-type': 'application/json' };
      const answer = await app.request(path, { method: 'POST', headers, body: JSON.stringify(asking('failed then')) });
      const { error } = (await answer.json()) as Any;
      return { code: error?.code, requestId: error?.details?.requestId };
    };
    const untilStatus = (requestId: string, status: string) =>
      expect
        .poll(() => askDatabase(h.databaseUrl, `select status from invocation where id = '${requestId}'`))
        .toEqual([{ status }]);
    const { settle } = h.ctx.settler;
    using _unpaid = vi.spyOn(h.ctx.settler, 'settle').mockImplementationOnce(async (payment) => {
      await emptyWallet(h.rpcUrl, h, wallet, 950_000n);
      return settle(payment);
    });
    const failed = await buy();
    expect(failed.code).toBe('payment_pending');
    await untilStatus(failed.requestId, 'failed');
    await refillWallet(h.rpcUrl, h, wallet, 950_000n);
    // A payer whose payment has failed waits for a time.
    using _standing = vi.spyOn(h.ctx.payerStatus, 'require').mockResolvedValue(undefined);
    const bought = await buy(counted);
    expect(bought).toEqual({ code: 'payment_pending', requestId: expect.any(String) });
    await untilStatus(bought.requestId, 'completed');
    expect(await h.usdcOf(wallet.address)).toBe(900_000n);
  });

  it('is repeated by the client while the chain cannot judge the other payment, and found then', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const first = await pay(wallet, 'judged');
    using _away = vi.spyOn(h.ctx.simulator, 'simulate').mockRejectedValueOnce(new Error('no answer'));
    const unjudged = await pay(wallet, 'judged', counted);
    expect([unjudged.status, unjudged.headers.get('x-should-retry')]).toEqual([503, null]);
    expect((await pay(wallet, 'judged', counted)).body.id).toBe(first.body.id);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });
});

it('without a key is paid by its wallet, and read again with its token only', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const client = open({ apiKey: 'x402' });
  const body = { model: writer.id, messages: said('keyless') };
  const asked = await failure(client.chat.completions.create(body));
  expect(asked.status).toBe(402);
  const headers = await payV2(h, wallet, await h.request('POST', '/v1/chat/completions', { body }));
  const { data: paid, response } = await client.chat.completions.create(body, { headers }).withResponse();
  expect(paid.choices[0]?.message.content).toBe('keyless!');
  const token = response.headers.get('x-result-token') ?? '';
  expect((await failure(client.responses.retrieve(paid.id))).status).toBeGreaterThanOrEqual(401);
  const read = await client.responses.retrieve(paid.id, {}, { headers: { 'x-result-token': token } });
  expect(read.output_text).toBe('keyless!');
});

describe('a response', () => {
  it('goes on from an earlier one', async () => {
    const first = await open().responses.create({ model: writer.id, input: 'One', instructions: 'Count.' });
    expect(first).toMatchObject({
      status: 'completed',
      output_text: 'One!',
      usage: { total_tokens: expect.any(Number) },
    });
    const second = await open().responses.create({ model: writer.id, input: 'Two', previous_response_id: first.id });
    expect(ours(second).result.context).toBe('user: One\nassistant: One!');
    expect(await open().responses.retrieve(first.id)).toMatchObject({ id: first.id, output_text: 'One!' });
  });

  it('streams its events in order', async () => {
    const events: Any[] = [];
    for await (const event of await open().responses.create({ model: streaming.id, input: 'x', stream: true }))
      events.push(event);
    expect(events.map(({ type }) => type.replace('response.', ''))).toEqual([
      ...[
        'created',
        'in_progress',
        'output_item.added',
        'content_part.added',
        'output_text.delta',
        'output_text.delta',
      ],
      ...['output_text.done', 'content_part.done', 'output_item.done', 'completed'],
    ]);
    expect(events.map(({ sequence_number }) => sequence_number)).toEqual(events.map((_, index) => index));
    expect(events.at(-1).response.output[0].content[0].text).toBe('one two');
  });

  it('in the background comes at once, and is cancelled with its money back', async () => {
    const started = await open().responses.create({ model: slow.id, input: 'x', background: true });
    expect(['queued', 'in_progress']).toContain(started.status);
    const cancelled = await open().responses.cancel(started.id);
    expect(cancelled.status).toBe('cancelled');
    // As OpenAI's API: a second cancellation, perhaps after a lost answer, is answered like the first.
    expect(await open().responses.cancel(started.id)).toEqual(cancelled);
    expect(await untilEnded(h, buyer.key, started.id)).toMatchObject({ status: 'cancelled', cost: '0.00' });
  });
});

describe('an error', () => {
  it('of an agent that fails is 400, is not repeated, and the money is back', async () => {
    const calls = failing.calls.length;
    const before = await balanceOf(h, buyer.key);
    const error = await failure(open().chat.completions.create({ model: failing.id, messages: said('x') }));
    expect([error.status, error.code]).toEqual([400, 'agent_error']);
    expect(new Set(failing.calls.slice(calls).map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(await balanceOf(h, buyer.key)).toEqual(before);
  });

  it.each(['the same process', 'another'])(
    'of an agent that failed is no answer to a repetition of a later call (at %s)',
    async (where) => {
      const app = where === 'another' ? createApp(h.ctx) : null;
      const body = { model: writer.id, messages: said(`after a failure at ${where}`) };
      writer.behave(answerWith(500, { error: 'no' }));
      expect((await failure(open().chat.completions.create(body))).status).toBe(400);
      writer.behave(answer);
      // The later call was refused with 429 at first, and the client repeats that.
      const answered = await post(app, body, { headers: counted });
      expect([answered.status, answered.body.choices?.[0].message.content]).toEqual([
        200,
        `after a failure at ${where}!`,
      ]);
    },
  );

  it.each(['the same process', 'another'])(
    'of an agent that failed has its repetition run again, and is no older success (at %s)',
    async (where) => {
      const app = where === 'another' ? createApp(h.ctx) : null;
      const body = { model: writer.id, messages: said(`a failure after a success at ${where}`) };
      const calls = writer.calls.length;
      const first = await open().chat.completions.create(body);
      writer.behave(answerWith(500, { error: 'no' }));
      expect((await failure(open().chat.completions.create(body))).status).toBe(400);
      writer.behave(answer);
      const answered = await post(app, body, { headers: counted });
      expect([answered.status, writer.calls.length - calls]).toEqual([200, 3]);
      expect(answered.body.id).not.toBe(first.id);
    },
  );

  it('of an agent that failed at one process is not bought a third time when another has bought it since', async () => {
    const body = { model: writer.id, messages: said('failed here, bought there') };
    const calls = writer.calls.length;
    writer.behave(answerWith(500, { error: 'no' }));
    expect((await failure(open().chat.completions.create(body))).status).toBe(400);
    writer.behave(answer);
    const bought = await post(createApp(h.ctx), body);
    expect((await open().chat.completions.create(body, { headers: counted })).id).toBe(bought.body.id);
    expect(writer.calls.length - calls).toBe(2);
  });

  it.each(['with a key', 'without one'])(
    'of an agent that was paid, and failed then, is what its repetition at another process gets: one bill (%s)',
    async (who) => {
      const app = createApp(h.ctx);
      const till = createTill(h);
      const body = { model: writer.id, messages: said(`billed ${who}`) };
      const path = '/v1/chat/completions';
      const wallet = await h.newWallet(1_000_000n);
      const ask = async (count: string) => {
        const paid =
          who === 'with a key'
            ? { authorization: `Bearer ${buyer.key}` }
            : await payV2(h, wallet, await h.request('POST', path, { body }));
        const headers = { ...paid, 'content-type': 'application/json', 'x-stainless-retry-count': count };
        const call = { method: 'POST', headers, body: JSON.stringify(body) };
        const answered = await (count === '0' ? fetch(h.baseUrl + path, call) : app.request(path, call));
        return { status: answered.status, requestId: ((await answered.json()) as Any).error?.requestId };
      };
      writer.behave(till.bill({ work: answerWith(500, { error: 'no' }) }));
      const first = await ask('0');
      expect(first).toEqual({ status: 400, requestId: expect.any(String) });
      expect(await ask('1')).toEqual(first);
      writer.behave(answer);
      expect(till.shown).toHaveLength(1);
    },
  );

  it.each([
    ['a bad key', { apiKey: 'ank_test_bad' }, {}, 401, 'invalid_api_key'],
    ['an unknown model', {}, { model: 'agent_none' }, 404, 'model_not_found'],
    ['no message of the user', {}, { messages: [{ role: 'system', content: 'x' }] }, 400, 'validation_error'],
    ['no messages', {}, { messages: [] }, 400, 'validation_error'],
    ['several answers', {}, { n: 2 }, 400, 'validation_error'],
    ['an amount that is none', {}, { max_cost: '1e3' }, 400, 'validation_error'],
    ['a cost above max_cost', {}, { max_cost: 0.01 }, 400, 'validation_error'],
  ])('%s', async (_name, options, body, status, code) => {
    const call = { model: writer.id, messages: said('x'), ...body } as Parameters<
      OpenAI['chat']['completions']['create']
    >[0];
    const before = await balanceOf(h, buyer.key);
    const error = await failure(open(options).chat.completions.create(call));
    expect([error.status, error.code]).toEqual([status, code]);
    expect(error.headers?.get('x-should-retry')).toBe('false');
    expect(await balanceOf(h, buyer.key)).toEqual(before);
  });

  it('is not the answer while the first attempt under the key is being started, but after a time, and says to repeat then', async () => {
    const [checked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const { accept } = h.ctx.acceptor;
    using _held = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce(async (item) => {
      checked.resolve();
      await goesOn.promise;
      return accept(item);
    });
    const body = { model: writer.id, messages: said('still') };
    const keyed = { headers: { 'idempotency-key': 'openai-test-still' } };
    const ask = () => post(null, body, keyed);
    const first = ask();
    await checked.promise;
    const { status, headers } = await post(createApp({ ...h.ctx, syncWaitMs: 0 }), body, keyed);
    expect([status, headers.get('x-should-retry'), headers.get('retry-after')]).toEqual([409, null, '2']);
    using asked = vi.spyOn(h.ctx.heldKeys, 'enter');
    const repetition = ask();
    let isAnswered = false;
    void repetition.then(() => {
      isAnswered = true;
    });
    await expect.poll(() => isAnswered || asked.mock.calls.length > 1, { interval: 1 }).toBe(true);
    goesOn.resolve();
    const answers = [await first, await repetition, await ask()];
    expect(answers.map((each) => each.status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map((each) => each.body.id)).size).toBe(1);
  });

  it('is stored for a repetition if the client left before the first attempt under its key was refused: nothing is bought', async () => {
    const [checked, goesOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    using _refused = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce(async () => {
      checked.resolve();
      await goesOn.promise;
      throw new AppError('UNAVAILABLE', 'The node is overloaded.');
    });
    const body = { model: writer.id, messages: said('gone') };
    const headers = { 'idempotency-key': 'openai-test-gone' };
    const [calls, before] = [writer.calls.length, await balanceOf(h, buyer.key)];
    const first = post(null, body, { headers });
    await checked.promise;
    using asked = vi.spyOn(h.ctx.heldKeys, 'enter');
    const leaving = new AbortController();
    const repetition = post(createApp(h.ctx), body, { headers, signal: leaving.signal });
    await expect.poll(() => asked.mock.calls.length, { interval: 1 }).toBeGreaterThan(0);
    leaving.abort();
    goesOn.resolve();
    expect([(await first).status, (await repetition).status]).toEqual([503, 409]);
    expect([writer.calls.length - calls, await balanceOf(h, buyer.key)]).toEqual([0, before]);
  });

  it('of a field names it as the request does', async () => {
    const call = { model: writer.id, messages: said('x'), max_cost: '-1' };
    expect((await failure(open().chat.completions.create(call))).param).toBe('max_cost');
  });

  it('of an unknown path, a wrong body or content has the shape of this API', async () => {
    for (const [method, path, body] of [
      ['GET', '/v1/batches', undefined],
      ['POST', '/v1/chat/completions', []],
      ['POST', '/v1/chat/completions', 'text'],
      ['POST', '/v1/responses', { model: writer.id, input: 7 }],
      ['GET', '/v1/responses/req_none', undefined],
    ] as const) {
      const refused = await h.request(method, path, { key: buyer.key, body });
      expect(refused.status).toBeGreaterThanOrEqual(400);
      expect(refused.status).toBeLessThan(500);
      expect(refused.body.error).toMatchObject({
        message: expect.any(String),
        type: expect.any(String),
        param: expect.toSatisfy((p) => p === null || typeof p === 'string'),
      });
    }
  });

  it("of a treasury that holds too little is 402 without terms, and another caller's response is not found", async () => {
    const poor = await newClient(h, '0.01');
    const error = await failure(
      open({ apiKey: poor.key }).chat.completions.create({ model: writer.id, messages: said('x') }),
    );
    expect([error.status, error.code]).toEqual([402, 'insufficient_quota']);
    const mine = await open().responses.create({ model: writer.id, input: 'mine' });
    expect((await failure(open({ apiKey: poor.key }).responses.retrieve(mine.id))).status).toBe(404);
  });
});

it('the snippets of the guide work as they stand', async () => {
  const [snippet = '', keyless = '', ...others] = snippetsOf('guide-openai.md', 'js');
  expect(others).toEqual([]);
  const values = { 'http://127.0.0.1:4020': h.baseUrl, YOUR_API_KEY: buyer.key, AGENT_ID: writer.id };
  expect(await runSnippet(h.dataDir, filled(snippet, values))).toBe('Say hello.! 0.05');
  const { YOUR_API_KEY: _, ...places } = values;
  const walletKey = generatePrivateKey();
  await newWallet(h.rpcUrl, h.ctx.chain.token, 1_000_000n, walletKey);
  const key = { ...places, YOUR_WALLET_KEY: walletKey };
  expect(await runSnippet(h.dataDir, filled(keyless, key))).toBe('Say hello.! true');
});
