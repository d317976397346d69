import { encodeFunctionData, getAddress, type Hex, type PrivateKeyAccount, type TransactionReceipt } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chainReader, chainWriter } from '../test/chain-clients.ts';
import {
  callRegistry,
  identity,
  loggedBy,
  newWallets,
  readRegistry,
  refusalOf,
  registeredId,
  ZERO,
} from '../test/registries.ts';
import { MULTICALL3_ADDRESS } from './addresses.ts';
import { agentHolderAbi, agentHolderBytecode } from './artifacts.ts';
import { identityRegistryAbi } from './identity-registry-abi.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const { accounts, wallets } = newWallets(4);
const [owner, operator, approved, stranger] = accounts;
const ACCEPTS = '0x150b7a02';
const encode = (call: Parameters<typeof encodeFunctionData<typeof identityRegistryAbi>>[0]) => encodeFunctionData(call);
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;

beforeAll(async () => {
  chain = await startLocalChain({ wallets });
  reader = chainReader(chain.rpcUrl);
});
afterAll(() => chain.stop());

const as = (account: PrivateKeyAccount, functionName: string, ...args: unknown[]) =>
  callRegistry(chain.rpcUrl, identity, account, functionName, ...args);

const read = (functionName: string, ...args: unknown[]) => readRegistry(chain.rpcUrl, identity, functionName, ...args);

const logsOf = (receipt: TransactionReceipt) => loggedBy(identity, receipt);

const register = async (uri = 'https://agent.example/a.json') => registeredId(await as(owner, 'register', uri));

async function deployHolder(answer: Hex, callBack: Hex = '0x'): Promise<Hex> {
  const writer = chainWriter(chain.rpcUrl, stranger);
  const deployed = await writer.deployContract({ abi: agentHolderAbi, bytecode: agentHolderBytecode });
  const address = (await reader.waitForTransactionReceipt({ hash: deployed })).contractAddress ?? ZERO;
  const args = [answer, callBack] as const;
  const hash = await writer.writeContract({ address, abi: agentHolderAbi, functionName: 'prepare', args });
  await reader.waitForTransactionReceipt({ hash });
  return getAddress(address);
}

/** Has a contract call the registry. Its errors come through, so they are read by the registry's ABI. */
async function runBy(holder: Hex, data: Hex): Promise<TransactionReceipt> {
  const abi = [...agentHolderAbi, ...identityRegistryAbi.filter(({ type }) => type === 'error')] as const;
  const call = {
    address: holder,
    abi,
    functionName: 'run',
    args: [identity.address, data],
    account: stranger,
  } as const;
  const { request } = await reader.simulateContract({ ...call, blockTag: 'pending' });
  return reader.waitForTransactionReceipt({ hash: await chainWriter(chain.rpcUrl, stranger).writeContract(request) });
}

it('a transfer clears the wallet and the approval before it is logged, and metadata stays', async () => {
  const id = await register();
  await as(owner, 'setMetadata', id, 'key', '0x01');
  await as(owner, 'approve', approved.address, id);
  const [ownersBefore, strangersBefore] = [
    await read('balanceOf', owner.address),
    await read('balanceOf', stranger.address),
  ];
  expect(logsOf(await as(approved, 'transferFrom', owner.address, stranger.address, id))).toEqual([
    ['MetadataSet', id, 'agentWallet', '0x'],
    ['Transfer', owner.address, stranger.address, id],
  ]);
  expect(await read('ownerOf', id)).toBe(stranger.address);
  expect(await read('balanceOf', owner.address)).toBe((ownersBefore as bigint) - 1n);
  expect(await read('balanceOf', stranger.address)).toBe((strangersBefore as bigint) + 1n);
  expect([await read('getAgentWallet', id), await read('getApproved', id)]).toEqual([ZERO, ZERO]);
  expect(await read('getMetadata', id, 'key')).toBe('0x01');
  const refused = `ERC721InsufficientApproval(${approved.address},${id})`;
  expect(await refusalOf(as(approved, 'transferFrom', stranger.address, owner.address, id))).toBe(refused);
});

