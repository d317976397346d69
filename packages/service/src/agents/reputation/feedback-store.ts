import type { Sql } from '../../store/sql.ts';
import type { FeedbackFacts } from './feedback-of.ts';

type Nullable<Name extends string> = Readonly<Record<Name, string | null>>;

/**
 * SQL: due feedback without an open bill. An agent may collect after its call has failed, so only the end of its bill shows if there is a
 * payment to prove.
 */
const DUE = `feedback_due d where not exists (
  select from chain_payment b
   where b.subject_id = d.request_id and b.purpose = 'bill' and b.state in ('claimed', 'broadcasting')
)`;

export const HAS_FEEDBACK_DUE = `exists (select from ${DUE})`;

/** Takes outcomes that may become feedback, for good: another process gets different ones. Those with an open bill wait for its end. */
export async function takeFeedbackDue(sql: Sql, chainId: number, limit: number): Promise<FeedbackFacts[]> {
  const rows = await sql.query<
    Omit<FeedbackFacts, 'tokenId'> & { tokenId: string | null } & Nullable<'from' | 'to' | 'hash'>
  >(
    'take-feedback-due',
    `with gone as (
       delete from feedback_due where ctid = any(array(select d.ctid from ${DUE} limit $2 for update of d skip locked))
       returning request_id
     )
     select o.request_id as "requestId", o.agent_id as "agentId", o.account_id as "accountId", o.is_good as "isGood",
            o.ended_at as "endedAt", g.token_id::text as "tokenId", t.owner as "tokenOwner",
            json_build_object('accountId', g.account_id, 'address', g.owner_address) as owner,
            p.from_address as "from", p.to_address as "to", p.transaction_hash as "hash"
       from gone join outcome o using (request_id) join agent g on g.id = o.agent_id
       left join registry_token t on t.chain_id = $1 and t.token_id = g.token_id
       left join lateral (
         select from_address, to_address, transaction_hash from chain_payment
          where subject_id = o.request_id and purpose in ('invocation', 'bill') and state = 'settled' and chain_id = $1
          order by purpose limit 1
       ) p on true`,
    [chainId, limit],
  );
  return rows.map(({ from, to, hash, tokenId, ...facts }) => ({
    ...facts,
    tokenId: tokenId === null ? null : BigInt(tokenId),
    payment: from === null || to === null || hash === null ? null : { from, to, hash },
  }));
}

export async function insertFeedback(
  sql: Sql,
  feedback: { requestId: string; agentId: string; file: string },
): Promise<void> {
  await sql.query(
    'insert-feedback',
    'insert into feedback (request_id, agent_id, file) values ($1, $2, $3) on conflict do nothing',
    [feedback.requestId, feedback.agentId, feedback.file],
  );
}

/** The file of a feedback, byte for byte: its hash is in the registry. */
export async function findFeedbackFile(sql: Sql, agentId: string, requestId: string): Promise<string | null> {
  const [row] = await sql.query<{ file: string }>(
    'find-feedback-file',
    'select file from feedback where request_id = $2 and agent_id = $1',
    [agentId, requestId],
  );
  return row?.file ?? null;
}
