import { crc32 } from 'node:zlib';
import type { Sql } from '../store/sql.ts';
import type { Agent } from './agent.ts';

export type AgentChange = Partial<
  Pick<
    Agent,
    | 'name'
    | 'description'
    | 'capabilities'
    | 'perRequestMicro'
    | 'perHourMicro'
    | 'tiers'
    | 'endpoint'
    | 'protocol'
    | 'upstream'
    | 'upstreamHeadersSealed'
    | 'upstreamDigest'
    | 'fault'
    | 'faultDetail'
    | 'metadata'
    | 'exampleQuestions'
    | 'typesId'
    | 'status'
    | 'reputation'
    | 'isNew'
    | 'endpointProvenAt'
    | 'checksDone'
    | 'failedInARow'
    | 'passedInARow'
    | 'lastPingAt'
    | 'lastSeenAt'
    | 'responseMs'
    | 'reportedLoad'
    | 'reportedAt'
    | 'isAccepting'
    | 'updatedAt'
    | 'accountId'
    | 'ownedSince'
    | 'owner'
    | 'frozenAt'
    | 'tokenId'
    | 'tokenClaimedAt'
  >
> & {
  readonly nextCheckAt?: Date | null;
  readonly removedAt?: Date;
  readonly tokenHash?: Buffer;
  readonly tokenSealed?: Buffer;
};

const columnOf: Record<keyof StoredChange, string> = {
  name: 'name',
  description: 'description',
  capabilities: 'capabilities',
  perRequestMicro: 'per_request_micro',
  perHourMicro: 'per_hour_micro',
  tiers: 'tiers',
  endpoint: 'endpoint',
  protocol: 'protocol',
  upstream: 'upstream',
  upstreamHeadersSealed: 'upstream_headers_sealed',
  upstreamDigest: 'upstream_digest',
  fault: 'fault',
  faultDetail: 'fault_detail',
  metadata: 'metadata',
  exampleQuestions: 'example_questions',
  typesId: 'types_id',
  status: 'status',
  reputation: 'reputation',
  isNew: 'is_new',
  endpointProvenAt: 'endpoint_proven_at',
  checksDone: 'checks_done',
  failedInARow: 'failed_in_a_row',
  passedInARow: 'passed_in_a_row',
  lastPingAt: 'last_ping_at',
  lastSeenAt: 'last_seen_at',
  responseMs: 'response_ms',
  reportedLoad: 'reported_load',
  reportedAt: 'reported_at',
  isAccepting: 'is_accepting',
  updatedAt: 'updated_at',
  nextCheckAt: 'next_check_at',
  removedAt: 'removed_at',
  accountId: 'account_id',
  ownedSince: 'owned_since',
  owner: 'owner_address',
  frozenAt: 'frozen_at',
  tokenId: 'token_id',
  tokenClaimedAt: 'token_claimed_at',
  tokenHash: 'token_hash',
  tokenSealed: 'token_sealed',
  changedAt: 'changed_at',
};
/** `changedAt`: time of the change in the feed to other nodes; absent when they need not hear of it. */
type StoredChange = AgentChange & { readonly changedAt?: Date };
const jsonColumns: ReadonlySet<string> = new Set(['tiers', 'metadata', 'upstream', 'faultDetail']);

/** Writes the named fields; the row must be locked by the transaction. */
export async function updateAgentRow(sql: Sql, id: string, change: StoredChange): Promise<void> {
  const names = (Object.keys(change) as (keyof StoredChange)[]).sort();
  const sets = names.map((name, index) => `${columnOf[name]} = $${index + 2}`);
  const values = names.map((name) => (jsonColumns.has(name) ? JSON.stringify(change[name]) : change[name]));
  // Few combinations of fields occur; the hash keeps the statement name under PostgreSQL's 63 characters.
  await sql.query(`update-agent-${crc32(names.join())}`, `update agent set ${sets.join(', ')} where id = $1`, [
    id,
    ...values,
  ]);
}

/** Puts the agent into the feed to other nodes again after a change outside its row. */
export async function recordChange(sql: Sql, id: string, now: Date): Promise<void> {
  await sql.query('record-agent-change', 'update agent set changed_at = $2 where id = $1', [id, now]);
}
