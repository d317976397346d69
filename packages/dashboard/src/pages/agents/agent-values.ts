import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { parseUsdc, usdcPattern } from '@agent-network/contracts/money';

export const MOST_SIZE_STEPS = 8;

/** A step of the price by size, as text. */
export interface SizeStepValues {
  readonly aboveBytes: string;
  readonly multiplier: string;
}

/** Values of the forms, as text. */
export interface AgentValues {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly endpoint: string;
  readonly perRequest: string;
  readonly tags: readonly string[];
  readonly website: string;
  readonly avatar: string;
  readonly maxConcurrency: string;
  readonly priceHints: boolean;
  readonly sizeSteps: readonly SizeStepValues[];
}

export const noValues: AgentValues = {
  ...{ name: '', description: '', capabilities: [], endpoint: '', perRequest: '' },
  ...{ tags: [], website: '', avatar: '', maxConcurrency: '' },
  ...{ priceHints: false, sizeSteps: [] },
};

function metadataOf(values: AgentValues): AgentDetail['metadata'] {
  const { avatar, website, tags, maxConcurrency, priceHints } = values;
  const sizeSteps = values.sizeSteps
    .map(({ aboveBytes, multiplier }) => ({ aboveBytes: numberOf(aboveBytes), multiplier: multiplier.trim() }))
    .sort((a, b) => a.aboveBytes - b.aboveBytes);
  return {
    ...(avatar ? { avatar } : {}),
    ...(website ? { website } : {}),
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
    ...(maxConcurrency ? { maxConcurrency: Number(maxConcurrency) } : {}),
    ...(priceHints ? { priceHints } : {}),
    ...(sizeSteps.length > 0 ? { sizeSteps } : {}),
  };
}

/** What is no number stands for one that the schema refuses. */
const numberOf = (text: string): number => (/^\s*\d+\s*$/.test(text) ? Number(text) : -1);

/** The body of POST /agents. What is left empty is left out; what must be there goes along empty, so that it is refused by its name. */
export function registrationBody(values: AgentValues) {
  const { name, description, capabilities, endpoint, perRequest } = values;
  return {
    ...{ name, description, capabilities, endpoint },
    rates: { perRequest },
    metadata: metadataOf(values),
  };
}

const isSameAmount = (a: string, b: string) =>
  usdcPattern.test(a) && usdcPattern.test(b) ? parseUsdc(a) === parseUsdc(b) : a === b;

/** An agent as the form shows it. */
export function valuesOf({ name, description, capabilities, endpoint, rates, metadata }: AgentDetail): AgentValues {
  const { tags = [], website = '', avatar = '', maxConcurrency, priceHints = false, sizeSteps = [] } = metadata;
  return {
    ...{ name, description, capabilities, endpoint, tags, website, avatar },
    perRequest: rates.perRequest,
    maxConcurrency: maxConcurrency === undefined ? '' : String(maxConcurrency),
    priceHints,
    sizeSteps: sizeSteps.map(({ aboveBytes, multiplier }) => ({ aboveBytes: String(aboveBytes), multiplier })),
  };
}

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);

/** Metadata that the form does not show, and keeps. */
const unshown = ({ metadata: { perUnit } }: AgentDetail) => (perUnit ? { perUnit } : {});

/** The body of PUT /agents/{id}: only what differs from the agent. */
export function updateBody(values: AgentValues, agent: AgentDetail) {
  const before = valuesOf(agent);
  const { perRequest } = values;
  const rates = isSameAmount(perRequest, agent.rates.perRequest) ? {} : { rates: { perRequest } };
  const texts = (['name', 'description', 'capabilities', 'endpoint'] as const)
    .filter((name) => !isSame(values[name], before[name]))
    .map((name) => [name, values[name]]);
  return {
    ...Object.fromEntries(texts),
    ...rates,
    ...(isSame(metadataOf(values), metadataOf(before))
      ? {}
      : { metadata: { ...unshown(agent), ...metadataOf(values) } }),
  };
}
