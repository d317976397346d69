import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { canonicalJson } from '@agent-network/contracts/canonical-json';
import { verifyReceipt } from '@agent-network/sdk';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { json, listUpstream, startUpstream, type TestUpstream } from '../calls/protocols/support/upstream.ts';
import { openSse } from '../calls/stream/support/sse-client.ts';
import { contradictions } from '../support/books.ts';
import type { Harness } from '../support/harness.ts';
import { borrowHarness } from '../support/lent-harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../support/treasury.ts';
import { until } from '../support/until.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

const perUsage = {
  prices: [
    { unit: 'input_token', price: '0.000001' },
    { unit: 'output_token', price: '0.00001' },
  ],
  maximum: '0.50',
};
/** Comes to 0.0115 USDC, rounded down to a micro-USDC. */
const usage = {
  units: [
    { unit: 'input_token', quantity: '1500' },
    { unit: 'output_token', quantity: '1000.05' },
  ],
  model: 'small-1',
};

let h: Harness;
let owner: Awaited<ReturnType<Harness['newAccount']>>;
let agent: TestAgent;
beforeAll(async () => {
  h = await borrowHarness();
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.005', metadata: { perUsage } });
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await agent.die();
  await h.stop();
});

const answered = (given: unknown) => answerWith(200, { result: { text: 'done' }, ...(given ? { usage: given } : {}) });
const invoke = (key: string | undefined, body: object = {}, headers: Record<string, string> = {}, path?: string) =>
  h.request('POST', path ?? `/invoke/${agent.id}`, {
    key,
    body: { task: 'work', ...body },
    headers: { 'x-sync': 'true', ...headers },
  });

