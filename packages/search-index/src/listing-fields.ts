import type { AgentQuery, AgentSortField } from '@agent-network/contracts/agents/agent-search';
import { parseUsdc } from '@agent-network/contracts/money';

/** An agent's fields in the listing. */
export interface ListingRow {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly capabilities: readonly string[];
  readonly tags: readonly string[];
  readonly exampleQuestions: readonly string[];
  /** Home node; null: this node. */
  readonly home: string | null;
  readonly isOnline: boolean;
  readonly isVerified: boolean;
  readonly reputation: number;
  readonly perRequestMicro: bigint;
  readonly perHourMicro: bigint;
  readonly responseMs: number | null;
  readonly createdAt: Date;
  /** The list item as JSON, ready to send. The index keeps a copy. */
  readonly item: Buffer;
}

export type Direction = 'asc' | 'desc';

/** A number that agents are sorted by, and limited by if the API has a limit for it. Not negative. */
interface NumberField {
  /** The direction that puts the best agent first; a limit leaves those that are at least as good. */
  readonly best: Direction;
  readonly keyOf: (row: ListingRow) => number;
  /** A key as text in cursors. */
  readonly textOf: (key: number) => string;
  readonly keyFrom: (text: string) => number;
  readonly limit?: FieldLimit;
}

interface FieldLimit {
  /** The limit in the body of a search. */
  readonly in: (query: AgentQuery) => string | number | undefined;
  /** Parameter name in lists and counts. */
  readonly param: string;
}

const plain = { textOf: String, keyFrom: Number } as const;
const amount = {
  textOf: (key: number) => String(amountOf(key)),
  keyFrom: (text: string) => amountKey(BigInt(text)),
} as const;

/** All fields with numbers. A line here, a member of `ListingRow` and its column in the query of rows make a field. */
export const numberFields = {
  reputation: {
    ...plain,
    best: 'desc',
    keyOf: (row) => row.reputation,
    limit: { in: ({ reputation }) => reputation?.min, param: 'minReputation' },
  },
  'rates.perRequest': {
    ...amount,
    best: 'asc',
    keyOf: (row) => amountKey(row.perRequestMicro),
    limit: { in: ({ rates }) => rates?.perRequest?.max, param: 'maxPrice' },
  },
  'rates.perHour': {
    ...amount,
    best: 'asc',
    keyOf: (row) => amountKey(row.perHourMicro),
    limit: { in: ({ rates }) => rates?.perHour?.max, param: 'maxPerHour' },
  },
  responseTime: { ...plain, best: 'asc', keyOf: (row) => row.responseMs ?? Number.POSITIVE_INFINITY },
  createdAt: { ...plain, best: 'desc', keyOf: (row) => row.createdAt.getTime() },
} as const satisfies Record<Exclude<AgentSortField, 'name' | 'relevance'>, NumberField>;

export type NumberFieldName = keyof typeof numberFields;
export const numberFieldNames = Object.keys(numberFields) as NumberFieldName[];

/** A text by which agents are filtered: those that have this very value. */
interface TextField {
  /** null: the agent has none. */
  readonly valueOf: (row: ListingRow) => string | null;
}

/** The value of `home` for agents of this node. */
export const THIS_NODE = 'this';

/**
 * All fields with texts, each under its name in the body of a search and among the parameters of counts. A line here, a member of
 * `ListingRow` and its column in the query of rows make a field.
 */
export const textFields = {
  home: { valueOf: (row) => row.home ?? THIS_NODE },
} as const satisfies Partial<Record<keyof AgentQuery, TextField>>;

export type TextFieldName = keyof typeof textFields;
export const textFieldNames = Object.keys(textFields) as TextFieldName[];

/** The sign that every term of the field begins with. */
export const textMark = <N extends TextFieldName>(field: N): `@${N}:` => `@${field}:`;

export const textTerm = (field: TextFieldName, value: string): string => `${textMark(field)}${value}`;

/** The terms of an agent's texts. */
export const textTermsOf = (row: ListingRow): string[] =>
  textFieldNames.flatMap((field) => {
    const value = textFields[field].valueOf(row);
    return value === null ? [] : [textTerm(field, value)];
  });

const all: Readonly<Record<NumberFieldName, NumberField>> = numberFields;
export const fieldOf = (name: NumberFieldName): NumberField => all[name];

/** An object with a value for each of these fields. */
export const forEachField = <N extends string, V>(names: readonly N[], make: (name: N) => V): Record<N, V> =>
  Object.fromEntries(names.map((name) => [name, make(name)])) as Record<N, V>;

/** Agents with a field that is at least as good as this key. */
export interface Limit {
  readonly field: NumberFieldName;
  readonly key: number;
}

export const limitsOf = (query: AgentQuery): Limit[] => limitsFrom((limit) => limit.in(query));

export const limitsIn = (params: object): Limit[] =>
  limitsFrom(({ param }) => (params as Readonly<Record<string, string | number | undefined>>)[param]);

function limitsFrom(read: (limit: FieldLimit) => string | number | undefined): Limit[] {
  return numberFieldNames.flatMap((field) => {
    const { limit, best } = fieldOf(field);
    const value = limit && read(limit);
    if (value === undefined) return [];
    const key = typeof value === 'number' ? value : amountKey(parseUsdc(value));
    // A lower bound of zero filters nothing.
    return best === 'desc' && key <= 0 ? [] : [{ field, key }];
  });
}

const scratch = new BigInt64Array(1);
const scratchNumber = new Float64Array(scratch.buffer);

/**
 * An amount as the float with the same 64 bits. Such numbers compare as the amounts do, exactly, up to 9 * 10^18 micro-USDC; use them only
 * to compare.
 */
export function amountKey(micro: bigint): number {
  scratch[0] = micro;
  return scratchNumber[0] as number;
}

export function amountOf(key: number): bigint {
  scratchNumber[0] = key;
  return scratch[0] as bigint;
}
