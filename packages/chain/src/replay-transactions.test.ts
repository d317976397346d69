import { copyFile, mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeFunctionData, type Hex } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { bytesArguments, openAuthorization, signTransfer } from '../test/authorization.ts';
import { chainReader, USDC, usdcBalance } from '../test/chain-clients.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';
import type { ReplayTransaction } from './replay-transactions.ts';
import { usdcAbi } from './usdc-abi.ts';

const payer = privateKeyToAccount(generatePrivateKey());
const settler = privateKeyToAccount(generatePrivateKey());
const payee = privateKeyToAccount(generatePrivateKey()).address;
const wallets = [
  { address: payer.address, ethWei: 0n, usdcMicro: 1_000_000n },
  { address: settler.address, ethWei: 10n ** 18n, usdcMicro: 0n },
];
let dataDir: string;
let chain: LocalChain;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'replay-'));
  chain = await startLocalChain({ dataDir, wallets });
});
afterEach(async () => {
  await chain.stop();
  await rm(dataDir, { recursive: true, force: true });
});

/** Signs a settlement of 10,000 that may be mined until `validBeforeS`. */
async function signSettlement(nonce: number, validBeforeS: number): Promise<Hex> {
  const authorization = openAuthorization(payer.address, payee, { validBefore: BigInt(validBeforeS) });
  const args = bytesArguments(authorization, await signTransfer(payer, authorization));
  const data = encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args });
  const fees = { gas: 200_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n };
  return settler.signTransaction({ type: 'eip1559', chainId: 84532, to: USDC, nonce, data, ...fees });
}

async function mine(raw: Hex): Promise<ReplayTransaction> {
  const reader = chainReader(chain.rpcUrl);
  const hash = await reader.sendRawTransaction({ serializedTransaction: raw });
  const { blockNumber, status } = await reader.waitForTransactionReceipt({ hash });
  expect(status).toBe('success');
  return { raw, minedAtS: Number((await reader.getBlock({ blockNumber })).timestamp) };
}

const stateFile = () => join(dataDir, 'chain', 'state.json.gz');

/** Saves the chain; `crash` goes back to this state, however often the chain saves itself meanwhile, and as versions without a journal left it. */
async function keepState(): Promise<void> {
  await chain.saveState();
  await copyFile(stateFile(), join(dataDir, 'kept'));
}

async function crash(): Promise<void> {
  process.kill(-chain.processGroup, 'SIGKILL');
  await chain.stop();
  await copyFile(join(dataDir, 'kept'), stateFile());
  const folder = join(dataDir, 'chain');
  for (const file of await readdir(folder)) if (file.startsWith('journal.')) await rm(join(folder, file));
}

async function restart(transactions: readonly ReplayTransaction[]): Promise<void> {
  chain = await startLocalChain({ dataDir, transactionsToReplay: async () => transactions });
}

async function balancesAndNonce() {
  const reader = chainReader(chain.rpcUrl);
  return {
    payer: await usdcBalance(chain.rpcUrl, payer.address),
    payee: await usdcBalance(chain.rpcUrl, payee),
    nonce: await reader.getTransactionCount(settler),
  };
}

it('payments lost in a crash come back, though their windows have closed', async () => {
  const nowS = Math.floor(Date.now() / 1000);
  const kept = await mine(await signSettlement(0, nowS + 600));
  await keepState();
  // Long enough for a machine that is busy with something else.
  const closesAtS = Math.floor(Date.now() / 1000) + 8;
  const lost = [await mine(await signSettlement(1, closesAtS)), await mine(await signSettlement(2, closesAtS))];
  const before = await balancesAndNonce();
  await crash();
  await expect.poll(() => Date.now() / 1000).toBeGreaterThan(closesAtS + 1);
  await restart([kept, ...lost]);
  expect(chain.replayed.map(({ outcome }) => outcome)).toEqual(['known', 'mined', 'mined']);
  expect(await balancesAndNonce()).toEqual(before);
  const latest = await chainReader(chain.rpcUrl).getBlock();
  expect(Number(latest.timestamp)).toBeGreaterThan(closesAtS);
});

it('a transaction that was never mined is judged by the present time, after those that were', async () => {
  await keepState();
  const lost = await mine(await signSettlement(0, Math.floor(Date.now() / 1000) + 600));
  const open = { raw: await signSettlement(1, Math.floor(Date.now() / 1000) + 600) };
  const closed = { raw: await signSettlement(2, Math.floor(Date.now() / 1000) - 10) };
  await crash();
  await restart([open, closed, lost]);
  expect(chain.replayed.map(({ outcome }) => outcome)).toEqual(['mined', 'reverted', 'mined']);
  expect(await balancesAndNonce()).toEqual({ payer: 980_000n, payee: 20_000n, nonce: 3 });
});

it('replaying twice moves nothing twice, and one that the chain refuses is named', async () => {
  const known = await mine(await signSettlement(0, Math.floor(Date.now() / 1000) + 600));
  const stale = { raw: await signSettlement(0, Math.floor(Date.now() / 1000) + 601) };
  const before = await balancesAndNonce();
  const outcomes = await chain.replayTransactions([known, known, stale]);
  expect(outcomes.map(({ outcome }) => outcome)).toEqual(['known', 'known', 'refused']);
  expect(outcomes[2]?.reason).toContain('nonce too low');
  expect(await balancesAndNonce()).toEqual(before);
  await mine(await signSettlement(1, Math.floor(Date.now() / 1000) + 600));
});
