import { setTimeout as sleep } from 'node:timers/promises';
import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { createUsdcClient } from '../../../../src/chain/usdc-client.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { insist } from '../../../chaos/torture/insist.ts';
import { askDatabase, contradictions, walletByBooks } from '../../../support/books.ts';
import { send } from '../../../support/harness.ts';
import { isLong } from '../../../support/long.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../../../support/node-cluster.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { newVoucherPayer } from '../../../support/voucher-payer.ts';

const PRICE = 10_000n;
const DEPOSIT = 500_000n;
let cluster: NodeCluster;
/** Those that live; a load balancer sends each request to the next one. */
let processes: NodeProcess[];
let agent: TestAgent;
let key: string;

const env = {
  CHANNELS: 'true',
  CHANNEL_MIN_DEPOSIT: '0.5',
  CHANNEL_CLAIM_THRESHOLD: '0.02',
  CHANNEL_CLAIM_INTERVAL_SECONDS: '1',
};
beforeAll(async () => {
  cluster = await startCluster();
  processes = [await cluster.startProcess(env), await cluster.startProcess(env)];
  const [first] = processes as [NodeProcess];
  agent = await startTestAgent(at(cluster, first), { owner: await cluster.newAccount(), perRequest: '0.01' });
  ({ key } = await cluster.newAccount());
});
afterEach(async () => expect(await contradictions(cluster.databaseUrl)).toEqual([]));
afterAll(async () => {
  await agent?.die();
  await cluster?.stop();
});

let turn = 0;
const nextUrl = () => (processes[turn++ % processes.length] as NodeProcess).baseUrl;

type Pay = (task: string) => Promise<{ requestId: string; status: string }>;
interface Caller {
  readonly address: string;
  readonly pay: Pay;
}

