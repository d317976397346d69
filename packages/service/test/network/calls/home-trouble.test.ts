import { parseUsdc } from '@agent-network/contracts/money';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { findMoneyContradictions } from '../../../src/calls/finish/audit-money.ts';
import { settleBills } from '../../../src/calls/finish/settle-bills.ts';
import { settleHomeCall } from '../../../src/calls/remote/settle-home-calls.ts';
import { recoverInvocations } from '../../../src/calls/run/recover-invocations.ts';
import { authorizationDigest } from '../../../src/chain/keys/authorization.ts';
import { payoutNonce } from '../../../src/chain/keys/payment-nonces.ts';
import { openSse, problemWithStream } from '../../calls/stream/support/sse-client.ts';
import { chunk, progress, result, says, spokenBy } from '../../calls/stream/support/streaming-agent.ts';
import { createTill } from '../../support/billing-agent.ts';
import { askDatabase, contradictions } from '../../support/books.ts';
import { submitPayment, submitSigned } from '../../support/chain-actions.ts';
import { beforeDeadline } from '../../support/deadline.ts';
import type { Harness } from '../../support/harness.ts';
import { leaveOverdue } from '../../support/leave-overdue.ts';
import { answerWith, type Behaviour, echo, startTestAgent, type TestAgent } from '../../support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded, untilUsdc } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { payV2 } from '../../support/x402-payer.ts';
import { type Passed, type Rule, textOf } from './support/home-proxy.ts';
import { listNode, listRemote } from './support/list-node.ts';
import { moveOn, startBehindProxy, startBeside, untilSettled } from './support/two-nodes.ts';

const sync = { 'x-sync': 'true' };

let home: Awaited<ReturnType<typeof startBehindProxy>>;
let here: Harness;
let agent: TestAgent;
let client: Client;
let nodeId: string;

beforeAll(async () => {
  home = await startBehindProxy({ syncWaitMs: 200 });
  here = await startBeside(home);
  agent = await startTestAgent(home, { perRequest: '0.05' });
  await listNode(home, here);
  nodeId = await listNode(here, home);
  await listRemote(here, nodeId, agent);
  client = await newClient(here, '10');
});
afterEach(async () => {
  home.proxy.rule(null);
  for (const node of [home, here]) {
    await node.ctx.settler.idle();
    expect(await contradictions(node.databaseUrl)).toEqual([]);
    expect(await findMoneyContradictions(node.ctx)).toEqual([]);
    expect((await node.ctx.reserves.read()).status).not.toBe('drift');
  }
});
afterAll(async () => {
  await agent.die();
  await here.stop();
  await home.stop();
});

const call = (more: object = {}, headers: Record<string, string> = sync) =>
  here.request('POST', `/invoke/${agent.id}`, { key: client.key, body: { task: 'hello', ...more }, headers });
const invoke = async (behaviour: Behaviour, more: object = {}, headers = sync) => {
  agent.behave(behaviour);
  return (await call(more, headers)).body.data;
};
const soon = (ms: number) => ({ deadline: new Date(Date.now() + ms).toISOString() });
const untilRead = (requestId: string, wanted: object) =>
  until(async () => {
    await moveOn(here);
    const { data } = (await here.request('GET', `/invoke/${requestId}`, { key: client.key })).body;
    return Object.entries(wanted).every(([name, value]) => data[name] === value) ? data : null;
  });
const billsOf = (requestId: string) =>
  askDatabase(here.databaseUrl, `select state from chain_payment where subject_id = $1 and purpose = 'bill'`, [
    requestId,
  ]);
const homeIdOf = async (requestId: string): Promise<string> =>
  (
    await askDatabase<{ id: string }>(
      here.databaseUrl,
      'select home_request_id as id from home_call where request_id = $1',
      [requestId],
    )
  )[0]?.id ?? '';
const isCall = ({ method, path }: Passed) => method === 'POST' && path === `/invoke/${agent.id}`;
const isPaid = ({ headers }: Passed) => headers['payment-signature'] !== undefined;
/** Does something else with the first calls that it is about. */
function times(count: number, isAbout: (passed: Passed) => boolean, rule: (passed: Passed) => unknown): Rule {
  let left = count;
  return async (passed) => {
    if (!isAbout(passed) || left-- <= 0) return false;
    await rule(passed);
    return true;
  };
}
/** Loses what the home answers to paid calls and to questions about requests. */
const losesAnswers: Rule = async ({ method, path, pass, response, headers }) => {
  if (!path.startsWith('/invoke/') || (method === 'POST' && headers['payment-signature'] === undefined)) return false;
  await textOf(await pass());
  return !!response.destroy();
};
const answer =
  (status: number, body: unknown, headers = {}) =>
  (passed: Passed) =>
    void passed.response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify(body));
