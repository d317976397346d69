import { type Hex, type PrivateKeyAccount, zeroHash } from 'viem';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  callRegistry,
  identity,
  loggedBy,
  newWallets,
  readRegistry,
  refusalOf,
  registeredId,
  reputation,
  ZERO,
} from '../test/registries.ts';
import { type LocalChain, startLocalChain } from './local-chain.ts';

const { accounts, wallets } = newWallets(4);
const [owner, operator, anna, ben] = accounts;
const LARGEST = 10n ** 38n;
const HASH: Hex = `0x${'ab'.repeat(32)}`;
let chain: LocalChain;
let agentId: bigint;

beforeAll(async () => {
  chain = await startLocalChain({ wallets });
});
afterAll(() => chain.stop());

beforeEach(async () => {
  agentId = registeredId(await as(identity, owner, 'register'));
});

const as = (
  registry: typeof identity | typeof reputation,
  account: PrivateKeyAccount,
  ...call: [string, ...unknown[]]
) => callRegistry(chain.rpcUrl, registry, account, ...call);

const read = (functionName: string, ...args: unknown[]) =>
  readRegistry(chain.rpcUrl, reputation, functionName, ...args);

const give = (client: PrivateKeyAccount, value: bigint, decimals = 0, tag1 = '', tag2 = '') =>
  as(reputation, client, 'giveFeedback', agentId, value, decimals, tag1, tag2, '', '', zeroHash);

it('feedback is numbered from 1 per client, logged whole, and read back', async () => {
  const given = ['starred', 'week', 'https://agent.example/a2a', 'ipfs://f', HASH] as const;
  const receipt = await as(reputation, anna, 'giveFeedback', agentId, -9977n, 2, ...given);
  expect(loggedBy(reputation, receipt)).toEqual([['NewFeedback', agentId, anna.address, 1n, -9977n, 2, ...given]]);
  await give(anna, 5n);
  await give(ben, 6n);
  expect(await read('readFeedback', agentId, anna.address, 1n)).toEqual([-9977n, 2, 'starred', 'week', false]);
  expect(await read('getLastIndex', agentId, anna.address)).toBe(2n);
  expect(await read('getLastIndex', agentId, ben.address)).toBe(1n);
  expect(await read('getLastIndex', agentId, owner.address)).toBe(0n);
  expect(await read('getClients', agentId)).toEqual([anna.address, ben.address]);
  expect(await refusalOf(read('readFeedback', agentId, anna.address, 0n))).toBe('index must be > 0');
  expect(await refusalOf(read('readFeedback', agentId, anna.address, 3n))).toBe('index out of bounds');
});

it('it belongs to the identity registry of its chain', async () => {
  expect(await read('getIdentityRegistry')).toBe(identity.address);
  expect(await read('getVersion')).toBe('2.0.0');
});

it('owner, operator and approved addresses cannot rate the agent, and an agent that does not exist cannot be rated', async () => {
  await as(identity, owner, 'setApprovalForAll', operator.address, true);
  await as(identity, owner, 'approve', ben.address, agentId);
  for (const own of [owner, operator, ben]) expect(await refusalOf(give(own, 100n))).toBe('Self-feedback not allowed');
  await as(identity, owner, 'setApprovalForAll', operator.address, false);
  expect((await give(operator, 1n)).status).toBe('success');
  agentId = 999n;
  expect(await refusalOf(give(anna, 1n))).toBe('ERC721NonexistentToken(999)');
});

it('values up to 1e38 either way and up to 18 decimals are taken', async () => {
  await give(anna, LARGEST, 18);
  await give(anna, -LARGEST, 18);
  expect(await refusalOf(give(anna, LARGEST + 1n))).toBe('value too large');
  expect(await refusalOf(give(anna, -LARGEST - 1n))).toBe('value too large');
  expect(await refusalOf(give(anna, 1n, 19))).toBe('too many decimals');
});

it('a client takes its own feedback back, once', async () => {
  await give(anna, 1n);
  expect(await refusalOf(as(reputation, ben, 'revokeFeedback', agentId, 1n))).toBe('index out of bounds');
  expect(await refusalOf(as(reputation, anna, 'revokeFeedback', agentId, 0n))).toBe('index must be > 0');
  expect(await refusalOf(as(reputation, anna, 'revokeFeedback', agentId, 2n))).toBe('index out of bounds');
  expect(loggedBy(reputation, await as(reputation, anna, 'revokeFeedback', agentId, 1n))).toEqual([
    ['FeedbackRevoked', agentId, anna.address, 1n],
  ]);
  expect(await refusalOf(as(reputation, anna, 'revokeFeedback', agentId, 1n))).toBe('Already revoked');
  expect(await read('readFeedback', agentId, anna.address, 1n)).toEqual([1n, 0, '', '', true]);
});

