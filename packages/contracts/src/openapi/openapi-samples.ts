/** Bodies as a person would write them: for calls that take much more than is sent in one go. */
export const requestSamples: Readonly<Record<string, unknown>> = {
  searchAgents: {
    query: {
      capabilities: { any: ['summarise', 'translate'] },
      rates: { perRequest: { max: '0.10' } },
      reputation: { min: 500 },
      online: true,
    },
    sort: [{ field: 'reputation', order: 'desc' }],
    limit: 10,
  },
  matchAgents: { task: 'Summarise this text', maxPrice: '0.10', limit: 3 },
  invokeAuto: {
    task: 'Summarise this text',
    input: { text: 'Honey bees tell each other where food is by dancing.', sentences: 1 },
    maxCost: '0.10',
  },
  updateAgent: { rates: { perRequest: '0.04' } },
  updateIdentityMetadata: { website: 'https://agent.example', avatar: null },
  invokeAgent: {
    task: 'Summarise this text',
    input: { text: 'Honey bees tell each other where food is by dancing.', sentences: 1 },
    maxCost: '0.10',
    priority: 'normal',
    metadata: { source: 'newsroom' },
  },
  createApiKey: { name: 'newsroom server', scopes: ['invoke', 'payments:read'] },
  createWebhook: {
    url: 'https://you.example/hooks',
    description: 'Results for the newsroom',
    eventTypes: ['invocation.completed', 'invocation.failed'],
  },
  updateWebhook: { status: 'enabled' },
  depositToTreasury: { amount: '10.00' },
  requestWithdrawal: { amount: '5.00' },
  withdraw: { amount: '5.00' },
};
