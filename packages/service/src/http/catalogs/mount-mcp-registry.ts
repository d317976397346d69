import { AgentSearch } from '@agent-network/contracts/agents/agent-search';
import type { AgentListItem } from '@agent-network/contracts/agents/agents';
import { mcpServers, mcpServerVersions } from '@agent-network/contracts/agents/catalogs';
import type { Endpoint, Parsed } from '@agent-network/contracts/endpoint';
import type { Context, Hono } from 'hono';
import { agentIdOf } from '../../agents/agent-slug.ts';
import { type CatalogAgent, findInCatalog, listCatalog, readCatalog } from '../../agents/search/list-catalog.ts';
import { searchAgents } from '../../agents/search/search-agents.ts';
import { AppError } from '../../lib/app-error.ts';
import { documentAnswer, toDocument } from '../documents/document-answer.ts';
import { createFreshDocuments } from '../documents/fresh-documents.ts';
import type { DocumentLimit } from '../documents/limit-documents.ts';
import type { HttpContext } from '../request/http-context.ts';
import { parseRequest } from '../request/parse-request.ts';
import { makePageToken, readPageToken } from './ard-search.ts';
import { answerCatalog, type Catalog } from './catalog-answer.ts';
import { serverName, serverOf } from './entries.ts';

const CACHE = 'public, max-age=15';
const DEFAULT_LIMIT = 30;
const SCHEMA = 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json';
const META = 'io.modelcontextprotocol.registry/official';

/**
 * Serves the reading part of the registry API of MCP (0.1): the node's own MCP server, and that of each of its agents. Servers have one
 * version, the latest.
 */
export function mountMcpRegistry(app: Hono, ctx: HttpContext, limit: DocumentLimit): void {
  if (!ctx.gateways.has('mcp')) return;
  const catalog: Catalog = { ctx, limit, errorForm: ({ message }) => ({ error: message }) };
  const fresh = createFreshDocuments();
  const get = <E extends Endpoint>(
    path: string,
    row: E,
    route: string,
    answer: (c: Context, query: Parsed<E>['query']) => Promise<object>,
  ) =>
    app.get(path, (c) =>
      answerCatalog(catalog, c, route, async () => {
        const raw = { params: {}, query: c.req.queries(), header: () => undefined, body: undefined };
        const query = parseRequest(row, raw).query as Parsed<E>['query'];
        const read = async () => toDocument(JSON.stringify(await answer(c, query)), 'application/json');
        const document = await fresh(`${c.req.path} ${JSON.stringify(query)}`, read);
        return documentAnswer(c, document, { 'cache-control': CACHE });
      }),
    );
  get('/v0.1/servers', mcpServers, 'mcpServers', (_, query) => listServers(ctx, query));
  get('/v0.1/servers/:name/versions', mcpServerVersions, 'mcpServerVersions', async (c, query) => {
    const server = await requireServer(ctx, c.req.param('name') ?? '', query.include_deleted === 'true');
    return { servers: [server], metadata: { count: 1 } };
  });
  get('/v0.1/servers/:name/versions/:version', mcpServerVersions, 'mcpServerVersion', async (c, query) => {
    const server = await requireServer(ctx, c.req.param('name') ?? '', query.include_deleted === 'true');
    const version = c.req.param('version');
    if (version !== 'latest' && version !== server.server.version) throw missing();
    return server;
  });
  app.all('/v0.1/*', (c) =>
    answerCatalog(catalog, c, 'mcpRegistryUnknown', async () => {
      throw new AppError('NOT_FOUND', 'The registry has GET /v0.1/servers and the versions of each; it is read only.');
    }),
  );
}

const missing = () => new AppError('NOT_FOUND', 'Server not found.');

