import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { issueApiKey } from '../../../src/accounts/keys/manage-keys.ts';
import { followOwners } from '../../../src/agents/onchain/follow-owners.ts';
import { lockReading } from '../../../src/registry/read/registry-reading-store.ts';
import { expectError } from '../../http/api/support/expect-error.ts';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness } from '../../support/harness.ts';
import { registerOnChain, registryActions } from '../../support/registry-actions.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { deposit } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { untilIdentity, untilRegistered } from './support/registered.ts';
import { newWalletOwner, proveWallet, type WalletOwner } from './support/wallet-owner.ts';

let h: Harness;
const agents: TestAgent[] = [];
beforeAll(async () => {
  h = await startHarness({ registers: true });
});
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent.die()));
  await h.stop();
});

const post = (key: string, path: string, body?: unknown) => h.request('POST', path, { key, body });
const transfer = (from: string, to: string, tokenId: string) =>
  registryActions(h.rpcUrl).transfer(from, to, BigInt(tokenId));
const isFrozen = ({ frozen }: { frozen: boolean }) => frozen;

/** An agent whose proven owner holds its token, with 1 USDC in its treasury. */
async function soldAgent(seller: WalletOwner) {
  const agent = await startTestAgent(h, { owner: seller, capabilities: ['sold'] });
  agents.push(agent);
  expect((await proveWallet(h, seller, agent.id)).body.data.verified).toBe(true);
  const { tokenId } = (await untilRegistered(h, agent.id)).onChain;
  expect((await post(seller.key, `/identity/${agent.id}/claim`)).body.data.state).toBe('claimed');
  const { treasuryId } = (await post(seller.key, '/payments/treasury', { agentId: agent.id })).body.data;
  await deposit(h, seller.key, treasuryId, '1');
  return { agent, tokenId: tokenId as string, treasuryId: treasuryId as string };
}

const withdraw = (key: string, treasuryId: string) => post(key, '/payments/withdraw', { treasuryId, amount: '0.4' });
const verifiedTotal = async () =>
  (await h.request('POST', '/agents/search', { body: { query: { verified: true, capabilities: { all: ['sold'] } } } }))
    .body.data.total;

