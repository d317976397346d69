import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../../../support/harness.ts';
import { expectError } from '../support/expect-error.ts';

const stuffing = Array.from({ length: 250 }, (_, index) => `word${index}`).join(' ');
const agents = {
  lawyer: { name: 'Lawyer', description: 'Reviews contracts and translates them into German.', perRequest: '0.10' },
  translator: { name: 'Translator', description: 'Any text, in German.', perRequest: '0.05' },
  copycat: {
    name: 'Lawyer',
    description: 'Reviews contracts and translates them into German.',
    perRequest: '0.000001',
  },
  stuffed: { name: 'Everything', description: `reviews contracts translates german ${stuffing}`, perRequest: '0.05' },
  unproven: { name: 'Reviews contracts', description: 'Translates German.', perRequest: '0' },
  painter: { name: 'Painter', description: 'Pictures of anything.', perRequest: '0.05' },
  asleep: { name: 'Translates German contracts', description: 'Reviews.', perRequest: '0.01' },
} as const;
type Name = keyof typeof agents;
const records: Partial<Record<Name, number>> = {
  lawyer: 880,
  translator: 800,
  stuffed: 800,
  painter: 900,
  asleep: 1000,
};

let h: Harness;
const ids = new Map<string, Name>();
beforeAll(async () => {
  h = await startHarness();
  const [owner, stranger] = [await h.newAccount(), await h.newAccount({ isWalletProven: false })];
  const register = async (name: Name, { key }: TestAccount) => {
    const { perRequest, ...named } = agents[name];
    const capabilities = name === 'painter' ? ['paint'] : ['law', 'match-test'];
    const body = { ...named, capabilities, rates: { perRequest }, endpoint: 'http://127.0.0.1:9/agent' };
    ids.set((await h.request('POST', '/agents', { key, body })).body.data.id, name);
  };
  for (const name of Object.keys(agents) as Name[]) await register(name, name === 'unproven' ? stranger : owner);
  for (const [id, name] of ids)
    await h.ctx.db.pool.query(
      `update agent set status = $2, reputation = $3, response_ms = 100, endpoint_proven_at = now(), next_check_at = null where id = $1`,
      [id, name === 'asleep' ? 'offline' : 'online', records[name] ?? 467],
    );
});
afterAll(() => h.stop());

const task = 'Please review the contract, and translate it into German.';
const match = async (body: object) => (await h.request('POST', '/agents/match', { body })).body.data;
interface Match {
  readonly agent: { readonly id: string; readonly verified: boolean };
  readonly score: number;
  readonly parts: Record<string, { readonly weight: number; readonly value: number }>;
}
const namesOf = ({ matches }: { matches: Match[] }) => matches.map(({ agent }) => ids.get(agent.id));

