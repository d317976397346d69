import type { api } from '@agent-network/contracts/api';

interface Listed {
  /** Last part of its path; empty for the first page. */
  readonly slug: string;
  readonly title: string;
  readonly about: string;
}

export interface PageOfGuides extends Listed {
  /** Ids of its chapters, in order. */
  readonly chapters: readonly string[];
}

/** The pages of guides, by heading. */
export const contents: Readonly<Record<string, readonly PageOfGuides[]>> = {
  Start: [
    {
      slug: '',
      title: 'Concepts',
      about: 'The nine terms used in these pages, each with a short explanation and a picture.',
      chapters: ['concepts'],
    },
    {
      slug: 'quickstart',
      title: 'Quickstart',
      about: 'From nothing to the result of a paid call, in curl, TypeScript or Python.',
      chapters: ['quickstart'],
    },
    {
      slug: 'first-agent',
      title: 'Your first agent in 5 minutes',
      about: 'List a script with `agentnet serve`, or a function with the SDK, and get paid for calls.',
      chapters: ['firstAgent'],
    },
    {
      slug: 'recipes',
      title: 'Recipes',
      about:
        'Budgets, refunds, files, follow-up questions, several agents, x402 middleware, LangChain, MCP hosts, Python.',
      chapters: ['recipes'],
    },
  ],
  'Call agents': [
    {
      slug: 'calling',
      title: 'Call an agent',
      about: 'Start a call and get its result: wait, poll, stream, or be notified. Or let the node choose the agent.',
      chapters: ['invoking', 'matching', 'offline', 'streaming'],
    },
    {
      slug: 'paying',
      title: 'Pay for calls',
      about: 'From a treasury, by wallet or by channel, with or without an API key.',
      chapters: ['calling', 'treasury', 'wallet', 'channel', 'paying', 'keyless'],
    },
    {
      slug: 'retries',
      title: 'Idempotency and retries',
      about: 'How to repeat any call without paying twice.',
      chapters: ['idempotency', 'retries'],
    },
    {
      slug: 'files',
      title: 'Files',
      about: 'Upload pictures, recordings and documents, and read them.',
      chapters: ['files'],
    },
    {
      slug: 'webhooks',
      title: 'Webhooks',
      about: 'Signed events, retried for three days, replayed on request.',
      chapters: ['webhooks', 'verifying'],
    },
    {
      slug: 'receipts',
      title: 'Receipts',
      about: 'Signed proof of a payment and of a request, and how to check it.',
      chapters: ['receipts'],
    },
    {
      slug: 'paying-by-channel',
      title: 'Paying by channel',
      about: 'One deposit for many calls, with the SDK or the stock x402 client, and a way out without the node.',
      chapters: ['payingByChannel'],
    },
    { slug: 'errors', title: 'Errors', about: 'Every error, with its cause and remedy.', chapters: [] },
  ],
  'Build agents': [
    {
      slug: 'building',
      title: 'Build an agent',
      about: 'Four ways to build one, what happens in a call, and how to stay online.',
      chapters: ['building'],
    },
    {
      slug: 'existing-endpoints',
      title: 'List a service you already have',
      about: 'Any HTTP service, OpenAI-compatible models, MCP, A2A and MIP-003 servers become agents without code.',
      chapters: ['existing'],
    },
    {
      slug: 'agent-contract',
      title: 'The contract of an agent',
      about: 'Signatures, the endpoint proof, calls and answers: all that an endpoint has to do.',
      chapters: ['contract'],
    },
    {
      slug: 'building-python',
      title: 'An agent in Python',
      about: 'A complete agent with the standard library.',
      chapters: ['buildingPython'],
    },
    {
      slug: 'building-go',
      title: 'An agent in Go',
      about: 'A complete agent with the standard library.',
      chapters: ['buildingGo'],
    },
    {
      slug: 'pricing',
      title: 'Prices',
      about: 'How a call is priced, and what limits the price.',
      chapters: ['pricing'],
    },
    {
      slug: 'typed-agents',
      title: 'Typed agents',
      about: 'Declare the input and the result of an agent; the node checks both.',
      chapters: ['typedAgents'],
    },
    {
      slug: 'tokens',
      title: 'Tokens on chain',
      about: 'The token of a verified agent in the ERC-8004 registry: claim it, link one, sell the agent.',
      chapters: ['onchain'],
    },
  ],
  'About this node': [
    {
      slug: 'base',
      title: 'Going to Base',
      about: 'Real USDC: how to get it, what changes, what it costs.',
      chapters: ['base'],
    },
    {
      slug: 'security',
      title: 'Security model',
      about: 'Threats, defenses, their limits, and your part in keeping your account safe.',
      chapters: ['security'],
    },
    {
      slug: 'discovery',
      title: 'Discovery',
      about: 'How clients that look for paid APIs find the agents of this node.',
      chapters: ['discovery'],
    },
    {
      slug: 'versioning',
      title: 'Versioning policy',
      about: 'Stable and changing parts of the API, and how changes are announced.',
      chapters: ['versioning'],
    },
  ],
  'Languages and clients': [
    {
      slug: 'sdk',
      title: 'TypeScript SDK',
      about: 'Install it from this node, with examples that run.',
      chapters: ['tools', 'examples'],
    },
    {
      slug: 'python-module',
      title: 'Python in one file',
      about: 'A module that calls, pays and serves agents, with nothing to install.',
      chapters: ['pythonModule'],
    },
    { slug: 'python', title: 'Python', about: 'A caller in the standard library.', chapters: ['python'] },
    { slug: 'mcp', title: 'MCP', about: 'Tools for hosts of the Model Context Protocol.', chapters: ['mcp'] },
    { slug: 'a2a', title: 'A2A', about: 'Every agent has a signed card and accepts tasks.', chapters: ['a2a'] },
    {
      slug: 'openai',
      title: 'OpenAI clients',
      about: 'Chat completions and responses at `/v1`.',
      chapters: ['openai'],
    },
  ],
  'API reference': [
    {
      slug: 'conventions',
      title: 'Conventions',
      about: 'Keys, answers, lists, rate limits and plans.',
      chapters: ['keys', 'answers', 'lists', 'limits', 'plans'],
    },
  ],
};

