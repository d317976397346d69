import { spawnSync } from 'node:child_process';
import { chmod, chown, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createUsdcClient } from '../../src/chain/usdc-client.ts';
import { contradictions, walletByBooks } from '../support/books.ts';
import { send } from '../support/harness.ts';
import { isLong } from '../support/long.ts';
import { killAll, leftOf, treeOf } from '../support/process-tree.ts';
import { removePostgresDataDir } from '../support/remove-data-dir.ts';
import { bundledMain, runToEnd, type ServiceProcess, startService } from '../support/service-process.ts';
import { deposit } from '../support/treasury.ts';
import { payV2 } from '../support/x402-payer.ts';

const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
/** A checkout under /root can't be read by others; then there is nothing to try. */
const canOthersRead =
  isRoot && spawnSync('test', ['-r', import.meta.filename], { uid: NOBODY, gid: NOBODY }).status === 0;

/** The service with what a client needs to pay it. */
async function clientOf({ local }: ServiceProcess) {
  const { rpcUrl, usdc: token, chainId } = local.chain;
  const usdc = createUsdcClient({ rpcUrl, token: token.toLowerCase() });
  const { name, version } = await usdc.readToken();
  const wallets = local.wallets.map(({ privateKey }) => privateKeyToAccount(privateKey));
  const [, payer] = wallets;
  if (!payer) throw new Error('local.json has too few wallets');
  return {
    ctx: { chain: { tokenName: name, tokenVersion: version, chainId, token } },
    request: (method: string, path: string, options = {}) => send(local.baseUrl, method, path, options),
    newAccount: () => Promise.reject(new Error('local mode has its account')),
    newWallet: async () => payer,
    usdcOf: (address: string) => usdc.balanceOf(address),
    wallets,
  };
}
type Client = Awaited<ReturnType<typeof clientOf>>;

/** A balance without the calls that are left of the plan: a process leases some for the hour, and those of one that ended are void. */
const withoutCalls = ({ spendable, ...rest }: { spendable: { callsLeft: number | null; total: string } }) => ({
  ...rest,
  total: spendable.total,
});

/** All that must be the same after a restart. */
async function stateOf(service: ServiceProcess) {
  const { local } = service;
  const client = await clientOf(service);
  const key = local.apiKey;
  const agents = (await client.request('GET', '/agents')).body.data.agents;
  const addresses = [local.account.address, ...local.wallets.map(({ address }) => address)];
  const { address: nodeWallet } = (await client.request('POST', '/payments/treasury', { key, body: {} })).body.data;
  const onChain = await client.usdcOf(nodeWallet);
  expect(await walletByBooks(local.database)).toBe(onChain);
  expect(await contradictions(local.database)).toEqual([]);
  return {
    keys: [local.apiKey, local.apiKeys.free, local.apiKeys.pro],
    known: local.agents.map(({ id, name, identityToken }) => ({ id, name, identityToken })),
    agents: agents.map(({ id, name }: { id: string; name: string }) => `${id} ${name}`).sort(),
    online: await Promise.all(
      local.agents.map(async ({ id }) => (await client.request('GET', `/agents/${id}/status`)).body.data.status),
    ),
    balance: withoutCalls((await client.request('GET', '/payments/balance', { key })).body.data),
    payments: (await client.request('GET', '/payments/history', { key })).body.data.payments,
    wallets: await Promise.all(addresses.map((address) => client.usdcOf(address))),
    onChain,
    // Nodes that joined the chain know it by that.
    rpcUrl: local.chain.rpcUrl,
  };
}

async function payForCall({ local }: ServiceProcess, client: Client) {
  const [wallet] = client.wallets;
  const [agent] = local.agents;
  if (!wallet || !agent) throw new Error('local.json has no wallet or agent');
  const call = { key: local.apiKey, body: { task: 'hello' } };
  const path = `/invoke/${agent.id}`;
  const unpaid = await client.request('POST', path, { ...call, headers: { 'x-payment-method': 'x402' } });
  const headers = await payV2(client, wallet, unpaid);
  return () => client.request('POST', path, { ...call, headers });
}

/**
 * The user who runs the tests. As root, the long run tries a normal user beside it: whether files, database and chain of its own start, and
 * start again after every death. `.ci/run` runs this file as a normal user of its own (scripts/start-unprivileged.sh).
 */
const users = [
  { who: isRoot ? 'as root' : 'as a normal user', uid: undefined, isPossible: true, isWhole: true, diesMildly: true },
  { who: 'as a normal user', uid: NOBODY, isPossible: canOthersRead, isWhole: false, diesMildly: canOthersRead },
].slice(0, isRoot && isLong ? 2 : 1);

