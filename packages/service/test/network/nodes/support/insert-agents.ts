import type { Harness } from '../../../support/harness.ts';
import { otherAgentId } from './files.ts';

let tokens = 1_000_000;

/** Puts agents into the database of a node at once, listed and found: its own, or of the node with this id. */
export async function insertAgents(
  { ctx, ...node }: Harness,
  count: number,
  home: { readonly areOurs: true } | { readonly nodeId: string },
): Promise<string[]> {
  const { accountId } = await node.newAccount();
  const nodeId = 'nodeId' in home ? home.nodeId : null;
  const made = Array.from({ length: count }, () => ({ id: otherAgentId(), token: ++tokens }));
  for (let start = 0; start < count; start += 500) {
    const some = made.slice(start, start + 500);
    await ctx.db.transaction(async (tx) => {
      await tx.query(
        '',
        `insert into agent (id, account_id, home_node, owner_address, name, description, capabilities, per_request_micro, per_hour_micro,
           tiers, endpoint, metadata, status, reputation, token_hash, token_sealed, token_id, last_seen_at, created_at, updated_at,
           endpoint_proven_at, changed_at)
         select r.id, $2, $3, $4, 'Agent ' || r.token, 'Of a test: it does one thing and does it well.', array['testing', 'c' || r.token % 50],
                10000, 10000, '{}', 'http://127.0.0.1:1/', '{}', 'online', 400, case when $3::text is null then r.id::bytea end,
                case when $3::text is null then ''::bytea end, r.token, now(), now(), now(), now(), clock_timestamp()
           from json_to_recordset($1::json) as r(id text, token int)`,
        [JSON.stringify(some), accountId, nodeId, `0x${'ab'.repeat(20)}`],
      );
      const ids = some.map(({ id }) => id);
      await tx.query('', 'insert into agent_totals (agent_id) select unnest($1::text[])', [ids]);
    });
  }
  return made.map(({ id }) => id);
}
