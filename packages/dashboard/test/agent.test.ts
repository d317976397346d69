import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { addProbe } from '../../service/src/agents/health/probe-store.ts';
import { startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

const HOSTILE = '</p><img src=x onerror=alert(1)> [x](javascript:alert(2)) <style>*{display:none}</style>';

let world: World;
let page: Page;
let agent: TestAgent;
let other: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  const { h } = world;
  const owner = await h.newAccount();
  [agent, other] = await Promise.all([
    startTestAgent(h, { owner, name: 'Weaver', capabilities: ['weaving', 'dyeing'], perRequest: '0.07' }),
    startTestAgent(h, { name: 'Spinner <b>', capabilities: ['weaving', 'dyeing'], perRequest: '0.03' }),
  ]);
  await h.request('PUT', `/agents/${agent.id}`, {
    key: owner.key,
    body: {
      description: HOSTILE,
      metadata: {
        tags: ['loom', '"><script>'],
        website: 'https://example.com/',
        avatar: 'https://example.com/a.svg',
        sizeSteps: [{ aboveBytes: 16_384, multiplier: '1.25' }],
      },
    },
  });
  page = (await world.signedIn()).page;
});
afterAll(async () => {
  await Promise.all([agent?.die(), other?.die()]);
  await world?.stop();
});

const open = async (tab?: string) => {
  await page.goto(`/dashboard/explore/${agent.id}${tab ? `?tab=${tab}` : ''}`);
  await page.getByRole('heading', { level: 1, name: 'Weaver' }).waitFor();
};

const api = async (path: string) => (await world.h.request('GET', path)).body.data;

it('shows capabilities, price and identity of an agent, as text, and its alternatives', async () => {
  await open();
  await page.getByText(HOSTILE).waitFor();
  await page.getByText('× 1.25 above 16,384 bytes').waitFor();
  expect(await page.locator('main img').count()).toBe(0);
  expect(await page.getByRole('link', { name: 'https://example.com/' }).getAttribute('href')).toBe(
    'https://example.com/',
  );
  await page.getByRole('list', { name: 'Alternatives' }).getByRole('link', { name: 'Spinner <b>' }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent');
  await page.getByRole('list', { name: 'Tags' }).getByRole('link', { name: 'loom' }).click();
  await page.getByRole('list', { name: 'Agents' }).getByRole('link', { name: 'Weaver' }).waitFor();
  await page.getByRole('list', { name: 'Agents' }).getByRole('link', { name: 'Weaver' }).click();
  await page.getByRole('list', { name: 'Capabilities' }).getByRole('link', { name: 'dyeing' }).click();
  await page.getByRole('heading', { name: '2 agents' }).waitFor();
});

it('shows the call of an agent for each client, to be copied, and those only that the node serves', async () => {
  await open();
  const card = page.getByRole('region', { name: 'Ways to call', exact: true });
  const { interfaces } = await api(`/agents/${agent.id}`);
  for (const [label, part] of [
    ['@x402/fetch', interfaces.x402],
    ['MCP host', interfaces.mcp],
    ['A2A client', interfaces.agentCard],
    ['Python openai', interfaces.openai.baseUrl],
  ]) {
    await card.getByRole('button', { name: label, exact: true }).click();
    await card.getByRole('button', { name: 'Copy Ways to call' }).click();
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toContain(`"${part}"`);
  }
  await expectAccessible(page);
  await lookAt(page, 'agent-ways');
  const { data } = (await world.h.request('GET', `/agents/${agent.id}`)).body;
  const invoke = { invoke: interfaces.invoke };
  await page.route(`**/agents/${agent.id}`, (route) =>
    route.fulfill({ json: { status: 'success', data: { ...data, interfaces: invoke } } }),
  );
  await open();
  await card.getByRole('button', { name: 'curl', exact: true }).waitFor();
  expect(await card.getByRole('button', { name: 'A2A client' }).count()).toBe(0);
  await page.unroute(`**/agents/${agent.id}`);
});

it('explains its reputation: the parts add up to it', async () => {
  await open('reputation');
  const { score, components } = await api(`/agents/${agent.id}/reputation`);
  for (const [title, part] of [
    ['Outcomes of paid calls', components.outcomes],
    ['Uptime', components.uptime],
    ['Response time', components.latency],
  ]) {
    const card = page.getByRole('region', { name: title });
    await card.getByText(part.explanation).waitFor();
    await card.getByText(`${part.contribution} of ${part.weight * 1000} points`).waitFor();
  }
  await page.getByText(`${score} out of 1,000`).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-reputation');
});

it('shows its health over time, as a chart and as a table', async () => {
  const now = Date.now();
  for (let hour = 0; hour < 60; hour += 1)
    await addProbe(world.h.ctx.db, agent.id, hour % 9 === 5 ? null : 20 + hour, new Date(now - hour * 3_600_000));
  await open('health');
  await page.getByText('unanswered', { exact: false }).first().waitFor();
  await page.getByText('Median response').waitFor();
  await page.getByLabel('Period').selectOption({ label: 'Today' });
  await expect.poll(() => new URL(page.url()).search).toBe('?tab=health&days=1');
  await page.getByRole('button', { name: 'Show as table' }).first().click();
  await page.getByRole('columnheader', { name: '95th percentile' }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-health');
});

it('says what of its identity is proven, and what stands on the chain', async () => {
  await open('identity');
  await page.getByText('verified', { exact: true }).first().waitFor();
  await page.getByText('Not in the registry.').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'agent-identity');
});

it('shows that an agent does not exist, and supports the keyboard in its tabs', async () => {
  await page.goto('/dashboard/explore/agt_none');
  await page.getByRole('alert').getByText('NOT_FOUND').waitFor();
  await open();
  await page.getByRole('tab', { name: 'Overview' }).focus();
  await page.keyboard.press('ArrowRight');
  await page.keyboard.press('Enter');
  await expect.poll(() => new URL(page.url()).search).toBe('?tab=try');
  await page.getByLabel('Task').waitFor();
});
