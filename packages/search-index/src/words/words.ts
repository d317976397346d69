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

const asciiCompounds = /[a-z0-9]+(?:[-_][a-z0-9]+)*/gi;
const compounds = /[\p{L}\p{M}\p{N}]+(?:[-_][\p{L}\p{M}\p{N}]+)*/gu;
/** Between the parts of a compound: a hyphen, an underscore, or a capital within a word (`camelCase`, `JSONParser`). */
const asciiSeams = /[-_]|(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])/;
const seams = /[-_]|(?<=\p{Ll})(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

/** The words of a text in their order, each as its parts in lower case: several for a compound. */
function partsOf(text: string): string[][] {
  if (isAscii(text))
    return (text.match(asciiCompounds) ?? []).map((word) => word.split(asciiSeams).map((part) => part.toLowerCase()));
  return (text.normalize('NFKC').match(compounds) ?? []).map((word) =>
    word.split(seams).flatMap((part) => pairsIn(part.toLowerCase())),
  );
}

const distinct = (words: readonly string[]): string[] => [
  ...new Set(words.map((word) => word.slice(0, MAX_WORD_CHARS))),
];

/**
 * The distinct words of a text: runs of letters and digits, ignoring case and width. A compound (`e-mail`, `camelCase`) gives its parts and
 * all of it as one word. In scripts without spaces, pairs of characters count as words, so that a word is found within a longer run.
 */
export const wordsOf = (text: string): string[] =>
  distinct(partsOf(text).flatMap((parts) => (isCompound(parts) ? [...parts, parts.join('')] : parts)));

/** The distinct words of a query, a compound as one: its parts with a hyphen between them. */
export const queryWordsOf = (text: string): string[] =>
  distinct(partsOf(text).flatMap((parts) => (isCompound(parts) ? [parts.join('-')] : parts)));

const isCompound = (parts: readonly string[]): boolean =>
  parts.length > 1 && parts.every((part) => !hasUnspaced.test(part));

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
