import { encodeFunctionData, type Hex, parseEventLogs } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chainReader, chainWriter } from '../test/chain-clients.ts';
import { identity, newWallets, readRegistry, refusalOf } from '../test/registries.ts';
import { BATCH_EXECUTOR_ADDRESS, batchExecutorAbi, CREATE2_FACTORY, putBatchExecutorData } from './batch-executor.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const { accounts, wallets } = newWallets(3);
const [registrar, stranger, receiver] = accounts;
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;

beforeAll(async () => {
  chain = await startLocalChain({ wallets });
  reader = chainReader(chain.rpcUrl);
  const put = { to: CREATE2_FACTORY, data: putBatchExecutorData };
  await mined(chainWriter(chain.rpcUrl, stranger).sendTransaction(put));
});
afterAll(() => chain.stop());

const mined = async (hash: Promise<Hex>) => reader.waitForTransactionReceipt({ hash: await hash });
const register = (uri: string) => ({
  target: identity.address,
  data: encodeFunctionData({ ...identity, functionName: 'register', args: [uri] }),
});
const execute = (calls: { target: Hex; data: Hex }[]) =>
  encodeFunctionData({ abi: batchExecutorAbi, functionName: 'execute', args: [calls] });

async function sendBatch(calls: { target: Hex; data: Hex }[]) {
  const writer = chainWriter(chain.rpcUrl, registrar);
  const authorization = await writer.signAuthorization({ contractAddress: BATCH_EXECUTOR_ADDRESS, executor: 'self' });
  const to = registrar.address;
  return mined(
    writer.sendTransaction({ to, data: execute(calls), authorizationList: [authorization], gas: 5_000_000n }),
  );
}

it('is put at its address by anyone, whose code the key then acts by: tokens of a batch are the key’s', async () => {
  expect(await reader.getCode({ address: BATCH_EXECUTOR_ADDRESS })).toMatch(/^0x.{100}/);
  const receipt = await sendBatch([register('https://a.example'), register('https://b.example')]);
  expect(receipt.status).toBe('success');
  for (const [tokenId, uri] of ['https://a.example', 'https://b.example'].entries()) {
    expect(await readRegistry(chain.rpcUrl, identity, 'ownerOf', BigInt(tokenId))).toBe(registrar.address);
    expect(await readRegistry(chain.rpcUrl, identity, 'tokenURI', BigInt(tokenId))).toBe(uri);
    expect(await readRegistry(chain.rpcUrl, identity, 'getAgentWallet', BigInt(tokenId))).toBe(registrar.address);
  }
});

it('a call that reverts is named, and undoes no other', async () => {
  const foreign = encodeFunctionData({ ...identity, functionName: 'setAgentURI', args: [999n, 'x'] });
  const receipt = await sendBatch([
    register('https://c.example'),
    { target: identity.address, data: foreign },
    register('https://d.example'),
  ]);
  const failed = parseEventLogs({ abi: batchExecutorAbi, eventName: 'CallFailed', logs: receipt.logs });
  expect(failed.map(({ args, address }) => [args.place, address])).toEqual([[1n, registrar.address.toLowerCase()]]);
  expect(await readRegistry(chain.rpcUrl, identity, 'balanceOf', registrar.address)).toBe(4n);
});

it('nobody else has the key call anything', async () => {
  const call = { address: registrar.address, abi: batchExecutorAbi, functionName: 'execute' } as const;
  const asStranger = reader.simulateContract({ ...call, args: [[register('x')]], account: stranger });
  expect(await refusalOf(asStranger)).toBe(`NotSelf(${stranger.address})`);
  await expect(
    reader.simulateContract({ ...call, address: BATCH_EXECUTOR_ADDRESS, args: [[register('x')]], account: registrar }),
  ).rejects.toThrow();
});

it('the key takes ether and tokens as before', async () => {
  const before = await reader.getBalance({ address: registrar.address });
  await mined(chainWriter(chain.rpcUrl, stranger).sendTransaction({ to: registrar.address, value: 5n }));
  expect((await reader.getBalance({ address: registrar.address })) - before).toBe(5n);
  const asReceiver = chainWriter(chain.rpcUrl, receiver);
  await mined(asReceiver.writeContract({ ...identity, functionName: 'register', args: ['https://e.example'] }));
  const tokenId = 4n;
  const args = [receiver.address, registrar.address, tokenId] as const;
  await mined(asReceiver.writeContract({ ...identity, functionName: 'safeTransferFrom', args }));
  expect(await readRegistry(chain.rpcUrl, identity, 'ownerOf', tokenId)).toBe(registrar.address);
});
