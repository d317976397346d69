import type { Sql, Tx } from '../store/sql.ts';
import type { DueChecks } from './entry-store.ts';
import type { NodeDescription } from './registered-file.ts';

/** A node of another operator that is or was listed here. */
export interface NetworkNode extends NodeDescription {
  readonly nodeId: string;
  readonly tokenId: string;
  readonly baseUrl: string;
  /** Site of the node, see `Entry`. */
  readonly site: string;
  readonly accountId: string;
  readonly status: 'online' | 'offline';
  readonly isListed: boolean;
  readonly isShown: boolean;
  readonly failedInARow: number;
  readonly feedCursor: string | null;
  readonly feedRead: number;
  readonly joinedAt: Date;
  readonly lastSeenAt: Date;
  /** The node's key: the holder of its token when that was pointed here. */
  readonly registrar: string | null;
}

const columns = `n.id as "nodeId", n.token_id::text as "tokenId", n.base_url as "baseUrl", site_of(n.base_url) as site, n.label, n.version, n.wallet, n.is_interactive as "isInteractive",
  n.account_id as "accountId", n.status, n.is_listed as "isListed", n.is_shown as "isShown", n.failed_in_a_row as "failedInARow",
  n.feed_cursor as "feedCursor", n.feed_read as "feedRead", n.joined_at as "joinedAt", n.last_seen_at as "lastSeenAt",
  (select e.uri_by from network_entry e where (e.chain_id, e.token_id) = (n.chain_id, n.token_id)) as registrar`;

/** True when the node's feed is current or catching up: it is online, or on the way there. */
export const isTelling = ({ status, feedCursor }: NetworkNode): boolean => status === 'online' || feedCursor !== null;

export async function findNode(sql: Sql, baseUrl: string): Promise<NetworkNode | null> {
  const [row] = await sql.query<NetworkNode>(
    'find-node',
    `select ${columns} from network_node n where n.base_url = $1`,
    [baseUrl],
  );
  return row ?? null;
}

/** Listed nodes, in the order of joining. */
export const listNodes = (sql: Sql, limit: number): Promise<NetworkNode[]> =>
  sql.query<NetworkNode>(
    'list-nodes',
    `select ${columns} from network_node n where n.is_listed order by n.joined_at, n.id limit $1`,
    [limit],
  );

/** A node with a row lock until the transaction ends; `share`: a shared lock. */
export async function lockNode(tx: Tx, baseUrl: string, mode: 'update' | 'share'): Promise<NetworkNode | null> {
  const [row] = await tx.query<NetworkNode>(
    `lock-node-${mode}`,
    `select ${columns} from network_node n where n.base_url = $1 for ${mode === 'update' ? 'no key update' : 'share'} of n`,
    [baseUrl],
  );
  return row ?? null;
}

export async function insertNode(
  tx: Tx,
  node: NodeDescription & { nodeId: string; chainId: number; tokenId: string; baseUrl: string; accountId: string },
  now: Date,
): Promise<void> {
  await tx.query(
    'insert-node',
    `insert into network_node (id, chain_id, token_id, base_url, label, version, wallet, account_id, status, next_check_at,
       joined_at, last_seen_at, is_interactive)
     values ($1, $2, $3, $4, $5, $6, $7, $8, 'online', $9, $9, $9, $10)`,
    [
      ...[node.nodeId, node.chainId, node.tokenId, node.baseUrl, node.label, node.version, node.wallet],
      ...[node.accountId, now, node.isInteractive],
    ],
  );
}

/** Writes a node's description. */
export async function describeNode(
  tx: Tx,
  nodeId: string,
  node: NodeDescription & { tokenId: string; accountId: string },
): Promise<void> {
  await tx.query(
    'describe-node',
    `update network_node set token_id = $2, label = $3, version = $4, wallet = $5, account_id = $6, is_interactive = $7 where id = $1`,
    [nodeId, node.tokenId, node.label, node.version, node.wallet, node.accountId, node.isInteractive],
  );
}

