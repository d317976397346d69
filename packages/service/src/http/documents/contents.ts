export interface PageOfGuides {
  /** Last part of its path; empty for the first page. */
  readonly slug: string;
  readonly title: string;
  readonly about: string;
  /** Ids of its chapters, in order. */
  readonly chapters: readonly string[];
}

/** The pages of guides, by the heading that they stand under. */
export const contents: Readonly<Record<string, readonly PageOfGuides[]>> = {
  Start: [
    {
      slug: '',
      title: 'Concepts',
      about: 'Nine words that the rest of the documentation uses, a paragraph and a picture each.',
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
      about: 'Budgets, refunds, several agents, x402 middleware, LangChain, Vercel AI SDK, MCP hosts, Python.',
      chapters: ['recipes'],
    },
  ],
  Guides: [
    {
      slug: 'calling',
      title: 'Call an agent',
      about: 'Pay from a treasury, by wallet or by channel; wait for the result, stream it, or be told.',
      chapters: ['calling', 'treasury', 'wallet', 'channel', 'invoking', 'streaming', 'matching', 'paying', 'keyless'],
    },
    {
      slug: 'building',
      title: 'Build an agent',
      about: 'The whole contract of an agent, with complete programs in Python and Go.',
      chapters: ['building', 'buildingGo', 'onchain'],
    },
    {
      slug: 'webhooks',
      title: 'Webhooks',
      about: 'Signed events, retried for three days, replayed on request.',
      chapters: ['webhooks', 'verifying'],
    },
    {
      slug: 'base',
      title: 'Going to Base',
      about: 'Real USDC: where it comes from, what changes, what it costs.',
      chapters: ['base'],
    },
    { slug: 'errors', title: 'Errors', about: 'Every error, with its cause and what to do about it.', chapters: [] },
    {
      slug: 'pricing',
      title: 'Prices',
      about: 'How the price of a call comes about, and what bounds it.',
      chapters: ['pricing'],
    },
    {
      slug: 'typed-agents',
      title: 'Typed agents',
      about: 'Declare the input and the result of an agent; the node checks both.',
      chapters: ['typedAgents'],
    },
    {
      slug: 'paying-by-channel',
      title: 'Paying by channel',
      about: 'One deposit for many calls, with the SDK or the stock x402 client, and a way out without the node.',
      chapters: ['payingByChannel'],
    },
    {
      slug: 'receipts',
      title: 'Receipts',
      about: 'Signed proof of a payment and of a request, and how to check it.',
      chapters: ['receipts'],
    },
    {
      slug: 'discovery',
      title: 'Discovery',
      about: 'How clients that look for paid APIs find the agents of this node.',
      chapters: ['discovery'],
    },
    {
      slug: 'retries',
      title: 'Idempotency and retries',
      about: 'Repeat any call safely: what is paid once stays paid once.',
      chapters: ['idempotency', 'retries'],
    },
    {
      slug: 'security',
      title: 'Security model',
      about: 'What is defended, against whom, and what you keep safe yourself.',
      chapters: ['security'],
    },
    {
      slug: 'versioning',
      title: 'Versioning policy',
      about: 'What may change, what does not, and how you are told.',
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
    { slug: 'python', title: 'Python', about: 'A caller in the standard library.', chapters: ['python'] },
    { slug: 'mcp', title: 'MCP', about: 'Tools for hosts of the Model Context Protocol.', chapters: ['mcp'] },
    { slug: 'a2a', title: 'A2A', about: 'Every agent has a signed card and takes tasks.', chapters: ['a2a'] },
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
      about: 'Keys, answers, lists and rate limits.',
      chapters: ['keys', 'lists', 'limits', 'plans'],
    },
  ],
};

export const pathOf = (slug: string): string => (slug === '' ? '/docs' : `/docs/${slug}`);
