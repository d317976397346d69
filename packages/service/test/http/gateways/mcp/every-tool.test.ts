import { type Scope, scopes } from '@agent-network/contracts/access/scopes';
import { listedTools, mcpAgentTools, mcpTools } from '@agent-network/contracts/mcp-tools';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../../../src/accounts/api-key.ts';
import { issueApiKey } from '../../../../src/accounts/keys/manage-keys.ts';
import { mutated } from '../../../spec/support/mutate.ts';
import { arbitraryOf } from '../../../spec/support/schema-arbitrary.ts';
import type { Schema } from '../../../spec/support/schema-check.ts';
import { contradictions } from '../../../support/books.ts';
import { databaseDigest } from '../../api/support/database-digest.ts';
import { startWorld, type World } from '../../api/support/world.ts';
import { callTool } from './raw-client.ts';

type Tool = keyof typeof mcpTools;

interface Rule {
  /** What a key must be allowed to do; null: no key is needed. */
  readonly scope: Scope | null;
  readonly args: (world: World) => Record<string, unknown>;
  /** What another account gets; null: nothing of ours is named. */
  readonly stranger: 'NOT_FOUND' | null;
  /** What the identityToken of our agent gets for the things of its account. */
  readonly agent: 'NOT_FOUND' | null;
  /** True when visitors without a key may: the agent is free. */
  readonly isForVisitors?: boolean;
}

const reading = { stranger: null, agent: null };

/** Who may call which tool, by hand: the endpoint behind it decides. */
const rules: Record<Tool, Rule> = {
  search_agents: { scope: null, args: () => ({}), ...reading },
  match_agents: { scope: null, args: () => ({ task: 'x', capabilities: ['testing'] }), ...reading },
  get_agent: { scope: null, args: ({ agent }) => ({ agentId: agent.id }), ...reading },
  quote_invocation: { scope: 'invoke', args: ({ agent }) => ({ agentId: agent.id, task: 'x' }), ...reading },
  invoke_agent: {
    scope: 'invoke',
    args: ({ strangersAgent }) => ({ agentId: strangersAgent.id, task: 'x', maxCost: '1' }),
    ...reading,
    isForVisitors: true,
  },
  invoke_best: {
    scope: 'invoke',
    args: () => ({ task: 'Please do some testing', maxCost: '1' }),
    ...reading,
  },
  get_invocation: {
    scope: 'invoke',
    args: ({ requestId }) => ({ requestId }),
    ...{ stranger: 'NOT_FOUND', agent: 'NOT_FOUND' },
  },
  cancel_invocation: {
    scope: 'invoke',
    args: ({ openRequestId }) => ({ requestId: openRequestId }),
    ...{ stranger: 'NOT_FOUND', agent: 'NOT_FOUND' },
  },
  upload_file: {
    scope: 'invoke',
    args: () => ({ name: 'a.txt', mediaType: 'text/plain', data: 'aGVsbG8=' }),
    ...reading,
  },
  get_balance: { scope: 'payments:read', args: () => ({}), ...reading },
  // The last: its request goes on.
  answer_invocation: {
    scope: 'invoke',
    args: ({ askingRequestId, inputId }) => ({
      ...{ requestId: askingRequestId, inputId, action: 'accept', message: 'x', waitSeconds: 0 },
    }),
    ...{ stranger: 'NOT_FOUND', agent: 'NOT_FOUND' },
  },
};
const tools = Object.keys(rules) as Tool[];

let world: World;
const allBut: Partial<Record<Scope, string>> = {};
beforeAll(async () => {
  world = await startWorld();
  for (const scope of ['invoke', 'payments:read'] as const) {
    const key = await issueApiKey(world.h.ctx, {
      ...{ accountId: world.owner.accountId, name: 'x', expiresAt: null },
      scopes: scopes.filter((each) => each !== scope),
    });
    allBut[scope] = key.apiKey;
  }
});
afterAll(async () => {
  expect(await contradictions(world.h.databaseUrl)).toEqual([]);
  await world.stop();
});

const codeOf = async (tool: Tool, key: string | undefined) => {
  const { status, body } = await callTool(world.h.baseUrl, key, tool, rules[tool].args(world));
  return body.result?.structuredContent?.error?.code ?? (body.result?.isError ? 'isError' : status);
};

describe.each(tools)('%s', (tool) => {
  const { scope, stranger, agent, isForVisitors = scope === null } = rules[tool];

  it('refuses whoever may not call it, and nothing changes', async () => {
    const before = await databaseDigest(world.h);
    for (const key of isForVisitors ? [] : [undefined, 'x402']) expect(await codeOf(tool, key)).toBe('UNAUTHORIZED');
    expect(await codeOf(tool, newApiKey('test').key)).toBe(401);
    if (scope) expect(await codeOf(tool, allBut[scope])).toBe('FORBIDDEN');
    if (stranger) expect(await codeOf(tool, world.stranger.key)).toBe(stranger);
    if (agent) expect(await codeOf(tool, world.agent.identityToken)).toBe(agent);
    expect(await databaseDigest(world.h)).toEqual(before);
  });

  it('answers whoever may', async () => {
    for (const key of isForVisitors ? [undefined, 'x402'] : []) expect(await codeOf(tool, key)).toBe(200);
    expect(await codeOf(tool, world.owner.key)).toBe(200);
    if (!agent) expect(await codeOf(tool, world.agent.identityToken)).toBe(200);
  });
});

it('answers any arguments with a result or an error of the protocol, never with a failure of its own', async () => {
  const pools = (): Record<string, readonly string[]> => ({
    agentId: [world.agent.id, world.strangersAgent.id],
    requestId: [world.requestId, world.openRequestId],
    quoteId: [world.quoteId],
    maxCost: ['0', '1'],
    capabilities: ['testing'],
  });
  const keys = [world.owner.key, world.stranger.key, world.agent.identityToken, undefined];
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1_000_000);
  for (const { name, inputSchema } of listedTools(mcpTools)) {
    const making = { resolve: <T>(node: T) => node, pool: (field: string) => pools()[field] ?? [] };
    const valid = arbitraryOf(inputSchema as Schema, making).map((args) => ({
      ...(args as object),
      // Requests that never end are among the pool.
      ...('waitSeconds' in (inputSchema.properties as object) ? { waitSeconds: 0 } : {}),
    }));
    const property = fc.asyncProperty(fc.oneof(valid, mutated(valid)), fc.constantFrom(...keys), async (args, key) => {
      const { status, body } = await callTool(world.h.baseUrl, key, name, args);
      const problem = JSON.stringify(body).slice(0, 500);
      expect(status, problem).toBeLessThan(500);
      expect(body.jsonrpc).toBe('2.0');
      if (body.error) expect(body.error.code, problem).toBeLessThan(-31_999);
      else {
        expect(JSON.parse(body.result.content[0].text)).toEqual(body.result.structuredContent);
        expect(body.result.structuredContent.error?.code, problem).not.toBe('INTERNAL_ERROR');
      }
    });
    await fc.assert(property, { seed, numRuns: 25 });
  }
});

it('no tool has a field of several types: hosts that pass schemas on to Gemini would lose all of them', () => {
  const inputs = [mcpTools, mcpAgentTools].flatMap((tools) => listedTools(tools).map(({ inputSchema }) => inputSchema));
  expect(inputs.length).toBeGreaterThan(5);
  expect(JSON.stringify(inputs)).not.toContain('"type":[');
});
