import type { Shape } from './shape.ts';

/** The tables of the product spec, written down by hand: nothing here comes from our own contracts. */

const rates = { perRequest: 'usdc', perHour: 'usdc' } as const;

export const agentListItem: Shape = {
  ...{ id: 'string', name: 'string', capabilities: ['string'], rates, reputation: 'reputation' },
  ...{ status: "'online|offline'", location: 'string', responseTime: 'duration', verified: 'boolean' },
};

export const agentDetail: Shape = {
  ...{ id: 'string', name: 'string', description: 'string', capabilities: ['string'] },
  rates: { ...rates, tiers: { basic: 'usdc', premium: 'usdc', enterprise: 'usdc' } },
  ...{ owner: 'wallet', reputation: 'reputation', totalRequests: 'number', successRate: 'fraction' },
  ...{ avgResponseTime: 'duration', uptime: 'fraction', verified: 'boolean', online: 'boolean' },
  ...{ endpoint: 'url', lastSeen: 'iso', createdAt: 'iso' },
};

export const created: Shape = {
  ...{ requestId: 'string', status: "'pending|processing'", estimatedCost: 'usdc', estimatedTime: 'string' },
  ...{ deadline: 'iso', agentId: 'string', createdAt: 'iso' },
};

/** A completed request that was paid on chain has every field. */
export const requestRecord: Shape = {
  ...{ requestId: 'string', status: "'completed'", agentId: 'string', task: 'string', result: 'object' },
  ...{ cost: 'usdc', duration: 'duration', paymentHash: 'hash', createdAt: 'iso', completedAt: 'iso' },
};

export const quote: Shape = {
  ...{ quoteId: 'string', estimatedCost: 'usdc', estimatedTime: 'string' },
  breakdown: { base_fee: 'usdc', complexity_multiplier: 'string', total: 'usdc' },
  ...{ validUntil: 'iso', acceptUrl: 'string' },
};

/** An answer of the table "Endpoints": what is sent and what must come back. `{…}` in path and body names a thing of the test. */
export interface SpecCall {
  readonly method: string;
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly data: Shape;
}

const agentPage: Shape = { agents: [agentListItem], total: 'number', hasMore: 'boolean' };
const task = { task: 'Research', input: { topic: 'x' } };

