import type { Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { agentSlug } from '../../service/src/agents/agent-slug.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { it } from './support/journey.ts';
import { noisePng } from './support/noise-png.ts';
import type { OpenPage } from './support/open-page.ts';
import { expectShape, keepPictures } from './support/screenshot.ts';
import { tabTo } from './support/tab-to.ts';
import { type TestWallet, walletOf } from './support/test-wallet.ts';
import { startWorld, type World } from './support/world.ts';

const PRICE = 50_000n;
const MARKUP = '<img src=x onerror=alert(1)><b>done</b>';

let world: World;
let free: TestAgent;
let paid: TestAgent;

beforeAll(async () => {
  world = await startWorld();
  const { h } = world;
  const types = {
    inputSchema: {
      type: 'object',
      properties: {
        text: { type: 'string', description: 'What to read.' },
        tone: { enum: ['dry', 'warm'] },
        sentences: { type: 'integer', minimum: 1 },
      },
      required: ['text'],
      additionalProperties: false,
    },
    examples: [{ input: { text: 'Two words', sentences: 1 } }],
  };
  const owner = await h.newAccount();
  [free, paid] = await Promise.all([
    startTestAgent(h, { owner, name: 'Visited', perRequest: '0' }),
    startTestAgent(h, { owner, name: 'Visited for money', perRequest: '0.05' }),
  ]);
  const exampleQuestions = ['Read this to me.', 'Read it backwards.'];
  await h.request('PUT', `/agents/${free.id}`, { key: owner.key, body: { types, exampleQuestions } });
});
afterAll(async () => {
  await Promise.all([free?.die(), paid?.die()]);
  await world?.stop();
});
afterEach(() => {
  free.behave(echo);
  paid.behave(echo);
});

const pathOf = (agent: TestAgent, name: string) => `/agents/${agentSlug({ id: agent.id, name })}`;
const said = (page: Page, text: string | RegExp) => page.getByRole('status').filter({ hasText: text }).waitFor();
const answered = (page: Page) => page.getByRole('heading', { name: 'Answer', exact: true }).waitFor();

async function payer(): Promise<OpenPage & { wallet: TestWallet; held(): Promise<bigint> }> {
  const account = await world.h.newWallet(1_000_000n);
  const wallet = walletOf(account, world.h.rpcUrl);
  const { page, complaints } = await world.newPage({ wallet });
  await page.goto(pathOf(paid, 'Visited for money'));
  return { page, complaints, wallet, held: () => world.h.usdcOf(account.address) };
}

/** Asks for the price, which has to be seen before anything can be signed. */
async function quote(page: Page, task: string): Promise<void> {
  await page.getByLabel('Task').fill(task);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await said(page, 'This call costs 0.05 USDC. Nothing is paid yet.');
}
const pay = (page: Page) => page.getByRole('button', { name: 'Pay with Test wallet' }).click();

it('a visitor runs a free agent by keyboard, without an account, with the fields that the agent declares', async () => {
  const { page } = await world.newPage();
  await page.goto(pathOf(free, 'Visited'));
  free.behave(answerWith(200, { result: MARKUP }));
  await tabTo(page, page.getByLabel('Task'));
  await page.keyboard.type('read');
  expect(await page.getByLabel('text').inputValue()).toBe('Two words');
  await page.getByLabel('tone').selectOption('warm');
  await tabTo(page, page.getByRole('button', { name: 'Run', exact: true }));
  await page.keyboard.press('Enter');
  await answered(page);
  expect(await page.locator('.answer pre').textContent()).toBe(MARKUP);
  expect(free.calls.at(-1)?.body).toMatchObject({
    task: 'read',
    input: { text: 'Two words', tone: 'warm', sentences: 1 },
  });
  await said(page, 'Done.');
  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the signed receipt' }).click();
  expect((await download).suggestedFilename()).toMatch(/^receipt-req_/);
  for (const width of [320, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    await expectShape(page, `answer at ${width}`);
  }
  await keepPictures(page, 'visitor-answer');
  await expectAccessible(page);
});

it('a visitor sees the picture of a result, saves its files, and runs none of them', async () => {
  const { page } = await world.newPage();
  await page.goto(pathOf(free, 'Visited'));
  const html = Buffer.from(`<script>document.title = 'run'</script>${' '.repeat(70_000)}`).toString('base64');
  const picture = { name: 'noise.png', mediaType: 'image/png', data: noisePng().toString('base64') };
  const result = { picture, page: { name: 'page.html', mediaType: 'text/html', data: html } };
  free.behave(answerWith(200, { result }));
  await page.getByLabel('Task').fill('draw');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await answered(page);
  const shown = page.getByRole('img', { name: 'noise.png' });
  await shown.waitFor();
  await expect
    .poll(() => shown.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(160);
  const download = page.waitForEvent('download');
  await page.getByRole('listitem').filter({ hasText: 'page.html' }).getByRole('button', { name: 'Save' }).click();
  expect((await download).suggestedFilename()).toBe('page.html');
  expect(await page.title()).not.toBe('run');
  await expectAccessible(page);
  await keepPictures(page, 'visitor-files');
});

it.each(['free', 'paid'] as const)('a visitor answers what a %s agent asks: one call, at its price', async (kind) => {
  const agent = kind === 'free' ? free : paid;
  const paying = kind === 'paid' ? await payer() : null;
  const { page } = paying ?? (await world.newPage());
  if (!paying) await page.goto(pathOf(free, 'Visited'));
  const schema = {
    type: 'object',
    properties: { day: { enum: ['Monday', 'Friday'] }, guests: { type: 'integer', minimum: 1, title: 'Guests' } },
    required: ['day'],
  };
  const questions = [
    { message: MARKUP, schema },
    { message: 'Consent.', kind: 'link', url: 'https://consent.example/page' },
    { message: 'Anything else?' },
  ];
  agent.behave((request, response) => {
    const answers: { input?: object; message?: string; action: string }[] = request.body.answers ?? [];
    const next = questions[answers.length];
    const body = next
      ? { status: 'input_required', input: next }
      : { result: answers.map(({ action, input, message }) => ({ action, input, message })) };
    return answerWith(200, body)(request, response);
  });
  if (!paying) {
    await page.getByLabel('Task').fill('book');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
  } else {
    await quote(page, 'book');
    await pay(page);
  }
  const question = page.getByRole('region', { name: 'Question' });
  await question.getByText(MARKUP, { exact: true }).waitFor();
  await expectAccessible(page);
  await keepPictures(page, 'visitor-question');
  await question.getByLabel('day').selectOption('Friday');
  await question.getByLabel('Guests').fill('0');
  await question.getByRole('button', { name: 'Send answer' }).click();
  await said(page, /guests/i);
  await question.getByLabel('Guests').fill('2');
  await question.getByRole('button', { name: 'Send answer' }).dblclick();
  await question.getByText('consent.example', { exact: true }).waitFor();
  await page.reload();
  await question.getByRole('link', { name: 'https://consent.example/page' }).waitFor();
  await question.getByRole('button', { name: "I'm done there" }).click();
  await question.getByText('Anything else?').waitFor();
  await question.getByRole('button', { name: 'Decline' }).click();
  await answered(page);
  expect(JSON.parse((await page.locator('.answer pre').textContent()) ?? '')).toMatchObject([
    { action: 'accept', input: { day: 'Friday', guests: 2 } },
    { action: 'accept' },
    { action: 'decline' },
  ]);
  if (paying) expect(await paying.held()).toBe(1_000_000n - PRICE);
});

it('a visitor runs a free agent on the front page; the answer comes with its cost and a receipt', async () => {
  await world.h.ctx.db.query('best', `update agent set reputation = 1000 where id = '${free.id}'`);
  const { page } = await world.newPage();
  await expect
    .poll(async () => {
      await page.goto('/');
      return page.locator('#try-form').getAttribute('data-agent');
    })
    .toBe(free.id);
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await answered(page);
  expect(free.calls.at(-1)?.body).toMatchObject({ task: 'Read this to me.', input: { text: 'Two words' } });
  await page.getByRole('definition').filter({ hasText: 'Free' }).waitFor();
  await page.getByRole('button', { name: 'Save the signed receipt' }).waitFor();
  await page.getByLabel('sentences').fill('3');
  await page.getByRole('link', { name: 'Read it backwards.' }).click();
  expect(await page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('Read it backwards.');
  expect(await page.getByLabel('sentences').inputValue()).toBe('');
  expect(await page.getByLabel('text').inputValue()).toBe('Two words');
  await keepPictures(page, 'front-answer');
  await expectAccessible(page);
});

it('a reload finds the call that runs, and starts no other', async () => {
  const { page } = await world.newPage();
  await page.goto(pathOf(free, 'Visited'));
  let answer = (_: unknown): void => undefined;
  const held = new Promise((resolve) => {
    answer = resolve;
  });
  free.behave(async (call, response) => {
    await held;
    return echo(call, response);
  });
  const sent = free.calls.length;
  await page.getByLabel('Task').fill('slowly');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await said(page, 'The agent is running');
  await page.reload();
  await said(page, 'The agent is running');
  expect(await page.getByLabel('Task').inputValue()).toBe('slowly');
  answer(null);
  await answered(page);
  expect(free.calls).toHaveLength(sent + 1);
  await page.reload();
  await answered(page);
  expect(free.calls).toHaveLength(sent + 1);
});

it('a refusal of the node is shown, and no other call is made', async () => {
  const { page } = await world.newPage();
  await page.goto(pathOf(free, 'Visited'));
  await page.getByLabel('Task').fill('x');
  await page.getByLabel('sentences').fill('0');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await said(page, 'input.sentences');
  await page.getByLabel('sentences').fill('many');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await said(page, 'sentences: must be a number.');
});

it('a number that the agent would get as another one is not sent', async () => {
  const { page } = await world.newPage();
  await page.goto(pathOf(free, 'Visited'));
  const sent = free.calls.length;
  await page.getByLabel('Task').fill('x');
  await page.getByLabel('sentences').fill('12345678901234567890');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await said(page, 'sentences: holds a number that the agent would get as another one.');
  expect(free.calls).toHaveLength(sent);
});

describe('a call that costs something', () => {
  it('is paid by a wallet without an account, after the amount, the network and the recipient are shown', async () => {
    const { page, wallet, held } = await payer();
    await quote(page, 'for money');
    const terms = await page.getByRole('region', { name: 'Payment' }).textContent();
    expect(terms).toContain('0.05 USDC');
    expect(terms?.toLowerCase()).toContain(world.h.ctx.chain.wallet);
    expect(wallet.asked).toEqual([]);
    await keepPictures(page, 'visitor-quote');
    await expectAccessible(page);
    await pay(page);
    await answered(page);
    expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
    expect(await held()).toBe(1_000_000n - PRICE);
    expect(await page.locator('.answer').textContent()).toMatch(/0\.05 USDC.*Transaction0x[0-9a-f]{64}/s);
    // The chain is this machine's own: no explorer has it.
    expect(await page.locator('.answer a').count()).toBe(0);
  });

  it('is left when the wallet declines, is on another network, or holds too little, with nothing signed', async () => {
    const { page, wallet, held } = await payer();
    await quote(page, 'declined');
    wallet.refuseNext('eth_signTypedData_v4');
    await pay(page);
    await said(page, 'You declined in the wallet. Nothing was signed or paid.');
    wallet.strayTo(1);
    wallet.refuseNext('wallet_switchEthereumChain');
    await pay(page);
    await said(page, 'The wallet is on another network.');
    wallet.choose(await world.h.newWallet(10_000n));
    await pay(page);
    await said(page, 'holds 0.01 USDC, and this costs 0.05 USDC');
    expect(await held()).toBe(1_000_000n);
  });

  it('repeats with the same payment after a lost answer: one signature, one payment, one run', async () => {
    const { page, complaints, wallet, held } = await payer();
    await quote(page, 'lost');
    const sent = paid.calls.length;
    let lost = 0;
    await page.route('**/x402/*', async (route) => {
      if (lost === 1) return route.continue();
      lost += 1;
      await route.fetch();
      return route.abort();
    });
    await pay(page);
    await answered(page);
    expect(lost).toBe(1);
    expect(complaints.splice(0)).toEqual(['Failed to load resource: net::ERR_FAILED']);
    expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
    expect(await held()).toBe(1_000_000n - PRICE);
    expect(paid.calls).toHaveLength(sent + 1);
  });

  it('is not quoted while the outcome of another is unknown: Run leads back to that one, which is paid once', async () => {
    const { page, complaints, wallet, held } = await payer();
    await quote(page, 'unclear');
    const sent = paid.calls.length;
    await page.route('**/x402/*', async (route) => {
      await route.fetch();
      return route.abort();
    });
    // Pauses between the attempts are as short as can be. (The clock of Playwright would stay in the profile, which other tests use.)
    await page.evaluate('globalThis.setTimeout = ((later) => (work) => later(work, 0))(setTimeout)');
    await pay(page);
    await said(page, 'asking again never pays twice');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.unroute('**/x402/*');
    await page.getByRole('button', { name: 'Ask again' }).click();
    await answered(page);
    expect(new Set(complaints.splice(0))).toEqual(new Set(['Failed to load resource: net::ERR_FAILED']));
    expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
    expect(await held()).toBe(1_000_000n - PRICE);
    expect(paid.calls).toHaveLength(sent + 1);
  });

  it('and was refused for a limit once it was signed is asked for again or given up, before another is quoted', async () => {
    const { page, held } = await payer();
    await quote(page, 'limited');
    const error = { code: 'RATE_LIMITED', message: 'Too many calls.', requestId: 'req_1' };
    await page.route('**/x402/*', (route) => route.fulfill({ status: 429, json: { status: 'error', error } }));
    await pay(page);
    await said(page, 'Too many calls.');
    await page.unroute('**/x402/*');
    await page.getByLabel('Task').press('Tab');
    await page.keyboard.press('Enter');
    await said(page, 'asking again never pays twice');
    await page.getByRole('button', { name: 'Give up' }).click();
    await said(page, 'You gave this call up.');
    await quote(page, 'another');
    expect(await held()).toBe(1_000_000n);
  });

  it('is found again by a reload while it is paid for, without a second signature', async () => {
    const { page, wallet, held } = await payer();
    await quote(page, 'reloaded');
    let reached = (_: unknown): void => undefined;
    const shown = new Promise((resolve) => {
      reached = resolve;
    });
    await page.route('**/x402/*', async (route) => {
      await route.fetch().catch(() => undefined);
      reached(null);
    });
    await pay(page);
    await shown;
    await page.unroute('**/x402/*');
    await page.reload();
    await answered(page);
    expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
    expect(await held()).toBe(1_000_000n - PRICE);
  });

  it('leads to signing in where there is no wallet, and the task comes along', async () => {
    const { page } = await world.newPage();
    await page.goto(pathOf(paid, 'Visited for money'));
    await quote(page, 'with & without: 1+1');
    await page.getByText('This browser has no wallet that pages can ask to pay.').waitFor();
    await page.getByRole('link', { name: 'Sign in', exact: true }).click();
    await page.getByRole('button', { name: 'Use the local account' }).click();
    await expect.poll(() => page.getByLabel(/^Task/).inputValue()).toBe('with & without: 1+1');
  });
});
