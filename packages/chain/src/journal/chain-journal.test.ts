import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { encodeFunctionData, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { bytesArguments, openAuthorization, signTransfer } from '../../test/authorization.ts';
import { chainReader, USDC, usdcBalance } from '../../test/chain-clients.ts';
import { groupIsGone } from '../../test/process-group.ts';
import { callChain, callChainBatch, type RpcCall } from '../chain-rpc-client.ts';
import { type LocalChain, startLocalChain } from '../local-chain.ts';
import { usdcAbi } from '../usdc-abi.ts';

const payers = Array.from({ length: 6 }, () => privateKeyToAccount(generatePrivateKey()));
const payee = privateKeyToAccount(generatePrivateKey()).address;
const wallets = payers.map(({ address }) => ({ address, ethWei: 10n ** 18n, usdcMicro: 1_000_000n }));
const FEES = { gas: 200_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 0n };
let dataDir: string;
let folder: string;
let chain: LocalChain | undefined;
let holder: ChildProcess | undefined;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'chain-journal-'));
  folder = join(dataDir, 'chain');
  chain = undefined;
  holder = undefined;
});
afterEach(async () => {
  if (holder?.exitCode === null && holder.signalCode === null) process.kill(-(holder.pid ?? 0), 'SIGKILL');
  await chain?.stop();
  await rm(dataDir, { recursive: true, force: true });
});

const start = async (log = vi.fn()) => {
  chain = await startLocalChain({ dataDir, wallets, log });
  return chain.rpcUrl;
};

const script = fileURLToPath(new URL('../../test/hold-chain.ts', import.meta.url));
/** Where Node.js keeps what it made of the modules: each process starts a third faster. */
const NODE_COMPILE_CACHE = fileURLToPath(new URL('../../../../node_modules/.cache/agent-network', import.meta.url));
let anvilGroup = 0;

/** The chain in a process group of its own, to be killed with all that is in it. */
async function startElsewhere(): Promise<string> {
  holder = spawn(process.execPath, [script, dataDir], {
    detached: true,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_COMPILE_CACHE },
  });
  const [line] = (await once(holder.stdout as NodeJS.ReadableStream, 'data')) as [Buffer];
  const { processGroup, rpcUrl } = JSON.parse(String(line)) as { processGroup: number; rpcUrl: string };
  anvilGroup = processGroup;
  return rpcUrl;
}

async function killAll(): Promise<void> {
  const gone = once(holder as ChildProcess, 'exit');
  process.kill(-(holder?.pid ?? 0), 'SIGKILL');
  process.kill(-anvilGroup, 'SIGKILL');
  await gone;
  await expect.poll(() => groupIsGone(anvilGroup), { interval: 5 }).toBe(true);
}

const transfer = (value: bigint) =>
  encodeFunctionData({ abi: usdcAbi, functionName: 'transfer', args: [payee, value] });

async function sign(payer: (typeof payers)[number], nonce: number, data: Hex): Promise<Hex> {
  return payer.signTransaction({ type: 'eip1559', chainId: 84532, to: USDC, nonce, data, ...FEES });
}

type Receipt = { blockNumber: Hex; transactionIndex: Hex; status: Hex; transactionHash: Hex };
const receiptOf = (rpcUrl: string, hash: unknown) =>
  callChain<Receipt | null>(rpcUrl, 'eth_getTransactionReceipt', hash);

/** What anyone was told of a transaction: its place, its outcome, and the time of its block. */
async function told(rpcUrl: string, hash: unknown) {
  const { blockNumber, transactionIndex, status } = (await receiptOf(rpcUrl, hash)) as Receipt;
  const { timestamp } = await callChain<{ timestamp: Hex }>(rpcUrl, 'eth_getBlockByNumber', blockNumber, false);
  return { hash, blockNumber, transactionIndex, status, timestamp };
}

async function expectAll(rpcUrl: string, seen: readonly Awaited<ReturnType<typeof told>>[]): Promise<void> {
  expect(await Promise.all(seen.map(({ hash }) => told(rpcUrl, hash)))).toEqual(seen);
}

