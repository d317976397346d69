import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { startTestAgent, type TestAgent, untilStatus } from '../support/test-agent.ts';
import { balanceOf, deposit, newClient, untilEnded } from '../support/treasury.ts';
import { newVoucherPayer } from '../support/voucher-payer.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let owner: TestAccount;
let best: TestAgent;
let second: TestAgent;
let dear: TestAgent;
const names = { best: 'German contract translator', second: 'Contract translator', dear: 'Translation' };
beforeAll(async () => {
  h = await startHarness({ env: { MIN_PAYMENT: '0.01', CHANNELS: 'true' } });
  owner = await h.newAccount();
  const start = (name: string, perRequest: string) =>
    startTestAgent(h, { owner, name, perRequest, capabilities: ['auto-test'] });
  [best, second, dear] = await Promise.all([
    start(names.best, '0.05'),
    start(names.second, '0.04'),
    start(names.dear, '0.90'),
  ]);
});
const agents = () => [best, second, dear];
afterEach(async () => {
  for (const agent of agents()) agent.calls.length = 0;
  await change(best, { name: names.best, rates: { perRequest: '0.05' }, capabilities: ['auto-test'] });
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(async () => {
  await Promise.all(agents().map((agent) => agent.die()));
  await h.stop();
});

const change = async (agent: TestAgent, body: object) => {
  const { status } = await h.request('PUT', `/agents/${agent.id}`, { key: owner.key, body });
  expect(status).toBe(200);
};
const report = (agent: TestAgent, accepting: boolean) =>
  h.request('POST', `/agents/${agent.id}/heartbeat`, { key: agent.identityToken, body: { accepting } });
const setOffline = (agent: TestAgent) => report(agent, false).then(() => untilStatus(h, agent.id, 'offline'));
async function setOnline(agent: TestAgent): Promise<void> {
  await report(agent, true);
  await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: agent.id, proof: 'endpoint' } });
  await untilStatus(h, agent.id, 'online');
}

const body = { task: 'Please translate the contract into German', maxCost: '0.50' };
const invoke = (key: string, more: object = {}, headers: Record<string, string> = {}) =>
  h.request('POST', '/invoke/auto', { key, body: { ...body, ...more }, headers: { 'x-sync': 'true', ...headers } });
const calls = () => agents().map((agent) => agent.calls.length);
/** Another agent is the best one from now on. */
const lowerTheBest = () => change(best, { name: 'Painter' });

