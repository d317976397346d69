import type { AgentMetadata } from '@agent-network/contracts/agents/agent-metadata';
import type { AgentProtocol } from '@agent-network/contracts/agents/upstream';
import type { Sql } from '../../store/sql.ts';
import type { StoredStatus } from '../agent.ts';

/** An agent's fields in the catalogs that other programs read. */
export interface CatalogAgent {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly exampleQuestions: readonly string[];
  readonly metadata: AgentMetadata;
  readonly perRequestMicro: bigint;
  readonly reputation: number;
  readonly status: StoredStatus;
  readonly protocol: AgentProtocol;
  /** The version of its declared types; null: it has not declared any. */
  readonly typesId: string | null;
  /** Token id in the shared registry; null: none yet. */
  readonly tokenId: string | null;
  readonly isProven: boolean;
  readonly createdAt: Date;
  /** The time of its last change, or of its removal. */
  readonly updatedAt: Date;
  /** Base address of its home node; null: this node. */
  readonly homeUrl: string | null;
}

const described = `select g.id, g.name, g.description, g.capabilities, g.example_questions as "exampleQuestions", g.metadata,
    g.per_request_micro as "perRequestMicro", g.reputation, g.status, g.protocol, g.types_id as "typesId", g.token_id::text as "tokenId",
    g.endpoint_proven_at is not null as "isProven", g.created_at as "createdAt",
    greatest(g.updated_at, coalesce(g.removed_at, g.updated_at)) as "updatedAt", n.base_url as "homeUrl"
  from agent g left join network_node n on n.id = g.home_node`;

/** The agents with these ids, without removed ones, in no order. */
export const findCatalogAgents = (sql: Sql, ids: readonly string[]): Promise<CatalogAgent[]> =>
  sql.query<CatalogAgent>('find-catalog-agents', `${described} where g.id = any($1) and g.status <> 'removed'`, [ids]);

/** An agent of this node by its id, removed or not; null: there is none with a proven endpoint. */
export async function findListedAgent(sql: Sql, id: string): Promise<CatalogAgent | null> {
  const [row] = await sql.query<CatalogAgent>(
    'find-catalog-agent',
    `${described} where g.id = $1 and g.home_node is null and g.endpoint_proven_at is not null`,
    [id],
  );
  return row ?? null;
}

/** Agents of this node with a proven endpoint, in the order of their ids. */
export interface CatalogRange {
  /** The id behind which the page begins; null: that of `from`. */
  readonly after: string | null;
  /** The first id; null: none. */
  readonly from: string | null;
  /** The id at which it ends at the latest; null: no such id. */
  readonly before: string | null;
  readonly limit: number;
  readonly createdAfter: Date | null;
  readonly updatedAfter: Date | null;
  readonly name: string | null;
  readonly isRemovedIncluded: boolean;
}

export const listCatalogRows = (sql: Sql, range: CatalogRange): Promise<CatalogAgent[]> =>
  sql.query<CatalogAgent>(
    'list-catalog-agents',
    `${described}
      where g.home_node is null and g.endpoint_proven_at is not null and g.id > coalesce($1, '') and g.id >= coalesce($8, '')
        and ($2::text is null or g.id < $2) and ($4::timestamptz is null or g.created_at > $4)
        and ($5::timestamptz is null or greatest(g.updated_at, coalesce(g.removed_at, g.updated_at)) > $5)
        and ($6::text is null or g.name = $6) and ($7 or g.status <> 'removed')
      order by g.id limit $3`,
    [
      ...[range.after, range.before, range.limit, range.createdAfter, range.updatedAfter, range.name],
      ...[range.isRemovedIncluded, range.from],
    ],
  );
