import type { Quote } from '@agent-network/contracts/invocations/quotes';
import type { CallUsage, UsageComparison } from '@agent-network/contracts/invocations/usage';
import { formatUsdc } from '@agent-network/contracts/money';
import type { Store } from '../../store/database.ts';
import type { Invocation } from '../invocation.ts';
import { mostByUsage, type UsageTerms, type UsageUnits } from './rate-usage.ts';
import { listRecentUsage } from './usage-store.ts';

/** Calls that medians are of. */
const RECENT_CALLS = 100;

/** The part of a quote about usage, with medians of the last calls. */
export async function quotedUsage(ctx: Store, agentId: string, terms: UsageTerms): Promise<Quote['usage']> {
  const recent = await listRecentUsage(ctx.db, agentId, { limit: RECENT_CALLS });
  const costMicro = medianMicro(recent.flatMap((each) => each.costMicro ?? []));
  return {
    from: terms.least,
    atMost: formatUsdc(mostByUsage(terms)),
    prices: [...terms.prices],
    recent: {
      calls: recent.length,
      cost: costMicro === null ? null : formatUsdc(costMicro),
      units: medianUnits(recent.map(({ usage }) => usage)),
    },
  };
}

/** Returns how the claim of a call compares with the last calls of its agent; nothing is read unless one of them claims something. */
export async function comparingWithRecent(
  ctx: Store,
  agentId: string,
  calls: readonly { readonly usage: CallUsage | null }[],
): Promise<(usage: CallUsage | null) => { readonly usageComparison?: UsageComparison }> {
  if (!calls.some(({ usage }) => isClaim(usage))) return () => ({});
  const recent = await listRecentUsage(ctx.db, agentId, { limit: RECENT_CALLS });
  const others = recent.map((each) => each.usage);
  return (usage) => (isClaim(usage) ? { usageComparison: compareUsage(usage, others) } : {});
}

const isClaim = (usage: CallUsage | null): usage is CallUsage => usage !== null && usage.source !== 'node';

/** Compares the claim of a call with earlier calls of its agent; null: it claims nothing. */
export async function compareWithRecent(
  ctx: Store,
  { agentId, usage, completedAt }: Pick<Invocation, 'agentId' | 'completedAt'> & { readonly usage: CallUsage | null },
): Promise<UsageComparison | null> {
  if (!isClaim(usage)) return null;
  const recent = await listRecentUsage(ctx.db, agentId, { limit: RECENT_CALLS, before: completedAt });
  return compareUsage(
    usage,
    recent.map((each) => each.usage),
  );
}

/** Calls from which on a median says anything. */
const CALLS_TO_COMPARE = 10;
/** A claim of more than so many times the median is far from it. */
const FAR_TIMES = 4;

const sorted = (values: readonly number[]): number[] => values.toSorted((a, b) => a - b);

/** The middle value, the lower of two; null: there are none. */
const medianOf = (values: readonly number[]): number | null =>
  sorted(values)[Math.floor((values.length - 1) / 2)] ?? null;

export const medianMicro = (amounts: readonly bigint[]): bigint | null =>
  amounts.toSorted((a, b) => (a < b ? -1 : a > b ? 1 : 0))[Math.floor((amounts.length - 1) / 2)] ?? null;

/** The median quantity of each unit over the calls that have it: one of the quantities themselves. */
export function medianUnits(calls: readonly CallUsage[]): { unit: string; quantity: string }[] {
  const quantities = Map.groupBy(
    calls.flatMap(({ units }) => units),
    ({ unit }) => unit,
  );
  return [...quantities].map(([unit, of]) => ({
    unit,
    quantity: of.toSorted((a, b) => Number(a.quantity) - Number(b.quantity))[Math.floor((of.length - 1) / 2)]
      ?.quantity as string,
  }));
}

/** Quantity of a unit for each byte of the call, or for each second that the node measured; null: the call has none. */
function density({ units, measured, durationMs }: CallUsage, unit: string): number | null {
  const quantity = units.find((each) => each.unit === unit)?.quantity;
  if (quantity === undefined) return null;
  const bytes = measured.inputBytes + measured.resultBytes;
  return Number(quantity) / Math.max(1, unit === 'second' ? durationMs / 1000 : bytes);
}

/** Compares the quantities of a call with the agent's own median, for each byte or second that the node itself has counted. */
export function compareUsage(usage: CallUsage, recent: readonly CallUsage[]): UsageComparison {
  return {
    calls: recent.length,
    units: usage.units.flatMap(({ unit }: UsageUnits[number]) => timesOf(usage, recent, unit)),
  };
}

function timesOf(usage: CallUsage, recent: readonly CallUsage[], unit: string): UsageComparison['units'] {
  const others = recent.flatMap((each) => density(each, unit) ?? []);
  const median = medianOf(others);
  const own = density(usage, unit);
  if (own === null || !median) return [];
  const times = Math.round((own / median) * 100) / 100;
  return [{ unit, times, isFar: times > FAR_TIMES && others.length >= CALLS_TO_COMPARE }];
}
