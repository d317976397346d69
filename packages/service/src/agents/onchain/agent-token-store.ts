import type { Sql, Tx } from '../../store/sql.ts';

/** Verified agents of this node with no write planned, or with one that failed before a time; in the order of ids. */
export const listUnregistered = (
  sql: Sql,
  page: { chainId: number; after: string; failedAfter: Date; limit: number },
): Promise<{ id: string; accountId: string }[]> =>
  sql.query(
    'list-unregistered-agents',
    `select g.id, g.account_id as "accountId" from agent g join account a on a.id = g.account_id
      where g.id > $2 and g.token_id is null and g.home_node is null and g.endpoint_proven_at is not null
        and g.status <> 'removed' and g.frozen_at is null and a.wallet_proven_at is not null
        and not exists (select from registry_write w where w.chain_id = $1 and w.kind = 'register' and w.subject_id = g.id
                           and (w.state <> 'failed' or w.ended_at > $3))
      order by g.id limit $4`,
    [page.chainId, page.after, page.failedAfter, page.limit],
  );

/** Agents with an unclaimed token that this node last pointed to a URI other than `before`, the id, `behind`. */
export const listMisplaced = (
  sql: Sql,
  page: { chainId: number; after: string; before: string; behind: string; limit: number },
): Promise<{ id: string; tokenId: string }[]> =>
  sql.query(
    'list-misplaced-agents',
    `select g.id, g.token_id::text as "tokenId" from agent g
      where g.id > $2 and g.token_id is not null and g.token_claimed_at is null and g.home_node is null and g.status <> 'removed'
        and (select w.uri from registry_write w
              where w.chain_id = $1 and w.subject_id = g.id and w.kind in ('register', 'uri') and w.state <> 'failed'
              order by w.created_at desc, w.id desc limit 1) <> $3 || g.id || $4
      order by g.id limit $5`,
    [page.chainId, page.after, page.before, page.behind, page.limit],
  );

export interface TokenHolder {
  readonly id: string;
  readonly isRemoved: boolean;
  readonly isClaimed: boolean;
}

/** Agents of this node with row locks until the transaction ends; locked in the order of ids. */
export const lockTokenHolders = (tx: Tx, ids: readonly string[]): Promise<TokenHolder[]> =>
  tx.query<TokenHolder>(
    'lock-token-holders',
    `select id, status = 'removed' as "isRemoved", token_claimed_at is not null as "isClaimed" from agent
      where id = any($1) and home_node is null order by id for update`,
    [ids],
  );

/** Assigns tokens to agents and takes them from any other agent: a reorg can change the order of token ids. */
export async function writeTokenIds(
  tx: Tx,
  tokens: readonly { readonly agentId: string; readonly tokenId: string }[],
  now: Date,
): Promise<void> {
  const ids = tokens.map(({ agentId }) => agentId);
  const tokenIds = tokens.map(({ tokenId }) => tokenId);
  await tx.query(
    'clear-token-ids',
    `update agent g set token_id = null, changed_at = $3 from unnest($1::text[], $2::numeric[]) as t(id, token_id)
      where g.token_id = t.token_id and g.id <> t.id and g.status <> 'removed'`,
    [ids, tokenIds, now],
  );
  await tx.query(
    'write-token-ids',
    `update agent g set token_id = t.token_id, changed_at = $3 from unnest($1::text[], $2::numeric[]) as t(id, token_id)
      where g.id = t.id and g.token_id is distinct from t.token_id`,
    [ids, tokenIds, now],
  );
}

/** Records since when the owners of agents hold their tokens; null: they do not. */
export async function writeClaimedAt(
  tx: Tx,
  tokens: readonly { readonly agentId: string; readonly tokenId: string }[],
  claimedAt: Date | null,
): Promise<void> {
  await tx.query(
    'write-token-claimed-at',
    `update agent g set token_claimed_at = $3 from unnest($1::text[], $2::numeric[]) as t(id, token_id)
      where g.id = t.id and g.token_id = t.token_id`,
    [tokens.map(({ agentId }) => agentId), tokens.map(({ tokenId }) => tokenId), claimedAt],
  );
}

/** True when another agent has the token. Serializes all assignments of it until the transaction ends. */
export async function isTaken(tx: Tx, tokenId: string, agentId: string): Promise<boolean> {
  await tx.query('lock-token', `select pg_advisory_xact_lock(hashtextextended('agent-token:' || $1, 0))`, [tokenId]);
  const rows = await tx.query(
    'find-agent-of-token',
    `select from agent where token_id = $1 and id <> $2 and status <> 'removed'`,
    [tokenId, agentId],
  );
  return rows.length > 0;
}

/** Records the block of an agent's removal, unless one is recorded; returns its account. */
export async function writeFinalBlock(
  tx: Tx,
  agentId: string,
  finalBlock: bigint,
): Promise<{ readonly accountId: string } | null> {
  const rows = await tx.query<{ accountId: string }>(
    'write-final-block',
    `update agent set final_block = $2 where id = $1 and status = 'removed' and final_block is null
     returning account_id as "accountId"`,
    [agentId, finalBlock],
  );
  return rows[0] ?? null;
}

export async function readFinalBlock(sql: Sql, agentId: string): Promise<bigint | null> {
  const [row] = await sql.query<{ finalBlock: bigint | null }>(
    'read-final-block',
    'select final_block as "finalBlock" from agent where id = $1',
    [agentId],
  );
  return row?.finalBlock ?? null;
}

const sold = (chainId: string, after: string, limit: string) =>
  `select g.id, g.token_id::text as "tokenId" from agent g
     join registry_token t on t.chain_id = ${chainId} and t.token_id = g.token_id
    where g.token_claimed_at is not null and g.home_node is null and g.status <> 'removed' and t.owner <> g.owner_address
      and g.id > ${after}
    order by g.id limit ${limit}`;

export const HAS_SOLD = `exists (select from (${sold('given.chain_id', `''`, '1')}) sold)`;

/** Agents with a token that the index assigns to a wallet other than their owner's, in the order of ids. */
export const listSold = (
  sql: Sql,
  page: { chainId: number; after: string; limit: number },
): Promise<{ id: string; tokenId: string }[]> =>
  sql.query('list-sold-agents', sold('$1', '$2', '$3'), [page.chainId, page.after, page.limit]);

/** Serializes the tokens that the node pays for agents of an account until the transaction ends. */
export const lockTokensPaid = (tx: Tx, accountId: string): Promise<unknown> =>
  tx.query('lock-tokens-paid', `select pg_advisory_xact_lock(hashtextextended('agent-tokens:' || $1, 0))`, [accountId]);

/** Number of tokens that the node has paid for agents of an account since a time, removed agents and due writes included. */
export async function countTokensPaid(sql: Sql, accountId: string, since: Date): Promise<number> {
  const [row] = await sql.query<{ paid: number }>(
    'count-tokens-paid',
    `select count(*)::int as paid from agent g join registry_write w on w.subject_id = g.id and w.kind = 'register'
      where g.account_id = $1 and w.created_at > $2 and (w.state <> 'failed' or w.tries > 0)`,
    [accountId, since],
  );
  return row?.paid ?? 0;
}
