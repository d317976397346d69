import { createHash, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KEPT_MS } from '../../../../src/accounts/idempotency/idempotency.ts';
import { createKeyWriter } from '../../../../src/accounts/idempotency/key-writer.ts';
import { askDatabase } from '../../../support/books.ts';
import { type Harness, startHarness } from '../../../support/harness.ts';

let h: Harness;
beforeAll(async () => {
  h = await startHarness();
});
afterAll(() => h?.stop());

/** A process of the node that counts as alive however long the test takes. */
async function newProcess() {
  const worker = randomUUID();
  await askDatabase(
    h.databaseUrl,
    `insert into process (id, label, seen_at) values ($1, 'key batches', now() + interval '1 hour')`,
    [worker],
  );
  return { worker, writer: createKeyWriter(h.ctx, KEPT_MS) };
}

const keys = Array.from({ length: 60 }, (_, nth) => `key-${nth}`);
const held = (worker: string, key: string) => ({
  ...{ accountId: 'acc_batches', key, worker },
  takenAt: new Date(),
});
const request = (worker: string, key: string, task = key) => ({
  ...held(worker, key),
  callerId: 'key_1',
  scopes: ['agents:invoke', 'agents:read'],
  fingerprint: createHash('sha256').update(task).digest(),
  now: new Date(),
});
const answer = (text: string) => ({ sealed: Buffer.from(text), headers: { 'x-of': text } });

describe('Idempotency-Keys taken in batches', () => {
  it('each belong to one of two processes that take them at once in opposite orders, and only the holder stores an answer', async () => {
    const [one, other] = [await newProcess(), await newProcess()];
    const takeAll = ({ worker, writer }: typeof one, names: string[]) =>
      Promise.all(names.map(async (key) => [key, (await writer.take(request(worker, key))) !== null] as const));
    const taken = await Promise.all([takeAll(one, keys), takeAll(other, keys.toReversed())]);
    const [mine, theirs] = taken.map((all) => new Set(all.filter(([, isTaken]) => isTaken).map(([key]) => key)));
    expect(keys.map((key) => Number(mine?.has(key)) + Number(theirs?.has(key)))).toEqual(keys.map(() => 1));

    const storeAll = ({ worker, writer }: typeof one) =>
      Promise.all(keys.map((key) => writer.store(held(worker, key), answer(worker))));
    const stored = await Promise.all([storeAll(one), storeAll(other)]);
    expect(stored).toEqual([keys.map((key) => mine?.has(key)), keys.map((key) => theirs?.has(key))]);
    const rows = await askDatabase<{ key: string; scopes: string[]; answer: string; headers: object }>(
      h.databaseUrl,
      `select key, scopes, convert_from(answer_sealed, 'UTF8') as answer, answer_headers as headers from idempotency
        where account_id = 'acc_batches' and worker is null`,
    );
    const holderOf = (key: string) => (mine?.has(key) ? one : other).worker;
    expect(new Map(rows.map((row) => [row.key, row]))).toEqual(
      new Map(
        keys.map((key) => {
          const text = holderOf(key);
          return [key, { key, scopes: ['agents:invoke', 'agents:read'], answer: text, headers: { 'x-of': text } }];
        }),
      ),
    );
  });

  it('tell for each whether it is new, repeated or refused', async () => {
    const { worker, writer } = await newProcess();
    const [free, mine, others, old] = ['free', 'mine', 'others', 'old'];
    const other = await newProcess();
    await writer.take(request(worker, mine));
    await other.writer.take(request(other.worker, others));
    await other.writer.take(request(other.worker, old));
    await askDatabase(
      h.databaseUrl,
      `update idempotency set created_at = now() - interval '25 hours' where account_id = 'acc_batches' and key = $1`,
      [old],
    );
    const results = await Promise.all([
      writer.take(request(worker, free)),
      writer.take(request(worker, mine)),
      writer.take(request(worker, others)),
      writer.take(request(worker, old, 'another request')),
      writer.take(request(worker, mine, 'another request')),
    ]);
    expect(results).toEqual([{ isRepeated: false }, { isRepeated: true }, null, { isRepeated: false }, null]);
  });

  it('keep no answer of a run before the one that has the key', async () => {
    const { worker, writer } = await newProcess();
    const earlier = held(worker, 'anew');
    const now = new Date(earlier.takenAt.getTime() + 1);
    await writer.take({ ...request(worker, 'anew'), now });
    expect(await writer.store(earlier, answer('of before'))).toBe(false);
    expect(await writer.store({ ...earlier, takenAt: now }, answer('of now'))).toBe(true);
  });
});
