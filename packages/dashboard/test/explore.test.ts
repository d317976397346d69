import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { insertAgents } from '../../service/test/network/nodes/support/insert-agents.ts';
import { until } from '../../service/test/support/until.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { tabTo } from './support/tab-to.ts';
import { startWorld, type World } from './support/world.ts';

const HOSTILE = 'Scribe <img src=x onerror=alert(1)> <b>bold</b> javascript:alert(2) \u05d0\u05d1';
const COUNT = 40;

let world: World;
let page: Page;

beforeAll(async () => {
  world = await startWorld();
  const { h } = world;
  const owner = await h.newAccount();
  const registerOne = (index: number) =>
    h.request('POST', '/agents', {
      key: owner.key,
      body: {
        name: index === 7 ? HOSTILE : `Scribe ${String(index).padStart(2, '0')}`,
        description: index % 4 === 0 ? 'Quillwork: writes poems.' : 'Quillwork.',
        capabilities: index % 3 === 0 ? ['quill', 'ink'] : index % 3 === 1 ? ['quill'] : ['ink', 'paper'],
        rates: { perRequest: ['0', '0.05', '0.25', '1.5'][index % 4] },
        endpoint: 'http://127.0.0.1:9/',
      },
    });
  // In overload a node refuses a request before it begins it.
  const register = (index: number) => until(async () => (await registerOne(index)).status === 200);
  const registered = await Promise.all(Array.from({ length: COUNT }, (_, index) => register(index)));
  expect(registered).toEqual(registered.map(() => true));
  await h.ctx.db.query(
    'other-node',
    `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at, joined_at, last_seen_at)
     values ('node_far', 1, 77, 'http://far', 'Far away', '1', '0x', $1, 'online', now() + interval '1 day', now(), now() + interval '1 day')`,
    [owner.accountId],
  );
  await insertAgents(h, 5, { nodeId: 'node_far' });
  await h.ctx.db.query(
    'mix',
    `with numbered as (
       select id, row_number() over (order by name) as row from agent where description like 'Quillwork%' or home_node = 'node_far'
     )
     update agent g set status = (array['online', 'offline'])[1 + (row % 2)], reputation = (row * 37) % 20 * 50, next_check_at = null,
            endpoint_proven_at = case when row % 4 = 0 then now() end
       from numbered n where n.id = g.id`,
  );
  page = (await world.signedIn()).page;
});
afterAll(() => world?.stop());

const filters = () => page.getByRole('search', { name: 'Filters' });
const facet = (name: string) => filters().getByRole('button', { name: new RegExp(`^${name}\\s*\\d+$`) });
const names = () => page.getByRole('main').getByRole('list', { name: 'Agents' }).getByRole('link').allTextContents();
const untilTotal = (count: number) =>
  page.getByRole('heading', { name: count === 1 ? '1 agent' : `${count} agents`, exact: true }).waitFor();
const searchParam = (name: string) => new URL(page.url()).searchParams.get(name);

/** How many agents the API finds, and their names in order. */
async function found(query: object, sort: object[] = []): Promise<{ total: number; names: string[] }> {
  const body = { query: { text: 'quillwork', ...query }, sort, limit: 30 };
  const { data } = (await world.h.request('POST', '/agents/search', { body })).body;
  return { total: data.total, names: data.agents.map(({ name }: { name: string }) => name) };
}

it('finds agents by words, typed after `/`, and keeps what was asked in the address', async () => {
  await page.goto('/dashboard/explore');
  await page.getByRole('main').getByRole('list', { name: 'Agents' }).waitFor();
  await page.keyboard.press('/');
  await page.keyboard.type('quillwork poems');
  await untilTotal(10);
  expect(searchParam('text')).toBe('quillwork poems');
  await page.reload();
  await untilTotal(10);
  await page.getByRole('button', { name: 'Clear' }).click();
  await expect.poll(() => searchParam('text')).toBe(null);
  await page.getByRole('searchbox').fill('quillwork');
  await untilTotal(COUNT);
  await expectAccessible(page);
  await lookAt(page, 'explore');
});

