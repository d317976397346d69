import type { Page, Request } from 'playwright-core';
import { afterAll, beforeAll, expect } from 'vitest';
import { chunk, progress, result, says, spokenBy } from '../../service/test/calls/stream/support/streaming-agent.ts';
import { answerWith, startTestAgent, type TestAgent } from '../../service/test/support/test-agent.ts';
import { balanceOf } from '../../service/test/support/treasury.ts';
import { expectAccessible } from './support/expect-accessible.ts';
import { fundTreasury, keyOf } from './support/fund-treasury.ts';
import { it } from './support/journey.ts';
import { noisePng } from './support/noise-png.ts';
import { lookAt } from './support/screenshot.ts';
import type { TestWallet } from './support/test-wallet.ts';
import { startWorld, type World } from './support/world.ts';

const MARKUP = '<script>alert(1)</script><b>done</b>';

let world: World;
let page: Page;
let wallet: TestWallet;
let agent: TestAgent;
let free: TestAgent;
let key: string;
let complaints: string[];

beforeAll(async () => {
  world = await startWorld();
  const { h } = world;
  [agent, free] = await Promise.all([
    startTestAgent(h, {
      name: 'Reader',
      capabilities: ['reading', 'counting'],
      perRequest: '0.05',
      metadata: { priceHints: true },
    }),
    startTestAgent(h, { name: 'Free reader', capabilities: ['reading', 'counting'], perRequest: '0' }),
  ]);
  ({ page, wallet, complaints } = await world.signedIn());
  key = await keyOf(h, wallet.address);
  await fundTreasury(h, key, '1');
});
afterAll(async () => {
  await Promise.all([agent?.die(), free?.die()]);
  await world?.stop();
});

const available = async () => (await balanceOf(world.h, key)).available;
const run = () => page.getByRole('button', { name: /^Run / });
const requestCount = async () => (await world.h.request('GET', '/invoke/history', { key })).body.data.total;

/** Opens the form of an agent and fills it: the price comes by itself. */
async function quote({
  task = 'read this',
  mode,
  input,
  of = agent,
}: {
  task?: string;
  mode: string;
  input?: string;
  of?: TestAgent;
}) {
  await page.goto(`/dashboard/explore/${of.id}?tab=try`);
  await page.getByLabel('Task').fill(task);
  if (input !== undefined) await page.getByLabel('Input (JSON)').fill(input);
  await page.getByLabel('Mode').selectOption({ value: mode });
  await page.getByText('This call', { exact: true }).waitFor();
}

const payByWallet = () => page.getByLabel('Paid by').selectOption({ label: 'Test wallet (x402)' });
const ended = (status: string) => page.getByRole('heading', { name: `Answer ${status}` }).waitFor();

it('says what is wrong with a call before it costs anything', async () => {
  await page.goto(`/dashboard/explore/${agent.id}?tab=try`);
  await run().click();
  await page.locator('textarea[aria-invalid=true]').waitFor();
  await page.getByLabel('Task').fill('x');
  await page.getByLabel('Input (JSON)').fill('{"a" 1}');
  await run().click();
  await page.getByText(/JSON at position/).waitFor();
  expect(agent.calls).toHaveLength(0);
});

it('streams an answer that is paid from the treasury, and shows it as it comes', async () => {
  const spoken = spokenBy();
  agent.behave(spoken.behaviour);
  await quote({ mode: 'stream', input: '{"complexity":"high"}' });
  await page.getByRole('button', { name: 'Run for 0.075 USDC' }).waitFor();
  await expectAccessible(page);
  await lookAt(page, 'try-it-quote');
  await run().dblclick();
  const conversation = await spoken.next();
  conversation.say(chunk('The first half, '));
  const live = page.getByRole('region', { name: 'Live answer' });
  await live.getByText('The first half,').waitFor();
  await page.getByRole('heading', { name: 'Answer processing' }).waitFor();
  conversation.say(progress({ fraction: 0.5, message: MARKUP }));
  const bar = page.getByRole('progressbar', { name: 'Progress of the agent' });
  await bar.waitFor();
  expect(await bar.getAttribute('value')).toBe('0.5');
  await page
    .getByRole('status')
    .filter({ hasText: `50% ${MARKUP}` })
    .waitFor();
  conversation.say(chunk(MARKUP));
  conversation.say(result({ pages: 2 }));
  conversation.end();
  await ended('completed');
  await live.getByText(`The first half, ${MARKUP}`).waitFor();
  expect(await page.locator('main b').count()).toBe(0);
  expect(await requestCount()).toBe(1);
  expect(await available()).toBe('0.925');
  await expectAccessible(page);
  await lookAt(page, 'try-it-stream');
});

it('waits for the answer of a synchronous call, and shows the same call as code', async () => {
  agent.behave(answerWith(200, { result: MARKUP }));
  await quote({ mode: 'sync' });
  await run().click();
  await ended('completed');
  await page.getByText(MARKUP, { exact: true }).waitFor();
  const code = page.getByRole('region', { name: /^Code for this call, / });
  expect(await code.textContent()).toContain("-H 'X-Sync: true'");
  await page.getByRole('button', { name: 'SDK', exact: true }).click();
  expect(await code.textContent()).toContain('invokeAndWait(client, ');
});

