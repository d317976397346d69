/** Paths that people and programs try because other services have them, by the address at which a node has the same. */
export const pathHints: Readonly<Record<string, readonly string[]>> = {
  '/docs': [
    ...['quick-start', 'getting-started', 'start', 'intro', 'introduction', 'overview', 'index', 'index.html'].map(
      (name) => `docs/${name}`,
    ),
    ...[
      'quickstart',
      'quick-start',
      'getting-started',
      'tutorial',
      'guide',
      'guides',
      'manual',
      'doc',
      'documentation',
    ],
    ...['help', 'support', 'faq', 'developer', 'developers'],
  ],
  '/docs/api/invocation': [
    ...[
      'docs/api',
      'docs/reference',
      'docs/api-reference',
      'docs/guides',
      'api/docs',
      'api',
      'reference',
      'api-reference',
    ],
    ...['api-docs', 'redoc', 'swagger', 'swagger-ui', 'swagger-ui.html', 'swagger/index.html', 'apidocs'],
  ],
  '/openapi.json': [
    ...['openapi', 'openapi.yaml', 'openapi.yml', 'swagger.json', 'swagger.yaml', 'api-docs.json', 'v3/api-docs'],
    ...['docs/openapi', 'docs/openapi.json', 'docs/swagger', 'api/openapi.json', '.well-known/openapi.json'],
  ],
  '/llms.txt': ['llms-full.txt', 'docs/llms.txt', '.well-known/llms.txt'],
  '/readyz': [
    'health',
    'healthz',
    'healthcheck',
    'health/ready',
    'ready',
    'readiness',
    'status',
    'ping',
    'up',
    'api/health',
  ],
  '/livez': ['live', 'liveness', 'alive', 'health/live'],
  '/dashboard/': ['login', 'log-in', 'signin', 'sign-in', 'signup', 'sign-up', 'join', 'app', 'console', 'settings'],
  '/dashboard/agents/new': ['register', 'publish', 'sell', 'list-your-agent'],
  '/dashboard/keys': ['keys', 'api-keys'],
  '/dashboard/operator': ['admin', 'operator'],
  '/dashboard/invocations': ['requests', 'calls', 'history'],
  '/explore': ['agent', 'search', 'browse', 'marketplace', 'directory', 'catalog', 'explore'],
  '/docs/sdk': [
    'sdk',
    'cli',
    'docs/cli',
    'docs/agentnet',
    'docs/tools',
    'docs/typescript',
    'docs/javascript',
    'docs/node',
  ],
  '/docs/calling': ['docs/invoke'],
  '/docs/paying': ['docs/x402', 'docs/payments', 'docs/treasury', 'docs/channels'],
  '/docs/building': ['docs/agents', 'docs/agent', 'docs/build', 'docs/register', 'docs/earn'],
  '/docs/building-go': ['docs/go'],
  '/docs/pricing': ['pricing', 'prices', 'docs/prices'],
  '/docs/conventions': [
    'docs/auth',
    'docs/authentication',
    'docs/keys',
    'docs/limits',
    'docs/rate-limits',
    'docs/plans',
  ],
  '/docs/retries': ['docs/idempotency'],
  '/docs/webhooks': ['docs/events'],
  '/.well-known/agent-card.json': ['.well-known/agent.json'],
  '/discovery/resources': ['.well-known/x402', 'discovery', 'bazaar'],
};

const addresses: ReadonlyMap<string, string> = new Map(
  Object.entries(pathHints).flatMap(([address, names]) => names.map((name) => [name, address] as const)),
);

/** The address that a path most likely means; null: none. Case and a slash at the end do not count. */
export const addressMeantBy = (path: string): string | null =>
  addresses.get(path.slice(1).replace(/\/$/, '').toLowerCase()) ?? null;
