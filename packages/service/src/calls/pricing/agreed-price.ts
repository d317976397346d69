import { unitText } from '@agent-network/contracts/agents/price-text';
import { formatUsdc } from '@agent-network/contracts/money';
import type { LRUCache } from 'lru-cache';
import type { KnownCaller } from '../../accounts/caller.ts';
import type { KeySettings } from '../../accounts/limits/plan-caps.ts';
import type { CallableAgent } from '../../agents/agent.ts';
import { countUnits } from '../../agents/count-units.ts';
import { AppError } from '../../lib/app-error.ts';
import { createBoundedCache } from '../../lib/bounded-cache.ts';
import type { Store } from '../../store/database.ts';
import { isHigher } from '../usage/rate-usage.ts';
import { type AgreedTerms, isSameRate, type KnownTerms, readKnownTerms } from './agreed-terms-store.ts';
import { priceOf, type Rate, type Work } from './price.ts';

/** Time during which a caller may still rely on a former price. */
const TOLD_MS = 24 * 3_600_000;

const unknown: KnownTerms = { paid: null, former: [] };

/** The price by other terms; their units count only where they can be counted. */
function priceBy(rate: Rate, work: Work): bigint {
  const canCount = rate.perUnit === null || countUnits(rate.perUnit, work.input) !== null;
  return priceOf(canCount ? rate : { ...rate, perUnit: null }, work).totalMicro;
}

/**
 * Maximum price that a caller without a limit expects: the lower of its last price and of former prices that it may have seen since; null:
 * any price.
 */
export function expectedPrice({ paid, former }: KnownTerms, work: Work): bigint | null {
  const prices = [...(paid ? [paid] : []), ...former].map((rate) => priceBy(rate, work));
  return prices.length === 0 ? null : prices.reduce((least, price) => (price < least ? price : least));
}

const isSamePart = (a: Rate, b: Rate): boolean =>
  JSON.stringify([a.takesHints, a.sizeSteps, a.perUnit, a.perUsage]) ===
  JSON.stringify([b.takesHints, b.sizeSteps, b.perUnit, b.perUsage]);

/**
 * True if a call shows that its caller accepts the present terms: it is the first one, or it has a limit or a signature for the price, or
 * only the price per request has changed, and fallen. A small call shows nothing about the cost of larger ones.
 */
export function showsAgreement({ paid, former }: KnownTerms, now: Rate, isNamed: boolean): boolean {
  if (paid === null) return true;
  const isSame = isSamePart(paid, now);
  if (isNamed) return !isSame || paid.perRequestMicro !== now.perRequestMicro || former.length > 0;
  return isSame && now.perRequestMicro < paid.perRequestMicro;
}

const rateOf = ({ perRequestMicro, takesHints, sizeSteps, perUnit, perUsage }: Rate): Rate => ({
  ...{ perRequestMicro, takesHints },
  ...{ sizeSteps, perUnit, perUsage },
});

/** A call of an agent at a price. */
export interface PricedCall {
  readonly agent: CallableAgent;
  readonly body: Work;
  readonly priceMicro: bigint;
}

/** Needs of checking the prices that a caller has agreed to. */
export interface AgreementContext extends Store, Pick<KeySettings, 'newKeyPerCallMicro'> {}

/** Prices of these agents that the caller knows. */
export const readKnown = (ctx: AgreementContext, { accountId }: KnownCaller, agentIds: readonly string[]) =>
  readKnownTerms(ctx.db, { accountId, agentIds, since: toldSince(ctx) });

/** True if the caller's key has a limit for each call that somebody set: the one of all new keys agrees to no price. */
const hasOwnLimit = ({ newKeyPerCallMicro }: Pick<KeySettings, 'newKeyPerCallMicro'>, caller: KnownCaller): boolean =>
  caller.kind === 'account' && caller.limits.perCallMicro !== null && caller.limits.perCallMicro !== newKeyPerCallMicro;

/** Start of the time in which a former price still counts. */
export const toldSince = ({ clock }: Store): Date => new Date(clock.now().getTime() - TOLD_MS);

/**
 * Accounts that last paid an agent by its current terms, as read by this process. A call skips the read for them; the transaction that
 * accepts it verifies the assumption (`Sale.steadyFor`).
 */
export type SteadyPairs = Pick<LRUCache<string, true>, 'has' | 'set' | 'delete'>;

const MAX_STEADY = 50_000;

export const createSteadyPairs = (): SteadyPairs => createBoundedCache<true>(MAX_STEADY);

export const pairOf = (accountId: string, agentId: string): string => `${accountId} ${agentId}`;

/**
 * Reads a caller's known prices of one agent while the call is authorized. `steady`: the current terms, verified at acceptance. Null: a
 * caller without a key, who signs for every price.
 */
