import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { freePort } from '../../../src/compose/local/free-port.ts';
import { type Harness, startHarness, type TestAccount } from '../../support/harness.ts';
import { isLong } from '../../support/long.ts';
import { type Client, newClient, untilEnded } from '../../support/treasury.ts';
import { until } from '../../support/until.ts';
import { filled, snippetsOf } from '../gateways/guide-snippets.ts';

const hasGo = spawnSync('go', ['version']).status === 0;
if (isLong && !hasGo)
  process.stderr.write('The test of the Go guide is skipped: there is no go (apt-get install golang-go)\n');

/** Compiling the standard library takes up to half a minute where nothing of it is cached. */
describe.skipIf(!isLong || !hasGo)('the agent in Go (go of 1.19 or later) works as it stands in the guide', () => {
  let h: Harness;
  let owner: TestAccount;
  let buyer: Client;
  let program: ChildProcess;
  let port: number;
  let agentId: string;
  let refused: string;

  beforeAll(async () => {
    h = await startHarness();
    [owner, buyer] = [await h.newAccount(), await newClient(h, '1')];
    port = await freePort(0);
    const [code = '', ...others] = snippetsOf('guides/building-go.md', 'go');
    expect(others).toEqual([]);
    writeFileSync(
      join(h.dataDir, 'main.go'),
      filled(code, { 'http://127.0.0.1:4020': h.baseUrl, '8802': String(port) }),
    );
    // Nothing but the standard library: no module is fetched.
    const env = {
      ...process.env,
      GO111MODULE: 'off',
      GOFLAGS: '',
      GOPROXY: 'off',
      CGO_ENABLED: '0',
      AGENT_NETWORK_KEY: owner.key,
    };
    await promisify(execFile)('go', ['vet', 'main.go'], { cwd: h.dataDir, env });
    await promisify(execFile)('go', ['build', '-o', 'agent', 'main.go'], { cwd: h.dataDir, env });
    const withBadKey = { cwd: h.dataDir, env: { ...env, AGENT_NETWORK_KEY: 'ank_test_bad' } };
    refused = await promisify(execFile)(join(h.dataDir, 'agent'), [], withBadKey).then(
      () => 'it was registered',
      ({ stderr }) => String(stderr),
    );
    program = spawn(join(h.dataDir, 'agent'), { cwd: h.dataDir, env, stdio: ['ignore', 'pipe', 'inherit'] });
    const [said] = await once(program.stdout as NonNullable<ChildProcess['stdout']>, 'data');
    agentId = /serving (agt_\w+)/.exec(String(said))?.[1] ?? '';
    const isOnline = async () => {
      await h.request('POST', '/identity/verify', { key: owner.key, body: { agentId, proof: 'endpoint' } });
      return (await h.request('GET', `/agents/${agentId}`)).body.data.status === 'online';
    };
    await until(isOnline);
  }, 180_000);
  afterAll(async () => {
    if (program && program.exitCode === null) {
      program.kill('SIGKILL');
      await once(program, 'exit');
    }
    await h?.stop();
  });

  const invoke = async (body: Record<string, unknown>, headers: Record<string, string> = {}) =>
    (await h.request('POST', `/invoke/${agentId}`, { key: buyer.key, body, headers })).body.data;

  it('keeps its token in a file that only its user reads, and refuses a call that the node has not signed', async () => {
    expect(statSync(join(h.dataDir, 'whisperer.json')).mode & 0o777).toBe(0o600);
    const body = JSON.stringify({ request_id: 'inv_forged', task: 'x', input: {}, stream: false });
    const headers = {
      'webhook-id': 'x',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': 'v1,AAAA',
    };
    for (const sent of [{}, headers])
      expect((await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body, headers: sent })).status).toBe(401);
  });

  it('registers at a later start, after one that the node refused', () => {
    expect(refused).toContain('registration was answered with 401');
  });

  it('answers at once, and is paid', async () => {
    const { requestId } = await invoke({ task: 'SAY Hello' }, { 'x-sync': 'true' });
    const record = await untilEnded(h, buyer.key, requestId);
    expect(record).toMatchObject({ status: 'completed', result: { text: 'say hello' }, cost: '0.01' });
  });

  it('answers later, at its status URL', async () => {
    const { requestId } = await invoke({ task: 'Later', input: { later: true } });
    expect(await untilEnded(h, buyer.key, requestId)).toMatchObject({ result: { text: 'later' } });
  });

  it('streams its answer in pieces', async () => {
    const { requestId } = await invoke({ task: 'ONE TWO', stream: true });
    await untilEnded(h, buyer.key, requestId);
    const answer = await fetch(`${h.baseUrl}/invoke/${requestId}/events`, {
      headers: { authorization: `Bearer ${buyer.key}`, accept: 'text/event-stream' },
    });
    const chunks = [...(await answer.text()).matchAll(/event: invocation\.chunk\ndata: (.*)/g)];
    expect(chunks.map(([, data]) => JSON.parse(data ?? '').chunk)).toEqual(['one ', 'two ']);
  });

  it('that fails is not paid, and the caller reads why', async () => {
    const { requestId } = await invoke({ task: 'x', input: { pause: 'never' } });
    const record = await untilEnded(h, buyer.key, requestId);
    expect(record).toMatchObject({ status: 'failed', error: { code: 'agent_error' }, refund: '0.01' });
    expect(record.error?.message).toContain('whispering_failed');
  });

  it('can be called, asked at its status URL, and cancelled: the caller has the money back', async () => {
    const { requestId } = await invoke({ task: 'a b', input: { later: true, pause: 600 } });
    const isAccepted = async () =>
      (await h.request('GET', `/invoke/${requestId}`, { key: buyer.key })).body.data.status === 'processing'
        ? true
        : null;
    await until(isAccepted);
    await h.request('POST', `/invoke/${requestId}/cancel`, { key: buyer.key, body: {} });
    expect(await untilEnded(h, buyer.key, requestId)).toMatchObject({ status: 'cancelled', refund: '0.01' });
  });
});