describe('a call of an agent that is paid by usage', () => {
  it('holds its maximum while it runs, and costs what it used', async () => {
    const { key } = await newClient(h, '1.00');
    const asked = Promise.withResolvers<ServerResponse>();
    agent.behave((_request, response) => asked.resolve(response));
    const calling = invoke(key);
    const response = await asked.promise;
    expect(await balanceOf(h, key)).toEqual({ available: '0.50', held: '0.50' });
    answered(usage)({ headers: {}, body: null }, response);
    const { data } = (await calling).body;
    expect(data).toMatchObject({ status: 'completed', cost: '0.0115', refund: '0.4885' });
    expect(data.usage).toEqual({
      ...usage,
      ...{ durationMs: expect.any(Number), source: 'agent', rated: '0.0115' },
      measured: { inputBytes: 6, resultBytes: expect.any(Number) },
    });
    expect(await balanceOf(h, key)).toEqual({ available: '0.9885', held: '0.00' });
    const read = await h.request('GET', `/invoke/${data.requestId}`, { key });
    expect(read.body.data.usage).toEqual(data.usage);
  });

  it.each<[string, unknown, string]>([
    ['no usage', null, '0.005'],
    ['a broken usage', { units: [{ unit: 'output_token', quantity: '1e9' }] }, '0.005'],
    ['usage below the least price', { units: [{ unit: 'output_token', quantity: '1' }] }, '0.005'],
    ['usage above the maximum', { units: [{ unit: 'output_token', quantity: '999999999999' }] }, '0.50'],
    ['a unit without a price', { units: [{ unit: 'page', quantity: '999' }] }, '0.005'],
    ['the usage of a model API', { prompt_tokens: 0, completion_tokens: 700 }, '0.007'],
  ])('with %s costs %o as agreed', async (_what, given, cost) => {
    const { key } = await newClient(h, '1.00');
    agent.behave(answered(given));
    expect((await invoke(key)).body.data).toMatchObject({ status: 'completed', cost });
    expect((await balanceOf(h, key)).held).toBe('0.00');
  });

  it('costs less when the agent itself asks for less, and nothing when it fails', async () => {
    const { key } = await newClient(h, '1.00');
    agent.behave(answerWith(200, { result: 1, usage, cost: '0.01' }));
    expect((await invoke(key)).body.data).toMatchObject({ status: 'completed', cost: '0.01' });
    agent.behave(answerWith(500, { error: { message: 'no' }, usage }));
    const { data } = (await invoke(key)).body;
    expect(data).toMatchObject({ status: 'failed', cost: '0.00', refund: '0.50' });
    expect(data.usage).toBeUndefined();
  });

  it('with a limit below the maximum is refused before anything is held, and told why', async () => {
    const { key } = await newClient(h, '1.00');
    const calls = agent.calls.length;
    const { status, body } = await invoke(key, { maxCost: '0.49' });
    expect([status, body.error.details.fields]).toEqual([
      400,
      [
        {
          path: 'maxCost',
          message:
            'is below the most that a call may cost, 0.50 USDC: its price follows what it uses, which is known afterwards; the most is held, and the rest given back',
        },
      ],
    ]);
    expect(agent.calls.length).toBe(calls);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    const bulk = { agents: [agent.id], task: 'work', strategy: 'all', maxCostPerAgent: '0.49' };
    const refused = await h.request('POST', '/invoke/bulk', { key, body: bulk });
    expect(refused.body.error.details.fields[0].message).toContain('0.50 USDC: its price follows what it uses');
  });

  it('in a bulk request costs what each used', async () => {
    const { key } = await newClient(h, '1.00');
    agent.behave(answered(usage));
    const other = await startTestAgent(h, {
      owner,
      perRequest: '0.01',
      metadata: { perUsage: { ...perUsage, maximum: '0.4' } },
    });
    other.behave(answered(null));
    const body = { agents: [agent.id, other.id], task: 'work', strategy: 'all' };
    const { data } = (await h.request('POST', '/invoke/bulk', { key, body })).body;
    const done = await until(async () => {
      const read = (await h.request('GET', `/invoke/bulk/${data.bulkId}`, { key })).body.data;
      return read.status === 'completed' ? read : null;
    });
    expect(done.cost).toBe('0.0215');
    expect(await balanceOf(h, key)).toEqual({ available: '0.9785', held: '0.00' });
    await other.die();
  });

  it.each([
    ['v2', payV2],
    ['v1', payV1],
  ])('paid by x402 %s for its maximum, gives the rest back to the wallet', async (_version, pay) => {
    agent.behave(answered(usage));
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const unpaid = await invoke(key, {}, { 'x-payment-method': 'x402' });
    expect(unpaid.body.accepts[0].maxAmountRequired ?? unpaid.body.accepts[0].amount).toBe('500000');
    expect(JSON.stringify(unpaid.body)).toContain('0.005 USDC or what it uses, the rest is returned');
    const paid = await invoke(key, {}, await pay(h, wallet, unpaid));
    expect(paid.body.data).toMatchObject({ status: 'completed', cost: '0.0115', refund: '0.4885' });
    expect(await until(async () => ((await h.usdcOf(wallet.address)) === 988_500n ? true : null))).toBe(true);
  });

  it('has a receipt of version 2, which shows the usage; others stay of version 1', async () => {
    const { key } = await newClient(h, '1.00');
    agent.behave(answered(usage));
    const { data } = (await invoke(key)).body;
    const receipt = (await h.request('GET', `/invoke/${data.requestId}/receipt`, { key })).body.data;
    const hash = `0x${createHash('sha256').update(canonicalJson(data.usage)).digest('hex')}`;
    expect(receipt.domain.version).toBe('2');
    expect(receipt.message).toMatchObject({ cost: '11500', usageHash: hash, filesHash: `0x${'0'.repeat(64)}` });
    const { wallet } = h.ctx.chain;
    expect(await verifyReceipt(receipt, { wallet, usage: data.usage, task: 'work' })).toMatchObject({
      usageHash: hash,
    });
    const other = { ...data.usage, rated: '0.01' };
    await expect(verifyReceipt(receipt, { wallet, usage: other })).rejects.toMatchObject({ reason: 'other_usage' });
    const changed = { ...receipt, message: { ...receipt.message, usageHash: `0x${'1'.repeat(64)}` } };
    await expect(verifyReceipt(changed, { wallet })).rejects.toMatchObject({ reason: 'wrong_signature' });
    const plain = await startTestAgent(h, { owner });
    const { requestId } = (await invoke(key, {}, {}, `/invoke/${plain.id}`)).body.data;
    const old = (await h.request('GET', `/invoke/${requestId}/receipt`, { key })).body.data;
    expect([old.domain.version, old.message.usageHash]).toEqual(['1', undefined]);
    expect(await verifyReceipt(old, { wallet })).toMatchObject({ requestId });
    await plain.die();
  });
});

