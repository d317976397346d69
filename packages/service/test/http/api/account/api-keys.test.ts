import { defaultScopes, nodeScopes, ownScopes, scopes } from '@agent-network/contracts/access/scopes';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Harness, TestAccount } from '../../../support/harness.ts';
import { startTestAgent } from '../../../support/test-agent.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';
import { endpoints, pathOf, validCalls } from '../support/valid-calls.ts';
import { startWorld, type World } from '../support/world.ts';

let world: World;
let h: Harness;
let owner: TestAccount;
beforeAll(async () => {
  world = await startWorld();
  ({ h, owner } = world);
});
afterAll(() => world.stop());

const create = (key: string, body: object) =>
  h.request('POST', '/account/keys', { key, body: { name: 'new', ...body } });
const list = async (key: string) => (await h.request('GET', '/account/keys', { key })).body.data.keys;

describe('creating a key', () => {
  it('shows the secret once and never again', async () => {
    const { apiKey, ...rest } = (await create(owner.key, { name: 'Build server' })).body.data;
    expect(apiKey).toMatch(/^ank_test_[0-9A-Za-z]{12}_[0-9A-Za-z]{49}$/);
    expect(rest).toMatchObject({
      name: 'Build server',
      scopes: [...defaultScopes],
      expiresAt: null,
      revokedAt: null,
      lastUsedAt: null,
    });
    expect(apiKey.startsWith(rest.start)).toBe(true);
    const listed = (await list(owner.key)).find(({ keyId }: { keyId: string }) => keyId === rest.keyId);
    const { use: _, ...told } = listed;
    expect(told).toEqual(rest);
  });

  it('gives no scope that the asking key lacks', async () => {
    const limited = await h.newAccount({ scopes: ['keys:manage', 'invoke'] });
    const digest = await databaseDigest(h);
    for (const scope of scopes.filter((each) => each !== 'keys:manage' && each !== 'invoke'))
      expectError(await create(limited.key, { scopes: ['invoke', scope] }), 'FORBIDDEN');
    expect(await databaseDigest(h)).toEqual(digest);
    expect((await create(limited.key, {})).body.data.scopes).toEqual(['invoke']);
    expect((await create(limited.key, { scopes: ['keys:manage'] })).body.data.scopes).toEqual(['keys:manage']);
  });

  it('that reads metrics can be created by an operator only', async () => {
    const operator = await h.newAccount({ scopes: ['keys:manage', 'operator'] });
    const made = (await create(operator.key, { scopes: ['metrics:read'] })).body.data;
    expect(made.scopes).toEqual(['metrics:read']);
    expectError(await create(made.apiKey, { scopes: ['metrics:read'] }), 'FORBIDDEN');
    const other = await h.newAccount({ scopes: ownScopes });
    for (const scope of nodeScopes) expectError(await create(other.key, { scopes: [scope] }), 'FORBIDDEN');
  });

  it('that could never be used is refused', async () => {
    const digest = await databaseDigest(h);
    for (const expiresAt of [
      new Date(Date.now() - 1000).toISOString(),
      '1970-01-01T00:00:00Z',
      '0001-01-01T00:00:00+23:59',
    ])
      expectError(await create(owner.key, { expiresAt }), 'VALIDATION_ERROR', 'expiresAt');
    for (const expiresAt of [
      'tomorrow',
      '2026-13-01T00:00:00Z',
      '2027-02-29T00:00:00Z',
      '2027-01-01',
      '2027-01-01T25:00:00Z',
      '2027-01-01T00:00:00',
    ])
      expectError(await create(owner.key, { expiresAt }), 'VALIDATION_ERROR', 'expiresAt');
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('without any scope is refused: it could do nothing', async () => {
    const manager = await h.newAccount({ scopes: ['keys:manage'] });
    expectError(await create(manager.key, { scopes: [] }), 'VALIDATION_ERROR', 'scopes');
    expectError(await create(manager.key, {}), 'VALIDATION_ERROR', 'scopes');
  });
});

describe('keys of one account', () => {
  it('are neither seen nor revoked by another', async () => {
    const stranger = await h.newAccount();
    const { keyId, apiKey } = (await create(owner.key, {})).body.data;
    expect((await list(stranger.key)).map((key: { keyId: string }) => key.keyId)).not.toContain(keyId);
    expectError(await h.request('DELETE', `/account/keys/${keyId}`, { key: stranger.key }), 'NOT_FOUND');
    expect((await h.request('GET', '/account', { key: apiKey })).status).toBe(200);
  });

  it('stay revoked since the first time, however often they are revoked', async () => {
    const { keyId } = (await create(owner.key, {})).body.data;
    const revoke = () => h.request('DELETE', `/account/keys/${keyId}`, { key: owner.key });
    const revokedAt = async () =>
      (await list(owner.key)).find((key: { keyId: string }) => key.keyId === keyId).revokedAt;
    await revoke();
    const first = await revokedAt();
    expect(first).not.toBeNull();
    expect((await revoke()).status).toBe(200);
    expect(await revokedAt()).toBe(first);
  });

  it('show when they were last used', async () => {
    const { keyId, apiKey } = (await create(owner.key, {})).body.data;
    await h.request('GET', '/account', { key: apiKey });
    const used = (await list(owner.key)).find((key: { keyId: string }) => key.keyId === keyId);
    expect(Date.parse(used.lastUsedAt)).toBeGreaterThan(Date.now() - 60_000);
  });
});

describe('scopes', () => {
  it.each(endpoints.filter(([, row]) => row.scope))(
    '%s is refused to a key with every other scope',
    async (name, row) => {
      const { key } = await h.newAccount({ scopes: scopes.filter((scope) => scope !== row.scope) });
      const digest = await databaseDigest(h);
      const { params, body } = validCalls[name](world);
      expectError(await h.request(row.method, pathOf(row, params), { key, body }), 'FORBIDDEN');
      expect(await databaseDigest(h)).toEqual(digest);
      expect(world.strangersAgent.calls).toEqual([]);
    },
  );

  it('every call for a key of an account asks for one, except for reading the account itself', () => {
    const open = endpoints.filter(([, row]) => row.auth === 'key' && !row.scope).map(([name]) => name);
    expect(open).toEqual(['getAccount']);
  });
});

it('the account shows its wallet, plan and proof', async () => {
  const unproven = await h.newAccount({ plan: 'pro', isWalletProven: false });
  expect((await h.request('GET', '/account', { key: unproven.key })).body.data).toEqual({
    accountId: unproven.accountId,
    address: unproven.address,
    plan: 'pro',
    walletProven: false,
    suspension: null,
    createdAt: expect.any(String),
    wallets: [],
  });
});

it('no table holds a secret that was handed out', async () => {
  const { apiKey } = (await create(owner.key, {})).body.data;
  const agent = await startTestAgent(h, { owner });
  await agent.die();
  const tables = await h.ctx.db.pool.query<{ name: string }>(
    `select format('%I.%I', table_schema, table_name) as name from information_schema.tables
      where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const dump: string[] = [];
  for (const { name } of tables.rows) {
    const { rows } = await h.ctx.db.pool.query<{ row: string }>(`select x::text as row from ${name} x`);
    dump.push(...rows.map(({ row }) => row));
  }
  const stored = dump.join('\n');
  for (const secret of [apiKey, owner.key, agent.identityToken]) {
    const bare = secret.replace(/^0x|^ank_test_\w{12}_/, '');
    for (const form of [secret, bare, Buffer.from(secret).toString('hex'), Buffer.from(secret).toString('base64')])
      expect(stored.includes(form)).toBe(false);
  }
  expect(stored).toContain(agent.id);
});
