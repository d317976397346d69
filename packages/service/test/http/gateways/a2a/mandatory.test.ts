import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { contradictions } from '../../../support/books.ts';
import type { Harness } from '../../../support/harness.ts';
import { borrowHarness } from '../../../support/lent-harness.ts';
import { startTestAgent, type TestAgent } from '../../../support/test-agent.ts';
import { type Client, newClient } from '../../../support/treasury.ts';
import { errorIn } from './raw-client.ts';

// The mandatory checks of the A2A TCK (a2aproject/a2a-tck, tests/mandatory), by their names, over both bindings of 1.0. Those of
// certificates, TLS and gRPC do not apply. Where the kit takes several answers, the test demands ours.

let h: Harness;
let buyer: Client;
let echo: TestAgent;

beforeAll(async () => {
  h = await borrowHarness();
  buyer = await newClient(h, '10');
  echo = await startTestAgent(h, { name: 'Echo', perRequest: '0.01' });
});
afterAll(async () => {
  await echo?.die();
  expect(await contradictions(h.databaseUrl)).toEqual([]);
  await h?.stop();
});

// biome-ignore lint/suspicious/noExplicitAny: answers of every shape
type Any = any;

const version = { 'a2a-version': '1.0' };
const path = () => `/a2a/${echo.id}`;

/** Sends a body to the JSON-RPC binding as it is. */
const post = async (body: unknown, headers: Record<string, string> = version): Promise<Any> => {
  const text = typeof body === 'string' ? { text: body } : { body };
  const all = { 'content-type': 'application/json', ...headers };
  const answer = await h.request('POST', path(), { key: buyer.key, headers: all, ...text });
  expect(answer.status).toBe(200);
  return answer.body;
};
const rpc = async (method: string, params: unknown): Promise<Any> => {
  const id = randomUUID();
  const answer = errorIn(await post({ jsonrpc: '2.0', id, method, params }));
  expect(answer).toMatchObject({ jsonrpc: '2.0', id });
  return answer;
};
const message = (more: object = {}) => ({
  message: { messageId: randomUUID(), role: 'ROLE_USER', parts: [{ text: 'hello' }], ...more },
});
const newTask = async (more: object = {}): Promise<Any> => (await rpc('SendMessage', message(more))).result.task;
const list = async (params: object = {}): Promise<Any> => rpc('ListTasks', params);

describe('JSON-RPC', () => {
  it('test_rejects_malformed_json, test_raw_invalid_json', async () => {
    const answer = await post('{"jsonrpc": "2.0", "method": "SendMessage", "params": {"foo": "bar"}');
    expect(answer).toMatchObject({ jsonrpc: '2.0', id: null, error: { code: -32_700 } });
  });

  it.each([
    ['a wrong version', { jsonrpc: 'aaa', method: 'SendMessage', params: {} }, -32_600],
    ['no method', { jsonrpc: '2.0', params: {} }, -32_600],
    ['an unknown method', { jsonrpc: '2.0', method: 'SendMessageXXX', id: '3', params: {} }, -32_601],
    ['an id of a wrong type', { jsonrpc: '2.0', method: 'SendMessage', params: {}, id: { bad: 'type' } }, -32_600],
    ['wrong params', { jsonrpc: '2.0', method: 'SendMessage', id: '4', params: { '': 'not_a_dict' } }, -32_602],
  ])('test_rejects_invalid_json_rpc_requests: %s', async (_name, body, code) => {
    expect((await post(body)).error.code).toBe(code);
  });

  it('test_rejects_unknown_method, test_invalid_method_error_validation', async () => {
    expect((await rpc('nonexistent/method', {})).error.code).toBe(-32_601);
  });

  it('test_rejects_invalid_params, test_message_send_invalid_params', async () => {
    const { error } = await rpc('SendMessage', { message: { parts: 'invalid' } });
    expect(error.code).toBe(-32_602);
    const fields = error.data.flatMap((each: Any) => each.fieldViolations ?? []).map(({ field }: Any) => field);
    expect(fields).toEqual(expect.arrayContaining(['message.messageId', 'message.parts', 'message.role']));
    expect(error.data.every((each: Any) => typeof each['@type'] === 'string')).toBe(true);
  });

  it('test_duplicate_request_ids', async () => {
    const twice = { jsonrpc: '2.0', id: 'fixed', method: 'SendMessage', params: message() };
    const [first, second] = [await post(twice), await post(twice)];
    expect([first.id, second.id]).toEqual(['fixed', 'fixed']);
    expect(second.result.task.id).toBe(first.result.task.id);
  });
});

