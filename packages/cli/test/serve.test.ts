import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentCall } from '@agent-network/sdk/agent';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startA2aUpstream } from '../../service/test/calls/protocols/support/a2a-upstream.ts';
import { startA2a03Upstream } from '../../service/test/calls/protocols/support/a2a-upstream-03.ts';
import { startMcpUpstream } from '../../service/test/calls/protocols/support/mcp-upstream.ts';
import { startOpenaiUpstream } from '../../service/test/calls/protocols/support/openai-upstream.ts';
import type { TestUpstream } from '../../service/test/calls/protocols/support/upstream.ts';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import type { Harness } from '../../service/test/support/harness.ts';
import { borrowHarness } from '../../service/test/support/lent-harness.ts';
import { untilStatus } from '../../service/test/support/test-agent.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../service/test/support/treasury.ts';
import { a2aBackend } from '../src/serve/a2a.ts';
import { mcpBackend } from '../src/serve/mcp.ts';
import { openaiBackend } from '../src/serve/openai.ts';
import { bundledMain } from './support/command-lines.ts';

const stdioServer = join(import.meta.dirname, 'support/mcp-stdio-server.ts');
const SECRET = 'sk-of-the-owner';

let h: Harness;
let buyer: Client;
let seller: string;
let folder: string;
const upstreams: Record<string, TestUpstream> = {};
const upstream = (name: string): TestUpstream => upstreams[name] as TestUpstream;
beforeAll(async () => {
  h = await borrowHarness();
  [buyer, folder] = [await newClient(h, '5'), await mkdtemp(join(tmpdir(), 'agentnet-serve-'))];
  seller = (await h.newAccount()).key;
  upstreams.openai = await startOpenaiUpstream();
  upstreams.mcp = await startMcpUpstream();
  upstreams.a2a = await startA2aUpstream();
  upstreams['a2a 0.3'] = await startA2a03Upstream();
});
afterAll(async () => {
  for (const each of Object.values(upstreams)) await each.stop();
  await h?.stop();
  await rm(folder, { recursive: true, force: true });
});

async function run(args: readonly string[]) {
  const line = [await bundledMain(), 'serve', '-c', 'testing', '--price', '0.02', '--json', ...args];
  const child = spawn(process.execPath, line, {
    env: {
      ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: BUNDLES, AGENTNET_CONFIG_DIR: folder },
      ...{ AGENTNET_URL: h.baseUrl, AGENTNET_API_KEY: seller, UPSTREAM_KEY: `Bearer ${SECRET}` },
    },
  });
  const said = { stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (said.stderr += text));
  onTestFinished(() => void child.kill('SIGKILL'));
  return { child, said };
}

async function serve(args: readonly string[]): Promise<{ id: string; child: ChildProcess; said: { stdout: string } }> {
  const { child, said } = await run(args);
  await expect.poll(() => said.stdout || said.stderr).toMatch(/agentId/);
  const { agentId: id } = JSON.parse(said.stdout.split('\n')[0] ?? '');
  await untilStatus(h, id, 'online');
  return { id, child, said };
}

describe('an agent of another protocol is served, called and paid', () => {
  const key = ['--header-env', 'authorization=UPSTREAM_KEY'];
  it.each([
    ['openai', () => [upstream('openai').endpoint, '--model', 'test-model-1', ...key], 'hello!'],
    ['mcp over HTTP', () => [upstream('mcp').endpoint, '--tool', 'shout', ...key], 'shout: hello!'],
    ['mcp over stdio', () => ['--protocol', 'mcp', '--name', 'stdio', '--', process.execPath, stdioServer], 'HELLO'],
    ['a2a', () => [upstream('a2a').endpoint, '--protocol', 'a2a', ...key], 'hello!'],
  ])('%s', async (name, args, text) => {
    const { id, child, said } = await serve(args());
    const before = Number((await balanceOf(h, buyer.key)).available);
    const { body } = await h.request('POST', `/invoke/${id}`, { key: buyer.key, body: { task: 'hello', input: {} } });
    expect(await untilEnded(h, buyer.key, body.data.requestId)).toMatchObject({
      status: 'completed',
      result: { text },
      cost: expect.stringMatching(/^0\.020*$/),
    });
    expect(before - Number((await balanceOf(h, buyer.key)).available)).toBeCloseTo(0.02);
    const { work = [] } = upstreams[name.split(' ')[0] ?? ''] ?? {};
    if (!name.includes('stdio')) expect(work.at(-1)?.headers.authorization).toBe(`Bearer ${SECRET}`);
    child.kill('SIGINT');
    expect((await once(child, 'exit'))[0]).toBe(0);
    const [, shown = ''] = said.stdout.trim().split('\n');
    expect(JSON.parse(shown)).toMatchObject({ requestId: body.data.requestId, task: 'hello', state: 'completed' });
  });
});

