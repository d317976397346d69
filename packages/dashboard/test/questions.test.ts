import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { answerWith, type Behaviour, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { balanceOf } from '../../service/test/support/treasury.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { fundTreasury, keyOf } from './support/fund-treasury.ts';
import { it } from './support/journey.ts';
import { lookAt } from './support/screenshot.ts';
import { startWorld, type World } from './support/world.ts';

const MARKUP = '<b>Which day?</b>';

let world: World;
let page: Page;
let agent: TestAgent;
let key: string;

beforeAll(async () => {
  world = await startWorld();
  agent = await startTestAgent(world.h, { name: 'Table booker', perRequest: '0.05' });
  const signedIn = await world.signedIn();
  page = signedIn.page;
  key = await keyOf(world.h, signedIn.wallet.address);
  await fundTreasury(world.h, key, '1');
});
afterAll(async () => {
  await agent?.die();
  await world?.stop();
});

const schema = {
  type: 'object',
  properties: { day: { enum: ['Monday', 'Friday'] }, guests: { type: 'integer', minimum: 1, title: 'Guests' } },
  required: ['day', 'guests'],
};
const ask = (input: object) => answerWith(200, { status: 'input_required', input });

/** Asks once, and gives what it was answered as its result. */
const asking =
  (question: object): Behaviour =>
  (request, response) => {
    const [given] = request.body.answers ?? [];
    const behave = given ? answerWith(200, { result: { action: given.action, ...given.input } }) : ask(question);
    return behave(request, response);
  };

const question = () => page.getByRole('region', { name: 'The agent asks' });

/** Runs the agent, which asks. */
async function runAsked(by: Behaviour, mode: string): Promise<void> {
  agent.behave(by);
  await page.goto(`/dashboard/explore/${agent.id}?tab=try`);
  await page.getByLabel('Task').fill('Book a table');
  await page.getByLabel('Mode').selectOption({ value: mode });
  await page.getByText('This call', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Run for 0.05 USDC' }).click();
  await question().waitFor();
}
const ended = (status: string) => page.getByRole('heading', { name: `Answer ${status}` }).waitFor();

it.each(['stream', 'async'])(
  'a question in a %s call has a form of its schema, and is one call at one price',
  async (mode) => {
    const [before, ran] = [await balanceOf(world.h, key), agent.calls.length];
    await runAsked(asking({ message: MARKUP, schema }), mode);
    await question().getByText(MARKUP, { exact: true }).waitFor();
    expect(await page.locator('main b').count()).toBe(0);
    if (mode === 'stream') {
      await expectAccessible(page);
      await lookAt(page, 'question');
    }
    await question().getByLabel('Guests').fill('0');
    await question().getByRole('button', { name: 'Send answer' }).click();
    await question().locator('[aria-invalid=true]').first().waitFor();
    await question().getByLabel('day').selectOption({ label: 'Friday' });
    await question().getByLabel('Guests').fill('2');
    await question().getByRole('button', { name: 'Send answer' }).dblclick();
    await ended('completed');
    await page.getByText('Answered', { exact: false }).first().waitFor();
    expect(agent.calls.length - ran).toBe(2);
    expect(agent.calls.at(-1)?.body.answers).toMatchObject([{ input: { day: 'Friday', guests: 2 } }]);
    const after = await balanceOf(world.h, key);
    expect([(Number(before.available) - Number(after.available)).toFixed(2), after.held]).toEqual(['0.05', '0.00']);
  },
);

it('a question without a schema is answered in words, or declined, on the page of its invocation', async () => {
  await runAsked(asking({ message: 'For whom?' }), 'async');
  await page.getByRole('link', { name: 'Open this invocation' }).click();
  await page.getByRole('heading', { name: 'Invocation', exact: true }).waitFor();
  expect(await question().getByRole('button', { name: 'Send answer' }).isDisabled()).toBe(true);
  await question().getByLabel('Your answer').fill('For Ada');
  await question().getByRole('button', { name: 'Send answer' }).click();
  await page.getByText('completed', { exact: true }).first().waitFor();
  expect(agent.calls.at(-1)?.body.answers).toMatchObject([{ action: 'accept', message: 'For Ada' }]);
  await runAsked(asking({ message: 'For whom?' }), 'sync');
  await question().getByRole('button', { name: 'Decline' }).click();
  await ended('completed');
  expect(agent.calls.at(-1)?.body.answers).toMatchObject([{ action: 'decline' }]);
});

it('a link that the agent wants opened is shown whole, with its host before it, and is opened by nobody else', async () => {
  const url = 'https://sign-in.example/consent?session=1';
  await runAsked(asking({ message: 'Please consent.', kind: 'link', url }), 'sync');
  await question().getByText('sign-in.example', { exact: true }).waitFor();
  const link = question().getByRole('link', { name: url });
  expect([await link.getAttribute('href'), await link.getAttribute('rel')]).toEqual([url, 'noopener noreferrer']);
  await lookAt(page, 'question-link');
  await question().getByRole('button', { name: "I'm done there" }).click();
  await ended('completed');
});
