import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createListingIndex } from './create-listing-index.ts';
import type { TaskFacts, TaskQuestion } from './listing.ts';
import type { ListingRow } from './listing-fields.ts';
import { formsOf } from './words/lexicon.ts';
import { coverageOf, decidingWords } from './words/task-words.ts';
import { isPair, termsOf } from './words/words.ts';

const words = ['translate', 'translator', 'contract', 'contracts', 'german', 'tax', 'law', 'paint', '翻訳'];
const capabilities = ['translate', 'law', 'images'];
const prices = [0n, 1n, 50_000n, 999_999_999_999_999_999n];
const ids = fc.constantFrom(...Array.from({ length: 12 }, (_, index) => `agt_${index}`));
const row: fc.Arbitrary<ListingRow> = fc.record({
  id: ids,
  name: fc.subarray(words, { maxLength: 2 }).map((each) => each.join(' ')),
  description: fc.subarray(words).map((each) => each.join(', ')),
  capabilities: fc.subarray(capabilities),
  tags: fc.subarray(words, { maxLength: 1 }),
  exampleQuestions: fc.subarray(words, { maxLength: 1 }),
  home: fc.constantFrom(null, 'node_a'),
  isOnline: fc.boolean(),
  isVerified: fc.boolean(),
  reputation: fc.constantFrom(0, 467, 800, 1000),
  perRequestMicro: fc.constantFrom(...prices),
  perHourMicro: fc.constant(0n),
  responseMs: fc.constantFrom(null, 0, 100),
  createdAt: fc.constant(new Date(0)),
  item: fc.constant(Buffer.from('{}')),
});
const question: fc.Arbitrary<TaskQuestion> = fc.record({
  words: fc.uniqueArray(fc.constantFrom(...words, 'translation', 'nobody', 'lawyer')),
  capabilities: fc.oneof(fc.constant([]), fc.subarray([...capabilities, 'nobody'], { maxLength: 2 })),
  maxMicro: fc.constantFrom(null, ...prices),
  leastMicro: fc.constantFrom(0n, 0n, 2n),
  takesFree: fc.boolean(),
  among: fc.option(fc.uniqueArray(ids)),
  except: fc.uniqueArray(ids, { maxLength: 2 }),
  seen: fc.uniqueArray(ids, { maxLength: 4 }),
  also: fc.option(ids),
  limit: fc.integer({ min: 1, max: 20 }),
});
/** Any order will do here: whole numbers, so that both sides add up to the same. */
const score = ({ coverage, reputation, priceMicro }: TaskFacts, usualMicro: bigint) =>
  Math.round(coverage * 1000) + reputation + (priceMicro < usualMicro ? 7 : 0);

const known = new WeakMap<ListingRow, Set<string>>();
function own(each: ListingRow): Set<string> {
  const described = { ...each, capabilities: [...each.capabilities], metadata: { tags: [...each.tags] } };
  const terms = known.get(each) ?? new Set(termsOf(described));
  known.set(each, terms);
  return terms;
}