describe('a quote of such an agent', () => {
  it('says from what to what, with the medians of its last calls, and locks its prices', async () => {
    const { key } = await newClient(h, '5.00');
    const priced = await startTestAgent(h, { owner, perRequest: '0.005', metadata: { perUsage } });
    const path = `/invoke/${priced.id}`;
    const quote = async () => (await h.request('POST', `${path}/quote`, { key, body: { task: 'work' } })).body.data;
    expect((await quote()).usage).toEqual({
      ...{ from: '0.005', atMost: '0.50', prices: perUsage.prices },
      recent: { calls: 0, cost: null, units: [] },
    });
    for (const tokens of ['1000', '3000', '2000']) {
      priced.behave(answered({ units: [{ unit: 'output_token', quantity: tokens }] }));
      expect((await invoke(key, {}, {}, path)).status).toBe(200);
    }
    const { usage: quoted, estimatedCost, breakdown, acceptUrl } = await quote();
    expect([estimatedCost, quoted.recent]).toEqual([
      '0.50',
      { calls: 3, cost: '0.02', units: [{ unit: 'output_token', quantity: '2000' }] },
    ]);
    expect(breakdown.explanation).toBe(
      'the higher of 0.005 per request, and 0.000001 per input token and 0.00001 per output token, at most 0.50 USDC',
    );
    const dearer = { perUsage: { prices: [{ unit: 'output_token', price: '0.0001' }], maximum: '1.00' } };
    const change = { key: owner.key, body: { metadata: dearer } };
    expect((await h.request('PUT', `/agents/${priced.id}`, change)).status).toBe(200);
    expect((await invoke(key, {}, {}, acceptUrl)).body.data).toMatchObject({ cost: '0.02', refund: '0.48' });
    await priced.die();
  });
});

describe('an owner', () => {
  const register = (metadata: object, perRequest = '0.01') =>
    h.request('POST', '/agents', {
      key: owner.key,
      body: {
        ...{ name: 'Priced', capabilities: ['testing'], rates: { perRequest }, metadata },
        endpoint: agent.endpoint,
      },
    });

  it.each<[string, object, string, RegExp]>([
    ['without a maximum', { perUsage: { prices: perUsage.prices } }, 'metadata.perUsage.maximum', /./],
    ['without a price', { perUsage: { prices: [], maximum: '1' } }, 'metadata.perUsage.prices', /./],
    [
      'with one unit twice',
      { perUsage: { prices: [perUsage.prices[0], perUsage.prices[0]], maximum: '1' } },
      'metadata.perUsage.prices',
      /twice/,
    ],
    [
      'with an unknown unit',
      { perUsage: { prices: [{ unit: 'row', price: '1' }], maximum: '1' } },
      'metadata.perUsage.prices.0.unit',
      /x-/,
    ],
    [
      'with thirteen decimals',
      { perUsage: { prices: [{ unit: 'page', price: '0.0000000000001' }], maximum: '1' } },
      'metadata.perUsage.prices.0.price',
      /12 decimals/,
    ],
    ['beside hints', { perUsage, priceHints: true }, 'metadata.perUsage', /priceHints/],
    [
      'beside steps of size',
      { perUsage, sizeSteps: [{ aboveBytes: 2048, multiplier: '2' }] },
      'metadata.perUsage',
      /sizeSteps/,
    ],
    [
      'beside units',
      { perUsage, perUnit: { price: '0.1', unit: 'page', count: '/pages', measure: 'number', maximum: '1' } },
      'metadata.perUsage',
      /perUnit/,
    ],
    [
      'with a maximum below the least price',
      { perUsage: { ...perUsage, maximum: '0.001' } },
      'metadata.perUsage.maximum',
      /0\.01/,
    ],
  ])('is refused a price by usage %s', async (_what, metadata, path, message) => {
    const { status, body } = await register(metadata);
    expect([status, body.error.details.fields[0].path]).toEqual([400, path]);
    expect(body.error.details.fields[0].message).toMatch(message);
  });

  it('is refused a change that makes two prices of one, or the least the most', async () => {
    const change = (body: object) => h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body });
    expect((await change({ metadata: { priceHints: true } })).status).toBe(400);
    expect((await change({ rates: { perRequest: '0.51' } })).status).toBe(400);
    const metadata = { metadata: { priceHints: true } };
    const own = await h.request('PUT', `/identity/${agent.id}/metadata`, { key: owner.key, body: metadata });
    expect(own.status).toBe(400);
  });

  it('who charges more for a unit needs new consent, although the maximum is the same', async () => {
    const { key } = await newClient(h, '5.00');
    const priced = await startTestAgent(h, { owner, perRequest: '0.005', metadata: { perUsage } });
    const path = `/invoke/${priced.id}`;
    expect((await invoke(key, {}, {}, path)).status).toBe(200);
    const raised = { ...perUsage, prices: [perUsage.prices[0], { unit: 'output_token', price: '0.00002' }] };
    const change = { key: owner.key, body: { metadata: { perUsage: raised } } };
    expect((await h.request('PUT', `/agents/${priced.id}`, change)).status).toBe(200);
    const refused = await invoke(key, {}, {}, path);
    expect([refused.status, refused.body.error.details.reason]).toEqual([409, 'price_raised']);
    expect(refused.body.error.message).toContain('0.00002 USDC for each output token');
    expect((await invoke(key, { maxCost: '0.50' }, {}, path)).status).toBe(200);
    expect((await invoke(key, {}, {}, path)).status).toBe(200);
    await priced.die();
  });

  it('and the caller are shown a claim that is far from the usual of the agent', async () => {
    const { key } = await newClient(h, '5.00');
    const priced = await startTestAgent(h, { owner, perRequest: '0.001', metadata: { perUsage } });
    const path = `/invoke/${priced.id}`;
    const claim = async (quantity: string) => {
      priced.behave(answered({ units: [{ unit: 'output_token', quantity }] }));
      return (await invoke(key, {}, {}, path)).body.data.requestId as string;
    };
    const ids: string[] = [];
    for (let at = 0; at < 10; at++) ids.push(await claim('100'));
    ids.push(await claim('1000'));
    const detail = (id = '') => h.request('GET', `/invoke/${id}?detail=true`, { key });
    expect((await detail(ids[9])).body.data.detail.usage.units[0]).toMatchObject({ times: 1, isFar: false });
    expect((await detail(ids[10])).body.data.detail.usage).toEqual({
      calls: 10,
      units: [{ unit: 'output_token', times: expect.closeTo(10, 0), isFar: true }],
    });
    const { calls } = (await h.request('GET', `/agents/${priced.id}/calls`, { key: owner.key })).body.data;
    expect(calls[0]).toMatchObject({
      usage: { source: 'agent', units: [{ quantity: '1000' }] },
      usageComparison: { units: [{ isFar: true }] },
    });
    expect(calls[1].usageComparison.units[0]).toMatchObject({ isFar: false });
    await priced.die();
  });
});

