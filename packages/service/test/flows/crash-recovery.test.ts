import { describe, it, type TestContext, vi } from 'vitest';
import { until } from '../../src/lib/until.ts';
import { askDatabase, contradictions, walletByBooks } from '../support/books.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../support/node-cluster.ts';
import { lockInvocation, lockWriteAhead } from '../support/row-lock.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded, untilUsdc } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

const SEND = 'eth_sendRawTransaction';
const PRICE = 50_000n;

// They mostly wait for a death to be noticed.
vi.setConfig({ maxConcurrency: 10 });

interface Scene {
  readonly cluster: NodeCluster;
  readonly process: NodeProcess;
  readonly agent: TestAgent;
  readonly owner: { key: string };
}

/** Tests that run at the same time clean up after themselves through their own context. */
async function setScene({ onTestFinished }: TestContext): Promise<Scene> {
  const cluster = await startCluster();
  onTestFinished(() => cluster.stop());
  const process = await cluster.startProcess();
  const host = at(cluster, process);
  const owner = await cluster.newAccount();
  const agent = await startTestAgent(host, { owner, perRequest: '0.05' });
  onTestFinished(() => agent.die());
  return { cluster, process, agent, owner };
}

/** Arranges that the process comes to a stand at one moment of a paid call; resolves when it is there. */
type Moment = (scene: Scene, opened: { onCleanup(step: () => unknown): void }) => Promise<void>;

const never = new Promise<never>(() => undefined);

/** The first call of this method stands still, before or after the chain has it. */
const atRpc =
  (method: string, when: 'before' | 'after'): Moment =>
  ({ cluster }) =>
    new Promise((resolve) => {
      cluster.proxy.rule(method, async ({ forward }) => {
        if (when === 'after') await forward();
        cluster.proxy.rule(method, null);
        resolve();
        return never;
      });
    });

const onlyRequest = async ({ cluster }: Scene): Promise<string> => {
  const [row] = await askDatabase<{ id: string }>(cluster.databaseUrl, 'select id from invocation');
  return row?.id ?? '';
};

const moments: Record<string, Moment> = {
  'after the claim, before the transaction is written down': async ({ cluster }, { onCleanup }) => {
    const lock = await lockWriteAhead(cluster.databaseUrl);
    onCleanup(() => lock.release());
    await lock.untilWaitedFor();
  },
  'after the transaction is written down, before it is sent': atRpc(SEND, 'before'),
  'after the transaction is sent, before its answer': atRpc(SEND, 'after'),
  'after the transaction is mined, before that is recorded': atRpc('eth_getTransactionReceipt', 'after'),
  'after the payment is recorded, before the call is begun': (scene, { onCleanup }) =>
    new Promise((resolve, reject) => {
      scene.cluster.proxy.rule(SEND, async ({ forward }) => {
        scene.cluster.proxy.rule(SEND, null);
        const lock = await lockInvocation(scene.cluster.databaseUrl, await onlyRequest(scene));
        onCleanup(() => lock.release());
        lock.untilWaitedFor().then(resolve, reject);
        return forward();
      });
    }),
  'while the agent is working': ({ agent }) =>
    new Promise((resolve) => {
      agent.behave(() => resolve());
    }),
  'after the agent has answered, before the end is recorded': (scene, { onCleanup }) =>
    new Promise((resolve, reject) => {
      scene.agent.behave(async (request, response) => {
        const lock = await lockInvocation(scene.cluster.databaseUrl, request.body.request_id);
        onCleanup(() => lock.release());
        lock.untilWaitedFor().then(resolve, reject);
        await echo(request, response);
      });
    }),
};

async function expectBooksToMatchChain(
  { expect }: TestContext,
  cluster: NodeCluster,
  timeoutMs: number,
): Promise<void> {
  const agree = async () =>
    (await walletByBooks(cluster.databaseUrl)) === (await cluster.usdcOf(cluster.walletAddress)) ? true : null;
  expect(await until(agree, { timeoutMs, firstMs: 20, mostMs: 200 })).toBe(true);
  expect(await contradictions(cluster.databaseUrl)).toEqual([]);
}

