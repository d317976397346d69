import { type Scope, scopes } from '@agent-network/contracts/access/scopes';
import type { EndpointName } from '@agent-network/contracts/api';
import { openApiDocument } from '@agent-network/contracts/openapi/openapi';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newApiKey } from '../../src/accounts/api-key.ts';
import { issueApiKey } from '../../src/accounts/keys/manage-keys.ts';
import { databaseDigest } from '../http/api/support/database-digest.ts';
import { problemWithError } from '../http/api/support/expect-error.ts';
import { endpoints, pathOf, validCalls } from '../http/api/support/valid-calls.ts';
import { startWorld, type World } from '../http/api/support/world.ts';
import type { Answer } from '../support/harness.ts';

interface Rule {
  /** Whether it is answered without a key. */
  readonly open?: true;
  /** What an API key must be allowed to do; null: any key will do. */
  readonly scope: Scope | null;
  /** What another account gets for a thing of ours; `own`: nothing of ours is named; `public`: it is for everybody. */
  readonly stranger: 403 | 404 | 'own' | 'public';
  /** What the identityToken of our agent gets for the things of its account. */
  readonly agent: 200 | 402 | 403 | 404;
}

interface Operation {
  readonly operationId: EndpointName;
  readonly description: string;
  readonly security: readonly object[];
}

const rule = (scope: Scope | null, stranger: Rule['stranger'], agent: Rule['agent']): Rule => ({
  scope,
  stranger,
  agent,
});
const open: Rule = { open: true, scope: null, stranger: 'public', agent: 200 };

