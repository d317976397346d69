import { type TextFieldName, textFieldNames, textMark } from '../listing-fields.ts';
import { SortedList } from '../sorted-list.ts';
import { charactersOf, TypoTable } from './typo-table.ts';
import { compareWords, wordsOf } from './words.ts';

/** Minimum length of a last word to expand; too many words begin with shorter ones. */
const MIN_OPEN_CHARS = 3;
/** Maximum words that a prefix expands to, and capabilities that a word stands for, the first in order. */
const MAX_BEGUN = 10_000;
/** Minimum length of a word to correct; too many words are within one edit of shorter ones. */
const MIN_MENDED_CHARS = 4;

/** The sign of capabilities, and those of the text fields. */
export type Mark = '=' | `@${TextFieldName}:`;
const marks: readonly Mark[] = ['=', ...textFieldNames.map(textMark)];

const capabilityWords = (term: string): string[] => (term.startsWith('=') ? wordsOf(term.slice(1)) : []);

function isWord(term: string): boolean {
  const first = term.charAt(0);
  return first !== '=' && first !== '@' && first !== '!';
}

/**
 * The terms that agents have, numbered: words, `=capability`, `@field:text`, `!flag`. A number is used again when no agent has its term
 * any more.
 */
export class Lexicon {
  readonly #ids = new Map<string, number>();
  readonly #terms: string[] = [];
  readonly #free: number[] = [];
  readonly #marked = new Map<Mark, Set<string>>(marks.map((mark) => [mark, new Set()]));
  /** The capabilities that contain a word, by word. */
  readonly #capabilities = new Map<string, Set<number>>();
  readonly #words = new SortedList((a, b) => compareWords(this.textOf(a), this.textOf(b)));
  #isSorted = false;
  readonly #typos: TypoTable;

  constructor(seed: number) {
    this.#typos = new TypoTable((id) => this.textOf(id), seed);
  }

  textOf(id: number): string {
    return this.#terms[id] as string;
  }

  idOf(term: string): number | undefined {
    return this.#ids.get(term);
  }

  /** All terms with this mark. */
  marked(mark: Mark): ReadonlySet<string> {
    return this.#marked.get(mark) ?? new Set();
  }

