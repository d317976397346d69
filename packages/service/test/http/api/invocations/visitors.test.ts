import { afterAll, beforeAll, expect, it } from 'vitest';
import { forgetContents } from '../../../../src/calls/storage.ts';
import { createApp } from '../../../../src/compose/app.ts';
import { createMutex } from '../../../../src/lib/concurrency/mutex.ts';
import { askDatabase } from '../../../support/books.ts';
import { fixedClock } from '../../../support/fixed-clock.ts';
import { type Answer, type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { payV2 } from '../../../support/x402-payer.ts';
import { callTool } from '../../gateways/mcp/raw-client.ts';

const LIMIT = 3;

let h: Harness;
let free: TestAgent;
let paid: TestAgent;
beforeAll(async () => {
  const env = { ZERO_PRICE_CALLS_PER_HOUR: String(LIMIT), TRUSTED_PROXIES: '127.0.0.0/8,::1' };
  h = await startHarness({ env: { ...env, ALLOW_PRIVATE_ENDPOINTS: 'true' } });
  const owner = await h.newAccount();
  free = await startTestAgent(h, { owner, perRequest: '0' });
  paid = await startTestAgent(h, { owner, perRequest: '0.05' });
});
afterAll(async () => {
  await Promise.all([free.die(), paid.die()]);
  await h.stop();
});

const call = (client: string, headers: Record<string, string> = {}, body: object = {}, agent = free): Promise<Answer> =>
  h.request('POST', `/x402/${agent.id}`, {
    body: { task: 'x', ...body },
    headers: { 'x-forwarded-for': client, 'x-sync': 'true', ...headers },
  });
const codeOf = ({ status, body }: Answer) => [status, body.error?.code ?? body.data.status];
const done = [200, 'completed'];

const accountOf = async ({ body }: Answer) => {
  const sql = `select account_id from invocation where id = '${body.data.requestId}'`;
  return ((await askDatabase(h.databaseUrl, sql)) as { account_id: string }[])[0]?.account_id;
};

it('a visitor without an account runs a free agent, and is the only reader of the result', async () => {
  const answer = await call('192.1.2.1');
  expect(codeOf(answer)).toEqual(done);
  const { requestId, resultToken, cost, ...rest } = answer.body.data;
  expect(Number(cost)).toBe(0);
  expect(rest.result).toBeDefined();
  const read = (headers: Record<string, string>) => h.request('GET', `/invoke/${requestId}`, { headers });
  expect((await read({ 'x-result-token': resultToken })).body.data.status).toBe('completed');
  const other = (await call('192.1.2.1')).body.data;
  for (const headers of [{}, { 'x-result-token': other.resultToken }]) expect((await read(headers)).status).toBe(401);
  const { key } = await h.newAccount();
  expect((await h.request('GET', `/invoke/${requestId}`, { key })).status).toBe(404);
});

it('a call repeated at two processes at once runs once', async () => {
  const runs = free.calls.length;
  const ask = async () => {
    const app = createApp({ ...h.ctx, paymentTurns: createMutex() });
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'visit-twice', 'x-sync': 'true' };
    const answer = await app.request(`/x402/${free.id}`, { method: 'POST', headers, body: '{"task":"x"}' });
    const { data } = (await answer.json()) as { data?: { requestId: string } };
    return [answer.status, data?.requestId];
  };
  const [one, other] = await Promise.all([ask(), ask()]);
  expect(one).toEqual([200, expect.stringMatching(/^req_/)]);
  expect(other).toEqual(one);
  expect(free.calls.length).toBe(runs + 1);
});

it('free calls of visitors are limited by address, hosts of a /64 together, beside those with an account', async () => {
  const { key } = await h.newAccount();
  for (const of of [() => '192.10.2.1', (at: number) => `2001:db8:1:2::${at}`]) {
    const withKey = await h.request('POST', `/invoke/${free.id}`, {
      key,
      body: { task: 'x' },
      headers: { 'x-forwarded-for': of(1), 'x-sync': 'true' },
    });
    expect(withKey.status).toBe(200);
    const answers: Answer[] = [];
    for (let at = 0; at < LIMIT; at += 1) answers.push(await call(of(at + 2)));
    expect(answers.map(codeOf)).toEqual([done, done, [429, 'RATE_LIMITED']]);
    expect(answers.at(-1)?.body.error.details).toMatchObject({ limit: LIMIT, type: 'freeCalls' });
  }
  expect(codeOf(await call('192.11.2.1'))).toEqual(done);
  const sent = free.calls.length;
  const tool = await callTool(
    h.baseUrl,
    undefined,
    'invoke_agent',
    { agentId: free.id, task: 'x', maxCost: '0' },
    '/mcp',
    {
      'x-forwarded-for': '192.10.2.1',
    },
  );
  expect(JSON.stringify(tool.body)).toContain('"type":"freeCalls"');
  expect(free.calls).toHaveLength(sent);
});

it('pages of other sites cannot have their visitors make free calls, or the node send webhooks', async () => {
  const sent = free.calls.length;
  const { host } = new URL(h.baseUrl);
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { 'sec-fetch-site': 'cross-site' },
    { origin: `https://other.${host}`, 'sec-fetch-site': 'same-site' },
  ])
    expect(codeOf(await call('192.20.2.1', headers as Record<string, string>))).toEqual([403, 'FORBIDDEN']);
  const answer = await call('192.20.2.1', {}, { webhookUrl: 'https://victim.example/' });
  expect(codeOf(answer)).toEqual([400, 'VALIDATION_ERROR']);
  expect(free.calls).toHaveLength(sent);
  const own = { origin: new URL(h.baseUrl).origin, 'sec-fetch-site': 'same-origin' };
  expect(codeOf(await call('192.20.2.1', own))).toEqual(done);
});