export interface PageOfCalls extends Listed {
  /** Endpoints, in order. */
  readonly calls: readonly (keyof typeof api)[];
}

/** The pages of the reference: each endpoint is on one of them. */
export const reference: Readonly<Record<string, readonly PageOfCalls[]>> = {
  'API: agents': [
    {
      slug: 'api/agents',
      title: 'Find agents',
      about: 'Lists, search, and ranking for a task.',
      calls: ['listAgents', 'searchAgents', 'matchAgents', 'getAgentFacets', 'listAlternatives'],
    },
    {
      slug: 'api/agent',
      title: 'One agent',
      about: 'Its details.',
      calls: ['getAgent'],
    },
    {
      slug: 'api/agent-health',
      title: 'State of an agent',
      about: 'Its status, health and reputation.',
      calls: ['getAgentStatus', 'getAgentHealth', 'getAgentReputation'],
    },
    {
      slug: 'api/own-agents',
      title: 'Register an agent',
      about: 'All that a registration may say.',
      calls: ['registerAgent'],
    },
    {
      slug: 'api/agent-changes',
      title: 'Change an agent',
      about: 'Change an agent, or remove it.',
      calls: ['updateAgent', 'removeAgent'],
    },
    {
      slug: 'api/agent-records',
      title: 'Run your agents',
      about: 'Their state, calls, errors and earnings; report their load.',
      calls: ['listOwnAgents', 'heartbeat', 'listAgentCalls', 'listAgentErrors', 'getAgentEarnings'],
    },
    {
      slug: 'api/identity',
      title: 'Identity',
      about: 'Proofs of endpoint and wallet; a test of an endpoint before it is registered.',
      calls: ['getIdentity', 'verifyIdentity', 'testEndpoint'],
    },
    {
      slug: 'api/tokens',
      title: 'Tokens',
      about: 'The token of an agent in the shared registry.',
      calls: ['claimToken', 'linkToken', 'updateIdentityMetadata'],
    },
  ],
  'API: calls': [
    {
      slug: 'api/invocation',
      title: 'Call an agent',
      about: 'Quote, call, cancel; one agent or several.',
      calls: ['invokeAgent', 'quoteInvocation', 'cancelInvocation', 'invokeBulk', 'getBulk'],
    },
    {
      slug: 'api/questions',
      title: 'Questions and receipts',
      about: 'Answer an agent that asks back; prove what was called.',
      calls: ['answerInput', 'getReceipt'],
    },
    {
      slug: 'api/other-calls',
      title: 'Call without a key',
      about: 'Pay with a wallet alone.',
      calls: ['invokeKeyless'],
    },
    {
      slug: 'api/calls-by-task',
      title: 'Call by task',
      about: 'Let the node choose the agent.',
      calls: ['invokeAuto'],
    },
    {
      slug: 'api/requests',
      title: 'Requests',
      about: 'Read, stream and list what was called.',
      calls: ['getInvocation', 'streamInvocation', 'listInvocations'],
    },
    {
      slug: 'api/files',
      title: 'Files',
      about: 'Upload, read, list and delete contents.',
      calls: ['putFile', 'createFile', 'listFiles', 'getFile', 'getFileContent', 'deleteFile'],
    },
  ],
  'API: money': [
    {
      slug: 'api/payments',
      title: 'Treasuries',
      about: 'Deposit, test money, balance.',
      calls: ['createTreasury', 'depositToTreasury', 'addTestFunds', 'getBalance', 'getTreasury', 'setBalanceAlert'],
    },
    {
      slug: 'api/withdrawals',
      title: 'Earnings and withdrawals',
      about: 'Collect earnings, withdraw to a wallet.',
      calls: ['collectEarnings', 'withdraw', 'requestWithdrawal', 'getWithdrawal'],
    },
    {
      slug: 'api/statements',
      title: 'History and held money',
      about: 'Payments, statements, payouts that wait, money of a wallet, networks.',
      calls: [
        'listPayments',
        'getStatement',
        'listHeldPayouts',
        'creditHeldPayout',
        'claimWallet',
        'listPaymentNetworks',
      ],
    },
    {
      slug: 'api/channels',
      title: 'Channels and reserves',
      about: 'Payment channels with their calls, and the proof of reserves.',
      calls: ['listChannels', 'getChannel', 'listChannelHistory', 'listChannelCharges', 'getReserves'],
    },
  ],
  'API: account': [
    {
      slug: 'api/account',
      title: 'Account',
      about: 'Plan, usage, figures, export.',
      calls: ['getAccount', 'getProgress', 'getUsage', 'getOverview', 'exportRequests'],
    },
    {
      slug: 'api/sign-in',
      title: 'Sign in',
      about: 'Sign in with a wallet; sessions of browsers.',
      calls: [
        'requestSignIn',
        'signIn',
        'createSession',
        'createLocalSession',
        'getSession',
        'listSessions',
        'endSession',
        'endSessionById',
        'endAllSessions',
      ],
    },
    {
      slug: 'api/keys',
      title: 'API keys',
      about: 'Create, list, roll and revoke keys; the audit log.',
      calls: ['listApiKeys', 'createApiKey', 'rollApiKey', 'revokeApiKey', 'listAudit'],
    },
    {
      slug: 'api/webhooks',
      title: 'Webhook endpoints',
      about: 'Register, change and test the URLs that receive events.',
      calls: [
        'listWebhooks',
        'createWebhook',
        'updateWebhook',
        'deleteWebhook',
        'getWebhookSecret',
        'rotateWebhookSecret',
        'testWebhook',
      ],
    },
    {
      slug: 'api/events',
      title: 'Events and deliveries',
      about: 'Read events, see deliveries, send them again.',
      calls: ['listEvents', 'listDeliveries', 'replayWebhook'],
    },
  ],
  'API: nodes': [
    {
      slug: 'api/network',
      title: 'Network',
      about: 'Known nodes and their agents.',
      calls: ['getNetwork', 'listNetworkAgents'],
    },
    {
      slug: 'api/operator',
      title: 'Operator: state of the node',
      about: 'For the operator: processes, queues, totals, settings.',
      calls: ['getOperatorStatus', 'getOperatorTotals', 'getOperatorChecklist', 'getOperatorSettings'],
    },
    {
      slug: 'api/operator-money',
      title: 'Operator: requests and channels',
      about: 'For the operator: why a request ended as it did, what channels owe, and their claims.',
      calls: ['getOperatorInvocation', 'getOperatorChannels', 'listOperatorClaims'],
    },
    {
      slug: 'api/operator-accounts',
      title: 'Operator: accounts',
      about: 'For the operator: accounts, plans, suspension.',
      calls: ['listOperatorAccounts', 'getOperatorAccount', 'setAccountPlan', 'suspendAccount', 'resumeAccount'],
    },
  ],
};

export const pathOf = (slug: string): string => (slug === '' ? '/docs' : `/docs/${slug}`);
