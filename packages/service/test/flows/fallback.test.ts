import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { contradictions, walletByBooks } from '../support/books.ts';
import { type Harness, startHarness, type TestAccount } from '../support/harness.ts';
import { echo, startTestAgent, type TestAgent, untilStatus } from '../support/test-agent.ts';
import { balanceOf, newClient, untilEnded } from '../support/treasury.ts';
import { newVoucherPayer } from '../support/voucher-payer.ts';
import { payV1, payV2 } from '../support/x402-payer.ts';

let h: Harness;
let owner: TestAccount;
let wanted: TestAgent;
let twin: TestAgent;
let dear: TestAgent;
let stranger: TestAgent;
const skills = ['fall-a', 'fall-b', 'fall-c'];
beforeAll(async () => {
  h = await startHarness({ env: { CHANNELS: 'true' } });
  owner = await h.newAccount();
  const start = (name: string, perRequest: string, capabilities = skills) =>
    startTestAgent(h, { owner, name, perRequest, capabilities });
  [wanted, twin, dear, stranger] = await Promise.all([
    start('Writer', '0.05'),
    start('Writer too', '0.04', skills.slice(0, 2)),
    start('Writer', '0.50'),
    start('Writer', '0.02', ['another']),
  ]);
});
afterEach(async () => {
  for (const agent of [twin, dear, wanted]) {
    agent.behave(echo);
    agent.calls.length = 0;
  }
  await setOnline(twin);
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  expect(await walletByBooks(h.databaseUrl)).toBe(await h.usdcOf(h.ctx.wallet.address));
});
afterAll(async () => {
  await Promise.all([wanted, twin, dear, stranger].map((agent) => agent.die()));
  await h.stop();
});

const report = (agent: TestAgent, accepting: boolean) =>
  h.request('POST', `/agents/${agent.id}/heartbeat`, { key: agent.identityToken, body: { accepting } });
const setOffline = (agent: TestAgent) => report(agent, false).then(() => untilStatus(h, agent.id, 'offline'));
async function setOnline(agent: TestAgent): Promise<void> {
  await report(agent, true);
  await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId: agent.id, proof: 'endpoint' } });
  await untilStatus(h, agent.id, 'online');
}

const body = { task: 'write', fallback: true };
const invoke = (key: string, more: object = {}, headers: Record<string, string> = {}, query = '') =>
  h.request('POST', `/invoke/${wanted.id}${query}`, {
    key,
    body: { ...body, ...more },
    headers: { 'x-sync': 'true', ...headers },
  });
const instead = () => ({ agentId: twin.id, requestedAgentId: wanted.id });

describe('with `fallback`, an agent that is online', () => {
  it('is called itself, and nothing is said of another', async () => {
    await setOnline(wanted);
    const { key } = await newClient(h, '1.00');
    const { data } = (await invoke(key)).body;
    expect(data).toMatchObject({ status: 'completed', agentId: wanted.id, requestedAgentId: null, cost: '0.05' });
  });
});

