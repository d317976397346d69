import { afterAll, beforeAll, expect, it } from 'vitest';
import { expectError } from '../../http/api/support/expect-error.ts';
import { askDatabase } from '../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { registerOnChain } from '../../support/registry-actions.ts';
import { startTestAgent, type TestAgent } from '../../support/test-agent.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;

beforeAll(async () => {
  // What a production node without the key is: a node without a registrar.
  h = await startHarness({ followsRegistry: true });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner });
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

it('writes nothing to the registry: its agents stay without an entry, and their files are served', async () => {
  await h.ctx.entryKeeper.keep();
  await h.ctx.registryWriter.write();
  expect(await askDatabase(h.databaseUrl, 'select id from registry_write')).toEqual([]);
  const identity = (await h.request('GET', `/identity/${agent.id}`)).body.data;
  expect(identity).toMatchObject({ verified: true, onChain: null, registration: 'none' });
  expect((await h.request('GET', `/agents/${agent.id}/registration.json`)).body.registrations).toEqual([]);
  expect((await h.request('GET', '/.well-known/agent-network.json')).body.registrations).toEqual([]);
});

it('has nothing to be claimed, and takes a token that the owner registered', async () => {
  expectError(await h.request('POST', `/identity/${agent.id}/claim`, { key: owner.key }), 'CONFLICT');
  const tokenId = await registerOnChain(h.rpcUrl, owner.address, `${h.baseUrl}/agents/${agent.id}/registration.json`);
  const linked = await h.request('POST', `/identity/${agent.id}/link`, { key: owner.key, body: { tokenId } });
  expect(linked.body.data).toMatchObject({ tokenId, pointsThere: true });
  expect((await h.request('GET', `/identity/${agent.id}`)).body.data.registration).toBe('registered');
});

it('a key of the node is no place to send money to', async () => {
  const other = await startHarness({ registers: true });
  const { key } = await other.newAccount();
  const to = other.ctx.registrar?.address;
  const answer = await other.request('POST', '/payments/withdraw', { key, body: { amount: '1', to } });
  expectError(answer, 'VALIDATION_ERROR');
  await other.stop();
});