describe('tasks', () => {
  it('test_message_send_valid_text, test_tasks_get_valid, test_tasks_get_with_history_length', async () => {
    const task = await newTask();
    expect(task.status.state).toBe('TASK_STATE_COMPLETED');
    const got = (await rpc('GetTask', { id: task.id })).result;
    expect(got).toEqual(task);
    expect(got.history).toHaveLength(1);
    expect((await rpc('GetTask', { id: task.id, historyLength: 1 })).result.history).toHaveLength(1);
    expect((await rpc('GetTask', { id: task.id, historyLength: 0 })).result).not.toHaveProperty('history');
    expect((await rpc('GetTask', { id: task.id, historyLength: -1 })).error.code).toBe(-32_602);
  });

  it('test_message_send_continue_task: one that has ended takes no more, and one that is none is not found', async () => {
    const { id } = await newTask();
    expect((await rpc('SendMessage', message({ taskId: id }))).error.code).toBe(-32_004);
    expect((await rpc('SendMessage', message({ taskId: 'none' }))).error.code).toBe(-32_001);
    expect((await rpc('SendMessage', message({ taskId: id, contextId: 'other' }))).error.code).toBe(-32_602);
  });

  it('test_tasks_get_nonexistent, test_tasks_cancel_nonexistent, test_nonexistent_resource_error_validation', async () => {
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      for (const id of [randomUUID(), 'ünïcode', 'a b', 'x'.repeat(3000)]) {
        const { error } = await rpc(method, { id });
        expect(error).toMatchObject({
          code: -32_001,
          data: [{ reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' }],
        });
      }
  });

  it('test_tasks_cancel_valid', async () => {
    echo.behave(() => undefined);
    const configuration = { returnImmediately: true };
    const { task } = (await rpc('SendMessage', { ...message(), configuration })).result;
    expect((await rpc('CancelTask', { id: task.id })).result.status.state).toBe('TASK_STATE_CANCELED');
    expect((await rpc('CancelTask', { id: task.id })).error.code).toBe(-32_002);
    expect((await rpc('SubscribeToTask', { id: task.id })).error.code).toBe(-32_004);
  });

  it('test_push_notification_not_supported_error_32003, test_unsupported_operation_error_32004', async () => {
    const { error } = await rpc('GetExtendedAgentCard', undefined);
    expect(error).toMatchObject({ code: -32_004, data: [{ reason: 'UNSUPPORTED_OPERATION' }] });
    const card = (await h.request('GET', `${path()}/.well-known/agent-card.json`)).body;
    const push = await rpc('CreateTaskPushNotificationConfig', { taskId: 'none', url: 'https://hook.example' });
    expect(push.error.code).toBe(card.capabilities.pushNotifications ? -32_001 : -32_003);
  });
});

describe('ListTasks', () => {
  const contextId = randomUUID();
  let tasks: Any[];
  beforeAll(async () => {
    echo.behave(({ body }, response) => void response.end(JSON.stringify({ result: { echo: body.task } })));
    tasks = [await newTask({ contextId }), await newTask({ contextId }), await newTask({ contextId })];
  });
  const ids = (answer: Any) => answer.result.tasks.map(({ id }: Any) => id);

  it('test_list_all_tasks, test_list_tasks_validates_required_fields, test_list_tasks_sorted_by_timestamp_descending', async () => {
    const { result } = await list();
    expect(result.pageSize).toBe(result.tasks.length);
    expect(result.totalSize).toBeGreaterThanOrEqual(3);
    expect(result.nextPageToken).toBe('');
    expect(result.tasks.slice(0, 3).map(({ id }: Any) => id)).toEqual(tasks.map(({ id }) => id).reverse());
    for (const task of result.tasks)
      expect(task).toMatchObject({
        id: expect.any(String),
        contextId: expect.any(String),
        status: { state: expect.any(String) },
      });
  });

  it('test_list_tasks_empty_when_none_exist', async () => {
    expect((await list({ contextId: randomUUID() })).result).toEqual({
      tasks: [],
      nextPageToken: '',
      pageSize: 0,
      totalSize: 0,
    });
  });

  it('finds tasks by their context beside a call whose metadata PostgreSQL cannot read', async () => {
    const odd = { task: 'x', metadata: { kept: '\u0000', half: '\ud800' } };
    expect((await h.request('POST', `/invoke/${echo.id}`, { key: buyer.key, body: odd })).status).toBe(200);
    expect(ids(await list({ contextId }))).toHaveLength(3);
  });

  it('test_filter_by_context_id, test_filter_by_status, test_combined_filters', async () => {
    expect(ids(await list({ contextId }))).toHaveLength(3);
    const other = await newTask();
    expect(ids(await list({ contextId: other.contextId }))).toEqual([other.id]);
    expect(ids(await list({ contextId, status: 'TASK_STATE_COMPLETED' }))).toHaveLength(3);
    for (const state of ['FAILED', 'INPUT_REQUIRED', 'REJECTED', 'AUTH_REQUIRED'])
      expect(ids(await list({ contextId, status: `TASK_STATE_${state}` }))).toEqual([]);
  });

  it('test_filter_by_last_updated_after', async () => {
    const statusTimestampAfter = tasks[1].status.timestamp;
    expect(ids(await list({ contextId, statusTimestampAfter }))).toEqual([tasks[2].id, tasks[1].id]);
  });

  it('test_custom_page_size, test_page_token_navigation, test_last_page_detection, test_total_size_accuracy', async () => {
    const { result: first } = await list({ contextId, pageSize: 2 });
    expect(first).toMatchObject({ pageSize: 2, totalSize: 3 });
    const { result: last } = await list({ contextId, pageSize: 2, pageToken: first.nextPageToken });
    expect(last).toMatchObject({ pageSize: 1, nextPageToken: '', totalSize: 3 });
    expect(last.tasks[0].id).toBe(tasks[0].id);
  });

  it('test_history_length_zero, test_artifacts_excluded_by_default, test_artifacts_included_when_requested', async () => {
    const { result } = await list({ contextId, historyLength: 0 });
    for (const task of result.tasks) {
      expect(task).not.toHaveProperty('history');
      expect(task).not.toHaveProperty('artifacts');
    }
    const { result: whole } = await list({ contextId, historyLength: 3, includeArtifacts: true });
    expect(whole.tasks).toEqual([...tasks].reverse());
  });

  it.each([
    ['test_invalid_page_token_error', { pageToken: 'invalid!' }],
    ['test_invalid_status_error', { status: 'TASK_STATE_RUNNING' }],
    ['test_negative_page_size_error', { pageSize: -1 }],
    ['test_zero_page_size_error', { pageSize: 0 }],
    ['test_out_of_range_page_size_error', { pageSize: 101 }],
    ['test_negative_history_length_error', { historyLength: -5 }],
    ['test_invalid_timestamp_error', { statusTimestampAfter: 'yesterday' }],
  ])('%s', async (_name, params) => {
    expect((await list(params)).error.code).toBe(-32_602);
  });
});

describe('HTTP+JSON', () => {
  const rest = (method: string, at: string, body?: unknown): Promise<Any> =>
    h.request(method, path() + at, {
      key: buyer.key,
      headers: { ...version, 'content-type': 'application/a2a+json' },
      body,
    });

  it('test_message_sending_equivalence, test_task_retrieval_equivalence, test_same_results_across_transports', async () => {
    const sent = await rest('POST', '/message:send', message());
    expect(sent.status).toBe(200);
    expect(sent.headers.get('content-type')).toBe('application/a2a+json');
    const { task } = sent.body;
    expect((await rest('GET', `/tasks/${task.id}`)).body).toEqual((await rpc('GetTask', { id: task.id })).result);
    const params = { contextId: task.contextId, pageSize: 1, includeArtifacts: true };
    const query = `?contextId=${task.contextId}&pageSize=1&includeArtifacts=true`;
    expect((await rest('GET', `/tasks${query}`)).body).toEqual((await list(params)).result);
  });

  it('test_error_handling_equivalence, test_error_response_completeness', async () => {
    const missing = await rest('GET', '/tasks/none');
    expect(missing.status).toBe(404);
    expect(missing.body.error).toMatchObject({
      code: 404,
      status: 'NOT_FOUND',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'TASK_NOT_FOUND', domain: 'a2a-protocol.org' },
      ],
    });
    const { id } = await newTask();
    const cancel = await rest('POST', `/tasks/${id}:cancel`);
    expect([cancel.status, cancel.body.error.details[0].reason]).toEqual([400, 'TASK_NOT_CANCELABLE']);
    for (const method of ['GET', 'POST']) expect((await rest(method, `/tasks/${id}:subscribe`)).status).toBe(400);
    expect((await rest('GET', '/tasks?pageSize=x')).status).toBe(400);
    expect((await rest('GET', '/extendedAgentCard')).status).toBe(400);
    expect((await rest('GET', '/nothing')).status).toBe(404);
    for (const [at, allow] of [
      ['/tasks', 'GET'],
      [`/tasks/${id}:subscribe`, 'GET, POST'],
    ] as const) {
      const refused = await rest('DELETE', at);
      expect([refused.status, refused.headers.get('allow')]).toEqual([405, allow]);
    }
    expect((await rest('POST', '/message:send', { message: {} })).status).toBe(400);
  });
});

describe('agent card', () => {
  it('test_mandatory_fields_present, test_agent_card_skills_mandatory, test_sensitive_information_protection', async () => {
    const { body } = await h.request('GET', `${path()}/.well-known/agent-card.json`);
    for (const name of ['name', 'description', 'version', 'supportedInterfaces', 'capabilities', 'skills'])
      expect(body[name]).toBeTruthy();
    for (const name of ['defaultInputModes', 'defaultOutputModes']) expect(body[name]).toContain('text/plain');
    for (const skill of body.skills)
      expect(skill).toMatchObject({ id: expect.any(String), name: expect.any(String), tags: expect.any(Array) });
    expect(JSON.stringify(body)).not.toContain(echo.endpoint);
  });

  it('test_authentication_required_when_declared, test_invalid_credentials_rejected', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'SendMessage', params: message() };
    const refused = await h.request('POST', path(), { body, headers: version, key: 'no-key' });
    expect([refused.status, refused.body.error.code]).toEqual([401, -30_401]);
    expect(refused.headers.get('www-authenticate')).toContain('Bearer');
  });
});