it('shows the pictures, sounds and texts of a result, and saves its files', async () => {
  const media = (name: string, mediaType: string, content: Buffer) => ({
    ...{ name, mediaType, data: content.toString('base64') },
  });
  const text = Buffer.from(`${MARKUP}${'\n'.repeat(60_000)}`);
  const sound = Buffer.concat([Buffer.from('RIFF'), Buffer.alloc(70_000)]);
  const page2 = Buffer.from(`${MARKUP}${' '.repeat(70_000)}`);
  agent.behave(
    answerWith(200, {
      result: {
        text: 'Four files',
        files: [
          media('noise.png', 'image/png', noisePng()),
          media('sound.wav', 'audio/wav', sound),
          media('notes.txt', 'text/plain', text),
          media('page.html', 'text/html', page2),
        ],
      },
    }),
  );
  await quote({ mode: 'sync' });
  await run().click();
  await ended('completed');
  await page.getByText('Four files').waitFor();
  const files = page.getByRole('list', { name: 'Files' });
  const image = files.getByRole('img', { name: 'noise.png' });
  await expect
    .poll(() => image.evaluate((each) => (each as unknown as { naturalWidth: number }).naturalWidth))
    .toBe(160);
  expect(await files.locator('audio').count()).toBe(1);
  const notes = files.getByRole('listitem').filter({ hasText: 'notes.txt' });
  await notes.getByText(MARKUP).waitFor();
  expect(await page.locator('main b').count()).toBe(0);
  await expectAccessible(page);
  await lookAt(page, 'result-files');
  const download = page.waitForEvent('download');
  await files.getByRole('listitem').filter({ hasText: 'page.html' }).getByRole('button', { name: 'Save' }).click();
  expect((await download).suggestedFilename()).toBe('page.html');
});