it('a later run is the same agent, listed as that run says', async () => {
  const start = async (options: readonly string[]) => {
    const { child, said } = await run([...options, '--name', 'Again', '--', 'cat']);
    await expect.poll(() => said.stdout || said.stderr).toMatch(/agentId/);
    const { agentId } = JSON.parse(said.stdout.split('\n')[0] ?? '');
    child.kill('SIGINT');
    await once(child, 'exit');
    return (await h.request('GET', `/agents/${agentId}`)).body.data;
  };
  const first = await start(['--price', '0.01']);
  const second = await start(['--price', '5', '-c', 'testing,more', '--description', 'Dearer.']);
  expect(second).toMatchObject({ id: first.id, capabilities: ['testing', 'more'], description: 'Dearer.' });
  expect([first, second].map(({ rates }) => Number(rates.perRequest))).toEqual([0.01, 5]);
});

it('two programs of one name do not take the calls of each other', async () => {
  const first = await run(['--name', 'Twice', '--', 'cat']);
  await expect.poll(() => first.said.stdout || first.said.stderr).toMatch(/agentId/);
  const { agentId, endpoint } = JSON.parse(first.said.stdout.split('\n')[0] ?? '');
  const second = await run(['--name', 'Twice', '--', 'tee']);
  expect((await once(second.child, 'close'))[0]).toBe(1);
  expect(JSON.parse(second.said.stderr).error.message).toContain('--name');
  expect((await h.request('GET', `/agents/${agentId}`)).body.data.endpoint).toBe(endpoint);
});

it('an endpoint that lacks the model is not registered', async () => {
  const { child, said } = await run([upstream('openai').endpoint, '--model', 'none']);
  expect([(await once(child, 'close'))[0], said.stdout]).toEqual([2, '']);
  expect(JSON.parse(said.stderr).error.message).toContain('does not list the model none');
});

it.skipIf(process.platform === 'win32').each(['no-such-program', './no-such-program', '/'])(
  'a program that is not there is not registered: %s',
  async (program) => {
    const { child, said } = await run(['--name', 'Missing', '--', program]);
    expect([(await once(child, 'close'))[0], said.stdout]).toEqual([2, '']);
    expect(JSON.parse(said.stderr).error.message).toContain(`no program "${program}"`);
  },
);

/** A call as the SDK hands it to the backend. */
const callOf = (more: Partial<AgentCall> = {}): AgentCall => ({
  ...{ requestId: 'req_1', agentId: 'agent_1', task: 'hello', input: {}, capability: null, context: null },
  ...{ priority: 'normal', deadline: null, maxSpend: null, metadata: {}, isStreamed: false, charge: () => undefined },
  used: () => undefined,
  ...{ interactive: false, turn: 1, answers: [], state: null, answer: () => undefined },
  signal: new AbortController().signal,
  ...more,
});

const backends = {
  openai: (headers = {}) => openaiBackend(new URL(upstream('openai').endpoint), headers, 'test-model-1'),
  mcp: (headers = {}) =>
    mcpBackend({ url: new URL(upstream('mcp').endpoint), command: '', args: [], headers, env: {} }, 'shout'),
  a2a: (headers = {}) => a2aBackend(new URL(upstream('a2a').endpoint), headers),
  'a2a 0.3': (headers = {}) => a2aBackend(new URL(upstream('a2a 0.3').endpoint), headers),
};

describe.each(['openai', 'mcp', 'a2a', 'a2a 0.3'] as const)('a call of %s', (name) => {
  it('that is cancelled is ended at the endpoint', async () => {
    const backend = await backends[name]();
    const stop = new AbortController();
    const site = upstream(name);
    site.mode = { kind: name.startsWith('a2a') ? 'pends' : 'hangs' };
    const [before, seen] = [site.work.length, site.seen.length];
    const running = backend.run(callOf({ signal: stop.signal })) as Promise<unknown>;
    running.catch(() => undefined);
    await expect.poll(() => site.work.length).toBe(before + 1);
    // Before the program has the id of a task, it has nothing that it could cancel: it asks about it once it has.
    const isAsked = () => site.seen.slice(seen).some(({ body }) => ['GetTask', 'tasks/get'].includes(body?.method));
    if (name.startsWith('a2a')) await expect.poll(isAsked).toBe(true);
    stop.abort(new Error('cancelled'));
    await expect(running).rejects.toThrow('cancelled');
    await expect.poll(() => site.isCancelled()).toBe(true);
    site.mode = { kind: 'works' };
    await backend.close();
  });

  it('that fails is an error which its caller may read', async () => {
    const backend = await backends[name]();
    upstream(name).mode = { kind: 'fails' };
    await expect(backend.run(callOf())).rejects.toMatchObject({ code: 'agent_error', message: /: no\.$/, status: 422 });
    upstream(name).mode = { kind: 'works' };
    await backend.close();
  });
});

it('an agent of A2A 0.3 is asked in its own words, once', async () => {
  const site = upstream('a2a 0.3');
  const backend = await backends['a2a 0.3']();
  const before = site.work.length;
  const result = await backend.run(callOf({ input: { pages: 2 } }));
  expect(result).toEqual({ text: 'hello!' });
  const { method, params } = site.work.at(-1)?.body ?? {};
  expect([site.work.length - before, method, params.configuration]).toEqual([1, 'message/send', { blocking: false }]);
  expect(params.message.parts.at(-1)).toEqual({ kind: 'data', data: { pages: 2 } });
  await backend.close();
});

