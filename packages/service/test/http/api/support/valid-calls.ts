import { api, type EndpointName } from '@agent-network/contracts/api';
import type { Endpoint } from '@agent-network/contracts/endpoint';
import type { World } from './world.ts';

export interface ValidCall {
  readonly key: string;
  readonly params: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** A call of every endpoint that would succeed. A new endpoint does not compile without one, and is attacked from then on. */
export const validCalls: Record<EndpointName, (world: World) => ValidCall> = {
  listAgents: ({ owner }) => ({ key: owner.key, params: {} }),
  registerAgent: ({ owner, agent }) => ({
    key: owner.key,
    params: {},
    body: {
      name: 'An agent',
      description: 'Of no use.',
      capabilities: ['testing'],
      rates: { perRequest: '0.05', perHour: '1', tiers: { basic: '0.01', premium: '0.02', enterprise: '0.03' } },
      endpoint: agent.endpoint,
      metadata: { avatar: 'https://example.com/a.png', website: 'https://example.com', tags: ['a'], maxConcurrency: 4 },
    },
  }),
  testEndpoint: ({ owner, agent }) => ({ key: owner.key, params: {}, body: { endpoint: agent.endpoint } }),
  searchAgents: ({ owner }) => ({
    key: owner.key,
    params: {},
    body: {
      query: {
        capabilities: { any: ['testing'], all: ['testing'] },
        text: 'agent',
        rates: { perRequest: { max: '1' }, perHour: { max: '1' } },
        reputation: { min: 0 },
      },
      sort: [{ field: 'reputation', order: 'desc' }],
    },
  }),
  matchAgents: ({ owner }) => ({
    key: owner.key,
    params: {},
    body: { task: 'An agent for testing', capabilities: ['testing'], maxPrice: '1', limit: 3 },
  }),
  getIdentity: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  verifyIdentity: ({ owner, agent }) => ({
    key: owner.key,
    params: {},
    body: { agentId: agent.id, proof: 'endpoint' },
  }),
  claimToken: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  linkToken: ({ owner, agent, tokenId }) => ({ key: owner.key, params: { id: agent.id }, body: { tokenId } }),
  updateIdentityMetadata: ({ owner, agent }) => ({
    key: owner.key,
    params: { id: agent.id },
    body: { avatar: 'https://example.com/a.png', website: null, tags: ['a'], maxConcurrency: 4 },
  }),
  getAgent: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  updateAgent: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id }, body: { description: 'New.' } }),
  removeAgent: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  getAgentReputation: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  getAgentFacets: ({ owner }) => ({ key: owner.key, params: {} }),
  getAgentHealth: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  listAgentCalls: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  listAgentErrors: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  getAgentEarnings: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  listAlternatives: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  getOperatorStatus: ({ owner }) => ({ key: owner.key, params: {} }),
  getOperatorTotals: ({ owner }) => ({ key: owner.key, params: {} }),
  getOperatorChecklist: ({ owner }) => ({ key: owner.key, params: {} }),
  getOperatorSettings: ({ owner }) => ({ key: owner.key, params: {} }),
  getOperatorInvocation: ({ owner, requestId }) => ({ key: owner.key, params: { id: requestId } }),
  getOperatorChannels: ({ owner }) => ({ key: owner.key, params: {} }),
  listOperatorClaims: ({ owner }) => ({ key: owner.key, params: {} }),
  getOverview: ({ owner }) => ({ key: owner.key, params: {} }),
  getProgress: ({ owner }) => ({ key: owner.key, params: {} }),
  listOwnAgents: ({ owner }) => ({ key: owner.key, params: {} }),
  getAgentStatus: ({ owner, agent }) => ({ key: owner.key, params: { id: agent.id } }),
  heartbeat: ({ agent }) => ({
    key: agent.identityToken,
    params: { id: agent.id },
    body: { load: 0.5, accepting: true },
  }),
  invokeAgent: ({ owner, strangersAgent }) => ({
    key: owner.key,
    params: { agentId: strangersAgent.id },
    body: { task: 'hello', input: { a: 1 }, metadata: { b: 2 } },
  }),
  invokeAuto: ({ owner }) => ({
    key: owner.key,
    params: {},
    body: { task: 'hello, agent', capabilities: ['answering'], maxCost: '0', input: { a: 1 }, metadata: { b: 2 } },
  }),
  invokeKeyless: ({ owner, strangersAgent }) => ({
    key: owner.key,
    params: { agentId: strangersAgent.id },
    body: { task: 'hello', input: { a: 1 }, metadata: { b: 2 } },
  }),
  quoteInvocation: ({ owner, agent }) => ({ key: owner.key, params: { agentId: agent.id }, body: { task: 'hello' } }),
  getInvocation: ({ owner, requestId }) => ({ key: owner.key, params: { requestId } }),
  getReceipt: ({ owner, requestId }) => ({ key: owner.key, params: { requestId } }),
  cancelInvocation: ({ owner, openRequestId }) => ({ key: owner.key, params: { requestId: openRequestId } }),
  answerInput: ({ owner, askingRequestId, inputId }) => ({
    key: owner.key,
    params: { requestId: askingRequestId },
    body: { inputId, action: 'accept', input: { a: 1 }, message: 'This one.' },
  }),
  streamInvocation: ({ owner, requestId }) => ({ key: owner.key, params: { requestId } }),
  listInvocations: ({ owner }) => ({ key: owner.key, params: {} }),
  exportRequests: ({ owner }) => ({ key: owner.key, params: {} }),
  invokeBulk: ({ owner, strangersAgent }) => ({
    key: owner.key,
    params: {},
    body: { task: 'hello', agents: [strangersAgent.id], strategy: 'all', input: { a: 1 }, metadata: { b: 2 } },
  }),
  listOperatorAccounts: ({ owner }) => ({ key: owner.key, params: {} }),
  getOperatorAccount: ({ owner }) => ({ key: owner.key, params: { accountId: owner.accountId } }),
  setAccountPlan: ({ owner, bystander: { accountId } }) => ({
    ...{ key: owner.key, params: { accountId }, body: { plan: 'pro', reason: 'It asked for more.' } },
  }),
  suspendAccount: ({ owner, bystander: { accountId } }) => ({
    ...{ key: owner.key, params: { accountId }, body: { reason: 'It was abused.' } },
  }),
  resumeAccount: ({ owner, bystander: { accountId } }) => ({
    ...{ key: owner.key, params: { accountId }, body: { reason: 'It was mended.' } },
  }),
  getBulk: ({ owner, bulkId }) => ({ key: owner.key, params: { bulkId } }),
  createTreasury: ({ owner, agent }) => ({ key: owner.key, params: {}, body: { agentId: agent.id, label: 'x' } }),
  depositToTreasury: ({ owner, treasuryId }) => ({ key: owner.key, params: {}, body: { amount: '1', treasuryId } }),
  setBalanceAlert: ({ owner }) => ({ key: owner.key, params: {}, body: { below: '1' } }),
  collectEarnings: ({ owner, agent }) => ({ key: owner.key, params: {}, body: { agentId: agent.id } }),
  addTestFunds: ({ owner }) => ({ key: owner.key, params: {} }),
  claimWallet: ({ owner }) => ({ key: owner.key, params: {}, body: { address: owner.address } }),
  getBalance: ({ owner }) => ({ key: owner.key, params: {} }),
  getTreasury: ({ owner, treasuryId }) => ({ key: owner.key, params: { treasuryId } }),
  getStatement: ({ owner, treasuryId }) => ({ key: owner.key, params: { treasuryId } }),
  getReserves: ({ owner }) => ({ key: owner.key, params: {} }),
  listPaymentNetworks: ({ owner }) => ({ key: owner.key, params: {} }),
  listPayments: ({ owner }) => ({ key: owner.key, params: {} }),
  listChannels: ({ owner }) => ({ key: owner.key, params: {} }),
  getChannel: ({ owner, channelId }) => ({ key: owner.key, params: { channelId } }),
  listChannelHistory: ({ owner, channelId }) => ({ key: owner.key, params: { channelId } }),
  listChannelCharges: ({ owner, channelId }) => ({ key: owner.key, params: { channelId } }),
  withdraw: ({ owner, treasuryId }) => ({
    key: owner.key,
    params: {},
    body: { amount: '0.01', treasuryId, to: owner.address },
  }),
  requestWithdrawal: ({ owner, treasuryId }) => ({
    key: owner.key,
    params: {},
    body: { amount: '0.01', treasuryId, to: owner.address },
  }),
  getWithdrawal: ({ owner, withdrawalId }) => ({ key: owner.key, params: { withdrawalId } }),
  listHeldPayouts: ({ owner }) => ({ key: owner.key, params: {} }),
  creditHeldPayout: ({ owner, heldPaymentId }) => ({ key: owner.key, params: { paymentId: heldPaymentId } }),
  requestSignIn: ({ owner }) => ({ key: owner.key, params: {}, body: { address: owner.address } }),
  signIn: ({ owner, signIns }) => ({
    key: owner.key,
    params: {},
    body: {
      ...(signIns.length > 1 ? signIns.shift() : signIns[0]),
      name: 'signed in',
      scopes: ['invoke'],
      expiresInS: 60,
    },
  }),
  createSession: ({ owner, signIns }) => ({
    key: owner.key,
    params: {},
    body: signIns.length > 1 ? signIns.shift() : signIns[0],
  }),
  createLocalSession: ({ owner }) => ({ key: owner.key, params: {} }),
  getSession: ({ owner }) => ({ key: owner.key, params: {} }),
  endSession: ({ owner }) => ({ key: owner.key, params: {} }),
  listSessions: ({ owner }) => ({ key: owner.key, params: {} }),
  endSessionById: ({ owner, sessionId }) => ({ key: owner.key, params: { sessionId } }),
  endAllSessions: ({ owner }) => ({ key: owner.key, params: {} }),
  getAccount: ({ owner }) => ({ key: owner.key, params: {} }),
  getNetwork: ({ owner }) => ({ key: owner.key, params: {} }),
  listNetworkAgents: ({ owner }) => ({ key: owner.key, params: {} }),
  listApiKeys: ({ owner }) => ({ key: owner.key, params: {} }),
  createApiKey: ({ owner }) => ({ key: owner.key, params: {}, body: { name: 'another' } }),
  revokeApiKey: ({ owner, keyId }) => ({ key: owner.key, params: { keyId } }),
  rollApiKey: ({ owner, rolledKeyId }) => ({ key: owner.key, params: { keyId: rolledKeyId }, body: { overlapS: 60 } }),
  listAudit: ({ owner }) => ({ key: owner.key, params: {} }),
  getUsage: ({ owner }) => ({ key: owner.key, params: {} }),
  listEvents: ({ owner }) => ({ key: owner.key, params: {} }),
  listWebhooks: ({ owner }) => ({ key: owner.key, params: {} }),
  createWebhook: ({ owner, receiverUrl }) => ({
    key: owner.key,
    params: {},
    body: { url: receiverUrl, description: 'x', eventTypes: ['agent.removed'] },
  }),
  updateWebhook: ({ owner, webhookId }) => ({
    key: owner.key,
    params: { webhookId },
    body: { description: 'y', eventTypes: ['withdrawal.confirmed'], status: 'enabled' },
  }),
  deleteWebhook: ({ owner, spareWebhookId }) => ({ key: owner.key, params: { webhookId: spareWebhookId } }),
  getWebhookSecret: ({ owner, webhookId }) => ({ key: owner.key, params: { webhookId } }),
  rotateWebhookSecret: ({ owner, webhookId }) => ({ key: owner.key, params: { webhookId } }),
  testWebhook: ({ owner, webhookId }) => ({ key: owner.key, params: { webhookId } }),
  listDeliveries: ({ owner, webhookId }) => ({ key: owner.key, params: { webhookId } }),
  // Any JSON is a content, too.
  putFile: ({ owner, storedContent: { sha256, body } }) => ({ key: owner.key, params: { sha256 }, body }),
  createFile: ({ owner, storedContent: { body } }) => ({ key: owner.key, params: {}, body }),
  listFiles: ({ owner }) => ({ key: owner.key, params: {} }),
  getFile: ({ owner, fileId }) => ({ key: owner.key, params: { fileId } }),
  getFileContent: ({ owner, fileId }) => ({ key: owner.key, params: { fileId } }),
  deleteFile: ({ owner, fileId }) => ({ key: owner.key, params: { fileId } }),
  replayWebhook: ({ owner, webhookId, deliveryId }) => ({
    key: owner.key,
    params: { webhookId },
    body: { deliveryId },
  }),
};

export const endpoints = Object.entries(api) as [EndpointName, Endpoint][];

/** The path of a row with its parameters filled in, as they are. */
export const pathOf = (row: Endpoint, params: Readonly<Record<string, string>>): string =>
  row.path.replace(/\{(\w+)\}/g, (_, name: string) => params[name] ?? name);
