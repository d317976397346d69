import { randomUUID } from 'node:crypto';
import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { generatePrivateKey } from 'viem/accounts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { invokeOnFaucet } from '../../../../src/calls/start/invoke-on-faucet.ts';
import { createLocalSigner } from '../../../../src/chain/keys/local-signer.ts';
import { createApp } from '../../../../src/compose/app.ts';
import { AppError } from '../../../../src/lib/app-error.ts';
import { createMutex } from '../../../../src/lib/concurrency/mutex.ts';
import { askDatabase, contradictions, walletByBooks } from '../../../support/books.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { answerWith, echo, startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { payV2 } from '../../../support/x402-payer.ts';

// `X-Payment-Method: test_funds` of POST /x402/{agentId}: the node's faucet pays for a visitor's call.

const PRICE = 50_000n;

let h: Harness;
let paid: TestAgent;
let free: TestAgent;
let dear: TestAgent;
let failing: TestAgent;
beforeAll(async () => {
  h = await startHarness({ env: { TRUSTED_PROXIES: '127.0.0.0/8,::1', ALLOW_PRIVATE_ENDPOINTS: 'true' } });
  const owner = await h.newAccount();
  [paid, free, dear, failing] = await Promise.all([
    startTestAgent(h, { owner, perRequest: '0.05' }),
    startTestAgent(h, { owner, perRequest: '0' }),
    startTestAgent(h, { owner, perRequest: '10.01' }),
    startTestAgent(h, { owner, perRequest: '0.05', behaviour: answerWith(500, { error: 'no' }) }),
  ]);
});
afterAll(async () => {
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
  await Promise.all([paid, free, dear, failing].map((agent) => agent.die()));
  await h.stop();
});

interface Asked {
  readonly agent?: TestAgent;
  readonly key?: string;
  readonly body?: object;
  readonly headers?: Record<string, string>;
}

const call = ({ agent = paid, key, body, headers }: Asked = {}) =>
  h.request('POST', `/x402/${agent.id}`, {
    key,
    body: { task: 'On the house.', ...body },
    headers: { 'x-payment-method': 'test_funds', ...headers },
  });

const faucetHolds = () => h.usdcOf(h.ctx.faucet?.address as `0x${string}`);
const given = async () => Number((await askDatabase<{ count: string }>(h.databaseUrl, GIVEN))[0]?.count);
const GIVEN = 'select count(*) from test_grant';

it('a visitor without account and wallet has a paid call run, and only its answer has the token that reads it', async () => {
  const [before, grants] = [await faucetHolds(), await given()];
  const { status, body } = await call();
  expect([status, body.data]).toMatchObject([
    200,
    { status: 'completed', cost: '0.05', paymentMethod: 'x402', result: { echo: 'On the house.' } },
  ]);
  expect(body.data.paymentHash).toMatch(/^0x/);
  expect(before - (await faucetHolds())).toBe(PRICE);
  expect((await given()) - grants).toBe(1);
  const { requestId, resultToken } = body.data;
  const read = (headers: Record<string, string>) => h.request('GET', `/invoke/${requestId}`, { headers });
  expect((await read({ 'x-result-token': resultToken })).body.data).toMatchObject({ requestId, status: 'completed' });
  const other = (await call()).body.data;
  expect(other.requestId).not.toBe(requestId);
  expect((await read({ 'x-result-token': other.resultToken })).status).toBe(401);
});

it('is one call and one payment under a key, also of processes at once; another network has another', async () => {
  const [runs, grants, before] = [paid.calls.length, await given(), await faucetHolds()];
  const idempotencyKey = randomUUID();
  const body = { task: 'Twice.' };
  const ask = async () => {
    const app = createApp({ ...h.ctx, paymentTurns: createMutex() });
    const method = { 'idempotency-key': idempotencyKey, 'x-payment-method': 'test_funds' };
    const headers = { 'content-type': 'application/json', ...method };
    const init = { method: 'POST', headers, body: JSON.stringify(body) };
    const { data } = (await (await app.request(`/x402/${paid.id}`, init)).json()) as {
      data: { requestId: string; resultToken: string };
    };
    return [data.requestId, data.resultToken];
  };
  const [one, other] = await Promise.all([ask(), ask()]);
  expect(other).toEqual(one);
  expect(await ask()).toEqual(one);
  expect([paid.calls.length - runs, (await given()) - grants, before - (await faucetHolds())]).toEqual([1, 1, PRICE]);
  const elsewhere = { 'idempotency-key': idempotencyKey, 'x-forwarded-for': '192.1.3.1' };
  expect((await call({ body, headers: elsewhere })).body.data.requestId).not.toBe(one?.[0]);
  expect([paid.calls.length - runs, (await given()) - grants]).toEqual([2, 2]);
});

