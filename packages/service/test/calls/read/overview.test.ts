import { formatUsdc, parseUsdc } from '@agent-network/contracts/money';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { aggregateFigures } from '../../../src/calls/read/count-calls.ts';
import { contradictions } from '../../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { payV2 } from '../../support/x402-payer.ts';

let h: Harness;
let owner: TestAccount;
let agent: TestAgent;
let client: Client;
beforeAll(async () => {
  h = await startHarness({ env: { PLATFORM_FEE_BPS: '250' } });
  owner = await h.newAccount();
  agent = await startTestAgent(h, { owner, perRequest: '0.05', name: 'Counter' });
  client = await newClient(h, '5');
});
afterEach(async () => {
  agent.behave(echo);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
});
afterAll(async () => {
  await agent.die();
  await h.stop();
});

const get = async (key: string, path: string) => {
  const { status, body } = await h.request('GET', path, { key });
  expect(status, JSON.stringify(body)).toBe(200);
  return body.data;
};
const invoke = (key: string, headers: Record<string, string> = { 'x-sync': 'true' }, more: object = {}) =>
  h.request('POST', `/invoke/${agent.id}`, { key, body: { task: 'x', ...more }, headers });
const fail = () => agent.behave(answerWith(500, { error: { message: 'no' } }));
const sum = (amounts: readonly string[]) => formatUsdc(amounts.reduce((total, each) => total + parseUsdc(each), 0n));

interface Entry {
  readonly type: string;
  readonly direction: string;
  readonly amount: string;
}
/** What the statement of a treasury says that calls cost (debits of them), or brought (credits, less fees). */
async function statementSum(key: string, treasuryId: string, plus: readonly string[], minus: readonly string[]) {
  const { entries } = await get(key, `/payments/treasury/${treasuryId}/statement?limit=500`);
  return formatUsdc(
    entries.reduce((total: bigint, { type, amount }: Entry) => {
      if (plus.includes(type)) return total + parseUsdc(amount);
      return minus.includes(type) ? total - parseUsdc(amount) : total;
    }, 0n),
  );
}

