import type { AgentQuery } from '@agent-network/contracts/agents';
import type { Agent } from './agent.ts';

const MAX_WORD_CHARS = 64;
/** A shorter last word is taken as it is: too many words begin with it. */
const MIN_PREFIX_CHARS = 3;

/** The words of a text, each once: runs of letters and digits, without regard to case and width. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, MAX_WORD_CHARS)))];
}

type Described = Pick<Agent, 'name' | 'description' | 'capabilities' | 'metadata'>;

/** What an agent is found by, as a PostgreSQL tsvector: its capabilities, and its words with the weight of where they stand. */
export function termsVector({ name, description, capabilities, metadata }: Described): string {
  const terms = [
    ...wordsOf(name).map((word) => `'${word}':1A`),
    ...wordsOf((metadata.tags ?? []).join(' ')).map((word) => `'${word}':1B`),
    // Without a place, a word would pass for one of every weight.
    ...wordsOf(description).map((word) => `'${word}':1D`),
    ...capabilities.map((capability) => `'=${capability}'`),
  ];
  return terms.join(' ');
}

/** The words that a text asks for; the last one may be the beginning of a word. */
export function wordsQuery(text: string, weights: '' | 'A' | 'AB'): string {
  const words = wordsOf(text);
  const last = words.at(-1) ?? '';
  const prefix = last.length >= MIN_PREFIX_CHARS ? '*' : '';
  const suffixes = words.map((word) => (word === last ? prefix + weights : weights));
  return words.map((word, index) => `'${word}'${suffixes[index] === '' ? '' : `:${suffixes[index]}`}`).join(' & ');
}

/** All that the index of terms can answer of a query, as a PostgreSQL tsquery; '' when it is nothing. */
export function termsQuery({ any, all }: Wanted, text: string | undefined): string {
  const named = (capability: string) => `'=${capability}'`;
  const parts = [
    ...all.map(named),
    ...(any.length === 0 ? [] : [`(${any.map(named).join(' | ')})`]),
    ...(text === undefined ? [] : [wordsQuery(text, '')]),
  ];
  return parts.join(' & ');
}

export interface Wanted {
  readonly any: readonly string[];
  readonly all: readonly string[];
}

/** The capabilities asked for, without what follows from the rest: each once, `any` of one as part of `all`. */
export function wantedCapabilities(query: AgentQuery): Wanted {
  const any = [...new Set(query.capabilities?.any ?? [])];
  const all = new Set(query.capabilities?.all ?? []);
  if (any.some((capability) => all.has(capability))) return { any: [], all: [...all] };
  return any.length === 1 ? { any: [], all: [...all, ...any] } : { any, all: [...all] };
}
