import type { Sql, Tx } from '../store/sql.ts';
import type { Entry, Reason } from './entry.ts';
import type { EntryClaim } from './entry-address.ts';

const columns = `e.token_id::text as "tokenId", e.kind, e.base_url as "baseUrl", e.agent_id as "agentId", e.owner,
  e.registered_by as "registeredBy", e.uri_block as "uriBlock", e.uri_index as "uriIndex", e.uri_by as "uriBy", e.state, e.reason, e.tries,
  e.next_try_at as "nextTryAt", site_of(e.base_url) as site`;

export const HAS_UNFOLLOWED = `(select max(number) from registry_change where chain_id = given.chain_id)
  > coalesce((select number from network_follow where chain_id = given.chain_id), 0)`;
export const HAS_DUE_ENTRIES = `least((select min(next_try_at) from network_entry where kind = 'node' and next_try_at is not null),
        (select min(next_try_at) from network_entry where kind = 'agent' and next_try_at is not null)) <= given.now`;

/** Position up to which registry changes were followed. */
export async function readFollowed(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql.query<{ number: bigint }>(
    'read-followed',
    'select number from network_follow where chain_id = $1',
    [chainId],
  );
  return row?.number ?? 0n;
}

/** Advances that position by compare-and-set; false when another process has. */
export async function writeFollowed(tx: Tx, chainId: number, from: bigint, to: bigint): Promise<boolean> {
  const rows = await tx.query(
    'write-followed',
    `insert into network_follow as f (chain_id, number) values ($1, $3)
     on conflict (chain_id) do update set number = $3 where f.number = $2 returning f.number`,
    [chainId, from, to],
  );
  return rows.length > 0;
}

/** The entries of these tokens, with row locks until the transaction ends. */
export const lockEntries = (tx: Tx, chainId: number, tokenIds: readonly string[]): Promise<Entry[]> =>
  tx.query<Entry>(
    'lock-entries',
    `select ${columns} from network_entry e where e.chain_id = $1 and e.token_id = any($2::numeric[]) order by e.token_id for update`,
    [chainId, tokenIds],
  );

export async function deleteEntries(tx: Tx, chainId: number, tokenIds: readonly string[]): Promise<void> {
  await tx.query('delete-entries', 'delete from network_entry where chain_id = $1 and token_id = any($2::numeric[])', [
    chainId,
    tokenIds,
  ]);
}

export type NewEntry = EntryClaim &
  Pick<Entry, 'tokenId' | 'owner' | 'registeredBy' | 'uriBlock' | 'uriIndex' | 'uriBy'>;

/** Inserts entries or updates their owners, and makes their checks due now. */
export async function upsertEntries(tx: Tx, chainId: number, entries: readonly NewEntry[], now: Date): Promise<void> {
  await tx.query(
    'upsert-entries',
    `insert into network_entry (chain_id, token_id, kind, base_url, agent_id, owner, registered_by, uri_block, uri_index, uri_by, state,
       next_try_at)
     select $1, r."tokenId", r.kind, r."baseUrl", r."agentId", r.owner, r."registeredBy", r."uriBlock", r."uriIndex", r."uriBy", 'new', $3
       from json_to_recordset($2::json)
         as r("tokenId" numeric, kind text, "baseUrl" text, "agentId" text, owner text, "registeredBy" text,
           "uriBlock" bigint, "uriIndex" integer, "uriBy" text)
     on conflict (chain_id, token_id) do update
       set owner = excluded.owner, registered_by = excluded.registered_by, uri_block = excluded.uri_block,
         uri_index = excluded.uri_index, uri_by = excluded.uri_by, tries = 0, next_try_at = excluded.next_try_at`,
    [chainId, JSON.stringify(entries.map((entry) => ({ ...entry, uriBlock: String(entry.uriBlock) }))), now],
  );
}

export interface DueChecks {
  readonly chainId: number;
  readonly now: Date;
  readonly busyUntil: Date;
  readonly limit: number;
  /** Nodes, announcing keys and sites that are at their limit of concurrent requests. */
  readonly crowded: {
    readonly nodes: readonly string[];
    readonly keys: readonly string[];
    readonly sites: readonly string[];
  };
  /** Maximum share of one key and one site in a batch. */
  readonly maxPerKey: number;
  readonly maxPerSite: number;
}

