import { callChain } from '@agent-network/chain/chain-rpc-client';
import { type LocalChain, startLocalChain } from '@agent-network/chain/local-chain';
import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createUsdcClient } from '../../src/chain/usdc-client.ts';
import { type Failpoint, parseFailpoint } from '../../src/lib/process/failpoint.ts';
import { sumByKind } from '../../src/payments/ledger/ledger-total-store.ts';
import { readReserves } from '../../src/payments/statements/read-reserves.ts';
import { askDatabase, contradictions } from '../support/books.ts';
import { emptyWallet } from '../support/chain-actions.ts';
import { ofTheDay } from '../support/daily.ts';
import { newWallet, type TestAccount } from '../support/harness.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../support/node-cluster.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { untilEnded } from '../support/treasury.ts';
import { headerIn, offeredBy, payOn, startTwoNetworks } from '../support/two-networks.ts';
import { until } from '../support/until.ts';

const OTHER = 421_614;
const CAIP2 = `eip155:${OTHER}`;

it('a reorg on one chain undoes its payment there, and leaves the books of the other alone', async () => {
  const t = await startTwoNetworks();
  try {
    const { h, other } = t;
    const { key } = await h.newAccount();
    const { treasuryId } = (await h.request('POST', '/payments/treasury', { key, body: {} })).body.data;
    const beside = `${treasuryId}@${t.onOther().chain.ledgerAsset}`;
    const path = '/payments/treasury/deposit';
    const deposit = async (ctx: typeof h.ctx, wallet: Awaited<ReturnType<typeof h.newWallet>>) => {
      const body = { amount: '2.00' };
      const headers = await payOn(ctx, wallet, await h.request('POST', path, { key, body }));
      expect((await h.request('POST', path, { key, body, headers })).status).toBe(200);
    };
    const balanceOf = async (id: string) =>
      (await h.request('GET', `/payments/treasury/${encodeURIComponent(id)}`, { key })).body.data.balance;
    const payer = await t.walletOnOther(2_000_000n);
    await deposit(h.ctx, await h.newWallet(2_000_000n));
    await deposit(t.onOther(), payer);
    expect([await balanceOf(treasuryId), await balanceOf(beside)]).toEqual(['2.00', '2.00']);
    const booksBefore = await sumByKind(h.ctx.db);

    const deposits = () =>
      askDatabase<{ chain: number; state: string; block: number }>(
        h.databaseUrl,
        `select chain_id as chain, state, block_number::int as block from chain_payment where purpose = 'deposit' order by chain_id`,
      );
    const block = (await deposits()).find(({ chain }) => chain === OTHER)?.block ?? 0;
    const head = Number(await callChain<Hex>(other.rpcUrl, 'eth_blockNumber'));
    await callChain(other.rpcUrl, 'anvil_rollback', head - block + 1);
    // It can never be collected again: its wallet has spent the money, and it has expired.
    await emptyWallet(other.rpcUrl, { ctx: t.onOther() }, payer, 2_000_000n);
    await callChain(other.rpcUrl, 'evm_increaseTime', 400);
    for (let count = 0; count < 16; count++) await callChain(other.rpcUrl, 'evm_mine');

    await until(async () => (await deposits()).some(({ state }) => state === 'reversed'));
    expect(await deposits()).toMatchObject([
      { chain: 84_532, state: 'settled' },
      { chain: OTHER, state: 'reversed' },
    ]);
    expect([await balanceOf(treasuryId), await balanceOf(beside)]).toEqual(['2.00', '0.00']);
    expect(await sumByKind(h.ctx.db)).toEqual(booksBefore);
    for (const ctx of [h.ctx, t.onOther()])
      expect(await readReserves(ctx)).toMatchObject({ driftMicro: 0n, lossMicro: 0n });
    expect(await contradictions(h.databaseUrl)).toEqual([]);
  } finally {
    await t.stop();
  }
});

