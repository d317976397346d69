import { KEPT_MS } from '../../src/accounts/idempotency/idempotency.ts';
import { createKeyWriter } from '../../src/accounts/idempotency/key-writer.ts';
import { createApp } from '../../src/compose/app.ts';
import type { Database } from '../../src/store/database.ts';
import { askDatabase } from './books.ts';
import type { Answer, Harness, RequestOptions } from './harness.ts';

export interface Death {
  /** Start of the name of the statement before which it dies; `transaction` is the first of those. */
  readonly before?: string;
  /** It lives on, having failed at that only. */
  readonly isSurvived?: boolean;
}

/**
 * Calls a process of the node that dies during the call: by default after all its work, before it stores the answer. Returns the
 * undelivered answer.
 */
export async function callAndDie(
  h: Harness,
  path: string,
  { key, body, headers }: RequestOptions,
  { before = 'store-idempotent-answer', isSurvived = false }: Death = {},
): Promise<Answer> {
  const { db } = h.ctx;
  let isDead = false;
  const live = (name: string) => {
    isDead = name.startsWith(before) || (isDead && !isSurvived);
    if (isDead) throw new Error(`the process died before ${name}`);
  };
  const dying: Database = {
    ...db,
    async query<Row>(name: string, text: string, params?: readonly unknown[]) {
      live(name);
      return db.query<Row>(name, text, params);
    },
    async transaction(fn, options) {
      live('transaction');
      return db.transaction(fn, options);
    },
  };
  const response = await createApp({ ...h.ctx, db: dying, keyWriter: createKeyWriter({ db: dying }, KEPT_MS) }).request(
    path,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
  );
  if (!isSurvived)
    await askDatabase(h.databaseUrl, 'update idempotency set worker = gen_random_uuid() where worker is not null');
  return { status: response.status, headers: response.headers, body: JSON.parse(await response.text()) };
}