describe('a streamed call that its caller ends early', () => {
  it('costs the output that was shown, by the measure of the node', async () => {
    const { key } = await newClient(h, '1.00');
    const shown = 'word '.repeat(1000);
    agent.behave((_request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`event: chunk\ndata: ${JSON.stringify({ chunk: shown })}\n\n`);
    });
    const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'work', stream: true } }))
      .body;
    const stream = await openSse(h, 'GET', `/invoke/${data.requestId}/events`, { key });
    for (let next = await stream.next(); next?.type !== 'invocation.chunk'; next = await stream.next());
    await stream.hangUp();
    await h.request('POST', `/invoke/${data.requestId}/cancel`, { key, body: {} });
    const record = await untilEnded(h, key, data.requestId);
    // 5,000 bytes of text count as 1,250 tokens; six of the task as one.
    expect(record).toMatchObject({ status: 'cancelled', cost: '0.012501', refund: '0.487499' });
    expect(record.usage).toMatchObject({
      source: 'node',
      units: [
        { unit: 'input_token', quantity: '1' },
        { unit: 'output_token', quantity: '1250' },
      ],
    });
    expect((await balanceOf(h, key)).held).toBe('0.00');
  });

  it('costs nothing when nothing was shown', async () => {
    const { key } = await newClient(h, '1.00');
    agent.behave(
      (_request, response) => void response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders(),
    );
    const { data } = (await h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'work', stream: true } }))
      .body;
    await h.request('POST', `/invoke/${data.requestId}/cancel`, { key, body: {} });
    const record = await untilEnded(h, key, data.requestId);
    expect(record).toMatchObject({ status: 'cancelled', cost: '0.00' });
    expect(record.usage).toBeUndefined();
    agent.behave(echo);
  });
});

