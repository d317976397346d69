import type { AgentQuery } from '@agent-network/contracts/agents/agent-search';
import type { Agent } from '../../agent.ts';

const MAX_WORD_CHARS = 64;

/** The words of a text, each once: runs of letters and digits, without regard to case and width. */
export function wordsOf(text: string): string[] {
  const words =
    text
      .normalize('NFKC')
      .toLowerCase()
      .match(/[\p{L}\p{M}\p{N}]+/gu) ?? [];
  return [...new Set(words.map((word) => word.slice(0, MAX_WORD_CHARS)))];
}

/** Position mark of a term: anywhere, in name or tags, in the name. No word begins with such a sign. */
export type Mark = '' | '+' | '#';

export const capabilityTerm = (capability: string): string => (capability === '' ? '' : `=${capability}`);

/** Stands for the node at which agents of other nodes are at home. No word begins like this. */
export const HOME_MARK = '@' as const;

/** The search terms of an agent: its capabilities, and its words with their position marks. */
export function termsOf({
  name,
  description,
  capabilities,
  metadata,
}: Pick<Agent, 'name' | 'description' | 'capabilities' | 'metadata'>): string[] {
  const title = `${name} ${(metadata.tags ?? []).join(' ')}`;
  return [
    ...new Set(capabilities.map(capabilityTerm)),
    ...wordsOf(`${title} ${description}`),
    ...wordsOf(title).map((word) => `+${word}`),
    ...wordsOf(name).map((word) => `#${word}`),
  ];
}

/** Words that must all be there. */
export interface Wording {
  readonly words: readonly string[];
  /** The last one may be the beginning of a word. */
  readonly isOpen: boolean;
}

/** The words as a PostgreSQL tsquery. */
export const wordsQuery = ({ words, isOpen }: Wording, mark: Mark): string =>
  words.map((word, index) => `'${mark}${word}'${isOpen && index === words.length - 1 ? ':*' : ''}`).join(' & ');

/** Home of agents: the id of another node, or this one. */
export type Home = string;
export const THIS_NODE: Home = 'this';

export interface Wanted {
  readonly any: readonly string[];
  readonly all: readonly string[];
  /** null: anywhere. */
  readonly home: Home | null;
}

/** Capabilities, words and home as one PostgreSQL tsquery; '' when nothing is asked for. */
export function termsQuery({ any, all, home }: Wanted, wording: Wording | null): string {
  const named = (capability: string) => `'${capabilityTerm(capability)}'`;
  const parts = [
    ...all.map(named),
    ...(any.length === 0 ? [] : [`(${any.map(named).join(' | ')})`]),
    ...(wording ? [wordsQuery(wording, '')] : []),
    ...(home === null ? [] : [home === THIS_NODE ? `!'${HOME_MARK}':*` : `'${HOME_MARK}${home}'`]),
  ];
  return parts.join(' & ');
}

/** The required terms without redundant ones: each capability once, `any` of one as part of `all`. */
export function wantedOf(query: Pick<AgentQuery, 'capabilities' | 'home'>): Wanted {
  const home = query.home ?? null;
  const any = [...new Set(query.capabilities?.any ?? [])];
  const all = new Set(query.capabilities?.all ?? []);
  if (any.some((capability) => all.has(capability))) return { any: [], all: [...all], home };
  return any.length === 1 ? { any: [], all: [...new Set([...all, ...any])], home } : { any, all: [...all], home };
}
