import type { UnitMeasure } from '@agent-network/contracts/agents/agent-metadata';
import type { AgentTypes } from '@agent-network/contracts/agents/agent-types';
import type { AgentDetail } from '@agent-network/contracts/agents/agents';
import { parseUsdc, usdcPattern } from '@agent-network/contracts/money';
import { isSame } from '../../../forms/is-same.ts';
import type { Problems } from '../../../forms/problems.ts';
import { changedTypes, jsonProblems, noTypes, type TypesValues, typesOf, typesValuesOf } from './types-values.ts';
import {
  changedUpstream,
  headerProblems,
  noUpstream,
  type OwnUpstream,
  registeredUpstream,
  type UpstreamValues,
  upstreamValuesOf,
} from './upstream-values.ts';

export const MAX_SIZE_STEPS = 8;

export interface TextField {
  readonly label: string;
  readonly type?: 'url';
  readonly placeholder?: string;
  readonly hint?: string;
}

/** Fields of the metadata that are one line of text each, in the order of the form. */
export const textFields = {
  website: { label: 'Website', type: 'url', placeholder: 'https://agent.example' },
  avatar: { label: 'Avatar', type: 'url', hint: 'URL of an image.' },
} as const satisfies { [Name in keyof AgentDetail['metadata']]?: TextField };
type TextFieldName = keyof typeof textFields;

const textFieldsOf = (textOf: (name: TextFieldName) => string): Record<TextFieldName, string> =>
  Object.fromEntries(textFieldNames.map((name) => [name, textOf(name)])) as Record<TextFieldName, string>;
export const textFieldNames = Object.keys(textFields) as TextFieldName[];

/** A step of the price by size, as text. */
export interface SizeStepValues {
  readonly aboveBytes: string;
  readonly multiplier: string;
}

/** Values of the forms, as text. */
export interface AgentValues extends UpstreamValues, TypesValues, Readonly<Record<TextFieldName, string>> {
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly endpoint: string;
  readonly perRequest: string;
  readonly tags: readonly string[];
  /** One question per line. */
  readonly exampleQuestions: string;
  readonly maxConcurrency: string;
  readonly priceHints: boolean;
  readonly sizeSteps: readonly SizeStepValues[];
  /** A price by units: all of them, or none. */
  readonly unitPrice: string;
  readonly unit: string;
  readonly unitCount: string;
  /** Empty: the agent is of before it was declared. */
  readonly unitMeasure: UnitMeasure | '';
  readonly unitMaximum: string;
  /** Prices by usage, and the maximum of a call: both, or none. */
  readonly usagePrices: readonly UsagePriceValues[];
  readonly usageMaximum: string;
}

/** A price of one unit of usage, as text. */
export interface UsagePriceValues {
  readonly unit: string;
  readonly price: string;
}

export const noValues: AgentValues = {
  ...{ name: '', description: '', capabilities: [], endpoint: '', perRequest: '' },
  ...{ tags: [], exampleQuestions: '', ...textFieldsOf(() => ''), maxConcurrency: '' },
  ...{
    priceHints: false,
    sizeSteps: [],
    unitPrice: '',
    unit: '',
    unitCount: '',
    unitMeasure: 'number',
    unitMaximum: '',
    usagePrices: [],
    usageMaximum: '',
  },
  ...noUpstream,
  ...noTypes,
};

/** Problems of values that no body can carry. */
export const problemsOfValues = (values: AgentValues): Problems =>
  new Map([...headerProblems(values), ...jsonProblems(values)]);

function metadataOf(values: AgentValues): AgentDetail['metadata'] {
  const { tags, maxConcurrency, priceHints, usagePrices: prices, usageMaximum } = values;
  const { unitPrice: price, unit, unitCount: count, unitMeasure, unitMaximum: maximum } = values;
  const measure = unitMeasure === '' ? {} : { measure: unitMeasure };
  const sizeSteps = values.sizeSteps
    .map(({ aboveBytes, multiplier }) => ({ aboveBytes: numberOf(aboveBytes), multiplier: multiplier.trim() }))
    .sort((a, b) => a.aboveBytes - b.aboveBytes);
  return {
    ...Object.fromEntries(textFieldNames.filter((name) => values[name]).map((name) => [name, values[name]])),
    ...(tags.length > 0 ? { tags: [...tags] } : {}),
    ...(maxConcurrency ? { maxConcurrency: Number(maxConcurrency) } : {}),
    ...(priceHints ? { priceHints } : {}),
    ...(sizeSteps.length > 0 ? { sizeSteps } : {}),
    ...(price || unit || count || maximum ? { perUnit: { price, unit, count, ...measure, maximum } } : {}),
    ...(prices.length > 0 ? { perUsage: { prices: [...prices], maximum: usageMaximum } } : {}),
  };
}