it('offers agents that fit a part of a search that nothing fits, and shows what each agent does', async () => {
  await page.goto('/dashboard/explore?text=quillwork');
  await untilTotal(COUNT);
  await page.getByRole('list', { name: 'Agents' }).getByText('Quillwork', { exact: false }).first().waitFor();
  await expectAccessible(page);
  const task = 'xyzzy poems with quillwork';
  await page.getByRole('searchbox').fill(task);
  const list = page.getByRole('list', { name: 'Agents for the task' }).or(page.getByRole('list', { name: 'Agents' }));
  await expect.poll(() => list.getByRole('link').count()).toBeGreaterThan(0);
  await lookAt(page, 'explore-task');
  await page.getByRole('searchbox').fill('zxqwv');
  await page.getByText('No matching agents').waitFor();
});

it.each<[string, object]>([
  ['Online', { online: true }],
  ['Not verified', { verified: false }],
  ['quill', { capabilities: { all: ['quill'] } }],
])('has as many agents with %s as its facet says, and as the API finds', async (name, query) => {
  await page.goto('/dashboard/explore?text=quillwork');
  await untilTotal(COUNT);
  const said = Number(/\d+$/.exec((await facet(name).textContent()) ?? '')?.[0]);
  await facet(name).click();
  await untilTotal(said);
  expect((await found(query)).total).toBe(said);
  await facet(name).click();
  await untilTotal(COUNT);
});

it('asks for all chosen capabilities, or for any', async () => {
  await page.goto('/dashboard/explore?text=quillwork&all=quill,ink');
  await untilTotal(14);
  await page.getByRole('radio', { name: 'Match any' }).check();
  await untilTotal(COUNT);
  expect([searchParam('any'), searchParam('all')]).toEqual(['quill,ink', null]);
  await facet('ink').click();
  await untilTotal((await found({ capabilities: { all: ['quill'] } })).total);
});

it('filters by price, reputation and home, and ignores an invalid price', async () => {
  await page.goto('/dashboard/explore?text=quillwork');
  const price = page.getByLabel('Max. price per request (USDC)');
  await price.fill('cheap');
  await price.press('Enter');
  await page.locator('input[aria-invalid=true]').waitFor();
  await price.fill('0.05');
  await price.press('Enter');
  await untilTotal(20);
  await page.getByLabel('Min. reputation (0 to 1,000)').fill('500');
  await page.getByLabel('Min. reputation (0 to 1,000)').press('Enter');
  const query = { rates: { perRequest: { max: '0.05' } }, reputation: { min: 500 } };
  await untilTotal((await found(query)).total);
  await page.goto('/dashboard/explore');
  await facet('Far away').click();
  await untilTotal(5);
  expect(searchParam('home')).toBe('node_far');
});

it('sorts as asked and goes through the pages', async () => {
  await page.goto('/dashboard/explore?text=quillwork');
  await page.getByLabel('Sort by').selectOption({ label: 'Price per request' });
  await page.getByLabel('Then by').selectOption({ label: 'then name' });
  const sort = [
    { field: 'rates.perRequest', order: 'asc' },
    { field: 'name', order: 'asc' },
  ];
  const sorted = (await found({}, sort)).names;
  await expect.poll(names).toEqual(sorted);
  expect(searchParam('sort')).toBe('rates.perRequest.asc,name.asc');
  await page.getByRole('button', { name: 'Next page' }).click();
  await expect.poll(async () => (await names()).length).toBe(COUNT - 30);
  expect(new Set([...sorted, ...(await names())]).size).toBe(COUNT);
  await page.goBack();
  await expect.poll(names).toEqual(sorted);
});

it('shows as text whatever agents are called, and what is wrong with an address', async () => {
  await page.goto('/dashboard/explore?text=onerror');
  await page.getByRole('link', { name: HOSTILE }).waitFor();
  expect(await page.locator('main img, main b').count()).toBe(0);
  await lookAt(page, 'explore-hostile');
  await page.goto('/dashboard/explore?sort=beauty.up');
  await page.getByRole('alert').getByText('VALIDATION_ERROR').first().waitFor();
  await page.goto('/dashboard/explore?text=nothinglikethis');
  await page.getByText('No matching agents').waitFor();
});

it('can be used with the keyboard alone', async () => {
  await page.goto('/dashboard/explore?text=quillwork');
  await untilTotal(COUNT);
  await page.keyboard.press('/');
  expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).toBe('Search agents');
  const first = (await names())[0] ?? '';
  const link = page.getByRole('main').getByRole('list', { name: 'Agents' }).getByRole('link').first();
  await tabTo(page, link);
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: first }).waitFor();
});