describe('POST /agents/match', () => {
  it('says how far the registry was that decided', async () => {
    const ask = () => h.request('POST', '/agents/match', { body: { task } });
    const before = (await ask()).headers.get('x-registry-position');
    expect(before).toMatch(/^\d+$/);
    const { key } = await h.newAccount();
    const body = { name: 'Later', description: 'x', capabilities: ['later'], rates: { perRequest: '0.10' } };
    await h.request('POST', '/agents', { key, body: { ...body, endpoint: 'http://127.0.0.1:9/agent' } });
    const listed = (await h.request('GET', '/agents')).headers.get('x-registry-position');
    const after = (await ask()).headers.get('x-registry-position');
    expect(BigInt(after ?? 0)).toBeGreaterThan(BigInt(before ?? 0));
    expect(BigInt(after ?? 0)).toBeGreaterThanOrEqual(BigInt(listed ?? 0));
  });

  it('ranks online agents by what they are good for: records first, copies and lists of words behind, unverified ones last', async () => {
    const found = await match({ task, limit: 20 });
    expect(namesOf(found)).toEqual(['lawyer', 'translator', 'stuffed', 'copycat', 'unproven']);
    expect(found.matches.map(({ agent }: Match) => agent.verified)).toEqual([true, true, true, true, false]);
    expect(found.considered).toBe(5);
    expect(found.words.toSorted()).toEqual(['contract', 'german', 'review', 'translate']);
    expect(found.ignoredWords).toBe(5);
  });

  it('explains each score: the weighted values of the parts add up to it', async () => {
    const { matches } = await match({ task, limit: 20 });
    for (const { score, parts } of matches as Match[]) {
      const all = Object.values(parts);
      expect(all.reduce((sum, { weight, value }) => sum + weight * value, 0)).toBeCloseTo(score, 9);
      expect(all.reduce((sum, { weight }) => sum + weight, 0)).toBeCloseTo(1, 9);
    }
    expect(matches[0].parts).toMatchObject({
      text: { coverage: 1, matched: expect.arrayContaining(['review', 'german']) },
      reputation: { reputation: 880, value: 0.775 },
      price: { price: '0.10', usual: '0.05', value: 0.333 },
      latency: { responseTime: '0.1s' },
      load: { load: 0, value: 1 },
    });
  });

  it('counts the reported load of an agent', async () => {
    const [id] = [...ids].find(([, name]) => name === 'lawyer') ?? [];
    await h.ctx.db.pool.query('update agent set reported_load = 0.8, reported_at = now() where id = $1', [id]);
    expect((await match({ task })).matches[0].parts.load).toMatchObject({ load: 0.8, value: 0.2 });
    await h.ctx.db.pool.query('update agent set reported_load = null, reported_at = null where id = $1', [id]);
  });

  it('names those within maxPrice, and considers them all', async () => {
    const found = await match({ task, maxPrice: '0.05' });
    expect(namesOf(found)).toEqual(['translator', 'stuffed', 'copycat', 'unproven']);
    expect(found.considered).toBe(5);
  });

  it('names those that have every capability, also without a word in common', async () => {
    expect(namesOf(await match({ task, capabilities: ['paint'] }))).toEqual(['painter']);
    expect(namesOf(await match({ task, capabilities: ['paint', 'law'] }))).toEqual([]);
    expect(await match({ task, capabilities: ['law'], limit: 1 })).toMatchObject({ considered: 5 });
  });

  it.each([['the and of'], ['zxqwv qwvzx'], ['?!']])('finds no agent for the task %j', async (nonsense) => {
    expect(await match({ task: nonsense })).toMatchObject({ matches: [], considered: 0, words: [] });
  });

  it('takes a task of ten thousand words: the rare ones that some agent has decide', async () => {
    const long = Array.from({ length: 10_000 }, (_, index) => `w${index}x`).join(' ');
    const found = await match({ task: `${long} german contracts reviews translates` });
    expect(namesOf(found)[0]).toBe('lawyer');
    expect(found.ignoredWords).toBe(10_000);
    const all = Array.from({ length: 250 }, (_, index) => `word${index}`).join(' ');
    expect((await match({ task: all })).words).toHaveLength(32);
  });

  it.each([
    ['task', {}],
    ['task', { task: '' }],
    ['task', { task: 7 }],
    ['task', { task: 'x'.repeat(100_001) }],
    ['task', { task: 'a\u0000b' }],
    ['maxPrice', { task, maxPrice: '-1' }],
    ['maxPrice', { task, maxPrice: 1e-7 }],
    ['capabilities', { task, capabilities: [] }],
    ['capabilities', { task, capabilities: Array.from({ length: 50 }, (_, index) => `c${index}`) }],
    ['capabilities.0', { task, capabilities: ['='] }],
    ['limit', { task, limit: 21 }],
    ['limit', { task, limit: 0 }],
  ])('refuses a wrong %s', async (path, body) => {
    const answer = await h.request('POST', '/agents/match', { body });
    expectError(answer, 'VALIDATION_ERROR');
    expect(answer.body.error.details.fields[0].path).toBe(path);
  });
});
