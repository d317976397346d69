import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { until } from '../../support/until.ts';
import data from './questions.json' with { type: 'json' };

let h: Harness;
let owner: TestAccount;
const ids = new Map<string, string>();

interface Listed {
  readonly id: string;
  readonly name: string;
}

const search = async (body: Record<string, unknown>) => (await h.request('POST', '/agents/search', { body })).body.data;
const namesOf = ({ agents }: { agents: Listed[] }) => agents.map(({ name }) => name);
const byMeaning = (text: string, more: Record<string, unknown> = {}) =>
  search({ query: { text }, by: 'meaning', ...more });

const register = async ({
  name,
  description,
  capabilities,
}: Record<'name' | 'description', string> & { capabilities: string[] }) => {
  const body = { name, description, capabilities, rates: { perRequest: '0.01' }, endpoint: 'http://127.0.0.1:9/' };
  const { body: answer } = await h.request('POST', '/agents', { key: owner.key, body });
  return answer.data.id as string;
};

/** As if another process were about to read it. */
const claimed = `update agent_vector set due_at = now() + interval '1 hour', vector = null, model = null, stored_at = null
  where agent_id = $1`;
const dueCount = async () =>
  Number((await h.ctx.db.pool.query('select count(*) from agent_vector where due_at is not null')).rows[0].count);
const untilRead = () => until(async () => (await dueCount()) === 0, 50);

beforeAll(async () => {
  h = await startHarness({ env: { SEARCH_BY: 'auto' } });
  owner = await h.newAccount();
  for (const agent of data.agents.slice(0, 24)) ids.set(agent.id, await register(agent));
  await untilRead();
});
afterAll(() => h.stop());

