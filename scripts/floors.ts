/**
 * The rooms of the service from the ground up: a room imports only rooms that stand before it. `npm run check` proves it
 * (.dependency-cruiser.mjs).
 */
export const floors: readonly string[] = [
  'lib',
  'config',
  'store',
  'chain',
  'accounts',
  'files',
  'events',
  'payments',
  'registry',
  'agents',
  'calls',
  'network',
  'operator',
  'http',
  'compose',
  'node.ts',
  'local-mode.ts',
  'main.ts',
];

/** Folders of a room that others of it may use, and that use only what is named here, whatever the floors allow. */
export const within = [
  {
    name: 'the ledger stands alone',
    from: 'payments/ledger/',
    to: 'payments/(?!ledger/)',
    comment: 'Bookings know no scheme, no chain and no payout.',
  },
  {
    name: 'what is noted does not know who delivers it',
    from: 'events/(outbox|webhooks)/',
    to: 'events/deliveries/',
    comment: 'An event is written in the transaction of its cause; sending it is another matter.',
  },
  {
    name: 'protocols know no calls',
    from: 'calls/protocols/',
    to: 'calls/(start|run|finish|bulk|read|remote|pricing)/',
    comment: 'An adapter speaks to an agent; who called it, and who pays, is not its business.',
  },
  {
    name: 'gateways do not know each other',
    from: 'http/gateways/(mcp|a2a|openai)/',
    to: 'http/gateways/(?!$1/|common/)',
    comment: 'What two protocols share stands in gateways/common.',
  },
  {
    name: 'what gateways share knows none of them',
    from: 'http/gateways/common/',
    to: 'http/gateways/(?!common/)',
    comment: 'gateways/common is below them.',
  },
];

/** Rooms with stores that other rooms may import: settlement writes chain transactions in its own database transactions. */
export const openStores = ['chain'];

/** Allowed imports between packages. */
export const packages: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  chain: [],
  'search-index': ['contracts'],
  service: ['contracts', 'chain', 'search-index'],
  sdk: ['contracts'],
  dashboard: ['sdk', 'contracts'],
  cli: ['sdk', 'contracts'],
};

/** npm packages, and the only places of the service that may import them. */
export const packageHomes = [
  {
    packages: ['pg'],
    homes: ['store/(?!replica/)', '.*-store\\.ts$'],
    comment: 'SQL stands only in *-store.ts and store/.',
  },
  {
    packages: ['@opentelemetry'],
    homes: ['lib/telemetry/open-telemetry\\.ts$'],
    comment: 'OpenTelemetry is loaded only where traces are on.',
  },
  {
    packages: ['secp256k1'],
    homes: ['chain/keys/(local-signer|authorization|signature-engine)\\.ts$'],
    comment: 'One place signs with secp256k1, and one recovers signers.',
  },
  { packages: ['hono', '@hono'], homes: ['http/', 'compose/app\\.ts$'], comment: 'Hono stays in http/ and app.ts.' },
  {
    packages: ['viem'],
    homes: [
      'chain/',
      'payments/(chain-outbox|settlement|x402|schemes|reconcile)/',
      'accounts/proofs/',
      'agents/health/prove-endpoint.ts$',
      'registry/',
      'compose/local/',
      'local-mode.ts$',
    ],
    comment: 'viem stays where the chain is read and written.',
  },
  {
    packages: ['@modelcontextprotocol'],
    homes: ['http/gateways/mcp/'],
    comment: 'The MCP SDK stays in its gateway.',
  },
  {
    packages: ['@hyperjump', 're2js'],
    homes: ['lib/json-schema/'],
    comment: 'JSON Schemas are checked in lib/json-schema.',
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
      /\.(selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\(|\bsql(<[^`]*>)?`|[`'"]\s*(select\s[^`'"]*\sfrom|insert\s+into|update\s+\w+\s+set|delete\s+from)\s|\.query(<[^(]*>)?\(\s*'[\w-]+',/gi,
    homes: /^store\/(?!replica\/)|-store\.ts$/,
    rule: 'SQL stands only in *-store.ts and store/',
  },
  {
    pattern: /\b\w*[pP]rivateKeys?\b|\bsecretKey\b|\bcreateLocalSigner\b|\becdsaSign\b|viem\/accounts/g,
    homes:
      /^(config\/keys|chain\/keys\/(node-keys|local-signer)|compose\/local\/local-keys|http\/gateways\/a2a\/card-signer|lib\/secrets)\.ts$/,
    rule: 'private keys stay where signers are made: use a Signer of chain/keys/node-keys.ts',
  },
  {
    pattern: /\.signHash\((?!\s*(?:[\w.()]+\.)?\w+Digest\()/g,
    homes: /^chain\/keys\/signer\.ts$/,
    rule: 'only hashes that the node composes are signed: signHash(…Digest(fields)), signTransaction or signText',
  },
];
