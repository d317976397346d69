import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDatabase } from '../../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { databaseDigest } from '../support/database-digest.ts';
import { expectError } from '../support/expect-error.ts';

let h: Harness;
let closed: Harness;
let owner: TestAccount;
beforeAll(async () => {
  [h, closed] = await Promise.all([startHarness(), startHarness({ env: { ALLOW_PRIVATE_ENDPOINTS: 'false' } })]);
  owner = await h.newAccount();
});
afterAll(() => Promise.all([h.stop(), closed.stop()]));

const minimal = { name: 'A', capabilities: ['x'], rates: { perRequest: '0.05' }, endpoint: 'http://127.0.0.1:9/' };
const register = (body: object, node = h, key = owner.key) =>
  node.request('POST', '/agents', { key, body: { ...minimal, ...body } });
const read = async (id: string) => (await h.request('GET', `/agents/${id}`)).body.data;

describe('a registration', () => {
  it('with the least fields is pending, with everything else at its default', async () => {
    const { body } = await register({});
    expect(body.data).toEqual({
      id: expect.stringMatching(/^agt_[0-9a-z]{26}$/),
      name: 'A',
      identityToken: expect.stringMatching(/^0x[0-9a-f]{64}$/),
      registeredAt: expect.any(String),
      status: 'pending_verification',
    });
    expect(await read(body.data.id)).toMatchObject({
      description: '',
      rates: { perRequest: '0.05', perHour: '0.05', tiers: { basic: '0.05', premium: '0.05', enterprise: '0.05' } },
      metadata: {},
      owner: owner.address,
      ...{ totalRequests: 0, successRate: 0, uptime: 0, avgResponseTime: '0s', online: false, verified: false },
      status: 'pending_verification',
      createdAt: body.data.registeredAt,
    });
  });

  it('with every field is read back as it was written', async () => {
    const all = {
      name: 'Übersetzer 翻訳 💬',
      description: 'Line one.\n\tLine two.',
      rates: {
        perRequest: '0.000001',
        perHour: '999999999999.999999',
        tiers: { basic: '0', premium: '1.5', enterprise: '2' },
      },
      metadata: {
        avatar: 'https://example.com/a.png',
        website: 'https://example.com/',
        tags: ['fast', 'ΑΒΓ'],
        maxConcurrency: 7,
      },
      exampleQuestions: ['What does „Baum“ mean in English?', '翻訳してください'],
    };
    const { body } = await register({ ...all, capabilities: ['B.c_d-1', 'a'] });
    const detail = await read(body.data.id);
    expect(detail).toMatchObject({ ...all, capabilities: ['b.c_d-1', 'a'] });
    expect((await h.request('GET', `/agents/${body.data.id}/status`)).body.data).toMatchObject({
      online: false,
      load: 0,
      location: 'local',
    });
  });

  it('takes every field at its limit', async () => {
    const limits = {
      name: 'n'.repeat(120),
      description: 'd'.repeat(2000),
      capabilities: Array.from({ length: 50 }, (_, index) => `c${index}`.padEnd(64, 'x')),
      metadata: { tags: Array.from({ length: 30 }, (_, index) => `t${index}`.padEnd(64, 'x')), maxConcurrency: 10_000 },
      endpoint: `http://127.0.0.1:9/${'p'.repeat(2048 - 'http://127.0.0.1:9/'.length)}`,
    };
    const { status, body } = await register(limits);
    expect(status).toBe(200);
    expect(await read(body.data.id)).toMatchObject(limits);
  });

  it.each([
    ['name', { name: 'n'.repeat(121) }],
    ['name', { name: '   ' }],
    ['description', { description: 'd'.repeat(2001) }],
    ['capabilities', { capabilities: ['a', 'A'] }],
    ['capabilities', { capabilities: ['a', 'a'] }],
    ['capabilities.0', { capabilities: ['-a'] }],
    ['capabilities.1', { capabilities: ['a', 'a b'] }],
    ['capabilities.0', { capabilities: ['é'] }],
    ['endpoint', { endpoint: 'ftp://example.com/' }],
    ['endpoint', { endpoint: 'javascript:alert(1)' }],
    ['endpoint', { endpoint: '/relative' }],
    ['endpoint', { endpoint: 'http://user:secret@127.0.0.1/' }],
    ['metadata.website', { metadata: { website: 'javascript:alert(1)' } }],
    ['metadata.avatar', { metadata: { avatar: 'data:image/png;base64,AAAA' } }],
    ['metadata.tags.0', { metadata: { tags: ['x'.repeat(65)] } }],
    ['rates.tiers.basic', { rates: { perRequest: '1', tiers: { basic: '-1' } } }],
  ])('with a bad %s is refused: %j', async (field, body) => {
    const digest = await databaseDigest(h);
    expectError(await register(body), 'VALIDATION_ERROR', field);
    expect(await databaseDigest(h)).toEqual(digest);
  });

  it('twice makes two agents with different tokens', async () => {
    const [one, two] = await Promise.all([register({}), register({})]);
    expect(one.body.data.id).not.toBe(two.body.data.id);
    expect(one.body.data.identityToken).not.toBe(two.body.data.identityToken);
  });
});

