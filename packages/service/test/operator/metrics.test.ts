import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createNodeMetrics } from '../../src/compose/context.ts';
import { createRefusalLog } from '../../src/http/request/refusal-log.ts';
import { createLog } from '../../src/lib/telemetry/log.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startTestAgent } from '../support/test-agent.ts';
import { newClient } from '../support/treasury.ts';

const lines: Record<string, unknown>[] = [];
const ofStream = (stream: string) => lines.filter((line) => line.stream === stream);
let h: Harness;
beforeAll(async () => {
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  h = await startHarness({ log: createLog({ level: 'info', destination }) });
});
afterAll(() => h.stop());

describe('metrics', () => {
  it('has every counter at 0 from the start, with each of its known labels', async () => {
    const { text } = await createNodeMetrics().exposition('text');
    const counters = [...text.matchAll(/^# TYPE (\S+) counter$/gm)].map((match) => match[1] as string);
    expect(counters.length).toBeGreaterThan(15);
    expect(counters.filter((name) => !new RegExp(`^${name}(\\{.*\\})? \\S+$`, 'm').test(text))).toEqual([
      'recurring_failures_total',
    ]);
    for (const name of ['watch-reserves', 'audit-money', 'read-transfers', 'forget-charges'])
      expect((await h.request('GET', '/metrics')).body).toContain(`recurring_failures_total{name="${name}"} `);
    for (const series of [
      'invocations_ended_total{status="failed",reason="agent_unreachable"} 0',
      'settlements_total{outcome="unknown"} 0',
      'money_contradictions_total{kind="balance_differs"} 0',
      'x402_channel_refusals_total{reason="malformed"} 0',
      'channel_claims_total{outcome="refused"} 0',
      'requests_refused_total{kind="unauthorized"} 0',
    ])
      expect(text).toContain(`${series}\n`);
  });

  it('has each contradiction that the audit looks for at 0 from the start, so that an alert sees the first', async () => {
    const { text } = await createNodeMetrics().exposition('text');
    const store = readFileSync(join(import.meta.dirname, '../../src/calls/finish/money-audit-store.ts'), 'utf8');
    // The only literals of these statements with an underscore.
    const kinds = [...store.matchAll(/'([a-z]+(?:_[a-z]+)+)'/g)].map((match) => match[1]);
    expect(kinds).toEqual(expect.arrayContaining(['completed_without_capture', 'channels_differ']));
    for (const kind of kinds) expect(text).toContain(`money_contradictions_total{kind="${kind}"} 0\n`);
  });

  it.skipIf(!existsSync('/usr/bin/promtool'))('are metrics as promtool understands them', async () => {
    const { body } = await h.request('GET', '/metrics');
    const output = await promtool(['check', 'metrics'], body);
    // Of the default metrics of Node.js and of names that stay; none is about the format.
    const about = output.split('\n').filter((line) => /error|pars/i.test(line));
    expect(about).toEqual([]);
  });

  it('tell rate, errors and duration of each endpoint and gateway, and the money of calls', async () => {
    const agent = await startTestAgent(h, { perRequest: '0.05' });
    const { key } = await newClient(h, '1');
    const headers = { 'x-sync': 'true' };
    const paid = await h.request('POST', `/invoke/${agent.id}`, { key, headers, body: { task: 'x' } });
    expect(paid.body.data.status).toBe('completed');
    await h.request('GET', '/v1/models', { key });
    const { body } = await h.request('GET', '/metrics');
    expect(body).toMatch(
      /^http_server_request_duration_seconds_count\{route="invokeAgent",gateway="rest",face="rest",status="200"\} 1$/m,
    );
    expect(body).toMatch(
      /^http_server_request_duration_seconds_count\{route="openaiModels",gateway="openai",face="openai",status="200"\} 1$/m,
    );
    expect(body).toMatch(/^invocation_charged_micro_total 50000$/m);
    await agent.die();
  });
});

describe('log streams', () => {
  it('a paid call writes one line of less than 400 bytes at the level of production', async () => {
    const agent = await startTestAgent(h, { perRequest: '0.05' });
    const { key } = await newClient(h, '1');
    const before = lines.length;
    for (let count = 0; count < 5; count++) {
      const body = { task: 'x'.repeat(1000) };
      await h.request('POST', `/invoke/${agent.id}`, { key, headers: { 'x-sync': 'true' }, body });
    }
    await h.request('GET', '/agents', { key });
    const written = lines.slice(before).map((line) => JSON.stringify(line));
    expect(written.filter((line) => line.includes('invocation ended'))).toHaveLength(5);
    expect(written).toHaveLength(5);
    expect(Math.max(...written.map((line) => line.length + 1))).toBeLessThan(400);
    await agent.die();
  });

  it('audited changes are in the audit stream, without their secrets', async () => {
    const { key, accountId } = await h.newAccount();
    const made = await h.request('POST', '/account/keys', { key, body: { name: 'second', scopes: ['invoke'] } });
    expect(made.status).toBe(200);
    const line = ofStream('audit').find((each) => each.accountId === accountId);
    expect(line).toMatchObject({ msg: 'audited', action: 'createApiKey', outcome: 'done', code: null });
    expect(JSON.stringify(lines)).not.toContain(made.body.data.apiKey);
  });

  it('refused callers are in the security stream, and counted', async () => {
    await h.request('GET', '/account', { key: 'ank_test_guess' });
    const { key } = await h.newAccount({ scopes: ['invoke'] });
    await h.request('GET', '/operator/status', { key });
    const kinds = ofStream('security').map(({ kind, route, address }) => ({ kind, route, address }));
    expect(kinds).toContainEqual({ kind: 'unauthorized', route: 'getAccount', address: '127.0.0.1' });
    expect(kinds).toContainEqual({ kind: 'forbidden', route: 'getOperatorStatus', address: '127.0.0.1' });
    expect(JSON.stringify(ofStream('security'))).not.toContain('ank_test_guess');
  });

  it('a stranger who tries a thousand keys writes 60 lines a minute, and every try is counted', async () => {
    const written: string[] = [];
    const metrics = createNodeMetrics();
    const log = createLog({ level: 'info', destination: { write: (line) => void written.push(line) } });
    let nowMs = 0;
    const refusals = createRefusalLog({ log, metrics }, () => nowMs);
    const refuse = () =>
      refusals.record({ kind: 'unauthorized', route: 'x', gateway: 'rest', requestId: 'r', address: '::1' });
    for (let tries = 0; tries < 1000; tries++) refuse();
    expect(written).toHaveLength(60);
    nowMs = 60_000;
    refuse();
    expect(JSON.parse(written.at(-1) ?? '')).toMatchObject({ stream: 'security', unwritten: 940 });
    expect((await metrics.exposition('text')).text).toContain('requests_refused_total{kind="unauthorized"} 1001\n');
  });
});

function promtool(args: string[], input: string): Promise<string> {
  return new Promise((resolve) => {
    const child = execFile('promtool', args, (_error, stdout, stderr) => resolve(stdout + stderr));
    child.stdin?.end(input);
  });
}
