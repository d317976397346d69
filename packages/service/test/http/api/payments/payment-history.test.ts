import type { PaymentItem } from '@agent-network/contracts/payments/payments';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient, untilEnded } from '../../../support/treasury.ts';
import { expectError } from '../support/expect-error.ts';

const DAY_MS = 86_400_000;

let h: Harness;
let agent: TestAgent;
let client: Client;
let offsetMs = 0;
beforeAll(async () => {
  h = await startHarness({ clock: { now: () => new Date(Date.now() + offsetMs) } });
  client = await newClient(h, '5');
  agent = await startTestAgent(h, { owner: client, perRequest: '0.05' });
  await call();
  offsetMs = DAY_MS;
  await call();
  await call();
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

/** Of an own agent: the charge and the earning are of one moment. */
async function call(): Promise<void> {
  const { body } = await h.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'x' } });
  await untilEnded(h, client.key, body.data.requestId);
}
const read = (query: string) => h.request('GET', `/payments/history?${query}`, { key: client.key });
const day = (ms: number) => new Date(Date.now() + ms).toISOString().slice(0, 10);

describe('the history of payments', () => {
  it.each(['', 'type=charge&', 'type=deposit&', `startDate=${day(DAY_MS)}&`])(
    'comes page by page, each movement once and in order: %s',
    async (filter) => {
      const whole = (await read(`${filter}limit=100`)).body.data;
      expect(whole).toMatchObject({ hasMore: false, nextCursor: null, total: whole.payments.length });
      const paged: PaymentItem[] = [];
      for (let cursor = ''; ; ) {
        const { payments, nextCursor, hasMore, total } = (await read(`${filter}limit=2${cursor}`)).body.data;
        expect({ hasMore, total }).toEqual({ hasMore: nextCursor !== null, total: whole.total });
        paged.push(...payments);
        if (nextCursor === null) break;
        cursor = `&cursor=${encodeURIComponent(nextCursor)}`;
      }
      expect(paged).toEqual(whole.payments);
      expect(paged.length).toBeGreaterThan(0);
    },
  );

  it('is that of whole days', async () => {
    const types = async (query: string) =>
      (await read(query)).body.data.payments.map(({ type }: PaymentItem) => type).sort();
    expect(await types(`endDate=${day(0)}`)).toEqual(['charge', 'deposit', 'earning']);
    expect(await types(`startDate=${day(DAY_MS)}&endDate=${day(DAY_MS)}`)).toEqual([
      'charge',
      'charge',
      'earning',
      'earning',
    ]);
    expect(await types(`startDate=${day(2 * DAY_MS)}`)).toEqual([]);
  });

  it.each([
    ['a cursor that the node did not make', 'cursor=x'],
    ['a cursor and an offset', 'cursor=MS54&offset=1'],
    ['days that end before they begin', 'startDate=2026-02-02&endDate=2026-02-01'],
  ])('is refused for %s', async (_what, query) => expectError(await read(query), 'VALIDATION_ERROR'));
});