/** Who may do what, by hand (docs/design.md, section 3): the endpoint table of the contracts is what this is checked against. */
const rules: Record<EndpointName, Rule> = {
  listAgents: open,
  searchAgents: open,
  matchAgents: open,
  getAgent: open,
  getAgentStatus: open,
  getAgentReputation: open,
  getIdentity: open,
  getAgentFacets: open,
  getAgentHealth: open,
  listAlternatives: open,
  getAgentEarnings: rule('payments:read', 403, 403),
  listAgentCalls: rule('payments:read', 403, 403),
  listAgentErrors: rule('payments:read', 403, 403),
  registerAgent: rule('agents:write', 'own', 403),
  testEndpoint: rule('agents:write', 'own', 403),
  updateAgent: rule('agents:write', 403, 403),
  removeAgent: rule('agents:write', 403, 403),
  heartbeat: rule(null, 403, 200),
  verifyIdentity: rule('agents:write', 403, 403),
  claimToken: rule('agents:write', 403, 403),
  linkToken: rule('agents:write', 403, 403),
  updateIdentityMetadata: rule('agents:write', 403, 403),
  invokeAgent: rule('invoke', 'public', 200),
  invokeAuto: rule('invoke', 'public', 200),
  // A free agent's; a paid one asks for a payment: see test/flows/keyless-invocation.test.ts.
  invokeKeyless: { ...rule('invoke', 'public', 200), open: true },
  quoteInvocation: rule('invoke', 'public', 200),
  getInvocation: rule('invoke', 404, 404),
  getReceipt: rule('invoke', 404, 404),
  cancelInvocation: rule('invoke', 404, 404),
  answerInput: rule('invoke', 404, 404),
  streamInvocation: rule('invoke', 404, 404),
  listInvocations: rule('invoke', 'own', 200),
  exportRequests: rule('invoke', 'own', 200),
  invokeBulk: rule('invoke', 'public', 200),
  getBulk: rule('invoke', 404, 404),
  createTreasury: rule('payments:write', 404, 403),
  depositToTreasury: rule('payments:write', 404, 403),
  setBalanceAlert: rule('payments:write', 'own', 403),
  addTestFunds: rule('payments:write', 'own', 403),
  getBalance: rule('payments:read', 'own', 200),
  getTreasury: rule('payments:read', 404, 200),
  getStatement: rule('payments:read', 404, 200),
  getReserves: open,
  listPaymentNetworks: open,
  listPayments: rule('payments:read', 'own', 200),
  listChannels: rule('payments:read', 'own', 403),
  getChannel: rule('payments:read', 404, 403),
  listChannelHistory: rule('payments:read', 404, 403),
  listChannelCharges: rule('payments:read', 404, 403),
  withdraw: rule('payments:withdraw', 404, 403),
  collectEarnings: rule('payments:write', 404, 403),
  requestWithdrawal: rule('payments:write', 404, 403),
  claimWallet: rule('payments:write', 'own', 403),
  getWithdrawal: rule('payments:read', 404, 200),
  listHeldPayouts: rule('payments:read', 'own', 403),
  // Strangers who are operators may: see test/payments/settlement/refusing-token.test.ts.
  creditHeldPayout: rule('payments:write', 'own', 403),
  requestSignIn: open,
  signIn: open,
  createSession: open,
  createLocalSession: open,
  getSession: open,
  endSession: open,
  listSessions: rule('keys:manage', 'own', 403),
  endSessionById: rule('keys:manage', 404, 403),
  endAllSessions: rule('keys:manage', 'own', 403),
  getAccount: rule(null, 'own', 200),
  listAudit: rule('keys:manage', 'own', 403),
  getOverview: rule('payments:read', 'own', 403),
  getProgress: rule('payments:read', 'own', 403),
  listOwnAgents: rule('payments:read', 'own', 403),
  getOperatorStatus: rule('operator', 'own', 403),
  getOperatorTotals: rule('operator', 'own', 403),
  getOperatorChecklist: rule('operator', 'own', 403),
  getOperatorSettings: rule('operator', 'own', 403),
  getOperatorInvocation: rule('operator', 'own', 403),
  getOperatorChannels: rule('operator', 'own', 403),
  listOperatorClaims: rule('operator', 'own', 403),
  listOperatorAccounts: rule('operator', 'own', 403),
  getOperatorAccount: rule('operator', 'own', 403),
  setAccountPlan: rule('operator', 'own', 403),
  suspendAccount: rule('operator', 'own', 403),
  resumeAccount: rule('operator', 'own', 403),
  getUsage: rule('payments:read', 'own', 403),
  listApiKeys: rule('keys:manage', 'own', 403),
  createApiKey: rule('keys:manage', 'own', 403),
  revokeApiKey: rule('keys:manage', 404, 403),
  rollApiKey: rule('keys:manage', 404, 403),
  listEvents: rule('webhooks:manage', 'own', 403),
  listWebhooks: rule('webhooks:manage', 'own', 403),
  createWebhook: rule('webhooks:manage', 'own', 403),
  updateWebhook: rule('webhooks:manage', 404, 403),
  deleteWebhook: rule('webhooks:manage', 404, 403),
  getWebhookSecret: rule('webhooks:manage', 404, 403),
  rotateWebhookSecret: rule('webhooks:manage', 404, 403),
  testWebhook: rule('webhooks:manage', 404, 403),
  listDeliveries: rule('webhooks:manage', 404, 403),
  putFile: rule('invoke', 'own', 200),
  createFile: rule('invoke', 'own', 200),
  listFiles: rule('invoke', 'own', 200),
  getFile: rule('invoke', 404, 404),
  getFileContent: rule('invoke', 404, 404),
  deleteFile: rule('invoke', 404, 404),
  getNetwork: open,
  listNetworkAgents: open,
  replayWebhook: rule('webhooks:manage', 404, 403),
};

it('the OpenAPI document offers the identityToken for exactly the calls that an agent may make', () => {
  const operations = Object.values(openApiDocument().paths).flatMap((path) => Object.values(path)) as Operation[];
  const offered = operations.filter(({ security }) => security.some((scheme) => 'identityToken' in scheme));
  const allowed = Object.entries(rules).filter(([, { open: isOpen, agent }]) => !isOpen && agent !== 403);
  expect(offered.map(({ operationId }) => operationId).sort()).toEqual(allowed.map(([name]) => name).sort());
  for (const { operationId, description } of operations)
    if (!rules[operationId].open)
      expect(description.includes('identityToken'), operationId).toBe(rules[operationId].agent !== 403);
});

let world: World;
/** Keys with one scope, and with every scope but one. */
const only: Partial<Record<Scope, string>> = {};
const allBut: Partial<Record<Scope, string>> = {};
let dead: { bad: string; revoked: string; expired: string };
beforeAll(async () => {
  world = await startWorld();
  const { key } = world.owner;
  const revoked = await issue(scopes);
  expect((await world.h.request('GET', '/account', { key: revoked.apiKey })).status).toBe(200);
  await world.h.request('DELETE', `/account/keys/${revoked.keyId}`, { key });
  const expired = await issue(scopes, new Date(Date.now() - 1000));
  for (const scope of scopes) {
    only[scope] = (await issue([scope])).apiKey;
    allBut[scope] = (await issue(scopes.filter((each) => each !== scope))).apiKey;
  }
  dead = { bad: newApiKey('test').key, revoked: revoked.apiKey, expired: expired.apiKey };
});
afterAll(() => world.stop());

