import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startWatch } from '../../service/test/support/watch.ts';
import { chainReader, chainWriter, USDC, usdcBalance } from '../test/chain-clients.ts';
import { channelIdOf, newChannel, settlement } from '../test/channels.ts';
import { groupIsGone } from '../test/process-group.ts';
import { identity, reputation } from '../test/registries.ts';
import { DEPOSIT_COLLECTOR_ADDRESS } from './addresses.ts';
import { identityRegistryCode } from './artifacts.ts';
import { depositCollectorAbi } from './batch-settlement-abi.ts';
import { installMissingContracts } from './chain-funding.ts';
import { callChain } from './chain-rpc-client.ts';
import { type LocalChain, type LocalChainOptions, startLocalChain } from './local-chain.ts';
import { usdcAbi } from './usdc-abi.ts';

const payer = privateKeyToAccount(generatePrivateKey());
const payee = privateKeyToAccount(generatePrivateKey()).address;
const wallets = [{ address: payer.address, ethWei: 10n ** 18n, usdcMicro: 1_000_000n }];
let dataDir: string;
let running: LocalChain[];

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'local-chain-'));
  running = [];
});
afterEach(async () => {
  await Promise.all(running.map((chain) => chain.stop()));
  await rm(dataDir, { recursive: true, force: true });
});

async function start(options: LocalChainOptions = {}): Promise<LocalChain> {
  const chain = await startLocalChain({ dataDir, ...options });
  running.push(chain);
  return chain;
}

async function pay(chain: LocalChain, value: bigint) {
  const request = { address: USDC, abi: usdcAbi, functionName: 'transfer', args: [payee, value] } as const;
  const hash = await chainWriter(chain.rpcUrl, payer).writeContract(request);
  return chainReader(chain.rpcUrl).waitForTransactionReceipt({ hash });
}

it('a new chain answers in under a second, with funded wallets', async () => {
  const tookMs = startWatch();
  const chain = await start({ wallets });
  expect(tookMs()).toBeLessThan(1000);
  expect(chain.isNew).toBe(true);
  expect(await chainReader(chain.rpcUrl).getChainId()).toBe(84532);
  expect(await chainReader(chain.rpcUrl).getBalance(payer)).toBe(10n ** 18n);
  expect(await usdcBalance(chain.rpcUrl, payer.address)).toBe(1_000_000n);
});

it('balances, nonces, blocks, receipts and logs outlive a stop, and time goes on', async () => {
  const first = await start({ wallets });
  const receipt = await pay(first, 250_000n);
  const block = await chainReader(first.rpcUrl).getBlock({ blockNumber: receipt.blockNumber });
  await first.stop();
  const restartedMs = Date.now();
  const second = await start({ wallets });
  const reader = chainReader(second.rpcUrl);
  expect(second.isNew).toBe(false);
  expect(await usdcBalance(second.rpcUrl, payer.address)).toBe(750_000n);
  expect(await usdcBalance(second.rpcUrl, payee)).toBe(250_000n);
  expect(await reader.getTransactionCount(payer)).toBe(1);
  expect(await reader.getTransactionReceipt({ hash: receipt.transactionHash })).toEqual(receipt);
  expect((await reader.getBlock({ blockNumber: receipt.blockNumber })).hash).toBe(block.hash);
  const logs = await reader.getContractEvents({
    address: USDC,
    abi: usdcAbi,
    args: { to: payee },
    eventName: 'Transfer',
    fromBlock: 0n,
  });
  expect(logs.map((log) => log.transactionHash)).toEqual([receipt.transactionHash]);
  const latest = await reader.getBlock();
  expect(latest.number).toBeGreaterThan(receipt.blockNumber);
  expect(Number(latest.timestamp)).toBeGreaterThanOrEqual(Math.floor(restartedMs / 1000));
  expect(Number(latest.timestamp)).toBeLessThanOrEqual(Date.now() / 1000 + 1);
  expect((await pay(second, 1n)).status).toBe('success');
});

it('a mined transaction is on disk about a second later, without a stop', async () => {
  const first = await start({ wallets });
  const { transactionHash } = await pay(first, 250_000n);
  const saved = async () => gunzipSync(await readFile(join(dataDir, 'chain', 'state.json.gz'))).toString();
  await expect.poll(saved).toContain(transactionHash);
  process.kill(-first.processGroup, 'SIGKILL');
  await first.stop();
  expect(await usdcBalance((await start()).rpcUrl, payee)).toBe(250_000n);
});

it('a damaged newest state falls back to the one before, and says so', async () => {
  const first = await start({ wallets });
  await first.stop();
  await writeFile(join(dataDir, 'chain', 'state.json.gz'), 'torn');
  const log = vi.fn();
  const second = await start({ log });
  expect(await usdcBalance(second.rpcUrl, payer.address)).toBe(1_000_000n);
  expect(log).toHaveBeenCalledWith('warn', expect.stringContaining('loaded state.previous.json.gz instead'));
});

