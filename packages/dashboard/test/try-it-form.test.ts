import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { answerWith, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

const MARKUP = '<b>bold</b>';
const types = {
  inputSchema: {
    type: 'object',
    properties: {
      document: { type: 'string', description: `The text to sum up. ${MARKUP}` },
      sentences: { type: 'integer', minimum: 1 },
      tone: { enum: ['dry', 'warm'] },
      words: { type: 'array', items: { type: 'string', maxLength: 20 } },
      layout: { type: 'object', properties: { columns: { type: 'number' }, isWide: { type: 'boolean' } } },
      marks: { type: 'object', additionalProperties: { type: 'number' } },
    },
    required: ['document'],
  },
  examples: [{ description: 'A fox', input: { document: 'The quick fox.', sentences: 2, unknown: [1, { a: null }] } }],
  capabilities: { counting: { inputSchema: { type: 'object', properties: { upTo: { type: 'number' } } } } },
};

let world: World;
let page: Page;
let agent: TestAgent;
beforeAll(async () => {
  world = await startWorld();
  const owner = await world.h.newAccount();
  agent = await startTestAgent(world.h, {
    owner,
    name: 'Typed',
    capabilities: ['reading', 'counting'],
    perRequest: '0',
  });
  const { status } = await world.h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body: { types } });
  expect(status).toBe(200);
  agent.behave(answerWith(200, { result: 'done' }));
  ({ page } = await world.signedIn({ at: `/dashboard/explore/${agent.id}?tab=try` }));
});
afterAll(async () => {
  await agent?.die();
  await world?.stop();
});

const run = () => page.getByRole('button', { name: 'Run for free' }).click();
const json = () => page.getByLabel('Input (JSON)');
const toJson = () => page.getByRole('button', { name: 'Edit as JSON' }).click();
const toForm = () => page.getByRole('button', { name: 'Edit as a form' }).click();

it('has a form of the schema, shows what the node refuses at its field, and calls the agent with what was filled in', async () => {
  await page.getByLabel('Task').fill('sum up');
  await page.getByLabel('document (required)').waitFor();
  await page.getByText(`The text to sum up. ${MARKUP}`).waitFor();
  await page.getByLabel('sentences').fill('0');
  await run();
  const wrong = page.locator('[aria-invalid=true]');
  await expect.poll(() => wrong.count()).toBe(2);
  await page.getByText('Enter a document').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'try-it-form');
  await page.getByLabel('document').fill('Bees dance.');
  await page.getByLabel('sentences').fill('2.0');
  await page.getByLabel('tone').selectOption({ label: 'warm' });
  await page.getByRole('button', { name: 'Add to words' }).click();
  await page.getByLabel('words 1', { exact: true }).fill('bee');
  await page.getByLabel('columns').fill('1.5');
  await page.getByLabel('isWide').selectOption({ label: 'false' });
  await page.getByLabel('marks (JSON)').fill('{"a": ');
  expect(await page.getByRole('button', { name: 'Edit as JSON' }).isDisabled()).toBe(true);
  await run();
  await page.getByLabel('marks (JSON)').and(wrong).waitFor();
  expect(agent.calls).toHaveLength(0);
  await page.getByLabel('marks (JSON)').fill('{"a": 1}');
  await page.getByLabel('Mode').selectOption({ value: 'sync' });
  await run();
  await page.getByRole('heading', { name: 'Answer completed' }).waitFor();
  expect(agent.calls[0]?.body.input).toEqual({
    ...{ document: 'Bees dance.', sentences: 2, tone: 'warm', words: ['bee'] },
    ...{ layout: { columns: 1.5, isWide: false }, marks: { a: 1 } },
  });
});

it('goes from form to JSON and back without losing anything that was written in either', async () => {
  await page.getByRole('button', { name: 'Use example: A fox' }).click();
  expect(await page.getByLabel('document').inputValue()).toBe('The quick fox.');
  await page.getByLabel('sentences').fill('many');
  await page.getByText('is not a number').waitFor();
  await toJson();
  const input = { document: 'The quick fox.', sentences: 'many', unknown: [1, { a: null }] };
  expect(JSON.parse(await json().inputValue())).toEqual(input);
  const written = '{"document": {"not": "a text"}, "tone": "odd", "unknown": [1.50], "words": ["a", 2]}';
  await json().fill(written);
  await toForm();
  expect(JSON.parse(await page.getByLabel('document (JSON)').inputValue())).toEqual({ not: 'a text' });
  expect(await page.getByLabel('tone (JSON)').inputValue()).toBe('"odd"');
  await toJson();
  expect(await json().inputValue()).toBe(written);
  await toForm();
  await page.getByLabel('sentences').fill('3');
  await toJson();
  expect(JSON.parse(await json().inputValue())).toEqual({ ...JSON.parse(written), sentences: 3 });
  await json().fill('{"document": ');
  expect(await page.getByRole('button', { name: 'Edit as a form' }).isDisabled()).toBe(true);
  await json().fill('{}');
  await toForm();
});

it('has the form of the capability that is called', async () => {
  await page.getByLabel('Capability').selectOption({ label: 'counting' });
  await page.getByLabel('upTo').fill('ten');
  await run();
  await page.getByText('is not a number').waitFor();
  await page.getByLabel('upTo').fill('10');
  await run();
  await expect.poll(() => agent.calls.length).toBe(2);
  await page.getByRole('heading', { name: 'Answer completed' }).waitFor();
  expect(agent.calls.at(-1)?.body).toMatchObject({ capability: 'counting', input: { upTo: 10 } });
});