export const calls: readonly SpecCall[] = [
  { method: 'GET', path: '/agents', data: agentPage },
  {
    method: 'GET',
    path: '/agents?capability=testing&maxPrice=1.00&minReputation=0&status=online&limit=100&offset=0',
    data: agentPage,
  },
  { method: 'GET', path: '/agents?status=offline', data: agentPage },
  { method: 'GET', path: '/agents?status=all', data: agentPage },
  {
    method: 'POST',
    path: '/agents',
    body: {
      ...{ name: 'ResearchBot', description: 'Reads.', capabilities: ['research', 'analysis'] },
      ...{ rates: { perRequest: '0.05', perHour: '5.00' }, endpoint: '{endpoint}' },
      metadata: { avatar: 'https://example.com/a.png', website: 'https://example.com', tags: ['ai'] },
    },
    data: {
      ...{ id: 'string', name: "'ResearchBot'", identityToken: 'hash', registeredAt: 'iso' },
      status: "'pending_verification'",
    },
  },
  { method: 'GET', path: '/agents/{agent}', data: agentDetail },
  {
    method: 'PUT',
    path: '/agents/{agent}',
    body: {
      ...{ description: 'Reads more.', rates: { perRequest: '0.05' }, capabilities: ['testing', 'more'] },
      metadata: { tags: ['b'] },
    },
    data: { id: 'string', updated: ["'description|rates|capabilities|metadata'"], updatedAt: 'iso' },
  },
  {
    method: 'GET',
    path: '/agents/{agent}/status',
    data: {
      ...{
        id: 'string',
        online: 'boolean',
        lastPing: 'iso',
        responseTime: 'duration',
        load: 'fraction',
        location: 'string',
      },
    },
  },
  {
    method: 'POST',
    path: '/agents/search',
    body: {
      query: {
        capabilities: { any: ['testing', 'research'], all: ['testing'] },
        rates: { perRequest: { max: '0.10' }, perHour: { max: '10.00' } },
        ...{ reputation: { min: 0 }, verified: true, online: true },
      },
      sort: [
        { field: 'reputation', order: 'desc' },
        { field: 'rates.perRequest', order: 'asc' },
      ],
      limit: 10,
    },
    data: {
      agents: [agentListItem],
      total: 'number',
      query: {
        capabilities: { any: ['string'], all: ['string'] },
        rates: { perRequest: { max: 'string' }, perHour: { max: 'string' } },
        ...{ reputation: { min: 'number' }, verified: 'boolean', online: 'boolean' },
      },
      executionTime: 'string',
    },
  },
  {
    method: 'POST',
    path: '/invoke/{agent}',
    body: {
      ...{ ...task, maxCost: '1.00', priority: 'normal', deadline: '{deadline}', context: 'text' },
      ...{ metadata: { client_id: 'c', session_id: 's' }, webhookUrl: '{receiver}', stream: false },
    },
    data: created,
  },
  { method: 'POST', path: '/invoke/{agent}?quote={quote}', body: task, data: created },
  {
    method: 'POST',
    path: '/invoke/{agent}',
    body: task,
    headers: { 'x-sync': 'true' },
    data: { requestId: 'string', status: "'completed'", result: 'object', cost: 'usdc', duration: 'duration' },
  },
  {
    method: 'POST',
    path: '/invoke/{agent}/quote',
    body: { task: 'x', input: { size: 1, complexity: 'high' } },
    data: quote,
  },
  { method: 'GET', path: '/invoke/{paidRequest}', data: requestRecord },
  {
    method: 'POST',
    path: '/invoke/{openRequest}/cancel',
    data: { requestId: 'string', cancelled: 'boolean', refund: 'usdc', reason: "'user_cancellation'" },
  },
  {
    method: 'GET',
    path: '/invoke/history?agentId={agent}&status=completed&startDate={today}&endDate={today}&limit=100&offset=0',
    data: {
      requests: [
        {
          ...{ requestId: 'string', agentId: 'string', task: 'string', status: "'completed'", cost: 'usdc' },
          ...{ duration: 'duration', createdAt: 'iso' },
        },
      ],
      ...{ total: 'number', totalCost: 'usdc', hasMore: 'boolean' },
    },
  },
  ...['first_success', 'all', 'majority'].map((strategy) => ({
    method: 'POST',
    path: '/invoke/bulk',
    body: { ...task, agents: ['{agent}', '{other}'], maxCostPerAgent: '0.50', strategy },
    data: {
      bulkId: 'string',
      requests: [{ agentId: 'string', requestId: 'string', status: 'string' }],
      ...{ strategy: `'${strategy}'`, estimatedCost: 'usdc' },
    } as Shape,
  })),
  {
    method: 'GET',
    path: '/identity/{agent}',
    data: {
      ...{ id: 'string', name: 'string', owner: 'wallet', capabilities: ['string'], serviceEndpoint: 'url' },
      ...{ rates: ['object'], reputation: 'reputation' },
    },
  },
  { method: 'POST', path: '/identity/verify', body: { agentId: '{agent}', proof: 'endpoint' }, data: 'object' },
  { method: 'PUT', path: '/identity/{agent}/metadata', body: { tags: ['c'] }, data: 'object' },
  { method: 'GET', path: '/payments/history', data: 'object' },
  { method: 'POST', path: '/payments/treasury', body: {}, data: 'object' },
  { method: 'GET', path: '/payments/balance', data: 'object' },
  { method: 'POST', path: '/payments/withdraw', body: { amount: '0.01' }, data: 'object' },
];

/** Last, as it is permanent. */
export const removal: SpecCall = {
  method: 'DELETE',
  path: '/agents/{other}',
  data: { id: 'string', unregistered: "'true'", finalBlock: 'number' },
};

/** The aliases of the spending cap, and the values of the list filters. */
export const capAliases = ['maxCost', 'max_cost', 'max_spend'] as const;

/** The agent-to-agent form. */
export const agentToAgent: Shape = { result: 'object', cost: 'usdc', completion_time: 'duration', agent_id: 'string' };

const base = { code: 'string', message: 'string' } as const;
/** Table "Error codes" and the statuses without a code of their own. */
export const errors: Readonly<Record<string, { status: number; error: Shape }>> = {
  validation: { status: 400, error: base },
  unauthorized: { status: 401, error: base },
  paymentRequired: {
    status: 402,
    error: {
      ...{ code: "'PAYMENT_REQUIRED'", message: 'string' },
      payment: { amount: 'usdc', currency: "'USDC'", network: 'string', recipient: 'wallet', memo: 'string' },
    },
  },
  notFound: { status: 404, error: base },
  insufficientFunds: {
    status: 422,
    error: { code: "'INSUFFICIENT_FUNDS'", message: 'string', details: { required: 'usdc', available: 'usdc' } },
  },
  insufficientBalance: {
    status: 422,
    error: { code: "'INSUFFICIENT_BALANCE'", message: 'string', details: { required: 'usdc', available: 'usdc' } },
  },
  rateLimited: { status: 429, error: base },
  agentUnavailable: {
    status: 503,
    error: {
      ...{ code: "'AGENT_UNAVAILABLE'", message: 'string', agentId: 'string', lastSeen: 'iso' },
      alternatives: [{ agentId: 'string', similarity: 'fraction' }],
    },
  },
};

/** Table "Limits". */
export const limits = [
  { plan: 'free', api: 100, invocations: 10 },
  { plan: 'pro', api: 1000, invocations: 100 },
] as const;
