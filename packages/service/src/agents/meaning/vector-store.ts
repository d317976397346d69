import type { Sql } from '../../store/sql.ts';

/** True if the text of an agent waits for its vector. */
export const HAS_DUE_VECTORS = `(select min(due_at) from agent_vector where due_at is not null) <= given.now`;

/** The text of an agent with a vector that is due. */
export interface DueText {
  readonly id: string;
  /** Names this claim: it ends with a change of the text, and with its time. */
  readonly claim: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly tags: readonly string[] | null;
  readonly exampleQuestions: readonly string[];
}

/** Claims texts up to a time, those that wait the longest. */
export const claimDueTexts = (
  sql: Sql,
  { now, until, limit }: { readonly now: Date; readonly until: Date; readonly limit: number },
): Promise<DueText[]> =>
  sql.query<DueText>(
    'claim-due-texts',
    `with due as (
       select agent_id from agent_vector where due_at <= $1 order by due_at limit $3 for update skip locked
     ), claimed as (
       update agent_vector v set due_at = $2 from due where v.agent_id = due.agent_id returning v.agent_id, v.due_at
     )
     select g.id, c.due_at::text as claim, g.name, g.description, g.capabilities, g.metadata -> 'tags' as tags,
            g.example_questions as "exampleQuestions"
       from claimed c join agent g on g.id = c.agent_id`,
    [now, until, limit],
  );

/** Stores the vector of a claimed text, null for one that the model can't read. Nothing, if the claim has ended. */
export async function keepVector(
  sql: Sql,
  { id, claim, model, vector }: Pick<DueText, 'id' | 'claim'> & { model: string; vector: Uint8Array | null },
): Promise<void> {
  await sql.query(
    'keep-vector',
    `update agent_vector set model = $3, vector = $4, stored_at = clock_timestamp(), due_at = null
      where agent_id = $1 and due_at = $2::timestamptz`,
    [id, claim, model, vector && Buffer.from(vector)],
  );
}

/** Makes vectors of other models due, at most `limit`. Returns how many. */
export async function renewVectors(
  sql: Sql,
  { model, now, limit }: { readonly model: string; readonly now: Date; readonly limit: number },
): Promise<number> {
  const rows = await sql.query(
    'renew-vectors',
    `update agent_vector set due_at = $2 where agent_id in (
       select agent_id from agent_vector where due_at is null and (model < $1 or model > $1) limit $3 for update skip locked)
     returning agent_id`,
    [model, now, limit],
  );
  return rows.length;
}

export interface StoredVector {
  readonly id: string;
  readonly bytes: Buffer;
  readonly storedMs: number;
}

const stored = `select agent_id as id, vector as bytes, extract(epoch from stored_at)::float8 * 1000 as "storedMs" from agent_vector
  where vector is not null and model = $1`;

/** The vectors of a model behind that of the agent with the id `after`, by id. */
export const listVectors = (sql: Sql, model: string, after: string, limit: number): Promise<StoredVector[]> =>
  sql.query<StoredVector>('list-vectors', `${stored} and agent_id > $2 order by agent_id limit $3`, [
    model,
    after,
    limit,
  ]);

export const findVectors = (sql: Sql, model: string, ids: readonly string[]): Promise<StoredVector[]> =>
  sql.query<StoredVector>('find-vectors', `${stored} and agent_id = any($2)`, [model, ids]);
