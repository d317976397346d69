import fc from 'fast-check';
import { type Dispatcher, request } from 'undici';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startWorld, type World } from '../http/api/support/world.ts';
import { contradictions } from '../support/books.ts';
import { isLong } from '../support/long.ts';
import { deposit } from '../support/treasury.ts';
import { callsOf, type FuzzCall, type OpenApi, type Operation, resolverOf } from './support/fuzz-calls.ts';
import { problemsWith, type Resolve } from './support/schema-check.ts';

/** Most time for all operations together; more by `FUZZ_SECONDS=600 vitest run --mode long fuzz`. `FUZZ_SEED` repeats a run. */
const seconds = Number(process.env.FUZZ_SECONDS ?? 60);
const CALLS_OF_OPERATION = isLong ? 1_000_000 : 25;
const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);

let world: World;
let document: OpenApi;
beforeAll(async () => {
  world = await startWorld();
  const { key } = world.owner;
  const treasury = await world.h.request('POST', '/payments/treasury', { key, body: {} });
  await deposit(world.h, key, treasury.body.data.treasuryId, '1000');
  document = (await world.h.request('GET', '/openapi.json')).body;
});
afterAll(async () => {
  expect(await contradictions(world.h.databaseUrl)).toEqual([]);
  await world.stop();
});

/** Their `id` is a request's, or a file's; everywhere else it is an agent's. */
const ofRequests = new Set(['getInvocation', 'cancelInvocation', 'streamInvocation']);
const ofFiles = new Set(['putFile', 'getFile']);

/** Things that may be removed, and things that are removed with them, are not among those that the other calls need. */
const poolOf = (operationId: string, isRemoval: boolean) => (name: string) => {
  const { agent, strangersAgent, requestId, openRequestId, bulkId, treasuryId, quoteId } = world;
  if (isRemoval) return { keyId: [world.keyId], webhookId: [world.spareWebhookId] }[name] ?? [];
  const pools: Record<string, readonly string[]> = {
    id: ofFiles.has(operationId)
      ? [world.fileId]
      : ofRequests.has(operationId)
        ? [requestId, openRequestId]
        : [agent.id, strangersAgent.id],
    fileId: [world.fileId],
    agentId: [agent.id, strangersAgent.id],
    agents: [agent.id, strangersAgent.id],
    requestId: [requestId, openRequestId],
    ...{ bulkId: [bulkId], treasuryId: [treasuryId], quote: [quoteId], keyId: [world.rolledKeyId] },
    ...{ webhookId: [world.webhookId, 'account'], deliveryId: [world.deliveryId], withdrawalId: [world.withdrawalId] },
    url: [world.receiverUrl],
    webhookUrl: [world.receiverUrl],
    endpoint: [agent.endpoint],
    capability: ['testing'],
  };
  return pools[name] ?? [];
};

async function problemOf(call: FuzzCall, operation: Operation, resolve: Resolve): Promise<string | null> {
  const { status, headers, body } = await send(call);
  const declared = operation.responses[String(status)];
  if (status >= 500 && status !== 503) return `answered ${status}: ${JSON.stringify(body)}`;
  if (!declared) return `answered ${status}, which is not documented: ${JSON.stringify(body)}`;
  if (!headers['x-request-id']) return 'has no X-Request-Id';
  if (status === 204 || headers['content-type'] === 'text/event-stream') return null;
  if (!declared.content?.['application/json']) return null;
  const wrong = problemsWith(body, declared.content['application/json'].schema, resolve);
  return wrong.length === 0 ? null : `${status}: ${wrong.slice(0, 3).join('; ')}`;
}

/** A stream is left as soon as it has begun. */
async function send({ method, path, key, headers, text }: FuzzCall) {
  const answer = await request(world.h.baseUrl + path, {
    method: method as Dispatcher.HttpMethod,
    headers: {
      ...headers,
      ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
      ...(text === undefined ? {} : { 'content-type': 'application/json' }),
    },
    ...(text === undefined || method === 'GET' ? {} : { body: text }),
  });
  const isStream = answer.headers['content-type'] === 'text/event-stream';
  if (isStream) answer.body.on('error', () => undefined).destroy();
  const isJson = !isStream && answer.headers['content-type'] === 'application/json';
  const body: unknown = isJson ? await answer.body.json() : null;
  if (!isJson && !isStream) await answer.body.dump();
  return { status: answer.statusCode, headers: answer.headers, body };
}

it(
  'every answer to every kind of call is one that the document declares',
  async () => {
    const resolve = resolverOf(document);
    const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
    );
    expect(operations.length).toBeGreaterThan(35);
    const { owner, stranger, agent } = world;
    const keys = [owner.key, stranger.key, agent.identityToken, undefined, 'nonsense'];
    let calls = 0;
    const wrong: unknown[] = [];
    for (const { method, path, operation } of operations) {
      const isForAgents = operation.security.every((each) => Object.hasOwn(each, 'identityToken'));
      const usualKey = isForAgents ? agent.identityToken : owner.key;
      const fuzzing = { resolve, pool: poolOf(operation.operationId, method === 'DELETE'), keys, usualKey };
      const property = fc.asyncProperty(callsOf(method, path, operation, fuzzing), async (call) => {
        calls += 1;
        const problem = await problemOf(call, operation, resolve);
        if (problem) throw new Error(problem);
      });
      const limitMs = (seconds * 1000) / operations.length;
      const run = await fc.check(property, {
        seed,
        numRuns: CALLS_OF_OPERATION,
        interruptAfterTimeLimit: limitMs,
        markInterruptAsFailure: false,
      });
      if (run.failed && run.counterexample)
        wrong.push({
          operation: operation.operationId,
          call: run.counterexample[0],
          why: String(run.errorInstance).slice(0, 700),
        });
    }
    expect({ seed, wrong }).toEqual({ seed, wrong: [] });
    // A machine that is busy with something else makes fewer: each operation has its share of the time, and one call at least.
    expect(calls).toBeGreaterThanOrEqual(operations.length);
  },
  seconds * 1000 + 60_000,
);
