import type { Sql } from '../db/sql.ts';
import type { Agent, CallableAgent } from './agent.ts';

/** Terms on which a call of an agent is sold. */
export type SaleTerms = Pick<Agent, 'id' | 'perRequestMicro' | 'status' | 'typesId'> &
  Pick<CallableAgent, 'takesHints' | 'perUnit' | 'sizeSteps' | 'shownShare'>;

/** The present terms of agents that are not removed. */
export const listTerms = (sql: Sql, ids: readonly string[]): Promise<SaleTerms[]> =>
  sql.query<SaleTerms>(
    'list-agent-terms',
    `select id, per_request_micro as "perRequestMicro", types_id as "typesId", status, coalesce((metadata->>'priceHints')::boolean, false) as "takesHints", metadata->'perUnit' as "perUnit",
            metadata->'sizeSteps' as "sizeSteps", coalesce((metadata->>'shownShare')::int, 100) as "shownShare"
       from agent where id = any($1) and status <> 'removed'`,
    [ids],
  );