const spent = async (work: () => Promise<void>) => {
  const before = parseUsdc((await balanceOf(here, client.key)).available);
  await work();
  return before - parseUsdc((await balanceOf(here, client.key)).available);
};

describe('a home that answers before it is done', () => {
  it('is followed to the result', async () => {
    const slow: Behaviour = (request, response) => void setTimeout(() => void echo(request, response), 500);
    expect(await invoke(slow)).toMatchObject({ status: 'completed', result: { echo: 'hello' }, cost: '0.05' });
    await untilSettled(home, here);
  });

  it('streams what its agent says, and after a cut goes on without loss or repetition', async () => {
    const speech = spokenBy();
    agent.behave(speech.behaviour);
    home.proxy.seen.length = 0;
    let cuts = 0;
    home.proxy.rule(async (passed) => {
      if (!passed.path.includes('/invoke/') || cuts >= 3) return false;
      const got = await passed.pass();
      if (!got.headers['content-type']?.startsWith('text/event-stream')) {
        passed.response.writeHead(got.statusCode ?? 0, got.headers);
        got.pipe(passed.response);
        return true;
      }
      cuts += 1;
      passed.response.writeHead(200, got.headers);
      let said = 0;
      got.on('data', (bytes: Buffer) => {
        passed.response.write(bytes);
        said += (bytes.toString().match(/event: invocation.chunk/g) ?? []).length;
        if (said > 0) setImmediate(() => passed.response.destroy());
      });
      return true;
    });
    const stream = await openSse(here, 'POST', `/invoke/${agent.id}`, {
      key: client.key,
      body: { task: 'x', stream: true },
    });
    const talk = await speech.next();
    talk.say(progress({ percent: 1 }));
    const events = await stream.take(3);
    for (let n = 1; n <= 6; n++) {
      talk.say(chunk({ n }));
      events.push(...(await stream.take(1)));
    }
    talk.say(result('streamed'));
    talk.end();
    events.push(...(await stream.rest()));
    expect(problemWithStream(events)).toBeNull();
    expect(events.slice(3, -1).map(({ data }) => data.n)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(events.at(-1)).toMatchObject({ type: 'invocation.completed', data: { result: 'streamed', cost: '0.05' } });
    expect(new Set(events.map(({ data }) => data.requestId)).size).toBe(1);
    expect(cuts).toBe(3);
    expect(home.proxy.seen.some(({ headers }) => headers['last-event-id'] === '4')).toBe(true);
    expect(agent.calls.filter(({ body }) => body.stream)).toHaveLength(1);
    await untilSettled(home, here);
  });

  it('is cancelled with the request here, and what it gives back comes back', async () => {
    const working = Promise.withResolvers<void>();
    const before = await balanceOf(here, client.key);
    const { requestId } = await invoke(() => working.resolve(), {}, {} as typeof sync);
    await working.promise;
    const { data } = (await here.request('POST', `/invoke/${requestId}/cancel`, { key: client.key })).body;
    expect(data).toMatchObject({ cancelled: true, refund: '0.00' });
    expect(await untilRead(requestId, { status: 'cancelled', cost: '0.00' })).toMatchObject({ refund: '0.05' });
    expect(await balanceOf(here, client.key)).toEqual(before);
    const [there] = await askDatabase(home.databaseUrl, 'select status from invocation where id = $1', [
      await homeIdOf(requestId),
    ]);
    expect(there).toEqual({ status: 'cancelled' });
    await untilSettled(home, here);
  });

  it('that hangs is asked about five of its requests at a time, and about all of them in the end', async () => {
    let working = 0;
    agent.behave(() => {
      working += 1;
    });
    const calls = await Promise.all(Array.from({ length: 7 }, () => call({}, {})));
    const ids: string[] = calls.map(({ body }) => body.data.requestId);
    await expect.poll(() => working).toBe(7);
    home.proxy.rule((passed) => !!passed.response.destroy());
    for (const id of ids) await here.request('POST', `/invoke/${id}/cancel`, { key: client.key });
    for (const id of ids) await untilRead(id, { status: 'cancelled' });
    const held: Passed[] = [];
    home.proxy.rule((passed) => passed.path.startsWith('/invoke/req_') && !!held.push(passed));
    const makeDue = () =>
      askDatabase(here.databaseUrl, `update home_call set next_look_at = '2020-01-01' where request_id = any($1)`, [
        ids,
      ]);
    await makeDue();
    await expect.poll(() => held.length).toBe(5);
    const left = await askDatabase(
      here.databaseUrl,
      `select 1 from home_call where request_id = any($1) and next_look_at = '2020-01-01'`,
      [ids],
    );
    expect(left).toHaveLength(2);
    home.proxy.rule(null);
    for (const { response } of held) response.destroy();
    await makeDue();
    for (const id of ids) expect(await untilRead(id, { cost: '0.00' })).toMatchObject({ refund: '0.05' });
    await untilSettled(home, here);
  });

  it('gets a cancellation later if it does not answer', async () => {
    const working = Promise.withResolvers<void>();
    const { requestId } = await invoke(() => working.resolve(), {}, {} as typeof sync);
    await working.promise;
    home.proxy.rule((passed) => !!passed.response.destroy());
    await here.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    await until(async () => home.proxy.seen.some(({ path }) => path.startsWith(`/invoke/req_`)));
    expect(await untilRead(requestId, { status: 'cancelled' })).toMatchObject({ cost: '0.05', refundExpected: null });
    home.proxy.rule(null);
    await settleHomeCall(here.ctx, requestId);
    expect(await untilRead(requestId, { cost: '0.00' })).toMatchObject({ refund: '0.05' });
    await untilSettled(home, here);
  });
});

describe('nothing is signed, and all of it comes back at once', () => {
  const expectUntouched = async (record: { requestId: string }, code: string) => {
    expect(record).toMatchObject({
      status: 'failed',
      cost: '0.00',
      refund: '0.05',
      refundExpected: null,
      error: { code },
    });
    expect(await billsOf(record.requestId)).toEqual([]);
  };
  const changed402 = (
    change: (required: { accepts: { payTo: string }[] }, body: { error: { payment: object } }) => void,
  ) =>
    times(1, isCall, async ({ pass, response }) => {
      const got = await pass();
      const body = JSON.parse(await textOf(got));
      const required = JSON.parse(Buffer.from(String(got.headers['payment-required']), 'base64').toString());
      change(required, body);
      const header = Buffer.from(JSON.stringify(required)).toString('base64');
      response
        .writeHead(402, { 'content-type': 'application/json', 'payment-required': header })
        .end(JSON.stringify(body));
    });

  it('when the home wants to be paid on another wallet', async () => {
    home.proxy.rule(
      changed402(({ accepts }) => {
        for (const each of accepts) each.payTo = `0x${'11'.repeat(20)}`;
      }),
    );
    expect(await spent(async () => expectUntouched(await invoke(echo), 'bill_not_payable'))).toBe(0n);
  });

  it('when it does not say which request its bill is for, or names one for two', async () => {
    home.proxy.rule(
      changed402((_required, body) => {
        body.error.payment = {};
      }),
    );
    await expectUntouched(await invoke(echo), 'bill_not_payable');
    const paid = await invoke(echo);
    const memo = await homeIdOf(paid.requestId);
    home.proxy.rule(
      changed402((_required, body) => {
        body.error.payment = { memo };
      }),
    );
    await expectUntouched(await invoke(echo), 'bill_not_payable');
    await untilSettled(home, here);
  });

  it('when its price has risen', async () => {
    const dear = await startTestAgent(home, { perRequest: '0.06' });
    await listRemote(here, nodeId, dear);
    const { data } = (
      await here.request('POST', `/invoke/${dear.id}`, { key: client.key, body: { task: 'x' }, headers: sync })
    ).body;
    await expectUntouched(data, 'bill_too_high');
    expect(dear.calls).toEqual([]);
    await dear.die();
  });

  it('when it can not be reached; it is looked at soon', async () => {
    home.proxy.rule((passed) => !!passed.response.destroy());
    await expectUntouched(await invoke(echo), 'agent_unreachable');
    const [node] = await askDatabase(
      here.databaseUrl,
      `select next_check_at < now() + interval '1 minute' as due from network_node where id = $1`,
      [nodeId],
    );
    expect(node).toEqual({ due: true });
  });

  it('when its agent is not there', async () => {
    const gone = await startTestAgent(home, { perRequest: '0.05' });
    await listRemote(here, nodeId, gone);
    const ask = async () =>
      (await here.request('POST', `/invoke/${gone.id}`, { key: client.key, body: { task: 'x' }, headers: sync })).body
        .data;
    await askDatabase(home.databaseUrl, `update agent set status = 'offline' where id = $1`, [gone.id]);
    await expectUntouched(await ask(), 'agent_unreachable');
    await askDatabase(home.databaseUrl, `update agent set status = 'removed' where id = $1`, [gone.id]);
    await expectUntouched(await ask(), 'agent_removed');
    await gone.die();
  });

  it('when it asks us to sign something else than our sign-in', async () => {
    const other = await startBeside(here);
    await listRemote(other, await listNode(other, home), agent);
    const rich = await newClient(other, '1');
    home.proxy.seen.length = 0;
    home.proxy.rule(
      times(
        9,
        ({ path }) => path === '/auth/challenge',
        async ({ pass, response }) => {
          const body = JSON.parse(await textOf(await pass()));
          body.data.message = body.data.message.replace(/^[^ ]+/, 'bank.example');
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
        },
      ),
    );
    const { data } = (
      await other.request('POST', `/invoke/${agent.id}`, { key: rich.key, body: { task: 'x' }, headers: sync })
    ).body;
    expect(data).toMatchObject({
      status: 'failed',
      cost: '0.00',
      refund: '0.05',
      error: { code: 'agent_unreachable' },
    });
    expect(home.proxy.seen.filter(({ path }) => path.startsWith('/auth/')).map(({ path }) => path)).toEqual([
      '/auth/challenge',
    ]);
    await other.stop();
  });
});

describe('a home in trouble', () => {
  it('is asked again under the same key with the same payment until it answers', async () => {
    agent.calls.length = 0;
    home.proxy.seen.length = 0;
    const broken = times(2, isPaid, ({ response }) => response.destroy());
    home.proxy.rule(broken);
    expect(
      await spent(async () => expect(await invoke(echo)).toMatchObject({ status: 'completed', cost: '0.05' })),
    ).toBe(50_000n);
    const paid = home.proxy.seen.filter(isPaid);
    // Twice its connection was lost; an answer that is slow on a busy machine is asked for once more.
    expect(paid.length).toBeGreaterThanOrEqual(3);
    expect(new Set(paid.map(({ headers }) => headers['payment-signature'])).size).toBe(1);
    expect(new Set(home.proxy.seen.filter(isCall).map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(new Set(home.proxy.seen.filter(isCall).map(({ body }) => body)).size).toBe(1);
    expect(agent.calls).toHaveLength(1);
    await untilSettled(home, here);
  });

  it('that loses its answers has run the agent once', async () => {
    agent.calls.length = 0;
    const lose = times(2, isPaid, async ({ pass, response }) => {
      await textOf(await pass());
      response.destroy();
    });
    home.proxy.rule(lose);
    expect(await invoke(echo)).toMatchObject({ status: 'completed', cost: '0.05' });
    expect(agent.calls).toHaveLength(1);
    await untilSettled(home, here);
  });

  it('that has no calls left for us is waited for', async () => {
    const limited = { error: { code: 'RATE_LIMITED', message: 'used up', details: { retryAfterS: 1 } } };
    const pending = { error: { code: 'PAYMENT_PENDING', message: 'not confirmed', details: {} } };
    const isOf = (task: string) => (passed: Passed) => isCall(passed) && passed.body.includes(task);
    const busy = times(1, isOf('busy'), answer(429, limited, { 'retry-after': '1' }));
    const slow = times(1, (each) => isOf('slow')(each) && isPaid(each), answer(503, pending, { 'retry-after': '1' }));
    home.proxy.rule(async (passed) => (await busy(passed)) || slow(passed));
    const both = await Promise.all([invoke(echo, { task: 'busy' }), invoke(echo, { task: 'slow' })]);
    for (const each of both) expect(each).toMatchObject({ status: 'completed' });
    home.proxy.rule(times(99, isCall, answer(429, limited, { 'retry-after': '60' })));
    expect(await invoke(echo, soon(30_000))).toMatchObject({
      status: 'failed',
      cost: '0.00',
      error: { code: 'agent_unreachable' },
    });
    await untilSettled(home, here);
  });

  it('that says "retry after 0" is not asked without pauses', async () => {
    const limited = { error: { code: 'RATE_LIMITED', message: 'used up', details: { retryAfterS: 0 } } };
    home.proxy.rule(times(9999, isCall, answer(429, limited, { 'retry-after': '0' })));
    const record = await beforeDeadline(1500, async (deadline) => {
      home.proxy.seen.length = 0;
      return (await invoke(echo, { deadline })) ?? null;
    });
    expect(record).toMatchObject({ status: 'failed', cost: '0.00' });
    expect(home.proxy.seen.filter(isCall).length).toBeLessThan(10);
  });

  it('that takes our key no more is signed in at again, once for calls that come together', async () => {
    await invoke(echo);
    await home.ctx.db.query('revoke-all', 'update api_key set revoked_at = now()', []);
    home.proxy.seen.length = 0;
    const records = await Promise.all([invoke(echo), invoke(echo), invoke(echo)]);
    expect(records.map(({ status }) => status)).toEqual(['completed', 'completed', 'completed']);
    expect(home.proxy.seen.filter(({ path }) => path === '/auth/sign-in')).toHaveLength(1);
    await untilSettled(home, here);
  });

  it('that does not collect its bill has taken nothing', async () => {
    home.proxy.rule(times(999, isPaid, answer(500, {})));
    const before = await balanceOf(here, client.key);
    const record = await beforeDeadline(1200, async (deadline) => {
      const data = await invoke(echo, { deadline });
      return data && (await billsOf(data.requestId)).length > 0 ? data : null;
    });
    expect(record).toMatchObject({
      status: 'failed',
      cost: '0.05',
      refund: '0.00',
      error: { code: 'deadline_exceeded' },
    });
    await askDatabase(here.databaseUrl, `update chain_payment set valid_before = 0 where subject_id = $1`, [
      record.requestId,
    ]);
    await settleBills(here.ctx);
    expect(await untilRead(record.requestId, { cost: '0.00' })).toMatchObject({ refund: '0.05', refundExpected: null });
    expect(await balanceOf(here, client.key)).toEqual(before);
    await untilSettled(home, here);
  });
});

describe('a call whose process was away until after the deadline', () => {
  const untilThere = (requestId: string, status: string) =>
    expect
      .poll(async () =>
        askDatabase(home.databaseUrl, 'select status from invocation where id = $1', [await homeIdOf(requestId)]),
      )
      .toEqual([{ status }]);
  const takeOver = async (requestId: string) => {
    await leaveOverdue(here, requestId);
    home.proxy.rule(null);
    await recoverInvocations(here.ctx);
  };

  it('has the result that its home completed and was paid for', async () => {
    home.proxy.rule(losesAnswers);
    const { requestId } = await invoke(echo, {}, {} as typeof sync);
    await untilThere(requestId, 'completed');
    await takeOver(requestId);
    const record = await untilEnded(here, client.key, requestId);
    expect(record).toMatchObject({ status: 'completed', result: { echo: 'hello' }, cost: '0.05' });
    await untilSettled(home, here);
  });

  it('has all that was streamed, too', async () => {
    home.proxy.rule(losesAnswers);
    const { requestId } = await invoke(
      says(chunk({ n: 1 }), chunk({ n: 2 }), result('whole')),
      { stream: true },
      {} as typeof sync,
    );
    await untilThere(requestId, 'completed');
    await takeOver(requestId);
    const stream = await openSse(here, 'GET', `/invoke/${requestId}/events`, { key: client.key });
    const events = await stream.rest();
    expect(problemWithStream(events)).toBeNull();
    expect(events.slice(2, -1).map(({ data }) => data.n)).toEqual([1, 2]);
    expect(events.at(-1)).toMatchObject({ type: 'invocation.completed', data: { result: 'whole', cost: '0.05' } });
    await untilSettled(home, here);
  });

  it('fails at its deadline while its home still works: the home cancels it, and its refund arrives', async () => {
    const working = Promise.withResolvers<void>();
    const { requestId } = await invoke(() => working.resolve(), {}, {} as typeof sync);
    await working.promise;
    await takeOver(requestId);
    expect(await untilRead(requestId, { cost: '0.00' })).toMatchObject({
      ...{ status: 'failed', refund: '0.05', error: { code: 'deadline_exceeded' } },
    });
    await untilThere(requestId, 'cancelled');
    await untilSettled(home, here);
  });
});

describe('a refund', () => {
  it("that comes before its request has ended here is the payer's with its end", async () => {
    const before = await balanceOf(here, client.key);
    const { key } = await here.newAccount();
    const wallet = await here.newWallet(50_000n);
    home.proxy.rule(losesAnswers);
    agent.behave(answerWith(500, {}));
    const { requestId } = (await call({}, {})).body.data;
    const hook = { task: 'hello', webhookUrl: 'http://127.0.0.1:9/' };
    const offered = await here.request('POST', `/invoke/${agent.id}`, { key, body: hook });
    const headers = await payV2(here, wallet, offered);
    const paid = (await here.request('POST', `/invoke/${agent.id}`, { key, body: hook, headers })).body.data;
    const returned = async () => {
      await moveOn(here);
      const rows = await askDatabase(
        here.databaseUrl,
        `select from invocation where id = any($1) and returned_micro = 50000 and status = 'processing'`,
        [[requestId, paid.requestId]],
      );
      return rows.length === 2;
    };
    await until(returned);
    home.proxy.rule(null);
    expect(await untilEnded(here, client.key, requestId)).toMatchObject({
      status: 'failed',
      cost: '0.00',
      refund: '0.05',
    });
    expect(await untilEnded(here, key, paid.requestId)).toMatchObject({
      cost: '0.00',
      refund: '0.05',
      refundExpected: null,
    });
    expect(await balanceOf(here, client.key)).toEqual(before);
    expect(await untilUsdc(here, wallet.address, 50_000n)).toBe(50_000n);
    await untilSettled(home, here);
  });

  it('comes in two parts when the agent bills its home directly and does not collect', async () => {
    const till = createTill(home);
    const biller = await startTestAgent(home, {
      perRequest: '0.05',
      behaviour: till.bill({ collects: 'never', work: answerWith(500, {}) }),
    });
    await listRemote(here, nodeId, biller);
    const { key } = await here.newAccount();
    const wallet = await here.newWallet(50_000n);
    const body = { task: 'x' };
    const unpaid = await here.request('POST', `/invoke/${biller.id}`, { key, body });
    const headers = await payV2(here, wallet, unpaid);
    const before = await balanceOf(here, client.key);
    const [{ requestId }, paid] = await Promise.all([
      here
        .request('POST', `/invoke/${biller.id}`, { key: client.key, body, headers: sync })
        .then((got) => got.body.data),
      here.request('POST', `/invoke/${biller.id}`, { key, body, headers }).then((got) => got.body.data),
    ]);
    expect(await untilRead(requestId, { cost: '0.03' })).toMatchObject({ refund: '0.02', refundExpected: null });
    expect(await untilUsdc(here, wallet.address, 20_000n)).toBe(20_000n);
    await askDatabase(home.databaseUrl, `update chain_payment set valid_before = 0 where purpose = 'bill'`);
    await settleBills(home.ctx);
    expect(await untilRead(requestId, { cost: '0.00' })).toMatchObject({ refund: '0.05', refundExpected: null });
    expect(await balanceOf(here, client.key)).toEqual(before);
    expect(await untilUsdc(here, wallet.address, 50_000n)).toBe(50_000n);
    expect(await untilEnded(here, key, paid.requestId)).toMatchObject({ cost: '0.00', refund: '0.05' });
    await untilSettled(home, here);
    const { payments } = (await here.request('GET', '/payments/history', { key })).body.data;
    const refunds = payments.filter(({ type }: { type: string }) => type === 'refund');
    expect(
      refunds.map(({ amount, status }: { amount: string; status: string }) => `${amount} ${status}`).sort(),
    ).toEqual(['0.02 confirmed', '0.03 confirmed']);
    await biller.die();
  });
});

describe('a transfer that looks like a refund', () => {
  it('goes to nobody when a stranger sends it under the nonce of a refund', async () => {
    const gate = Promise.withResolvers<void>();
    const { requestId } = await invoke(() => gate.resolve(), soon(60_000), {} as typeof sync);
    await gate.promise;
    const nonce = payoutNonce(here.ctx.chain.chainId, 'refund', await homeIdOf(requestId)) as `0x${string}`;
    const unpaid = await here.request('POST', '/payments/treasury/deposit', {
      key: client.key,
      body: { amount: '0.05', treasuryId: client.treasuryId },
    });
    const wallet = await here.newWallet(50_000n);
    await submitPayment(here.rpcUrl, here, await payV2(here, wallet, unpaid, { nonce }));
    await moveOn(here);
    expect(await untilRead(requestId, { status: 'processing' })).toMatchObject({ cost: null });
    await here.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    expect(await untilRead(requestId, { cost: '0.00' })).toMatchObject({ refund: '0.05' });
    const [row] = await askDatabase(
      here.databaseUrl,
      'select returned_micro::int as returned from invocation where id = $1',
      [requestId],
    );
    expect(row).toEqual({ returned: 50_000 });
  });

  it('is a deposit of the home when it is more than the home was paid; less is a refund all the same', async () => {
    const rogue = await startBeside(home);
    await newClient(rogue, '1');
    const its = await startTestAgent(rogue, { perRequest: '0.05' });
    const rogueId = await listNode(here, rogue);
    await listRemote(here, rogueId, its);
    const callIts = async () =>
      (await here.request('POST', `/invoke/${its.id}`, { key: client.key, body: { task: 'x' }, headers: sync })).body
        .data;
    const sendAsRefund = async (requestId: string, valueMicro: bigint) => {
      const { chain, wallet } = rogue.ctx;
      const authorization = {
        ...{ from: wallet.address, to: here.ctx.wallet.address, valueMicro, validAfterS: 0n, validBeforeS: 2n ** 40n },
        nonce: payoutNonce(chain.chainId, 'refund', await homeIdOf(requestId)),
      };
      const signature = await wallet.signHash(authorizationDigest(chain.domainSeparator, authorization));
      await submitSigned(here.rpcUrl, here, { authorization, signature });
    };
    const [dear, cheap] = [await callIts(), await callIts()];
    await sendAsRefund(dear.requestId, 50_001n);
    await sendAsRefund(cheap.requestId, 10_000n);
    expect(await untilRead(cheap.requestId, { cost: '0.04' })).toMatchObject({ refund: '0.01', refundExpected: null });
    expect(await untilRead(dear.requestId, { cost: '0.05' })).toMatchObject({ refund: '0.00' });
    const credited = async () => {
      await moveOn(here);
      const rows = await askDatabase(
        here.databaseUrl,
        `select p.value_micro::int as micro, p.purpose, p.ledger_account_id = t.id as "isInTreasury" from chain_payment p
         join network_node n on n.account_id = p.account_id
         join ledger_account t on t.account_id = n.account_id and t.kind = 'treasury' where n.id = $1`,
        [rogueId],
      );
      return rows.length > 0 ? rows : null;
    };
    const shown = await until(credited);
    expect(shown).toEqual([{ micro: 50_001, purpose: 'deposit', isInTreasury: true }]);
    await its.die();
    await rogue.stop();
  });
});

describe('a call from another node', () => {
  it('is not passed on', async () => {
    const via = await call({}, { ...sync, 'x-agent-network-via': 'http://node.test' });
    expect([via.status, via.body.error.code]).toEqual([404, 'NOT_FOUND']);
    expect(via.body.error.message).toContain(home.baseUrl);
    const peer = await newClient(here, '1');
    const beNode = 'update network_node set wallet = (select address from account where id = $1) where id = $2';
    await here.ctx.db.query('', beNode, [peer.accountId, nodeId]);
    await here.ctx.db.query('', 'update account set node_url = $2 where id = $1', [peer.accountId, home.baseUrl]);
    const options = { key: peer.key, body: { task: 'x' }, headers: sync };
    expect((await here.request('POST', `/invoke/${agent.id}`, options)).status).toBe(404);
    const bulk = { key: peer.key, body: { task: 'x', agents: [agent.id] } };
    expect((await here.request('POST', '/invoke/bulk', bulk)).status).toBe(404);
    const local = await startTestAgent(here, { perRequest: '0.05' });
    const asked = await here.request('POST', `/invoke/${local.id}`, {
      ...options,
      headers: { ...sync, 'x-agent-network-via': 'http://another.test' },
    });
    expect(asked.body.data).toMatchObject({ status: 'completed' });
    await local.die();
  });
});

it('a stream that comes over several connections is no more than one stream may be', async () => {
  const free = await startTestAgent(home, { perRequest: '0' });
  await listRemote(here, nodeId, free, '0');
  const homeRequestId = 'req_long';
  const event = (id: number, type: string, data: object) =>
    `id: ${id}\nevent: ${type}\ndata: ${JSON.stringify({ requestId: homeRequestId, ...data })}\n\n`;
  const perConnection = 80;
  let last = 2;
  home.proxy.rule(({ method, path, response }) => {
    const isBegin = method === 'POST' && path === `/invoke/${free.id}`;
    if (!isBegin && path !== `/invoke/${homeRequestId}/events`) return false;
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (isBegin) response.write(event(1, 'invocation.created', { status: 'pending' }));
    // 24 MiB in all, if they are taken.
    if (last >= 384) return !!response.end(event(last + 1, 'invocation.completed', { status: 'completed', result: 1 }));
    for (let n = 0; n < perConnection; n++)
      response.write(event(++last, 'invocation.chunk', { chunk: 'x'.repeat(65_000) }));
    return !!response.end();
  });
  const body = { task: 'x', stream: true };
  const { requestId } = (await here.request('POST', `/invoke/${free.id}`, { key: client.key, body })).body.data;
  const record = await untilEnded(here, client.key, requestId);
  expect(record).toMatchObject({ status: 'failed', error: { code: 'response_too_large' } });
  await free.die();
});

it('an agent that costs nothing is called without a payment', async () => {
  const free = await startTestAgent(home, { perRequest: '0', behaviour: says(chunk('a'), result('free')) });
  await listRemote(here, nodeId, free, '0');
  const body = { task: 'x', stream: true };
  const stream = await openSse(here, 'POST', `/invoke/${free.id}`, { key: client.key, body });
  expect((await stream.rest()).at(-1)).toMatchObject({
    type: 'invocation.completed',
    data: { result: 'free', cost: '0.00' },
  });
  free.behave(answerWith(500, {}));
  const { requestId } = (await here.request('POST', `/invoke/${free.id}`, { key: client.key, body: { task: 'x' } }))
    .body.data;
  expect(await untilEnded(here, client.key, requestId)).toMatchObject({
    status: 'failed',
    cost: '0.00',
    refund: '0.00',
  });
  await free.die();
});

it('a piece of text that is longer as JSON than its agent said it comes through whole', async () => {
  // 64 KiB as the agent says it; as JSON each line break has two bytes.
  const text = 'x\n'.repeat(32 * 1024).slice(0, -1);
  const lines = { event: 'chunk', data: text.replaceAll('\n', '\ndata: ') };
  const free = await startTestAgent(home, { perRequest: '0', behaviour: says(lines, result('free')) });
  await listRemote(here, nodeId, free, '0');
  const body = { task: 'x', stream: true };
  const stream = await openSse(here, 'POST', `/invoke/${free.id}`, { key: client.key, body });
  const events = await stream.rest();
  expect(problemWithStream(events)).toBeNull();
  expect(events.at(-1)).toMatchObject({ type: 'invocation.completed', data: { result: 'free' } });
  expect(events.find(({ type }) => type === 'invocation.chunk')?.data.chunk === text).toBe(true);
  await free.die();
});

describe('a streamed call that costs nothing', () => {
  let free: TestAgent;
  beforeAll(async () => {
    free = await startTestAgent(home, { perRequest: '0' });
    await listRemote(here, nodeId, free, '0');
  });
  afterAll(() => free.die());

  const open = (more: object = {}) =>
    openSse(here, 'POST', `/invoke/${free.id}`, { key: client.key, body: { task: 'x', stream: true, ...more } });

  it('is repeated under the same key if its stream is cut before the first event, and runs once', async () => {
    const speech = spokenBy();
    free.behave(speech.behaviour);
    free.calls.length = 0;
    const isBegin = ({ method, path }: Passed) => method === 'POST' && path === `/invoke/${free.id}`;
    home.proxy.seen.length = 0;
    home.proxy.rule(
      times(1, isBegin, async ({ pass, response }) => {
        const { headers } = await pass();
        response.writeHead(200, headers).flushHeaders();
        setImmediate(() => response.destroy());
      }),
    );
    const stream = await open(soon(20_000));
    const talk = await speech.next();
    talk.say(chunk({ n: 1 }));
    const events = await stream.take(3);
    talk.say(result('whole'));
    talk.end();
    events.push(...(await stream.rest()));
    expect(problemWithStream(events)).toBeNull();
    expect(events.slice(2).map(({ type }) => type)).toEqual(['invocation.chunk', 'invocation.completed']);
    expect(free.calls).toHaveLength(1);
    const begins = home.proxy.seen.filter(isBegin);
    expect(begins.length).toBeGreaterThan(1);
    expect(new Set(begins.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
  });

  it('closes the connection of each answer that it does not read', async () => {
    const speech = spokenBy();
    free.behave(speech.behaviour);
    const unread: Passed['response'][] = [];
    const leaveOpen = ({ response }: Passed, status: number) => {
      unread.push(response);
      response.writeHead(status, { 'content-type': 'application/json' }).write(Buffer.alloc(1024 * 1024));
      return true;
    };
    let begins = 0;
    home.proxy.rule(async (passed) => {
      const { method, path, pass, response } = passed;
      if (method === 'GET' && path.endsWith('/events') && unread.length === 1) return leaveOpen(passed, 404);
      if (method !== 'POST' || path !== `/invoke/${free.id}`) return false;
      begins += 1;
      if (begins === 1) return leaveOpen(passed, 401);
      if (begins > 2) return false;
      const got = await pass();
      response.writeHead(200, got.headers);
      got.on('data', (bytes: Buffer) => {
        response.write(bytes);
        if (bytes.includes('invocation.created')) setImmediate(() => response.destroy());
      });
      return true;
    });
    const stream = await open(soon(20_000));
    const talk = await speech.next();
    await expect.poll(() => unread.length).toBe(2);
    talk.say(result('read'));
    talk.end();
    expect((await stream.rest()).at(-1)).toMatchObject({ type: 'invocation.completed' });
    await expect.poll(() => unread.every(({ destroyed }) => destroyed)).toBe(true);
  });

  it('is cancelled at its home with the request here', async () => {
    const speech = spokenBy();
    free.behave(speech.behaviour);
    const stream = await open();
    const talk = await speech.next();
    talk.say(chunk({ n: 1 }));
    const [created] = await stream.take(3);
    const requestId = String(created?.data.requestId);
    const homeId = String(talk.request.body.request_id);
    expect(await homeIdOf(requestId)).toBe(homeId);
    await here.request('POST', `/invoke/${requestId}/cancel`, { key: client.key });
    const statusesThere = () => askDatabase(home.databaseUrl, 'select status from invocation where id = $1', [homeId]);
    await expect.poll(statusesThere).toEqual([{ status: 'cancelled' }]);
    await talk.closed;
    expect((await stream.rest()).at(-1)).toMatchObject({ type: 'invocation.cancelled' });
  });
});
