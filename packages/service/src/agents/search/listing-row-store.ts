import type { AgentMetadata } from '@agent-network/contracts/agents/agent-metadata';
import type { Sql } from '../../store/sql.ts';
import type { ListedAgent } from '../agent-view.ts';

/** An agent's shown fields with those that it is found by. */
export interface StoredListing extends ListedAgent {
  readonly description: string;
  readonly tags: readonly string[] | null;
  readonly exampleQuestions: readonly string[];
  /** Home node; null: this node. */
  readonly home: string | null;
  readonly createdAt: Date;
}

const listed = `select g.id, g.name, g.description, g.capabilities, g.metadata -> 'tags' as tags, g.example_questions as "exampleQuestions", g.home_node as home,
    g.per_request_micro as "perRequestMicro", g.per_hour_micro as "perHourMicro", g.reputation, g.is_new as "isNew", g.status, g.response_ms as "responseMs",
    g.endpoint_proven_at as "endpointProvenAt", g.created_at as "createdAt", n.label as "homeLabel",
    g.home_node is not null or a.wallet_proven_at is not null and g.frozen_at is null as "isWalletProven"
  from agent g join account a on a.id = g.account_id left join network_node n on n.id = g.home_node
  where g.status <> 'removed'`;

/** The listed agents behind the one with the id `after`, by id. */
export const listStoredListings = (sql: Sql, after: string, limit: number): Promise<StoredListing[]> =>
  sql.query<StoredListing>('list-listings', `${listed} and g.id > $1 order by g.id limit $2`, [after, limit]);

/** Descriptive fields that the listing in memory does without. */
export interface AgentDescription {
  readonly id: string;
  readonly description: string;
  readonly owner: string;
  readonly metadata: AgentMetadata;
  readonly createdAt: Date;
}

export const findDescriptions = (sql: Sql, ids: readonly string[]): Promise<AgentDescription[]> =>
  sql.query<AgentDescription>(
    'find-descriptions',
    `select id, description, owner_address as owner, metadata, created_at as "createdAt" from agent where id = any($1)`,
    [ids],
  );

export interface ListingChanges {
  readonly agents: readonly string[];
  readonly accounts: readonly string[];
  readonly nodes: readonly string[];
}

/** The listed ones of the given agents, and all listed agents of the accounts and of the home nodes. */
export const findStoredListings = (sql: Sql, { agents, accounts, nodes }: ListingChanges): Promise<StoredListing[]> =>
  accounts.length + nodes.length === 0
    ? sql.query<StoredListing>('find-listings', `${listed} and g.id = any($1)`, [agents])
    : sql.query<StoredListing>(
        'find-listings-of',
        `${listed} and (g.id = any($1) or g.account_id = any($2) or g.home_node = any($3))`,
        [agents, accounts, nodes],
      );
