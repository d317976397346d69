import type { JsonSchema } from './json-schema.ts';

const wallet = '0x8f3Cf7ad23Cd3CaDbD9735AFf958023239c6A063';
const hash = `0x${'5c504ed432cb51138bcf09aa5e8a410d'.repeat(2)}`;
const id = (prefix: string) => `${prefix}_01k9xq3v7m2n8p4r6t0w5y1zab`;

/** What a field of this name holds, where its schema can't say. The first that fits the schema is taken. */
const byName: Readonly<Record<string, unknown>> = {
  id: id('agt'),
  agentId: id('agt'),
  agent_id: id('agt'),
  agents: [id('agt'), id('agt').replace('ab', 'cd')],
  requestId: id('req'),
  winner: id('req'),
  memo: id('req'),
  bulkId: id('blk'),
  quoteId: id('qte'),
  treasuryId: id('trs'),
  withdrawalId: id('wdr'),
  paymentId: id('pay'),
  webhookId: id('whk'),
  deliveryId: id('dlv'),
  eventId: id('evt'),
  keyId: id('key'),
  accountId: id('acc'),
  nodeId: id('acc').replace('acc', 'node'),
  challengeId: 'chg_01k9xq3v7m2n8p4r6t0w5y1zab',
  replaces: id('key'),
  name: 'Text Analyst',
  label: 'Main',
  description: 'Counts, keywords and a short summary of any text.',
  summary: 'Text Analyst',
  capability: 'summarise',
  capabilities: ['summarise', 'keywords'],
  any: ['summarise'],
  all: ['keywords'],
  tags: ['text'],
  text: 'summary of a text',
  task: 'Summarise this text',
  input: { text: 'Honey bees tell each other where food is by dancing.', sentences: 1 },
  context: 'For a school newspaper.',
  metadata: { source: 'newsroom' },
  result: { summary: 'Honey bees dance to share where food is.' },
  chunk: 'Honey bees ',
  endpoint: 'https://agent.example/run',
  serviceEndpoint: 'https://agent.example/run',
  baseUrl: 'https://node.example',
  website: 'https://agent.example',
  avatar: 'https://agent.example/avatar.png',
  url: 'https://you.example/hooks',
  webhookUrl: 'https://you.example/hooks',
  acceptUrl: `/invoke/${id('agt')}?quote=${id('qte')}`,
  identityToken: `0x${'7f'.repeat(32)}`,
  signature: `0x${'1b'.repeat(65)}`,
  nonce: 'k3v7m2n8p4r6',
  message: 'node.example wants you to sign in with your Ethereum account …',
  apiKey: `ank_live_4fT7bQ2mZx1K_${'a1B2c3D4e5F6g7H8i9J0'.repeat(3).slice(0, 49)}`,
  secret: 'whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD',
  start: 'ank_live_4fT7bQ2mZx1K',
  location: 'eu-central',
  estimatedTime: '1.25s',
  complexity_multiplier: '1.0',
  network: 'base',
  version: '2',
  tokenId: '42',
  reason: 'The caller cancelled the request.',
  cursor: 'eyJzIjo5NzIuNX0',
  nextCursor: 'eyJzIjo5NzIuNX0',
  reputation: 972.5,
  similarity: 0.87,
  successRate: 0.994,
  uptime: 0.999,
  load: 0.25,
  total: 1,
  count: 1,
  port: 4020,
  block: 31_337_000,
  finalBlock: 31_337_000,
  chainId: 8453,
  lagBlocks: 3,
  totalRequests: 1820,
  maxConcurrency: 8,
  limit: 20,
  offset: 0,
  used: 12,
  remaining: 88,
  sequence: 41,
  next: 41,
  durationMs: 84,
  replayed: 3,
  retryAfterS: 900,
  available: '8.50',
  held: '0.05',
  balance: '8.55',
  amount: '0.05',
  required: '0.05',
  online: true,
  verified: true,
  walletProven: true,
  hasMore: false,
  date: '2026-11-21',
  address: wallet,
  transactionHash: hash,
  paymentHash: hash,
  error: null,
  refund: null,
  deadline: '2026-11-21T10:10:00.000Z',
  completedAt: '2026-11-21T10:00:01.250Z',
  lastSeen: '2026-11-21T09:59:30.000Z',
  status: 'completed',
  response: 'ok',
  path: 'task',
  max: '0.10',
  min: 500,
  field: 'reputation',
};

