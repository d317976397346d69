import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { startA2aUpstream } from '../../service/test/calls/protocols/support/a2a-upstream.ts';
import { startMcpUpstream } from '../../service/test/calls/protocols/support/mcp-upstream.ts';
import { startOpenaiUpstream } from '../../service/test/calls/protocols/support/openai-upstream.ts';
import { BUNDLES } from '../../service/test/support/bundled.ts';
import type { Harness } from '../../service/test/support/harness.ts';
import { borrowHarness } from '../../service/test/support/lent-harness.ts';
import { balanceOf, type Client, newClient, untilEnded } from '../../service/test/support/treasury.ts';
import { bundledMain } from './support/command-lines.ts';

let h: Harness;
let buyer: Client;
let seller: string;
let folder: string;
beforeAll(async () => {
  h = await borrowHarness();
  [buyer, folder] = [await newClient(h, '5'), await mkdtemp(join(tmpdir(), 'agentnet-plain-'))];
  seller = (await h.newAccount()).key;
});
afterAll(async () => {
  await h?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** A service that knows nothing of agents. Its handler can be replaced. */
async function startService(handler: RequestListener) {
  const site = { handler, seen: [] as string[], origin: '' };
  const server = createServer((request, response) => {
    site.seen.push(`${request.method} ${request.url}`);
    site.handler(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  site.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return site;
}

const slugify: RequestListener = async (request, response) => {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  if (request.method !== 'POST' || request.url !== '/slugify') return void response.writeHead(404).end();
  response.end(
    JSON.stringify({
      slug: String(JSON.parse(text).text)
        .toLowerCase()
        .replaceAll(/[^a-z0-9]+/g, '-'),
    }),
  );
};

interface Said {
  readonly child: ChildProcess;
  stdout: string;
  stderr: string;
}

async function run(args: readonly string[]): Promise<Said> {
  const child = spawn(process.execPath, [await bundledMain(), 'serve', ...args], {
    env: {
      ...{ PATH: process.env.PATH, NODE_COMPILE_CACHE: BUNDLES, AGENTNET_CONFIG_DIR: folder, NO_COLOR: '1' },
      ...{ AGENTNET_URL: h.baseUrl, AGENTNET_API_KEY: seller },
    },
  });
  const said: Said = { child, stdout: '', stderr: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => (said.stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (said.stderr += text));
  onTestFinished(() => void child.kill('SIGKILL'));
  return said;
}

const template = ['--body', '{"text":"{{task}}"}', '--result', '/slug', '--price', '0.02'];

async function serve(args: readonly string[]): Promise<Said & { readonly id: string }> {
  const said = await run(args);
  await expect.poll(() => said.stderr).toMatch(/is online/);
  return Object.assign(said, { id: said.stdout.split(' ')[0] ?? '' });
}

const invoke = async (id: string, body: object = { task: 'Two Words!' }) =>
  (await h.request('POST', `/invoke/${id}`, { key: buyer.key, body })).body;
const spendable = async () => Number((await balanceOf(h, buyer.key)).available);

async function refunded(id: string, body?: object) {
  const before = await spendable();
  const record = await untilEnded(h, buyer.key, (await invoke(id, body)).data.requestId);
  expect(record).toMatchObject({ status: 'failed', refund: '0.02' });
  expect(await spendable()).toBeCloseTo(before);
  return record.error?.message ?? '';
}

describe('the seller of a plain service', () => {
  it('lists it with one command, is paid, and hears of it; Ctrl-C takes the agent offline at once', async () => {
    const service = await startService(slugify);
    const startMs = performance.now();
    const said = await serve([`${service.origin}/slugify`, ...template]);
    const { status, result, cost } = await untilEnded(h, buyer.key, (await invoke(said.id)).data.requestId);
    expect([status, result]).toEqual(['completed', 'two-words-']);
    expect(Number(cost)).toBe(0.02);
    expect(performance.now() - startMs).toBeLessThan(60_000);
    const { data } = (await h.request('GET', `/agents/${said.id}`)).body;
    expect(data).toMatchObject({
      name: `${service.origin.slice('http://'.length)}/slugify`,
      capabilities: ['slugify'],
    });

    said.child.kill('SIGINT');
    await once(said.child, 'exit');
    expect(said.stderr).toMatch(/has earned 0\.0\d+ USDC in 30 days.* Its balance is 0\.0\d+ USDC\. Withdraw it: /);
    expect((await h.request('GET', `/agents/${said.id}`)).body.data.online).toBe(false);
    expect((await invoke(said.id)).error.code).toBe('AGENT_UNAVAILABLE');

    const again = await serve([`${service.origin}/slugify`, ...template]);
    expect(again.id).toBe(said.id);
    expect((await untilEnded(h, buyer.key, (await invoke(again.id)).data.requestId)).status).toBe('completed');
  });

  it('is not paid for what the service did not do', async () => {
    const service = await startService(slugify);
    const { id, child } = await serve([`${service.origin}/slugify`, ...template]);
    const answers = (status: number, text: string, type = 'application/json') => {
      service.handler = (_request, response) => void response.writeHead(status, { 'content-type': type }).end(text);
    };
    answers(500, '{"error":{"message":"no ink"}}');
    expect(await refunded(id)).toContain('The service answered 500: no ink.');
    answers(404, '');
    expect(await refunded(id)).toContain('The service answered 404.');
    answers(200, '<html>', 'text/html');
    expect(await refunded(id)).toContain('The service answered with text that is not JSON.');
    answers(200, '{"other":1}');
    expect(await refunded(id)).toContain('The service answered without a value at /slug.');
    answers(302, '');
    expect(await refunded(id)).toContain('The service does not answer.');

    const asked = Promise.withResolvers<void>();
    service.handler = () => asked.resolve();
    const before = await spendable();
    const { requestId } = (await invoke(id, { task: 'x', deadline: new Date(Date.now() + 15_000).toISOString() })).data;
    await asked.promise;
    child.kill('SIGKILL');
    expect(await untilEnded(h, buyer.key, requestId)).toMatchObject({ status: 'failed', refund: '0.02' });
    expect(await spendable()).toBeCloseTo(before);
  });

  it('has input in its address, which its callers are told', async () => {
    const service = await startService(
      ({ url, headers }, response) => void response.end(`${headers['x-team']} ${url}`),
    );
    const line = ['/u/{{input/id}}', '--query', 'q={{task}}', '--result', 'text', '--header', 'X-Team: blue'];
    const { id } = await serve([service.origin + line[0], ...line.slice(1), '--price', '0.02', '--name', 'Echo URL']);
    const body = { task: 'a&b', input: { id: '../x' } };
    const record = await untilEnded(h, buyer.key, (await invoke(id, body)).data.requestId);
    expect(record.result).toBe('blue /u/..%2Fx?q=a%26b');
    expect((await invoke(id)).error.code).toBe('VALIDATION_ERROR');
    expect(await refunded(id, { ...body, input: { id: '..' } })).toContain('a value that an address cannot hold');
  });
});

const openapi = {
  openapi: '3.1.0',
  paths: {
    '/health': { get: {} },
    '/slugify': {
      post: {
        requestBody: { content: { 'application/json': { schema: { $ref: '#/components/schemas/In' } } } },
        responses: {
          200: { content: { 'application/json': { schema: { properties: { slug: { type: 'string' } } } } } },
        },
      },
    },
  },
  components: {
    schemas: { In: { properties: { text: { type: 'string' }, max: { type: 'integer' } }, required: ['text'] } },
  },
};

describe('an address alone', () => {
  const ended = async (args: readonly string[]) => {
    const said = await run(args);
    return { code: (await once(said.child, 'close'))[0], stderr: said.stderr };
  };
  const documented: RequestListener = (request, response) =>
    request.url === '/openapi.json' ? void response.end(JSON.stringify(openapi)) : slugify(request, response);

  it.each([
    ['an A2A agent', startA2aUpstream, /This is an A2A agent\..* agentnet serve \S+agent-card\.json --protocol a2a/],
    ['an MCP server', startMcpUpstream, /This is an MCP server\..* agentnet serve \S+ --protocol mcp/],
    [
      'a model',
      startOpenaiUpstream,
      /This is an OpenAI-compatible API with the models .* agentnet serve \S+\/v1 --protocol openai --model another/,
    ],
  ])('of %s proposes its protocol, and asks first', async (name, start, says) => {
    const upstream = await start();
    const url = name === 'an A2A agent' ? upstream.endpoint : new URL('/', upstream.endpoint).href;
    const { code, stderr } = await ended([url]);
    await upstream.stop();
    expect([code, stderr]).toEqual([2, expect.stringMatching(says)]);
    expect(upstream.work).toEqual([]);
  });

  it('of a service with an OpenAPI document proposes a template, which works', async () => {
    const service = await startService(documented);
    const { code, stderr } = await ended([service.origin, '--price', '0.02']);
    const line = `agentnet serve ${service.origin}/slugify --price 0.02 --body '{"text":"{{task}}","max":"{{input/max}}"}' --result /slug`;
    expect([code, stderr]).toEqual([2, expect.stringContaining(line)]);
    expect(service.seen.filter((each) => !each.startsWith('GET '))).toEqual([]);
    const { id } = await serve(['--yes', service.origin, '--price', '0.02']);
    const record = await untilEnded(h, buyer.key, (await invoke(id)).data.requestId);
    expect(record).toMatchObject({ status: 'completed', result: 'two-words-' });
  });

  it('of a service that says nothing tells what to type', async () => {
    const service = await startService(slugify);
    const { code, stderr } = await ended([`${service.origin}/slugify`, '--yes']);
    expect([code, stderr]).toEqual([2, expect.stringContaining(`--body '{"text":"{{task}}"}' --result /text`)]);
    expect(service.seen.length).toBeLessThanOrEqual(10);
  });

  it('where nothing answers says so', async () => {
    const { code, stderr } = await ended(['http://127.0.0.1:1/slugify']);
    expect([code, stderr]).toEqual([1, expect.stringContaining('Nothing answers at 127.0.0.1:1.')]);
  });
});