const privateEndpoints = [
  ...[
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://0.0.0.0/',
  ],
  ...[
    'https://10.0.0.1/',
    'https://172.16.0.1/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.169.254/latest/meta-data/',
  ],
  ...[
    'https://[::1]/',
    'https://[::]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[fe80::1]/',
    'https://[fd00:ec2::254]/',
    'https://[64:ff9b::7f00:1]/',
  ],
  ...[
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://db.internal/',
    'https://metadata.google.internal/',
    'https://printer.local/',
  ],
  ...['https://intranet/', 'https://224.0.0.1/', 'https://255.255.255.255/'],
];

describe('text that PostgreSQL cannot read back', () => {
  const perUnit = (count: string) => ({
    metadata: { perUnit: { price: '0.01', unit: 'page', count, measure: 'number', maximum: '1' } },
  });
  it.each([
    ['metadata.perUnit.count', perUnit('/a\u0000b')],
    ['metadata.perUnit.count', perUnit('/a\ud800b')],
    ['metadata.website', { metadata: { website: 'https://a.example/\u0000' } }],
    ['metadata.avatar', { metadata: { avatar: 'https://a.example/\udc00' } }],
    ['endpoint', { endpoint: 'http://127.0.0.1:9/\u0000' }],
    ['upstream.tool', { protocol: 'mcp', upstream: { tool: 'a\u0000' } }],
    ['upstream.model', { protocol: 'openai', upstream: { model: 'a\ud800' } }],
  ])('is refused in %s, and the node goes on', async (field, body) => {
    expectError(await register(body), 'VALIDATION_ERROR', field);
    expect((await register({})).status).toBe(200);
    expect((await h.request('GET', '/agents')).status).toBe(200);
  });

  it('is refused by the table too: a row that nobody can read would stop every process', async () => {
    const { body } = await register({});
    const poison = `update agent set metadata = '{"website":"https://a.example/\\u0000"}' where id = '${body.data.id}'`;
    await expect(askDatabase(h.databaseUrl, poison)).rejects.toThrow(/unsupported Unicode escape/);
  });
});

describe('when private endpoints are not allowed', () => {
  it.each(privateEndpoints)('%s is refused, and the reason tells nothing of what is there', async (endpoint) => {
    const account = await closed.newAccount();
    const digest = await databaseDigest(closed);
    const answer = await register({ endpoint }, closed, account.key);
    expectError(answer, 'VALIDATION_ERROR', 'endpoint');
    expect(answer.body.error.details.fields).toEqual([{ path: 'endpoint', message: 'must have a public host' }]);
    expect(await databaseDigest(closed)).toEqual(digest);
  });

  it.each([
    ['http://example.com/', 'must be an https URL'],
    ['https://example.com:22/', 'must use port 80, 443 or one from 1024 up'],
    ['https://user:pw@example.com/', 'must not contain a user name or password'],
  ])('%s is refused: %s', async (endpoint, message) => {
    const { key } = await closed.newAccount();
    const answer = await register({ endpoint }, closed, key);
    expectError(answer, 'VALIDATION_ERROR', 'endpoint');
    expect(answer.body.error.details.fields[0].message).toBe(message);
  });

  it('an agent cannot be moved to one either', async () => {
    const { key } = await closed.newAccount();
    const { body } = await register({ endpoint: 'https://agent.example.com/' }, closed, key);
    const moved = await closed.request('PUT', `/agents/${body.data.id}`, {
      key,
      body: { name: 'New', endpoint: 'https://127.0.0.1/' },
    });
    expectError(moved, 'VALIDATION_ERROR', 'endpoint');
    // The first check of the endpoint may write to the row meanwhile.
    expect((await closed.request('GET', `/agents/${body.data.id}`)).body.data).toMatchObject({
      name: 'A',
      endpoint: 'https://agent.example.com/',
    });
  });
});
