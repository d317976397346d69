import { BatchSettlementEvmScheme } from '@x402/evm/batch-settlement/client';
import { wrapFetchWithPayment, x402Client } from '@x402/fetch';
import { createPublicClient, http } from 'viem';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { askDatabase, contradictions } from '../../support/books.ts';
import { at, type NodeCluster, type NodeProcess, startCluster } from '../../support/node-cluster.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

const PRICE = 10_000n;
const DEPOSIT = 500_000n;
let cluster: NodeCluster;
let processes: [NodeProcess, NodeProcess];
let agent: TestAgent;
let key: string;

const env = { CHANNELS: 'true', CHANNEL_MIN_DEPOSIT: '0.5', CHANNEL_CLAIM_THRESHOLD: '0.05' };
beforeAll(async () => {
  cluster = await startCluster();
  processes = [await cluster.startProcess(env), await cluster.startProcess(env)];
  agent = await startTestAgent(at(cluster, processes[0]), { owner: await cluster.newAccount(), perRequest: '0.01' });
  ({ key } = await cluster.newAccount());
});
afterEach(async () => expect(await contradictions(cluster.databaseUrl)).toEqual([]));
afterAll(async () => {
  await agent?.die();
  await cluster?.stop();
});

/** The stock client with one channel: its calls go to whichever process is named. */
async function newCaller(usdcMicro = DEPOSIT) {
  const wallet = await cluster.newWallet(usdcMicro);
  const reader = createPublicClient({ transport: http(cluster.chain.rpcUrl) });
  const { address, signTypedData } = wallet;
  const signer = { address, signTypedData, readContract: reader.readContract.bind(reader) };
  const client = new x402Client().register(
    `eip155:${cluster.chain.chainId}`,
    // biome-ignore lint/suspicious/noExplicitAny: the signer of the stock packages is narrower than viem's
    new BatchSettlementEvmScheme(signer as any),
  );
  let turn = 0;
  // As a load balancer does: the retry of a call comes to another process than the call.
  const balanced: typeof fetch = (input, init) => {
    const { baseUrl } = processes[turn++ % processes.length] as NodeProcess;
    const request = new Request(input, init);
    return fetch(new Request(request.url.replace(/^http:\/\/[^/]+/, baseUrl), request));
  };
  const pay = wrapFetchWithPayment(balanced, client);
  const call = (task: string) =>
    pay(`${processes[0].baseUrl}/invoke/${agent.id}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ task }),
    });
  return { wallet, call };
}

const channelsOf = (address: string) =>
  askDatabase<Record<string, string>>(
    cluster.databaseUrl,
    'select balance_micro, charged_micro, reserved_micro from channel where payer = $1',
    [address.toLowerCase()],
  );

it('16 parallel calls of one channel at two processes are all answered, and each is charged once', async () => {
  const { wallet, call } = await newCaller();
  expect((await call('first')).status).toBe(200);
  const before = agent.calls.length;
  const answers = await Promise.all(Array.from({ length: 16 }, (_, index) => call(`parallel ${index}`)));
  expect(answers.map(({ status }) => status)).toEqual(Array(16).fill(200));
  expect(agent.calls.length - before).toBe(16);
  expect(await channelsOf(wallet.address)).toEqual([
    { balance_micro: String(DEPOSIT), charged_micro: String(17n * PRICE), reserved_micro: '0' },
  ]);
});
