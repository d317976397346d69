import { readFileSync } from 'node:fs';
import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Harness } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, newClient } from '../../support/treasury.ts';

const page = readFileSync(new URL('../../../../../docs/pricing.md', import.meta.url), 'utf8');
const stated = JSON.parse(/```json\n([\s\S]+?)\n```/.exec(page)?.[1] ?? '') as {
  rates: { perRequest: string };
  metadata: Record<string, unknown>;
};
const examples = [...page.matchAll(/^- (.+): (.+) = (.+) USDC$/gm)].map(
  ([, call = '', calculation = '', cost = '']) => ({ call, calculation, cost }),
);

let h: Harness;
let agent: TestAgent;
let client: Awaited<ReturnType<typeof newClient>>;
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: stated.rates.perRequest, metadata: stated.metadata });
  client = await newClient(h, '5.00');
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** The body of a call that the page tells in words. */
function bodyOf(call: string): object {
  const complexity = /complexity (\w+)/.exec(call)?.[1];
  const pages = /^(\d+) pages/.exec(call)?.[1];
  const bytes = Number(/([\d,]+) bytes/.exec(call)?.[1]?.replace(',', '') ?? 0);
  const input = { ...(complexity ? { complexity } : {}), pages: Number(pages ?? 1) };
  return { task: 'x'.repeat(Math.max(4, bytes - JSON.stringify(input).length)), input };
}

it('each example of the page about prices is what a quote, an offer and a call say', async () => {
  expect(examples).toHaveLength(6);
  let spentMicro = 0n;
  for (const { call, cost } of examples) {
    const send = (path: string, headers = {}) =>
      h.request('POST', path, { key: client.key, body: bodyOf(call), headers });
    const quote = (await send(`/invoke/${agent.id}/quote`)).body.data;
    const offer = (await send(`/invoke/${agent.id}`, { 'x-payment-method': 'x402' })).body.error.payment;
    const called = (await send(`/invoke/${agent.id}`, { 'x-sync': 'true' })).body.data;
    expect([call, quote.estimatedCost, quote.breakdown.total, offer.amount, called.cost]).toEqual([
      call,
      ...Array(4).fill(cost),
    ]);
    expect(quote.breakdown.explanation).toMatch(new RegExp(` = ${cost} USDC$`));
    spentMicro += parseUsdc(cost);
  }
  const left = formatUsdc(parseUsdc('5.00') - spentMicro);
  expect(await balanceOf(h, client.key)).toEqual({ available: left, held: '0.00' });
});

it('each calculation of the page about prices gives its cost', () => {
  for (const { calculation, cost } of examples) {
    const [product = '', most = 'at most 9'] = calculation.split(', ');
    const value = product.split(' × ').reduce((all, factor) => all * Number(factor), 1);
    expect(Math.min(value, Number(most.replace('at most ', '')))).toBeCloseTo(Number(cost), 9);
  }
});