/** A text that is no number becomes one that the schema refuses. */
const numberOf = (text: string): number => (/^\s*\d+\s*$/.test(text) ? Number(text) : -1);

const questionsOf = ({ exampleQuestions }: Pick<AgentValues, 'exampleQuestions'>): string[] =>
  exampleQuestions
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The body of POST /agents. Empty fields are left out; required ones are sent empty, so that the error names them. */
export function registrationBody(values: AgentValues) {
  const { name, description, capabilities, endpoint, perRequest } = values;
  const types = typesOf(values);
  return {
    ...{ name, description, capabilities, endpoint },
    ...registeredUpstream(values),
    rates: { perRequest },
    metadata: metadataOf(values),
    ...(values.exampleQuestions.trim() ? { exampleQuestions: questionsOf(values) } : {}),
    ...(types ? { types } : {}),
  };
}

/** An agent as its owner reads it: in detail, with how its endpoint is called. */
export interface EditedAgent {
  readonly detail: AgentDetail & { readonly types?: AgentTypes | undefined };
  readonly own: OwnUpstream;
}

const isSameAmount = (a: string, b: string) =>
  usdcPattern.test(a) && usdcPattern.test(b) ? parseUsdc(a) === parseUsdc(b) : a === b;

/** An agent as the form shows it. */
export function valuesOf({ detail, own }: EditedAgent): AgentValues {
  const { name, description, capabilities, endpoint, rates, metadata } = detail;
  const { tags = [], maxConcurrency, priceHints = false, sizeSteps = [], perUnit, perUsage } = metadata;
  return {
    ...{ name, description, capabilities, endpoint, tags, ...textFieldsOf((name) => metadata[name] ?? '') },
    perRequest: rates.perRequest,
    exampleQuestions: detail.exampleQuestions.join('\n'),
    maxConcurrency: maxConcurrency === undefined ? '' : String(maxConcurrency),
    priceHints,
    sizeSteps: sizeSteps.map(({ aboveBytes, multiplier }) => ({ aboveBytes: String(aboveBytes), multiplier })),
    ...{ unitPrice: perUnit?.price ?? '', unit: perUnit?.unit ?? '' },
    ...{ unitCount: perUnit?.count ?? '', unitMaximum: perUnit?.maximum ?? '' },
    unitMeasure: perUnit ? (perUnit.measure ?? '') : noValues.unitMeasure,
    ...{ usagePrices: perUsage?.prices ?? [], usageMaximum: perUsage?.maximum ?? '' },
    ...upstreamValuesOf(own),
    ...typesValuesOf(detail.types),
  };
}

/** The fields of the metadata that differ; null: emptied. */
function changedMetadata(values: AgentValues, before: AgentValues) {
  const [given, stored] = [metadataOf(values), metadataOf(before)];
  const names = Object.keys({ ...stored, ...given }) as (keyof typeof given)[];
  const differing = names.filter((name) => !isSame(given[name], stored[name]));
  if (differing.length === 0) return {};
  const metadata: { [Name in keyof typeof given]?: unknown } = Object.fromEntries(
    differing.map((name) => [name, given[name] ?? null]),
  );
  return { metadata };
}

/** The body of PUT /agents/{id}, with the changed fields only. */
export function updateBody(values: AgentValues, agent: EditedAgent) {
  const before = valuesOf(agent);
  const { perRequest } = values;
  const rates = isSameAmount(perRequest, agent.detail.rates.perRequest) ? {} : { rates: { perRequest } };
  const texts = (['name', 'description', 'capabilities', 'endpoint'] as const)
    .filter((name) => !isSame(values[name], before[name]))
    .map((name) => [name, values[name]]);
  return {
    ...Object.fromEntries(texts),
    ...changedUpstream(values, agent.own),
    ...rates,
    ...(isSame(questionsOf(values), questionsOf(before)) ? {} : { exampleQuestions: questionsOf(values) }),
    ...changedMetadata(values, before),
    ...changedTypes(values, agent.detail.types),
  };
}
