import type { PerUnit } from '@agent-network/contracts/agents/agent-metadata';
import { unitText } from '@agent-network/contracts/agents/price-text';
import type { Quote } from '@agent-network/contracts/invocations/quotes';
import { formatUsdc } from '@agent-network/contracts/money';
import type { KnownCaller } from '../../accounts/caller.ts';
import { type Once, unkeyed } from '../../accounts/idempotency/once.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import type { AgentServices } from '../../agents/agent-services.ts';
import { countUnits } from '../../agents/count-units.ts';
import type { TypedCall } from '../../agents/listing/type-checks.ts';
import { requireAgent } from '../../agents/search/find-agent.ts';
import { AppError, invalid, notFound } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import type { Store } from '../../store/database.ts';
import { shownCost } from '../finish/end-invocations.ts';
import type { UsageTerms } from '../usage/rate-usage.ts';
import { quotedUsage } from '../usage/recent-usage.ts';
import { estimatedTime, multiplierOf, type Price, priceOf, type Work } from './price.ts';
import { findQuote, insertQuote } from './quote-store.ts';

const VALID_MS = 15 * 60_000;

/** Prices a call and locks the price for one call within 15 minutes. Works for any registered agent. */
export async function quoteInvocation(
  ctx: Store & AgentServices,
  caller: KnownCaller,
  agentId: string,
  body: Work & TypedCall,
  once: Once = unkeyed,
): Promise<Quote> {
  const agent = await requireAgent(ctx, agentId);
  await ctx.typeChecks.requireInput(agent, body, caller);
  const price = priceOf(agent, body);
  const id = newId('qte');
  const now = ctx.clock.now();
  const validUntil = new Date(now.getTime() + VALID_MS);
  const quote = {
    quoteId: id,
    estimatedCost: formatUsdc(price.totalMicro),
    estimatedTime: estimatedTime(agent),
    endedEarly: formatUsdc(shownCost(price.totalMicro, agent.shownShare)),
    ...(price.usageTerms ? { usage: await quotedUsage(ctx, agentId, price.usageTerms) } : {}),
    breakdown: breakdownOf(agent, price),
    validUntil: validUntil.toISOString(),
    acceptUrl: `/invoke/${agentId}?quote=${id}`,
  };
  const row = {
    ...{ id, accountId: caller.accountId, agentId, priceMicro: price.totalMicro, validUntil },
    multiplier: Number(price.multiplier),
    factors: { takesHints: agent.takesHints, sizeSteps: agent.sizeSteps },
    ...{ unitCount: price.units?.count ?? null, unitPointer: agent.perUnit?.count ?? null },
    unitMeasure: agent.perUnit?.measure ?? null,
    shownShare: agent.shownShare,
    usageTerms: price.usageTerms,
  };
  // Without a key there is no answer to keep: one statement, not a transaction of three.
  if (once === unkeyed) {
    await insertQuote(ctx.db, row, now);
    return quote;
  }
  return ctx.db.transaction(async (tx) => {
    await insertQuote(tx, row, now);
    return once.keep(tx, quote);
  });
}

export const quoteUsed = () => new AppError('CONFLICT', 'This quote was already used. Request a new one.');

/** The offer or a key of a purchase is taken, and by no request that is this one. */
export const purchaseUsed = () =>
  new AppError(
    'CONFLICT',
    'This offer or idempotency key was already used. Nothing was charged. Request a new offer with a new key.',
  );

/** A price as a quote or an agent states it. */
export interface LockedPrice {
  readonly priceMicro: bigint;
  /** Terms of a call that is paid by usage; null: it costs the price. */
  readonly usageTerms: UsageTerms | null;
  readonly shownShare: number | null;
  /** True if the quote is used up. */
  readonly isUsed: boolean;
}

/**
 * The price that the caller's quote locks for this agent, if the call's multiplier and units do not exceed the quoted ones. `useQuotes`
 * decides later if the quote is still unused.
 */
