import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../../../src/compose/local/free-port.ts';
import type { Harness, TestAccount } from '../../support/harness.ts';
import { borrowHarness } from '../../support/lent-harness.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { filled, snippetsOf } from '../gateways/guide-snippets.ts';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;

describe.skipIf(!hasPython)('the guides to Python (python3 of 3.9 or later) work as they stand', () => {
  let h: Harness;
  let owner: TestAccount;
  let buyer: Client;
  let python: ChildProcess;
  let port: number;
  let agentId: string;
  let refused: string;
  let folder: string;

  beforeAll(async () => {
    h = await borrowHarness();
    [owner, buyer] = [await h.newAccount(), await newClient(h, '1')];
    port = await freePort(0);
    const [code = '', ...others] = snippetsOf('guides/building-python.md', 'python');
    expect(others).toEqual([]);
    // Other files of tests have agents in the folder of the same node.
    folder = mkdtempSync(join(h.dataDir, 'python-'));
    const file = join(folder, 'agent.py');
    writeFileSync(file, filled(code, { 'http://127.0.0.1:4020': h.baseUrl, '8801': String(port) }));
    const withBadKey = { cwd: folder, env: { ...process.env, AGENT_NETWORK_KEY: 'ank_test_bad' } };
    refused = await promisify(execFile)('python3', [file], withBadKey).then(
      () => 'it was registered',
      ({ stderr }) => String(stderr),
    );
    python = spawn('python3', [file], {
      cwd: folder,
      env: { ...process.env, AGENT_NETWORK_KEY: owner.key },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [said] = await once(python.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    agentId = /serving (agt_\w+)/.exec(String(said))?.[1] ?? '';
    const isOnline = async () => {
      await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId, proof: 'endpoint' } });
      return (await h.request('GET', `/agents/${agentId}`)).body.data.status === 'online';
    };
    await until(isOnline);
  });
  afterAll(async () => {
    if (python && python.exitCode === null) {
      python.kill('SIGKILL');
      await once(python, 'exit');
    }
    await h?.stop();
  });

  const invoke = async (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    (await h.request('POST', `/invoke/${agentId}`, { key: buyer.key, body, headers })).body.data;

  it('the agent keeps its token in a file that only its user reads', () => {
    expect(statSync(join(folder, 'shouter.json')).mode & 0o777).toBe(0o600);
  });

  it('the agent registers at a later start, after one that the node refused', () => {
    expect(refused).toContain('HTTP Error 401');
    expect(existsSync(join(folder, 'shouter.json.new'))).toBe(false);
  });

  it('the agent refuses a call that the node has not signed', async () => {
    const body = JSON.stringify({ request_id: 'inv_forged', task: 'x', input: {}, stream: false });
    const answer = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body });
    expect(answer.status).toBe(401);
  });

  it('the agent reads no body whose length is below nothing', async () => {
    const stranger = connect(port, '127.0.0.1');
    stranger.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n');
    const [said] = await once(stranger, 'data');
    stranger.destroy();
    expect(String(said)).toMatch(/^HTTP\/1\.\d 401 /);
  });

  it('the agent answers at once', async () => {
    const { requestId } = await invoke({ task: 'say hello' }, { 'x-sync': 'true' });
    expect(await untilEnded(h, buyer.key, requestId)).toMatchObject({
      status: 'completed',
      result: { text: 'SAY HELLO' },
      cost: '0.01',
    });
  });

  it('the agent answers later, at its status URL', async () => {
    const { requestId } = await invoke({ task: 'say hello later', input: { later: true } });
    expect(await untilEnded(h, buyer.key, requestId)).toMatchObject({ result: { text: 'SAY HELLO LATER' } });
  });

  it('the agent streams its answer in pieces', async () => {
    const { requestId } = await invoke({ task: 'one two', stream: true });
    await untilEnded(h, buyer.key, requestId);
    const answer = await fetch(`${h.baseUrl}/invoke/${requestId}/events`, {
      headers: { authorization: `Bearer ${buyer.key}`, accept: 'text/event-stream' },
    });
    const chunks = [...(await answer.text()).matchAll(/event: invocation\.chunk\ndata: (.*)/g)];
    expect(chunks.map(([, data]) => JSON.parse(data ?? '').chunk)).toEqual(['ONE ', 'TWO ']);
  });

  it('the agent that fails is not paid, and the caller reads why', async () => {
    const { requestId } = await invoke({ task: 'x', input: { pause: 'never' } });
    const record = await untilEnded(h, buyer.key, requestId);
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_error' } });
    expect(record.error?.message).toContain('shouting_failed');
  });

  it('the caller finds it, asks for the price, pays, streams, and reads errors and earnings', async () => {
    const blocks = snippetsOf('guide-python.md', 'python');
    expect(blocks).toHaveLength(7);
    const file = join(h.dataDir, 'caller.py');
    writeFileSync(file, filled(blocks.join('\n\n'), { 'http://127.0.0.1:4020': h.baseUrl, '"echo"': '"shouting"' }));
    const { stdout } = await promisify(execFile)('python3', [file], {
      env: { ...process.env, AGENT_NETWORK_KEY: buyer.key },
    });
    const [available, price, result, ...rest] = stdout.trim().split('\n');
    expect(available).toMatch(/^available: 0\.\d+ USDC$/);
    expect(price).toBe('Shouter takes 0.01 USDC');
    expect(result).toBe("{'text': 'SAY HELLO'} for 0.01 USDC");
    expect(rest.filter((line) => line.startsWith('invocation.chunk'))).toEqual(
      ['ONE', 'TWO', 'THREE']
        .map((word) => `invocation.chunk ${word} `)
        .map((line) => expect.stringContaining(line.trimEnd())),
    );
    expect(rest).toContain('invocation.completed ');
    expect(rest.at(-1)).toBe('NOT_FOUND');
  });
});