it('a transfer from another than the owner, or to nobody, is refused', async () => {
  const id = await register();
  const toNobody = as(owner, 'transferFrom', owner.address, ZERO, id);
  expect(await refusalOf(toNobody)).toBe(`ERC721InvalidReceiver(${ZERO})`);
  const wrongFrom = as(owner, 'transferFrom', stranger.address, operator.address, id);
  expect(await refusalOf(wrongFrom)).toBe(`ERC721IncorrectOwner(${stranger.address},${id},${owner.address})`);
});

it('a safe transfer asks a receiving contract; a plain one does not', async () => {
  const safe = (to: Hex, id: bigint) => as(owner, 'safeTransferFrom', owner.address, to, id);
  const id = await register();
  const willing = await deployHolder(ACCEPTS);
  await safe(willing, id);
  expect(await read('ownerOf', id)).toBe(willing);
  const next = await register();
  const unwilling = await deployHolder('0x00000000');
  expect(await refusalOf(safe(unwilling, next))).toBe(`ERC721InvalidReceiver(${unwilling})`);
  expect(await refusalOf(safe(MULTICALL3_ADDRESS, next))).toBe(`ERC721InvalidReceiver(${MULTICALL3_ADDRESS})`);
  const failing = await deployHolder(
    ACCEPTS,
    encode({ abi: identityRegistryAbi, functionName: 'ownerOf', args: [999n] }),
  );
  expect(await refusalOf(safe(failing, next))).toBe('ERC721NonexistentToken(999)');
  await as(owner, 'safeTransferFrom', owner.address, stranger.address, next, '0x1234');
  const last = await register();
  await as(owner, 'transferFrom', owner.address, unwilling, last);
  expect(await read('ownerOf', last)).toBe(unwilling);
});

it('a contract that does not take tokens cannot register', async () => {
  const data = encode({ abi: identityRegistryAbi, functionName: 'register', args: ['x'] });
  const unwilling = await deployHolder('0x00000000');
  expect(await refusalOf(runBy(unwilling, data))).toBe(`ERC721InvalidReceiver(${unwilling})`);
});

it('a contract that registers again when it gets its token has two agents, logged one after the other', async () => {
  const data = encode({ abi: identityRegistryAbi, functionName: 'register', args: ['second'] });
  const holder = await deployHolder(ACCEPTS, data);
  const first = await runBy(holder, encode({ abi: identityRegistryAbi, functionName: 'register', args: ['first'] }));
  const id = registeredId(first);
  expect(logsOf(first).filter(([name]) => name === 'Registered')).toEqual([
    ['Registered', id, holder, 'first'],
    ['Registered', id + 1n, holder, 'second'],
  ]);
  const names = ['Transfer', 'MetadataUpdate', 'Registered', 'MetadataSet'];
  expect(logsOf(first).map(([name]) => name)).toEqual([...names, ...names]);
  expect(await read('balanceOf', holder)).toBe(2n);
});

it('the last log entry is the state, even when a contract gives its token away while it gets it', async () => {
  const holder = await deployHolder(ACCEPTS);
  const id = (await register()) + 1n;
  const args = [holder, stranger.address, id] as const;
  const away = encode({ abi: identityRegistryAbi, functionName: 'transferFrom', args });
  const call = { address: holder, abi: agentHolderAbi, functionName: 'prepare', args: [ACCEPTS, away] } as const;
  await reader.waitForTransactionReceipt({ hash: await chainWriter(chain.rpcUrl, stranger).writeContract(call) });
  const receipt = await runBy(holder, encode({ abi: identityRegistryAbi, functionName: 'register', args: ['x'] }));
  expect(logsOf(receipt).slice(-3)).toEqual([
    ['MetadataSet', id, 'agentWallet', holder.toLowerCase()],
    ['MetadataSet', id, 'agentWallet', '0x'],
    ['Transfer', holder, stranger.address, id],
  ]);
  expect([await read('ownerOf', id), await read('getAgentWallet', id)]).toEqual([stranger.address, ZERO]);
});