describe('a call without an agent id', () => {
  it('runs the best match within maxCost from the treasury, and says why in its answer and record', async () => {
    const { key } = await newClient(h, '1.00');
    const { data } = (await invoke(key)).body;
    expect(data).toMatchObject({ status: 'completed', agentId: best.id, requestedAgentId: null, cost: '0.05' });
    const { chosen } = data;
    expect(chosen).toMatchObject({ agentId: best.id, rank: 1, considered: 3 });
    expect(chosen.parts.text).toMatchObject({ coverage: 1, credit: 0.5 });
    expect(chosen.parts.text.matched.toSorted()).toEqual(['contract', 'german', 'translate']);
    const sum = Object.values<{ weight: number; value: number }>(chosen.parts).reduce(
      (total, { weight, value }) => total + weight * value,
      0,
    );
    expect(sum).toBeCloseTo(chosen.score, 9);
    expect((await h.request('GET', `/invoke/${data.requestId}`, { key })).body.data.chosen).toEqual(chosen);
    expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
    expect(calls()).toEqual([1, 0, 0]);
  });

  it('is answered with the choice before its end as well, and streams like any other', async () => {
    const { key } = await newClient(h, '1.00');
    const { data } = (await invoke(key, {}, { 'x-sync': 'false' })).body;
    expect(data).toMatchObject({ estimatedCost: '0.05', agentId: best.id, chosen: { agentId: best.id, rank: 1 } });
    await untilEnded(h, key, data.requestId);
    const stream = await fetch(`${h.baseUrl}/invoke/auto`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${key}`, 'content-type': 'application/json', accept: 'text/event-stream' },
      },
      body: JSON.stringify({ ...body, stream: true }),
    });
    expect(await stream.text()).toContain('invocation.completed');
  });

  it('runs the next best when the price of the best, as of this call, is above maxCost', async () => {
    const { key } = await newClient(h, '1.00');
    expect((await invoke(key, { maxCost: '0.049999' })).body.data).toMatchObject({
      ...{ agentId: second.id, cost: '0.04' },
      chosen: { considered: 3, rank: 1 },
    });
    const metadata = { sizeSteps: [{ aboveBytes: 16_384, multiplier: '1.25' }] };
    await Promise.all([best, second].map((agent) => change(agent, { metadata })));
    const large = { text: 'x'.repeat(20_000) };
    expect((await invoke(key, { maxCost: '0.05', input: large })).body.data).toMatchObject({
      ...{ agentId: second.id, cost: '0.05' },
    });
    await Promise.all([best, second].map((agent) => change(agent, { metadata: { sizeSteps: null } })));
  });

  it('runs the next best when the best is offline', async () => {
    const { key } = await newClient(h, '1.00');
    await setOffline(best);
    expect((await invoke(key)).body.data).toMatchObject({ agentId: second.id, chosen: { considered: 2 } });
    await setOnline(best);
    expect(calls()).toEqual([0, 1, 0]);
  });

  it('keeps to the limits and the list of agents of the key', async () => {
    const { key } = await newClient(h, '2.00');
    const limited = async (limits: object) =>
      (await h.request('POST', '/account/keys', { key, body: { name: 'x', scopes: ['invoke'], limits } })).body.data
        .apiKey;
    const only = await limited({ allowedAgents: [second.id, dear.id] });
    expect((await invoke(only)).body.data).toMatchObject({ agentId: second.id, chosen: { considered: 2 } });
    expect((await invoke(await limited({ perCall: '0.04' }))).body.data).toMatchObject({ agentId: second.id });
    expect((await invoke(await limited({ perDay: '0.03' }))).body.error).toMatchObject({
      ...{ code: 'NO_AGENT_FITS', details: { considered: 3, cheapest: '0.04' } },
    });
    expect((await invoke(await limited({ allowedAgents: [dear.id] }))).body.error).toMatchObject({
      ...{ code: 'NO_AGENT_FITS', details: { considered: 1, cheapest: '0.90' } },
    });
  });

  it('takes agents of the own account like others, but a calling agent never chooses itself', async () => {
    const { data } = (await h.request('POST', '/payments/treasury', { key: owner.key, body: {} })).body;
    await deposit(h, owner.key, data.treasuryId, '0.10');
    expect((await invoke(owner.key)).body.data).toMatchObject({ agentId: best.id, status: 'completed' });
    const own = await invoke(best.identityToken, {}, { 'x-payment-method': 'x402' });
    expect([own.status, own.body.error.agentId]).toEqual([402, second.id]);
  });

  it('that nothing fits is refused with the reason, and charges nothing', async () => {
    const { key } = await newClient(h, '1.00');
    const refusals = await Promise.all([
      invoke(key, { maxCost: '0.03' }),
      invoke(key, { task: 'zxqwv the and' }),
      invoke(key, { capabilities: ['auto-test', 'nobody-has-this'] }),
    ]);
    expect(refusals.map(({ status, body: { error } }) => [status, error.code, error.details])).toEqual([
      [422, 'NO_AGENT_FITS', { considered: 3, cheapest: '0.04' }],
      [422, 'NO_AGENT_FITS', { considered: 0, cheapest: null }],
      [422, 'NO_AGENT_FITS', { considered: 0, cheapest: null }],
    ]);
    expect(refusals[0]?.body.error.message).toContain('at most 0.03 USDC; the lowest price is 0.04 USDC');
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
    expect(calls()).toEqual([0, 0, 0]);
  });

  it.each([
    ['maxCost', { maxCost: undefined }],
    ['maxCost', { max_spend: '0.01' }],
    ['maxCost', { maxCost: '-1' }],
    ['task', { task: '' }],
    ['task', { task: 'x'.repeat(100_001) }],
    ['capabilities', { capabilities: [] }],
    ['capabilities.0', { capabilities: ['not a capability'] }],
  ])('is refused for a wrong %s', async (path, more) => {
    const { key } = await h.newAccount();
    const { status, body: answer } = await invoke(key, more);
    expect([status, answer.error.details.fields[0].path]).toEqual([400, path]);
  });
});

describe('under one Idempotency-Key', () => {
  const headers = { 'idempotency-key': 'same' };

  it('the choice is made once, also when the ranking has changed since', async () => {
    const { key } = await newClient(h, '1.00');
    const first = (await invoke(key, {}, headers)).body.data;
    expect(first.agentId).toBe(best.id);
    await lowerTheBest();
    const again = await invoke(key, {}, headers);
    expect(again.body.data).toEqual(first);
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('of calls at the same moment one runs and is paid', async () => {
    const { key } = await newClient(h, '1.00');
    const answers = await Promise.all([1, 2, 3].map(() => invoke(key, {}, headers)));
    for (const { status } of answers) expect([200, 409]).toContain(status);
    const ids = answers.flatMap(({ status, body: { data } }) => (status === 200 ? [data.requestId] : []));
    expect(new Set(ids).size).toBe(1);
    expect(calls()).toEqual([1, 0, 0]);
    expect(await balanceOf(h, key)).toEqual({ available: '0.95', held: '0.00' });
  });

  it('of payments for two agents that it was offered one after the other, one is collected', async () => {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const offers = [await invoke(key, {}, headers)];
    await lowerTheBest();
    offers.push(await invoke(key, {}, headers));
    expect(offers.map(({ status, body: { error } }) => [status, error.agentId])).toEqual([
      [402, best.id],
      [402, second.id],
    ]);
    const payments = await Promise.all(offers.map((offer) => payV2(h, wallet, offer)));
    const first = await invoke(key, {}, { ...headers, ...payments[0] });
    expect(first.body.data).toMatchObject({ agentId: best.id, status: 'completed' });
    expect((await invoke(key, {}, { ...headers, ...payments[1] })).body.data).toEqual(first.body.data);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
    expect(calls()).toEqual([1, 0, 0]);
  });
});

describe('a payment for the agent that a 402 named', () => {
  async function offered() {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const unpaid = await invoke(key);
    expect(unpaid.status).toBe(402);
    expect(unpaid.body.error).toMatchObject({ agentId: best.id, payment: { amount: '0.05' } });
    return { key, wallet, unpaid, headers: await payV2(h, wallet, unpaid) };
  }

  it('runs that very agent, once, though another is the best by now', async () => {
    const { key, wallet, headers } = await offered();
    await lowerTheBest();
    const answers = await Promise.all([1, 2, 3].map(() => invoke(key, {}, headers)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [first] = answers.map(({ body: { data } }) => data);
    expect(first).toMatchObject({ agentId: best.id, status: 'completed', cost: '0.05', paymentMethod: 'x402' });
    expect(first.chosen).toMatchObject({ rank: null, considered: 2, parts: { text: { coverage: 0, matched: [] } } });
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
    expect(calls()).toEqual([1, 0, 0]);
  });

  it('by a voucher finds its call also when the offer has expired: one run', async () => {
    const { key, unpaid } = await offered();
    const payer = newVoucherPayer(h);
    await payer.fund(1_000_000n);
    const headers = payer.pay(unpaid, 50_000n);
    const first = (await invoke(key, {}, headers)).body.data;
    expect(first).toMatchObject({ agentId: best.id, status: 'completed' });
    await lowerTheBest();
    const laterMs = h.ctx.clock.now().getTime() + 16 * 60_000;
    using _later = vi.spyOn(h.ctx.clock, 'now').mockImplementation(() => new Date(laterMs));
    expect((await invoke(key, {}, headers)).body.data).toEqual(first);
    expect(calls()).toEqual([1, 0, 0]);
  });

  it('holds at its price, whatever the agent asks now', async () => {
    const { key, wallet, headers } = await offered();
    await change(best, { rates: { perRequest: '0.90' } });
    expect((await invoke(key)).body.error).toMatchObject({ agentId: second.id });
    expect((await invoke(key, {}, headers)).body.data).toMatchObject({ agentId: best.id, cost: '0.05' });
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('pays nobody else when that agent is gone, or lacks a capability that is asked for', async () => {
    const { key, wallet, headers } = await offered();
    await setOffline(best);
    const refused = await invoke(key, {}, headers);
    expect([refused.status, refused.body.error.code, refused.body.error.agentId]).toEqual([
      ...[503, 'AGENT_UNAVAILABLE', best.id],
    ]);
    await setOnline(best);
    const lacking = await invoke(key, { capabilities: ['another'] }, headers);
    expect([lacking.status, lacking.body.error.code]).toEqual([422, 'NO_AGENT_FITS']);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect(calls()).toEqual([0, 0, 0]);
  });

  it('is refused above a lower maxCost, in version 1, and when it names another agent than its offer', async () => {
    const { key, wallet, unpaid, headers } = await offered();
    const capped = await invoke(key, { maxCost: '0.04' }, headers);
    expect([capped.status, capped.body.error.details.fields[0].path]).toEqual([400, 'maxCost']);
    expect((await invoke(key, {}, await payV1(h, wallet, unpaid))).status).toBe(400);
    const { extra } = JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString()).accepted;
    await lowerTheBest();
    const forged = await invoke(key, {}, await payV2(h, wallet, unpaid, { extra: { ...extra, agentId: second.id } }));
    expect(forged.status).toBe(402);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect(calls()).toEqual([0, 0, 0]);
  });

  it('is for no call that names the agent, and an offer of such a call is for no choice', async () => {
    const { key, wallet, headers } = await offered();
    const direct = (more: Record<string, string>) =>
      h.request('POST', `/invoke/${best.id}`, { key, body, headers: { 'x-sync': 'true', ...more } });
    const misplaced = await direct(headers);
    expect([misplaced.status, misplaced.body.error.details.reason]).toEqual([402, 'invalid_offer']);
    const reversed = await invoke(key, {}, await payV2(h, wallet, await direct({})));
    expect([reversed.status, reversed.body.error.details.reason]).toEqual([402, 'invalid_offer']);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect((await invoke(key, {}, headers)).body.data).toMatchObject({ agentId: best.id });
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('finds the agents of others behind a crowd of one account that refuses every input, and tells how far it looked', async () => {
    const stranger = await h.newAccount();
    const types = { inputSchema: { type: 'object', required: ['x9'] } };
    const copy = { name: names.best, description: 'A copy.', capabilities: ['auto-test'], rates: { perRequest: '0' } };
    const { id } = (
      await h.request('POST', '/agents', {
        ...{ key: stranger.key, body: { ...copy, types, endpoint: 'http://127.0.0.1:9/agent' } },
      })
    ).body.data;
    const { pool } = h.ctx.db;
    await pool.query(
      `with crowd as (
         insert into agent select (jsonb_populate_record(one, jsonb_build_object('id', left(one.id, -3) || lpad(n::text, 3, '0'),
             'token_hash', '\\x' || md5(n::text), 'status', 'online', 'endpoint_proven_at', now(), 'next_check_at', null))).*
           from agent one, generate_series(1, 250) n where one.id = $1 returning id)
       insert into agent_totals (agent_id) select id from crowd`,
      [id],
    );
    const crowd = [`${id.slice(0, -3)}%`];
    const { key: rich } = await newClient(h, '1.00');
    expect((await invoke(rich)).body.data).toMatchObject({ agentId: best.id, chosen: { rank: 9, considered: 253 } });
    // Where all are of one account, the others of it are looked at in the end.
    await pool.query(`update agent set account_id = (select account_id from agent where id = $2) where id like $1`, [
      ...crowd,
      best.id,
    ]);
    const refused = (await invoke(rich)).body.error;
    expect(refused).toMatchObject({ code: 'NO_AGENT_FITS', details: { cheapest: '0.00' } });
    expect(refused.message).toMatch(/None of the first 2\d\d of 253 online agents that match takes this call/);
    await pool.query(`delete from agent_totals where agent_id like $1 and agent_id <> $2`, [...crowd, id]);
    await pool.query(`delete from agent where id like $1 and id <> $2`, [...crowd, id]);
    await h.request('DELETE', `/agents/${id}`, { key: stranger.key });
  });

  it('is not asked for an agent that cannot be called so: too cheap to be paid on chain, or refusing the input, however many of these rank higher', async () => {
    await change(best, { rates: { perRequest: '0.009' } });
    const { key } = await h.newAccount();
    expect((await invoke(key)).body.error).toMatchObject({ agentId: second.id, payment: { amount: '0.04' } });
    const crowd = Array.from({ length: 41 }, (_, nth) => ({
      ...{
        name: names.best,
        description: `Copy ${nth}.`,
        capabilities: ['auto-test'],
        rates: { perRequest: '0.000001' },
        types: { inputSchema: { type: 'object', required: ['x9'] } },
      },
      endpoint: 'http://127.0.0.1:9/agent',
    }));
    const copies: string[] = [];
    for (const copy of crowd)
      copies.push((await h.request('POST', '/agents', { key: owner.key, body: copy })).body.data.id);
    await h.ctx.db.pool.query(
      `update agent set status = 'online', endpoint_proven_at = now(), next_check_at = null where id = any($1)`,
      [copies],
    );
    expect((await invoke(key)).body.error).toMatchObject({ agentId: second.id });
    // Nor do those hide others that refuse the input, or lack the capability of the call.
    await h.ctx.db.pool.query('update agent set per_request_micro = 0 where id = any($1)', [copies]);
    expect((await invoke(key)).body.error).toMatchObject({ agentId: second.id });
    const { key: rich } = await newClient(h, '1.00');
    // The figures are of all that match, not of those that were left.
    expect((await invoke(rich)).body.data.chosen).toMatchObject({
      ...{ agentId: best.id, rank: 42, considered: 44, parts: { price: { price: '0.009', usual: '0.00' } } },
    });
    await h.ctx.db.pool.query(`update agent set capabilities = '{another}', types_id = null where id = any($1)`, [
      copies,
    ]);
    expect((await invoke(key, { capability: 'auto-test' })).body.error).toMatchObject({ agentId: second.id });
    for (const id of copies) await h.request('DELETE', `/agents/${id}`, { key: owner.key });
    expect((await invoke(rich)).body.data).toMatchObject({ agentId: best.id, cost: '0.009' });
  });
});
