import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silentLog } from '../../src/lib/telemetry/log.ts';
import { createOpenTelemetry, createSampling } from '../../src/lib/telemetry/open-telemetry.ts';
import { type Harness, startHarness } from '../support/harness.ts';
import { startTestAgent, type TestAgent } from '../support/test-agent.ts';
import { startWatch } from '../support/watch.ts';
import { payV2 } from '../support/x402-payer.ts';

interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
}

/** A collector of OTLP over HTTP, and a receiver of webhooks. */
const received: { spans: Span[]; texts: string[]; webhooks: number } = { spans: [], texts: [], webhooks: 0 };
let collector: Server;
let h: Harness;
let agent: TestAgent;
let key: string;

const portOf = (server: Server) => (server.address() as AddressInfo).port;

beforeAll(async () => {
  collector = createServer(async (request, response) => {
    let text = '';
    for await (const part of request) text += part;
    response.end('{}');
    if (request.url === '/hook') received.webhooks++;
    if (request.url !== '/v1/traces') return;
    received.texts.push(text);
    for (const { scopeSpans } of JSON.parse(text).resourceSpans)
      for (const { spans } of scopeSpans) received.spans.push(...spans);
  });
  await new Promise<void>((resolve) => collector.listen(0, '127.0.0.1', resolve));
  h = await startHarness({
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${portOf(collector)}`,
      TRACE_SAMPLE_RATIO: '1',
      TRACES_PER_SECOND: '1000',
    },
  });
  agent = await startTestAgent(h, { perRequest: '0.05' });
  key = (await h.newAccount()).key;
});
afterAll(async () => {
  await agent.die();
  await h.stop();
  await new Promise((resolve) => collector.close(resolve));
});

/** A call paid on chain, in the caller's trace. */
async function paidCall(traceparent: string) {
  const body = { task: 'a task that stays private', webhookUrl: `http://127.0.0.1:${portOf(collector)}/hook` };
  const unpaid = await h.request('POST', `/invoke/${agent.id}`, { key, body });
  const payment = await payV2(h, await h.newWallet(), unpaid);
  const headers = { ...payment, traceparent, tracestate: 'vendor=of-the-caller' };
  const answer = await h.request('POST', `/invoke/${agent.id}`, { key, body, headers });
  expect(answer.status).toBe(200);
  return payment['payment-signature'] as string;
}

const spansOf = (traceId: string) => received.spans.filter((span) => span.traceId === traceId);
const namesOf = (traceId: string) => spansOf(traceId).map(({ name }) => name);

describe('traces', () => {
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  let payment: string;

  it('a paid call is one trace, the caller’s: HTTP, database, chain, agent, webhook', async () => {
    payment = await paidCall(`00-${traceId}-b7ad6b7169203331-01`);
    const parts = ['invokeAgent', 'chain', 'run invocation', 'call POST', 'deliver webhook'];
    await expect.poll(() => namesOf(traceId)).toEqual(expect.arrayContaining(parts));
    expect(namesOf(traceId).some((name) => name.startsWith('database '))).toBe(true);
    const spans = spansOf(traceId);
    const ids = new Set(spans.map(({ spanId }) => spanId));
    const [root, ...others] = spans.filter(({ parentSpanId }) => !ids.has(parentSpanId ?? ''));
    expect({ parent: root?.parentSpanId, others }).toEqual({ parent: 'b7ad6b7169203331', others: [] });
  });

  it('the agent is told the trace, and nothing else of what the caller sent', () => {
    const headers = agent.calls.at(-1)?.headers ?? {};
    const caller = spansOf(traceId).find(({ spanId }) => headers.traceparent === `00-${traceId}-${spanId}-01`);
    expect(caller?.name).toBe('call POST');
    expect(headers.tracestate).toBeUndefined();
  });

  it('hold neither task, key nor payment', () => {
    const text = received.texts.join('');
    for (const secret of ['stays private', key, payment, '/hook']) expect(text).not.toContain(secret);
  });

  it('are named by exemplars, in OpenMetrics only', async () => {
    const accept = { headers: { accept: 'application/openmetrics-text;version=1.0.0,text/plain;q=0.5' } };
    const open = await h.request('GET', '/metrics', accept);
    expect(open.headers.get('content-type')).toMatch(/^application\/openmetrics-text/);
    expect(open.body).toMatch(
      /^http_server_request_duration_seconds_bucket\{.*route="invokeAgent".*\} \d+ # \{trace_id="[0-9a-f]{32}"\}/m,
    );
    expect(open.body).toMatch(/^invocation_charged_micro_total 50000 # \{trace_id="[0-9a-f]{32}"\} 50000 /m);
    const labels = [...open.body.matchAll(/ # \{([^}]*)\}/g)].map((match) => match[1] as string);
    expect(labels.filter((label) => !/^trace_id="[0-9a-f]{32}"$/.test(label))).toEqual([]);
    expect((await h.request('GET', '/metrics')).body).not.toContain(' # {');
    const proxied = { headers: { ...accept.headers, 'x-forwarded-for': '203.0.113.7' } };
    expect((await h.request('GET', '/metrics', proxied)).status).toBe(403);
  });

  it('a header that is no traceparent begins a trace of the node’s own', async () => {
    const before = received.spans.length;
    await h.request('GET', '/agents', { headers: { traceparent: `00-${'0'.repeat(32)}-b7ad6b7169203331-01` } });
    await expect.poll(() => received.spans.slice(before).map(({ name }) => name)).toContain('listAgents');
    const span = received.spans.slice(before).find(({ name }) => name === 'listAgents');
    expect(span?.parentSpanId ?? '').toBe('');
  });
});

it('a collector that never answers delays neither calls nor the stop of the node', async () => {
  const silent = createServer(() => undefined);
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const settings = { endpoint: `http://127.0.0.1:${portOf(silent)}`, ratio: 1, perSecond: 1000 };
  const tracing = createOpenTelemetry(settings, { log: silentLog, nodeLabel: 'test' });
  for (let count = 0; count < 600; count++) await tracing.serve('GET', undefined, async () => undefined);
  const tookMs = startWatch();
  await tracing.stop();
  expect(tookMs()).toBeLessThan(3000);
  silent.closeAllConnections();
  await new Promise((resolve) => silent.close(resolve));
});

describe('sampling', () => {
  it('records a share of traces by its own draw', () => {
    const draws = [0.05, 0.5, 0.09, 0.1];
    const isDrawn = createSampling({ ratio: 0.1, perSecond: 100 }, { random: () => draws.shift() ?? 1 });
    expect([isDrawn(), isDrawn(), isDrawn(), isDrawn()]).toEqual([true, false, true, false]);
  });

  it('records so many in a second and no more, however many come', () => {
    let nowMs = 0;
    const isDrawn = createSampling({ ratio: 1, perSecond: 10 }, { nowMs: () => nowMs });
    const count = () => Array.from({ length: 1000 }, isDrawn).filter(Boolean).length;
    expect(count()).toBe(10);
    nowMs = 500;
    expect(count()).toBe(5);
    nowMs = 60_000;
    expect(count()).toBe(10);
  });
});