it('a state that cannot be read is an error, never an empty chain', async () => {
  await (await start({ wallets })).stop();
  for (const file of ['state.json.gz', 'state.previous.json.gz']) await writeFile(join(dataDir, 'chain', file), 'torn');
  await expect(startLocalChain({ dataDir })).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
  for (const file of ['state.json.gz', 'state.previous.json.gz']) await rm(join(dataDir, 'chain', file));
  await expect(startLocalChain({ dataDir })).rejects.toMatchObject({ code: 'STATE_UNREADABLE' });
});

it('a chain that an older version saved gets the public contracts, and loses none of what they hold afterwards', async () => {
  const first = await start({ wallets });
  for (const { address } of [identity, reputation, settlement, { address: DEPOSIT_COLLECTOR_ADDRESS }])
    await callChain(first.rpcUrl, 'anvil_setCode', address, '0x');
  await first.stop();
  const second = await start();
  await chainWriter(second.rpcUrl, payer).writeContract({ ...identity, functionName: 'register' });
  await second.stop();
  const reader = chainReader((await start()).rpcUrl);
  expect(await reader.readContract({ ...identity, functionName: 'ownerOf', args: [0n] })).toBe(payer.address);
  const linked = await reader.readContract({ ...reputation, functionName: 'getIdentityRegistry' });
  expect(linked).toBe(identity.address);
  const config = newChannel(payer.address, payee);
  expect(await reader.readContract({ ...settlement, functionName: 'getChannelId', args: [config] })).toBe(
    channelIdOf(config),
  );
  const collector = { address: DEPOSIT_COLLECTOR_ADDRESS, abi: depositCollectorAbi } as const;
  expect(await reader.readContract({ ...collector, functionName: 'x402BatchSettlement' })).toBe(settlement.address);
});

it('a chain that somebody else started gets the public contracts that it lacks, and keeps those that it has', async () => {
  const { rpcUrl } = await start({ dataDir: undefined });
  await callChain(rpcUrl, 'anvil_setCode', identity.address, '0x');
  await callChain(rpcUrl, 'anvil_setCode', reputation.address, '0x01');
  await Promise.all([installMissingContracts(rpcUrl), installMissingContracts(rpcUrl)]);
  const codes = [identity, reputation].map(({ address }) => chainReader(rpcUrl).getCode({ address }));
  expect(await Promise.all(codes)).toEqual([identityRegistryCode, '0x01']);
});

it('a second start in the same folder is refused while the first one runs', async () => {
  const first = await start({ wallets });
  await expect(startLocalChain({ dataDir })).rejects.toMatchObject({ code: 'DATA_DIR_IN_USE' });
  expect(await usdcBalance(first.rpcUrl, payer.address)).toBe(1_000_000n);
});

it('killing the process that started it, group and all, ends anvil, and the folder can be used again', async () => {
  const script = fileURLToPath(new URL('../test/hold-chain.ts', import.meta.url));
  const holder = spawn(process.execPath, [script, dataDir], { detached: true, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(holder.stdout, 'data')) as [Buffer];
  const { processGroup, rpcUrl } = JSON.parse(String(line)) as { processGroup: number; rpcUrl: string };
  expect(await chainReader(rpcUrl).getChainId()).toBe(84532);
  process.kill(-(holder.pid ?? 0), 'SIGKILL');
  const tookMs = startWatch();
  await expect.poll(() => groupIsGone(processGroup), { interval: 10 }).toBe(true);
  expect(tookMs()).toBeLessThan(1000);
  expect((await start()).isNew).toBe(false);
});

it('an anvil that dies by itself is noticed, and leaves no watchdog', async () => {
  const chain = await start();
  process.kill(-chain.processGroup, 'SIGKILL');
  await chain.ended;
  await chain.stop();
  expect(groupIsGone(chain.processGroup)).toBe(true);
});

it('many senders at once all get mined', async () => {
  const senders = Array.from({ length: 20 }, () => privateKeyToAccount(generatePrivateKey()));
  const chain = await start({
    dataDir: undefined,
    wallets: senders.map(({ address }) => ({ address, ethWei: 10n ** 18n, usdcMicro: 0n })),
  });
  const perSender = 25;
  const fees = { gas: 21_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n };
  await Promise.all(
    senders.map(async (sender) => {
      const writer = chainWriter(chain.rpcUrl, sender);
      for (let nonce = 0; nonce < perSender; nonce++) await writer.sendTransaction({ to: payee, nonce, ...fees });
    }),
  );
  const reader = chainReader(chain.rpcUrl);
  const counts = async () => new Set(await Promise.all(senders.map((sender) => reader.getTransactionCount(sender))));
  await expect.poll(counts).toEqual(new Set([perSender]));
});
