import {
  encodeFunctionData,
  getAddress,
  type Hex,
  type PrivateKeyAccount,
  stringToHex,
  type TransactionReceipt,
} from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chainReader, chainWriter } from '../test/chain-clients.ts';
import { identity, loggedBy, newWallets, refusalOf, ZERO } from '../test/registries.ts';
import { MULTICALL3_ADDRESS } from './addresses.ts';
import { agentHolderAbi, agentHolderBytecode } from './artifacts.ts';
import { callChainBatch } from './chain-rpc-client.ts';
import { identityRegistryAbi } from './identity-registry-abi.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const { accounts, wallets } = newWallets(4);
const [owner, operator, approved, stranger] = accounts as [
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
  PrivateKeyAccount,
];
const ACCEPTS = '0x150b7a02';
const encode = (call: Parameters<typeof encodeFunctionData<typeof identityRegistryAbi>>[0]) => encodeFunctionData(call);
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;

beforeAll(async () => {
  chain = await startLocalChain({ wallets });
  reader = chainReader(chain.rpcUrl);
});
afterAll(() => chain.stop());

/** Sends a call of the registry as this account; a revert rejects with the registry's reason. */
async function as(account: PrivateKeyAccount, functionName: string, ...args: unknown[]): Promise<TransactionReceipt> {
  const call = { ...identity, functionName, args, account, blockTag: 'pending' };
  const { request } = await reader.simulateContract(call as never);
  const hash = await chainWriter(chain.rpcUrl, account).writeContract(request);
  return reader.waitForTransactionReceipt({ hash });
}

const read = (functionName: string, ...args: unknown[]): Promise<unknown> =>
  reader.readContract({ ...identity, functionName, args } as never);

const logsOf = (receipt: TransactionReceipt) => loggedBy(identity, receipt);

const idOf = (receipt: TransactionReceipt): bigint => BigInt(receipt.logs[0]?.topics[3] ?? -1);

const register = async (uri = 'https://agent.example/a.json') => idOf(await as(owner, 'register', uri));

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

it('ids count up from 0, and each way to register logs what happened in the published order', async () => {
  const wallet = owner.address.toLowerCase();
  expect(logsOf(await as(owner, 'register'))).toEqual([
    ['Transfer', ZERO, owner.address, 0n],
    ['Registered', 0n, owner.address, ''],
    ['MetadataSet', 0n, 'agentWallet', wallet],
  ]);
  expect(logsOf(await as(owner, 'register', 'https://a.example'))).toEqual([
    ['Transfer', ZERO, owner.address, 1n],
    ['MetadataUpdate', 1n],
    ['Registered', 1n, owner.address, 'https://a.example'],
    ['MetadataSet', 1n, 'agentWallet', wallet],
  ]);
  const metadata = [
    { metadataKey: 'b', metadataValue: '0x01' },
    { metadataKey: 'a', metadataValue: '0x' },
  ];
  expect(logsOf(await as(owner, 'register', 'ipfs://a', metadata))).toEqual([
    ['Transfer', ZERO, owner.address, 2n],
    ['MetadataUpdate', 2n],
    ['Registered', 2n, owner.address, 'ipfs://a'],
    ['MetadataSet', 2n, 'agentWallet', wallet],
    ['MetadataSet', 2n, 'b', '0x01'],
    ['MetadataSet', 2n, 'a', '0x'],
  ]);
  expect(await Promise.all([0n, 1n, 2n].map((id) => read('tokenURI', id)))).toEqual([
    '',
    'https://a.example',
    'ipfs://a',
  ]);
  expect(await read('ownerOf', 0n)).toBe(owner.address);
  expect(await read('balanceOf', owner.address)).toBe(3n);
  expect(await read('getAgentWallet', 0n)).toBe(owner.address);
  expect(await read('getMetadata', 0n, 'agentWallet')).toBe(wallet);
  expect(await read('getMetadata', 2n, 'b')).toBe('0x01');
});

it('it presents itself as the published one does', async () => {
  expect(await Promise.all(['name', 'symbol', 'getVersion'].map((name) => read(name)))).toEqual([
    'AgentIdentity',
    'AGENT',
    '2.0.0',
  ]);
  const domain = ['ERC8004IdentityRegistry', '1', 84532n, identity.address];
  expect(await read('eip712Domain')).toEqual(['0x0f', ...domain, `0x${'0'.repeat(64)}`, []]);
  const ids = ['0x01ffc9a7', '0x80ac58cd', '0x5b5e139f', '0x49064906', '0xffffffff', '0x780e9d63'];
  const supported = await Promise.all(ids.map((id) => read('supportsInterface', id)));
  expect(supported).toEqual([true, true, true, true, false, false]);
});

it('an agent that does not exist has no owner, no URI and no wallet, and nobody can change it', async () => {
  const missing = 'ERC721NonexistentToken(999)';
  expect(await refusalOf(read('ownerOf', 999n))).toBe(missing);
  expect(await refusalOf(read('tokenURI', 999n))).toBe(missing);
  expect(await refusalOf(read('getApproved', 999n))).toBe(missing);
  expect(await refusalOf(read('isAuthorizedOrOwner', owner.address, 999n))).toBe(missing);
  expect(await refusalOf(as(owner, 'approve', stranger.address, 999n))).toBe(missing);
  expect(await refusalOf(as(owner, 'transferFrom', owner.address, stranger.address, 999n))).toBe(missing);
  expect(await refusalOf(as(owner, 'setAgentURI', 999n, 'x'))).toBe(missing);
  expect(await refusalOf(as(owner, 'setMetadata', 999n, 'a', '0x'))).toBe(missing);
  expect(await refusalOf(as(owner, 'unsetAgentWallet', 999n))).toBe(missing);
  expect(await refusalOf(read('balanceOf', ZERO))).toBe(`ERC721InvalidOwner(${ZERO})`);
  expect(await read('getAgentWallet', 999n)).toBe(ZERO);
  expect(await read('getMetadata', 999n, 'a')).toBe('0x');
});