it('a visitor who repeats a call under its Idempotency-Key finds the first one; a stranger, or another task, does not', async () => {
  const headers = { 'idempotency-key': 'lost-answer' };
  const sent = free.calls.length;
  const [first, twin] = await Promise.all([call('192.30.2.1', headers), call('192.30.2.1', headers)]);
  const again = await call('192.30.2.1', headers);
  const ids = [first, twin, again].map(({ body }) => body.data.requestId);
  expect(new Set(ids).size).toBe(1);
  expect(again.body.data.resultToken).toBe(first.body.data.resultToken);
  expect(free.calls).toHaveLength(sent + 1);
  const others = [await call('192.31.2.1', headers), await call('192.30.2.1', headers, { task: 'y' })];
  expect(new Set([...ids, ...others.map(({ body }) => body.data.requestId)]).size).toBe(3);
});

it('a key that a paid call came under is no way to read it without the payment', async () => {
  const headers = { 'idempotency-key': 'paid-one' };
  const wallet = await h.newWallet(1_000_000n);
  const payment = await payV2(h, wallet, await call('192.35.2.1', headers, {}, paid));
  expect(codeOf(await call('192.35.2.1', { ...headers, ...payment }, {}, paid))).toEqual(done);
  expect((await call('192.35.2.1', headers, {}, paid)).status).toBe(402);
});

it('visitors share a bounded number of accounts that nobody signs in to, and the operator can suspend', async () => {
  const answer = await call('192.40.2.1');
  expect(await accountOf(await call('192.40.2.1'))).toBe(await accountOf(answer));
  const many = await Promise.all(Array.from({ length: 150 }, (_, at) => call(`198.51.${at}.1`)));
  expect(new Set(await Promise.all(many.map(accountOf))).size).toBeLessThanOrEqual(64);
  const id = await accountOf(answer);
  const sql = (value: string) =>
    `update account set suspended_at = ${value} where id = '${id}' returning wallet_proven_at`;
  expect(await askDatabase(h.databaseUrl, sql('now()'))).toEqual([{ wallet_proven_at: null }]);
  expect(codeOf(await call('192.40.2.1'))).toEqual([403, 'FORBIDDEN']);
  await askDatabase(h.databaseUrl, sql('null'));
});

it('a payment shown for a free call is not collected, and opens no account in the name of its wallet', async () => {
  const wallet = await h.newWallet(1_000_000n);
  const payment = await payV2(h, wallet, await call('192.50.2.1', {}, {}, paid));
  expect(codeOf(await call('192.50.2.1', payment))).toEqual(done);
  expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  const sql = `select id from account where address = '${wallet.address.toLowerCase()}'`;
  expect(await askDatabase(h.databaseUrl, sql)).toEqual([]);
});

it('a free call that comes with a payment waits for its result, as its place and deadline say', async () => {
  const payment = await payV2(h, await h.newWallet(1_000_000n), await call('192.51.2.1', {}, {}, paid));
  expect(codeOf(await call('192.51.2.1', { ...payment, 'x-sync': 'false' }))).toEqual(done);
  expect(codeOf(await call('192.51.2.1', { 'x-sync': 'false' }))).toEqual([200, 'processing']);
});

it('a visitor brings small bodies only', async () => {
  expect(codeOf(await call('192.77.2.1', {}, { input: { text: 'x'.repeat(17_000) } }))).toEqual([
    413,
    'PAYLOAD_TOO_LARGE',
  ]);
  expect(codeOf(await call('192.77.2.1', {}, { input: { text: 'x'.repeat(8000) } }))).toEqual(done);
});

it('visitors of one site share a limit and an account, whatever networks they come from', async () => {
  const answers: Answer[] = [];
  for (let network = 0; network < LIMIT * 4 + 2; network++)
    answers.push(await call(`2001:db8:9:${(0x4200 + network).toString(16)}::1`));
  const statuses = answers.map(({ status }) => status);
  expect(statuses).toEqual([...Array(LIMIT * 4).fill(200), 429, 429]);
  const accounts = await Promise.all(answers.slice(0, LIMIT * 4).map(accountOf));
  expect(new Set(accounts).size).toBe(1);
});

it('a full account of visitors loses its oldest results, and stays open', async () => {
  const first = await call('198.51.100.1');
  const account = await accountOf(first);
  const fill = 'insert into storage_change (account_id, bytes) values ($1, $2)';
  await h.ctx.db.query('', fill, [account, 32 * 1024 * 1024]);
  const next = await call('198.51.100.2');
  expect([codeOf(next), await accountOf(next)]).toEqual([done, account]);
  const kept = async ({ body }: Answer) => {
    const { requestId, resultToken } = body.data;
    return (await h.request('GET', `/invoke/${requestId}`, { headers: { 'x-result-token': resultToken } })).body.data
      .result;
  };
  expect([await kept(first), (await kept(next)) === null]).toEqual([null, false]);
  await h.ctx.db.query('', fill, [account, -32 * 1024 * 1024]);
});

it('results of visitors are removed after six hours', async () => {
  const answer = await call('203.0.113.9');
  const { requestId } = answer.body.data;
  const isKept = async () =>
    (await h.ctx.db.query('', 'select from invocation where id = $1 and content_removed_at is null', [requestId]))
      .length === 1;
  const after = (hours: number) => ({ ...h.ctx, clock: fixedClock(new Date(Date.now() + hours * 3_600_000)) });
  await forgetContents(after(5));
  expect(await isKept()).toBe(true);
  await forgetContents(after(7));
  expect(await isKept()).toBe(false);
});
