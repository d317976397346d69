import { verifyReceiptSignatureEIP712 } from '@x402/extensions/offer-receipt';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TASKS } from '../../../../src/http/gateways/mcp/tasks.ts';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { answerWith, type Behaviour, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../../support/treasury.ts';
import { paymentOf } from '../../../support/x402-payer.ts';
import { modern } from './raw-client.ts';
import { stockClients } from './stock-clients.ts';

let h: Harness;
let buyer: Client;
let agent: TestAgent;
let slow: TestAgent;
let failing: TestAgent;
let streaming: TestAgent;
let release: () => void = () => undefined;
/** Answers once it is released. */
const held: Behaviour = (request, response) => {
  release = () => void echo(request, response);
};

beforeAll(async () => {
  h = await borrowHarness();
  buyer = await newClient(h, '10');
  const capabilities = ['mcp-test'];
  [agent, slow, failing, streaming] = await Promise.all([
    startTestAgent(h, { name: 'Echo', capabilities, perRequest: '0.05' }),
    startTestAgent(h, {
      name: 'Slow',
      behaviour: held,
    }),
    startTestAgent(h, { name: 'Failing', behaviour: answerWith(500, { error: 'no' }) }),
    startTestAgent(h, {
      name: 'Streaming',
      behaviour: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: chunk\ndata: one\n\n');
        response.write('event: chunk\ndata: {"text":"two"}\n\n');
        response.write('event: progress\ndata: {"fraction":0.75,"message":"almost"}\n\n');
        response.end('event: result\ndata: {"result":{"text":"one two"}}\n\n');
      },
    }),
  ]);
});
afterAll(async () => {
  await Promise.all([agent, slow, failing, streaming].map((each) => each?.die()));
  await h?.stop();
});

