import { expect, it } from 'vitest';
import { areCanonical, pointToGoOnFrom } from './chain-point.ts';

const points = [
  { block: 30n, hash: 'c' },
  { block: 20n, hash: 'b' },
  { block: 10n, hash: 'a' },
];
const chainOf = (hashes: Record<string, string>) => async (block: bigint) => hashes[String(block)] ?? null;

it.each([
  ['the newest point, while it is on the chain', { 30: 'c', 20: 'b', 10: 'a' }, { block: 30n, hash: 'c' }],
  ['the newest that a reorg left', { 30: 'x', 20: 'b', 10: 'a' }, { block: 20n, hash: 'b' }],
  ['the oldest', { 30: 'x', 20: 'x', 10: 'a' }, { block: 10n, hash: 'a' }],
  ['the present block of the oldest height, when a reorg left none', { 10: 'x' }, { block: 10n, hash: 'x' }],
  ['the oldest height, when the chain has dropped its block', { 30: 'x' }, { block: 10n, hash: null }],
])('reading goes on at %s', async (_, hashes, expected) => {
  const hashAt = chainOf(hashes as Record<string, string>);
  const point = await pointToGoOnFrom(points, hashAt);
  expect(point).toEqual(expected);
  // A reading that begins there is taken.
  expect(point && (await areCanonical([point], hashAt))).toBe(true);
});

it('without points there is nothing to go on from', async () => {
  expect(await pointToGoOnFrom([], chainOf({}))).toBe(null);
});

it.each([
  ['both', { 20: 'b', 30: 'c' }, true],
  ['the lower one only', { 20: 'b', 30: 'x' }, false],
  ['the upper one only', { 20: 'x', 30: 'c' }, false],
  ['the upper one, above a block that is gone', { 30: 'c' }, false],
])('a reading between two points is taken only while both stand: %s', async (_, hashes, isTaken) => {
  const hashAt = chainOf(hashes as Record<string, string>);
  expect(await areCanonical(points.slice(0, 2), hashAt)).toBe(isTaken);
});
