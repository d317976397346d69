import { createOpenAI, type OpenAIProviderSettings } from '@ai-sdk/openai';
import { ExactEvmScheme } from '@x402/evm/exact/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { APICallError, generateText, streamText } from 'ai';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { AppError } from '../../../../src/lib/app-error.ts';
import type { Harness, TestWallet } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { askingForChannels, chargedOf, stockChannelPayer } from '../../../support/stock-channel-payer.ts';
import { answerWith, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { type StockSite, startStockSite } from '../stock-site.ts';

let site: StockSite;
let h: Harness;
let buyer: Client;
let writer: TestAgent;
let failing: TestAgent;
let streaming: TestAgent;
let slow: TestAgent;
let spent: StockSite['spent'];
let release: () => void = () => undefined;

beforeAll(async () => {
  site = await startStockSite(
    await borrowHarness(),
    {
      name: 'Writer',
      behaviour: (request, response) =>
        answerWith(200, { result: { text: `${request.body.task}!`, context: request.body.context ?? null } })(
          request,
          response,
        ),
    },
    {
      perRequest: '0.05',
      behaviour: (request, response) => {
        release = () => answerWith(200, { result: `${request.body.task}!` })(request, response);
      },
    },
  );
  ({ h, buyer, working: writer, slow, failing, streaming, spent } = site);
});
afterAll(async () => site?.stop());

const provider = (settings: OpenAIProviderSettings = {}) =>
  createOpenAI({ baseURL: `${h.baseUrl}/v1`, apiKey: buyer.key, ...settings });

const payerOf = (wallet: TestWallet) =>
  new x402Client().register(h.ctx.chain.caip2 as `eip155:${number}`, new ExactEvmScheme(wallet));

const failure = (work: PromiseLike<unknown>): Promise<APICallError> =>
  Promise.resolve(work).then(
    () => expect.fail('it was answered'),
    (error) => (APICallError.isInstance(error) ? error : Promise.reject(error)),
  );

/** Both APIs of the provider: its default is responses. */
const apis = [
  ['chat completions', (settings?: OpenAIProviderSettings) => provider(settings).chat],
  ['responses', (settings?: OpenAIProviderSettings) => provider(settings).responses],
] as const;

describe.each(apis)('Vercel ai with its OpenAI provider, by %s', (name, models) => {
  it('pays a call from the treasury, with the conversation as context', async () => {
    const cost = await spent(async () => {
      const { text, usage, response } = await generateText({
        model: models()(writer.id),
        instructions: 'Be brief.',
        messages: [
          { role: 'user', content: 'Hi' },
          { role: 'assistant', content: 'Hello' },
          { role: 'user', content: 'How are you?' },
        ],
      });
      expect(text).toBe('How are you?!');
      expect(usage.totalTokens).toBeGreaterThan(0);
      const { body } = await h.request('GET', `/invoke/${response.id}`, { key: buyer.key });
      expect(body.data).toMatchObject({ status: 'completed', cost: '0.05' });
      expect(body.data.result.context).toMatch(/^(system|developer): Be brief\.\nuser: Hi\nassistant: Hello$/);
    });
    expect(cost).toBe(0.05);
  });

  it('pays a call with x402 through the stock client of x402, without a key', async () => {
    const wallet = await h.newWallet(1_000_000n);
    const model = models({ apiKey: 'x402', fetch: wrapFetchWithPayment(fetch, payerOf(wallet)) })(writer.id);
    const { text, response } = await generateText({ model, prompt: `paid by ${name}` });
    expect(text).toBe(`paid by ${name}!`);
    expect(response.headers?.['payment-response']).toBeTruthy();
    const token = response.headers?.['x-result-token'] ?? '';
    const read = await h.request('GET', `/invoke/${response.id}`, { headers: { 'x-result-token': token } });
    expect(read.body.data).toMatchObject({ status: 'completed', cost: '0.05', paymentMethod: 'x402' });
  });

  it('reads a stream as the agent speaks', async () => {
    const { textStream, finishReason } = streamText({ model: models()(streaming.id), prompt: 'x' });
    const parts: string[] = [];
    for await (const part of textStream) parts.push(part);
    expect(parts.filter((part) => part !== '')).toEqual(['one ', 'two']);
    expect(await finishReason).toBe('stop');
  });

  it('reads the same purchase again under its Idempotency-Key', async () => {
    const ask = () =>
      generateText({
        model: models()(writer.id),
        prompt: 'again',
        headers: { 'idempotency-key': `ai-${name.length}` },
      });
    const cost = await spent(async () => {
      const [first, second] = [await ask(), await ask()];
      expect(second.response.id).toBe(first.response.id);
    });
    expect(cost).toBe(0.05);
  });

  it('is refunded when the agent fails, and does not repeat the call', async () => {
    const calls = failing.calls.length;
    const cost = await spent(async () => {
      const error = await failure(generateText({ model: models()(failing.id), prompt: 'x' }));
      expect([error.statusCode, error.isRetryable]).toEqual([400, false]);
    });
    expect(cost).toBe(0);
    expect(new Set(failing.calls.slice(calls).map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('reports a bad key and insufficient money', async () => {
    const bad = await failure(generateText({ model: models({ apiKey: 'ank_test_bad' })(writer.id), prompt: 'x' }));
    expect([bad.statusCode, bad.isRetryable]).toEqual([401, false]);
    const poor = await newClient(h, '0.01');
    const short = await failure(generateText({ model: models({ apiKey: poor.key })(writer.id), prompt: 'x' }));
    expect([short.statusCode, short.isRetryable]).toEqual([402, false]);
    expect(short.message).toContain('balance');
  });

  it.each(['with a key', 'without a key', 'without a key, by channel'])(
    'retries automatically after a lost answer, and it is the same purchase, once (%s)',
    async (who) => {
      const isKeyless = who !== 'with a key';
      const isByChannel = who === 'without a key, by channel';
      let sent = 0;
      const losing: typeof fetch = async (input, init) => {
        const request = new Request(input, init);
        if (isKeyless && !request.headers.has('payment-signature')) return fetch(request);
        sent += 1;
        if (sent > 1) return fetch(request);
        const gone = new AbortController();
        const lost = fetch(request, { signal: gone.signal });
        await expect.poll(() => slow.calls.length).toBe(calls + 1);
        gone.abort();
        await lost.catch(() => null);
        release();
        throw Object.assign(new TypeError('fetch failed'), { cause: new Error('the connection was lost') });
      };
      const calls = slow.calls.length;
      const wallet = await h.newWallet(1_000_000n);
      const payer = isByChannel ? stockChannelPayer(h, wallet) : payerOf(wallet);
      const send = isByChannel ? askingForChannels(losing) : losing;
      const settings = isKeyless ? { apiKey: 'x402', fetch: wrapFetchWithPayment(send, payer) } : { fetch: losing };
      const prompt = `lost ${name} ${who}`;
      const ask = async () => (await generateText({ model: models(settings)(slow.id), prompt })).text;
      const cost = await spent(async () => {
        expect(await ask()).toBe(`${prompt}!`);
        expect([sent, slow.calls.length - calls]).toEqual([2, 1]);
        const another = ask();
        await expect.poll(() => slow.calls.length).toBe(calls + 2);
        release();
        expect(await another).toBe(`${prompt}!`);
      });
      const paid = { key: [0.1, 1_000_000n], transfer: [0, 900_000n], channel: [0, 500_000n] };
      const by = isByChannel ? 'channel' : isKeyless ? 'transfer' : 'key';
      expect([cost, await h.usdcOf(wallet.address)]).toEqual(paid[by]);
      const charged = [{ chargedMicro: 100_000n, reservedMicro: 0n }];
      expect(await chargedOf(h, wallet)).toEqual(isByChannel ? charged : []);
    },
  );

  it('finds its purchase once after a lost answer and a refused repetition; the next call is another purchase', async () => {
    const calls = slow.calls.length;
    const prompt = `refused ${name}`;
    const ask = (settings?: OpenAIProviderSettings) =>
      generateText({ model: models(settings)(slow.id), prompt, maxRetries: 0 });
    using left = vi.spyOn(h.ctx.runner, 'detach');
    using ending = vi.spyOn(h.ctx.runner, 'ending');
    const cost = await spent(async () => {
      const gone = new AbortController();
      const lost = ask({ fetch: (input, init) => fetch(input, { ...init, signal: gone.signal }) }).catch(() => null);
      await expect.poll(() => slow.calls.length).toBe(calls + 1);
      gone.abort();
      expect(await lost).toBeNull();
      await expect.poll(() => left.mock.calls.length).toBeGreaterThan(0);
      ending.mockImplementationOnce(() => {
        throw new AppError('UNAVAILABLE', 'Try again.');
      });
      expect((await failure(ask())).statusCode).toBe(503);
      release();
      expect((await ask()).text).toBe(`${prompt}!`);
      expect(slow.calls.length).toBe(calls + 1);
      const another = ask();
      await expect.poll(() => slow.calls.length).toBe(calls + 2);
      release();
      expect((await another).text).toBe(`${prompt}!`);
    });
    expect(cost).toBe(0.1);
  });
});