/**
 * Takes due entries of nodes and postpones their next attempt, so that another process gets different ones. Half are taken round-robin by
 * announcing key, half by site: thousands of entries under one key or at one site get one turn.
 */
export const takeDueNodes = (sql: Sql, due: DueChecks): Promise<Entry[]> =>
  sql.query<Entry>(
    'take-due-node-entries',
    `with due as (
       select chain_id, token_id, tries, next_try_at, uri_by, site_of(base_url) as site from network_entry
        where chain_id = $1 and kind = 'node' and next_try_at <= $2 and base_url <> all($5)
     ), ranked as (
       select *, row_number() over (partition by uri_by order by tries, next_try_at) as of_key,
              row_number() over (partition by site order by tries, next_try_at) as of_site from due
     ), chosen as (
       (select chain_id, token_id from ranked where of_key <= $8 and uri_by <> all($6) order by of_key, random() limit ($4::int + 1) / 2)
       union
       (select chain_id, token_id from ranked where of_site <= $9 and site <> all($7) order by of_site, random() limit ($4::int + 1) / 2)
     ), taken as (
       select e.chain_id, e.token_id from network_entry e join chosen using (chain_id, token_id)
        where e.next_try_at <= $2 order by random() limit $4 for update of e skip locked
     )
     update network_entry e set next_try_at = $3 from taken where (e.chain_id, e.token_id) = (taken.chain_id, taken.token_id)
     returning ${columns}`,
    [
      ...[due.chainId, due.now, due.busyUntil, due.limit],
      ...[due.crowded.nodes, due.crowded.keys, due.crowded.sites, due.maxPerKey, due.maxPerSite],
    ],
  );

/** Takes agent entries that are due for a check: a few of each listed node, round-robin by site, and those of unlisted nodes. */
export const takeDueAgents = (sql: Sql, due: DueChecks, maxPerNode: number): Promise<Entry[]> =>
  sql.query<Entry>(
    'take-due-agent-entries',
    `with home as (
       select base_url, row_number() over (partition by site_of(base_url) order by random()) as of_site from network_node n
        where is_listed and base_url <> all($5) and site_of(base_url) <> all($7)
          and exists (select from network_entry e
                       where e.base_url = n.base_url and e.chain_id = $1 and e.kind = 'agent' and e.next_try_at <= $2)
     ), turn as (
       select base_url from home order by of_site, random() limit $4
     ), known as (
       select e.chain_id, e.token_id from turn cross join lateral (
         select chain_id, token_id from network_entry
          where base_url = turn.base_url and chain_id = $1 and kind = 'agent' and next_try_at <= $2
          order by next_try_at limit $6 for update skip locked
       ) e limit $4
     ), unknown as (
       select chain_id, token_id from network_entry e
        where chain_id = $1 and kind = 'agent' and next_try_at <= $2
          and not exists (select from network_node n where n.base_url = e.base_url and n.is_listed)
        order by next_try_at limit $4 for update skip locked
     ), due as (
       select * from known union all select * from unknown limit $4
     )
     update network_entry e set next_try_at = $3 from due where (e.chain_id, e.token_id) = (due.chain_id, due.token_id)
     returning ${columns}`,
    [due.chainId, due.now, due.busyUntil, due.limit, due.crowded.nodes, maxPerNode, due.crowded.sites],
  );

/** Writes the result of a check. An entry that was woken since stays due, as the check may have read the earlier state. */
export async function writeEntry(
  tx: Tx,
  chainId: number,
  checked: Pick<Entry, 'tokenId' | 'nextTryAt'>,
  outcome: Pick<Entry, 'state' | 'reason' | 'tries'> & { readonly nextTryAt: Date | null },
): Promise<void> {
  await tx.query(
    'write-entry',
    `update network_entry
        set state = $3, reason = $4, tries = $5,
            next_try_at = case when next_try_at is not distinct from $7 then $6 else least(next_try_at, $6) end
      where chain_id = $1 and token_id = $2`,
    [chainId, checked.tokenId, outcome.state, outcome.reason, outcome.tries, outcome.nextTryAt, checked.nextTryAt],
  );
}

