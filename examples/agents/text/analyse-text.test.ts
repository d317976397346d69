import { AgentError } from '@agent-network/sdk/agent';
import { describe, expect, it } from 'vitest';
import { startWatch } from '../../../packages/service/test/support/watch.ts';
import { analyseText } from './analyse-text.ts';
import { keywordsOf } from './keywords.ts';
import { readRequest } from './read-request.ts';
import { sentencesOf } from './segment-text.ts';
import { summaryOf } from './summary.ts';

const wanted = { keywords: 10, sentences: 2 };
const article = `Solar panels turn sunlight into electricity. Cheap solar panels have changed how villages get electricity.
Dr. Osei runs a workshop that repairs solar panels. "It took us e.g. two days," she says.

The weather was fine. Old batteries are the weak part of a solar system: batteries age faster than solar panels.`;

describe('sentences', () => {
  it('end at full stops, not after titles and abbreviations, nor at line breaks', () => {
    expect(sentencesOf(article)).toEqual([
      'Solar panels turn sunlight into electricity.',
      'Cheap solar panels have changed how villages get electricity.',
      'Dr. Osei runs a workshop that repairs solar panels.',
      '"It took us e.g. two days," she says.',
      'The weather was fine.',
      'Old batteries are the weak part of a solar system: batteries age faster than solar panels.',
    ]);
  });
});

describe('an analysis', () => {
  it('counts words, sentences, paragraphs and characters', () => {
    const { counts, readingTime } = analyseText("It's 3 o'clock.\n\nNaïve café 👋!", wanted);
    expect(counts).toEqual({ words: 5, sentences: 2, paragraphs: 2, characters: 30, charactersWithoutSpaces: 24 });
    expect(readingTime).toBe('2s');
  });

  it('of the same text is the same', () => expect(analyseText(article, wanted)).toEqual(analyseText(article, wanted)));

  it('takes a long text in reasonable time', () => {
    const tookMs = startWatch();
    const { counts } = analyseText(`${article} `.repeat(450), wanted);
    expect(counts.sentences).toBe(6 * 450);
    expect(tookMs()).toBeLessThan(5_000);
  });
});

describe('keywords', () => {
  it('put the subject first, and hold no stop words', () => {
    const phrases = keywordsOf(article, 5).map(({ phrase }) => phrase);
    expect(phrases[0]).toContain('solar');
    expect(phrases).toContain('solar panels');
    expect(phrases.join(' ')).not.toMatch(/\b(the|into|how|was|she)\b/);
  });

  it('count how often a phrase occurs', () => {
    expect(keywordsOf('The night train is late. She took a night train. Rain.', 1)).toEqual([
      { phrase: 'night train', count: 2, score: Math.round(4 * (1 + Math.log(2)) * 100) / 100 },
    ]);
  });

  it('do not join words across punctuation', () => {
    expect(keywordsOf('red, green', 5).map(({ phrase }) => phrase)).toEqual(['green', 'red']);
  });
});

describe('a summary', () => {
  it('is made of whole sentences in their order', () => {
    const summary = summaryOf(article, 3);
    const places = summary.map((sentence) => sentencesOf(article).indexOf(sentence));
    expect(places).toHaveLength(3);
    expect(places).not.toContain(-1);
    expect(places).toEqual([...places].sort());
  });

  it('leaves out what has nothing to do with the rest', () => {
    expect(summaryOf(article, 2).join(' ')).toContain('solar panels');
    expect(summaryOf(article, 2).join(' ')).not.toContain('weather');
  });

  it('does not say the same twice while there is something else to say', () => {
    const text = 'Bees dance to share food. Bees dance to share food. Bees guard hives at night.';
    expect(new Set(summaryOf(text, 2)).size).toBe(2);
  });

  it('is the whole text when more is wanted than there is', () => {
    expect(summaryOf('One bee. Two bees.', 9)).toEqual(['One bee.', 'Two bees.']);
  });
});

describe('a request', () => {
  it('is about input.text, else about the task', () => {
    expect(readRequest('the task', { text: 'the text', maxKeywords: 3 })).toEqual({
      text: 'the text',
      wanted: { keywords: 3, sentences: 3 },
    });
    expect(readRequest('the task', {}).text).toBe('the task');
  });

  it.each([
    ['text that is no text', { text: 7 }, 'input.text must be text'],
    ['a text without words', { text: ' …!? ' }, 'holds no words'],
    ['a text that is too long', { text: 'x '.repeat(100_001) }, 'longer than 200000'],
    ['a fraction of a keyword', { text: 'x', maxKeywords: 1.5 }, 'input.maxKeywords must be'],
    ['no sentence', { text: 'x', summarySentences: 0 }, 'input.summarySentences must be'],
  ])('with %s is refused with a reason', (_name, input, message) => {
    expect(() => readRequest('x', input)).toThrow(AgentError);
    expect(() => readRequest('x', input)).toThrow(message);
  });
});