/** What the index has to give, by looking at every row. */
function model(rows: readonly ListingRow[], asked: TaskQuestion) {
  const counted = asked.words.map((word) => {
    const terms = formsOf(word).flatMap((form) => [form, `=${form}`]);
    return { word, terms, agents: terms.flatMap((term) => rows.filter((each) => own(each).has(term))).length };
  });
  const deciding = decidingWords(counted, rows.length);
  const hits = rows
    .filter((each) => each.isOnline && asked.capabilities.every((one) => each.capabilities.includes(one)))
    .map((each) => {
      const has = deciding.map(({ word }) => word.terms.some((term) => own(each).has(term)));
      const counted = [...own(each)].filter((term) => !/^[+#]/.test(term));
      const length = counted.length - counted.filter(isPair).length / 2;
      return {
        ...{ id: each.id, isVerified: each.isVerified, reputation: each.reputation, responseMs: each.responseMs },
        coverage: coverageOf(deciding, (index) => has[index] === true, length),
        matched: deciding.filter((_, index) => has[index]).map(({ word }) => word.word),
        priceMicro: each.perRequestMicro,
      };
    });
  const considered = hits.filter(
    ({ id, matched }) =>
      (asked.among === null || asked.among.includes(id)) &&
      !asked.except.includes(id) &&
      (matched.length > 0 || asked.capabilities.length > 0),
  );
  const asks = considered.map(({ priceMicro }) => priceMicro).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  const usualMicro = asks[(asks.length - 1) >> 1] ?? 0n;
  const best = considered
    .filter(({ id }) => !asked.seen.includes(id))
    .filter(({ priceMicro }) => asked.maxMicro === null || priceMicro <= asked.maxMicro)
    .filter(({ priceMicro }) => (priceMicro === 0n ? asked.takesFree : priceMicro >= asked.leastMicro))
    .sort(
      (a, b) =>
        Number(b.isVerified) - Number(a.isVerified) ||
        score(b, usualMicro) - score(a, usualMicro) ||
        (a.id < b.id ? -1 : 1),
    )
    .slice(0, asked.limit);
  const named = hits.filter(({ id }) => id === asked.also && best.every((each) => each.id !== id));
  return {
    hits: [...best, ...named],
    ...{ considered: considered.length, cheapestMicro: asks[0] ?? null, usualMicro },
    words: deciding.map(({ word }) => word.word),
  };
}

describe('agents for a task', () => {
  it('are those that looking at every agent finds, whatever was put and removed before', () => {
    fc.assert(
      fc.property(
        fc.array(fc.oneof({ weight: 4, arbitrary: row }, { weight: 1, arbitrary: ids }), { maxLength: 40 }),
        fc.array(question, { minLength: 1, maxLength: 5 }),
        (changes, questions) => {
          const index = createListingIndex(1);
          const rows = new Map<string, ListingRow>();
          for (const change of changes) {
            if (typeof change === 'string') {
              rows.delete(change);
              index.remove(change);
            } else {
              rows.set(change.id, change);
              index.put(change);
            }
          }
          for (const asked of questions) expect(index.forTask(asked, score)).toEqual(model([...rows.values()], asked));
        },
      ),
    );
  });

  it('are not covered far worse by an agent that also says in a script without spaces what it does', () => {
    const index = createListingIndex(1);
    const base = {
      capabilities: [],
      tags: [],
      exampleQuestions: [],
      home: null,
      isOnline: true,
      isVerified: true,
      perHourMicro: 0n,
    };
    const facts = { ...base, perRequestMicro: 1n, responseMs: 1, createdAt: new Date(0), item: Buffer.from('{}') };
    const english = ['contract', ...Array.from({ length: 34 }, (_, nth) => `word${nth}`)].join(' ');
    const japanese = String.fromCodePoint(...Array.from({ length: 120 }, (_, nth) => 0x4e00 + nth));
    index.put({ ...facts, id: 'agt_one', name: 'One', description: english, reputation: 0 });
    index.put({ ...facts, id: 'agt_two', name: 'Two', description: `${english} ${japanese}`, reputation: 0 });
    const asked = { words: ['contract'], capabilities: [], maxMicro: null, leastMicro: 0n, takesFree: true };
    const { hits } = index.forTask(
      { ...asked, among: null, except: [], seen: [], also: null, limit: 2 },
      (hit) => hit.coverage,
    );
    const [one, two] = hits.map(({ coverage }) => coverage);
    expect(one).toBe(1);
    expect(two).toBeGreaterThanOrEqual(0.6);
    expect(two).toBeLessThan(1);
  });

  it('of words that most agents have are the ones with all of them, and the best reputations', () => {
    const index = createListingIndex(1);
    const base = {
      capabilities: [],
      tags: [],
      exampleQuestions: [],
      home: null,
      isOnline: true,
      isVerified: true,
      perHourMicro: 0n,
    };
    const facts = { ...base, perRequestMicro: 1n, responseMs: 1, createdAt: new Date(0), item: Buffer.from('{}') };
    for (let n = 0; n < 12_000; n++)
      index.put({
        ...facts,
        ...{
          id: `agt_${n}`,
          name: n % 2 ? 'alpha' : 'beta',
          description: n === 77 ? 'alpha beta' : '',
          reputation: n % 997,
        },
      });
    const asked = {
      words: ['alpha', 'beta'],
      capabilities: [],
      maxMicro: null,
      leastMicro: 0n,
      takesFree: true,
      among: null,
      except: [],
      seen: [],
      also: null,
    };
    const { hits, considered } = index.forTask(
      { ...asked, limit: 3 },
      ({ coverage, reputation }) => coverage * 2000 + reputation,
    );
    expect(considered).toBe(12_000);
    expect(hits.map(({ id }) => id)[0]).toBe('agt_77');
    expect(hits[1]?.reputation).toBe(996);
  });

  it('of a word that very many agents have are as many as are asked for', () => {
    const index = createListingIndex(1);
    const base = {
      capabilities: [],
      tags: [],
      exampleQuestions: [],
      home: null,
      isOnline: true,
      isVerified: true,
      perHourMicro: 0n,
    };
    const facts = { ...base, perRequestMicro: 1n, responseMs: 1, createdAt: new Date(0), item: Buffer.from('{}') };
    for (let n = 0; n < 2100; n++)
      index.put({ ...facts, id: `agt_${n}`, name: 'alpha', description: '', reputation: n % 1000 });
    const asked = { words: ['alpha'], capabilities: [], maxMicro: null, leastMicro: 0n, takesFree: true };
    const { hits } = index.forTask(
      { ...asked, among: null, except: [], seen: [], also: null, limit: 100 },
      ({ reputation }) => reputation,
    );
    expect(hits.map(({ reputation }) => reputation)).toEqual(Array.from({ length: 100 }, (_, nth) => 999 - (nth >> 1)));
  });
});
