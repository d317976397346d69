import { queryWordsOf, wordsOf } from './words.ts';

/** English words that say nothing about a task. */
const commonWords: ReadonlySet<string> = new Set(
  `a about after all also am an and any are as at be been before but by can could did do does doing done each even ever for from get give
   got had has have he help her here him his how i if in into is it its just let like me more most must my need no not now of off on one
   only or other our out over own please shall she should so some such than thank thanks that the their them then there these they this
   those to too under up us use very want was we were what when where which while who why will with would yes you your`.split(
    /\s+/,
  ),
);

/** Number of words that decide a match. */
export const MAX_DECIDING = 32;

/** The words of a search: those that say something, or all, if none does. */
export function searchWords(text: string): string[] {
  const words = queryWordsOf(text);
  const telling = words.filter((word) => !commonWords.has(word));
  return telling.length > 0 ? telling : words;
}

/** The words of a task that can decide, each once, in its order. */
export const taskWords = (task: string): string[] => wordsOf(task).filter((word) => !commonWords.has(word));

/** A word of the task, and the number of agents that have it in some form. */
export interface CountedWord {
  readonly word: string;
  readonly agents: number;
}

export interface DecidingWord<Word extends CountedWord = CountedWord> {
  readonly word: Word;
  /** The rarer, the more; above 0. */
  readonly weight: number;
}

/** The most distinctive words: those that the fewest agents have, the earlier in the task first among equals. Others are ignored. */
export const decidingWords = <Word extends CountedWord>(words: readonly Word[], agents: number): DecidingWord<Word>[] =>
  words
    .filter((word) => word.agents > 0)
    .toSorted((a, b) => a.agents - b.agents)
    .slice(0, MAX_DECIDING)
    .map((word) => ({ word, weight: Math.log(1 + Math.max(agents, word.agents) / word.agents) }));

/** Up to this many words an agent may have without a loss: about three sentences. */
const FREE_WORDS = 40;

/**
 * Coverage of the deciding words by an agent, 0 to 1: the weight of those that it has in the weight of all, less for an agent of many
 * words, so that a list of all words covers no task well. `length`: see `TermsByAgent.lengthOf`.
 */
export function coverageOf(deciding: readonly DecidingWord[], has: (index: number) => boolean, length: number): number {
  let [had, all] = [0, 0];
  for (let index = 0; index < deciding.length; index++) {
    const { weight } = deciding[index] as DecidingWord;
    all += weight;
    if (has(index)) had += weight;
  }
  return all === 0 ? 0 : Math.min(1, had / all) * Math.sqrt(FREE_WORDS / Math.max(FREE_WORDS, length));
}
