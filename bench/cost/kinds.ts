import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fundWallets } from '@agent-network/chain/chain-funding';
import { createClient } from '@agent-network/sdk';
import { generatePrivateKey, privateKeyToAddress } from 'viem/accounts';
import { type BenchContext, echoed, invokeRequest } from '../bench-context.ts';
import { startNode } from '../child-process.ts';
import type { Request } from '../http-connection.ts';
import type { LoadJob } from '../load-jobs.ts';
import type { ServiceUnderTest } from '../service-under-test.ts';
import type { StopList } from '../stop-list.ts';
import { addEndpoints, startReceiver } from '../webhook-endpoints.ts';

const CHUNKS = 100;
const STREAMS_AT_ONCE = 8;
const USDC_EACH = 1_000_000_000_000n;
const CHANNEL_DEPOSIT_MICRO = '100000000';

/** One kind of work: how it is done for about so many seconds, and what its cost is divided by. */
export interface CostKind {
  readonly name: string;
  readonly per: 'request' | 'call' | 'chunk';
  /** Returns the number of chunks, where those count. */
  run(seconds: number): Promise<number>;
}

export async function costKinds(ctx: BenchContext, callers: number): Promise<CostKind[]> {
  const { baseUrl, apiKey, chain } = ctx.service.local;
  const payerKeys = Array.from({ length: callers }, generatePrivateKey);
  const usdcMicro = USDC_EACH;
  const fundings = payerKeys.map((key) => ({ address: privateKeyToAddress(key), ethWei: 0n, usdcMicro }));
  await fundWallets(chain.rpcUrl, chain.usdc, fundings);
  const headers = { authorization: `Bearer ${apiKey}` };
  const get = (path: string): Request => ({ method: 'GET', url: baseUrl + path, headers });
  const job = async (each: LoadJob) => {
    await ctx.load.run(each);
    return 0;
  };
  const plain = (request: Request, status: number, includes: string) => (seconds: number) =>
    job({ kind: 'plain', callers, seconds, questions: [{ request, status, includes }] });
  const invoke = (extra: Record<string, string>) => invokeRequest(ctx, extra);
  const sync = { 'x-sync': 'true' };
  const x402 = invoke({ 'x-payment-method': 'x402' });
  const asynchronous = plain(invoke({ 'x-payment-method': 'treasury' }), 200, '"requestId"');
  const search: Request = {
    ...get('/agents/search'),
    method: 'POST',
    body: { query: { capabilities: { any: ['echo'] } } },
  };
  return [
    { name: 'list of agents', per: 'request', run: plain(get('/agents?capability=echo'), 200, '"agents"') },
    { name: 'search', per: 'request', run: plain(search, 200, '"agents"') },
    { name: '402 with terms', per: 'request', run: plain(x402, 402, '"accepts"') },
    {
      name: 'treasury, synchronous',
      per: 'call',
      run: plain(invoke({ ...sync, 'x-payment-method': 'treasury' }), 200, echoed),
    },
    { name: 'treasury, asynchronous', per: 'call', run: asynchronous },
    {
      name: 'x402, exact',
      per: 'call',
      run: (seconds) => job({ kind: 'paid', callers, seconds, request: x402, includes: echoed, payerKeys }),
    },
    {
      name: 'voucher of a channel',
      per: 'call',
      run: (seconds) =>
        job({
          ...{ kind: 'channel', callers, seconds, request: x402, includes: echoed, payerKeys },
          depositMicro: CHANNEL_DEPOSIT_MICRO,
        }),
    },
    { name: 'chunk of a stream', per: 'chunk', run: await streamer(ctx) },
    { name: 'asynchronous with a webhook', per: 'call', run: await withWebhook(ctx, asynchronous) },
  ];
}

/** Adds an endpoint that gets every end, from the first run on; so use this as the last kind. */
async function withWebhook(ctx: BenchContext, work: CostKind['run']): Promise<CostKind['run']> {
  const receiver = await startReceiver(ctx);
  let isAdded = false;
  return async (seconds) => {
    if (!isAdded) await addEndpoints(ctx, receiver, 1);
    isAdded = true;
    return work(seconds);
  };
}

async function streamer(ctx: BenchContext): Promise<CostKind['run']> {
  const agentId = await startStreamAgent(ctx.stops, ctx.service);
  const client = createClient(ctx.service.local);
  const input = { chunks: CHUNKS, everyMs: 0, text: 'x'.repeat(100) };
  return async (seconds) => {
    const endsAtMs = performance.now() + seconds * 1000;
    let chunks = 0;
    const streams = Array.from({ length: STREAMS_AT_ONCE }, async () => {
      while (performance.now() < endsAtMs)
        for await (const { type } of client.invokeStreaming(
          agentId,
          { task: 'stream', input },
          { headers: { 'x-payment-method': 'treasury' } },
        ))
          if (type === 'invocation.chunk') chunks++;
    });
    await Promise.all(streams);
    return chunks;
  };
}

/** Returns the id of an agent that streams. */
async function startStreamAgent(stops: StopList, { local }: ServiceUnderTest): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'agent-network-size-agent-'));
  stops.add(() => rm(folder, { recursive: true, force: true }));
  const { baseUrl, apiKey } = local;
  const settings = { baseUrl, apiKey, tokenFile: join(folder, 'token.json'), perRequest: '0.01' };
  const script = fileURLToPath(new URL('../stream-agent.ts', import.meta.url));
  const child = startNode([script], { AGENT_SETTINGS: JSON.stringify(settings) });
  stops.add(() => child.stop());
  return (await child.line(/^agent /)).slice('agent '.length);
}
