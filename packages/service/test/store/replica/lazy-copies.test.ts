import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLazyCopies, type LazyCopies } from '../../../src/store/replica/lazy-copies.ts';
import { openThings, type Things } from './support/things.ts';

interface Thing {
  readonly id: string;
  readonly value: number;
}

let things: Things;
beforeAll(async () => {
  things = await openThings();
});
afterAll(() => things.stop());
beforeEach(async () => {
  await things.db.pool.query('delete from thing');
});

interface Known {
  readonly copies: LazyCopies<Thing>;
  /** The ids of each statement. */
  readonly asked: string[][];
  /** Holds the answers of statements, which have taken their snapshot, until `release`. */
  hold(): { readonly isHeld: () => boolean; release(): void };
}

async function know({ max = 100, maxAgeMs = 0, strict = true } = {}): Promise<Known & { refresh(): Promise<void> }> {
  const { replica } = await things.follow(strict ? { maxAgeMs: 0 } : { maxAgeMs: 60_000 });
  const asked: string[][] = [];
  let gate: Promise<void> = Promise.resolve();
  let heldCount = 0;
  const copies = createLazyCopies<Thing>(
    { replica },
    {
      ...{ max, maxAgeMs, topics: ['agent'] },
      tagsOf: ({ id }) => [`agent ${id}`],
      async read(ids) {
        asked.push([...ids]);
        const rows = await things.db.query<Thing>('test-some', 'select id, value from thing where id = any($1)', [ids]);
        heldCount += 1;
        await gate;
        return new Map(rows.map((row) => [row.id, row]));
      },
    },
  );
  return {
    copies,
    asked,
    refresh: () => replica.settleWrite(),
    hold() {
      const before = heldCount;
      const { promise, resolve } = Promise.withResolvers<void>();
      gate = promise;
      return { isHeld: () => heldCount > before, release: resolve };
    },
  };
}

const valueIn = async ({ copies }: Known, id: string) => (await copies.find(id))?.value;

test('a row is read once, however many ask for it at the same time, and again after each change', async () => {
  const known = await know();
  await things.set('a', 1);
  await things.set('b', 2);
  const values = await Promise.all(['a', 'b', 'a', 'b', 'a'].map((id) => valueIn(known, id)));
  expect(values).toEqual([1, 2, 1, 2, 1]);
  expect(known.asked).toHaveLength(1);
  expect([await valueIn(known, 'a'), known.asked.length]).toEqual([1, 1]);
  await things.set('a', 3);
  expect([await valueIn(known, 'a'), await valueIn(known, 'b')]).toEqual([3, 2]);
  expect(known.asked).toHaveLength(2);
  await things.db.pool.query(`delete from thing where id = 'a'`);
  expect(await valueIn(known, 'a')).toBeUndefined();
});

test('a row that changes while it is read is answered and not remembered', async () => {
  const known = await know({ strict: false });
  await things.set('a', 1);
  const held = known.hold();
  const reading = valueIn(known, 'a');
  await expect.poll(held.isHeld).toBe(true);
  await things.set('a', 2);
  // The refresh names the change before the reading that does not have it ends.
  await known.refresh();
  held.release();
  expect(await reading).toBe(1);
  expect(await valueIn(known, 'a')).toBe(2);
  await known.refresh();
  expect([await valueIn(known, 'a'), known.asked.length]).toEqual([2, 2]);
});

test('missing rows are not cached and evict nothing; the least recently used copy goes first', async () => {
  const known = await know({ max: 3, strict: false });
  for (const [index, id] of ['a', 'b', 'c', 'd'].entries()) await things.set(id, index);
  for (const id of ['a', 'b', 'c', 'a']) await known.copies.find(id);
  const before = known.asked.length;
  const guesses = Array.from({ length: 1000 }, (_, index) => `guess ${index}`);
  expect(new Set(await Promise.all(guesses.map((id) => known.copies.find(id))))).toEqual(new Set([null]));
  // A thousand that come together are a few statements.
  expect(known.asked.length - before).toBeLessThanOrEqual(1000 / 200);
  known.asked.length = 0;
  for (const id of ['a', 'b', 'c']) await known.copies.find(id);
  expect(known.asked).toEqual([]);
  await known.copies.find('d');
  await known.copies.find('b');
  expect(known.asked).toEqual([['d']]);
  await known.copies.find('a');
  expect(known.asked).toEqual([['d'], ['a']]);
});

test('a copy beyond its age is read again', async () => {
  const known = await know({ maxAgeMs: 50, strict: false });
  await things.set('a', 1);
  await known.copies.find('a');
  await expect
    .poll(async () => {
      await known.copies.find('a');
      return known.asked.length;
    })
    .toBe(2);
});
