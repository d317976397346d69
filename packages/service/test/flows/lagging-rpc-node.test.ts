import { callChain } from '@agent-network/chain/chain-rpc-client';
import { numberToHex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { newContractWallet } from '../http/api/support/chain-actions.ts';
import { type ProxiedHarness, startProxiedHarness } from '../support/proxied-harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { payV2 } from '../support/x402-payer.ts';

let h: ProxiedHarness;
let agent: TestAgent;
let key: string;
beforeAll(async () => {
  h = await startProxiedHarness();
  agent = await startTestAgent(h, { perRequest: '0.05' });
  key = (await h.newAccount()).key;
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const METHODS = ['eth_call', 'eth_getCode', 'eth_estimateGas'];
const catchUp = () => {
  for (const method of METHODS) h.proxy.rule(method, null);
};
afterEach(catchUp);

/** From now on the state is read of a node that is at this height; it lacks what is newer. `answers`: how many until it has caught up. */
function fallBehind(height: bigint, answers = Number.POSITIVE_INFINITY): void {
  let left = answers;
  for (const method of METHODS)
    h.proxy.rule(method, async ({ params: [asked, block = 'latest'], answer, refuse, forward }) => {
      if (left-- <= 0) return forward();
      const isNamed = block !== 'latest' && block !== 'pending';
      if (isNamed && BigInt(block as string) > height) return refuse('header not found');
      return answer(await callChain(h.chain.rpcUrl, method, asked, isNamed ? block : numberToHex(height)));
    });
}

const heightOf = async () => BigInt((await callChain(h.chain.rpcUrl, 'eth_blockNumber')) as string);
const invoke = (headers: Record<string, string> = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x' }, headers });

describe('an RPC node that is behind makes no good payment a final 402', () => {
  it.each([
    ['the money of the wallet', async () => ({ before: await heightOf(), wallet: await h.newWallet(1_000_000n) })],
    [
      'the code of the wallet',
      async () => {
        const owner = await h.newWallet(0n);
        const before = await heightOf();
        return { before, wallet: await newContractWallet(h, owner, 1_000_000n) };
      },
    ],
  ])('that does not know %s', async (_what, arrive) => {
    const { before, wallet } = await arrive();
    const headers = await payV2(h, wallet, await invoke());
    fallBehind(before);
    expect(await invoke(headers)).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    catchUp();
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect(await invoke(headers)).toMatchObject({ status: 200, body: { data: { cost: '0.05' } } });
  });

  it('and is waited for while its caller waits', async () => {
    const before = await heightOf();
    const wallet = await h.newWallet(1_000_000n);
    const headers = await payV2(h, wallet, await invoke());
    // The first simulation is of old state; the node has caught up when it is asked by the newest block.
    fallBehind(before, 1);
    expect(await invoke(headers)).toMatchObject({ status: 200 });
  });
});

it('what the newest block says as well is refused', async () => {
  const poor = await h.newWallet(49_999n);
  const answer = await invoke(await payV2(h, poor, await invoke()));
  expect(answer).toMatchObject({
    status: 402,
    body: { error: { details: { reason: 'invalid_exact_evm_insufficient_balance' } } },
  });
});