it('a token that is sold takes its agent along: frozen until the buyer proves the wallet, then the buyer’s with all its money', async () => {
  const [seller, buyer] = [await newWalletOwner(h), await newWalletOwner(h)];
  const { agent, tokenId, treasuryId } = await soldAgent(seller);
  const before = (await h.request('GET', `/agents/${agent.id}`)).body.data;
  expect(before).toMatchObject({ owner: seller.address, verified: true, frozen: false });
  expect(await verifiedTotal()).toBe(1);

  await transfer(seller.address, buyer.address, tokenId);
  await untilIdentity(h, agent.id, isFrozen);
  const frozen = (await h.request('GET', `/agents/${agent.id}`)).body.data;
  expect(frozen).toMatchObject({ owner: buyer.address, verified: false, frozen: true });
  expect(await verifiedTotal()).toBe(0);
  for (const each of [seller, buyer]) expect(await changesTold(each, agent.id)).toEqual([buyer.address]);

  // The seller has no say any more, by whichever key, and nobody gets at the money.
  expectError(await h.request('PUT', `/agents/${agent.id}`, { key: seller.key, body: { name: 'Mine' } }), 'FORBIDDEN');
  expectError(await h.request('DELETE', `/agents/${agent.id}`, { key: seller.key }), 'FORBIDDEN');
  const refused = await withdraw(seller.key, treasuryId);
  expectError(refused, 'CONFLICT');
  expect(refused.body.error.message).toContain('frozen');
  const other = await startTestAgent(h, { owner: seller, perRequest: '0.5' });
  agents.push(other);
  expectError(await post(agent.identityToken, `/invoke/${other.id}`, { task: 'drain' }), 'INSUFFICIENT_BALANCE');
  expectError(await withdraw(buyer.key, treasuryId), 'NOT_FOUND');
  expectError(await proveWallet(h, await newWalletOwner(h), agent.id), 'FORBIDDEN');

  const proven = (await proveWallet(h, buyer, agent.id)).body.data;
  expect(proven).toMatchObject({ owner: buyer.address, identityToken: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
  const after = (await h.request('GET', `/identity/${agent.id}`)).body.data;
  expect(after).toMatchObject({ owner: buyer.address, frozen: false, onChain: { owner: buyer.address, tokenId } });
  expectError(await withdraw(seller.key, treasuryId), 'NOT_FOUND');
  expectError(await post(agent.identityToken, `/invoke/${other.id}`, { task: 'drain' }), 'UNAUTHORIZED');
  expect((await withdraw(buyer.key, treasuryId)).body.data).toMatchObject({ status: 'confirmed', amount: '0.40' });
  expect(await h.usdcOf(buyer.address)).toBe(400_000n);
  expect(
    (await h.request('PUT', `/agents/${agent.id}`, { key: buyer.key, body: { name: 'Bought' } })).body.data,
  ).toMatchObject({ updated: ['name'] });
});

it('a sale that the index has not read, or never reads, keeps the seller from the treasury: the contract is asked', async () => {
  const [seller, buyer] = [await newWalletOwner(h), await newWalletOwner(h)];
  const { agent, tokenId, treasuryId } = await soldAgent(seller);
  await h.ctx.db.transaction(async (tx) => {
    // The index stands still until the transaction ends.
    await lockReading(tx, h.ctx.chain.chainId, new Date());
    await transfer(seller.address, buyer.address, tokenId);
    const refused = await withdraw(seller.key, treasuryId);
    expectError(refused, 'CONFLICT');
    expect(refused.body.error.message).toContain(`belongs to ${buyer.address} on chain by now`);
  });
  await untilIdentity(h, agent.id, isFrozen);
  expect(await h.usdcOf(seller.address)).toBe(0n);
});

it('a token that comes back before anybody proved to own it leaves all as it was', async () => {
  const [seller, buyer] = [await newWalletOwner(h), await newWalletOwner(h)];
  const { agent, tokenId, treasuryId } = await soldAgent(seller);
  await transfer(seller.address, buyer.address, tokenId);
  await untilIdentity(h, agent.id, isFrozen);
  await transfer(buyer.address, seller.address, tokenId);
  expect(await untilIdentity(h, agent.id, ({ frozen }) => !frozen)).toMatchObject({
    owner: seller.address,
    verified: true,
  });
  expect((await withdraw(seller.key, treasuryId)).status).toBe(200);
  expectError(await proveWallet(h, buyer, agent.id), 'FORBIDDEN');
});

it('a token that goes to a wallet linked to an account takes its agent to that account, once that wallet has signed', async () => {
  const [seller, buyer] = [await newWalletOwner(h), await newWalletOwner(h)];
  const { agent, tokenId, treasuryId } = await soldAgent(seller);
  let holder = seller.address;
  let token = agent.identityToken;
  for (const account of [seller, buyer]) {
    expect((await post(token, `/agents/${agent.id}/heartbeat`, { accepting: false })).status).toBe(200);
    const wallet = privateKeyToAccount(generatePrivateKey());
    const address = wallet.address.toLowerCase();
    const { challengeId, message } = (await post(account.key, '/payments/claims', { address })).body.data;
    const signature = await wallet.signMessage({ message });
    expect((await post(account.key, '/payments/claims', { challengeId, signature })).status).toBe(200);

    await transfer(holder, address, tokenId);
    await untilIdentity(h, agent.id, (identity) => isFrozen(identity) && identity.owner === address);
    expectError(await proveWallet(h, account, agent.id), 'VALIDATION_ERROR', 'signature');
    const proven = (await proveWallet(h, { ...account, wallet }, agent.id)).body.data;
    expect(proven).toMatchObject({ owner: address, identityToken: expect.stringMatching(/^0x[0-9a-f]{64}$/) });
    expect((await h.request('GET', `/agents/${agent.id}`)).body.data).toMatchObject({ owner: address, frozen: false });
    expect((await withdraw(account.key, treasuryId)).status).toBe(200);
    expect(await askDatabase(h.databaseUrl, 'select is_accepting from agent where id = $1', [agent.id])).toEqual([
      { is_accepting: true },
    ]);
    holder = address;
    token = proven.identityToken;
  }
  // The linked wallet has proven itself, and not the account's own.
  expect((await h.request('GET', '/account', { key: buyer.key })).body.data.walletProven).toBe(false);
  expectError(await withdraw(seller.key, treasuryId), 'NOT_FOUND');
});

it('a text that was given for the wallet before the sale takes nothing over after it', async () => {
  const [seller, buyer, second] = [await newWalletOwner(h), await newWalletOwner(h), await newWalletOwner(h)];
  const { agent, tokenId } = await soldAgent(seller);
  await transfer(seller.address, buyer.address, tokenId);
  await untilIdentity(h, agent.id, isFrozen);
  const asked = await post(buyer.key, '/identity/verify', { agentId: agent.id, proof: 'wallet' });
  const { challengeId, message } = asked.body.data;
  await transfer(buyer.address, second.address, tokenId);
  await untilIdentity(h, agent.id, ({ owner }) => owner === second.address);
  const signature = await buyer.wallet.signMessage({ message });
  const late = await post(buyer.key, '/identity/verify', { challengeId, signature });
  expect(late.body.data ?? {}).not.toMatchObject({ identityToken: expect.any(String) });
  expect((await h.request('GET', `/identity/${agent.id}`)).body.data).toMatchObject({
    frozen: true,
    owner: second.address,
  });
  expect((await proveWallet(h, second, agent.id)).body.data.identityToken).toEqual(expect.any(String));
});

describe('an index that is behind the chain', () => {
  const write = (tokenId: string, owner: string, blocks = 0) =>
    askDatabase(
      h.databaseUrl,
      'update registry_token set owner = $2, changed_block = changed_block + $3 where token_id = $1 returning token_id',
      [tokenId, owner, blocks],
    );
  const answerOf = async (id: string) => (await h.request('GET', `/agents/${id}`)).body.data;

  it('freezes nothing, and a token is linked once the index has read who holds it', async () => {
    const owner = await newWalletOwner(h);
    const agent = await startTestAgent(h, { owner });
    agents.push(agent);
    await proveWallet(h, owner, agent.id);
    const tokenId = await registerOnChain(h.rpcUrl, owner.address, 'https://x.example');
    const unknown = await registerOnChain(h.rpcUrl, owner.address, 'https://y.example');
    const link = (token: string) => post(owner.key, `/identity/${agent.id}/link`, { tokenId: token });
    const former = `0x${'77'.repeat(20)}`;
    const forget = () =>
      askDatabase(h.databaseUrl, 'delete from registry_token where token_id = $1 returning 1', [unknown]);
    await expect.poll(forget).toHaveLength(1);
    expect(await write(tokenId, former)).toHaveLength(1);
    for (const refused of await Promise.all([link(tokenId), link(unknown)])) expectError(refused, 'CONFLICT');
    await write(tokenId, owner.address);
    expect((await link(tokenId)).status).toBe(200);
    await write(tokenId, former);
    await followOwners(h.ctx);
    expect(await answerOf(agent.id)).toMatchObject({ frozen: false, verified: true });
    await write(tokenId, owner.address);
  });

  it('takes no agent from an owner who has just claimed its token, even if an RPC node is behind as well', async () => {
    const owner = await newWalletOwner(h);
    const { agent, tokenId } = await soldAgent(owner);
    await untilIdentity(h, agent.id, ({ onChain }) => onChain.custody === 'owner');
    const registrar = h.ctx.registrar?.address as string;
    await write(tokenId, registrar, -1);
    const isBehind = { ...h.ctx, tokenClient: { ...h.ctx.tokenClient, ownerOf: async () => registrar } };
    await followOwners(isBehind);
    expect(await answerOf(agent.id)).toMatchObject({ owner: owner.address, frozen: false });
    await write(tokenId, owner.address, 1);
  });
});

/** Who was told to be the new owner of an agent, by the events of an account. */
async function changesTold({ accountId }: WalletOwner, agentId: string): Promise<string[]> {
  const { apiKey } = await issueApiKey(h.ctx, {
    accountId,
    name: 'events',
    scopes: ['webhooks:manage'],
    expiresAt: null,
  });
  const told = await until(async () => {
    const { events } = (await h.request('GET', '/events?type=agent.owner_changed', { key: apiKey })).body.data;
    return events.length > 0 ? events : null;
  });
  return (told ?? [])
    .filter(({ data }: { data: { id: string } }) => data.id === agentId)
    .map(({ data }: { data: { owner: string } }) => data.owner);
}