export function readKnownMeanwhile(
  ctx: AgreementContext & { readonly steadyPairs: SteadyPairs },
  caller: KnownCaller,
  agent: CallableAgent,
  isKeyless: boolean,
): Promise<KnownTerms | 'steady' | null> {
  if (isKeyless) return Promise.resolve(null);
  const pair = pairOf(caller.accountId, agent.id);
  if (ctx.steadyPairs.has(pair)) return Promise.resolve('steady');
  const reading = readKnown(ctx, caller, [agent.id]).then((known) => {
    const terms = known.get(agent.id) ?? unknown;
    if (terms.paid && terms.former.length === 0 && isSameRate(terms.paid, agent)) ctx.steadyPairs.set(pair, true);
    return terms;
  });
  // Awaited only when the call was authorized.
  reading.catch(() => undefined);
  return reading;
}

/**
 * Throws CONFLICT with both prices for a call that costs more than this account last paid the agent, or than a price that it may have seen
 * within a day. A caller agrees to a price by a maximum cost, a quote or a signed payment (`isAgreed`), or by a limit of its key. Returns
 * the terms to record when the calls are accepted.
 */
export function requireAgreedPrices(
  ctx: Pick<KeySettings, 'newKeyPerCallMicro'>,
  caller: KnownCaller,
  known: ReadonlyMap<string, KnownTerms>,
  { calls, isAgreed }: { readonly calls: readonly PricedCall[]; readonly isAgreed: boolean },
): AgreedTerms[] {
  const isNamed = isAgreed || hasOwnLimit(ctx, caller);
  return calls.flatMap(({ agent, body, priceMicro }) => {
    const terms = known.get(agent.id) ?? unknown;
    const expected = isNamed ? null : expectedPrice(terms, body);
    if (expected !== null && priceMicro > expected) throw priceRaised(agent.id, priceMicro, expected);
    const raised = isNamed ? null : raisedUnit(terms, agent);
    if (raised) throw unitRaised(agent.id, raised, priceMicro);
    // A quote may lock a price below the present one: that one is not agreed to.
    const isPresent = priceMicro >= priceBy(agent, body);
    return isPresent && showsAgreement(terms, agent, isNamed)
      ? [{ accountId: caller.accountId, agentId: agent.id, rate: rateOf(agent) }]
      : [];
  });
}

interface RaisedUnit {
  readonly unit: string;
  readonly price: string;
  readonly lastPrice: string;
}

/**
 * A unit of usage that costs more than a caller without a limit expects, although the maximum of a call has not changed; null: none. Where
 * it expects a price for all calls, that one bounds them.
 */
export function raisedUnit({ paid, former }: KnownTerms, { perUsage }: Rate): RaisedUnit | null {
  const known = [...(paid ? [paid] : []), ...former].flatMap((rate) => rate.perUsage ?? []);
  for (const { unit, price } of perUsage?.prices ?? [])
    for (const { prices } of known) {
      const lastPrice = prices.find((each) => each.unit === unit)?.price ?? '0';
      if (isHigher(price, lastPrice)) return { unit, price, lastPrice };
    }
  return null;
}

function unitRaised(agentId: string, { unit, price, lastPrice }: RaisedUnit, maximumMicro: bigint) {
  const maximum = formatUsdc(maximumMicro);
  return new AppError(
    'CONFLICT',
    `Agent ${agentId} charges ${price} USDC for each ${unitText(unit)} now; the last price that you paid, or may have been shown, is ${lastPrice} USDC. Nothing was charged. Repeat the call with a maximum cost of ${maximum}, or with a quote, if you agree.`,
    { details: { reason: 'price_raised', price: maximum, lastPrice: maximum } },
  );
}

/** Checks the price of one call, as `requireAgreedPrices` does. */
export const agreedTerms = (
  ctx: Pick<KeySettings, 'newKeyPerCallMicro'>,
  caller: KnownCaller,
  known: KnownTerms | 'steady' | null,
  call: PricedCall & {
    readonly body: Work & { readonly maxCost?: string | undefined };
    readonly quoteId: string | null;
    readonly isSigned: boolean;
  },
): AgreedTerms[] => {
  if (known === null || known === 'steady') return [];
  const isAgreed = call.body.maxCost !== undefined || call.quoteId !== null || call.isSigned;
  return requireAgreedPrices(ctx, caller, new Map([[call.agent.id, known]]), { calls: [call], isAgreed });
};

/** Maximum cost of a fallback without a limit of the caller: the price that the caller expects of the requested agent. */
export async function expectedOf(ctx: AgreementContext, caller: KnownCaller, call: PricedCall): Promise<bigint> {
  const known = await readKnown(ctx, caller, [call.agent.id]);
  const expected = expectedPrice(known.get(call.agent.id) ?? unknown, call.body);
  return expected !== null && expected < call.priceMicro ? expected : call.priceMicro;
}

function priceRaised(agentId: string, priceMicro: bigint, expectedMicro: bigint): AppError<'CONFLICT'> {
  const [price, lastPrice] = [formatUsdc(priceMicro), formatUsdc(expectedMicro)];
  return new AppError(
    'CONFLICT',
    `Agent ${agentId} costs ${price} USDC for this call; the last price that you paid, or may have been shown, is ${lastPrice} USDC. Nothing was charged. Repeat the call with a maximum cost of ${price}, or with a quote, if you agree.`,
    { details: { reason: 'price_raised', price, lastPrice } },
  );
}