describe('with `fallback`, an agent that is offline', () => {
  beforeAll(() => setOffline(wanted));

  it('is replaced by the most similar that costs no more; record, events and history say so', async () => {
    const { key } = await newClient(h, '1.00');
    const created = (await invoke(key, {}, { 'x-sync': 'false' })).body.data;
    expect(created).toMatchObject({ ...instead(), estimatedCost: '0.04' });
    const record = await untilEnded(h, key, created.requestId);
    expect(record).toMatchObject({ ...instead(), status: 'completed', cost: '0.04', result: { echo: 'write' } });
    const { requests } = (await h.request('GET', '/invoke/history', { key })).body.data;
    expect(requests).toMatchObject([instead()]);
    const stream = await fetch(`${h.baseUrl}/invoke/${created.requestId}/events`, {
      headers: { authorization: `Bearer ${key}` },
    });
    const told = (await stream.text()).split('\n').filter((line) => line.startsWith('data: '));
    for (const line of [told.at(0), told.at(-1)]) expect(JSON.parse(line?.slice(6) ?? '')).toMatchObject(instead());
    expect([wanted, twin, dear].map(({ calls }) => calls.length)).toEqual([0, 1, 0]);
    expect(await balanceOf(h, key)).toEqual({ available: '0.96', held: '0.00' });
  });

  it('is replaced by a dearer one only within maxCost, the most similar first', async () => {
    const { key } = await newClient(h, '2.00');
    expect((await invoke(key, { maxCost: '0.50' })).body.data).toMatchObject({ agentId: dear.id, cost: '0.50' });
    expect((await invoke(key, { maxCost: '0.49' })).body.data).toMatchObject({ agentId: twin.id, cost: '0.04' });
    expect((await invoke(key, { input: { complexity: 'high' } })).body.data).toMatchObject({ cost: '0.04' });
  });

  it('is not replaced by an agent that is too expensive or shares no capability, nor without `fallback`', async () => {
    const { key } = await newClient(h, '1.00');
    const refused = await invoke(key, { maxCost: '0.03' });
    expect([refused.status, refused.body.error.code]).toEqual([503, 'AGENT_UNAVAILABLE']);
    expect(refused.body.error.agentId).toBe(wanted.id);
    const named = refused.body.error.alternatives.map(({ agentId }: { agentId: string }) => agentId);
    expect(named).toEqual([dear.id, twin.id, stranger.id]);
    expect((await invoke(key, { fallback: false })).status).toBe(503);
    await setOffline(twin);
    expect((await invoke(key)).status).toBe(503);
    expect(await balanceOf(h, key)).toEqual({ available: '1.00', held: '0.00' });
  });

  it('is replaced within the limits of the key', async () => {
    const { key } = await newClient(h, '2.00');
    const limited = async (limits: object) =>
      (await h.request('POST', '/account/keys', { key, body: { name: 'x', scopes: ['invoke'], limits } })).body.data
        .apiKey;
    const maxCost = '1';
    const onlyDear = await limited({ allowedAgents: [wanted.id, dear.id] });
    expect((await invoke(onlyDear, { maxCost })).body.data).toMatchObject({ agentId: dear.id });
    expect((await invoke(await limited({ perCall: '0.05' }), { maxCost })).body.data).toMatchObject(instead());
    expect((await invoke(await limited({ perDay: '0.04' }), { maxCost })).body.data).toMatchObject(instead());
    const none = await invoke(await limited({ allowedAgents: [wanted.id] }), { maxCost });
    expect(none.status).toBe(503);
  });

  it('of a quoted call is replaced for at most the quoted price, and the quote stays good', async () => {
    const { key } = await newClient(h, '2.00');
    const { acceptUrl } = (await h.request('POST', `/invoke/${wanted.id}/quote`, { key, body: { task: 'write' } })).body
      .data;
    const query = acceptUrl.slice(acceptUrl.indexOf('?'));
    expect((await invoke(key, { maxCost: '1' }, {}, query)).body.data).toMatchObject({ ...instead(), cost: '0.04' });
    expect((await invoke(key, {}, {}, query)).body.data).toMatchObject(instead());
    await setOnline(wanted);
    expect((await invoke(key, {}, {}, query)).body.data).toMatchObject({ agentId: wanted.id, cost: '0.05' });
    expect((await invoke(key, {}, {}, query)).status).toBe(409);
    await setOffline(wanted);
  });

  it('is replaced for an agent that calls, which is never its own alternative', async () => {
    const { key, treasuryId } = await newClient(h, '1.00');
    expect(treasuryId).toBeTruthy();
    const free = await startTestAgent(h, { owner, name: 'Writer', perRequest: '0', capabilities: skills });
    expect((await invoke(key)).body.data).toMatchObject({ agentId: free.id, cost: '0.00' });
    const own = await h.request('POST', `/invoke/${wanted.id}`, {
      key: free.identityToken,
      body,
      headers: { 'x-payment-method': 'x402' },
    });
    expect([own.status, own.body.error.agentId]).toEqual([402, twin.id]);
    await free.die();
    await h.request('DELETE', `/agents/${free.id}`, { key: owner.key });
  });

  it('under one Idempotency-Key is replaced once, also when it is back', async () => {
    const { key } = await newClient(h, '1.00');
    const headers = { 'idempotency-key': 'same' };
    const first = (await invoke(key, {}, headers)).body.data;
    await setOnline(wanted);
    expect((await invoke(key, {}, headers)).body.data).toEqual(first);
    await setOffline(wanted);
    expect(await balanceOf(h, key)).toEqual({ available: '0.96', held: '0.00' });
  });
});