describe('processes of a node on two networks', () => {
  let cluster: NodeCluster;
  let other: LocalChain;
  let usdc: ReturnType<typeof createUsdcClient>;
  let ctx: Parameters<typeof payOn>[0];
  let caller: TestAccount;
  const running: NodeProcess[] = [];

  beforeAll(async () => {
    [cluster, other] = await Promise.all([startCluster(), startLocalChain({ chainId: OTHER })]);
    await other.fund([{ address: cluster.walletAddress as Hex, ethWei: 10n ** 19n, usdcMicro: 0n }]);
    const token = other.usdc.toLowerCase();
    usdc = createUsdcClient({ rpcUrl: other.rpcUrl, token });
    const { name: tokenName, version: tokenVersion } = await usdc.readToken();
    const chain = { tokenName, tokenVersion, chainId: OTHER, token, caip2: CAIP2 };
    ctx = { chain } as unknown as typeof ctx;
    caller = await cluster.newAccount();
  });
  afterEach(async () => {
    for (const each of running.splice(0)) await each.kill();
    expect(await contradictions(cluster.databaseUrl)).toEqual([]);
    const [books] = await askDatabase<{ micro: string }>(
      cluster.databaseUrl,
      `select (-coalesce(sum(change_micro), 0))::text as micro from ledger_total where kind = 'wallet' and asset like '${CAIP2}/%'`,
    );
    expect(BigInt(books?.micro ?? 0)).toBe(await usdc.balanceOf(cluster.walletAddress));
  });
  afterAll(async () => {
    await cluster?.stop();
    await other?.stop();
  });

  async function start(): Promise<NodeProcess> {
    const first = { id: 'eip155:84532', rpcUrls: [cluster.proxy.url] };
    const NETWORKS = JSON.stringify([first, { id: CAIP2, rpcUrls: [other.rpcUrl] }]);
    const started = await cluster.startProcess({ CHAIN_RPC_URL: undefined, NETWORKS });
    running.push(started);
    return started;
  }

  /** From now on the process dies there. */
  async function arm({ child }: NodeProcess, place: string): Promise<void> {
    const armed = new Promise((resolve) => child.once('message', resolve));
    child.send(parseFailpoint(place) as object);
    await armed;
  }

  interface Begun {
    readonly agent: TestAgent;
    readonly payer: Awaited<ReturnType<typeof newWallet>>;
    /** Shows the payment to a process. */
    show(to: NodeProcess): ReturnType<ReturnType<typeof at>['request']>;
  }

  /** A call that is paid on the other network. */
  async function begin(node: NodeProcess): Promise<Begun> {
    const host = at(cluster, node);
    const agent = await startTestAgent(host, { owner: await cluster.newAccount(), perRequest: '0.05' });
    const payer = await newWallet(other.rpcUrl, other.usdc, 1_000_000n);
    const path = `/invoke/${agent.id}`;
    const body = { task: 'x' };
    const { key } = caller;
    const unpaid = await until(async () => {
      const answer = await host.request('POST', path, { key, body });
      return answer.status === 402 && offeredBy(answer).includes(CAIP2) && answer;
    });
    const headers = { ...(await payOn(ctx, payer, unpaid)), 'x-sync': 'true' };
    return { agent, payer, show: (to) => at(cluster, to).request('POST', path, { key, body, headers }) };
  }

  /** A process that is there while another one dies, or is started after that. */
  async function surviving(isBeside: boolean, die: () => Promise<void>): Promise<NodeProcess> {
    const beside = isBeside ? await start() : null;
    await die();
    return beside ?? (await start());
  }

  const rows = (requestId: string) =>
    askDatabase<{ purpose: string; chain: number; state: string }>(
      cluster.databaseUrl,
      'select purpose, chain_id as chain, state from chain_payment where subject_id = $1 order by purpose',
      [requestId],
    );
  const paid = { chain: OTHER, state: 'settled' };

  async function settleThroughDeath(place: Failpoint, isBeside: boolean) {
    const dying = await start();
    const { agent, payer, show } = await begin(dying);
    agent.behave(echo);
    const survivor = await surviving(isBeside, async () => {
      await arm(dying, place);
      await show(dying).catch(() => null);
      expect(await dying.ended).toBe('SIGKILL');
    });
    const answer = await until(async () => {
      const again = await show(survivor);
      return again.status === 200 && again.body.data.status === 'completed' && again;
    });
    expect(headerIn(answer, 'payment-response')).toMatchObject({ success: true, network: CAIP2 });
    expect(agent.calls).toHaveLength(1);
    expect(await usdc.balanceOf(payer.address)).toBe(950_000n);
    expect(await rows(answer.body.data.requestId)).toEqual([{ purpose: 'invocation', ...paid }]);
    await agent.die();
  }

  async function refundThroughDeath(place: string, isBeside: boolean) {
    const dying = await start();
    const { agent, payer, show } = await begin(dying);
    agent.behave(answerWith(500, { error: { code: 'BROKEN', message: 'no luck' } }));
    const survivor = await surviving(isBeside, async () => {
      await arm(dying, place);
      await show(dying).catch(() => null);
      expect(await dying.ended).toBe('SIGKILL');
    });
    await until(async () => (await usdc.balanceOf(payer.address)) === 1_000_000n);
    const [request] = await askDatabase<{ id: string }>(
      cluster.databaseUrl,
      'select subject_id as id from chain_payment where from_address = $1',
      [payer.address.toLowerCase()],
    );
    const id = request?.id ?? '';
    expect(await untilEnded(at(cluster, survivor), caller.key, id)).toMatchObject({ status: 'failed', refund: '0.05' });
    const both = [
      { purpose: 'invocation', ...paid },
      { purpose: 'refund', ...paid },
    ];
    await until(async () => (await rows(id)).every(({ state }) => state === 'settled'));
    expect(await rows(id)).toEqual(both);
    expect(new Set(agent.calls.map(({ headers }) => headers['idempotency-key']))).toEqual(new Set([id]));
    expect(await usdc.balanceOf(payer.address)).toBe(1_000_000n);
    await agent.die();
  }

  it('one dies while it settles on the second network: the other ends the call, paid once and run once', () =>
    settleThroughDeath('after-send', true));

  it('one dies before it sends a refund on the second network: the other sends it, once', () =>
    refundThroughDeath('before-pay-owed', true));

  it.each(
    ofTheDay<Failpoint>(
      ['after-accept-commit', 'after-send', 'before-record-commit', 'after-record-commit'],
      () => null,
      4,
    ),
  )('killed at %s of a payment there, and started again: paid once, run once', (place) =>
    settleThroughDeath(place, false),
  );

  it.each(
    // The settlement of the payment passes each of these places first.
    ofTheDay(
      ['before-write-ahead-commit:2', 'after-write-ahead-commit:2', 'after-send:2', 'before-record-commit:2'],
      () => null,
      4,
    ),
  )('killed at %s of a refund there, and started again: sent once', (place) => refundThroughDeath(place, false));
});