describe.each(users)('npm start $who', ({ uid, isPossible, isWhole, diesMildly }) => {
  let dataDir: string;
  let service: ServiceProcess;
  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'agent-network-start-'));
    await chmod(dataDir, 0o711);
    if (uid !== undefined) await chown(dataDir, uid, uid);
  });
  afterAll(async () => {
    const left = service ? treeOf(service.pid) : [];
    if (left.length > 0) await service.killGroup();
    await leftOf(left);
    await removePostgresDataDir(dataDir);
  });
  const start = async (program?: string) => {
    service = await startService({ dataDir, uid, program });
    return service;
  };
  /** The first start is what `npm start` runs, to the letter. Those after it run the same in one file: they differ in what they find. */
  const startAgain = async () => start(await bundledMain());

  /** Each time: the first refusal has left nothing that the second takes for a chain. */
  const expectRefusedWithoutChain = async () => {
    await rename(join(dataDir, 'chain'), join(dataDir, 'chain.kept'));
    for (let turn = 0; turn < 2; turn++) {
      const refused = await runToEnd({ dataDir, uid, program: await bundledMain() });
      expect(refused.code).toBe(1);
      expect(refused.output).toMatch(
        /knows \d+ transactions of the local chain, but .*chain holds no state.*Nothing was changed/s,
      );
    }
    await rm(join(dataDir, 'chain'), { recursive: true });
    await rename(join(dataDir, 'chain.kept'), join(dataDir, 'chain'));
  };

  it.runIf(isPossible)(
    'is ready within a minute on a busy machine, with the example agents online, and tells its secrets to its owner alone',
    async () => {
      const { readyMs, local } = await start();
      expect(readyMs).toBeLessThan(60_000);
      expect(local).toMatchObject({
        baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
        apiKey: expect.stringMatching(/^ank_test_/),
        apiKeys: { free: expect.stringMatching(/^ank_test_/), pro: expect.stringMatching(/^ank_test_/) },
        account: { address: expect.stringMatching(/^0x/), privateKey: expect.stringMatching(/^0x[0-9a-f]{64}$/) },
        chain: { rpcUrl: expect.stringMatching(/^http:\/\/127/), chainId: 84_532, usdc: expect.stringMatching(/^0x/) },
        database: expect.stringMatching(/^postgres/),
      });
      expect(local.wallets.length).toBeGreaterThanOrEqual(1);
      expect(local.agents.map((agent) => Object.keys(agent).sort())).toEqual(
        Array(3).fill(['endpoint', 'id', 'identityToken', 'name']),
      );
      for (const name of ['local.json', 'secrets.json']) {
        const file = await stat(join(dataDir, name));
        expect({ name, mode: file.mode & 0o777, uid: file.uid }).toEqual({
          name,
          mode: 0o600,
          uid: uid ?? process.getuid?.(),
        });
      }
      const { online, wallets } = await stateOf(service);
      expect(online).toEqual(['online', 'online', 'online']);
      expect(wallets.every((micro) => micro === 1_000_000_000n)).toBe(true);
    },
  );

  it.runIf(diesMildly)(
    'ends within 5 s of Ctrl-C, leaves no process behind, refuses to start without its chain, and starts again as it was',
    async () => {
      const client = await clientOf(service);
      const { treasuryId } = (
        await client.request('POST', '/payments/treasury', { key: service.local.apiKey, body: {} })
      ).body.data;
      await deposit(client, service.local.apiKey, treasuryId, '12.345678');
      expect((await (await payForCall(service, client))()).body.data).toMatchObject({ status: 'completed' });
      const before = await stateOf(service);
      const processes = treeOf(service.pid);
      expect(processes.length).toBeGreaterThan(4);
      const { code, tookMs, output } = await service.interrupt();
      expect(code).toBe(0);
      expect(tookMs).toBeLessThan(5000);
      // Libraries warn of settings of ours.
      expect(output).not.toContain('WARNING');
      expect(await leftOf(processes)).toEqual([]);
      if (isWhole) await expectRefusedWithoutChain();
      expect(await stateOf(await startAgain())).toEqual(before);
    },
  );

  it.runIf(diesMildly)(
    'starts again as it was after kill -9 of its process group, right after a payment was settled',
    async () => {
      const client = await clientOf(service);
      const pay = await payForCall(service, client);
      const paid = await pay();
      expect(paid.body.data).toMatchObject({ status: 'completed' });
      await service.killGroup();
      await startAgain();
      const after = await clientOf(service);
      const [wallet] = after.wallets;
      expect(await after.usdcOf(wallet?.address ?? '')).toBeLessThan(1_000_000_000n);
      const { requestId } = paid.body.data;
      expect((await after.request('GET', `/invoke/${requestId}`, { key: service.local.apiKey })).body.data).toEqual(
        paid.body.data,
      );
      expect((await stateOf(service)).online).toEqual(['online', 'online', 'online']);
    },
  );

  it.runIf(isPossible)('starts again as it was after kill -9 of everything, database and chain as well', async () => {
    const client = await clientOf(service);
    const pay = await payForCall(service, client);
    expect((await pay()).body.data).toMatchObject({ status: 'completed' });
    const before = await stateOf(service);
    const processes = treeOf(service.pid);
    killAll(processes);
    expect(await leftOf(processes)).toEqual([]);
    expect(await stateOf(await startAgain())).toEqual(before);
  });

  it.runIf(isWhole)('refuses a second one in the same folder, by name, and is not disturbed by it', async () => {
    const before = await stateOf(service);
    const second = await runToEnd({ dataDir, uid, program: await bundledMain() });
    expect(second.code).toBe(1);
    expect(second.output).toMatch(/in use by another service \(process \d+\)/);
    expect(second.output).toContain(String(service.pid));
    expect(await stateOf(service)).toEqual(before);
  });
});
