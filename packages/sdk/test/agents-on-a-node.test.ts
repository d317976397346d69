import { subscribe } from 'node:diagnostics_channel';
import { mkdtemp, rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StreamEvent } from '@agent-network/contracts/invocations/stream-events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { startLocal } from '../../service/test/support/local-node.ts';
import {
  AgentError,
  ask,
  type HandleCall,
  type ServeAgentOptions,
  type ServedAgent,
  serveAgent,
} from '../src/agent/serve-agent.ts';
import { createClient } from '../src/client.ts';
import { invokeAndWait, type WaitOptions } from '../src/invoke-and-wait.ts';
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

  const booker: HandleCall = ({ answer, state, turn }) => {
    const day = answer('day');
    const schema = { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] };
    if (!day) return ask({ id: 'day', message: 'Which day?', schema }, { asked: 1 });
    if (day.action === 'decline') throw new AgentError('no_day', 'It needs a day.');
    return { day: day.input.day, state, turn };
  };

  it.each([{ defer: false }, { defer: true }])('asks its caller, whom `onInput` answers for: %j', async (more) => {
    const agentId = await online(booker, more);
    const asked: string[] = [];
    const options = {
      headers,
      pollMs: 20,
      onInput({ message }: { readonly message: string }) {
        asked.push(message);
        return { action: 'accept' as const, input: { day: 'Monday' } };
      },
    };
    const record = await invokeAndWait(newClient(), agentId, { task: 'Book' }, options);
    expect(record).toMatchObject({ status: 'completed', cost: '0.01', turn: 2 });
    expect([record.result, asked]).toEqual([{ day: 'Monday', state: { asked: 1 }, turn: 2 }, ['Which day?']]);
  });

  it('that asks is told of a refusal; a caller without `onInput` is not asked', async () => {
    const agentId = await online(booker);
    const declining = { headers, pollMs: 20, onInput: () => ({ action: 'decline' as const }) };
    const codeOf = (options: WaitOptions, body: object = {}) =>
      invokeAndWait(newClient(), agentId, { task: 'Book', ...body }, options).catch(
        (error) => error.record.error?.code ?? error.name,
      );
    expect(await codeOf(declining)).toBe('input_declined');
    expect(await codeOf({ headers, pollMs: 20 })).toBe('agent_needs_input');
    expect(await codeOf({ headers, pollMs: 20 }, { interactive: true })).toBe('InputRequiredError');
  });

  it('asks in a stream, which ends with the question and is taken up after the answer', async () => {
    const agentId = await online(async function* work({ answers }) {
      yield answers.length === 0 ? 'one' : 'two';
      return answers.length === 0 ? ask({ message: 'Go on?' }) : 'done';
    });
    const client = newClient();
    const seen: StreamEvent[] = [];
    const body = { task: 'x', interactive: true };
    for await (const event of client.invokeStreaming(agentId, body, { headers })) seen.push(event);
    const last = seen.at(-1);
    if (last?.type !== 'invocation.input_required') throw new Error(`ended with ${last?.type}`);
    const { requestId, inputRequest } = last.data;
    const answer = { inputId: inputRequest.inputId, action: 'accept' as const, message: 'Yes.' };
    await client.answerInput({ params: { requestId }, body: answer });
    for await (const event of client.stream(requestId, { after: last.id })) seen.push(event);
    expect(seen.map(({ id }) => id)).toEqual(seen.map((_, index) => index + 1));
    expect(seen.at(-1)).toMatchObject({ type: 'invocation.completed', data: { result: 'done' } });
  });
});
