// Ranks sections of the documentation for a question. Runs in the browser, and in tests.
import { phrases, stopWords, synonyms, weakWords } from './search-words.js';

/** An identifier is found by itself and by its parts: createPayer, X-Sync, /invoke/{agentId}. */
const tokenize = (text) => text.split(/[^\p{L}\p{N}_]+|(?<=\p{Ll})(?=\p{Lu})/u).filter((word) => word !== '');

/** A word without its usual English endings: refunds, refunded and refunding are one word. */
const stem = (word) => {
  const lower = word.toLowerCase();
  if (lower.length < 4) return lower;
  const singular = lower.replace(/ies$/, 'y').replace(/(?<=[^s])s$/, '');
  const stemmed = singular
    .replace(/(?<=\w{3})(?:ing|ed|er|ly)$/, '')
    .replace(/(?<=\w{3})(?:e|(i))$/, (_end, i) => (i ? 'y' : ''));
  return stemmed.replace(/([bdgmnprt])\1$/, '$1');
};

/** The same words mean more in a guide than in a table of fields, and most where newcomers are meant. */
const weightOf = (id) => {
  if (id.startsWith('/docs/api/')) return 1;
  if (id.startsWith('/docs#')) return 2.4;
  return /^\/docs\/(?:recipes|first-agent|quickstart)#/.test(id) ? 3 : 2;
};

const weak = new Set(weakWords.map(stem));

/** Each word that counts in a question, with the words that stand for it, all stemmed. */
function groupsOf(question) {
  let text = ` ${question.toLowerCase().replaceAll(/[?!.,]+(?=\s|$)/g, '')} `;
  for (const [phrase, words] of Object.entries(phrases)) text = text.replaceAll(` ${phrase} `, ` ${words} `);
  const isIdentifier = /^\S*[a-z][A-Z]\S*$/.test(question);
  const given = tokenize(isIdentifier ? question : text);
  const meant = given.filter((word) => !stopWords.has(word.toLowerCase()));
  const words = [...new Set((meant.length > 0 ? meant : given).map(stem))];
  const areAllWeak = words.every((word) => weak.has(word));
  return words.map((word) => {
    const alike = synonyms.map((each) => each.map(stem)).filter((each) => each.includes(word));
    return {
      word,
      weight: weak.has(word) && !areAllWeak ? 0.1 : 1,
      alike: [...new Set(alike.flat())].filter((other) => other !== word),
    };
  });
}

/** Returns a function that ranks the entries for a question, the best first. */
export function createSearch(MiniSearch, entries) {
  const engine = new MiniSearch({
    fields: ['title', 'page', 'text'],
    storeFields: ['title', 'page', 'text'],
    tokenize,
    processTerm: stem,
    searchOptions: { boost: { title: 6, page: 2 }, boostDocument: weightOf, processTerm: (term) => term },
  });
  engine.addAll(entries);
  return (question) => {
    const groups = groupsOf(question);
    const queries = groups.flatMap(({ word, weight, alike }) => [
      { queries: [word], boostTerm: () => weight, prefix: word.length > 2, fuzzy: word.length > 4 ? 0.2 : 0 },
      ...(alike.length > 0 ? [{ queries: alike, boostTerm: () => 0.5 }] : []),
    ]);
    const hits = engine.search({ combineWith: 'OR', queries });
    // Who has all words of the question comes before who has one of them often.
    const sum = (some) => some.reduce((total, { weight }) => total + weight, 0);
    const shareOf = ({ queryTerms }) =>
      sum(groups.filter(({ word, alike }) => [word, ...alike].some((each) => queryTerms.includes(each)))) / sum(groups);
    const isNamed = ({ id }) => /[A-Z_]/.test(question) && id.endsWith(`#${question}`);
    return hits
      .map((hit) => ({ ...hit, score: isNamed(hit) ? Infinity : hit.score * shareOf(hit) ** 2 }))
      .sort((one, other) => other.score - one.score);
  };
}
