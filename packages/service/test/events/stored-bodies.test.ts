import { Webhook } from 'standardwebhooks';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeContents } from '../../src/invocations/retention/storage-store.ts';
import { askDatabase } from '../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { answerWith, startTestAgent } from '../support/test-agent.ts';
import { answer, startReceiver } from './support/receiver.ts';

/** More than a body may repeat for each endpoint; spelled as JSON.stringify would not. */
const LARGE = { text: 'line\n'.repeat(20_000), 2: 'second', 1: 'first' };

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.stop());

const call = async (owner: TestAccount, method: string, path: string, body?: unknown) =>
  (await harness.request(method, path, { key: owner.key, ...(body === undefined ? {} : { body }) })).body.data;

/** An account with several endpoints, and an agent whose results are large. */
async function setUp(type: string) {
  const owner = await harness.newAccount();
  const agent = await startTestAgent(harness, { perRequest: '0', behaviour: answerWith(200, { result: LARGE }) });
  const endpoints = await Promise.all(
    Array.from({ length: 4 }, async () => {
      const receiver = await startReceiver();
      const webhook = await call(owner, 'POST', '/account/webhooks', { url: receiver.url, eventTypes: [type] });
      const path = `/account/webhooks/${webhook.webhookId}`;
      const delivery = async () => (await call(owner, 'GET', `${path}/deliveries`)).deliveries[0];
      const replay = async () => {
        const { deliveryId, payload } = await delivery();
        await call(owner, 'POST', `${path}/replay`, { deliveryId });
        await expect.poll(async () => (await delivery()).status).toBe('delivered');
        return { payload, sent: receiver.received.at(-1)?.body };
      };
      return { receiver, delivery, replay, secret: webhook.secret as string };
    }),
  );
  /** Until an attempt at each endpoint is recorded. */
  const untilTold = async () => {
    const isTold = async ({ delivery }: (typeof endpoints)[number]) => (await delivery())?.attempts.length > 0;
    for (const endpoint of endpoints) await expect.poll(() => isTold(endpoint)).toBe(true);
  };
  const storedBytes = async () =>
    Number(
      (
        await askDatabase<{ bytes: string }>(
          harness.databaseUrl,
          `select sum(octet_length(d.body)) as bytes from webhook_delivery d join webhook w on w.id = d.webhook_id where w.account_id = $1`,
          [owner.accountId],
        )
      )[0]?.bytes,
    );
  return { owner, agent, endpoints, untilTold, storedBytes };
}

test('a large result is not stored once more for each endpoint, and every attempt sends the same bytes', async () => {
  const { owner, agent, endpoints, untilTold, storedBytes } = await setUp('invocation.completed');
  const [failing] = endpoints;
  failing?.receiver.react(answer(500));
  const body = { task: 'x'.repeat(3000), metadata: { note: 'x'.repeat(3000) } };
  const { requestId } = await call(owner, 'POST', `/invoke/${agent.id}`, body);
  await untilTold();
  expect(await storedBytes()).toBeLessThan(LARGE.text.length / 10);

  const record = await call(owner, 'GET', `/invoke/${requestId}`);
  const { result: _, ...facts } = record;
  const resultUrl = `${harness.baseUrl}/invoke/${requestId}`;
  for (const { receiver, replay, secret } of endpoints) {
    receiver.react(answer(200));
    const { payload } = await replay();
    expect(payload.data).toEqual({ ...facts, task: '', metadata: {}, resultUrl });
    const [first, ...again] = receiver.received;
    expect(again.length).toBeGreaterThan(0);
    expect(new Webhook(secret).verify(first?.text ?? '', first?.headers ?? {})).toMatchObject({ data: record });
    for (const { text, id } of again) expect({ text, id }).toEqual({ text: first?.text, id: first?.id });
  }
  expect(await storedBytes()).toBeLessThan(LARGE.text.length / 10);

  // The result is removed: its address tells of it.
  const later = new Date(Date.now() + 1000);
  while ((await harness.ctx.db.transaction((tx) => removeContents(tx, later, later, { most: 100 }))) > 0);
  for (const { replay } of endpoints) expect((await replay()).sent.data).toEqual({ ...facts, resultUrl });
  // A replayed delivery may be kept for longer than its event.
  await harness.ctx.db.query('', 'delete from event where account_id = $1', [owner.accountId]);
  for (const { replay } of endpoints) {
    const { sent, payload } = await replay();
    expect(sent).toEqual(payload);
  }
  await agent.die();
});

test('the large result of a bulk request is not stored once more either', async () => {
  const { owner, agent, endpoints, untilTold, storedBytes } = await setUp('bulk.completed');
  const body = { task: 'x', agents: [agent.id], strategy: 'first_success' };
  const { bulkId } = await call(owner, 'POST', '/invoke/bulk', body);
  await untilTold();
  const record = await call(owner, 'GET', `/invoke/bulk/${bulkId}`);
  for (const { receiver, replay } of endpoints) {
    const { payload } = await replay();
    expect(payload.data.resultUrl).toBe(`${harness.baseUrl}/invoke/bulk/${bulkId}`);
    expect(receiver.received[0]?.body.data).toEqual(record);
    expect(receiver.received[1]?.text).toBe(receiver.received[0]?.text);
  }
  expect(await storedBytes()).toBeLessThan(LARGE.text.length / 10);
  await agent.die();
});