it('starts an asynchronous call, and cancels it: the money comes back', async () => {
  const before = await available();
  agent.behave(() => undefined);
  await quote({ mode: 'async' });
  await run().click();
  await page.getByRole('heading', { name: /^Answer (pending|processing)$/ }).waitFor();
  await page.getByRole('button', { name: 'Cancel', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Cancel invocation' }).click();
  await ended('cancelled');
  expect(await available()).toBe(before);
});

it('pays by wallet, once, no more than the quote', async () => {
  agent.behave(says(chunk('paid'), result('paid')));
  const held = await world.h.usdcOf(wallet.address);
  await quote({ mode: 'stream' });
  await payByWallet();
  await run().dblclick();
  await ended('completed');
  await page.getByText('Wallet (x402)', { exact: true }).waitFor();
  await page
    .getByRole('button', { name: /^Copy transaction hash 0x/ })
    .first()
    .waitFor();
  expect(wallet.asked.filter((method) => method === 'eth_signTypedData_v4')).toHaveLength(1);
  expect(held - (await world.h.usdcOf(wallet.address))).toBe(50_000n);
  await expectAccessible(page);
  await lookAt(page, 'try-it-wallet');
});

it('pays by channel: the deposit is said before it is signed, the next call is one voucher, the rest comes back', async () => {
  const { h } = world;
  const signed = () => wallet.asked.filter((method) => method === 'eth_signTypedData_v4').length;
  const byChannel = async () => {
    await quote({ mode: 'sync' });
    await page.getByLabel('Paid by').selectOption({ label: 'Test wallet (channel)' });
  };
  agent.behave(answerWith(200, { result: 'by voucher' }));
  const held = await h.usdcOf(wallet.address);
  await byChannel();
  await page.getByText('a deposit of 0.50 USDC into a payment channel, which leaves the wallet').waitFor();
  await page.getByLabel('Deposit').fill('0.01');
  await page.getByText('must be at least 0.05 USDC').waitFor();
  await page.getByLabel('Deposit').fill('0.20');
  await page.getByText('a deposit of 0.20 USDC into a payment channel').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'try-it-channel-deposit');
  expect(await page.getByRole('region', { name: /^Code for this call, / }).count()).toBe(1);
  const before = signed();
  await run().click();
  await ended('completed');
  expect(signed() - before).toBe(2);
  expect(held - (await h.usdcOf(wallet.address))).toBe(200_000n);

  await byChannel();
  await page.getByText('Nothing leaves the wallet.').waitFor();
  await page.getByText('Left in the channel').waitFor();
  await expectAccessible(page);
  await lookAt(page, 'try-it-channel');
  await run().click();
  await ended('completed');
  expect(signed() - before).toBe(3);
  expect(held - (await h.usdcOf(wallet.address))).toBe(200_000n);

  await byChannel();
  await page.getByRole('button', { name: 'Close the channel: refund 0.10 USDC' }).click();
  await page.getByText('0.10 USDC refunded to the wallet').waitFor();
  expect(held - (await h.usdcOf(wallet.address))).toBe(100_000n);
  await page.goto('/dashboard/payments?tab=channels');
  await page.getByRole('table', { name: 'Channels' }).getByText('used up').waitFor();
});

it('never runs a call for more than the button said: a price that rose is shown, and pressed again', async () => {
  agent.behave(answerWith(200, { result: 'dearer' }));
  await quote({ mode: 'sync' });
  const count = await requestCount();
  const calls = agent.calls.length;
  await page.getByLabel('Input (JSON)').fill('{"complexity":"high"}');
  await page.getByLabel('Task').press('Control+Enter');
  await page.getByText('The price has gone up since it was shown').waitFor();
  expect({ count: await requestCount(), calls: agent.calls.length }).toEqual({ count, calls });
  await page.getByRole('button', { name: 'Run for 0.075 USDC' }).click();
  await ended('completed');
  expect(await requestCount()).toBe(count + 1);
});

it('explains a wallet that declines or stays on another chain; nothing is paid, and it can be tried again', async () => {
  const held = await world.h.usdcOf(wallet.address);
  const before = await requestCount();
  agent.behave(answerWith(200, { result: 'ok' }));
  await quote({ mode: 'sync' });
  await payByWallet();
  wallet.refuseNext('eth_signTypedData_v4');
  await run().click();
  await page.getByText('The request was declined in the wallet. Nothing was signed.').waitFor();
  wallet.strayTo(1);
  wallet.refuseNext('wallet_switchEthereumChain');
  await run().click();
  await page.getByText(/The wallet is on chain 1, but this node uses chain 84532\. Switch the wallet to it/).waitFor();
  expect(await world.h.usdcOf(wallet.address)).toBe(held);
  expect(await requestCount()).toBe(before);
  await run().click();
  await ended('completed');
  expect(await world.h.usdcOf(wallet.address)).toBe(held - 50_000n);
});

it('says that treasury and wallet hold too little, and takes a free agent for nothing', async () => {
  const dear = await startTestAgent(world.h, { name: 'Dear reader', perRequest: '5000', capabilities: ['reading'] });
  await quote({ mode: 'sync', of: dear });
  await page.getByText(/Your treasury can spend 0\.\d+ USDC, and this call needs 5000\.00/).waitFor();
  expect(await run().isDisabled()).toBe(true);
  await expectAccessible(page);
  await payByWallet();
  await run().click();
  await page.getByText(/The wallet 0x\w+ holds 9\d\d\.\d+ USDC, but 5000\.00 is needed/).waitFor();
  await dear.die();
  free.behave(answerWith(200, { result: 'for free' }));
  await quote({ mode: 'sync', of: free });
  await page.getByRole('button', { name: 'Run for free' }).click();
  await page.getByText('for free', { exact: true }).waitFor();
});

/** Has the node answer, and the page never hear of it. */
async function lose(isLost: (headers: Record<string, string>) => boolean): Promise<void> {
  await page.route('**/invoke/agt_*', async (route) => {
    if (route.request().method() !== 'POST' || !isLost(route.request().headers())) return route.fallback();
    await route.fetch();
    return route.abort();
  });
}

async function hearAgain(): Promise<void> {
  await page.unroute('**/invoke/agt_*');
  // The browser says that it heard nothing.
  expect(complaints.splice(0).every((each) => each.endsWith('net::ERR_FAILED'))).toBe(true);
}

it('tries the same call again when its answer was lost, and pays once', async () => {
  const before = Number(await available());
  const count = await requestCount();
  agent.behave(answerWith(200, { result: 'once' }));
  await quote({ mode: 'sync' });
  await lose(() => true);
  await run().click();
  const again = page.getByRole('button', { name: 'Retry the same call' });
  await again.waitFor();
  await hearAgain();
  // The keyboard submits past the button, which is disabled: no other call may be begun before the first is known.
  let quotes = 0;
  const onRequest = (request: Request) => {
    if (new URL(request.url()).pathname.endsWith('/quote')) quotes += 1;
  };
  page.on('request', onRequest);
  await page.getByLabel('Task').press('Control+Enter');
  await again.click();
  await ended('completed');
  page.off('request', onRequest);
  expect(quotes).toBe(0);
  expect(await requestCount()).toBe(count + 1);
  expect(before - Number(await available())).toBeCloseTo(0.05, 6);
});

it('shows the same payment again when the answer to it was lost: signed once, paid once', async () => {
  const held = await world.h.usdcOf(wallet.address);
  const signed = () => wallet.asked.filter((method) => method === 'eth_signTypedData_v4').length;
  const before = signed();
  agent.behave(answerWith(200, { result: 'once' }));
  await quote({ mode: 'stream' });
  await payByWallet();
  let losses = 0;
  await lose((headers) => headers['payment-signature'] !== undefined && losses++ < 2);
  await run().click();
  await ended('completed');
  await hearAgain();
  expect(losses).toBe(3);
  expect(signed() - before).toBe(1);
  expect(held - (await world.h.usdcOf(wallet.address))).toBe(50_000n);
});
