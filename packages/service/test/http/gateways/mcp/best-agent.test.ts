import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TASKS } from '../../../../src/http/gateways/mcp/tasks.ts';
import { contradictions, walletByBooks } from '../../../support/books.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, newClient } from '../../../support/treasury.ts';
import { paymentOf } from '../../../support/x402-payer.ts';
import { callTool, modern } from './raw-client.ts';
import { stockClients } from './stock-clients.ts';

// match_agents ranks as POST /agents/match does; invoke_best buys as POST /invoke/auto does, by the rules of invoke_agent.

let h: Harness;
let best: TestAgent;
let second: TestAgent;
let slow: TestAgent;
let failing: TestAgent;
let streaming: TestAgent;
const held: (() => void)[] = [];
const release = () => {
  for (const answer of held.splice(0)) answer();
};

const task = 'Please translate the contract into German';
const capabilities = ['best-test'];

beforeAll(async () => {
  h = await startHarness();
  [best, second, slow, failing, streaming] = await Promise.all([
    startTestAgent(h, { name: 'German contract translator', capabilities, perRequest: '0.05' }),
    startTestAgent(h, { name: 'Contract translator', capabilities, perRequest: '0.04' }),
    startTestAgent(h, {
      ...{ name: 'Sleeper', perRequest: '0.05' },
      behaviour: (request, response) => void held.push(() => void echo(request, response)),
    }),
    startTestAgent(h, { name: 'Stumbler', perRequest: '0.05', behaviour: answerWith(500, { error: 'no' }) }),
    startTestAgent(h, {
      ...{ name: 'Narrator', perRequest: '0.05' },
      behaviour: (_request, response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        response.write('event: chunk\ndata: one\n\n');
        response.end('event: result\ndata: {"result":{"text":"one"}}\n\n');
      },
    }),
  ]);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
  await Promise.all([best, second, slow, failing, streaming].map((agent) => agent.die()));
  await h.stop();
});