export async function quotedPrice(
  ctx: Store,
  caller: KnownCaller,
  agent: Pick<CallableAgent, 'id' | 'takesHints' | 'sizeSteps'>,
  quoteId: string,
  work: Work,
): Promise<LockedPrice> {
  const quote = await findQuote(ctx.db, quoteId, caller.accountId);
  if (!quote) throw notFound('quote');
  if (quote.agentId !== agent.id) throw invalid('quote', 'is for another agent');
  if (quote.validUntil <= ctx.clock.now()) throw invalid('quote', 'has expired');
  if (quote.multiplier !== null && multiplierOf(quote.factors ?? agent, work) > quote.multiplier)
    throw invalid('quote', 'is for a smaller or simpler call than this one; ask for a new one with this input');
  const { unitCount, unitPointer, unitMeasure } = quote;
  if (unitCount !== null && unitPointer !== null) {
    const units = countUnits({ count: unitPointer, measure: unitMeasure ?? undefined }, work.input);
    if (units === null) throw invalid('quote', 'is for units that cannot be counted in this input; ask for a new one');
    if (units > unitCount)
      throw invalid('quote', 'is for fewer units than this call has; ask for a new one with this input');
  }
  const { priceMicro, usageTerms, shownShare } = quote;
  return { priceMicro, usageTerms, shownShare, isUsed: quote.usedBy !== null };
}

/** The parts of a price and the calculation, as a quote shows them. */
export function breakdownOf({ perUnit }: Pick<CallableAgent, 'perUnit'>, price: Price): Quote['breakdown'] {
  const { size, units } = price;
  return {
    base_fee: formatUsdc(price.baseMicro),
    complexity_multiplier: formatMultiplier(price.hintHundredths),
    ...(size
      ? { size: { bytes: size.bytes, aboveBytes: size.aboveBytes, multiplier: formatMultiplier(size.hundredths) } }
      : {}),
    ...(perUnit && units
      ? {
          units: {
            unit: perUnit.unit,
            count: Number(units.count),
            price: perUnit.price,
            amount: formatUsdc(units.amountMicro),
            maximum: perUnit.maximum,
          },
        }
      : {}),
    total: formatUsdc(price.totalMicro),
    explanation: explain(perUnit, price),
  };
}

/** "0.05 per request × 1.5 (complexity) × 1.25 (20,004 bytes, above 16,384) = 0.09375 USDC" */
function explain(perUnit: PerUnit | null, price: Price): string {
  const { baseMicro, hintHundredths, size, units, usageTerms, totalMicro } = price;
  const factors = [
    `${formatUsdc(baseMicro)} per request`,
    ...(hintHundredths === 100n ? [] : [`${decimal(hintHundredths)} (complexity)`]),
    ...(size && size.hundredths !== 100n
      ? [`${decimal(size.hundredths)} (${grouped(size.bytes)} bytes, above ${grouped(size.aboveBytes)})`]
      : []),
  ].join(' × ');
  const total = `${formatUsdc(totalMicro)} USDC`;
  if (usageTerms) {
    const rates = usageTerms.prices.map(({ unit, price: each }) => `${each} per ${unitText(unit)}`).join(' and ');
    return `the higher of ${factors}, and ${rates}, at most ${total}`;
  }
  if (!perUnit || !units) return `${factors} = ${total}`;
  const counted = `${grouped(Number(units.count))} × ${perUnit.price} per ${perUnit.unit}, at most ${perUnit.maximum}`;
  return `the higher of ${factors}, and ${counted} = ${total}`;
}

const grouped = (count: number): string => count.toLocaleString('en-US');
const decimal = (hundredths: bigint): string => String(Number(hundredths) / 100);

/** "1.5x" */
export const formatMultiplier = (hundredths: bigint): string =>
  `${(Number(hundredths) / 100).toFixed(2).replace(/0$/, '')}x`;