/** An OpenAI endpoint that answers completions with this. */
async function answering(status: number, text: string, headers: Record<string, string> = {}) {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    heard.push(request.url ?? '');
    if (request.url === '/v1/models') return response.end(JSON.stringify({ data: [{ id: 'm' }] }));
    response.writeHead(status, headers).end(text);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const base = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`);
  return { backend: await openaiBackend(base, { authorization: `Bearer ${SECRET}` }), heard };
}

describe('an OpenAI endpoint', () => {
  it('streams the pieces of its answer', async () => {
    const pieces = (await (await backends.openai()).run(callOf({ isStreamed: true }))) as AsyncGenerator;
    expect([await pieces.next(), await pieces.next()]).toMatchObject([{ value: 'hel' }, { value: 'lo!' }]);
    expect(await pieces.next()).toMatchObject({ done: true, value: { text: 'hello!', finishReason: 'stop' } });
  });

  it('cannot show the credentials of its owner in an error', async () => {
    const { backend } = await answering(401, JSON.stringify({ error: { message: `bad key ${SECRET}` } }));
    await expect(backend.run(callOf())).rejects.toThrow('answered 401: bad key ***');
  });

  it('that answers more than 1 MiB fails the call', async () => {
    const { backend } = await answering(200, `{"x":"${'x'.repeat(1024 * 1024)}"}`);
    await expect(backend.run(callOf())).rejects.toMatchObject({ code: 'result_too_large' });
  });

  it('that redirects is not followed', async () => {
    const { backend, heard } = await answering(307, '', { location: '/v1/elsewhere' });
    await expect(backend.run(callOf())).rejects.toMatchObject({ code: 'agent_error' });
    expect(heard).toEqual(['/v1/models', '/v1/chat/completions']);
  });
});

/** An MCP server of the protocol with sessions, which it forgets; `fails`: how its tool ends. */
async function startSessions(fails?: 'result' | 'error' | 'silence') {
  let session = 1;
  const heard: string[] = [];
  const server = createServer(async (request, response) => {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const { id, method } = JSON.parse(text || '{}');
    heard.push(method);
    const results: Record<string, object> = {
      initialize: {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 's', version: '1' },
      },
      'tools/list': { tools: [{ name: 'tell', inputSchema: { type: 'object' } }] },
      'tools/call': { content: [{ type: 'text', text: `session ${session}` }], isError: fails === 'result' },
    };
    const isKnown = method === 'initialize' || request.headers['mcp-session-id'] === String(session);
    if (id === undefined) return response.writeHead(202).end();
    if (method === 'tools/call' && fails === 'silence') return;
    const isRefused = method === 'tools/call' && fails === 'error';
    const answer =
      results[method] && isKnown && !isRefused
        ? { result: results[method] }
        : { error: { code: -32601, message: 'no' } };
    response.writeHead('result' in answer || (isKnown && isRefused) ? 200 : isKnown ? 400 : 404, {
      ...{ 'content-type': 'application/json', 'mcp-session-id': String(session) },
    });
    response.end(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`);
  return { url, heard, forget: () => session++ };
}

it.each([
  ['a result', 'result'],
  ['an error', 'error'],
  ['silence', 'silence'],
] as const)('calls of an MCP tool that fails with %s share one session', async (_what, fails) => {
  const { url, heard } = await startSessions(fails);
  const deadline = () => (fails === 'silence' ? new Date(Date.now() + 100) : null);
  const backend = await mcpBackend({ url, command: '', args: [], headers: {}, env: {} });
  for (let calls = 0; calls < 3; calls += 1)
    await expect(backend.run(callOf({ deadline: deadline() }))).rejects.toMatchObject({ code: 'agent_error' });
  await expect.poll(() => heard.filter((method) => method === 'tools/call')).toHaveLength(3);
  expect(heard.filter((method) => method === 'initialize')).toHaveLength(1);
  await backend.close();
});

describe('an MCP server that was started anew', () => {
  it('fails one call over HTTP, and answers the next in a new session', async () => {
    const { url, forget } = await startSessions();
    const backend = await mcpBackend({ url, command: '', args: [], headers: {}, env: {} });
    expect(await backend.run(callOf())).toEqual({ text: 'session 1' });
    forget();
    await expect(backend.run(callOf())).rejects.toMatchObject({ code: 'agent_error' });
    expect(await backend.run(callOf())).toEqual({ text: 'session 2' });
    await backend.close();
  });

  it('fails the call in which it died on stdio, and answers the next', async () => {
    const server = { url: null, command: process.execPath, args: [stdioServer], headers: {} };
    const backend = await mcpBackend({ ...server, env: { ...process.env, AGENTNET_API_KEY: 'x' } });
    await expect(backend.run(callOf({ task: 'die' }))).rejects.toMatchObject({ code: 'agent_error' });
    expect(await backend.run(callOf())).toEqual({ text: 'HELLO' });
    await backend.close();
  });
});