it('anyone responds, as often as they like, and responses are counted', async () => {
  for (const value of [1n, 2n]) await give(anna, value);
  await give(ben, 3n);
  const respond = (by: PrivateKeyAccount, client: Hex, index: bigint, uri = 'ipfs://r') =>
    as(reputation, by, 'appendResponse', agentId, client, index, uri, HASH);
  expect(loggedBy(reputation, await respond(owner, anna.address, 1n))).toEqual([
    ['ResponseAppended', agentId, anna.address, owner.address, 1n, 'ipfs://r', HASH],
  ]);
  await respond(owner, anna.address, 1n);
  await respond(operator, anna.address, 2n);
  await respond(operator, ben.address, 1n);
  const count = (client: Hex, index: bigint, ...responders: Hex[]) =>
    read('getResponseCount', agentId, client, index, responders);
  expect(await count(anna.address, 1n)).toBe(2n);
  expect(await count(anna.address, 0n)).toBe(3n);
  expect(await count(ZERO, 0n)).toBe(4n);
  expect(await count(ZERO, 0n, operator.address)).toBe(2n);
  expect(await count(anna.address, 1n, operator.address)).toBe(0n);
  expect(await count(anna.address, 0n, owner.address, operator.address)).toBe(3n);
  expect(await count(owner.address, 7n)).toBe(0n);
  expect(await refusalOf(respond(owner, anna.address, 1n, ''))).toBe('Empty URI');
  expect(await refusalOf(respond(owner, anna.address, 0n))).toBe('index must be > 0');
  expect(await refusalOf(respond(owner, anna.address, 3n))).toBe('index out of bounds');
});

it('a summary is the mean of the clients that are named, without what they took back', async () => {
  const summary = (clients: Hex[], tag1 = '', tag2 = '') => read('getSummary', agentId, clients, tag1, tag2);
  const both = [anna.address, ben.address];
  expect(await refusalOf(summary([]))).toBe('clientAddresses required');
  expect(await summary(both)).toEqual([0n, 0n, 0]);
  await give(anna, 80n, 0, 'starred', 'a');
  await give(anna, 9_977n, 2, 'uptime', 'a');
  await give(ben, 90n, 0, 'starred', 'b');
  expect(await summary(both)).toEqual([3n, 89n, 0]);
  expect(await summary([anna.address])).toEqual([2n, 89n, 0]);
  expect(await summary(both, 'starred')).toEqual([2n, 85n, 0]);
  expect(await summary(both, '', 'a')).toEqual([2n, 89n, 0]);
  expect(await summary(both, 'uptime', 'a')).toEqual([1n, 9_977n, 2]);
  expect(await summary(both, 'uptime', 'b')).toEqual([0n, 0n, 0]);
  await as(reputation, anna, 'revokeFeedback', agentId, 1n);
  expect(await summary(both, 'starred')).toEqual([1n, 90n, 0]);
});

it('a summary has the decimals that most feedback has, and is rounded towards zero', async () => {
  const summary = (client: PrivateKeyAccount) => read('getSummary', agentId, [client.address], '', '');
  for (const value of [-10n, -15n]) await give(anna, value, 1);
  await give(anna, -3n);
  expect(await summary(anna)).toEqual([3n, -18n, 1]);
  await give(ben, LARGEST);
  for (const _ of [1, 2]) await give(ben, 0n, 18);
  expect(await refusalOf(summary(ben))).toBe('mean too large');
});

it('all feedback is read at once, filtered by client, tag and whether it stands', async () => {
  await give(anna, 1n, 0, 'x', 'p');
  await give(anna, 2n, 1, 'y', 'p');
  await give(ben, 3n, 2, 'x', 'q');
  await as(reputation, anna, 'revokeFeedback', agentId, 1n);
  const all = (clients: Hex[], tag1: string, tag2: string, includeRevoked: boolean) =>
    read('readAllFeedback', agentId, clients, tag1, tag2, includeRevoked);
  const [a, b] = [anna.address, ben.address];
  expect(await all([], '', '', true)).toEqual([
    [a, a, b],
    [1n, 2n, 1n],
    [1n, 2n, 3n],
    [0, 1, 2],
    ['x', 'y', 'x'],
    ['p', 'p', 'q'],
    [true, false, false],
  ]);
  expect(await all([], 'x', '', false)).toEqual([[b], [1n], [3n], [2], ['x'], ['q'], [false]]);
  expect(await all([a], '', '', false)).toEqual([[a], [2n], [2n], [1], ['y'], ['p'], [false]]);
  expect(await all([b], '', 'p', true)).toEqual([[], [], [], [], [], [], []]);
});

it('feedback costs a bounded amount of gas', async () => {
  const details = ['starred', '', 'https://node.example/agents/1/invoke', 'https://node.example/feedback/1.json', HASH];
  const [first, next] = [
    await as(reputation, anna, 'giveFeedback', agentId, 100n, 0, ...details),
    await as(reputation, anna, 'giveFeedback', agentId, 90n, 0, ...details),
  ];
  process.stdout.write(`gas: first feedback of a client ${first.gasUsed}, next ${next.gasUsed}\n`);
  expect(first.gasUsed).toBeLessThan(210_000n);
  expect(next.gasUsed).toBeLessThan(150_000n);
});