it('takes nothing for a free agent, and is refused for what visitors may not do, with nothing given', async () => {
  const [before, grants, runs] = [await faucetHolds(), await given(), paid.calls.length];
  expect((await call({ agent: free, headers: { 'x-sync': 'true' } })).body.data).toMatchObject({
    status: 'completed',
    paymentMethod: 'free',
  });
  const { key } = await h.newAccount();
  const unpaid = await h.request('POST', `/x402/${paid.id}`, { body: { task: 'On the house.' } });
  const payment = await payV2(h, await h.newWallet(), unpaid);
  const refusals: [Asked, number, string][] = [
    [{ agent: dear }, 400, 'VALIDATION_ERROR'],
    [{ key }, 400, 'VALIDATION_ERROR'],
    [{ headers: payment }, 400, 'VALIDATION_ERROR'],
    [{ body: { webhookUrl: 'http://127.0.0.1:9/hook' } }, 400, 'VALIDATION_ERROR'],
    [{ body: { maxCost: '0.01' } }, 400, 'VALIDATION_ERROR'],
    [{ body: { context: 'x'.repeat(17_000) } }, 413, 'PAYLOAD_TOO_LARGE'],
    [{ headers: { 'sec-fetch-site': 'cross-site' } }, 403, 'FORBIDDEN'],
  ];
  for (const [asked, status, code] of refusals) {
    const answer = await call(asked);
    expect([answer.status, answer.body.error.code], JSON.stringify(answer.body)).toEqual([status, code]);
  }
  expect([await faucetHolds(), await given(), paid.calls.length]).toEqual([before, grants, runs]);
});

it('goes back to the faucet when the agent fails', async () => {
  const before = await faucetHolds();
  const { data } = (await call({ agent: failing })).body;
  expect(data).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
  await expect.poll(faucetHolds, { timeout: 20_000 }).toBe(before);
});

it('says nothing about the agent: what anyone can have paid is no evidence', async () => {
  paid.behave(echo);
  const { requestId } = (await call()).body.data;
  await expect.poll(() => askDatabase(h.databaseUrl, 'select from outcome_due'), { timeout: 20_000 }).toEqual([]);
  const counted = `select from outcome_day d join invocation i on i.agent_id = d.agent_id and i.account_id = d.account_id where i.id = '${requestId}'`;
  expect(await askDatabase(h.databaseUrl, counted)).toEqual([]);
});

/** A call by the use case, with other parts of the node: its state, or the error. */
const invoke = (parts: object, client: string): Promise<string | AppError> =>
  invokeOnFaucet(
    { ...h.ctx, ...parts },
    {
      ...{ agentId: paid.id, body: InvocationRequest.parse({ task: 'Bounded.' }), gateway: 'x402', client },
      ...{ idempotencyKey: null, resultToken: null, isFromOtherSite: false, asksForChannels: false },
      ...{ isAwaited: true, isStreamed: false, count: async () => undefined, keepCount: () => undefined },
    },
  ).then(
    async ({ ending, invocation }) => (await ending)?.status ?? invocation.status,
    (error: unknown) => {
      if (error instanceof AppError) return error;
      throw error;
    },
  );

it('is there only with a faucet that can pay; what it cannot pay counts for nothing', async () => {
  const grants = await given();
  expect(await invoke({ faucet: null }, '198.51.100.1')).toMatchObject({ code: 'NOT_FOUND' });
  const empty = createLocalSigner(generatePrivateKey());
  expect(await invoke({ faucet: empty }, '198.51.100.1')).toMatchObject({ code: 'UNAVAILABLE' });
  expect(await given()).toBe(grants);
});

it('is bounded by network and by day, together with the gifts to accounts, however many ask at once', async () => {
  const grants = await given();
  const bounded = (more: object, clients: string[]) =>
    Promise.all(clients.map((client) => invoke({ faucetSettings: { ...h.ctx.faucetSettings, ...more } }, client)));
  const refused = (answers: unknown[]) => answers.filter((each) => each instanceof AppError);
  const ofOne = refused(
    await bounded(
      { perAddress: 2 },
      Array.from({ length: 4 }, (_, n) => `2001:db8:7::${n}`),
    ),
  );
  expect(ofOne).toHaveLength(2);
  for (const each of ofOne)
    expect(each).toMatchObject({ code: 'RATE_LIMITED', extra: { details: { type: 'test_funds' } } });
  const clients = Array.from({ length: 4 }, (_, n) => `203.0.113.${n}`);
  expect(refused(await bounded({ perDay: grants + 4 }, clients))).toHaveLength(2);
  expect(await given()).toBe(grants + 4);
});
