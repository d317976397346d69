import { afterAll, beforeAll, expect } from 'vitest';
import { startOpenaiUpstream } from '../../service/test/calls/protocols/support/openai-upstream.ts';
import type { TestUpstream } from '../../service/test/calls/protocols/support/upstream.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { sessionCall } from './support/session-call.ts';
import { startWorld, type World } from './support/world.ts';

const SECRET = 'Bearer sk-very-secret-<i>9876543210</i>';

let world: World;
let site: TestUpstream;
let elsewhere: TestUpstream;
beforeAll(async () => {
  [world, site, elsewhere] = await Promise.all([startWorld(), startOpenaiUpstream(), startOpenaiUpstream()]);
});
afterAll(async () => {
  await Promise.all([site.stop(), elsewhere.stop()]);
  await world.stop();
});

it('registers an endpoint of another protocol: errors appear at their fields, secrets stay hidden, and its fault is shown', async () => {
  const { page } = await world.signedIn({ at: '/dashboard/agents/new' });
  const field = (label: string) => page.getByLabel(label, { exact: true }).or(page.getByLabel(`${label} (required)`));
  const errorOf = async (label: string) => {
    const described = await field(label).and(page.locator('[aria-invalid=true]')).getAttribute('aria-describedby');
    return page.locator(`[id="${described?.split(' ').at(-1)}"]`).textContent();
  };
  const register = page.getByRole('button', { name: 'Register agent' });
  const advanced = page.locator('summary').filter({ hasText: 'Advanced' });
  await field('Name').fill('Model');
  await page.getByRole('radio', { name: /OpenAI/ }).check();
  await field('Endpoint').fill(site.endpoint);
  await field('Price per call').fill('0.05');
  await advanced.click();
  await field('Unit').fill('page');
  await field('Schema of the input').fill('{"type": "object", ');
  await page.getByRole('button', { name: 'Add a header' }).click();
  await field('Header 1').fill('not a name');
  await field('Value of header 1').fill(SECRET);
  await register.click();
  expect(await errorOf('Model')).toBe('Enter a model');
  expect(await errorOf('Schema of the input')).toMatch(/^Schema of the input is not JSON: /);
  expect(await errorOf('Header 1')).toBe('Header 1 is not a header name');
  expect(await errorOf('JSON pointer')).toBe('Enter a JSON pointer');
  await expectAccessible(page);
  await lookAt(page, 'agents-new-upstream');

  await field('Model').fill('test-model-1');
  await field('Header 1').fill('Authorization');
  await field('JSON pointer').fill('/pages');
  await field('Price per unit').fill('0.01');
  await field('Maximum per call').fill('1');
  // What only the node knows: a pattern that could hang, and an example that does not fit.
  const schema = {
    type: 'object',
    properties: { pages: { type: 'integer' }, code: { type: 'string', pattern: '(?=a)b' } },
  };
  await field('Schema of the input').fill(JSON.stringify(schema));
  await register.click();
  await expect.poll(() => errorOf('Schema of the input')).toMatch(/^properties\.code\.pattern /);
  await field('Schema of the input').fill(JSON.stringify({ ...schema, properties: { pages: { type: 'integer' } } }));
  await field('Examples').fill('[{"input": {"pages": "many"}}]');
  await register.click();
  await expect.poll(() => errorOf('Examples')).toMatch(/^0\.input\.pages /);
  await lookAt(page, 'agents-new-types');
  await field('Examples').fill('[{"input": {"pages": 2}}]');
  await register.click();

  await page.getByRole('heading', { name: 'Model is registered' }).waitFor();
  const ways = page.getByRole('button', { name: /^(SDK|Any server|Well-known file|ERC-8004|Agent card|DNS)$/ });
  expect(await ways.allTextContents()).toEqual(['Well-known file', 'ERC-8004']);
  await page.getByRole('link', { name: "I've saved the token" }).click();
  const card = page.getByRole('region', { name: 'How it is called' });
  await card.getByText('test-model-1').waitFor();
  await card.getByText('Authorization').waitFor();
  await page.getByRole('alert').getByText('No proof was found.').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-upstream');
  const id = new URL(page.url()).pathname.split('/').at(-1) ?? '';
  site.named.push(id);
  await page.getByRole('button', { name: 'Check endpoint now' }).click();
  await page.getByText('The well-known file of its origin names the agent.').waitFor();
  expect(await page.content()).not.toContain('sk-very-secret');

  await page.getByRole('tab', { name: 'Settings' }).click();
  const save = page.getByRole('button', { name: 'Save changes' });
  await field('Endpoint').fill(elsewhere.endpoint);
  await save.click();
  await page.getByText('must be given again with an endpoint on another origin').first().waitFor();
  await field('Endpoint').fill(site.endpoint);
  await field('Model').fill('gone');
  // Open already: something in it was wrong.
  await page.getByRole('button', { name: 'Add a header' }).click();
  await field('Header 2').fill('X-Team');
  await field('Value of header 2').fill('blue');
  await lookAt(page, 'agent-settings-upstream');
  await save.click();
  await page.getByText('Saved: upstream').waitFor();
  const offline = page.getByRole('alert').filter({ hasText: 'Offline' });
  await offline.getByText('gone').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-fault');
  // The stored header went along: it was kept as it was.
  await expect.poll(() => site.seen.at(-1)?.headers).toMatchObject({ authorization: SECRET, 'x-team': 'blue' });

  // Another window mends the model and adds a header while the form here has a change; the agent is read again. Saving undoes neither.
  await page.getByRole('radio', { name: /MCP/ }).check();
  const headers = { Authorization: '***', 'X-Team': '***', 'X-Site': 'north' };
  await sessionCall(page, 'PUT', `/agents/${id}`, { upstream: { model: 'test-model-1', headers } });
  await offline.waitFor({ state: 'hidden' });
  await field('Tool').fill('shout');
  await save.click();
  await page.getByText('Saved: protocol, upstream').waitFor();
  const own = await sessionCall(page, 'GET', `/account/agents?agentId=${id}`);
  const hidden = { Authorization: '***', 'X-Team': '***', 'X-Site': '***' };
  expect(own.data.agents[0]).toMatchObject({
    protocol: 'mcp',
    upstream: { tool: 'shout', model: null, headers: hidden },
  });
});
