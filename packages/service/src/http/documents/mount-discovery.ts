import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail, AgentListItem } from '@agent-network/contracts/agents/agents';
import { listResources, searchResources } from '@agent-network/contracts/agents/discovery';
import type { Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import { parseUsdc } from '@agent-network/contracts/money';
import { agentOpenApiDocument } from '@agent-network/contracts/openapi/agent-openapi';
import type { Context, Hono } from 'hono';
import { readAgent } from '../../agents/search/find-agent.ts';
import { listPayable, searchPayable } from '../../agents/search/list-payable.ts';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import { MINUTE_MS } from '../../lib/duration.ts';
import type { PaymentChecks } from '../../payments/schemes/exact/payment-checks.ts';
import { bazaarExtension } from '../../payments/x402/payment-required.ts';
import { listedTerms } from '../../payments/x402/x402-scheme.ts';
import type { HttpContext } from '../request/http-context.ts';
import { parseRequest } from '../request/parse-request.ts';
import { answerDocument, toDocument } from './document-answer.ts';
import { createFreshDocuments } from './fresh-documents.ts';

const DEFAULT_LIMIT = 20;
/** Number of resources to build at a time, so that a crawler's page of a thousand does not delay other requests. */
const MADE_AT_ONCE = 100;

/** Agents change at any time: copies are checked after this long. */
const CACHE = 'public, max-age=15';

/**
 * Serves the documents that clients of paid APIs look for: the resources in the form of a facilitator, and an OpenAPI document for each
 * agent.
 */
export function mountDiscovery(app: Hono, ctx: HttpContext): void {
  if (!ctx.gateways.has('x402')) return;
  const fresh = createFreshDocuments();
  const serve = (c: Context, name: string, read: () => Promise<string>, gzipFromBytes?: number) => {
    const document = async () => toDocument(await read(), 'application/json', gzipFromBytes);
    return answerDocument(c, () => fresh(name, document), CACHE);
  };
  app.get('/discovery/resources', (c) => {
    const query = queryOf(c, listResources);
    // To compress a crawler's page would take the process longer than to make it.
    const gzipFromBytes = (query.limit ?? 0) > MADE_AT_ONCE ? Number.POSITIVE_INFINITY : undefined;
    return serve(c, questionOf(c), () => readResources(ctx, query), gzipFromBytes);
  });
  app.get('/discovery/search', (c) => {
    const query = queryOf(c, searchResources);
    return serve(c, questionOf(c), async () => JSON.stringify(await findResources(ctx, query)));
  });
  app.get('/agents/:id/openapi.json', (c) =>
    serve(c, c.req.path, async () => JSON.stringify(agentOpenApi(ctx, await readAgent(ctx, c.req.param('id'))))),
  );
}

/** The address with its query. */
function questionOf(c: Context): string {
  const { pathname, search } = new URL(c.req.url);
  return pathname + search;
}

function queryOf<E extends Endpoint>(c: Context, row: E): Parsed<E>['query'] {
  const raw = { params: {}, query: c.req.queries(), header: () => undefined, body: undefined };
  return parseRequest(row, raw).query as Parsed<E>['query'];
}

async function readResources(
  ctx: HttpContext,
  { limit = DEFAULT_LIMIT, offset = 0, ...filter }: Parsed<typeof listResources>['query'],
): Promise<string> {
  const { agents, total } = sellsFor(ctx, filter)
    ? await listPayable(ctx, { limit, offset })
    : { agents: [], total: 0 };
  const now = ctx.clock.now();
  const items: string[] = [];
  for (const [index, agent] of agents.entries()) {
    if (index > 0 && index % MADE_AT_ONCE === 0) await nextTurn();
    items.push(JSON.stringify(toResource(ctx, agent, now)));
  }
  return `{"x402Version":2,"items":[${items.join(',')}],"pagination":${JSON.stringify({ limit, offset, total })}}`;
}

/** One page of the best matches, as agents on further pages would hardly match. */
async function findResources(
  ctx: HttpContext,
  { query, limit = DEFAULT_LIMIT, ...filter }: Parsed<typeof searchResources>['query'],
) {
  const found = sellsFor(ctx, filter) ? await searchPayable(ctx, { query, limit }) : { agents: [], isWhole: true };
  const now = ctx.clock.now();
  return {
    x402Version: 2,
    resources: found.agents.map((agent) => toResource(ctx, agent, now)),
    partialResults: !found.isWhole,
    pagination: { limit, cursor: null },
  };
}

/** The OpenAPI document of an agent, with the price that it asks now. */
const agentOpenApi = ({ baseUrl }: NodeIdentity, { rates, ...agent }: AgentDetail & { types?: AgentTypes }) =>
  agentOpenApiDocument({ ...agent, price: rates.perRequest }, baseUrl);

type Filter = Omit<Parsed<typeof searchResources>['query'], 'query' | 'limit'>;

/** Maximum length of a name that facilitators store. */
const MAX_NAME = 32;
const MAX_TAGS = 5;
const MAX_DESCRIBED = 10;

const isListable = (text: string) => text.length <= MAX_NAME && /^[\x20-\x7e]+$/.test(text);

/** True if the agents pass the filters of a facilitator's client; all have the same terms. */
function sellsFor(node: NodeIdentity & PaymentChecks, filter: Filter): boolean {
  const { chain } = node;
  const { type = 'http', payTo = chain.wallet, scheme, network = chain.caip2, extensions = 'bazaar' } = filter;
  return (
    type === 'http' &&
    payTo.toLowerCase() === chain.wallet &&
    (scheme === undefined || listedTerms(node, chain, 0n).some((terms) => terms.scheme === scheme)) &&
    [chain.caip2, chain.name].includes(network) &&
    extensions.split(',').every((name) => name.trim() === 'bazaar')
  );
}

/** An agent as a resource that can be bought. `lastUpdated` is when the list was read, to the minute: prices are those of now. */
const toResource = (node: NodeIdentity & PaymentChecks, agent: AgentListItem, now: Date) => ({
  resource: `${node.baseUrl}/x402/${agent.id}`,
  type: 'http',
  x402Version: 2,
  accepts: listedTerms(node, node.chain, parseUsdc(agent.rates.perRequest)),
  lastUpdated: new Date(Math.floor(now.getTime() / MINUTE_MS) * MINUTE_MS).toISOString(),
  description: `Invocation of ${agent.name}: ${agent.capabilities.slice(0, MAX_DESCRIBED).join(', ')}`,
  mimeType: 'application/json',
  ...(isListable(agent.name) ? { serviceName: agent.name } : {}),
  tags: agent.capabilities.filter(isListable).slice(0, MAX_TAGS),
  extensions: { bazaar: bazaarExtension },
});
