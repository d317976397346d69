import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { parseUsdc, usdcPattern } from '@agent-network/contracts/money';

export const tierNames = ['basic', 'premium', 'enterprise'] as const;
type Tier = (typeof tierNames)[number];

/** Values of the forms, as text. An empty price means the price per request. */
export interface AgentValues extends Readonly<Record<Tier, string>> {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly endpoint: string;
  readonly perRequest: string;
  readonly perHour: string;
  readonly tags: readonly string[];
  readonly website: string;
  readonly avatar: string;
  readonly maxConcurrency: string;
  readonly priceHints: boolean;
}

export const noValues: AgentValues = {
  ...{ name: '', description: '', capabilities: [], endpoint: '', perRequest: '', perHour: '' },
  ...{ basic: '', premium: '', enterprise: '', tags: [], website: '', avatar: '', maxConcurrency: '' },
  priceHints: false,
};

function metadataOf({ avatar, website, tags, maxConcurrency, priceHints }: AgentValues): AgentDetail['metadata'] {
  return {
    ...(avatar ? { avatar } : {}),
    ...(website ? { website } : {}),
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
    ...(maxConcurrency ? { maxConcurrency: Number(maxConcurrency) } : {}),
    ...(priceHints ? { priceHints } : {}),
  };
}

/** The body of POST /agents. What is left empty is left out; what must be there goes along empty, so that it is refused by its name. */
export function registrationBody(values: AgentValues) {
  const { name, description, capabilities, endpoint, perRequest, perHour } = values;
  const tiers = tierNames.filter((tier) => values[tier]).map((tier) => [tier, values[tier]]);
  return {
    ...{ name, description, capabilities, endpoint },
    rates: {
      perRequest,
      ...(perHour ? { perHour } : {}),
      ...(tiers.length > 0 ? { tiers: Object.fromEntries(tiers) } : {}),
    },
    metadata: metadataOf(values),
  };
}

const isSameAmount = (a: string, b: string) =>
  usdcPattern.test(a) && usdcPattern.test(b) ? parseUsdc(a) === parseUsdc(b) : a === b;

/** An agent as the form shows it: prices that are that per request are left empty. */
export function valuesOf({ name, description, capabilities, endpoint, rates, metadata }: AgentDetail): AgentValues {
  const own = (amount: string) => (isSameAmount(amount, rates.perRequest) ? '' : amount);
  const { basic, premium, enterprise } = rates.tiers;
  const { tags = [], website = '', avatar = '', maxConcurrency, priceHints = false } = metadata;
  return {
    ...{ name, description, capabilities, endpoint, tags, website, avatar },
    ...{ perRequest: rates.perRequest, perHour: own(rates.perHour) },
    ...{ basic: own(basic), premium: own(premium), enterprise: own(enterprise) },
    maxConcurrency: maxConcurrency === undefined ? '' : String(maxConcurrency),
    priceHints,
  };
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Metadata that the form does not show, and keeps. */
const unshown = ({ metadata: { perUnit } }: AgentDetail) => (perUnit ? { perUnit } : {});

/**
 * The body of PUT /agents/{id}: only what differs from the agent. A price that follows the one per request is sent along when that one
 * changes, as the node keeps what it was given.
 */
export function updateBody(values: AgentValues, agent: AgentDetail) {
  const before = valuesOf(agent);
  const { perRequest } = values;
  const prices = (['perRequest', 'perHour'] as const)
    .map((name) => [name, values[name] || perRequest] as const)
    .filter(([name, amount]) => !isSameAmount(amount, agent.rates[name]));
  const tiers = tierNames
    .map((tier) => [tier, values[tier] || perRequest] as const)
    .filter(([tier, amount]) => !isSameAmount(amount, agent.rates.tiers[tier]));
  const rates = { ...Object.fromEntries(prices), ...(tiers.length > 0 ? { tiers: Object.fromEntries(tiers) } : {}) };
  const texts = (['name', 'description', 'capabilities', 'endpoint'] as const)
    .filter((name) => !isSame(values[name], before[name]))
    .map((name) => [name, values[name]]);
  return {
    ...Object.fromEntries(texts),
    ...(isSame(rates, {}) ? {} : { rates }),
    ...(isSame(metadataOf(values), metadataOf(before))
      ? {}
      : { metadata: { ...unshown(agent), ...metadataOf(values) } }),
  };
}