describe('the overview of an account', () => {
  it('is all zeros and without rates for an account that did nothing', async () => {
    const { key } = await h.newAccount();
    const overview = await get(key, '/account/overview?days=30');
    expect(overview).toMatchObject({ days: 30, calls: 0, spent: '0.00', earned: '0.00', successRate: null });
    expect(overview).toMatchObject({ p50Ms: null, p95Ms: null, recentFailures: [] });
    expect(overview.buckets).toHaveLength(30);
    expect((await get(key, '/account/overview')).buckets).toHaveLength(7);
    const hours = (await get(key, '/account/overview?days=1')).buckets;
    expect(hours).toHaveLength(new Date().getUTCHours() + 1);
    expect(hours[0].from).toMatch(/T00:00:00.000Z$/);
  });

  it.each(['', '2', '0', 'x'])('days=%j is refused', async (days) => {
    expect((await h.request('GET', `/account/overview?days=${days}`, { key: client.key })).status).toBe(400);
  });

  it('says what the statements say, after calls of every end and way to pay, folded or not', async () => {
    await invoke(client.key);
    await invoke(client.key);
    fail();
    const failed = (await invoke(client.key)).body.data;
    agent.behave(() => undefined);
    const open = (await invoke(client.key, {})).body.data;
    await h.request('POST', `/invoke/${open.requestId}/cancel`, { key: client.key });
    await untilEnded(h, client.key, open.requestId);
    agent.behave(answerWith(200, { result: 1, cost: '0.013333' }));
    await invoke(client.key);
    agent.behave(echo);

    const statement = await statementSum(client.key, client.treasuryId, ['charge', 'bill'], ['bill_return']);
    const earned = await statementSum(owner.key, `trs_${agent.id.slice(4)}`, ['earning'], ['fee']);
    for (const fold of [false, true]) {
      if (fold) await aggregateFigures(h.ctx);
      for (const days of [1, 7, 30]) {
        const overview = await get(client.key, `/account/overview?days=${days}`);
        expect(overview).toMatchObject({ calls: 5, succeeded: 3, failed: 1, successRate: 0.75, spent: statement });
        expect(overview.received).toMatchObject({ calls: 0, earned: '0.00' });
        expect(sum(overview.buckets.map(({ spent }: { spent: string }) => spent))).toBe(statement);
        expect(overview.p50Ms).toBeGreaterThan(0);
        expect(overview.p95Ms).toBeGreaterThanOrEqual(overview.p50Ms);
        expect(overview.recentFailures).toEqual([
          {
            ...{ requestId: failed.requestId, agentId: agent.id, agentName: 'Counter', code: 'agent_error' },
            ...{ message: failed.error.message, at: failed.completedAt },
          },
        ]);
        const mine = await get(owner.key, `/account/overview?days=${days}`);
        expect(mine).toMatchObject({ calls: 0, spent: '0.00', earned });
        expect(mine.received).toMatchObject({ calls: 5, succeeded: 3, failed: 1, earned });
        expect(sum(mine.buckets.map(({ earned: each }: { earned: string }) => each))).toBe(earned);
      }
    }
  });

  it('counts calls that wallets paid by the account whose key made them, refunded ones as nothing', async () => {
    const { key } = await h.newAccount();
    const pay = async () => invoke(key, await payV2(h, await h.newWallet(50_000n), await invoke(key)));
    expect((await pay()).body.data).toMatchObject({ status: 'completed' });
    fail();
    expect((await pay()).body.data).toMatchObject({ status: 'failed', refund: '0.05' });
    expect(await get(key, '/account/overview')).toMatchObject({ calls: 2, succeeded: 1, failed: 1, spent: '0.05' });
  });

  it('counts what an agent spends by itself for its account, and what it earns of another', async () => {
    const rich = await newClient(h, '0.01');
    const buyer = await startTestAgent(h, { owner: rich, perRequest: '1', name: 'Buyer' });
    await h.request('POST', `/invoke/${buyer.id}`, {
      key: client.key,
      body: { task: 'x' },
      headers: { 'x-sync': 'true' },
    });
    expect((await invoke(buyer.identityToken)).body.data.status).toBe('completed');
    expect(await get(rich.key, '/account/overview')).toMatchObject({
      ...{ calls: 1, spent: '0.05', earned: '0.975' },
      received: { calls: 1, earned: '0.975' },
    });
    await buyer.die();
  });

  it('shows the limits of the account and of the key, and what is used of them', async () => {
    const before = (await get(client.key, '/account/overview')).limits.invocations.used;
    const { body } = await h.request('POST', '/account/keys', {
      key: client.key,
      body: { name: 'small', scopes: ['invoke', 'payments:read'], limits: { perCall: '0.06', perDay: '0.2' } },
    });
    const { apiKey } = body.data;
    await invoke(apiKey);
    const { limits } = await get(apiKey, '/account/overview');
    expect(limits.spending).toEqual({ perCall: '0.06', perDay: '0.20', spentToday: '0.05' });
    expect(limits.plan).toBe('enterprise');
    expect(limits.invocations.used).toBe(before + 1);
    expect((await get(client.key, '/account/overview')).limits.spending).toBeNull();
  });
});

describe('with very many calls', () => {
  it('answers as quickly as with few: from sums, of which there are only so many', async () => {
    const { accountId, key } = await h.newAccount();
    const { key: few } = await h.newAccount();
    await h.ctx.db.query(
      'many-figures',
      `insert into call_figure select $1, side, span, start, bin, 700, 690, 10, 1
         from unnest('{made,received}'::text[]) side, generate_series(0, 200) bin,
              (select 'day' as span, date_trunc('day', now(), 'UTC') - i * interval '1 day' as start from generate_series(0, 29) i
               union all select 'hour', date_trunc('hour', now(), 'UTC') - i * interval '1 hour' from generate_series(0, 23) i) s`,
      [accountId],
    );
    await h.ctx.db.query('analyze-figures', 'analyze call_figure');
    const readMs = async (of: string, calls: number) => {
      const startMs = performance.now();
      expect((await get(of, '/account/overview?days=30')).calls).toBe(calls);
      return performance.now() - startMs;
    };
    const [tookMs, fewMs]: [number[], number[]] = [[], []];
    try {
      for (let i = 0; i < 5; i++) {
        tookMs.push(await readMs(key, 30 * 201 * 700));
        fewMs.push(await readMs(few, 0));
      }
    } finally {
      await h.ctx.db.query('no-figures', 'delete from call_figure where subject_id = $1', [accountId]);
    }
    // What few calls take tells how busy the machine is.
    expect(Math.min(...tookMs)).toBeLessThan(150 + 20 * Math.min(...fewMs));
  });
});