/** The stock client with one channel. It repeats a call whose answer was lost under the same Idempotency-Key, and signs anew. */
async function stockCaller(): Promise<Caller & { call(task: string, idempotencyKey?: string): Promise<Response> }> {
  const wallet = await cluster.newWallet(DEPOSIT);
  const reader = createPublicClient({ transport: http(cluster.chain.rpcUrl) });
  const { address, signTypedData } = wallet;
  const signer = { address, signTypedData, readContract: reader.readContract.bind(reader) };
  const client = new x402Client().register(
    `eip155:${cluster.chain.chainId}`,
    // biome-ignore lint/suspicious/noExplicitAny: the signer of the stock packages is narrower than viem's
    new BatchSettlementEvmScheme(signer as any),
  );
  const balanced: typeof fetch = (input, init) => {
    const request = new Request(input, init);
    return fetch(new Request(request.url.replace(/^http:\/\/[^/]+/, nextUrl()), request));
  };
  const pay = wrapFetchWithPayment(balanced, client);
  const call = (task: string, idempotencyKey?: string) =>
    pay(`${nextUrl()}/invoke/${agent.id}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        'content-type': 'application/json',
        ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
      },
      body: JSON.stringify({ task }),
    });
  return {
    address,
    call,
    async pay(task) {
      for (;;) {
        const answer = await call(task, `${address}-${task.replaceAll(' ', '-')}`).catch(() => null);
        const { data } = answer?.status === 200 ? ((await answer.json()) as { data: never }) : { data: null };
        if (hasEnded(data)) return data;
      }
    },
  };
}

/** A payer that shows the identical payment until it has the answer. */
async function stubbornCaller(): Promise<Caller> {
  const { token } = cluster.ctx.chain;
  const { domainSeparator } = await createUsdcClient({ rpcUrl: cluster.chain.rpcUrl, token }).readToken();
  const chain = { ...cluster.ctx.chain, wallet: cluster.walletAddress, domainSeparator };
  const payer = newVoucherPayer({ ctx: { chain, clock: systemClock } } as never);
  const address = payer.config.payer;
  await cluster.chain.fund([{ address: address as `0x${string}`, ethWei: 0n, usdcMicro: DEPOSIT }]);
  let chargedMicro = 0n;
  return {
    address,
    async pay(task) {
      const path = `/invoke/${agent.id}`;
      const given = { key, body: { task } };
      const unpaid = await insist(nextUrl, 'POST', path, given);
      const changes = chargedMicro === 0n ? { payload: await payer.deposit(DEPOSIT) } : {};
      chargedMicro += PRICE;
      const headers = payer.pay(unpaid.answer, chargedMicro, changes);
      for (;;) {
        const { answer } = await insist(nextUrl, 'POST', path, { ...given, headers });
        expect(answer.status, JSON.stringify(answer.body)).toBe(200);
        if (hasEnded(answer.body.data)) return answer.body.data;
      }
    },
  };
}

const hasEnded = (data: { status: string } | null): data is { requestId: string; status: string } =>
  data !== null && data.status !== 'running' && data.status !== 'pending';

const channelsOf = (addresses: readonly string[]) =>
  askDatabase<Record<string, string>>(
    cluster.databaseUrl,
    `select distinct balance_micro, charged_micro, reserved_micro, claimed_micro, count(*)::int as channels
       from channel where payer = any($1) group by 1, 2, 3, 4`,
    [addresses.map((address) => address.toLowerCase())],
  );

it('16 parallel calls of one channel at two processes are all answered, and each is charged once', async () => {
  const { address, call } = await stockCaller();
  expect((await call('first')).status).toBe(200);
  const before = agent.calls.length;
  const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => call(`parallel ${index}`)));
  expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
  expect(agent.calls.length - before).toBe(16);
  expect(await channelsOf([address])).toMatchObject([
    { balance_micro: String(DEPOSIT), charged_micro: String(17n * PRICE), reserved_micro: '0', channels: 1 },
  ]);
});

/** Each process tells what it has read for a second: asked more often, it says the same. */
const SAMPLE_MS = 100;

/** Reads the reserves again and again at a process that lives; answers what was read. */
function sampleReserves() {
  const samples = new Map<string, number>();
  let isOver = false;
  const looping = (async () => {
    for (; !isOver; await sleep(SAMPLE_MS)) {
      const answer = await send(nextUrl(), 'GET', '/payments/reserves').catch(() => null);
      if (answer?.status !== 200) continue;
      const { status, difference } = answer.body.data;
      const sample = status === 'balanced' ? status : `${status} by ${difference}`;
      samples.set(sample, (samples.get(sample) ?? 0) + 1);
    }
  })();
  return async () => {
    isOver = true;
    await looping;
    return samples;
  };
}

/** SIGKILL; the others learn of it at once, and not by missed heartbeats. Another one is started in its place. */
async function killOne(): Promise<void> {
  const dying = processes.shift() as NodeProcess;
  await dying.kill();
  await askDatabase(cluster.databaseUrl, 'delete from process where id = $1', [dying.processId]);
  processes.push(await cluster.startProcess(env));
}

const CHANNELS = isLong ? 32 : 16;
const CALLS = isLong ? 20 : 3;
// The seventh failure of the reference server: one that loses its memory forfeits what it has not claimed.
it(`processes are killed under ${CHANNELS} channels: no acknowledged charge is lost, and the wallet gains what was charged`, async () => {
  const [walletBefore, callsBefore] = [await settledWallet(), agent.calls.length];
  const callers = await Promise.all(
    Array.from({ length: CHANNELS }, (_, index) => (index % 2 === 0 ? stockCaller() : stubbornCaller())),
  );
  const stopSampling = sampleReserves();
  const acknowledged: string[] = [];
  let deaths = Promise.resolve();
  const work = callers.map(async ({ pay }, caller) => {
    for (let index = 0; index < CALLS; index++) {
      const { requestId, status } = await pay(`call ${caller} ${index}`);
      expect(status).toBe('completed');
      acknowledged.push(requestId);
      if (acknowledged.length === CHANNELS || acknowledged.length === 2 * CHANNELS) deaths = deaths.then(killOne);
    }
  });
  await Promise.all(work);
  await deaths;

  const total = CHANNELS * CALLS;
  expect(new Set(acknowledged).size).toBe(total);
  const runs = agent.calls.slice(callsBefore).map(({ headers }) => headers['idempotency-key']);
  expect(new Set(runs)).toEqual(new Set(acknowledged));
  await expect.poll(() => cluster.usdcOf(cluster.walletAddress)).toBe(walletBefore + BigInt(total) * PRICE);
  await expect.poll(() => walletByBooks(cluster.databaseUrl)).toBe(walletBefore + BigInt(total) * PRICE);
  const charged = String(BigInt(CALLS) * PRICE);
  expect(await channelsOf(callers.map(({ address }) => address))).toEqual([
    {
      balance_micro: String(DEPOSIT),
      charged_micro: charged,
      reserved_micro: '0',
      claimed_micro: charged,
      channels: CHANNELS,
    },
  ]);
  const samples = await stopSampling();
  expect([...samples.keys()]).toEqual(['balanced']);
  expect(samples.get('balanced')).toBeGreaterThan(10);
});

/** What the wallet holds once the calls of the test before are claimed. */
async function settledWallet(): Promise<bigint> {
  const owed = `select count(*)::int as count from channel where charged_micro + reserved_micro > claimed_micro`;
  const read = async () => (await askDatabase<{ count: number }>(cluster.databaseUrl, owed))[0]?.count;
  await expect.poll(read).toBe(0);
  const books = () => walletByBooks(cluster.databaseUrl);
  await expect.poll(books).toBe(await cluster.usdcOf(cluster.walletAddress));
  return books();
}