/** Lists a node again, as when it first joined. */
export async function relistNode(tx: Tx, nodeId: string, now: Date): Promise<void> {
  await tx.query(
    'relist-node',
    `update network_node
        set is_listed = true, is_shown = true, status = 'online', failed_in_a_row = 0, feed_cursor = null, feed_read = 0,
            next_check_at = $2, joined_at = $2, last_seen_at = $2
      where id = $1`,
    [nodeId, now],
  );
}

/** Unlists a node; its agents are updated later. */
export async function unlistNode(tx: Tx, nodeId: string): Promise<void> {
  await tx.query(
    'unlist-node',
    `update network_node set is_listed = false, is_shown = false, status = 'offline' where id = $1`,
    [nodeId],
  );
}

/**
 * Takes nodes with a due poll, answering ones first and a few of each site, and postpones their next one, so that another process gets
 * different ones.
 */
export const takeDueFeeds = (
  sql: Sql,
  due: Pick<DueChecks, 'now' | 'busyUntil' | 'limit' | 'crowded' | 'maxPerSite'>,
): Promise<NetworkNode[]> =>
  sql.query<NetworkNode>(
    'take-due-feeds',
    `with ranked as (
       select id, failed_in_a_row > 0 as is_failing, next_check_at,
              row_number() over (partition by site_of(base_url) order by failed_in_a_row > 0, next_check_at) as of_site
         from network_node where is_listed and next_check_at <= $1 and base_url <> all($4) and site_of(base_url) <> all($5)
     ), due as (
       select n.id from network_node n join ranked using (id) where of_site <= $6 and n.next_check_at <= $1
        order by is_failing, n.next_check_at limit $3 for no key update of n skip locked
     )
     update network_node n set next_check_at = $2 from due where n.id = due.id returning ${columns}`,
    [due.now, due.busyUntil, due.limit, due.crowded.nodes, due.crowded.sites, due.maxPerSite],
  );

/**
 * Records a page of a node's feed up to a cursor; `isEnd`: the feed is current. An offline node is online again once its feed is complete.
 */
export async function writeFed(
  tx: Tx,
  nodeId: string,
  { cursor, read, isEnd, now }: { cursor: string; read: number; isEnd: boolean; now: Date },
): Promise<void> {
  await tx.query(
    'write-fed',
    `update network_node
        set status = case when $4 then 'online' else status end, failed_in_a_row = case when $4 then 0 else failed_in_a_row end,
            is_shown = true, feed_cursor = $2, feed_read = $3, last_seen_at = $5
      where id = $1`,
    [nodeId, cursor, read, isEnd, now],
  );
}

/** Records a failed poll; `isGone`: the node is offline now. It will send its whole feed when it is back; progress so far is discarded. */
export async function writeFailed(
  tx: Tx,
  nodeId: string,
  { failedInARow, isGone }: { failedInARow: number; isGone: boolean },
): Promise<void> {
  await tx.query(
    'write-failed-feed',
    `update network_node
        set failed_in_a_row = $2, status = case when $3 then 'offline' else status end,
            is_shown = is_shown and not ($3 or (status = 'offline' and feed_cursor is not null)),
            feed_cursor = case when $3 or status = 'offline' then null else feed_cursor end,
            feed_read = case when $3 or status = 'offline' then 0 else feed_read end
      where id = $1`,
    [nodeId, failedInARow, isGone],
  );
}

export async function writeNextCheck(sql: Sql, nodeId: string, at: Date): Promise<void> {
  await sql.query('write-next-node-check', 'update network_node set next_check_at = $2 where id = $1', [nodeId, at]);
}

export const HAS_UNSHOWN_NODES = 'exists (select from network_node where not is_shown)';
export const HAS_DUE_NODES = '(select min(next_check_at) from network_node where is_listed) <= given.now';

/** Base addresses of nodes with a status that their agents do not show yet. */
export async function listUnshown(sql: Sql): Promise<string[]> {
  const rows = await sql.query<{ baseUrl: string }>(
    'list-unshown-nodes',
    'select base_url as "baseUrl" from network_node where not is_shown order by id',
  );
  return rows.map(({ baseUrl }) => baseUrl);
}

export async function writeShown(tx: Tx, nodeId: string): Promise<void> {
  await tx.query('write-shown', 'update network_node set is_shown = true where id = $1', [nodeId]);
}