/** The first other listed entry for the same node or the same agent id; locked as above. */
export async function lockRival(
  tx: Tx,
  chainId: number,
  { kind, baseUrl, agentId, tokenId }: Entry,
): Promise<Entry | null> {
  const [row] = await tx.query<Entry>(
    'lock-rival',
    `select ${columns} from network_entry e
      where e.chain_id = $1 and e.kind = $3 and e.token_id <> $5 and (e.agent_id = $4 or ($4::text is null and e.base_url = $2))
        and e.state = 'listed' order by e.uri_block, e.uri_index limit 1 for update`,
    [chainId, baseUrl, kind, agentId, tokenId],
  );
  return row ?? null;
}

/** Makes entries due that lost to another entry of the same address, or to another agent with the same id. */
export async function wakeRivals(
  tx: Tx,
  chainId: number,
  { baseUrl, agentId }: Pick<Entry, 'baseUrl' | 'agentId'>,
  now: Date,
): Promise<void> {
  await tx.query(
    'wake-rivals',
    `update network_entry set next_try_at = $5, tries = 0
      where chain_id = $1 and reason = any($4) and (base_url = $2 and agent_id is not distinct from $3 or agent_id = $3)`,
    [chainId, baseUrl, agentId, ['duplicate', 'id_taken'] satisfies Reason[], now],
  );
}

/** Makes all agents of a node due. */
export async function wakeAgents(tx: Tx, chainId: number, baseUrl: string, now: Date): Promise<void> {
  await tx.query(
    'wake-agent-entries',
    `update network_entry set next_try_at = $3, tries = 0 where chain_id = $1 and base_url = $2 and kind = 'agent'`,
    [chainId, baseUrl, now],
  );
}

/** Unlists a node's agents until it is listed again. */
export async function unlistAgents(tx: Tx, chainId: number, baseUrl: string): Promise<void> {
  await tx.query(
    'unlist-agent-entries',
    `update network_entry set state = 'ignored', reason = 'unknown_node', next_try_at = null
      where chain_id = $1 and base_url = $2 and kind = 'agent'`,
    [chainId, baseUrl],
  );
}

/** Listed entries of some agents of a node, by the agents' ids. */
export const listedAgents = (sql: Sql, chainId: number, baseUrl: string, ids: readonly string[]): Promise<Entry[]> =>
  sql.query<Entry>(
    'listed-agent-entries',
    `select ${columns} from network_entry e
      where e.chain_id = $1 and e.agent_id = any($3) and e.base_url = $2 and e.state = 'listed'`,
    [chainId, baseUrl, ids],
  );

/** Makes these entries due. */
export async function wakeEntries(sql: Sql, chainId: number, tokenIds: readonly string[], now: Date): Promise<void> {
  await sql.query(
    'wake-entries',
    'update network_entry set next_try_at = least(next_try_at, $3) where chain_id = $1 and token_id = any($2::numeric[])',
    [chainId, tokenIds, now],
  );
}

/** Makes entries due that the operator refuses, or refused before. */
export async function wakeRefused(
  sql: Sql,
  chainId: number,
  refused: { readonly baseUrls: readonly string[]; readonly tokenIds: readonly string[] },
  now: Date,
): Promise<void> {
  await sql.query(
    'wake-refused',
    `update network_entry set next_try_at = $4, tries = 0
      where chain_id = $1 and (reason = 'refused' or kind = 'node' and base_url = any($2) or token_id = any($3::numeric[]))`,
    [chainId, refused.baseUrls, refused.tokenIds, now],
  );
}

/** Number of agents that name a node in the registry, in any state. */
export async function countClaims(sql: Sql, chainId: number, baseUrl: string): Promise<number> {
  const [row] = await sql.query<{ count: bigint }>(
    'count-agent-entries',
    `select count(*) as count from network_entry where chain_id = $1 and base_url = $2 and kind = 'agent'`,
    [chainId, baseUrl],
  );
  return Number(row?.count ?? 0);
}
