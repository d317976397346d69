import type { HasDb } from '../../db/database.ts';
import { capabilityTerm } from '../search/index/words.ts';
import {
  type ComparableAgent,
  findByTerms,
  findSharing,
  findSharingAmong,
  readComparables,
  type Wish,
} from './alternative-store.ts';
import { similarity } from './similarity.ts';

export interface Alternative {
  readonly agentId: string;
  /** 0 to 1, see `similarity`. */
  readonly similarity: number;
}

type Wanted = Pick<ComparableAgent, 'id' | 'capabilities' | 'perRequestMicro'>;

const MAX_SHOWN = 5;

/** The alternatives named in AGENT_UNAVAILABLE: online agents that share capabilities, then ones that share words. */
export async function nameAlternatives(ctx: HasDb, wanted: Wanted): Promise<Alternative[]> {
  const wish = { maxPerRequestMicro: null, among: null, except: [wanted.id] };
  const sharing = await findSharing(ctx.db, wanted, wish);
  const ranked = await rank(ctx, wanted, sharing);
  if (ranked.length >= MAX_SHOWN) return ranked.slice(0, MAX_SHOWN);
  const [self] = await readComparables(ctx.db, [wanted.id]);
  const alike = await byTerms(ctx, self?.terms.filter(isCapabilityOrWord) ?? [], wish);
  return (await rank(ctx, wanted, [...new Set([...sharing, ...alike])])).slice(0, MAX_SHOWN);
}

/** Agents that share a capability with the wanted one and fit the wish, most similar first: candidates for a fallback. */
export async function findStandIns(ctx: HasDb, wanted: Wanted, wish: Omit<Wish, 'except'> & { except: string[] }) {
  const { among } = wish;
  const asked = { ...wish, except: [...wish.except, wanted.id] };
  if (among) return rank(ctx, wanted, await findSharingAmong(ctx.db, wanted, { ...asked, among }));
  const near = await findSharing(ctx.db, wanted, asked);
  return rank(ctx, wanted, near.length > 0 ? near : await byTerms(ctx, wanted.capabilities.map(capabilityTerm), asked));
}

const byTerms = (ctx: HasDb, terms: readonly string[], wish: Wish): Promise<string[]> =>
  terms.length === 0
    ? Promise.resolve([])
    : ctx.db.transaction((tx) => findByTerms(tx, terms, wish), { isolation: 'repeatable read' });

/** Skips position marks (each marked word also occurs without one) and home marks. */
const isCapabilityOrWord = (term: string) => !/^[+#@]/.test(term);

/** Most similar first; ties by better reputation, lower price, id. */
async function rank(ctx: HasDb, wanted: Wanted, ids: readonly string[]): Promise<Alternative[]> {
  if (ids.length === 0) return [];
  const all = await readComparables(ctx.db, [...ids, wanted.id]);
  const self = all.find(({ id }) => id === wanted.id);
  if (!self) return [];
  return all
    .filter(({ id }) => id !== wanted.id)
    .map((candidate) => ({ candidate, value: similarity(self, candidate) }))
    .sort((a, b) => b.value - a.value || byMerit(a.candidate, b.candidate))
    .map(({ candidate, value }) => ({ agentId: candidate.id, similarity: Math.round(value * 100) / 100 }));
}

function byMerit(one: ComparableAgent, other: ComparableAgent): number {
  if (one.reputation !== other.reputation) return other.reputation - one.reputation;
  if (one.perRequestMicro !== other.perRequestMicro) return one.perRequestMicro < other.perRequestMicro ? -1 : 1;
  return one.id < other.id ? -1 : 1;
}
