import { encodeAbiParameters, encodeFunctionData, keccak256 } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bytesArguments, openAuthorization, signTransfer } from '../test/authorization.ts';
import { chainReader, chainWriter, USDC, usdcBalance } from '../test/chain-clients.ts';
import { testUsdcAbi } from './artifacts.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const token = { address: USDC, abi: testUsdcAbi } as const;
const payer = privateKeyToAccount(generatePrivateKey());
const anybody = privateKeyToAccount(generatePrivateKey());
const payee = privateKeyToAccount(generatePrivateKey()).address;
const BLACKLISTED = 'Blacklistable: account is blacklisted';
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;
let writer: ReturnType<typeof chainWriter>;

beforeAll(async () => {
  chain = await startLocalChain({
    wallets: [
      { address: payer.address, ethWei: 10n ** 18n, usdcMicro: 1_000_000n },
      { address: anybody.address, ethWei: 10n ** 18n, usdcMicro: 0n },
    ],
  });
  reader = chainReader(chain.rpcUrl);
  writer = chainWriter(chain.rpcUrl, anybody);
});
afterAll(() => chain.stop());

async function administer(functionName: 'pause' | 'unpause' | 'blacklist' | 'unBlacklist', address = payee) {
  const data =
    functionName === 'pause' || functionName === 'unpause'
      ? encodeFunctionData({ abi: testUsdcAbi, functionName })
      : encodeFunctionData({ abi: testUsdcAbi, functionName, args: [address] });
  await reader.waitForTransactionReceipt({ hash: await writer.sendTransaction({ to: USDC, data }) });
}

async function simulateAll() {
  const authorization = openAuthorization(payer.address, payee);
  const args = bytesArguments(authorization, await signTransfer(payer, authorization));
  const as = { ...token, account: payer } as const;
  return Promise.allSettled([
    reader.simulateContract({ ...as, functionName: 'transferWithAuthorization', args }),
    reader.simulateContract({ ...as, functionName: 'transfer', args: [payee, 1n] }),
    reader.simulateContract({ ...as, functionName: 'approve', args: [payee, 1n] }),
  ]);
}

it.each([
  ['paused', 'pause', 'unpause', 'Pausable: paused', payee],
  ['with the payee on its blacklist', 'blacklist', 'unBlacklist', BLACKLISTED, payee],
  ['with the payer on its blacklist', 'blacklist', 'unBlacklist', BLACKLISTED, payer.address],
] as const)('the token %s refuses transfers and approvals in the words of USDC, until that ends', async (...row) => {
  const [, start, end, words, address] = row;
  await administer(start, address);
  for (const each of await simulateAll())
    expect(each).toMatchObject({ status: 'rejected', reason: { message: expect.stringContaining(words) } });
  await administer(end, address);
  for (const each of await simulateAll()) expect(each.status).toBe('fulfilled');
});

it('the blacklist leaves the balance as it is, and where it was on chains that were saved before there was one', async () => {
  await administer('blacklist', payer.address);
  expect(await reader.readContract({ ...token, functionName: 'isBlacklisted', args: [payer.address] })).toBe(true);
  expect(await usdcBalance(chain.rpcUrl, payer.address)).toBe(1_000_000n);
  await administer('unBlacklist', payer.address);
  const slot = keccak256(encodeAbiParameters([{ type: 'address' }, { type: 'uint256' }], [payer.address, 1n]));
  expect(BigInt((await reader.getStorageAt({ address: USDC, slot })) ?? 0)).toBe(1_000_000n);
});
