/**
 * The rooms of the service from the ground up: a room imports only rooms that stand before it. `npm run check` proves it
 * (.dependency-cruiser.mjs).
 */
export const floors: readonly string[] = [
  'lib',
  'lib/log',
  'lib/net',
  'lib/process',
  'config-limits.ts',
  'config-payments.ts',
  'config.ts',
  'db/embedded',
  'db',
  'queue',
  'replica',
  'chain/channels',
  'chain',
  'access/caller',
  'access/accounts',
  'access/limits',
  'access/sessions',
  'access/audit',
  'access/idempotency',
  'access/keys',
  'events/outbox',
  'events/webhooks',
  'events/deliveries',
  'payments/ledger',
  'payments/onchain',
  'payments/settlement',
  'payments/x402',
  'payments/deposits',
  'payments/payouts',
  'payments/reconcile',
  'payments/bills',
  'payments/statements',
  'identity/challenges',
  'identity',
  'registry/read',
  'registry/write',
  'agents',
  'agents/search/words',
  'agents/search/index',
  'agents/search',
  'agents/registry-entry',
  'agents/reputation',
  'agents/alternatives',
  'agents/matching',
  'agents/health',
  'agents/manage',
  'agents/remote',
  'invocations',
  'invocations/bulk',
  'invocations/stats',
  'invocations/places',
  'invocations/stream',
  'invocations/agent-protocol',
  'invocations/remote',
  'invocations/finish',
  'invocations/retention',
  'invocations/run',
  'invocations/start',
  'invocations/read',
  'invocations/audit',
  'network/nodes',
  'network/entries',
  'network/feed',
  'network',
  'operator',
  'http/answer',
  'http/build',
  'http/request',
  'http',
  'http/documents',
  'http/dashboard',
  'http/handlers',
  'http/faces/common',
  'http/faces/mcp',
  'jobs.ts',
  'start-warnings.ts',
  'context.ts',
  'app.ts',
  'local',
  'node.ts',
  'local-mode.ts',
  'main.ts',
];

/** Domains whose stores others may import: settlement writes chain transactions in its own database transactions. */
export const openStores = ['chain'];

/** Allowed imports between packages. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  chain: [],
  service: ['contracts', 'chain'],
  sdk: ['contracts'],
  dashboard: ['sdk', 'contracts'],
};

/** npm packages, and the only places of the service that may import them. */
export const packageHomes = [
  {
    packages: ['pg'],
    homes: ['(db|queue)/', '.*-store\\.ts$'],
    comment: 'SQL stands only in *-store.ts, db/ and queue/.',
  },
  { packages: ['graphile-worker'], homes: ['(db|queue)/'], comment: 'graphile-worker stays in db/ and queue/.' },
  { packages: ['hono', '@hono'], homes: ['http/', 'app\\.ts$'], comment: 'Hono stays in http/ and app.ts.' },
  {
    packages: ['viem'],
    homes: [
      'chain/',
      'payments/(onchain|settlement|x402|reconcile)/',
      'identity/',
      'registry/',
      'local/',
      'local-mode\\.ts$',
    ],
    comment: 'viem stays where the chain is read and written.',
  },
  {
    packages: ['@modelcontextprotocol'],
    homes: ['http/faces/mcp/'],
    comment: 'The MCP SDK stays in its face.',
  },
  { packages: ['undici'], homes: ['lib/net/guarded-fetch'], comment: 'Only lib/net/guarded-fetch reaches out.' },
];

/** Text that is allowed only in some places of the service (scripts/check-content.ts). */
export const content = [
  {
    pattern: /(?<![\w.$#])(?:globalThis\.)?fetch\(/g,
    homes: /^$/,
    rule: 'only lib/net/guarded-fetch reaches out: no fetch()',
  },
  {
    pattern:
      /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql(<[^`]*>)?`|[`'"]\s*(select\s[^`'"]*\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s/gi,
    homes: /^(db|queue)\/|-store\.ts$/,
    rule: 'SQL stands only in *-store.ts, db/ and queue/',
  },
];