const send = async (name: EndpointName, key: string | undefined): Promise<Answer> => {
  const row = endpoints.find(([each]) => each === name)?.[1];
  if (!row) throw new Error(`there is no ${name}`);
  const { params, body } = validCalls[name](world);
  return world.h.request(row.method, pathOf(row, params), { key, body });
};
const issue = (owned: readonly Scope[], expiresAt: Date | null = null) =>
  issueApiKey(world.h.ctx, { accountId: world.owner.accountId, name: 'x', scopes: owned, expiresAt });

const codes = { 403: 'FORBIDDEN', 404: 'NOT_FOUND' } as const;
const names = Object.keys(rules) as EndpointName[];

const isForAgents = (name: EndpointName) => name === 'heartbeat';
const callCount = () => world.agent.calls.length + world.strangersAgent.calls.length;

describe.each(names)('%s', (name) => {
  const { open: isOpen, scope, stranger, agent } = rules[name];
  const refused = async (key: string | undefined, code: Parameters<typeof problemWithError>[1]) =>
    expect(problemWithError(await send(name, key), code)).toBeNull();
  let before: [Record<string, string>, number];
  beforeAll(async () => {
    before = [await databaseDigest(world.h), callCount()];
  });
  afterAll(async () => {
    expect([await databaseDigest(world.h), callCount()], 'what was refused has changed something').toEqual(before);
  });

  if (!isOpen) it('without a key is UNAUTHORIZED', () => refused(undefined, 'UNAUTHORIZED'));

  it.each(['bad', 'revoked', 'expired'] as const)('with a %s key is UNAUTHORIZED', (kind) =>
    refused(dead[kind], 'UNAUTHORIZED'),
  );

  if (scope !== null) it(`with every scope but ${scope} is FORBIDDEN`, () => refused(allBut[scope], 'FORBIDDEN'));
  if (isForAgents(name))
    it('with an API key is FORBIDDEN, whatever its scopes', () => refused(world.owner.key, 'FORBIDDEN'));

  if (stranger === 403 || stranger === 404)
    it(`for a thing of another account is ${codes[stranger]}`, () =>
      refused(isForAgents(name) ? world.strangersAgent.identityToken : world.stranger.key, codes[stranger]));

  if (agent === 403 || agent === 404)
    it(`with the agent's identityToken is ${codes[agent]}`, () => refused(world.agent.identityToken, codes[agent]));
});

describe('permissions', () => {
  it.each(names.filter((name) => rules[name].open))('%s: is answered without a key', async (name) => {
    expect((await send(name, undefined)).status).toBe(200);
  });

  const forAgents = names.filter((name) => ![403, 404].includes(rules[name].agent));
  it.each(forAgents)("%s: is answered to the agent's identityToken", async (name) => {
    expect((await send(name, world.agent.identityToken)).status).toBe(rules[name].agent);
  });
});

/** A deposit answers 402 when everything else is in order. Removals come last. */
const statusOf = (name: EndpointName) => (name === 'depositToTreasury' ? 402 : 200);
/** Whoever makes a key can give it no more than it has itself. */
const givesRights = new Set<EndpointName>(['createApiKey', 'rollApiKey']);
const removals: readonly EndpointName[] = [
  'deleteFile',
  'endSessionById',
  'endAllSessions',
  'deleteWebhook',
  'revokeApiKey',
  'removeAgent',
];

it('each of these calls succeeds with a key of exactly the scope that it needs', async () => {
  const answers: unknown[] = [];
  for (const name of [...names.filter((each) => !removals.includes(each)), ...removals]) {
    const { scope } = rules[name];
    const key = isForAgents(name)
      ? world.agent.identityToken
      : givesRights.has(name)
        ? world.owner.key
        : only[scope ?? 'operator'];
    const { status, body } = await send(name, key);
    if (status !== statusOf(name)) answers.push({ name, status, body });
  }
  expect(answers).toEqual([]);
});