describe('an OpenAI-compatible upstream paid by tokens', () => {
  const tokens = { prompt_tokens: 1200, completion_tokens: 310, total_tokens: 1510 };
  const details = {
    prompt_tokens_details: { cached_tokens: 1000 },
    completion_tokens_details: { reasoning_tokens: 200 },
  };
  const tokenPrices = {
    prices: [
      { unit: 'input_token', price: '0.000002' },
      { unit: 'cached_input_token', price: '0.0000005' },
      { unit: 'output_token', price: '0.000008' },
    ],
    maximum: '0.10',
  };
  let site: TestUpstream;
  let modelId = '';
  let streamTail: object[] = [];
  beforeAll(async () => {
    site = await startUpstream(() => ({
      ...{ protocol: 'openai', path: '/v1', upstream: { model: 'm' } },
      isWork: ({ method }) => method === 'POST',
      answer({ method, body }, _request, response) {
        if (method === 'GET') return json(response, 200, { object: 'list', data: [{ id: 'm', object: 'model' }] });
        const head = { id: 'c', created: 1, model: 'm-2026' };
        if (!body.stream) {
          const message = { role: 'assistant', content: 'Hello' };
          const choices = [{ index: 0, message, finish_reason: 'stop' }];
          return json(response, 200, { ...head, choices, usage: { ...tokens, ...details } });
        }
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        const send = (value: object) => response.write(`data: ${JSON.stringify({ ...head, ...value })}\n\n`);
        send({ choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }], usage: null });
        send({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage: null });
        for (const event of streamTail) send(event);
        response.end('data: [DONE]\n\n');
      },
    }));
    const options = { owner, perRequest: '0.0001', metadata: { perUsage: tokenPrices } };
    modelId = (await listUpstream(h, site, options)).id;
  });
  afterAll(() => site.stop());
  /** 200 × 0.000002 + 1,000 × 0.0000005 + 310 × 0.000008 */
  const cost = '0.00338';
  const units = [
    { unit: 'input_token', quantity: '200' },
    { unit: 'cached_input_token', quantity: '1000' },
    { unit: 'output_token', quantity: '310' },
  ];

  it('costs what its answer says, and shows it in REST', async () => {
    const { key } = await newClient(h, '1.00');
    const { data } = (await invoke(key, {}, {}, `/invoke/${modelId}`)).body;
    expect(data).toMatchObject({ status: 'completed', cost });
    expect(data.usage).toMatchObject({ units, model: 'm-2026', source: 'upstream', rated: cost });
  });

  it.each<[string, object[]]>([
    ['in the last chunk, without choices', [{ choices: [], usage: { ...tokens, ...details } }]],
    [
      'in the last two chunks',
      [
        { choices: [], usage: { ...tokens, ...details } },
        { choices: [], usage: { ...tokens, ...details } },
      ],
    ],
    [
      'before an empty object',
      [
        { choices: [], usage: { ...tokens, ...details } },
        { choices: [], usage: {} },
      ],
    ],
    [
      'growing from chunk to chunk',
      [
        { choices: [], usage: { ...tokens, completion_tokens: 7, total_tokens: 1207 } },
        { choices: [], usage: { ...tokens, ...details } },
      ],
    ],
  ])('streamed costs the same, with its usage %s', async (_what, tail) => {
    streamTail = tail;
    const { key } = await newClient(h, '1.00');
    const started = await h.request('POST', `/invoke/${modelId}`, { key, body: { task: 'work', stream: true } });
    const record = await untilEnded(h, key, started.body.data.requestId);
    expect(record).toMatchObject({ status: 'completed', cost, usage: { units, source: 'upstream' } });
  });

  it('is paid to its owner, and fills the usage of each gateway', async () => {
    const { key } = await newClient(h, '1.00');
    const chat = await h.request('POST', '/v1/chat/completions', {
      key,
      body: { model: modelId, messages: [{ role: 'user', content: 'Hi' }] },
    });
    expect(chat.body.usage).toEqual({
      ...{ prompt_tokens: 1200, completion_tokens: 310, total_tokens: 1510, cost: Number(cost) },
      prompt_tokens_details: { cached_tokens: 1000 },
    });
    const response = await h.request('POST', '/v1/responses', { key, body: { model: modelId, input: 'Hi' } });
    expect(response.body.usage).toMatchObject({
      ...{ input_tokens: 1200, output_tokens: 310, total_tokens: 1510, cost: Number(cost) },
      input_tokens_details: { cached_tokens: 1000 },
    });
    expect(response.body.agent_network.usage).toMatchObject({ units, source: 'upstream' });
  });
});
