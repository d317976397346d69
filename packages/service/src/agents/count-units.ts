import type { UnitMeasure } from '@agent-network/contracts/agents/agent-metadata';

/**
 * Location of a call's units in its input, and their measure. Without a measure the JSON type decides, as for agents older than `measure`.
 */
export interface UnitPlace {
  /** JSON pointer into the input. */
  readonly count: string;
  readonly measure?: UnitMeasure | undefined;
}

/** A larger number of units counts as this one: the price is bounded by `maximum` anyway. */
const MAX_UNITS = 1_000_000_000_000;

const numberOf = (value: unknown): bigint | null =>
  typeof value === 'number' && value >= 0 && value < Number.POSITIVE_INFINITY
    ? BigInt(Math.ceil(Math.min(value, MAX_UNITS)))
    : null;
const itemsOf = (value: unknown): bigint | null => (Array.isArray(value) ? BigInt(value.length) : null);
const charactersOf = (value: unknown): bigint | null =>
  typeof value === 'string' ? BigInt(Array.from(value).length) : null;
const bytesOf = (value: unknown): bigint | null =>
  typeof value === 'string' ? BigInt(Buffer.byteLength(value)) : null;

const measures: Record<UnitMeasure, (value: unknown) => bigint | null> = {
  number: numberOf,
  items: itemsOf,
  characters: charactersOf,
  bytes: bytesOf,
};

const wanted: Record<UnitMeasure, string> = {
  number: 'a number, 0 or more',
  items: 'a list',
  characters: 'a text',
  bytes: 'a text',
};

/** Names on the path to the counted value. */
const namesOf = (pointer: string): string[] =>
  pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));

/** The number of units that a call asks for; null: its input has nothing there that can be counted so. */
export function countUnits({ count, measure }: UnitPlace, input: Record<string, unknown>): bigint | null {
  let value: unknown = input;
  for (const name of namesOf(count)) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return null;
    if (Array.isArray(value) && name === 'length') return null;
    value = (value as Record<string, unknown>)[name];
  }
  return measure ? measures[measure](value) : (numberOf(value) ?? itemsOf(value) ?? charactersOf(value));
}

/** Fault of an input with units that can't be counted, and its location. */
export const unitsFault = ({ count, measure }: UnitPlace) => ({
  at: namesOf(count),
  message: `must be ${measure ? wanted[measure] : 'a number of 0 or more, a list or a text'}: the agent's price follows it`,
});
