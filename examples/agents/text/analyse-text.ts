import { type Keyword, keywordsOf } from './keywords.ts';
import { paragraphsOf, sentencesOf, wordsOf } from './segment-text.ts';
import { summaryOf } from './summary.ts';

/** Silent reading of English prose, words per minute (Brysbaert, 2019). */
const wordsPerMinute = 238;

export interface TextAnalysis {
  readonly counts: {
    readonly words: number;
    readonly sentences: number;
    readonly paragraphs: number;
    readonly characters: number;
    readonly charactersWithoutSpaces: number;
  };
  /** In seconds, such as "42s". */
  readonly readingTime: string;
  readonly keywords: readonly Keyword[];
  readonly summary: string;
}

/** Counts, keywords and a summary made of the text's own sentences. Pure: the same text gives the same analysis. */
export function analyseText(text: string, wanted: { keywords: number; sentences: number }): TextAnalysis {
  const words = wordsOf(text).length;
  return {
    counts: {
      words,
      sentences: sentencesOf(text).length,
      paragraphs: paragraphsOf(text).length,
      characters: [...text].length,
      charactersWithoutSpaces: [...text.replace(/\s/g, '')].length,
    },
    readingTime: `${Math.ceil((words / wordsPerMinute) * 60)}s`,
    keywords: keywordsOf(text, wanted.keywords),
    summary: summaryOf(text, wanted.sentences).join(' '),
  };
}