describe('a payment for an alternative', () => {
  beforeAll(() => setOffline(wanted));

  async function offered() {
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const unpaid = await invoke(key);
    expect(unpaid.status).toBe(402);
    expect(unpaid.body.error).toMatchObject({ agentId: twin.id, payment: { amount: '0.04' } });
    return { key, wallet, unpaid, headers: await payV2(h, wallet, unpaid) };
  }

  it('calls the one that was offered, once, however often it is shown', async () => {
    const { key, wallet, headers } = await offered();
    const answers = await Promise.all([1, 2, 3].map(() => invoke(key, {}, headers)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    const [first] = answers.map(({ body: { data } }) => data);
    expect(first).toMatchObject({ ...instead(), status: 'completed', cost: '0.04', paymentMethod: 'x402' });
    await setOnline(wanted);
    expect((await invoke(key, {}, headers)).body.data).toEqual(first);
    await setOffline(twin);
    expect((await invoke(key, {}, headers)).body.data).toEqual(first);
    await setOffline(wanted);
    expect(await h.usdcOf(wallet.address)).toBe(960_000n);
    expect(twin.calls).toHaveLength(1);
  });

  it('still calls the one that was offered when the agent asked for has come back', async () => {
    const { key, wallet, headers } = await offered();
    await setOnline(wanted);
    expect((await invoke(key, {}, headers)).body.data).toMatchObject({ ...instead(), cost: '0.04' });
    await setOffline(wanted);
    expect(await h.usdcOf(wallet.address)).toBe(960_000n);
    expect(wanted.calls).toEqual([]);
  });

  it('pays nobody else when the one that was offered is gone; without it there is a new offer', async () => {
    const { key, wallet, headers } = await offered();
    await setOffline(twin);
    for (const isBack of [false, true]) {
      if (isBack) await setOnline(wanted);
      const refused = await invoke(key, {}, headers);
      expect([refused.status, refused.body.error.code]).toEqual([503, 'AGENT_UNAVAILABLE']);
      expect(refused.body.error.agentId).toBe(twin.id);
    }
    const anew = await invoke(key);
    expect([anew.status, anew.body.error.agentId, anew.body.error.payment.amount]).toEqual([402, undefined, '0.05']);
    expect((await invoke(key, {}, await payV2(h, wallet, anew))).body.data).toMatchObject({ agentId: wanted.id });
    await setOffline(wanted);
    expect(await h.usdcOf(wallet.address)).toBe(950_000n);
  });

  it('by a voucher finds its call also when the offer has expired, and then pays no alternative any more', async () => {
    const { key, unpaid } = await offered();
    const later = await invoke(key);
    const payer = newVoucherPayer(h);
    await payer.fund(1_000_000n);
    const headers = payer.pay(unpaid, 40_000n);
    const first = (await invoke(key, {}, headers)).body.data;
    expect(first).toMatchObject({ ...instead(), status: 'completed' });
    const laterMs = h.ctx.clock.now().getTime() + 16 * 60_000;
    using _later = vi.spyOn(h.ctx.clock, 'now').mockImplementation(() => new Date(laterMs));
    expect((await invoke(key, {}, headers)).body.data).toEqual(first);
    // Nobody has agreed to what the alternative may ask by now.
    const unbought = await invoke(key, {}, payer.pay(later, 80_000n));
    expect([unbought.status, unbought.body.error.agentId]).toEqual([503, wanted.id]);
    expect(twin.calls).toHaveLength(1);
  });

  it('holds at its price for the time of the offer, whatever the alternative asks now', async () => {
    const { key, wallet, headers } = await offered();
    const reprice = (perRequest: string) =>
      h.request('PUT', `/agents/${twin.id}`, { key: owner.key, body: { rates: { perRequest } } });
    await reprice('0.90');
    expect((await invoke(key, {}, headers)).body.data).toMatchObject({ ...instead(), cost: '0.04' });
    await reprice('0.04');
    expect(await h.usdcOf(wallet.address)).toBe(960_000n);
  });

  it('for the agent asked for, which went offline since, pays no alternative', async () => {
    await setOnline(wanted);
    const { key } = await h.newAccount();
    const wallet = await h.newWallet(1_000_000n);
    const headers = await payV2(h, wallet, await invoke(key));
    await setOffline(wanted);
    const refused = await invoke(key, {}, headers);
    expect([refused.status, refused.body.error.agentId]).toEqual([503, wanted.id]);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
  });

  it('is refused when its offer names another agent than was offered, and in version 1, which names none', async () => {
    const { key, wallet, unpaid, headers } = await offered();
    const { extra } = JSON.parse(Buffer.from(headers['payment-signature'] ?? '', 'base64').toString()).accepted;
    const forged = await payV2(h, wallet, unpaid, { extra: { ...extra, agentId: dear.id } });
    expect((await invoke(key, {}, forged)).status).toBe(503);
    const old = await invoke(key, {}, await payV1(h, wallet, unpaid));
    expect([old.status, old.body.error.details.fields[0].path]).toEqual([400, 'fallback']);
    const without = await invoke(key, { fallback: false }, headers);
    expect(without.status).toBe(503);
    expect(await h.usdcOf(wallet.address)).toBe(1_000_000n);
    expect((await invoke(key, {}, headers)).body.data).toMatchObject(instead());
  });
});