describe.each(stockClients)('%s', (_name, connect, { protocolVersion, sendsMeta, asksProgress }) => {
  const open = (key?: string) => connect(`${h.baseUrl}/mcp`, key);

  it('ranks agents with prices and reasons as POST /agents/match does, without a key, and buys nothing', async () => {
    const client = await open();
    const calls = best.calls.length;
    const { data, isError, text } = await client.call('match_agents', { task, maxPrice: '0.05', capabilities });
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toEqual(data);
    const body = { task, maxPrice: '0.05', capabilities };
    const rest = (await h.request('POST', '/agents/match', { body })).body.data;
    expect(data).toMatchObject({ considered: rest.considered, words: rest.words });
    type Match = { agentId: string; price: string; score: number; parts: object };
    expect(data.matches.map(({ agentId, score, parts }: Match) => ({ agentId, score, parts }))).toEqual(
      rest.matches.map(({ agent, score, parts }: { agent: { id: string }; score: number; parts: object }) => ({
        ...{ agentId: agent.id, score, parts },
      })),
    );
    expect(data.matches.map(({ agentId, price }: Match) => [agentId, price])).toEqual([
      [best.id, '0.05'],
      [second.id, '0.04'],
    ]);
    expect(data.matches[0]).toMatchObject({
      ...{ name: 'German contract translator', description: 'An agent of a test.', online: true },
      parts: { text: { matched: expect.arrayContaining(['german']) } },
    });
    expect(best.calls.length).toBe(calls);
    await client.close();
  });

  it('pays the first of them within maxCost from the treasury, and says why', async () => {
    const { key } = await newClient(h, '1.00');
    const client = await open(key);
    const bought = await client.call('invoke_best', { task, maxCost: '0.05', input: { a: 1 } });
    expect(bought).toMatchObject({ isError: false, data: { status: 'completed', agentId: best.id, cost: '0.05' } });
    expect(bought.data).toMatchObject({
      result: { echo: task, input: { a: 1 } },
      chosen: { agentId: best.id, rank: 1 },
    });
    expect((await client.call('get_invocation', { requestId: bought.data.requestId })).data).toEqual(bought.data);
    const cheaper = await client.call('invoke_best', { task, maxCost: '0.049999', capabilities });
    expect(cheaper.data).toMatchObject({ agentId: second.id, cost: '0.04' });
    expect(await balanceOf(h, key)).toEqual({ available: '0.91', held: '0.00' });
    await client.close();
  });

  it('charges nothing when none fits, without a key, and for arguments of another tool', async () => {
    const { key } = await newClient(h, '1.00');
    const client = await open(key);
    const dear = await client.call('invoke_best', { task, maxCost: '0.01', capabilities });
    expect(dear).toMatchObject({ isError: true, data: { error: { code: 'NO_AGENT_FITS' } } });
    for (const more of [{ agentId: best.id }, { quoteId: 'qte_1' }, { maxCost: undefined }]) {
      const wrong = await client.call('invoke_best', { task, maxCost: '0.05', ...more });
      expect(wrong).toMatchObject({ isError: true, data: { error: { code: 'VALIDATION_ERROR' } } });
    }
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    const keyless = await open();
    const refused = await keyless.call('invoke_best', { task, maxCost: '0.05' });
    expect(refused).toMatchObject({ isError: true, data: { error: { code: 'UNAUTHORIZED' } } });
    await Promise.all([client.close(), keyless.close()]);
  });

  it.runIf(sendsMeta)('pays with x402 the agent that the terms name, once', async () => {
    const { key } = await h.newAccount();
    const client = await open(key);
    const args = { task, maxCost: '0.05' };
    const terms = await client.call('invoke_best', args);
    expect(terms).toMatchObject({
      isError: true,
      data: { x402Version: 2, error: 'Payment required', resource: { url: 'mcp://tool/invoke_best' } },
    });
    const wallet = await h.newWallet();
    const before = await h.usdcOf(wallet.address);
    const meta = { 'x402/payment': await paymentOf(h, wallet, terms.data) };
    const calls = best.calls.length;
    const paid = await client.call('invoke_best', args, { meta });
    expect(paid).toMatchObject({
      isError: false,
      data: { status: 'completed', agentId: best.id, paymentMethod: 'x402', cost: '0.05' },
    });
    expect(paid.meta['x402/payment-response']).toMatchObject({ success: true, transaction: paid.data.paymentHash });
    const again = await client.call('invoke_best', args, { meta });
    expect([again.data, again.meta]).toEqual([paid.data, paid.meta]);
    const other = await client.call('invoke_agent', { ...args, agentId: second.id }, { meta });
    expect(other.isError).toBe(true);
    expect(best.calls.length).toBe(calls + 1);
    expect(before - (await h.usdcOf(wallet.address))).toBe(50_000n);
    await client.close();
  });

  it.runIf(asksProgress)('gets the progress of the chosen agent', async () => {
    const client = await open((await newClient(h, '1.00')).key);
    const told: string[] = [];
    const { data } = await client.call(
      'invoke_best',
      { task: 'Be my narrator.', maxCost: '0.05' },
      { onprogress: ({ message }) => void told.push(message ?? '') },
    );
    expect(data).toMatchObject({ agentId: streaming.id, status: 'completed', result: { text: 'one' } });
    expect(told).toEqual(['pending', 'processing', 'one', 'completed']);
    await client.close();
  });

  it('is refunded when the chosen agent fails, and can cancel one that takes long', async () => {
    const { key } = await newClient(h, '1.00');
    const client = await open(key);
    const failed = await client.call('invoke_best', { task: 'Be a stumbler.', maxCost: '0.05' });
    expect(failed).toMatchObject({ isError: true, data: { agentId: failing.id, status: 'failed', refund: '0.05' } });
    const calls = slow.calls.length;
    const begun = await client.call('invoke_best', { task: 'Be a sleeper.', maxCost: '0.05', waitSeconds: 0 });
    expect(begun).toMatchObject({ isError: false, data: { agentId: slow.id, status: 'processing' } });
    await expect.poll(() => slow.calls.length).toBe(calls + 1);
    const { requestId } = begun.data;
    expect((await client.call('cancel_invocation', { requestId })).data).toMatchObject({ refund: '0.05' });
    release();
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    await client.close();
  });

  it('buys once under an idempotency key, and none with other arguments', async () => {
    const { key } = await newClient(h, '1.00');
    const client = await open(key);
    const args = { task, maxCost: '0.05', idempotencyKey: `best-${protocolVersion}-${_name.length}` };
    const calls = best.calls.length;
    const answers = await Promise.all(Array.from({ length: 4 }, () => client.call('invoke_best', args)));
    for (const { data } of answers.filter(({ isError }) => isError)) expect(data.error.code).toBe('CONFLICT');
    const again = await client.call('invoke_best', args);
    expect(again.data).toMatchObject({ agentId: best.id, status: 'completed' });
    const ids = answers.flatMap(({ isError, data }) => (isError ? [] : [data.requestId]));
    expect(new Set([...ids, again.data.requestId]).size).toBe(1);
    expect(best.calls.length).toBe(calls + 1);
    for (const [tool, more] of [
      ['invoke_best', { task: 'Another contract.' }],
      ['invoke_agent', { agentId: best.id }],
    ] as const) {
      const other = await client.call(tool, { ...args, ...more });
      expect(other).toMatchObject({ isError: true, data: { error: { code: 'IDEMPOTENCY_KEY_REUSED' } } });
    }
    expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
    await client.close();
  });

  it.each(['under its key', 'without a key'])(
    'gives up, and the identical call %s is the same purchase',
    async (how) => {
      const { key } = await newClient(h, '1.00');
      const client = await open(key);
      const gone = new AbortController();
      const before = slow.calls.length;
      const args = {
        ...{ task: `Be a sleeper ${how}.`, maxCost: '0.05' },
        ...(how === 'under its key' ? { idempotencyKey: `left-${protocolVersion}-${_name.length}` } : {}),
      };
      const call = client.call('invoke_best', args, { signal: gone.signal }).catch(() => null);
      await expect.poll(() => slow.calls.length).toBe(before + 1);
      gone.abort();
      await call;
      release();
      const again = await client.call('invoke_best', args);
      expect(again.data).toMatchObject({ agentId: slow.id, status: 'completed' });
      expect(slow.calls.length).toBe(before + 1);
      expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
      await client.close();
    },
  );
});

it('answers clients that support tasks with a task while the chosen agent works', async () => {
  const { key } = await newClient(h, '1.00');
  const capable = { extensions: { [TASKS]: {} } };
  const args = { task: 'Be a sleeper, as a task.', maxCost: '0.05', waitSeconds: 0 };
  const { headers, body } = modern('tools/call', { name: 'invoke_best', arguments: args }, capable);
  const begun = (await h.request('POST', '/mcp', { key, headers, body })).body.result;
  expect(begun).toMatchObject({ resultType: 'task', status: 'working', taskId: expect.any(String) });
  await expect.poll(() => held.length).toBe(1);
  release();
  const { taskId } = begun;
  const read = await callTool(h.baseUrl, key, 'get_invocation', { requestId: taskId, waitSeconds: 20 });
  expect(read.body.result.structuredContent).toMatchObject({ status: 'completed', agentId: slow.id });
  const asked = modern('tasks/get', { taskId }, capable);
  const ended = await h.request('POST', '/mcp', { key, headers: asked.headers, body: asked.body });
  expect(ended.body.result).toMatchObject({ status: 'completed', taskId });
});