it('owner, operator and whoever is approved may write, and nobody else', async () => {
  const id = await register();
  expect(logsOf(await as(owner, 'setApprovalForAll', operator.address, true))).toEqual([
    ['ApprovalForAll', owner.address, operator.address, true],
  ]);
  expect(logsOf(await as(operator, 'approve', approved.address, id))).toEqual([
    ['Approval', owner.address, approved.address, id],
  ]);
  expect(await read('getApproved', id)).toBe(approved.address);
  for (const [index, writer] of [owner, operator, approved].entries()) {
    const uri = `https://agent.example/${index}.json`;
    expect(logsOf(await as(writer, 'setAgentURI', id, uri))).toEqual([
      ['MetadataUpdate', id],
      ['URIUpdated', id, writer.address, uri],
    ]);
    const value = stringToHex(`value ${index}`);
    expect(logsOf(await as(writer, 'setMetadata', id, 'key', value))).toEqual([['MetadataSet', id, 'key', value]]);
    expect([await read('tokenURI', id), await read('getMetadata', id, 'key')]).toEqual([uri, value]);
    expect(await read('isAuthorizedOrOwner', writer.address, id)).toBe(true);
  }
  expect(await read('isAuthorizedOrOwner', stranger.address, id)).toBe(false);
  expect(await read('isAuthorizedOrOwner', ZERO, await register())).toBe(false);
  expect(await refusalOf(as(stranger, 'setAgentURI', id, 'x'))).toBe('Not authorized');
  expect(await refusalOf(as(stranger, 'setMetadata', id, 'key', '0x'))).toBe('Not authorized');
  expect(await refusalOf(as(stranger, 'unsetAgentWallet', id))).toBe('Not authorized');
  expect(await refusalOf(as(stranger, 'setAgentWallet', id, stranger.address, 0n, '0x'))).toBe('Not authorized');
  expect(await refusalOf(as(approved, 'approve', stranger.address, id))).toBe(
    `ERC721InvalidApprover(${approved.address})`,
  );
  expect(await refusalOf(as(owner, 'setApprovalForAll', ZERO, true))).toBe(`ERC721InvalidOperator(${ZERO})`);
  await as(owner, 'setApprovalForAll', operator.address, false);
  expect(await refusalOf(as(operator, 'setAgentURI', id, 'x'))).toBe('Not authorized');
});

it('agentWallet is no key that anyone can write', async () => {
  const entry = { metadataKey: 'agentWallet', metadataValue: stranger.address };
  expect(await refusalOf(as(owner, 'register', 'x', [entry]))).toBe('reserved key');
  expect(await refusalOf(as(owner, 'setMetadata', await register(), 'agentWallet', '0x'))).toBe('reserved key');
});

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
  const id = idOf(first);
  expect(logsOf(first).filter(([name]) => name === 'Registered')).toEqual([
    ['Registered', id, holder, 'first'],
    ['Registered', id + 1n, holder, 'second'],
  ]);
  const names = ['Transfer', 'MetadataUpdate', 'Registered', 'MetadataSet'];
  expect(logsOf(first).map(([name]) => name)).toEqual([...names, ...names]);
  expect(await read('balanceOf', holder)).toBe(2n);
});

it('what the log says last is so, even when a contract gives its token away while it gets it', async () => {
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

it('one key registers many agents at once, and the ids follow its nonces', async () => {
  const first = (await register()) + 1n;
  const nonce = await reader.getTransactionCount(owner);
  const raws = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const args = [`https://node.example/agents/${index}/registration.json`] as const;
      const data = encode({ abi: identityRegistryAbi, functionName: 'register', args });
      const fees = { gas: 300_000n, maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 1n };
      const call = { type: 'eip1559', chainId: 84532, to: identity.address, data, nonce: nonce + index } as const;
      return owner.signTransaction({ ...call, ...fees });
    }),
  );
  const sent = await callChainBatch(
    chain.rpcUrl,
    raws.map((raw) => ['eth_sendRawTransaction', raw] as const),
  );
  const receipts = await Promise.all(sent.map((hash) => reader.waitForTransactionReceipt({ hash: hash as Hex })));
  expect(receipts.map(idOf)).toEqual(raws.map((_, index) => first + BigInt(index)));
});

it('what each change costs', async () => {
  const uri = 'https://node.example/agents/0198b7c2-7b1f-7c3a-9c55-0e2f4f6a1d2e/registration.json';
  const registered = await as(owner, 'register', uri);
  const claimed = await as(owner, 'transferFrom', owner.address, stranger.address, idOf(registered));
  const changed = await as(owner, 'setAgentURI', await register(uri), `${uri}?2`);
  const gas = { register: registered.gasUsed, transferFrom: claimed.gasUsed, setAgentURI: changed.gasUsed };
  process.stdout.write(
    `gas: ${Object.entries(gas)
      .map(([name, used]) => `${name} ${used}`)
      .join(', ')}\n`,
  );
  expect(gas.register).toBeLessThan(230_000n);
  expect(gas.transferFrom).toBeLessThan(65_000n);
});
