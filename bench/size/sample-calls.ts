import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createClient, createPayer } from '@agent-network/sdk';
import type pg from 'pg';
import { startNode } from '../child-process.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import type { StopList } from '../stop-list.ts';
import { withClient } from './size-server.ts';
import { changeOf, countTables, type TableCounts } from './table-counts.ts';

/** Kinds of sample calls to multiply the rows of. */
export const kinds = ['treasury', 'x402', 'async', 'stream', 'failed'] as const;
export type Kind = (typeof kinds)[number];

export interface Sample {
  readonly kind: Kind;
  readonly requestId: string;
  /** Rows that the call added, by table. */
  readonly rows: Readonly<Record<string, number>>;
}

/** The `Idempotency-Key` of the call. */
export const sampleKey = (kind: Kind): string => `sample-${kind}`;

const STREAM_CHUNKS = 10;
const CHUNK_TEXT = 'x'.repeat(100);
const SETTLED_WITHIN_MS = 60_000;
const EVERY_MS = 100;

/** Makes one real call of each kind through HTTP and reads from the database which rows it has left. */
export async function sampleCalls(stops: StopList, service: ServiceUnderTest, databaseUrl: string): Promise<Sample[]> {
  const { baseUrl, apiKey, wallets } = service.local;
  const wallet = wallets[0];
  if (!wallet) throw new Error('the node has no funded wallet');
  const payer = createPayer({ privateKey: wallet.privateKey, maxPerCall: '1000' });
  const client = createClient({ baseUrl, apiKey, payer });
  const webhookUrl = await startReceiver(stops);
  const streamAgentId = await startStreamAgent(stops, service);
  const body = { task: 'echo', input: { text: 'hello' } };
  const params = { agentId: service.echoAgentId };
  const plan = { chunks: STREAM_CHUNKS, everyMs: 0, text: CHUNK_TEXT };
  const headersOf = (kind: Kind) => ({
    'x-payment-method': kind === 'x402' ? ('x402' as const) : ('treasury' as const),
    'idempotency-key': sampleKey(kind),
    ...(kind === 'async' ? {} : { 'x-sync': 'true' as const }),
  });
  const ofEcho = (kind: Kind, extra = {}) =>
    client.invokeAgent({ params, headers: headersOf(kind), body: { ...body, ...extra } });
  const calls: Record<Kind, () => Promise<unknown>> = {
    treasury: () => ofEcho('treasury'),
    x402: () => ofEcho('x402'),
    async: () => ofEcho('async', { webhookUrl }),
    stream: async () => {
      const { 'x-sync': _, ...headers } = headersOf('stream');
      for await (const event of client.invokeStreaming(streamAgentId, { task: 'stream', input: plan }, { headers }))
        if (event.type === 'invocation.failed') throw new Error('the stream failed');
    },
    failed: () => {
      const request = { task: 'stream', input: { ...plan, fails: true } };
      const headers = headersOf('failed');
      return client.invokeAgent({ params: { agentId: streamAgentId }, headers, body: request });
    },
  };
  return withClient(databaseUrl, async (database) => {
    const samples: Sample[] = [];
    for (const kind of kinds) {
      const before = await restingCounts(database);
      await calls[kind]();
      const rows = changeOf(before, await restingCounts(database));
      const { rows: made } = await database.query<{ id: string }>(
        'select id from invocation order by created_at desc limit 1',
      );
      samples.push({ kind, requestId: made[0]?.id ?? '', rows });
    }
    return samples;
  });
}

const unfinished = {
  invocations: `select from invocation where status in ('pending', 'processing')`,
  figures: 'select from call_change',
  outcomes: 'select from outcome_due',
  storage: 'select from storage_change',
  events: 'select from event where needs_fan_out',
  deliveries: `select from webhook_delivery where state = 'pending'`,
  feedback: 'select from feedback_due',
  totals: 'select from ledger_total where not is_folded',
} as const;

/** Row counts when recurring work has dealt with all that there is: sums folded, outcomes counted, webhooks delivered. */
async function restingCounts(client: pg.Client): Promise<TableCounts> {
  const until = performance.now() + SETTLED_WITHIN_MS;
  let open: string[] = [];
  while (performance.now() < until) {
    const { rows } = await client.query<{ name: string }>(
      Object.entries(unfinished)
        .map(([name, some]) => `select '${name}' as name where exists (${some})`)
        .join(' union all '),
    );
    open = rows.map(({ name }) => name);
    if (open.length === 0) return countTables(client);
    await sleep(EVERY_MS);
  }
  throw new Error(`the node has not come to rest after a call: ${open.join(', ')}`);
}

async function startReceiver(stops: StopList): Promise<string> {
  const server = createServer((request, response) => request.resume().on('end', () => response.end('ok')));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  stops.add(async () => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the receiver has no port');
  return `http://127.0.0.1:${address.port}/ended`;
}

/** Returns the id of an agent that streams, and fails when it is asked to. */
export async function startStreamAgent(stops: StopList, { local }: ServiceUnderTest): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-size-agent-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  const { baseUrl, apiKey } = local;
  const settings = { baseUrl, apiKey, tokenFile: join(folder, 'token.json'), perRequest: '0.01' };
  const script = fileURLToPath(new URL('../stream-agent.ts', import.meta.url));
  const child = startNode([script], { AGENT_SETTINGS: JSON.stringify(settings) });
  stops.add(() => child.stop());
  return (await child.line(/^agent /)).slice('agent '.length);
}
