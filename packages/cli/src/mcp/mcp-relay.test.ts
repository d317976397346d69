import type { Payer } from '@agent-network/sdk';
import { describe, expect, it } from 'vitest';
import { type Reply, type Seen, startFakeNode } from '../../../sdk/test/support/fake-node.ts';
import { createMcpRelay } from './mcp-relay.ts';

const terms = { x402Version: 2, accepts: [] };
const answer = (structuredContent: object, isError = false): Reply => ({
  status: 200,
  body: { jsonrpc: '2.0', id: 1, result: { isError, structuredContent } },
});
const askPayment = answer(terms, true);
const completed = answer({ requestId: 'req_1', status: 'completed' });
const failed = answer({ requestId: 'req_1', status: 'failed' }, true);
const unavailable = answer({ error: { code: 'UNAVAILABLE' } }, true);

/** The number of the payment that a message shows; undefined: none. */
const shown = ({ body }: Seen): number | undefined => JSON.parse(body).params._meta?.['x402/payment']?.number;

/** Makes calls of a tool through a relay whose payer numbers what it signs. The node answers unpaid calls with its terms. */
async function callPaying(answers: readonly (Reply | 'hang up')[], tasks: readonly string[]) {
  const left = [...answers];
  await using node = await startFakeNode((seen) =>
    shown(seen) === undefined ? askPayment : (left.shift() ?? completed),
  );
  let signed = 0;
  const payer: Payer = {
    address: '0x0',
    pay: async () => ({ 'payment-signature': btoa(JSON.stringify({ number: ++signed })) }),
  };
  const written: unknown[] = [];
  const write = (message: object) => void written.push(message);
  const relay = createMcpRelay({ url: node.baseUrl, apiKey: null, maxPerCallMicro: null, payer, write });
  for (const task of tasks)
    await relay(
      JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'invoke_agent', arguments: { task } },
      }),
    );
  return { shown: node.seen.map(shown), written };
}

describe('a call that the relay paid for', () => {
  it.each([
    ['the connection broke', 'hang up' as const],
    ['the node answered with an error that names no request', unavailable],
    ['the node answered with an error of the protocol', { status: 200, body: { jsonrpc: '2.0', id: 1, error: {} } }],
  ])('shows the same payment when it is repeated, after %s', async (_what, first) => {
    const { shown: payments, written } = await callPaying([first], ['a', 'a']);
    expect(payments).toEqual([undefined, 1, 1]);
    expect(written.at(-1)).toEqual(completed.body);
  });

  it.each([
    ['completed', completed],
    ['failed', failed],
  ])('is a new purchase when it is repeated after its request has %s', async (_what, first) => {
    const { shown: payments } = await callPaying([first], ['a', 'a']);
    expect(payments).toEqual([undefined, 1, undefined, 2]);
  });

  it('is paid anew when the node asks for another payment', async () => {
    const { shown: payments, written } = await callPaying(['hang up', askPayment], ['a', 'a']);
    expect(payments).toEqual([undefined, 1, 1, 2]);
    expect(written.at(-1)).toEqual(completed.body);
  });

  it('shows its payment for no other call', async () => {
    const { shown: payments } = await callPaying(['hang up'], ['a', 'b', 'a']);
    expect(payments).toEqual([undefined, 1, undefined, 2, 1]);
  });
});