type Step = (request: IncomingMessage, response: ServerResponse) => void;

const answers =
  (status: number, type: string, text: string): Step =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': type }).end(text);
const breaksOff =
  (text: string): Step =>
  (_request, response) =>
    void response.writeHead(200).write(text, () => response.destroy());
const hangsUp: Step = (request) => void request.socket.destroy();
const ofProxy = (status: number) => answers(status, 'text/html', '<html>of a proxy</html>');
const ofGateway = answers(502, 'application/json', '{"error":"Bad Gateway"}');
/** The other form that `Retry-After` may have. */
const waitUntil: Step = (_request, response) =>
  void response.writeHead(503, { 'retry-after': 'Wed, 21 Oct 2026 07:28:00 GMT' }).end();

describe.skipIf(!hasPython)('a caller of the guide to Python with breaking connections', () => {
  /** Runs blocks of the guide, and lines behind them, on a server that answers each request with the next step, then with the last. */
  async function run(blocks: readonly string[], lines: readonly string[], steps: readonly Step[]) {
    const seen: IncomingMessage[] = [];
    const server = createServer((request, response) => {
      seen.push(request);
      request.resume();
      steps[Math.min(seen.length, steps.length) - 1]?.(request, response);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void server.close());
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const code = filled([...blocks, ...lines].join('\n'), {
      'http://127.0.0.1:4020': `http://127.0.0.1:${port}`,
      'time.sleep(': 'str(',
    });
    const env = { ...process.env, AGENT_NETWORK_KEY: 'ank_test_guide' };
    const { stdout } = await promisify(execFile)('python3', ['-c', code], { env, timeout: 150_000 });
    return { said: stdout.trim().split('\n'), seen };
  }
  const [api = '', ...others] = snippetsOf('guide-python.md', 'python');

  it('repeats the call under its key, whatever broke, until it is answered', async () => {
    const done = answers(200, 'application/json', '{"data": {"said": "done"}}');
    const steps = [hangsUp, breaksOff('{"data"'), ofGateway, waitUntil, done];
    const { said, seen } = await run([api], ['print(api("POST", "/any", {})["said"])'], steps);
    expect(said).toEqual(['done']);
    expect(seen).toHaveLength(5);
    expect(new Set(seen.map(({ headers }) => headers['idempotency-key'])).size).toBe(1);
    expect(seen.map(({ headers }) => headers['content-length'])).toEqual(['2', '2', '2', '2', '2']);
  });

  it('gets the answer of a proxy to every attempt', async () => {
    const lines = ['try:', '    api("GET", "/any")', 'except ApiError as failure:', '    print(failure)'];
    const { said, seen } = await run([api], lines, [ofProxy(503)]);
    expect(said).toEqual(['503 NO_ANSWER: Service Unavailable']);
    expect(seen).toHaveLength(5);
  });

  it('follows a stream over them, and gets an error for one that does not exist', async () => {
    const [events = ''] = others.find((block) => block.includes('def events('))?.split('\nstreamed = ') ?? [];
    const chunk = (id: number) => `id: ${id}\nevent: invocation.chunk\ndata: {"chunk": ${id}}\n\n`;
    const gone = answers(410, 'application/json', '{"error": {"code": "GONE", "message": "It is too old."}}');
    const steps = [breaksOff(chunk(1)), ofProxy(502), answers(200, 'text/event-stream', chunk(2)), gone];
    const lines = [
      'try:',
      '    for name, data in events("req_1"):',
      '        print(name, data["chunk"])',
      'except ApiError as failure:',
      '    print(failure)',
    ];
    const { said, seen } = await run([api, events], lines, steps);
    expect(said).toEqual(['invocation.chunk 1', 'invocation.chunk 2', '410 GONE: It is too old.']);
    expect(seen.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '1', '1', '2']);
  });
});
