import { expect, it } from 'vitest';
import { fixedClock } from '../../../test/support/fixed-clock.ts';
import { findByIdempotencyKey } from './once.ts';

const HOUR_MS = 3_600_000;
const start = new Date('2026-01-01T00:00:00Z');

interface Thing {
  readonly id: string;
  readonly createdAt: Date;
  readonly isRefused?: boolean;
}

/** A key under which things are made at certain hours. */
function keyWith(things: readonly Thing[], hours: number) {
  const ctx = { clock: fixedClock(new Date(start.getTime() + hours * HOUR_MS)) };
  const once = { idsFor: (prefix: string, nth: number) => [`${prefix}_${nth}`] };
  const find = async (id: string) => things.find((thing) => thing.id === id) ?? null;
  return findByIdempotencyKey(ctx, once, 'wdr', find, ({ isRefused }) => !isRefused);
}
const at = (id: string, hours: number): Thing => ({ id, createdAt: new Date(start.getTime() + hours * HOUR_MS) });

it('the result of a key is found for a day; then the key makes the next, which is found for a day of its own', async () => {
  const [first, second] = [at('wdr_1', 0), at('wdr_2', 25)];
  expect(await keyWith([], 0)).toEqual({ made: null, id: 'wdr_1', ids: ['wdr_1'] });
  expect(await keyWith([first], 23)).toEqual({ made: first, id: 'wdr_1', ids: ['wdr_1'] });
  expect(await keyWith([first], 24)).toEqual({ made: null, id: 'wdr_2', ids: ['wdr_2'] });
  expect(await keyWith([first, second], 26)).toEqual({ made: second, id: 'wdr_2', ids: ['wdr_2'] });
  expect(await keyWith([first, second], 49)).toEqual({ made: null, id: 'wdr_3', ids: ['wdr_3'] });
});

it('what a key made while an older SECRET_KEY was the newest is found, and never made again', async () => {
  const [ctx, made] = [{ clock: fixedClock(start) }, at('wdr_old', 0)];
  const find = async (id: string) => (id === made.id ? made : null);
  const ids = ['wdr_new', 'wdr_old'];
  expect(await findByIdempotencyKey(ctx, { idsFor: () => ids }, 'wdr', find)).toEqual({ made, id: 'wdr_new', ids });
});

it('a call without an answer leaves its id behind', async () => {
  const refused = { ...at('wdr_1', 0), isRefused: true };
  expect(await keyWith([refused], 1)).toEqual({ made: null, id: 'wdr_2', ids: ['wdr_2'] });
});

it('without a key nothing is looked for', async () => {
  const look = () => Promise.reject(new Error('asked for'));
  const ctx = { clock: fixedClock(start) };
  expect(await findByIdempotencyKey(ctx, { idsFor: () => [] }, 'wdr', look)).toEqual({ made: null, id: null, ids: [] });
});
