import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Harness, TestWallet } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { untilUsdc } from '../../support/treasury.ts';
import { payV1, payV2 } from '../../support/x402-payer.ts';
import { openSse, problemWithStream } from './support/sse-client.ts';
import { chunk, result, says, spokenBy } from './support/streaming-agent.ts';

let h: Harness;
let agent: TestAgent;
let wallet: TestWallet;
let key: string;
const body = { task: 'x', stream: true };
const accept = { accept: 'text/event-stream' };
beforeAll(async () => {
  h = await borrowHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  wallet = await h.newWallet(1_000_000n);
  ({ key } = await h.newAccount());
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const unpaid = () => h.request('POST', `/invoke/${agent.id}`, { key, body, headers: accept });
const open = (headers: Record<string, string>) => openSse(h, 'POST', `/invoke/${agent.id}`, { key, body, headers });

it.each([
  ['v2', payV2, 'payment-response'],
  ['v1', payV1, 'x-payment-response'],
] as const)(
  '%s: 402 is JSON; paid, the money has moved before the first byte and the header says so',
  async (_v, pay, name) => {
    const talk = spokenBy();
    agent.behave(talk.behaviour);
    const refused = await unpaid();
    expect({ status: refused.status, type: refused.headers.get('content-type') }).toEqual({
      status: 402,
      type: 'application/json',
    });
    const before = await h.usdcOf(wallet.address);
    const headers = await pay(h, wallet, refused);
    const stream = await open(headers);
    expect(await h.usdcOf(wallet.address)).toBe(before - 50_000n);
    const settled = JSON.parse(Buffer.from(stream.headers.get(name) ?? '', 'base64').toString());
    expect(settled).toMatchObject({ success: true, payer: wallet.address.toLowerCase() });
    const said = await talk.next();
    said.say(chunk('a'));
    const first = await stream.take(3);
    // The same payment shown again while it streams: the same request from its start.
    const again = await open(headers);
    expect(await again.take(3)).toEqual(first);
    said.say(result('b'));
    const [rest, restAgain] = [await stream.rest(), await again.rest()];
    expect(problemWithStream([...first, ...rest])).toBeNull();
    expect(restAgain).toEqual(rest);
    expect(rest.at(-1)?.data).toMatchObject({ paymentHash: settled.transaction, paymentMethod: 'x402', cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(before - 50_000n);
  },
);

it('a paid stream that fails is refunded on chain', async () => {
  agent.behave(says(chunk('a')));
  const before = await h.usdcOf(wallet.address);
  const events = await (await open(await payV2(h, wallet, await unpaid()))).rest();
  expect(problemWithStream(events)).toBeNull();
  expect(events.at(-1)).toMatchObject({ type: 'invocation.failed', data: { refund: '0.05' } });
  expect(await untilUsdc(h, wallet.address, before)).toBe(before);
});

it('a paid stream that is cancelled is broken off at the agent and refunded on chain', async () => {
  const talk = spokenBy();
  agent.behave(talk.behaviour);
  const before = await h.usdcOf(wallet.address);
  const stream = await open(await payV2(h, wallet, await unpaid()));
  const { requestId } = (await stream.next())?.data ?? {};
  const said = await talk.next();
  const cancelled = await h.request('POST', `/invoke/${requestId}/cancel`, { key });
  expect(cancelled.body.data).toEqual({ requestId, cancelled: true, refund: '0.05', reason: 'user_cancellation' });
  await said.closed;
  expect((await stream.rest()).at(-1)).toMatchObject({ type: 'invocation.cancelled' });
  expect(await untilUsdc(h, wallet.address, before)).toBe(before);
});