it('a transaction with a receipt survives a kill -9 of everything, in the same block at the same time', async () => {
  await start();
  await chain?.stop();
  chain = undefined;
  const seen: Awaited<ReturnType<typeof told>>[] = [];
  const nonces = payers.map(() => 0);
  for (let round = 0; round < 4; round++) {
    const rpcUrl = await startElsewhere();
    await expectAll(rpcUrl, seen);
    const enough = 20 * (round + 1);
    await Promise.all(
      payers.map(async (payer, index) => {
        while (seen.length < enough) {
          const nonce = nonces[index] ?? 0;
          nonces[index] = nonce + 1;
          // Every third one reverts: its outcome has to stay as it is too.
          const value = nonce % 3 === 2 ? 10n ** 12n : 1n;
          const raw = await sign(payer, nonce, transfer(value));
          seen.push(await told(rpcUrl, await callChain(rpcUrl, 'eth_sendRawTransaction', raw)));
        }
      }),
    );
    await killAll();
  }
  const rpcUrl = await start();
  await expectAll(rpcUrl, seen);
  expect(await usdcBalance(rpcUrl, payee)).toBe(BigInt(seen.filter(({ status }) => status === '0x1').length));
});

it('test money, settings and mined blocks of other programs come back as well, once', async () => {
  await start();
  await chain?.stop();
  const rpcUrl = await startElsewhere();
  const minter = privateKeyToAccount(generatePrivateKey()).address;
  const rich = privateKeyToAccount(generatePrivateKey()).address;
  const blocks = Number(await callChain(rpcUrl, 'eth_blockNumber'));
  const mint = { from: minter, to: USDC, data: transfer(0n), gasPrice: '0x0' };
  const calls: RpcCall[] = [
    ['anvil_impersonateAccount', minter],
    ['anvil_setBalance', rich, '0x64'],
    ['anvil_addBalance', rich, '0x1'],
    ['eth_sendTransaction', mint],
    ['evm_increaseTime', 1000],
    ['anvil_mine', '0x2', '0xa'],
    ['eth_getBalance', rich, 'latest'],
  ];
  const answers = await callChainBatch(rpcUrl, calls);
  expect(answers[6]).toBe('0x65');
  const before = await told(rpcUrl, answers[3]);
  const latest = await callChain<{ number: Hex; timestamp: Hex }>(rpcUrl, 'eth_getBlockByNumber', 'latest', false);
  expect(Number(latest.number)).toBeGreaterThanOrEqual(blocks + 3);
  await killAll();
  const again = await start();
  expect(await told(again, answers[3])).toEqual(before);
  expect(await callChain(again, 'eth_getBalance', rich, 'latest')).toBe('0x65');
  const same = await callChain<{ timestamp: Hex }>(again, 'eth_getBlockByNumber', latest.number, false);
  expect(same.timestamp).toBe(latest.timestamp);
});

it('a payment with a window that has closed since succeeds again, without a database that knows it', async () => {
  await start();
  await chain?.stop();
  const rpcUrl = await startElsewhere();
  const [payer, settler] = payers as [(typeof payers)[number], (typeof payers)[number]];
  /** On a machine that is busy with something else, one window may close before its payment is mined: the next one is longer. */
  const payWithin = async (seconds: number, nonce: number): Promise<{ hash: unknown; closesAtS: number }> => {
    expect(seconds).toBeLessThan(100);
    const validBefore = Math.floor(Date.now() / 1000) + seconds;
    const authorization = openAuthorization(payer.address, payee, { validBefore: BigInt(validBefore) });
    const args = bytesArguments(authorization, await signTransfer(payer, authorization));
    const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args });
    const sent = await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(settler, nonce, data));
    const isPaid = (await told(rpcUrl, sent)).status === '0x1';
    return isPaid ? { hash: sent, closesAtS: validBefore } : payWithin(2 * seconds, nonce + 1);
  };
  const { hash, closesAtS } = await payWithin(2, 0);
  await killAll();
  await expect.poll(() => Date.now() / 1000).toBeGreaterThan(closesAtS + 1);
  expect(await told(await start(), hash)).toMatchObject({ status: '0x1' });
});

