import type { AgentQuery } from '@agent-network/contracts/agents/agent-search';
import { type TextFieldName, textFieldNames, textTerm } from '../listing-fields.ts';

const MAX_WORD_CHARS = 64;

function isAscii(text: string): boolean {
  for (let index = 0; index < text.length; index++) if (text.charCodeAt(index) > 0x7f) return false;
  return true;
}

/** Letters of scripts that put no spaces between words. */
const UNSPACED = String.raw`\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Thai}\p{scx=Lao}\p{scx=Khmr}\p{scx=Mymr}`;
const hasUnspaced = new RegExp(`[${UNSPACED}]`, 'u');
const unspacedOrNot = new RegExp(`[${UNSPACED}]+|[^${UNSPACED}]+`, 'gu');

/** Every two neighbouring characters of a text without spaces; other parts unchanged. */
function pairsIn(run: string): string[] {
  if (!hasUnspaced.test(run)) return [run];
  return (run.match(unspacedOrNot) ?? []).flatMap((part) => {
    const characters = [...part];
    if (characters.length < 3 || !hasUnspaced.test(part)) return [part];
    return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  });
}

/** True for a word that is, or looks like, a pair of neighbouring characters of such a text. */
export const isPair = (word: string): boolean => hasUnspaced.test(word) && [...word].length === 2;

/**
 * The distinct words of a text: runs of letters and digits, ignoring case and width. In scripts without spaces, pairs of characters count
 * as words, so that a word is found within a longer run.
 */
export function wordsOf(text: string): string[] {
  const words = isAscii(text)
    ? (text.toLowerCase().match(/[a-z0-9]+/g) ?? [])
    : (text
        .normalize('NFKC')
        .toLowerCase()
        .match(/[\p{L}\p{M}\p{N}]+/gu)
        ?.flatMap(pairsIn) ?? []);
  return [...new Set(words.map((word) => word.slice(0, MAX_WORD_CHARS)))];
}

/** Their order, the same in every process. */
export const compareWords = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

export const capabilityTerm = (capability: string): string => (capability === '' ? '' : `=${capability}`);

/** Fields of an agent that searches look at. */
export interface DescribedAgent {
  readonly name: string;
  readonly description: string;
  readonly exampleQuestions?: readonly string[] | undefined;
  readonly capabilities: readonly string[];
  readonly metadata: { readonly tags?: readonly string[] | undefined };
}

/**
 * The search terms of an agent: its capabilities, and its words; those in name or tags also with `+`, those in the name also with `#`.
 * Words themselves never begin with these signs.
 */
export function termsOf({
  name,
  description,
  exampleQuestions = [],
  capabilities,
  metadata,
}: DescribedAgent): string[] {
  const title = `${name} ${(metadata.tags ?? []).join(' ')}`;
  return [
    ...new Set(capabilities.map(capabilityTerm)),
    ...wordsOf([title, description, ...exampleQuestions].join(' ')),
    ...wordsOf(title).map((word) => `+${word}`),
    ...wordsOf(name).map((word) => `#${word}`),
  ];
}

export interface WantedTerms {
  readonly any: readonly string[];
  readonly all: readonly string[];
  /** Terms of text fields, see `textTerm`. */
  readonly texts: readonly string[];
}

/** The required terms without redundant ones: each capability once, `any` of one as part of `all`. */
export function wantedOf(query: Pick<AgentQuery, 'capabilities' | TextFieldName>): WantedTerms {
  const texts = textFieldNames.flatMap((field) => {
    const value = query[field];
    return value === undefined ? [] : [textTerm(field, value)];
  });
  const any = [...new Set(query.capabilities?.any ?? [])];
  const all = new Set(query.capabilities?.all ?? []);
  if (any.some((capability) => all.has(capability))) return { any: [], all: [...all], texts };
  return any.length === 1 ? { any: [], all: [...new Set([...all, ...any])], texts } : { any, all: [...all], texts };
}