describe.concurrent('a process that is killed', { timeout: 60_000 }, () => {
  it.for(Object.keys(moments))(
    '%s: the same payment shown to the next one gets the result of the one call',
    async (name, context: TestContext) => {
      const { expect } = context;
      const scene = await setScene(context);
      const { cluster, agent, owner } = scene;
      const { key } = await cluster.newAccount();
      const wallet = await cluster.newWallet(PRICE);
      const call = { key, body: { task: 'survive' } };
      const path = `/invoke/${agent.id}`;
      const headers = await payV2(cluster, wallet, await at(cluster, scene.process).request('POST', path, call));

      const cleanups: (() => unknown)[] = [];
      const reached = moments[name]?.(scene, { onCleanup: (step) => cleanups.push(step) });
      const lost = at(cluster, scene.process)
        .request('POST', path, { ...call, headers })
        .catch(() => null);
      await reached;
      await scene.process.kill();
      expect(await lost).toBeNull();
      for (const step of cleanups) await step();
      const requestId = await onlyRequest(scene);
      agent.behave(echo);

      const next = at(cluster, await cluster.startProcess());
      const { status, body } = await next.request('POST', path, { ...call, headers });
      expect({ status, ...body.data }).toMatchObject({
        status: 'completed',
        requestId,
        cost: '0.05',
        result: { echo: 'survive' },
      });
      expect(new Set(agent.calls.map((each) => each.headers['idempotency-key']))).toEqual(new Set([requestId]));
      expect(await cluster.usdcOf(wallet.address)).toBe(0n);
      expect(await cluster.usdcOf(cluster.walletAddress)).toBe(PRICE);
      expect(await balanceOf(next, owner.key)).toEqual({ available: '0.05', held: '0.00' });
      await expectBooksToMatchChain(context, cluster, 5000);
    },
  );

  it('while it pays a failed call back: the money arrives, once', async (context) => {
    const { expect } = context;
    const scene = await setScene(context);
    const { cluster, agent, owner } = scene;
    const { key } = await cluster.newAccount();
    const wallet = await cluster.newWallet(PRICE);
    const call = { key, body: { task: 'fail' } };
    const path = `/invoke/${agent.id}`;
    const first = at(cluster, scene.process);
    const headers = await payV2(cluster, wallet, await first.request('POST', path, call));
    let reached: Promise<void> | undefined;
    agent.behave((request, response) => {
      reached = atRpc(SEND, 'before')(scene, { onCleanup: () => undefined });
      return answerWith(500, { error: { message: 'no' } })(request, response);
    });
    const failed = await first.request('POST', path, { ...call, headers });
    expect(failed.body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    await reached;
    await scene.process.kill();
    expect(await cluster.usdcOf(wallet.address)).toBe(0n);

    const next = at(cluster, await cluster.startProcess());
    expect((await next.request('POST', path, { ...call, headers })).body.data).toEqual(failed.body.data);
    expect(await untilUsdc(cluster, wallet.address, PRICE, 40_000)).toBe(PRICE);
    await expectBooksToMatchChain(context, cluster, 40_000);
    expect(agent.calls.length).toBe(1);
    expect(await cluster.usdcOf(cluster.walletAddress)).toBe(0n);
    expect(await balanceOf(next, owner.key)).toEqual({ available: '0.00', held: '0.00' });
  });

  it.for(['while the agent is working', 'after the agent has answered, before the end is recorded'])(
    '%s on a call paid from a treasury: the next one brings it to its end, charged once',
    async (name, context: TestContext) => {
      const { expect } = context;
      const scene = await setScene(context);
      const { cluster, agent, owner } = scene;
      const first = at(cluster, scene.process);
      const client = await newClient(first, '0.12');
      const cleanups: (() => unknown)[] = [];
      const reached = moments[name]?.(scene, { onCleanup: (step) => cleanups.push(step) });
      const { body } = await first.request('POST', `/invoke/${agent.id}`, {
        key: client.key,
        body: { task: 'survive' },
      });
      await reached;
      await scene.process.kill();
      for (const step of cleanups) await step();
      agent.behave(echo);

      const next = at(cluster, await cluster.startProcess());
      expect(await balanceOf(next, client.key)).toEqual({ available: '0.07', held: '0.05' });
      expect(await untilEnded(next, client.key, body.data.requestId, 25_000)).toMatchObject({
        status: 'completed',
        cost: '0.05',
      });
      expect(new Set(agent.calls.map((each) => each.headers['idempotency-key']))).toEqual(
        new Set([body.data.requestId]),
      );
      expect(await balanceOf(next, client.key)).toEqual({ available: '0.07', held: '0.00' });
      expect(await balanceOf(next, owner.key)).toEqual({ available: '0.05', held: '0.00' });
      await expectBooksToMatchChain(context, cluster, 5000);
    },
  );
});
