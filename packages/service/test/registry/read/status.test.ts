import { callChain } from '@agent-network/chain/chain-rpc-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readChainIndex } from '../../../src/registry/read/read-chain-index.ts';
import { fixedClock } from '../../support/fixed-clock.ts';
import type { TestAccount } from '../../support/harness.ts';
import { type ProxiedHarness, startProxiedHarness } from '../../support/proxied-harness.ts';
import { newOwner, registryActions } from '../../support/registry-actions.ts';
import { REGISTRY } from '../../support/registry-world.ts';
import { until } from '../../support/until.ts';

const clock = fixedClock('2026-11-21T10:00:00Z');
let h: ProxiedHarness;
let operator: TestAccount;
let subscriber: TestAccount;
let bystander: TestAccount;
beforeAll(async () => {
  h = await startProxiedHarness({ followsRegistry: true, clock, env: { NODE_LABEL: 'here' } });
  await untilState('live');
  operator = await h.newAccount();
  subscriber = await h.newAccount({ scopes: ['webhooks:manage'] });
  bystander = await h.newAccount({ scopes: ['webhooks:manage'] });
  const url = 'http://127.0.0.1:9/';
  const asked = { key: subscriber.key, body: { url, eventTypes: ['replication.status'] } };
  expect((await h.request('POST', '/account/webhooks', asked)).status).toBe(200);
  expect((await h.request('POST', '/account/webhooks', { key: bystander.key, body: { url } })).status).toBe(200);
});
afterAll(() => h.stop());

const untilState = (state: string) => until(async () => ((await readChainIndex(h.ctx)).state === state ? state : null));
const toldTo = async ({ key }: TestAccount): Promise<{ data: { state: string } }[]> =>
  (await h.request('GET', '/events?type=replication.status', { key })).body.data.events;
const untilTold = (account: TestAccount, state: string) =>
  until(async () => (await toldTo(account)).findLast(({ data }) => data.state === state) ?? null);

it('a node reads what is registered by itself, and says how far it is', async () => {
  const before = await registered();
  const id = await registryActions(h.chain.rpcUrl).register(newOwner(), 'https://a.example/');
  // The token can be read a moment before the note of how far the index is.
  const found = await until(async () => {
    const at = await h.ctx.registryTokens.at(id);
    return at?.isSafe ? at : null;
  });
  expect(found).toMatchObject({ token: { uri: 'https://a.example/' } });
  const index = await readChainIndex(h.ctx);
  expect(index).toMatchObject({ chainId: 84_532, registry: REGISTRY, state: 'live' });
  expect(index.block).toBeGreaterThan(0);
  expect(index.headBlock).toBe(index.block + index.lagBlocks);
  expect(await registered()).toBe(before + 1);
  const metrics = await readMetrics();
  expect(metrics).toMatch(/^registry_block \d+$/m);
  expect(metrics).toMatch(/^registry_lag_blocks \d+$/m);
  expect(metrics).toMatch(/^registry_reorgs_total 0$/m);
});

it('operators, and who asked for it by name, hear that reading stalls and goes on; others do not', async () => {
  h.proxy.rule('eth_getBlockByNumber', () => null);
  await until(isFailing);
  expect((await readChainIndex(h.ctx)).state).toBe('live');
  clock.advance(31_000);
  expect((await readChainIndex(h.ctx)).state).toBe('stalled');
  const stalled = await untilTold(operator, 'stalled');
  expect(stalled?.data).toMatchObject({ nodeId: h.ctx.chain.wallet, label: 'here', state: 'stalled', lagBlocks: 0 });
  h.proxy.rule('eth_getBlockByNumber', null);
  await untilState('live');
  expect((await untilTold(operator, 'live'))?.data).toMatchObject({ state: 'live', lagBlocks: 0 });
  expect((await untilTold(subscriber, 'live'))?.data).toMatchObject({ state: 'live' });
  for (const account of [operator, subscriber])
    expect((await toldTo(account)).map(({ data }) => data.state)).toEqual(['stalled', 'live']);
  expect(await toldTo(bystander)).toEqual([]);
});

const readMetrics = async () => (await fetch(`${h.baseUrl}/metrics`)).text();

/** The logs of registrations that this node has read. */
async function registered(): Promise<number> {
  return Number(/^registry_logs_total\{kind="registered"\} (\d+)$/m.exec(await readMetrics())?.[1] ?? 0);
}

/** Whether the node gets no answer: what it has seen of the chain stands still. */
async function isFailing(): Promise<boolean> {
  const { headBlock } = await readChainIndex(h.ctx);
  return Number(await callChain(h.chain.rpcUrl, 'eth_blockNumber')) > headBlock;
}
