import { sentencesOf, wordsOf } from './segment-text.ts';
import { isStopWord } from './stop-words.ts';

interface Sentence {
  readonly text: string;
  readonly place: number;
  readonly words: readonly string[];
}

/** Headings and exclamations make poor summaries, however telling their words. */
const shortestWords = 4;

function shares(words: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1);
  return new Map([...counts].map(([word, count]) => [word, count / words.length]));
}

function best(sentences: readonly Sentence[], share: ReadonlyMap<string, number>): Sentence | undefined {
  const score = ({ words }: Sentence) =>
    words.reduce((sum, word) => sum + (share.get(word) ?? 0), 0) / Math.max(words.length, shortestWords);
  return sentences.reduce<Sentence | undefined>(
    (leader, sentence) => (leader === undefined || score(sentence) > score(leader) ? sentence : leader),
    undefined,
  );
}

/**
 * The `count` sentences that carry most of a text, in their order. Sentences are picked by the average share that their
 * words have in the text; shares of picked words are squared, so that the next pick tells something else
 * (SumBasic: Nenkova and Vanderwende, 2005).
 */
export function summaryOf(text: string, count: number): string[] {
  let left: Sentence[] = sentencesOf(text)
    .map((sentence, place) => ({ text: sentence, place, words: wordsOf(sentence).filter((word) => !isStopWord(word)) }))
    .filter(({ words }) => words.length > 0);
  const share = shares(left.flatMap(({ words }) => words));
  const picked: Sentence[] = [];
  while (picked.length < count) {
    const pick = best(left, share);
    if (!pick) break;
    picked.push(pick);
    left = left.filter((sentence) => sentence !== pick);
    for (const word of new Set(pick.words)) share.set(word, (share.get(word) ?? 0) ** 2);
  }
  return picked.sort((a, b) => a.place - b.place).map((sentence) => sentence.text);
}
