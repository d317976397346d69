import type { Sql, Statement } from '../store/sql.ts';
import type { Agent, CallableAgent } from './agent.ts';

/** Terms on which a call of an agent is sold. */
export type SaleTerms = Pick<Agent, 'id' | 'perRequestMicro' | 'status' | 'typesId'> &
  Pick<CallableAgent, 'takesHints' | 'perUnit' | 'perUsage' | 'sizeSteps' | 'shownShare'>;

/** The present terms of agents that are not removed. */
export const listTerms = (sql: Sql, ids: readonly string[]): Promise<SaleTerms[]> =>
  sql.query<SaleTerms>(
    'list-agent-terms',
    `select id, per_request_micro as "perRequestMicro", types_id as "typesId", status, coalesce((metadata->>'priceHints')::boolean, false) as "takesHints", metadata->'perUnit' as "perUnit", metadata->'perUsage' as "perUsage",
            metadata->'sizeSteps' as "sizeSteps", coalesce((metadata->>'shownShare')::int, 100) as "shownShare"
       from agent where id = any($1) and status <> 'removed'`,
    [ids],
  );

/** Terms of a sale; with `isPriceLocked` the current price may differ. */
export type SoldTerms = Omit<SaleTerms, 'status'> & { readonly isPriceLocked: boolean };

const jsonOf = (value: unknown) => (value === null || value === undefined ? null : JSON.stringify(value));

/** Flush guard that fails unless the agents are online and still sell by these terms. */
export const termsGuard = (sold: readonly SoldTerms[]): Statement => ({
  name: 'agent-terms-guard',
  text: `select require_true(not exists (
     select from unnest($1::text[], $2::bigint[], $3::text[], $4::boolean[], $5::text[], $6::text[], $7::int[], $8::boolean[], $9::text[])
         as s(id, price, types, hints, per_unit, steps, share, is_locked, per_usage)
       left join agent a on a.id = s.id
      where a.status is distinct from 'online' or a.types_id is distinct from s.types or not s.is_locked and (
        a.per_request_micro <> s.price or coalesce((a.metadata->>'priceHints')::boolean, false) <> s.hints
        or coalesce((a.metadata->>'shownShare')::int, 100) <> s.share
        or coalesce((a.metadata->'perUnit')::jsonb, 'null') <> coalesce(s.per_unit::jsonb, 'null')
        or coalesce((a.metadata->'perUsage')::jsonb, 'null') <> coalesce(s.per_usage::jsonb, 'null')
        or coalesce((a.metadata->'sizeSteps')::jsonb, 'null') <> coalesce(s.steps::jsonb, 'null'))))`,
  params: [
    sold.map((s) => s.id),
    sold.map((s) => s.perRequestMicro),
    sold.map((s) => s.typesId),
    sold.map((s) => s.takesHints),
    sold.map((s) => jsonOf(s.perUnit)),
    sold.map((s) => jsonOf(s.sizeSteps)),
    sold.map((s) => s.shownShare),
    sold.map((s) => s.isPriceLocked),
    sold.map((s) => jsonOf(s.perUsage)),
  ],
});
