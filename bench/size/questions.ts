import type pg from 'pg';
import { work } from '../bench-context.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';

/** A timed request; `next` builds a new one for each call. */
export interface SizeQuestion {
  readonly name: string;
  readonly status: number;
  next(): {
    readonly method: 'GET' | 'POST';
    readonly path: string;
    readonly headers?: Record<string, string>;
    readonly body?: object;
  };
}

const KNOWN = 500;

/** Requests to a node, about the account that made a fifth of its calls and the agent that received a fifth. */
export async function questionsOf(
  { local, echoAgentId }: ServiceUnderTest,
  client: pg.Client,
): Promise<SizeQuestion[]> {
  const { rows: known } = await client.query<{ id: string; at: Date }>(
    `select id, created_at as at from invocation where account_id = (select account_id from bench.payer where nth = 0)
      order by created_at desc offset (select greatest(0, done / 10 - ${KNOWN}) from bench.progress) limit ${KNOWN}`,
  );
  const { rows: own } = await client.query<{
    treasury: string;
    rare: string;
    payment: string;
    at: Date;
  }>(
    `select p.treasury_id as treasury, 'charge:' || t.subject_id as payment, t.created_at as at,
            (select agent_id from invocation where account_id = p.account_id group by 1 order by count(*), 1 limit 1) as rare
       from bench.payer p join transfer t on t.subject_id = $1 where p.nth = 0 order by t.id limit 1`,
    [await chargedOf(client)],
  );
  const [middle, account] = [known[0], own[0]];
  if (!middle || !account) throw new Error('the account has no calls');
  let turn = 0;
  const idOf = () => known[turn++ % known.length]?.id;
  const cursor = (at: Date, id: string) => Buffer.from(`${at.getTime()}.${id}`).toString('base64url');
  const get = (name: string, pathOf: string | (() => string)): SizeQuestion => ({
    ...{ name, status: 200 },
    next: () => ({ method: 'GET', path: typeof pathOf === 'string' ? pathOf : pathOf() }),
  });
  const invoke = (name: string, status: number, headers: Record<string, string>): SizeQuestion => ({
    ...{ name, status },
    next: () => ({ method: 'POST', path: `/invoke/${echoAgentId}`, headers, body: work }),
  });
  const history = '/invoke/history';
  const ofAgent = `/agents/${local.agents.find(({ id }) => id === echoAgentId)?.id}`;
  const halfway = cursor(middle.at, middle.id);
  return [
    invoke('call paid from a treasury', 200, { 'x-sync': 'true', 'x-payment-method': 'treasury' }),
    invoke('402 with terms', 402, { 'x-payment-method': 'x402' }),
    get('status of an old request', () => `/invoke/${idOf()}`),
    get('status of an old request, with detail', () => `/invoke/${idOf()}?detail=true`),
    get('history, first page', history),
    get('history, failed', `${history}?status=failed`),
    get('history, one rare agent', `${history}?agentId=${account.rare}`),
    get('history, a month', `${history}?startDate=${dayBefore(60)}&endDate=${dayBefore(30)}`),
    get('history, cursor halfway', `${history}?cursor=${halfway}`),
    get('history, offset 10,000', `${history}?offset=10000`),
    get('history, text search', `${history}?search=nowhere`),
    get('export, first page', '/account/export'),
    get('payments, first page', '/payments/history'),
    get('payments, charges', '/payments/history?type=charge'),
    get('payments, cursor halfway', `/payments/history?cursor=${cursor(account.at, account.payment)}`),
    get('balance', '/payments/balance'),
    get('statement, newest', `/payments/treasury/${account.treasury}/statement?order=desc`),
    get(
      'statement, a month',
      `/payments/treasury/${account.treasury}/statement?from=${dayBefore(60)}T00:00:00Z&to=${dayBefore(30)}T00:00:00Z`,
    ),
    get(`owner's log of calls`, `${ofAgent}/calls`),
    get(`owner's failures in groups`, `${ofAgent}/errors`),
    get(`owner's earnings by day`, `${ofAgent}/earnings`),
    get('list of agents', '/agents'),
    {
      ...{ name: 'search of agents', status: 200 },
      next: () => ({ method: 'POST', path: '/agents/search', body: { query: { text: 'agent' } } }),
    },
    get('own agents', '/account/agents'),
    get('overview of the dashboard', '/account/overview'),
    get('usage', '/account/usage'),
    get('reputation of an agent', `${ofAgent}/reputation`),
    get(`operator's totals`, '/operator/totals'),
    get(`operator's status`, '/operator/status'),
    get(`operator's course of a request`, () => `/operator/invocations/${idOf()}`),
    get('reserves', '/payments/reserves'),
  ];
}

/** A request from the middle of the account's past that was paid from its treasury. */
async function chargedOf(client: pg.Client): Promise<string> {
  const { rows } = await client.query<{ id: string }>(
    `select subject_id as id from transfer where kind = 'charge' and debit = (select treasury_id from bench.payer where nth = 0)
      order by created_at desc offset (select done / 20 from bench.progress) limit 1`,
  );
  return rows[0]?.id ?? '';
}

const dayBefore = (days: number) => new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
