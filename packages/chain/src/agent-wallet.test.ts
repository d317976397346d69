import { getAddress, type Hex, hexToSignature, signatureToHex } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { chainReader, chainWriter } from '../test/chain-clients.ts';
import {
  identity,
  loggedBy,
  newWallets,
  refusalOf,
  signWalletProof,
  type WalletProof,
  ZERO,
} from '../test/registries.ts';
import { MULTICALL3_ADDRESS } from './addresses.ts';
import { contractWalletAbi, contractWalletBytecode, multicall3Code } from './artifacts.ts';
import { callChain } from './chain-rpc-client.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const CURVE_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const { accounts, wallets } = newWallets(3);
const [owner, wallet, other] = accounts;
let chain: LocalChain;
let reader: ReturnType<typeof chainReader>;
let proof: WalletProof;

beforeAll(async () => {
  chain = await startLocalChain({ wallets });
  reader = chainReader(chain.rpcUrl);
});
afterAll(() => chain.stop());

beforeEach(async () => {
  const hash = await chainWriter(chain.rpcUrl, owner).writeContract({ ...identity, functionName: 'register' });
  const { logs } = await reader.waitForTransactionReceipt({ hash });
  const { timestamp } = await reader.getBlock();
  const agentId = BigInt(logs[0]?.topics[3] ?? -1);
  proof = { agentId, newWallet: wallet.address, owner: owner.address, deadline: timestamp + 240n };
});

async function set({ agentId, newWallet, deadline }: WalletProof, signature: Hex) {
  const args = [agentId, newWallet, deadline, signature] as const;
  const { request } = await reader.simulateContract({
    ...identity,
    functionName: 'setAgentWallet',
    args,
    account: owner,
  });
  const hash = await chainWriter(chain.rpcUrl, owner).writeContract(request);
  return reader.waitForTransactionReceipt({ hash });
}

const walletNow = () => reader.readContract({ ...identity, functionName: 'getAgentWallet', args: [proof.agentId] });

it('the new wallet signs, and gets the payments of the agent until it is unset', async () => {
  expect(loggedBy(identity, await set(proof, await signWalletProof(wallet, proof)))).toEqual([
    ['MetadataSet', proof.agentId, 'agentWallet', wallet.address.toLowerCase()],
  ]);
  expect(await walletNow()).toBe(wallet.address);
  const call = { ...identity, functionName: 'unsetAgentWallet', args: [proof.agentId] } as const;
  const hash = await chainWriter(chain.rpcUrl, owner).writeContract(call);
  expect(loggedBy(identity, await reader.waitForTransactionReceipt({ hash }))).toEqual([
    ['MetadataSet', proof.agentId, 'agentWallet', '0x'],
  ]);
  expect(await walletNow()).toBe(ZERO);
});

it('another signer, owner, agent, deadline, chain, registry or version is not what it agreed to', async () => {
  const signatures = await Promise.all([
    signWalletProof(owner, proof),
    signWalletProof(wallet, { ...proof, owner: other.address }),
    signWalletProof(wallet, { ...proof, agentId: proof.agentId + 1n }),
    signWalletProof(wallet, { ...proof, deadline: proof.deadline + 1n }),
    signWalletProof(wallet, proof, { chainId: 8453 }),
    signWalletProof(wallet, proof, { verifyingContract: other.address }),
    signWalletProof(wallet, proof, { version: '2' }),
  ]);
  for (const signature of signatures) expect(await refusalOf(set(proof, signature))).toBe('invalid wallet sig');
  expect(await walletNow()).toBe(owner.address);
});

it('a signature of another form is refused: high s, wrong length, wrong recovery byte, none', async () => {
  const signature = await signWalletProof(wallet, proof);
  const { r, s, v = 27n } = hexToSignature(signature);
  const high = `0x${(CURVE_ORDER - BigInt(s)).toString(16).padStart(64, '0')}` as Hex;
  const wrong: Hex[] = [
    signatureToHex({ r, s: high, v: v === 27n ? 28n : 27n }),
    `${signature}00`,
    `${signature.slice(0, 130)}02` as Hex,
    '0x',
  ];
  for (const each of wrong) expect(await refusalOf(set(proof, each))).toBe('invalid wallet sig');
  expect((await set(proof, signature)).status).toBe('success');
});

it('a proof holds for five minutes at most, and not after its deadline', async () => {
  const { timestamp } = await reader.getBlock();
  const late = { ...proof, deadline: timestamp - 1n };
  expect(await refusalOf(set(late, await signWalletProof(wallet, late)))).toBe('expired');
  const far = { ...proof, deadline: timestamp + 400n };
  expect(await refusalOf(set(far, await signWalletProof(wallet, far)))).toBe('deadline too far');
});

it('the zero address cannot be the wallet', async () => {
  const nobody = { ...proof, newWallet: ZERO } as const;
  expect(await refusalOf(set(nobody, await signWalletProof(wallet, nobody)))).toBe('bad wallet');
});

it('a contract wallet agrees by its own judgement (ERC-1271); a contract that has none does not', async () => {
  const writer = chainWriter(chain.rpcUrl, owner);
  const args = [wallet.address] as const;
  const hash = await writer.deployContract({ abi: contractWalletAbi, bytecode: contractWalletBytecode, args });
  const newWallet = getAddress((await reader.waitForTransactionReceipt({ hash })).contractAddress ?? ZERO);
  const ofContract = { ...proof, newWallet };
  expect(await refusalOf(set(ofContract, await signWalletProof(other, ofContract)))).toBe('invalid wallet sig');
  await set(ofContract, await signWalletProof(wallet, ofContract));
  expect(await walletNow()).toBe(newWallet);
  const ofNone = { ...proof, newWallet: MULTICALL3_ADDRESS };
  expect(await refusalOf(set(ofNone, await signWalletProof(wallet, ofNone)))).toBe('invalid wallet sig');
});

it('a wallet with a key that also has code (EIP-7702) agrees by its key', async () => {
  await callChain(chain.rpcUrl, 'anvil_setCode', other.address, multicall3Code);
  const delegated = { ...proof, newWallet: other.address };
  await set(delegated, await signWalletProof(other, delegated));
  expect(await walletNow()).toBe(other.address);
});
