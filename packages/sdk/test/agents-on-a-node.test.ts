import { subscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startLocal } from '../../service/test/support/local-node.ts';
import { type HandleCall, type ServeAgentOptions, type ServedAgent, serveAgent } from '../src/agent/serve-agent.ts';
import { createClient } from '../src/client.ts';
import { createPayer } from '../src/payer.ts';

let node: Awaited<ReturnType<typeof startLocal>>;
let folder: string;
const served: ServedAgent[] = [];
beforeAll(async () => {
  node = await startLocal();
  folder = await mkdtemp(join(tmpdir(), 'sdk-agents-'));
});
afterEach(async () => {
  await Promise.all(served.splice(0).map((agent) => agent.close()));
});
afterAll(async () => {
  await node?.stop();
  await rm(folder, { recursive: true });
});

function newClient() {
  const { baseUrl, apiKey, wallets } = node.local;
  const payer = createPayer({ privateKey: wallets[0]?.privateKey as `0x${string}`, maxPerCall: '0.01' });
  return createClient({ baseUrl, apiKey, payer });
}

let count = 0;
async function online(handle: HandleCall, more: Partial<ServeAgentOptions> = {}): Promise<string> {
  const { baseUrl, apiKey } = node.local;
  count += 1;
  const about = { name: `Tester ${count}`, capabilities: ['testing'], rates: { perRequest: '0.01' } };
  const tokenFile = join(folder, `${count}.json`);
  const agent = await serveAgent({
    handle,
    closeTimeoutMs: 500,
    registerWith: { baseUrl, apiKey, tokenFile, ...about },
    ...more,
  });
  served.push(agent);
  const id = agent.agentId ?? '';
  await expect.poll(async () => (await newClient().getAgentStatus({ params: { id } })).online).toBe(true);
  return id;
}

const headers = { 'x-payment-method': 'x402' } as const;

describe('an agent of the SDK on a node', () => {
  it('that defers is polled, and its result reaches the caller', async () => {
    const agentId = await online(async ({ task }) => ({ did: task }), { defer: true });
    const client = newClient();
    const call = { params: { agentId }, headers: { ...headers, 'x-sync': 'true' as const }, body: { task: 'x' } };
    expect(await client.invokeAgent(call)).toMatchObject({ status: 'completed', result: { did: 'x' } });
  });

  it('that defers gets a cancellation of its request', async () => {
    const [polled, aborted] = [Promise.withResolvers<void>(), Promise.withResolvers<unknown>()];
    subscribe('http.server.request.start', (message) => {
      const { method, url } = (message as { request: IncomingMessage }).request;
      if (method === 'GET' && url?.includes('request_id=')) polled.resolve();
    });
    const handle: HandleCall = ({ signal }) =>
      new Promise((_resolve, reject) =>
        signal.addEventListener('abort', () => {
          aborted.resolve(signal.reason);
          reject(signal.reason);
        }),
      );
    const agentId = await online(handle, { defer: true });
    const client = newClient();
    await client.createTreasury();
    await client.depositToTreasury({ body: { amount: '0.01' } });
    const treasury = { 'x-payment-method': 'treasury' } as const;
    const { requestId } = await client.invokeAgent({ params: { agentId }, headers: treasury, body: { task: 'x' } });
    await polled.promise;
    expect(await client.cancelInvocation({ params: { requestId } })).toMatchObject({ cancelled: true, refund: '0.01' });
    expect(String(await aborted.promise)).toContain('cancelled');
  });

  it('that streams is heard piece by piece, once, although the caller hangs up after each of them', async () => {
    const pieces = Array.from({ length: 20 }, (_piece, index) => `${index} `);
    const agentId = await online(function* () {
      yield* pieces;
    });
    const heard: StreamEvent[] = [];
    const hearOne = async (events: AsyncIterable<StreamEvent>) => {
      for await (const event of events) {
        heard.push(event);
        break;
      }
    };
    const client = newClient();
    await hearOne(client.invokeStreaming(agentId, { task: 'x' }, { headers }));
    while (heard.at(-1)?.type !== 'invocation.completed') {
      const last = heard.at(-1) as StreamEvent;
      await hearOne(client.stream(last.data.requestId, { after: last.id }));
    }
    const chunks = heard.flatMap((event) => (event.type === 'invocation.chunk' ? [event.data.chunk] : []));
    expect(chunks).toEqual(pieces);
    expect(heard.map(({ id }) => id)).toEqual(Array.from({ length: 23 }, (_id, index) => index + 1));
  });
});