it('half a record at the end of the journal is left out, and everything before it counts', async () => {
  await start();
  await chain?.stop();
  const rpcUrl = await startElsewhere();
  const hash = await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(payers[0] as never, 0, transfer(5n)));
  await killAll();
  const last = (await journals()).at(-1) ?? '';
  await appendFile(join(folder, last), '0123abcd {"method":"eth_sendRawTrans');
  const again = await start();
  expect(await receiptOf(again, hash)).toMatchObject({ status: '0x1' });
  expect(await usdcBalance(again, payee)).toBe(5n);
});

it('the journal is cut when a state that contains it is saved, and a damaged newest state costs nothing', async () => {
  const rpcUrl = await start();
  for (let nonce = 0; nonce < 3; nonce++) {
    await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(payers[0] as never, nonce, transfer(1n)));
    await chain?.saveState();
    expect((await journals()).length).toBeLessThanOrEqual(2);
  }
  const hash = await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(payers[0] as never, 3, transfer(1n)));
  process.kill(-(chain?.processGroup ?? 0), 'SIGKILL');
  await chain?.stop();
  await writeFile(join(folder, 'state.json.gz'), 'torn');
  const log = vi.fn();
  const again = await start(log);
  expect(await receiptOf(again, hash)).toMatchObject({ status: '0x1' });
  expect(await usdcBalance(again, payee)).toBe(4n);
  expect(log).toHaveBeenCalledWith('warn', expect.stringContaining('loaded state.previous.json.gz instead'));
});

it('blocks that were taken back stay taken back after a kill', async () => {
  await start();
  await chain?.stop();
  const rpcUrl = await startElsewhere();
  const hash = await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(payers[0] as never, 0, transfer(7n)));
  await callChain(rpcUrl, 'anvil_reorg', 1, []);
  expect(await receiptOf(rpcUrl, hash)).toBeNull();
  const later = await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(payers[1] as never, 0, transfer(1n)));
  await killAll();
  const again = await start();
  expect(await receiptOf(again, hash)).toBeNull();
  expect(await receiptOf(again, later)).toMatchObject({ status: '0x1' });
  expect(await usdcBalance(again, payee)).toBe(1n);
});

it('a journal of another state is put aside and named, not replayed', async () => {
  const rpcUrl = await start();
  await callChain(rpcUrl, 'eth_sendRawTransaction', await sign(payers[0] as never, 0, transfer(1n)));
  await chain?.stop();
  const [file = ''] = await journals();
  const text = await readFile(join(folder, file), 'utf8');
  for (const each of await journals()) await rm(join(folder, each));
  await writeFile(join(folder, file), text.split('\n').slice(1).join('\n'));
  const log = vi.fn();
  await start(log);
  expect(log).toHaveBeenCalledWith('warn', expect.stringContaining(`put aside as ${file}.unused`));
  expect((await stat(join(folder, `${file}.unused`))).isFile()).toBe(true);
});

const journals = async () => (await readdir(folder)).filter((name) => /^journal\.\d+\.log$/.test(name)).sort();

it('transactions that come together share a write and a block, and keep their order', async () => {
  const rpcUrl = await start();
  const raws = await Promise.all(payers.map((payer) => sign(payer, 0, transfer(1n))));
  const hashes = await callChainBatch(
    rpcUrl,
    raws.map((raw): RpcCall => ['eth_sendRawTransaction', raw]),
  );
  const receipts = await Promise.all(hashes.map((hash) => told(rpcUrl, hash)));
  expect(new Set(receipts.map(({ blockNumber }) => blockNumber)).size).toBe(1);
  expect(receipts.map(({ transactionIndex }) => Number(transactionIndex))).toEqual(payers.map((_, index) => index));
  expect(
    (await chainReader(rpcUrl).getBlock({ blockNumber: BigInt(receipts[0]?.blockNumber ?? 0) })).transactions,
  ).toEqual(hashes);
});
