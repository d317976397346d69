import { type Head, headOf } from './search-levels.ts';
import { type Sample, shareBefore, valueAt } from './search-sample.ts';
import type { PageWish } from './search-sql.ts';
import type { Walk } from './search-store.ts';

/** In agents looked at in order: what it takes to gather agents and sort them, at the beginning and for each, and to read a head. */
const GATHERING_COSTS = 1500;
const GATHERING_ONE_COSTS = 10;
const HEAD_COSTS = 800;
/** How many times as many as needed are in a head, so that it is seldom too small. */
const SPARE = 2;
const LEAST = 20;
/** A head that is most of all agents is not worth reading. */
const MOST = 0.5;

/** Of whom a page is read: how many match, and among how many they stand in order. */
interface Matches {
  readonly walk: Walk | null;
  readonly among: number;
  readonly size: number;
  readonly sample: Sample;
}

/** The way to a page that is likely to be the least work. */
export function chooseWay(
  wish: PageWish,
  { walk, among, size, sample }: Matches,
): { walk: Walk | null; head: Head | null } {
  const needed = wish.offset + wish.limit;
  const gathering = (agents: number) => GATHERING_COSTS + GATHERING_ONE_COSTS * agents;
  const share = shareDone(wish, sample) + (needed * SPARE + LEAST) / size;
  const value = share < MOST ? valueAt(sample, wish.order, share) : null;
  const head = value === null ? null : headOf(wish.order, value);
  const headCosts = head ? HEAD_COSTS + gathering(share * size) : Number.POSITIVE_INFINITY;
  const walkCosts = walk ? Math.min(1, needed / size) * among : Number.POSITIVE_INFINITY;
  if (walkCosts <= Math.min(headCosts, gathering(size))) return { walk, head: null };
  return { walk: null, head: headCosts < gathering(size) ? head : null };
}

const shareDone = ({ order, after }: PageWish, sample: Sample): number =>
  after ? shareBefore(sample, order, Number(after.keys[0])) : 0;
