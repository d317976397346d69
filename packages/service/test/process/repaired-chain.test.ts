import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { callChain } from '@agent-network/chain/chain-rpc-client';
import { numberToHex } from 'viem';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readConfig } from '../../src/config/config.ts';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { type RunningNode, startNode } from '../../src/node.ts';
import { walletByBooks } from '../support/books.ts';
import { transferUsdc } from '../support/chain-actions.ts';
import { newAccount, newWallet, send } from '../support/harness.ts';
import { createTestDatabase, type TestDatabase } from '../support/test-database.ts';
import { newClient, untilUsdc } from '../support/treasury.ts';

let database: TestDatabase;
let dataDir: string;
let node: RunningNode | undefined;
const warn = vi.fn();

beforeEach(async () => {
  database = await createTestDatabase();
  dataDir = await mkdtemp(join(tmpdir(), 'agent-network-repaired-'));
  warn.mockClear();
});
afterEach(async () => {
  await node?.stop();
  await database.drop();
  await rm(dataDir, { recursive: true, force: true });
});

async function start() {
  const env = { PORT: '0', DATA_DIR: dataDir, DATABASE_URL: database.url, LOG_LEVEL: 'silent' };
  const log = Object.assign(Object.create(silentLog), { warn });
  node = await startNode({ ...readConfig({ ...env, REGISTRAR_PRIVATE_KEY: '' }), log });
  const { ctx, baseUrl, local } = node;
  const rpcUrl = local?.chainRpcUrl() ?? '';
  return {
    ctx,
    rpcUrl,
    wallet: ctx.wallet.address,
    newAccount: () => newAccount(ctx),
    newWallet: (micro = 0n) => newWallet(rpcUrl, ctx.chain.token, micro),
    usdcOf: (address: string) => ctx.usdc.balanceOf(address),
    request: (method: string, path: string, options = {}) => send(baseUrl, method, path, options),
  };
}

const inChain = (file: string) => join(dataDir, 'chain', file);
const keep = () => copyFile(inChain('state.json.gz'), join(dataDir, 'kept'));

/** The folder as a version without a journal left it after a kill -9: an older state, and nothing of what came after. */
async function loseBlocks(): Promise<void> {
  await node?.stop();
  node = undefined;
  for (const file of await readdir(join(dataDir, 'chain')))
    if (file.startsWith('journal.') || file.startsWith('state.')) await rm(inChain(file));
  await copyFile(join(dataDir, 'kept'), inChain('state.json.gz'));
}

it('a chain that lost the transfer that funded a payer is told so, repaired, and has the payment again', async () => {
  const first = await start();
  await keep();
  await newClient(first, '0.50');
  expect(await untilUsdc(first, first.wallet, 500_000n)).toBe(500_000n);
  await loseBlocks();
  const again = await start();
  expect(await again.usdcOf(again.wallet)).toBe(500_000n);
  expect(await walletByBooks(database.url)).toBe(500_000n);
  expect(warn).toHaveBeenCalledWith(
    expect.objectContaining({ paidMicro: 500_000n, holdsMicro: 0n }),
    expect.stringContaining('local chain lost a payer'),
  );
  await newClient(again, '0.25');
  expect(await untilUsdc(again, again.wallet, 750_000n)).toBe(750_000n);
});

it('a chain that lost what others sent to the node gets test money in its place, says so, and the node starts', async () => {
  const first = await start();
  await newClient(first, '0.10');
  await expect.poll(() => walletByBooks(database.url)).toBe(100_000n);
  await keep();
  // Above all blocks that the chain makes again: had another one come to its height, the transfer would count as one that a reorg took back.
  await callChain(first.rpcUrl, 'anvil_mine', numberToHex(100));
  const stranger = await first.newWallet(400_000n);
  await transferUsdc(first.rpcUrl, first, { from: stranger.address, to: first.wallet, micro: 400_000n });
  await expect.poll(() => walletByBooks(database.url)).toBe(500_000n);
  await loseBlocks();
  const again = await start();
  expect(await again.usdcOf(again.wallet)).toBeGreaterThanOrEqual(await walletByBooks(database.url));
  expect(warn).toHaveBeenCalledWith(
    expect.objectContaining({ ledger: '0.50' }),
    expect.stringContaining('chain lost USDC that the ledger expects'),
  );
  await newClient(again, '0.25');
});
