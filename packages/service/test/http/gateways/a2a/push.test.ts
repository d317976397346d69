import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, expect, it, vi } from 'vitest';
import { resultTokenOf } from '../../../../src/calls/read-invocation.ts';
import { forgetPushes } from '../../../../src/http/gateways/a2a/send-pushes.ts';
import { contradictions } from '../../../support/books.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { balanceOf, type Client, newClient } from '../../../support/treasury.ts';
import { until } from '../../../support/until.ts';
import { startWatch } from '../../../support/watch.ts';

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

let aheadMs = 0;
let h: Harness;
let buyer: Client;
let agent: TestAgent;
let receiver: Server;
let hook: string;
let got: { path: string | undefined; headers: IncomingHttpHeaders; body: Any }[] = [];
/** Statuses of the next answers; then 200. */
let refusals: number[] = [];
/** Keeps the receiver from answering messages that it is true of. */
let isHeld: (body: Any) => boolean = () => false;
const held: ServerResponse[] = [];
/** Lets the agent answer. */
let answers: ServerResponse[] = [];

beforeAll(async () => {
  receiver = createServer(async (message, response) => {
    let text = '';
    for await (const chunk of message) text += chunk;
    const body = JSON.parse(text);
    got.push({ path: message.url, headers: message.headers, body });
    if (isHeld(body)) return void held.push(response);
    response.writeHead(refusals.shift() ?? 200).end();
  });
  await once(receiver.listen(0, '127.0.0.1'), 'listening');
  hook = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hook`;
  h = await startHarness({ clock: { now: () => new Date(Date.now() + aheadMs) } });
  buyer = await newClient(h, '10');
  agent = await startTestAgent(h, { behaviour: (_request, response) => void answers.push(response) });
});
afterAll(async () => {
  await agent?.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h?.stop();
  receiver.close();
});
beforeEach(() => {
  got = [];
  refusals = [];
  answers = [];
});

const finish = async () => {
  await untilTrue(() => answers.length > 0);
  answers.shift()?.end(JSON.stringify({ result: { text: 'done' } }));
};
const untilTrue = (is: () => boolean) => until(async () => is());

const rpc = async (
  method: string,
  params: object,
  { version = '1.0', key = buyer.key as string | null, headers = {} as Record<string, string> } = {},
): Promise<Any> => {
  const body = { jsonrpc: '2.0', id: 1, method, params };
  const all = { 'a2a-version': version, ...headers };
  return (await h.request('POST', `/a2a/${agent.id}`, { key: key ?? undefined, headers: all, body })).body;
};
let messages = 0;
const send = (config?: object, key?: string): Promise<Any> =>
  rpc(
    'SendMessage',
    {
      message: { messageId: `push-${++messages}`, role: 'ROLE_USER', parts: [{ text: 'go' }] },
      configuration: { returnImmediately: true, ...(config ? { taskPushNotificationConfig: config } : {}) },
    },
    key === undefined ? {} : { key },
  );
const isEnd = ({ body }: { body: Any }) => body.statusUpdate?.status.state === 'TASK_STATE_COMPLETED';

it('tells of the task, its result and its end, with what the receiver wants to be sent', async () => {
  const authentication = { scheme: 'Bearer', credentials: 'secret-1' };
  const { task } = (await send({ url: hook, token: 'token-1', authentication })).result;
  await untilTrue(() => got.length > 0);
  await finish();
  await untilTrue(() => got.some(isEnd));
  const kinds = got
    .map(({ body }) => Object.keys(body)[0])
    .filter((kind, at) => kind !== 'statusUpdate' || at === got.length - 1);
  expect(kinds).toEqual(['task', 'artifactUpdate', 'statusUpdate']);
  for (const { headers, body } of got) {
    expect(headers).toMatchObject({
      'content-type': 'application/a2a+json',
      'a2a-version': '1.0',
      authorization: 'Bearer secret-1',
      'x-a2a-notification-token': 'token-1',
    });
    const [event]: Any[] = Object.values(body);
    expect([event.id ?? event.taskId, event.contextId]).toEqual([task.id, task.contextId]);
  }
  const result = got.find(({ body }) => body.artifactUpdate)?.body.artifactUpdate;
  expect(result).toMatchObject({ lastChunk: true, artifact: { artifactId: 'result', parts: [{ text: 'done' }, {}] } });
});

it('is sent once per state to a slow receiver', async () => {
  isHeld = (body) => isEnd({ body });
  const { task } = (await send({ url: hook })).result;
  await untilTrue(() => got.length > 0);
  await finish();
  await untilTrue(() => held.length > 0);
  const now = h.ctx.clock.now();
  const due = await h.ctx.db.query(
    'test-due-pushes',
    'select id from a2a_push where task_id = $1 and is_open and next_at <= $2',
    [task.id, new Date(now.getTime() + 20_000)],
  );
  expect(due).toEqual([]);
  isHeld = () => false;
  for (const response of held.splice(0)) response.end();
  await untilTrue(() => got.filter(isEnd).length > 0);
  expect(got.filter(isEnd)).toHaveLength(1);
});

it('is sent again after the lease of a process that died before recording the answer, and then continues', async () => {
  isHeld = () => true;
  await send({ url: hook });
  await untilTrue(() => got.length > 0);
  aheadMs += 61_000;
  await untilTrue(() => got.length > 1);
  expect(got.map(({ body }) => Object.keys(body))).toEqual([['task'], ['task']]);
  isHeld = () => false;
  for (const response of held.splice(0)) response.end();
  await finish();
  await untilTrue(() => got.some(isEnd));
  expect(got.filter(({ body }) => body.artifactUpdate)).toHaveLength(1);
  expect(got.filter(isEnd)).toHaveLength(1);
});

it('repeats what was refused, on the schedule of webhooks, and gives up on 410', async () => {
  refusals = [500];
  await send({ url: hook });
  await untilTrue(() => got.length > 0);
  const [first] = got;
  aheadMs += 10_000;
  await untilTrue(() => got.length > 1);
  expect(got[1]?.body).toEqual(first?.body);
  refusals = [410];
  await finish();
  await untilTrue(() => got.length > 2);
  const isOpen = async () => {
    const [row] = await h.ctx.db.query<{ open: boolean }>(
      'test-open-pushes',
      'select bool_or(is_open) as open from a2a_push where account_id = $1',
      [buyer.accountId],
    );
    return row?.open ?? false;
  };
  await until(async () => ((await isOpen()) ? null : true));
  expect(got.length).toBe(3);
});

const stateOf = ({ task, statusUpdate }: Any): string | undefined => (task ?? statusUpdate)?.status.state;

it('tells of each question, and that the work goes on after its answer', async () => {
  const ask = async (message: string) => {
    await untilTrue(() => answers.length > 0);
    answers.shift()?.end(JSON.stringify({ status: 'input_required', input: { message } }));
  };
  const told = (state: string, nth: number) =>
    untilTrue(() => got.filter(({ body }) => stateOf(body) === `TASK_STATE_${state}`).length >= nth);
  const { task } = (await send({ url: hook })).result;
  await untilTrue(() => got.length > 0);
  for (const [nth, message] of [[1, 'One?'] as const, [2, 'Two?'] as const]) {
    await ask(message);
    await told('INPUT_REQUIRED', nth);
    expect(got.at(-1)?.body.statusUpdate?.status.message.parts).toEqual([{ text: message }]);
    const answer = { messageId: `answer-${nth}`, role: 'ROLE_USER', parts: [{ text: 'Yes.' }], taskId: task.id };
    await rpc('SendMessage', { message: answer, configuration: { returnImmediately: true } });
    await untilTrue(() => answers.length > 0);
    await untilTrue(() => stateOf(got.at(-1)?.body) === 'TASK_STATE_WORKING');
  }
  await finish();
  await untilTrue(() => got.some(isEnd));
  expect(got.filter(({ body }) => stateOf(body) === 'TASK_STATE_INPUT_REQUIRED')).toHaveLength(2);
});

it.each([
  ['refuses for good', 410],
  ['takes the last message', 200],
])('replaced while its old address %s is told at the new one', async (_how, status) => {
  isHeld = (body) => status !== 200 || isEnd({ body });
  const { task } = (await send({ id: 'moved', url: hook })).result;
  await untilTrue(() => got.length > 0);
  if (status === 200) await finish();
  await untilTrue(() => held.length > 0);
  isHeld = () => false;
  const url = `${hook}/new`;
  await rpc('CreateTaskPushNotificationConfig', { taskId: task.id, id: 'moved', url });
  for (const response of held.splice(0)) response.writeHead(status).end();
  if (status !== 200) await finish();
  await untilTrue(() => got.some(({ path, body }) => path === '/hook/new' && stateOf(body) === 'TASK_STATE_COMPLETED'));
});

it('is configured, read, listed and removed, in both versions, and sends tasks to receivers of 0.3', async () => {
  const { task } = (await send()).result;
  const made = (await rpc('CreateTaskPushNotificationConfig', { taskId: task.id, id: 'mine', url: hook })).result;
  expect(made).toEqual({ taskId: task.id, id: 'mine', url: hook });
  expect((await rpc('GetTaskPushNotificationConfig', { taskId: task.id, id: 'mine' })).result).toEqual(made);
  expect((await rpc('ListTaskPushNotificationConfigs', { taskId: task.id })).result.configs).toEqual([made]);
  const removal = await rpc('DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'mine' });
  expect(removal).not.toHaveProperty('error');
  expect(await rpc('DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'mine' })).toEqual(removal);
  expect((await rpc('GetTaskPushNotificationConfig', { taskId: task.id, id: 'mine' })).error.code).toBe(-32_001);
  expect(await rpc('DeleteTaskPushNotificationConfig', { taskId: task.id, id: 'a\u0000' })).toEqual(removal);
  got = [];

  const readFirst = () => rpc('tasks/pushNotificationConfig/get', { id: task.id }, { version: '0.3' });
  expect((await readFirst()).error.code).toBe(-32_001);
  const pushNotificationConfig = { url: hook, authentication: { schemes: ['Basic'], credentials: 'eDp5' } };
  const set = await rpc(
    'tasks/pushNotificationConfig/set',
    { taskId: task.id, pushNotificationConfig },
    { version: '0.3' },
  );
  expect(set.result).toMatchObject({
    taskId: task.id,
    pushNotificationConfig: { url: hook, authentication: { schemes: ['Basic'] } },
  });
  const listed = await rpc('tasks/pushNotificationConfig/list', { id: task.id }, { version: '0.3' });
  expect(listed.result).toEqual([set.result]);
  expect((await readFirst()).result).toEqual(set.result);
  expect((await rpc('GetTaskPushNotificationConfig', { taskId: task.id })).error.code).toBe(-32_602);
  await finish();
  await untilTrue(() => got.some(({ body }) => body.kind === 'task' && body.status.state === 'completed'));
  expect(got.at(-1)?.headers).toMatchObject({
    authorization: 'Basic eDp5',
    'content-type': 'application/json',
    'a2a-version': '0.3',
  });
});

it('goes to no address that the node does not call, needs a key, is bounded, and is of the caller only; nothing is bought', async () => {
  const before = await balanceOf(h, buyer.key);
  for (const url of ['http://169.254.169.254/latest', 'ftp://x.example', 'http://[::ffff:169.254.169.254]/'])
    expect((await send({ url })).error.code).toBe(-32_602);
  expect((await send({ url: hook, token: 'a\r\nb' })).error.code).toBe(-32_602);
  expect(
    (
      await rpc(
        'SendMessage',
        {
          message: { messageId: 'x', role: 'ROLE_USER', parts: [{ text: 'go' }] },
          configuration: { taskPushNotificationConfig: { url: hook } },
        },
        { key: null },
      )
    ).error.code,
  ).toBe(-30_401);
  expect(await balanceOf(h, buyer.key)).toEqual(before);

  const { task } = (await send()).result;
  const other = await newClient(h, '1');
  const params = { taskId: task.id, id: 'x', url: hook };
  for (const method of ['Create', 'Get', 'Delete'])
    expect((await rpc(`${method}TaskPushNotificationConfig`, params, { key: other.key })).error.code).toBe(-32_001);
  const create = () => rpc('CreateTaskPushNotificationConfig', { taskId: task.id, url: hook });
  const created = await Promise.all(Array.from({ length: 12 }, create));
  expect(created.filter(({ result }) => result)).toHaveLength(5);
  expect((await create()).error.code).toBe(-32_602);

  // The token reads the result, and no address with what may stand in it.
  const reading = { key: null, headers: { 'x-result-token': resultTokenOf(h.ctx, task.id) } };
  expect((await rpc('GetTask', { id: task.id }, reading)).result.id).toBe(task.id);
  const [{ id }] = created.flatMap(({ result }) => result ?? []);
  for (const method of ['List', 'Get', 'Delete']) {
    const name = `${method}TaskPushNotificationConfig${method === 'List' ? 's' : ''}`;
    expect((await rpc(name, { taskId: task.id, id }, reading)).error.code).toBe(-30_401);
  }
  expect((await rpc('ListTaskPushNotificationConfigs', { taskId: task.id })).result.configs).toHaveLength(5);
  await finish();
});

it('of a task that was never paid makes room an hour later; those of tasks that run stay', async () => {
  const poor = await h.newAccount();
  const { task: unpaid } = (await send({ url: hook }, poor.key)).result;
  expect(unpaid.status.state).toBe('TASK_STATE_INPUT_REQUIRED');
  const { task: running } = (await send({ url: hook })).result;
  const kept = async () => {
    await forgetPushes(h.ctx);
    const sql = 'select task_id as id from a2a_push where task_id = any($1)';
    const rows = await h.ctx.db.query<{ id: string }>('test-kept-pushes', sql, [[unpaid.id, running.id]]);
    return rows.map(({ id }) => id);
  };
  expect(new Set(await kept())).toEqual(new Set([unpaid.id, running.id]));
  aheadMs += 61 * 60_000;
  expect(await kept()).toEqual([running.id]);
  await finish();
});

it('of a task that ended long ago is removed', async () => {
  const count = async () => (await h.ctx.db.query('test-pushes', 'select id from a2a_push', [])).length;
  await forgetPushes(h.ctx);
  expect(await count()).toBeGreaterThan(0);
  aheadMs += 8 * 86_400_000;
  await forgetPushes(h.ctx);
  expect(await count()).toBe(0);
});

it('of a repeated message is one; beyond the limit, a new message buys nothing and a repeated one returns its task', async () => {
  const message = { messageId: `push-${++messages}`, role: 'ROLE_USER', parts: [{ text: 'go' }] };
  const again = () =>
    rpc('SendMessage', {
      message,
      configuration: { returnImmediately: true, taskPushNotificationConfig: { url: hook } },
    });
  const ids = new Set<string>();
  for (let i = 0; i < 7; i++) ids.add((await again()).result.task.id);
  const [taskId] = ids;
  expect(ids.size).toBe(1);
  expect((await rpc('ListTaskPushNotificationConfigs', { taskId })).result.configs).toHaveLength(1);
  await finish();

  const full = await newClient(h, '1');
  const fill = (most: number) =>
    h.ctx.db.query(
      'test-fill-pushes',
      `insert into a2a_push (task_id, id, account_id, url, version, sealed, next_at, created_at)
       select $1, 'full-' || n, $2, 'http://127.0.0.1:9/', '1.0', '', 'infinity', now() from generate_series(1, $3::int) n`,
      [taskId, full.accountId, most],
    );
  await fill(200);
  expect((await send({ url: hook }, full.key)).error.code).toBe(-32_602);
  expect((await balanceOf(h, full.key)).available).toBe('1.00');
  await h.ctx.db.query('test-empty-pushes', 'delete from a2a_push where account_id = $1', [full.accountId]);
  // Others take the room while the call is bought.
  const { accept } = h.ctx.acceptor;
  const bought = vi.spyOn(h.ctx.acceptor, 'accept').mockImplementationOnce(async (item) => {
    await fill(200);
    return accept(item);
  });
  const { task } = (await send({ url: hook }, full.key)).result;
  bought.mockRestore();
  expect((await rpc('ListTaskPushNotificationConfigs', { taskId: task.id }, { key: full.key })).result.configs).toEqual(
    [],
  );
  await finish();
});

it('of an account that has as many as it may have can be changed, and none is added', async () => {
  const { key, accountId } = await newClient(h, '1');
  const { task } = (await send(undefined, key)).result;
  const put = (id: string, url: string) =>
    rpc('CreateTaskPushNotificationConfig', { taskId: task.id, id, url }, { key });
  expect((await put('mine', hook)).result).toMatchObject({ url: hook });
  await h.ctx.db.query(
    'test-fill-up-pushes',
    `insert into a2a_push (task_id, id, account_id, url, version, sealed, next_at, created_at)
     select 'req_other', 'full-' || n, $1, 'http://127.0.0.1:9/', '1.0', '', 'infinity', now() from generate_series(1, 199) n`,
    [accountId],
  );
  expect((await put('mine', `${hook}/new`)).result).toMatchObject({ url: `${hook}/new` });
  expect((await put('other', hook)).error.code).toBe(-32_602);
  await finish();
});

it('of other accounts is not delayed by receivers that hang, whoever has them', async () => {
  const hanging = createServer(() => undefined);
  await once(hanging.listen(0, '127.0.0.1'), 'listening');
  const { port } = hanging.address() as AddressInfo;
  const { task: theirs } = (await send()).result;
  const attackers = await Promise.all(Array.from({ length: 16 }, () => h.newAccount()));
  const reached = new Set<unknown>();
  hanging.on('request', ({ url }) => reached.add(url));
  await h.ctx.db.query(
    'test-hanging-pushes',
    `insert into a2a_push (task_id, id, account_id, url, version, sealed, next_at, created_at)
     select $1, a || n, a, 'http://127.0.0.1:' || $3 || '/' || a || n, '1.0', $4, now() - interval '1 day', now()
       from unnest($2::text[]) a, generate_series(1, 20) n`,
    [theirs.id, attackers.map(({ accountId }) => accountId), port, h.ctx.secrets.seal('{}')],
  );
  await untilTrue(() => reached.size >= 64);
  const tookMs = startWatch();
  for (let nth = 0; nth < 5; nth++) {
    got = [];
    answers = [];
    await send({ url: hook });
    await untilTrue(() => got.length > 0);
    await finish();
  }
  expect(tookMs()).toBeLessThan(9_000);
  // They have one message at a time from now on, and are still told.
  hanging.closeAllConnections();
  hanging.close();
});
