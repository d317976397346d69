import { readFileSync } from 'node:fs';
import { type Abi, toEventSelector, toFunctionSelector } from 'viem';
import { expect, it } from 'vitest';
import { compileContracts } from '../scripts/compile.ts';
import { agentHolderAbi, contractWalletAbi, testUsdcAbi } from './artifacts.ts';
import { batchSettlementAbi, depositCollectorAbi } from './batch-settlement-abi.ts';
import { identityRegistryAbi, registryProxyAbi } from './identity-registry-abi.ts';
import { multicall3Abi } from './multicall3-abi.ts';
import { reputationRegistryAbi } from './reputation-registry-abi.ts';

const compiled = compileContracts();

it.each([...compiled.keys()])('the committed %s is what the sources compile to', (file) => {
  expect(readFileSync(new URL(`../artifacts/${file}`, import.meta.url), 'utf8')).toBe(compiled.get(file));
});

it.each([
  ['TestUsdc.json', testUsdcAbi],
  ['Multicall3.json', multicall3Abi],
  ['ContractWallet.json', contractWalletAbi],
  ['IdentityRegistry.json', identityRegistryAbi],
  ['ReputationRegistry.json', reputationRegistryAbi],
  ['AgentHolder.json', agentHolderAbi],
  ['X402BatchSettlement.json', batchSettlementAbi],
  ['Erc3009DepositCollector.json', depositCollectorAbi],
] as const)('every function and event that we call by hand-written ABI is in %s', (file, handWritten) => {
  const selectors = selectorsOf(compiledAbi(file));
  expect(selectorsOf(handWritten).filter((selector) => !selectors.includes(selector))).toEqual([]);
  expect(selectorsOf(handWritten).length).toBeGreaterThan(0);
});

it.each([
  ['IdentityRegistry.json', identityRegistryAbi],
  ['ReputationRegistry.json', reputationRegistryAbi],
] as const)('%s has nothing that the published ABI lacks', (file, published) => {
  expect(selectorsOf(compiledAbi(file)).toSorted()).toEqual(selectorsOf(published).toSorted());
});

it('the events of the registries have the topics of the published ones', () => {
  const abi = [...compiledAbi('IdentityRegistry.json'), ...compiledAbi('ReputationRegistry.json'), ...registryProxyAbi];
  const topics = new Map(abi.flatMap((item) => (item.type === 'event' ? [[item.name, toEventSelector(item)]] : [])));
  expect(Object.fromEntries(topics)).toMatchObject(PUBLISHED_TOPICS);
});

/** Computed from the ABI files of github.com/erc-8004/erc-8004-contracts, commit b9e466c. */
const PUBLISHED_TOPICS = {
  Registered: '0xca52e62c367d81bb2e328eb795f7c7ba24afb478408a26c0e201d155c449bc4a',
  URIUpdated: '0x3a2c7fffc2cba7582c690e3b82c453ea02a308326a98a3ad7576c606336409fb',
  MetadataSet: '0x2c149ed548c6d2993cd73efe187df6eccabe4538091b33adbd25fafdb8a1468b',
  Transfer: '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef',
  MetadataUpdate: '0xf8e1a15aba9398e019f0b49df1a4fde98ee17ae345cb5f6b5e2c27f5033e8ce7',
  Upgraded: '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  NewFeedback: '0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc',
  FeedbackRevoked: '0x25156fd3288212246d8b008d5921fde376c71ed14ac2e072a506eb06fde6d09d',
  ResponseAppended: '0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4',
};

function compiledAbi(file: string): Abi {
  return (JSON.parse(compiled.get(file) ?? '') as { abi: Abi }).abi;
}

function selectorsOf(abi: Abi): string[] {
  return abi.flatMap((item) => {
    if (item.type === 'function') return [`${toFunctionSelector(item)} ${item.outputs.map((output) => output.type)}`];
    if (item.type !== 'event') return [];
    return [`${toEventSelector(item)} ${item.inputs.map((input) => Boolean(input.indexed))}`];
  });
}