/** A server with the registry's data about it. Of a removed agent nothing is shown but its name. */
function toServer(ctx: HttpContext, agent: CatalogAgent | null) {
  const isLatest = true;
  if (agent === null)
    return { server: { $schema: SCHEMA, ...serverOf(ctx, null) }, _meta: { [META]: { status: 'active', isLatest } } };
  const isRemoved = agent.status === 'removed';
  const { name, version, ...shown } = serverOf(ctx, agent);
  const at = { publishedAt: agent.createdAt.toISOString(), updatedAt: agent.updatedAt.toISOString() };
  return {
    server: { $schema: SCHEMA, name, version, ...(isRemoved ? { description: 'This agent was removed.' } : shown) },
    _meta: { [META]: { status: isRemoved ? 'deleted' : 'active', ...at, isLatest } },
  };
}

type Query = Parsed<typeof mcpServers>['query'];

/** Lists servers by id, the node's own first; those that a text finds by relevance. */
async function listServers(ctx: HttpContext, query: Query) {
  const { cursor, limit = DEFAULT_LIMIT, search, version, updated_since } = query;
  const question = JSON.stringify({ ...query, cursor: undefined, limit: undefined });
  const place = cursor === undefined ? null : readPageToken(ctx, question, cursor);
  const since = updated_since === undefined ? null : new Date(updated_since);
  const page =
    search === undefined
      ? await pageById(ctx, {
          after: place,
          limit,
          since,
          withRemoved: since !== null || query.include_deleted === 'true',
        })
      : await pageByText(ctx, { text: search, offset: Number(place ?? 0), limit, since });
  const servers = page.agents
    .map((agent) => toServer(ctx, agent))
    .filter(({ server }) => version === undefined || version === 'latest' || version === server.version);
  return {
    servers,
    metadata: {
      ...(page.next === null ? {} : { nextCursor: makePageToken(ctx, question, page.next) }),
      count: servers.length,
    },
  };
}

interface ServerPage {
  /** null: the node's own server. */
  readonly agents: readonly (CatalogAgent | null)[];
  /** The place behind it; null: it is the last one. */
  readonly next: string | null;
}

async function pageById(
  ctx: HttpContext,
  asked: {
    readonly after: string | null;
    readonly limit: number;
    readonly since: Date | null;
    readonly withRemoved: boolean;
  },
): Promise<ServerPage> {
  const own = asked.after === null && asked.since === null ? [null] : [];
  const limit = asked.limit - own.length;
  const { after, since: updatedAfter, withRemoved: isRemovedIncluded } = asked;
  const agents = await listCatalog(ctx, { after, limit: limit + 1, updatedAfter, isRemovedIncluded });
  const shown = agents.slice(0, limit);
  const end = shown.at(-1)?.id ?? after ?? '0';
  return { agents: [...own, ...shown], next: agents.length > limit ? end : null };
}

const MAX_OFFSET = 10_000;

async function pageByText(
  ctx: HttpContext,
  asked: { readonly text: string; readonly offset: number; readonly limit: number; readonly since: Date | null },
): Promise<ServerPage> {
  const { text, offset, limit, since } = asked;
  const found = await searchAgents(ctx, { ...AgentSearch.parse({ query: { text, home: 'this' }, limit }), offset });
  const items = found.agents.value as AgentListItem[];
  const agents = await readCatalog(
    ctx,
    items.map(({ id }) => id),
  );
  const end = offset + limit;
  return {
    agents: agents.filter(({ isProven, updatedAt }) => isProven && (since === null || updatedAt > since)),
    next: found.hasMore && end <= MAX_OFFSET ? String(end) : null,
  };
}

/** The server of a name. The id at its end decides, so that a former name of an agent is good as well. Throws NOT_FOUND. */
async function requireServer(ctx: HttpContext, name: string, withRemoved: boolean) {
  if (name === serverOf(ctx, null).name) return toServer(ctx, null);
  const [namespace = '', last = '', ...rest] = name.split('/');
  const id = rest.length === 0 && serverName(ctx.baseUrl, last) === `${namespace}/${last}` ? agentIdOf(last) : null;
  const agent = id === null ? null : await findInCatalog(ctx, id);
  if (agent === null || (agent.status === 'removed' && !withRemoved)) throw missing();
  return toServer(ctx, agent);
}