  /** The number of a term, new or known. */
  take(term: string): number {
    const known = this.#ids.get(term);
    if (known !== undefined) return known;
    const id = this.#free.pop() ?? this.#terms.length;
    this.#terms[id] = term;
    this.#ids.set(term, id);
    if (isWord(term)) {
      if (this.#isSorted) this.#words.add(id);
      this.#typos.add(id);
    } else {
      this.#setOf(term)?.add(term);
      for (const word of capabilityWords(term)) this.#capabilitiesWith(word).add(id);
    }
    return id;
  }

  /** No agent has the term any more. */
  release(id: number): void {
    const term = this.textOf(id);
    this.#ids.delete(term);
    if (isWord(term)) {
      if (this.#isSorted) this.#words.delete(id);
      this.#typos.delete(id);
    } else {
      this.#setOf(term)?.delete(term);
      for (const word of capabilityWords(term)) {
        const having = this.#capabilitiesWith(word);
        having.delete(id);
        if (having.size === 0) this.#capabilities.delete(word);
      }
    }
    this.#free.push(id);
  }

  #capabilitiesWith(word: string): Set<number> {
    const known = this.#capabilities.get(word);
    if (known) return known;
    const made = new Set<number>();
    this.#capabilities.set(word, made);
    return made;
  }

  /** The terms that stand for a word: the word in all its forms, and the capabilities that have one of them in their names. */
  known(word: string): number[] {
    const forms = formsOf(word);
    const words = forms.map((form) => this.#ids.get(form)).filter((id) => id !== undefined);
    const named = new Set<number>();
    for (const form of forms) for (const id of this.#capabilities.get(form) ?? []) named.add(id);
    if (named.size <= MAX_BEGUN) return [...words, ...named];
    const sorted = [...named].sort((a, b) => compareWords(this.textOf(a), this.textOf(b)));
    return [...words, ...sorted.slice(0, MAX_BEGUN)];
  }

  #setOf(term: string): Set<string> | null {
    const mark = marks.find((each) => term.startsWith(each));
    return (mark && this.#marked.get(mark)) ?? null;
  }

  /**
   * Expands a word of a query, within limits: the word in all its forms, if a proven agent has one of them (`isProven`). Otherwise, for the
   * last word, of three characters or more: words that begin with it. Otherwise, for a word of four characters or more: words within one
   * edit, which is a character inserted, deleted or replaced, or two neighbours swapped. Empty: no match.
   * A word that only unproven agents have matches too, but the expansion then goes on to words of proven agents: otherwise anyone could
   * register prefixes and typos by the thousand.
   */
  resolve(word: string, isLast: boolean, isProven: (id: number) => boolean): number[] {
    const known = this.known(word);
    if (known.some(isProven)) return known;
    const begun = isLast && word.length >= MIN_OPEN_CHARS ? this.#beginningWith(word) : [];
    if (begun.some(isProven)) return known.length === 0 ? begun : [...known, ...begun.filter(isProven)];
    const near = charactersOf(word).length >= MIN_MENDED_CHARS ? this.#typos.near(word) : [];
    const others = known.length === 0 ? begun : known;
    return others.length === 0 ? near : [...others, ...near.filter(isProven)];
  }

  /** Sorts all words at once: far quicker than adding one after the other. */
  settle(): void {
    if (this.#isSorted) return;
    this.#isSorted = true;
    const words = [...this.#ids.keys()].filter(isWord).sort();
    this.#words.fill(Int32Array.from(words, (word) => this.#ids.get(word) as number));
  }

  #beginningWith(start: string): number[] {
    this.settle();
    const from = this.#words.seek((id) => compareWords(this.textOf(id), start) >= 0);
    const found: number[] = [];
    this.#words.forward(from, this.#words.end, (id) => {
      if (!this.textOf(id).startsWith(start)) return true;
      return found.push(id) === MAX_BEGUN;
    });
    return found;
  }
}

/** Endings by which forms of an English word differ, in two families; the longest first. */
const families = [
  ['ations', 'ators', 'ation', 'ating', 'ator', 'ates', 'ated', 'ate'],
  ['ations', 'ation', 'ions', 'ing', 'ion', 'ors', 'ers', 'ies', 'or', 'er', 'ed', 'es', 'e', 's', 'y', ''],
] as const;
const MIN_STEM = 4;
/** Minimum length of a word to take for a plural, and of one to spell in another way: shorter ones become other words. */
const MIN_PLURAL = 4;
const MIN_SPELLED = 5;

/** British and American spellings, each way. A form that no agent has does no harm. */
const spellings: readonly (readonly [RegExp, string])[] = [
  [/is(?=(?:e|es|ed|er|ers|ing|ation|ations|ator|ators)$)/, 'iz'],
  [/iz(?=(?:e|es|ed|er|ers|ing|ation|ations|ator|ators)$)/, 'is'],
  [/ys(?=(?:e|es|ed|er|ers|ing)$)/, 'yz'],
  [/yz(?=(?:e|es|ed|er|ers|ing)$)/, 'ys'],
  [/our(?=(?:s|ed|ing|ite|ites|al|ful|less)?$)/, 'or'],
  [/or(?=(?:s|ed|ing|ite|ites|al|ful|less)?$)/, 'our'],
  [/(?<=[bt])re(?=s?$)/, 'er'],
  [/(?<=[bt])er(?=s?$)/, 're'],
  [/ogue(?=s?$)/, 'og'],
  [/og(?=s?$)/, 'ogue'],
  [/ll(?=(?:ed|er|ers|ing)$)/, 'l'],
  [/(?<=[aeou])l(?=(?:ed|er|ers|ing)$)/, 'll'],
  [/ence(?=s?$)/, 'ense'],
  [/ense(?=s?$)/, 'ence'],
  [/amme(?=s?$)/, 'am'],
];

/** The word and its forms: of `translate` also `translation` and `translator`, of `colour` also `color`. */
export function formsOf(word: string): string[] {
  if (!/^[a-z]+$/.test(word)) return [word];
  const forms = inflectionsOf(word);
  return [...new Set([...forms, ...forms.flatMap(spelledOtherwise)])];
}

function inflectionsOf(word: string): string[] {
  for (const family of families) {
    const ending = family.find((each) => word.endsWith(each) && word.length - each.length >= MIN_STEM);
    const stem = word.slice(0, word.length - (ending ?? '').length);
    if (ending !== undefined) return [word, ...family.map((each) => stem + each), ...singularsOf(word)];
  }
  return word.length < 3 ? [word] : [word, `${word}s`, `${word}es`, ...singularsOf(word)];
}

const singularsOf = (word: string): string[] =>
  word.length < MIN_PLURAL ? [] : [/s$/, /es$/].filter((end) => end.test(word)).map((end) => word.replace(end, ''));

const spelledOtherwise = (word: string): string[] =>
  word.length < MIN_SPELLED
    ? []
    : spellings.filter(([from]) => from.test(word)).map(([from, to]) => word.replace(from, to));
