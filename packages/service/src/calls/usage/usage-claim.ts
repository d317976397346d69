import { MAX_USAGE_UNITS, quantityPattern, UsageUnit } from '@agent-network/contracts/invocations/usage';
import { isObject, type Json } from '../../lib/json/json-object.ts';
import type { UsageClaim, UsageUnits } from './rate-usage.ts';

/**
 * The claim of an agent in `usage` of its answer: `{units: [{unit, quantity}], model?}`, or the counts of tokens of a model's API as they
 * are. Null: there is no usage, or a broken one, which costs no more than the price per request.
 */
export function claimOfAgent(usage: unknown): UsageClaim | null {
  if (!isObject(usage)) return null;
  const units = Array.isArray(usage.units) ? unitsOf(usage.units) : null;
  const told = units ? { units, reasoningTokens: 0 } : 'units' in usage ? null : tokensIn(usage);
  // Another node says whose numbers it passes on.
  const source = usage.source === 'upstream' ? 'upstream' : 'agent';
  return told && { ...told, model: modelOf(usage.model), source };
}

interface UpstreamSaid {
  readonly usage?: unknown;
  readonly metrics?: unknown;
  readonly model?: unknown;
}

/** Units, and the tokens of the output that were reasoning. */
type Told = Pick<UsageClaim, 'units' | 'reasoningTokens'>;

/** The claim in the body of an upstream: `usage` of a model's API, or `metrics` of one that runs models by the second. */
export function claimOfUpstream({ usage, metrics, model }: UpstreamSaid): UsageClaim | null {
  const told = (isObject(usage) ? tokensIn(usage) : null) ?? (isObject(metrics) ? secondsIn(metrics) : null);
  return told && { ...told, model: modelOf(model), source: 'upstream' };
}

const MAX_MODEL = 200;
/** Control characters, and marks that turn the direction of text. */
const HIDDEN = /\p{Cc}|[\u202a-\u202e\u2066-\u2069]/u;

/** A name for people: without control characters. */
function modelOf(model: unknown): string | null {
  if (typeof model !== 'string') return null;
  const clean = [...model.slice(0, MAX_MODEL).toWellFormed()].filter((letter) => !HIDDEN.test(letter)).join('');
  return clean.trim() === '' ? null : clean;
}

function unitsOf(given: readonly unknown[]): UsageUnits | null {
  if (given.length === 0 || given.length > MAX_USAGE_UNITS) return null;
  const units = given.map((each) => {
    const unit = isObject(each) ? UsageUnit.safeParse(each.unit) : null;
    const quantity = isObject(each) ? quantityOf(each.quantity) : null;
    return unit?.success && quantity !== null ? { unit: unit.data, quantity } : null;
  });
  const read = units.filter((each) => each !== null);
  const isWhole = read.length === given.length && new Set(read.map(({ unit }) => unit)).size === read.length;
  return isWhole ? read : null;
}

/** A quantity as text; a number with more than six decimals is rounded down. */
function quantityOf(given: unknown): string | null {
  if (typeof given === 'string') return quantityPattern.test(given) ? given : null;
  if (typeof given !== 'number' || !(given >= 0 && given <= 999_999_999_999)) return null;
  // Written with an exponent only where it is less than the smallest quantity.
  const [whole = '0', fraction = ''] = given < 1e-6 ? ['0'] : String(given).split('.');
  const decimals = fraction.slice(0, Math.min(6, 12 - whole.length)).replace(/0+$/, '');
  return decimals === '' ? whole : `${whole}.${decimals}`;
}

/** A count of tokens, which some servers write as text; null: none. */
function countOf(given: unknown): number | null {
  const count = typeof given === 'string' && /^\d{1,12}$/.test(given) ? Number(given) : given;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 && count <= 999_999_999_999
    ? count
    : null;
}

const within = (object: unknown, name: string): number => (isObject(object) ? (countOf(object[name]) ?? 0) : 0);

/**
 * Counts of tokens, by the names of OpenAI's Chat and Responses APIs and of servers like theirs. Cached tokens are counted apart from the
 * input, reasoning within the output. Most servers count them within; where the total shows that a server
 * counts them beside, they are not subtracted.
 */
export function tokensIn(usage: Json): Told | null {
  const given = countOf(usage.prompt_tokens) ?? countOf(usage.input_tokens);
  const answered = countOf(usage.completion_tokens) ?? countOf(usage.output_tokens);
  if (given === null && answered === null) return null;
  const total = countOf(usage.total_tokens);
  const sum = (given ?? 0) + (answered ?? 0);
  const { input, cached } = inputOf(usage, given ?? 0, { total, sum });
  const thought =
    within(usage.completion_tokens_details, 'reasoning_tokens') ||
    within(usage.output_tokens_details, 'reasoning_tokens');
  // xAI counts reasoning beside the completion.
  const isBeside = thought > 0 && (thought > (answered ?? 0) || total === sum + thought);
  const output = (answered ?? 0) + (isBeside ? thought : 0);
  return {
    units: [
      { unit: 'input_token', quantity: String(input) },
      ...(cached > 0 ? [{ unit: 'cached_input_token', quantity: String(cached) }] : []),
      { unit: 'output_token', quantity: String(output) },
    ],
    reasoningTokens: thought,
  };
}

/** Tokens of the input that were computed, and those that came from a cache. */
function inputOf(usage: Json, given: number, { total, sum }: { readonly total: number | null; readonly sum: number }) {
  // Anthropic counts both kinds beside; writing the cache is computing.
  const read = countOf(usage.cache_read_input_tokens);
  if (read !== null) return { input: given + (countOf(usage.cache_creation_input_tokens) ?? 0), cached: read };
  const cached =
    within(usage.prompt_tokens_details, 'cached_tokens') ||
    within(usage.input_tokens_details, 'cached_tokens') ||
    (countOf(usage.prompt_cache_hit_tokens) ?? 0);
  const isBeside = cached > given || (cached > 0 && total === sum + cached);
  return { input: isBeside ? given : given - cached, cached };
}

/** Seconds of a run, by the names of Replicate. */
function secondsIn({ predict_time }: Json): Told | null {
  const quantity = quantityOf(predict_time);
  return quantity === null ? null : { units: [{ unit: 'second', quantity }], reasoningTokens: 0 };
}