describe('a search by meaning', () => {
  it('finds agents without a common word, and says so', async () => {
    const found = await byMeaning('how much is bitcoin worth right now');
    expect(found).toMatchObject({ rankedBy: 'meaning' });
    expect(namesOf(found)[0]).toBe('Token Price Oracle');
    const words = await search({ query: { text: 'how much is bitcoin worth right now' }, by: 'words' });
    expect(words).toMatchObject({ rankedBy: 'words' });
    expect(namesOf(words)).not.toContain('Token Price Oracle');
    expect(await search({ query: {} })).not.toHaveProperty('rankedBy');
  });

  it('is what a search without a wish is, with conditions on what is found; a sort is by words', async () => {
    const text = 'turn my podcast into a written transcript';
    const query = { text, capabilities: { any: ['transcription', 'tts'] } };
    const found = await until(async () => {
      const answer = await search({ query });
      return answer.rankedBy === 'meaning' && answer;
    });
    expect(namesOf(found)[0]).toBe('Speech Transcriber');
    expect(namesOf(found)).not.toContain('Music Composer');
    expect(await search({ query, sort: [{ field: 'reputation' }] })).toMatchObject({ rankedBy: 'words' });
    expect(await search({ query: { text: '日本語のウェブページ' }, by: 'meaning' })).toMatchObject({
      rankedBy: 'words',
    });
    expect(await search({ query: { text: '!?' }, by: 'meaning' })).toMatchObject({ rankedBy: 'words', total: 0 });
  });

  it('finds an agent by its name before its text is read, and by its new text once that is', async () => {
    const id = await register({ name: 'Zorblax', description: 'Sells umbrellas.', capabilities: ['shop'] });
    await h.ctx.db.pool.query(claimed, [id]);
    expect(namesOf(await byMeaning('zorblax'))[0]).toBe('Zorblax');
    await h.request('PUT', `/agents/${id}`, {
      key: owner.key,
      body: { description: 'Bakes cakes and bread and delivers them to your home.' },
    });
    const isBaker = async () => namesOf(await byMeaning('I am hungry for something from the oven'))[0] === 'Zorblax';
    await until(isBaker, 50);
    await h.request('DELETE', `/agents/${id}`, { key: owner.key });
    expect(namesOf(await byMeaning('I am hungry for something from the oven'))).not.toContain('Zorblax');
    expect((await h.ctx.db.pool.query('select from agent_vector where agent_id = $1', [id])).rowCount).toBe(0);
  });

  it('pages keep the ranking and the vectors of the first, and belong to their question', async () => {
    const text = 'write some text for me';
    const id = await register({ name: 'Writer', description: 'Writes some text for you.', capabilities: ['text'] });
    await h.ctx.db.pool.query(claimed, [id]);
    const whole = await byMeaning(text, { limit: 100 });
    expect(whole.total).toBeGreaterThan(6);
    const first = await byMeaning(text, { limit: 3 });
    // Read while somebody leafs through the pages: its place is another then.
    await h.ctx.db.pool.query('update agent_vector set due_at = now() where agent_id = $1', [id]);
    await untilRead();
    const paged = namesOf(first);
    for (let cursor = first.nextCursor; cursor !== null; ) {
      const page = await byMeaning(text, { limit: 3, cursor });
      expect(page.rankedBy).toBe('meaning');
      paged.push(...namesOf(page));
      cursor = page.nextCursor;
    }
    expect(paged).toEqual(namesOf(whole));
    expect(namesOf(await byMeaning(text, { limit: 100 }))).not.toEqual(namesOf(whole));
    await h.request('DELETE', `/agents/${id}`, { key: owner.key });
    const other = await h.request('POST', '/agents/search', {
      body: { query: { text }, by: 'words', cursor: first.nextCursor },
    });
    expect(other.status).toBe(400);
    const words = await search({ query: { text: 'text image' }, by: 'words', limit: 1 });
    expect(
      await search({ query: { text: 'text image' }, by: 'words', limit: 1, cursor: words.nextCursor }),
    ).toMatchObject({
      rankedBy: 'words',
    });
  });

  it('serves ARD with falling scores', async () => {
    const body = {
      query: { text: 'how much is bitcoin worth right now', filter: { 'metadata.online': [true, false] } },
      federation: 'none',
    };
    const { body: answer } = await h.request('POST', '/ard/v1/search', { body });
    const scores = answer.results.map(({ score }: { score: number }) => score);
    expect(scores).toEqual(scores.toSorted((a: number, b: number) => b - a));
    for (const score of scores) expect(score).toBeGreaterThan(0);
  });

  it('serves programs and people: MCP, A2A and the public page', async () => {
    await h.ctx.db.pool.query(`update agent set status = 'online', next_check_at = null where status <> 'removed'`);
    const text = 'how much is bitcoin worth right now';
    await until(async () => (await search({ query: { text } })).rankedBy === 'meaning');
    const params = { name: 'search_agents', arguments: { query: text } };
    const { body: called } = await h.request('POST', '/mcp', {
      key: owner.key,
      headers: { accept: 'application/json, text/event-stream' },
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params },
    });
    const rpc = typeof called === 'string' ? JSON.parse(/^data: (.*)$/m.exec(called)?.[1] ?? '') : called;
    expect(rpc.result.structuredContent).toMatchObject({ rankedBy: 'meaning' });
    expect(rpc.result.structuredContent.agents[0].name).toBe('Token Price Oracle');
    const message = { messageId: 'm1', role: 'ROLE_USER', parts: [{ text }] };
    const { body: told } = await h.request('POST', '/a2a', {
      key: owner.key,
      headers: { 'a2a-version': '1.0' },
      body: { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } },
    });
    expect(told.result.message.parts[1].data.agents[0].name).toBe('Token Price Oracle');
    const { body: page } = await h.request('GET', `/explore?q=${encodeURIComponent(text)}`, {
      headers: { accept: 'text/html' },
    });
    expect(page).toContain('Token Price Oracle');
  });

  it('does not touch vectors by what is no text', async () => {
    const before = await h.ctx.db.pool.query('select max(stored_at) from agent_vector');
    await h.ctx.db.pool.query(
      `update agent set status = 'offline', reputation = 7, updated_at = now() where status <> 'removed'`,
    );
    expect(await dueCount()).toBe(0);
    await h.request('PUT', `/agents/${ids.get('case-converter')}`, {
      key: owner.key,
      body: { rates: { perRequest: '0.5' }, metadata: { version: '2.0.0' } },
    });
    expect(await dueCount()).toBe(0);
    expect((await h.ctx.db.pool.query('select max(stored_at) from agent_vector')).rows).toEqual(before.rows);
  });
});
