import { decodeErrorResult, encodeFunctionData, parseAbi } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { bytesArguments, openAuthorization, signTransfer } from '../test/authorization.ts';
import { chainReader, chainWriter, USDC, usdcBalance } from '../test/chain-clients.ts';
import { MULTICALL3_ADDRESS } from './addresses.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';
import { multicall3Abi } from './multicall3-abi.ts';
import { usdcAbi } from './usdc-abi.ts';

const multicall = { address: MULTICALL3_ADDRESS, abi: multicall3Abi } as const;
const payer = privateKeyToAccount(generatePrivateKey());
const settler = privateKeyToAccount(generatePrivateKey());
const payee = privateKeyToAccount(generatePrivateKey()).address;
let chain: LocalChain;

beforeAll(async () => {
  chain = await startLocalChain({
    wallets: [
      { address: payer.address, ethWei: 0n, usdcMicro: 1_000_000n },
      { address: settler.address, ethWei: 10n ** 18n, usdcMicro: 0n },
    ],
  });
});
afterAll(() => chain.stop());

async function transferCall(value: bigint, signedValue = value) {
  const authorization = openAuthorization(payer.address, payee, { value });
  const signature = await signTransfer(payer, { ...authorization, value: signedValue });
  const args = bytesArguments(authorization, signature);
  const callData = encodeFunctionData({ abi: usdcAbi, functionName: 'transferWithAuthorization', args });
  return { target: USDC, allowFailure: true, callData };
}

it('of three authorizations in one transaction, the bad one fails alone and says why', async () => {
  const calls = [await transferCall(10_000n), await transferCall(20_000n, 19_999n), await transferCall(40_000n)];
  const reader = chainReader(chain.rpcUrl);
  const request = { ...multicall, functionName: 'aggregate3', args: [calls], account: settler } as const;
  const { result } = await reader.simulateContract(request);
  expect(result.map(({ success }) => success)).toEqual([true, false, true]);
  const reason = decodeErrorResult({ abi: parseAbi(['error Error(string)']), data: result[1]?.returnData ?? '0x' });
  expect(reason.args).toEqual(['FiatTokenV2: invalid signature']);
  const hash = await chainWriter(chain.rpcUrl, settler).writeContract(request);
  expect((await reader.waitForTransactionReceipt({ hash })).status).toBe('success');
  expect(await usdcBalance(chain.rpcUrl, payee)).toBe(50_000n);
});

it('without leave to fail, one bad call undoes all', async () => {
  const calls = [await transferCall(10_000n), await transferCall(20_000n, 19_999n)];
  const strict = calls.map((call) => ({ ...call, allowFailure: false }));
  const before = await usdcBalance(chain.rpcUrl, payee);
  const request = { ...multicall, functionName: 'aggregate3', args: [strict] } as const;
  await expect(chainWriter(chain.rpcUrl, settler).writeContract(request)).rejects.toThrow('Multicall3: call failed');
  expect(await usdcBalance(chain.rpcUrl, payee)).toBe(before);
});

it('value is passed on, and a difference to what was sent is refused', async () => {
  const reader = chainReader(chain.rpcUrl);
  const call = { target: payee, allowFailure: false, value: 5n, callData: '0x' } as const;
  const request = { ...multicall, functionName: 'aggregate3Value', args: [[call]], account: settler } as const;
  await expect(reader.simulateContract({ ...request, value: 6n })).rejects.toThrow('Multicall3: value mismatch');
  const hash = await chainWriter(chain.rpcUrl, settler).writeContract({ ...request, value: 5n });
  await reader.waitForTransactionReceipt({ hash });
  const args = [payee] as const;
  expect(await reader.readContract({ ...multicall, functionName: 'getEthBalance', args })).toBe(5n);
});
