import { encodeFunctionData, type Hex, type PrivateKeyAccount, stringToHex, type TransactionReceipt } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chainReader } from '../test/chain-clients.ts';
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
import { callChainBatch } from './chain-rpc-client.ts';
import { identityRegistryAbi } from './identity-registry-abi.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const { accounts, wallets } = newWallets(4);
const [owner, operator, approved, stranger] = accounts;
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

it('reads and changes of an agent that does not exist are refused', async () => {
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

it('only the owner, an operator and an approved address may write', async () => {
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
  expect(receipts.map(registeredId)).toEqual(raws.map((_, index) => first + BigInt(index)));
});

it('each change costs a bounded amount of gas', async () => {
  const uri = 'https://node.example/agents/0198b7c2-7b1f-7c3a-9c55-0e2f4f6a1d2e/registration.json';
  const registered = await as(owner, 'register', uri);
  const claimed = await as(owner, 'transferFrom', owner.address, stranger.address, registeredId(registered));
  const changed = await as(owner, 'setAgentURI', await register(uri), `${uri}?2`);
  const gas = { register: registered.gasUsed, transferFrom: claimed.gasUsed, setAgentURI: changed.gasUsed };
  process.stdout.write(
    `gas: ${Object.entries(gas)
      .map(([name, used]) => `${name} ${used}`)
      .join(', ')}\n`,
  );
  expect(gas.register).toBeLessThan(230_000n);
  expect(gas.transferFrom).toBeLessThan(70_000n);
});
