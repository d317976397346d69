import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase } from '../support/books.ts';
import { type Engine, startEngine } from '../support/engine.ts';
import { type ProxiedHarness, startProxiedHarness } from '../support/proxied-harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { payV2 } from '../support/x402-payer.ts';

const setGas = (rpcUrl: string, address: string, wei: bigint) =>
  callChain(rpcUrl, 'anvil_setBalance', address, `0x${wei.toString(16)}`);

describe('keys that run out of gas', () => {
  let engine: Engine;
  beforeAll(async () => {
    engine = await startEngine({ senders: 2 });
  });
  afterAll(() => engine.stop());

  it('are told of, and not picked; when none can pay, payments wait', async () => {
    const { ctx, chain, databaseUrl } = engine;
    const [rich, ...poor] = ctx.senders.map(({ address }) => address);
    for (const address of poor) await setGas(chain.rpcUrl, address, 1n);
    await ctx.gas.refresh();
    expect(ctx.gas.thatBear(1000n)).toEqual([rich]);
    const { values } = await ctx.metrics.gasBalance.get();
    expect(values.find(({ labels }) => labels.signer === poor[0])?.value).toBe(1);
    for (const payment of await engine.claimMany(4))
      expect(await ctx.settler.settle(payment)).toMatchObject({ state: 'settled' });
    const signers = await askDatabase<{ signer: string }>(databaseUrl, 'select distinct signer from chain_transaction');
    expect(signers).toEqual([{ signer: rich }]);

    await setGas(chain.rpcUrl, rich ?? '', 1n);
    await ctx.gas.refresh();
    await expect(ctx.gas.requireGas()).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  });
});

describe('a node that cannot pay for gas', () => {
  let h: ProxiedHarness;
  let agent: TestAgent;
  beforeAll(async () => {
    h = await startProxiedHarness();
    agent = await startTestAgent(h, { perRequest: '0.05' });
  });
  afterAll(async () => {
    await agent.die();
    await h.stop();
  });

  it('answers a payment with 503 before it claims it, and takes it once there is gas again', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'x' } };
    const wallet = await h.newWallet(50_000n);
    const headers = await payV2(h, wallet, await h.request('POST', `/invoke/${agent.id}`, call));
    await setGas(h.rpcUrl, h.ctx.wallet.address, 0n);
    await h.ctx.gas.refresh();
    const refused = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    expect(refused).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
    expect(await askDatabase(h.databaseUrl, 'select id from chain_payment')).toEqual([]);
    expect(agent.calls).toEqual([]);
    await setGas(h.rpcUrl, h.ctx.wallet.address, 10n ** 18n);
    await h.ctx.gas.refresh();
    const paid = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    expect(paid.body.data).toMatchObject({ status: 'completed' });
  });

  it('a bad signature is refused without a question to the token', async () => {
    const { key } = await h.newAccount();
    const call = { key, body: { task: 'x' } };
    const [wallet, thief] = [await h.newWallet(50_000n), await h.newWallet(50_000n)];
    const headers = await payV2(
      h,
      { ...thief, address: wallet.address },
      await h.request('POST', `/invoke/${agent.id}`, call),
    );
    await h.ctx.usdc.chainId();
    const asked: unknown[] = [];
    h.proxy.rule('eth_call', (rpcCall) => {
      asked.push(JSON.stringify(rpcCall.params).includes(wallet.address.slice(2).toLowerCase()));
      return rpcCall.forward();
    });
    const refused = await h.request('POST', `/invoke/${agent.id}`, { ...call, headers });
    h.proxy.rule('eth_call', null);
    expect(refused).toMatchObject({
      status: 402,
      body: { error: { details: { reason: 'invalid_exact_evm_signature' } } },
    });
    expect(asked).not.toContain(true);
  });
});