type Resolve = (ref: string) => JsonSchema;
type Fits = (schema: JsonSchema, value: unknown) => boolean;

const branchesOf = (schema: JsonSchema): JsonSchema[] => (schema.anyOf ?? schema.oneOf ?? []) as JsonSchema[];

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'number' && Number.isInteger(value) ? 'integer' : typeof value;
};

function fitsType(schema: JsonSchema, value: unknown): boolean {
  if (schema.type === undefined) return true;
  return schema.type === typeOf(value) || (schema.type === 'number' && typeof value === 'number');
}

function fitsText(schema: JsonSchema, value: string): boolean {
  if (schema.format === 'date-time') return /^\d{4}-\d\d-\d\dT/.test(value);
  if (schema.format === 'date') return /^\d{4}-\d\d-\d\d$/.test(value);
  return typeof schema.pattern !== 'string' || new RegExp(schema.pattern, 'u').test(value);
}

/** Whether a value may stand where the schema is, as far as its top level says: objects are judged by their type alone. */
const fits: Fits = (schema, value) => {
  if ('const' in schema) return schema.const === value;
  if (Array.isArray(schema.enum)) return schema.enum.includes(value);
  const branches = branchesOf(schema);
  if (branches.length > 0) return branches.some((branch) => fits(branch, value));
  if (!fitsType(schema, value)) return false;
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  if (typeof value === 'number') return value >= (minimum ?? value) && value <= (maximum ?? value);
  if (typeof value === 'string') return fitsText(schema, value);
  return !Array.isArray(value) || fits((schema.items ?? {}) as JsonSchema, value[0]);
};

function plainExample(schema: JsonSchema): unknown {
  if (schema.format === 'date-time') return '2026-11-21T10:00:00.000Z';
  if (schema.format === 'date') return '2026-11-21';
  if (schema.type === 'string') return schema.format === 'uri' ? 'https://agent.example' : 'text';
  if (schema.type === 'integer' || schema.type === 'number') return schema.minimum ?? 1;
  if (schema.type === 'boolean') return true;
  return null;
}

/**
 * A value that the schema allows and that a reader understands: what the schema gives as `const`, example, or first of an enum, or
 * what a field of that name usually holds. `resolve` finds what a `$ref` leads to.
 */
export function exampleOf(schema: JsonSchema, resolve: Resolve, name = ''): unknown {
  if (typeof schema.$ref === 'string') return exampleOf(resolve(schema.$ref), resolve, name);
  if ('const' in schema) return schema.const;
  const known = byName[name];
  const isKnown = known !== undefined && schema.type !== 'object' && schema.properties === undefined;
  if (isKnown && fits(schema, known)) return known;
  if (schema.type === 'object' && schema.properties === undefined) return known ?? {};
  if (Array.isArray(schema.examples)) return schema.examples[0];
  if (Array.isArray(schema.enum)) return schema.enum[0];
  const branch = branchesOf(schema).find((each) => each.type !== 'null');
  if (branch) return exampleOf(branch, resolve, name);
  if (schema.type === 'array') return [exampleOf(schema.items as JsonSchema, resolve, name.replace(/s$/, ''))];
  if (schema.properties === undefined) return plainExample(schema);
  return objectExample(schema, resolve);
}

function objectExample(schema: JsonSchema, resolve: Resolve): Record<string, unknown> {
  const properties = Object.entries(schema.properties as Record<string, JsonSchema>);
  const shown = properties.filter(([, each]) => !String(each.description).startsWith('Alias of'));
  return Object.fromEntries(shown.map(([name, each]) => [name, exampleOf(each, resolve, name)]));
}
