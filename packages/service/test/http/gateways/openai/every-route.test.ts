import { type Scope, scopes } from '@agent-network/contracts/access/scopes';
import { ChatRequest, ResponseRequest } from '@agent-network/contracts/openai';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { newApiKey } from '../../../../src/accounts/api-key.ts';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { mutated } from '../../../spec/support/mutate.ts';
import { arbitraryOf } from '../../../spec/support/schema-arbitrary.ts';
import type { Schema } from '../../../spec/support/schema-check.ts';
import { contradictions } from '../../../support/books.ts';
import { isLong } from '../../../support/long.ts';
import { databaseDigest } from '../../api/support/database-digest.ts';
import { startWorld, type World } from '../../api/support/world.ts';

interface Rule {
  readonly method: string;
  readonly path: (world: World) => string;
  readonly body?: (world: World) => unknown;
  /** What a key must be allowed to do; null: no key is needed. */
  readonly scope: Scope | null;
  /** What another account, and the identityToken of our agent, get for a request of ours. */
  readonly others: 200 | 400 | 404;
  /** True when visitors without a key may: the agent is free. */
  readonly isForVisitors?: boolean;
}

const said = (text: string) => [{ role: 'user', content: text }];
const ofRequest = { scope: 'invoke', others: 404 } as const;

/** Who may call which route, by hand: the endpoint behind it decides. */
const rules: Record<string, Rule> = {
  'GET /v1/models': { method: 'GET', path: () => '/v1/models', scope: null, others: 200 },
  'GET /v1/models/{id}': {
    method: 'GET',
    path: ({ agent }) => `/v1/models/${agent.id}`,
    ...{ scope: null, others: 200 },
  },
  'POST /v1/chat/completions': {
    method: 'POST',
    path: () => '/v1/chat/completions',
    body: ({ strangersAgent }) => ({ model: strangersAgent.id, messages: said('x') }),
    ...{ scope: 'invoke', others: 200, isForVisitors: true },
  },
  'POST /v1/responses': {
    method: 'POST',
    path: () => '/v1/responses',
    body: ({ strangersAgent }) => ({ model: strangersAgent.id, input: 'x' }),
    ...{ scope: 'invoke', others: 200, isForVisitors: true },
  },
  'POST /v1/responses that go on from one': {
    method: 'POST',
    path: () => '/v1/responses',
    body: ({ strangersAgent, requestId }) => ({
      model: strangersAgent.id,
      input: 'x',
      previous_response_id: requestId,
    }),
    ...ofRequest,
    others: 400,
  },
  'GET /v1/files': { method: 'GET', path: () => '/v1/files', scope: 'invoke', others: 200 },
  'GET /v1/responses/{id}': { method: 'GET', path: ({ requestId }) => `/v1/responses/${requestId}`, ...ofRequest },
  'POST /v1/responses/{id}/cancel': {
    method: 'POST',
    path: ({ openRequestId }) => `/v1/responses/${openRequestId}/cancel`,
    ...ofRequest,
  },
};

let world: World;
let withoutInvoke: string;
beforeAll(async () => {
  world = await startWorld();
  const { accountId } = world.owner;
  const allowed = scopes.filter((each) => each !== 'invoke');
  withoutInvoke = (await issueApiKey(world.h.ctx, { accountId, name: 'x', expiresAt: null, scopes: allowed })).apiKey;
});
afterAll(async () => {
  expect(await contradictions(world.h.databaseUrl)).toEqual([]);
  await world.stop();
});

describe.each(Object.entries(rules))(
  '%s',
  (_name, { method, path, body, scope, others, isForVisitors = scope === null }) => {
    const statusOf = async (key: string | undefined) =>
      (await world.h.request(method, path(world), { key, body: body?.(world) })).status;

    it('refuses whoever may not call it, and nothing changes', async () => {
      const before = await databaseDigest(world.h);
      const calls = world.strangersAgent.calls.length;
      expect(await statusOf(newApiKey('test').key)).toBe(401);
      for (const key of isForVisitors ? [] : [undefined, 'x402']) expect(await statusOf(key)).toBe(401);
      if (scope) expect(await statusOf(withoutInvoke)).toBe(403);
      if (others !== 200)
        for (const key of [world.stranger.key, world.agent.identityToken]) expect(await statusOf(key)).toBe(others);
      expect(await databaseDigest(world.h)).toEqual(before);
      expect(world.strangersAgent.calls.length).toBe(calls);
    });

    it('answers whoever may', async () => {
      for (const key of isForVisitors ? [undefined, 'x402'] : []) expect(await statusOf(key)).toBe(200);
      expect(await statusOf(world.owner.key)).toBe(200);
      if (others === 200)
        for (const key of [world.stranger.key, world.agent.identityToken]) expect(await statusOf(key)).toBe(200);
    });
  },
);

const untilIdle = () =>
  expect
    .poll(async () => {
      const running = `select id from invocation where status in ('pending', 'processing') and id <> $1`;
      return (await world.h.ctx.db.query('test-running', running, [world.openRequestId])).length;
    })
    .toBe(0);

/** True for an answer after which nothing was bought: an agent that failed is named in a part of ours. */
const isRefusal = (text: string) => !('agent_network' in JSON.parse(text));

describe.each([
  ['/v1/chat/completions', ChatRequest],
  ['/v1/responses', ResponseRequest],
] as const)('POST %s', (path, request) => {
  it('answers any body with an answer or an error of this API, and no refused one reaches an agent', async () => {
    const { owner, stranger, agent, strangersAgent, requestId } = world;
    const pools: Record<string, readonly string[]> = {
      model: [agent.id, strangersAgent.id],
      previous_response_id: [requestId],
      role: ['user', 'system'],
    };
    const schema = z.toJSONSchema(request, { io: 'input', unrepresentable: 'any' }) as Schema;
    const valid = arbitraryOf(schema, {
      resolve: <T>(node: T) => node,
      pool: (field: string) => pools[field] ?? [],
    });
    const keys = [owner.key, stranger.key, agent.identityToken, undefined, 'nonsense'];
    const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
    let answered = 0;
    const property = fc.asyncProperty(fc.oneof(valid, mutated(valid)), fc.constantFrom(...keys), async (body, key) => {
      // A call in the background reaches its agent after its answer.
      await untilIdle();
      const calls = agent.calls.length + strangersAgent.calls.length;
      const response = await fetch(world.h.baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(key ? { authorization: `Bearer ${key}` } : {}) },
        body: JSON.stringify(body) ?? '',
      });
      const { status, headers } = response;
      const text = await response.text();
      expect(status, text).toBeLessThan(500);
      expect(headers.get('x-request-id')).toBeTruthy();
      if (status === 200) {
        answered += 1;
        return;
      }
      expect(JSON.parse(text).error).toMatchObject({ message: expect.any(String), code: expect.any(String) });
      if (status !== 429) expect(headers.get('x-should-retry')).toBe('false');
      if (isRefusal(text)) expect(agent.calls.length + strangersAgent.calls.length, text).toBe(calls);
    });
    const plain = { model: strangersAgent.id, messages: said('x'), input: 'x' };
    await fc.assert(property, { seed, numRuns: isLong ? 2000 : 60, examples: [[plain, owner.key]] });
    expect(answered).toBeGreaterThan(0);
  }, 600_000);
});