describe.each(stockClients)('%s', (_name, connect, { protocolVersion, sendsMeta, asksProgress }) => {
  const open = (key?: string, path = '/mcp') => connect(h.baseUrl + path, key);

  it('finds an agent, reads its price and pays it from the treasury', async () => {
    const client = await open(buyer.key);
    expect(client.protocolVersion).toBe(protocolVersion);
    const names = (await client.listTools()).map(({ name }) => name);
    expect(names).toEqual([
      'search_agents',
      'match_agents',
      'get_agent',
      'quote_invocation',
      'invoke_agent',
      'invoke_best',
      'get_invocation',
      'answer_invocation',
      'cancel_invocation',
      'upload_file',
      'get_balance',
    ]);
    const found = await client.call('search_agents', { capabilities: ['mcp-test'] });
    expect(found.data).toEqual({
      agents: [
        {
          agentId: agent.id,
          name: 'Echo',
          description: 'An agent of a test.',
          capabilities: ['mcp-test'],
          price: '0.05',
          reputation: expect.any(Number),
          online: true,
          verified: true,
        },
      ],
      total: 1,
      nextCursor: null,
    });
    expect(JSON.parse(found.text)).toEqual(found.data);
    expect((await client.call('get_agent', { agentId: agent.id })).data.agent.name).toBe('Echo');
    const quote = await client.call('quote_invocation', { agentId: agent.id, task: 'Say hello.' });
    expect(quote.data.estimatedCost).toBe('0.05');
    const before = Number((await client.call('get_balance', {})).data.available);
    const { quoteId } = quote.data;
    const bought = await client.call('invoke_agent', {
      ...{ agentId: agent.id, task: 'Say hello.', maxCost: '0.05', quoteId },
      input: { a: 1 },
    });
    expect(bought).toMatchObject({ isError: false, data: { status: 'completed', cost: '0.05' } });
    expect(bought.data.result).toEqual({ echo: 'Say hello.', input: { a: 1 } });
    expect(Number((await balanceOf(h, buyer.key)).available)).toBeCloseTo(before - 0.05, 6);
    const { requestId } = bought.data;
    const again = await client.call('get_invocation', { requestId });
    expect(again.data).toEqual(bought.data);
    expect((await h.request('GET', `/invoke/${requestId}`, { key: buyer.key })).body.data).toEqual(bought.data);
    await client.close();
  });

  it.runIf(sendsMeta)('pays with x402, and the same payment again gives the same record', async () => {
    const { key } = await h.newAccount();
    const client = await open(key);
    const args = { agentId: agent.id, task: 'Paid with the call.', maxCost: '0.05' };
    const terms = await client.call('invoke_agent', args);
    expect(terms).toMatchObject({
      isError: true,
      data: { x402Version: 2, error: 'Payment required', resource: { url: 'mcp://tool/invoke_agent' } },
    });
    expect(JSON.parse(terms.text)).toEqual(terms.data);
    const payment = await paymentOf(h, await h.newWallet(), terms.data);
    const paid = await client.call('invoke_agent', args, { meta: { 'x402/payment': payment } });
    expect(paid).toMatchObject({ isError: false, data: { status: 'completed', paymentMethod: 'x402', cost: '0.05' } });
    const settlement = { success: true, network: h.ctx.chain.caip2, transaction: paid.data.paymentHash };
    expect(paid.meta['x402/payment-response']).toMatchObject(settlement);
    const { receipt } = paid.meta['x402/payment-response'].extensions['offer-receipt'].info;
    const { signer, payload } = await verifyReceiptSignatureEIP712(receipt);
    expect(signer.toLowerCase()).toBe(h.ctx.chain.wallet);
    expect(payload).toMatchObject({ resourceUrl: 'mcp://tool/invoke_agent', transaction: paid.data.paymentHash });
    const calls = agent.calls.length;
    const again = await client.call('invoke_agent', args, { meta: { 'x402/payment': payment } });
    expect(again.data).toEqual(paid.data);
    expect(again.meta['x402/payment-response']).toEqual(paid.meta['x402/payment-response']);
    expect(agent.calls.length).toBe(calls);
    await client.close();
  });

  it.runIf(sendsMeta)('pays with x402 without a key, and reads on by the token of the answer', async () => {
    const client = await open();
    const args = { agentId: agent.id, task: 'Without a key.', maxCost: '0.05' };
    const terms = await client.call('invoke_agent', args);
    expect(terms).toMatchObject({
      isError: true,
      data: { x402Version: 2, resource: { url: 'mcp://tool/invoke_agent' } },
    });
    const meta = { 'x402/payment': await paymentOf(h, await h.newWallet(), terms.data) };
    const paid = await client.call('invoke_agent', args, { meta });
    expect(paid).toMatchObject({ isError: false, data: { status: 'completed', paymentMethod: 'x402' } });
    expect(paid.meta['x402/payment-response']).toMatchObject({ success: true, transaction: paid.data.paymentHash });
    expect((await client.call('invoke_agent', args, { meta })).data).toEqual(paid.data);
    const { resultToken, ...record } = paid.data;
    const { requestId } = record;
    expect((await client.call('get_invocation', { requestId, resultToken })).data).toEqual(record);
    const headers = { 'x-result-token': resultToken };
    expect((await h.request('GET', `/invoke/${requestId}`, { headers })).body.data).toEqual(record);
    for (const wrong of [{}, { resultToken: 'anr_x' }]) {
      const refused = await client.call('get_invocation', { requestId, ...wrong });
      expect(refused).toMatchObject({
        isError: true,
        data: { error: { code: expect.stringMatching(/UNAUTHORIZED|VALIDATION/) } },
      });
    }
    const quoted = await client.call('invoke_agent', { ...args, quoteId: 'qte_1' });
    expect(quoted.data.error.code).toBe('VALIDATION_ERROR');
    const open402 = {
      ...meta['x402/payment'],
      accepted: { ...(meta['x402/payment'] as { accepted: object }).accepted, extra: {} },
    };
    const stranger = await client.call('invoke_agent', args, { meta: { 'x402/payment': open402 } });
    expect(JSON.stringify(stranger.data)).not.toContain('Without a key.');
    await client.close();
  });

  it.runIf(sendsMeta)('waits no longer than it asked for, of which the settlement is a part', async () => {
    const client = await open();
    const args = { agentId: slow.id, task: `Settle by ${_name}.`, maxCost: '0.05', waitSeconds: 37.0005 };
    const terms = (await client.call('invoke_agent', args)).data;
    const meta = { 'x402/payment': await paymentOf(h, await h.newWallet(), terms) };
    const calls = slow.calls.length;
    using timeouts = vi.spyOn(AbortSignal, 'timeout');
    const waits = () => timeouts.mock.calls.flatMap(([ms]) => (ms > 30_000 && ms <= 37_001 ? [ms] : []));
    const paid = client.call('invoke_agent', args, { meta, onprogress: () => undefined });
    await expect.poll(() => [slow.calls.length, waits().length]).toEqual([calls + 1, 1]);
    release();
    expect((await paid).data).toMatchObject({ status: 'completed', resultToken: expect.any(String) });
    expect(waits()[0]).toBeLessThan(37_000);
    await client.close();
  });

  it.runIf(!sendsMeta)('gets the terms of x402, though it cannot send a payment', async () => {
    const client = await open((await h.newAccount()).key);
    const calls = agent.calls.length;
    const terms = await client.call('invoke_agent', { agentId: agent.id, task: 'Unpaid.', maxCost: '0.05' });
    expect(terms).toMatchObject({ isError: true, data: { x402Version: 2, error: 'Payment required' } });
    expect(agent.calls.length).toBe(calls);
    await client.close();
  });

  it.runIf(asksProgress)('gets the progress of a stream', async () => {
    const client = await open(buyer.key);
    const told: string[] = [];
    const moved: { progress: number; total?: number | undefined }[] = [];
    const { data } = await client.call(
      'invoke_agent',
      { agentId: streaming.id, task: 'Stream.', maxCost: '0.05' },
      {
        onprogress({ message, progress, total }) {
          told.push(message ?? '');
          moved.push({ progress, total });
        },
      },
    );
    expect(data).toMatchObject({ status: 'completed', result: { text: 'one two' } });
    expect(told).toEqual(['pending', 'processing', 'one', 'two', 'almost', 'completed']);
    expect(moved[4]).toEqual({ progress: 75, total: 100 });
    for (const [index, { progress }] of moved.entries())
      expect(progress).toBeGreaterThan(moved[index - 1]?.progress ?? 0);
    await client.close();
  });

  it('goes on with a request that has not ended, and cancels one', async () => {
    const client = await open(buyer.key);
    const args = { agentId: slow.id, task: 'Take your time.', maxCost: '0.05', waitSeconds: 0 };
    const first = await client.call('invoke_agent', args);
    expect(first).toMatchObject({ isError: false, data: { status: 'processing' } });
    const { requestId } = first.data;
    await expect.poll(() => slow.calls.at(-1)?.body.request_id).toBe(requestId);
    release();
    const ended = await client.call('get_invocation', { requestId, waitSeconds: 20 });
    expect(ended.data).toMatchObject({ requestId, status: 'completed' });
    const second = await client.call('invoke_agent', args);
    const cancelled = await client.call('cancel_invocation', { requestId: second.data.requestId });
    expect(cancelled.data).toMatchObject({ cancelled: true, refund: '0.05' });
    const read = await client.call('get_invocation', { requestId: second.data.requestId });
    expect(read).toMatchObject({ isError: false, data: { status: 'cancelled' } });
    await client.close();
  });

  it('is refunded when the agent fails', async () => {
    const client = await open(buyer.key);
    const before = await balanceOf(h, buyer.key);
    const failed = await client.call('invoke_agent', { agentId: failing.id, task: 'Fail.', maxCost: '0.05' });
    expect(failed).toMatchObject({
      isError: true,
      data: { status: 'failed', refund: '0.05', error: { code: 'agent_error' } },
    });
    expect(await balanceOf(h, buyer.key)).toEqual(before);
    const read = await client.call('get_invocation', { requestId: failed.data.requestId });
    expect(read).toMatchObject({ isError: false, data: { status: 'failed' } });
    await client.close();
  });

  it('gets the error: a bad key, insufficient money, no key, bad arguments', async () => {
    await expect(open(`${buyer.key}x`)).rejects.toThrow();
    const poor = await newClient(h, '0.01');
    const client = await open(poor.key);
    const args = { agentId: agent.id, task: 'Too dear.', maxCost: '0.05' };
    const short = await client.call('invoke_agent', args);
    expect(short).toMatchObject({ isError: true, data: { error: { code: 'INSUFFICIENT_FUNDS' } } });
    const capped = await client.call('invoke_agent', { ...args, maxCost: '0.01' });
    expect(capped).toMatchObject({ isError: true, data: { error: { code: 'VALIDATION_ERROR' } } });
    const wrong = await client.call('invoke_agent', { ...args, max_cost: '1' });
    expect(wrong).toMatchObject({ isError: true, data: { error: { code: 'VALIDATION_ERROR' } } });
    await expect(client.call('no_such_tool', {})).rejects.toMatchObject({ code: -32602 });
    await client.close();
    const keyless = await open();
    expect((await keyless.call('search_agents', {})).data.total).toBeGreaterThan(0);
    const balance = await keyless.call('get_balance', {});
    expect(balance).toMatchObject({ isError: true, data: { error: { code: 'UNAUTHORIZED' } } });
    await keyless.close();
  });

  it('buys once under an idempotency key, also in a storm of retries', async () => {
    const client = await open(buyer.key);
    const idempotencyKey = `storm-${protocolVersion}-${_name.length}`;
    const args = { agentId: agent.id, task: 'Once.', maxCost: '0.05', idempotencyKey };
    const calls = agent.calls.length;
    const answers = await Promise.all(Array.from({ length: 8 }, () => client.call('invoke_agent', args)));
    const bought = answers.filter(({ isError }) => !isError);
    expect(bought.length).toBeGreaterThan(0);
    for (const { data } of answers.filter(({ isError }) => isError)) expect(data.error.code).toBe('CONFLICT');
    expect(new Set(bought.map(({ data }) => data.requestId)).size).toBe(1);
    const again = await client.call('invoke_agent', args);
    expect(again.data).toMatchObject({ requestId: bought[0]?.data.requestId, status: 'completed' });
    expect(agent.calls.length).toBe(calls + 1);
    const other = await client.call('invoke_agent', { ...args, task: 'Another.' });
    expect(other).toMatchObject({ isError: true, data: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } });
    await client.close();
  });

  it('invokes one agent at its own endpoint', async () => {
    const client = await open(buyer.key, `/agents/${agent.id}/mcp`);
    const tools = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'invoke',
      'get_invocation',
      'answer_invocation',
      'cancel_invocation',
      'upload_file',
    ]);
    expect(tools[0]).toMatchObject({ title: 'Echo', description: expect.stringContaining('0.05 USDC') });
    const { data } = await client.call('invoke', { task: 'Directly.', maxCost: '0.05' });
    expect(data).toMatchObject({ agentId: agent.id, status: 'completed', result: { echo: 'Directly.' } });
    await client.close();
  });

  it('reads at the endpoint of an agent what it bought there, also once the agent is removed', async () => {
    const owner = await h.newAccount();
    const going = await startTestAgent(h, { owner, behaviour: held });
    const path = `/agents/${going.id}/mcp`;
    const client = await open(buyer.key, path);
    const args = { task: 'Before you go.', maxCost: '0.05', waitSeconds: 0, idempotencyKey: `going-${going.id}` };
    const { requestId } = (await client.call('invoke', args)).data;
    await expect.poll(() => going.calls.length).toBe(1);
    expect((await h.request('DELETE', `/agents/${going.id}`, { key: owner.key })).status).toBe(200);
    release();
    const late = await open(buyer.key, path);
    const read = (await late.call('get_invocation', { requestId, waitSeconds: 20 })).data;
    expect(read).toMatchObject({ requestId, status: 'completed', result: { echo: 'Before you go.' } });
    expect((await late.call('invoke', args)).data).toEqual(read);
    const { headers, body } = modern('tasks/get', { taskId: requestId }, { extensions: { [TASKS]: {} } });
    const task = await h.request('POST', path, { key: buyer.key, headers, body });
    expect(task.body.result).toMatchObject({ taskId: requestId, status: 'completed' });
    const another = await late.call('invoke', { task: 'Come back.', maxCost: '0.05' });
    expect(another).toMatchObject({ isError: true, data: { error: { code: 'NOT_FOUND' } } });
    const tools = (await late.listTools()).map(({ name }) => name);
    expect(tools).toEqual(['get_invocation', 'answer_invocation', 'cancel_invocation']);
    await Promise.all([client.close(), late.close(), going.die()]);
  });

  it.each([
    ['under its key', (task: string) => ({ idempotencyKey: task.replaceAll(/\W/g, '-') })],
    ['without a key', () => ({})],
  ] as [string, (task: string) => { idempotencyKey?: string }][])(
    'gives up on a call, and the identical call %s is the same purchase',
    async (how, keyFor) => {
      const client = await open(buyer.key);
      const gone = new AbortController();
      const before = slow.calls.length;
      const task = `Left alone ${how} by ${_name}.`;
      const args = { agentId: slow.id, task, maxCost: '0.05', ...keyFor(task) };
      const { available } = await balanceOf(h, buyer.key);
      const call = client.call('invoke_agent', args, { signal: gone.signal }).catch(() => null);
      await expect.poll(() => slow.calls.length).toBe(before + 1);
      gone.abort();
      await call;
      release();
      const again = await client.call('invoke_agent', args);
      expect(again.data).toMatchObject({ status: 'completed', result: { echo: task } });
      expect((await untilEnded(h, buyer.key, again.data.requestId)).status).toBe('completed');
      expect(slow.calls.length).toBe(before + 1);
      const spent = Number(available) - Number((await balanceOf(h, buyer.key)).available);
      expect(spent).toBeCloseTo(0.05, 6);
      await client.close();
    },
  );
});
