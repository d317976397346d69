import { sentencesOf, wordRunsOf } from './segment-text.ts';
import { isStopWord } from './stop-words.ts';

export interface Keyword {
  readonly phrase: string;
  readonly score: number;
  readonly count: number;
}

const longestPhrase = 4;

/** The phrases between stop words and punctuation; longer ones than four words are rarely names of anything. */
function candidatePhrases(text: string): string[][] {
  return sentencesOf(text)
    .flatMap(wordRunsOf)
    .flatMap((run) => {
      const phrases: string[][] = [[]];
      for (const word of run) {
        if (isStopWord(word)) phrases.push([]);
        else phrases.at(-1)?.push(word);
      }
      return phrases;
    })
    .filter((phrase) => phrase.length > 0 && phrase.length <= longestPhrase)
    .filter((phrase) => phrase.some((word) => /\p{L}/u.test(word)));
}

/**
 * The phrases that tell best what a text is about, best first. Each word scores its degree over its frequency and a phrase
 * the sum of its words (RAKE: Rose, Engel, Cramer and Cowley, 2010), times one plus the logarithm of how often it occurs.
 */
export function keywordsOf(text: string, limit: number): Keyword[] {
  const phrases = candidatePhrases(text);
  const frequency = new Map<string, number>();
  const degree = new Map<string, number>();
  const counts = new Map<string, number>();
  for (const phrase of phrases) {
    const joined = phrase.join(' ');
    counts.set(joined, (counts.get(joined) ?? 0) + 1);
    for (const word of phrase) {
      frequency.set(word, (frequency.get(word) ?? 0) + 1);
      degree.set(word, (degree.get(word) ?? 0) + phrase.length);
    }
  }
  const wordScore = (word: string) => (degree.get(word) ?? 0) / (frequency.get(word) ?? 1);
  return [...counts]
    .map(([phrase, count]) => {
      const sum = phrase.split(' ').reduce((total, word) => total + wordScore(word), 0);
      return { phrase, count, score: Math.round(sum * (1 + Math.log(count)) * 100) / 100 };
    })
    .sort((a, b) => b.score - a.score || b.count - a.count || (a.phrase < b.phrase ? -1 : 1))
    .slice(0, limit);
}
