import { formatUsdc } from '@agent-network/contracts/money';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createListingIndex } from './create-listing-index.ts';
import type { FacetQuestion, ListingIndex, ListingQuestion, ListingSearch, PageEnd } from './listing.ts';
import { amountOf, type ListingRow, limitsOf } from './listing-fields.ts';
import { bestFirst, orderOf, type SearchOrder } from './search-order.ts';
import { formsOf } from './words/lexicon.ts';
import { decidingWords, searchWords } from './words/task-words.ts';
import { termsOf, wantedOf, wordsOf } from './words/words.ts';

const capabilities = ['text', 'images', 'audio', 'rare'];
const words = ['Alpha', 'AlphaBeta', 'alpa', 'beta', 'alphabet', 'gamma', 'über', '翻訳', '𝔘nit', 'ab', '4o'];
const asked = [
  ...words,
  'lpha',
  'alphx',
  'aplha',
  'bet',
  'gam',
  'betaa',
  'x',
  'xyz',
  'gama',
  'nothing',
  '𝔙nit',
  'betas',
  'image',
  'Alpha-beta',
  'the',
];
const homes = [null, 'node_a', 'node_b'];
const prices = [0n, 1n, 50_000n, 999_999_999_999_999_998n, 999_999_999_999_999_999n];

const ids = fc.constantFrom(
  'agt_',
  'agt_0',
  'agt_00',
  'agt_0a',
  'agt_z',
  'agt_zz1',
  'agt_A',
  'agu_1',
  'ab_1',
  'agt_0123456789a',
);
const rowOf = (anId: fc.Arbitrary<string>): fc.Arbitrary<ListingRow> =>
  fc.record({
    id: anId,
    name: fc.subarray(words, { minLength: 1, maxLength: 2 }).map((each) => each.join(' ')),
    description: fc.subarray(words, { maxLength: 3 }).map((each) => each.join(', ')),
    capabilities: fc.subarray(capabilities),
    tags: fc.subarray(words, { maxLength: 2 }),
    exampleQuestions: fc.subarray(words, { maxLength: 1 }),
    home: fc.constantFrom(...homes),
    isOnline: fc.boolean(),
    isVerified: fc.boolean(),
    reputation: fc.constantFrom(0, 1, 500, 999, 1000),
    perRequestMicro: fc.constantFrom(...prices),
    perHourMicro: fc.constantFrom(...prices),
    responseMs: fc.constantFrom(null, 0, 0.5, 12, 1e6),
    createdAt: fc.integer({ min: 0, max: 5 }).map((day) => new Date(Date.UTC(2026, 0, day))),
    item: fc.integer({ min: 1, max: 200 }).map((length) => Buffer.from('x'.repeat(length))),
  });

const fields = Object.keys(bestFirst) as (keyof typeof bestFirst)[];
const someWords = fc
  .array(fc.constantFrom(...asked), { minLength: 1, maxLength: 3 })
  .map((each) => searchWords(each.join(' ')));
const atLeast = (min?: number) => (min === undefined ? {} : { reputation: { min } });
const upTo = (micro?: bigint) => (micro === undefined ? undefined : { max: formatUsdc(micro) });
const atMost = (price?: bigint, perHour?: bigint) => ({ rates: { perRequest: upTo(price), perHour: upTo(perHour) } });
const questions: fc.Arbitrary<ListingQuestion> = fc.record({
  wanted: fc
    .record({
      any: fc.subarray([...capabilities, 'nobody'], { maxLength: 2 }),
      all: fc.oneof(
        { weight: 3, arbitrary: fc.constant<string[]>([]) },
        fc.subarray([...capabilities, 'nobody'], { maxLength: 2 }),
      ),
      home: fc.constantFrom(undefined, undefined, 'this', 'node_a', 'node_z'),
    })
    .map(({ any, all, home }) => wantedOf({ capabilities: { any, all }, home })),
  words: fc.oneof(fc.constant(null), someWords, fc.constant([])),
  filter: fc.record({
    isOnline: fc.constantFrom([true, false], [true], [false]),
    isVerified: fc.constantFrom([true, false], [true], [false]),
    limits: fc
      .tuple(
        fc.constantFrom(undefined, undefined, 1, 500, 1001),
        fc.constantFrom(undefined, undefined, ...prices),
        fc.constantFrom(undefined, undefined, undefined, 0n, 50_000n),
      )
      .map(([minReputation, price, perHour]) => limitsOf({ ...atLeast(minReputation), ...atMost(price, perHour) })),
  }),
});
const searches: fc.Arbitrary<ListingSearch> = fc
  .record({
    question: questions,
    sort: fc.uniqueArray(
      fc.record({ field: fc.constantFrom(...fields), order: fc.constantFrom('asc' as const, 'desc' as const) }),
      { maxLength: 4, selector: ({ field }) => field },
    ),
    limit: fc.integer({ min: 1, max: 8 }),
    offset: fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 12 })),
  })
  .map(({ question, sort, limit, offset }) => ({
    ...question,
    ...{ order: orderOf(sort, question.words !== null), after: null, limit, offset },
  }));

/** Distance with swaps of neighbours, by the textbook. */
function isNear(one: string, other: string): boolean {
  const [a, b] = [[...one], [...other]];
  const table = Array.from({ length: a.length + 1 }, (_, i) => Array.from({ length: b.length + 1 }, (_, j) => i + j));
  const at = (i: number, j: number) => table[i]?.[j] as number;
  for (let i = 1; i <= a.length; i++)
    for (let j = 1; j <= b.length; j++) {
      const row = table[i] as number[];
      row[j] = Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1));
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        row[j] = Math.min(row[j] as number, at(i - 2, j - 2) + 1);
    }
  return at(a.length, b.length) <= 1;
}

const named = (id: string, name: string, state: { isOnline: boolean; isVerified: boolean }): ListingRow => ({
  ...{
    id,
    name,
    ...state,
    description: '',
    capabilities: [],
    tags: [],
    exampleQuestions: [],
    home: null,
    reputation: 0,
  },
  ...{ perRequestMicro: 1n, perHourMicro: 0n, responseMs: 1, createdAt: new Date(0), item: Buffer.from('{}') },
});
const pending = { isOnline: false, isVerified: false };

const bytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
/** The words of a row; rows are looked at by many questions, and never change. */
const wordsByRow = new WeakMap<ListingRow, { name: string[]; title: string[]; every: string[] }>();
function ownWords(row: ListingRow) {
  const known = wordsByRow.get(row);
  if (known) return known;
  const title = wordsOf(`${row.name} ${row.tags.join(' ')}`);
  const own = {
    name: wordsOf(row.name),
    title,
    every: [
      ...title,
      ...wordsOf([row.description, ...row.exampleQuestions].join(' ')),
      ...row.capabilities.map((each) => `=${each}`),
    ],
  };
  wordsByRow.set(row, own);
  return own;
}

/** What the index has to give, by looking at every row. */
function model(rows: readonly ListingRow[]) {
  const vocabulary = new Set(rows.flatMap((row) => ownWords(row).every));
  const isProvenRow = ({ isOnline, isVerified }: ListingRow) => isOnline || isVerified;
  const proven = new Set(rows.filter(isProvenRow).flatMap((row) => ownWords(row).every));
  const isProven = (word: string) => proven.has(word);
  const known = (word: string) =>
    formsOf(word)
      .flatMap((form) => [form, `=${form}`])
      .filter((form) => vocabulary.has(form));
  const resolve = (word: string, isLast: boolean) => {
    const own = known(word);
    if (own.some(isProven)) return own;
    const isWord = (each: string) => !each.startsWith('=');
    const open =
      isLast && word.length >= 3 ? [...vocabulary].filter((each) => isWord(each) && each.startsWith(word)) : [];
    const near = [...word].length >= 4 ? [...vocabulary].filter((each) => isWord(each) && isNear(word, each)) : [];
    const others = own.length > 0 ? own : open;
    if (others.length === 0) return near;
    return [...others, ...(open.some(isProven) ? open : near).filter(isProven)];
  };
  const meant = (all: readonly string[]) =>
    all.map((word, index) => {
      const parts = word.split('-');
      const joined = parts.length > 1 ? known(parts.join('')) : [];
      const isOpen = (nth: number) => index === all.length - 1 && nth === parts.length - 1;
      return {
        joined,
        parts: parts.map((part, nth) => (joined.length > 0 ? known(part) : resolve(part, isOpen(nth)))),
      };
    });
  const hasWord = (own: readonly string[], { joined, parts }: ReturnType<typeof meant>[number]) =>
    joined.some((each) => own.includes(each)) || parts.every((terms) => terms.some((each) => own.includes(each)));
  const ranked = new Map<readonly string[], ReadonlyMap<ListingRow, number>>();
  /** The rank by words of each row that matches. */
  const rankOf = (all: readonly string[]): ReadonlyMap<ListingRow, number> => {
    const before = ranked.get(all);
    if (before) return before;
    const asked = meant(all).map((each) => {
      const having = rows.filter((row) => hasWord(ownWords(row).every, each));
      return { word: '', each, agents: Math.max(1, having.length) };
    });
    const deciding = decidingWords(asked, rows.length);
    const whole = deciding.reduce((sum, { weight }) => sum + weight, 0);
    const shares = rows.map((row) => {
      const { every, title, name } = ownWords(row);
      const own = deciding.filter(({ word }) => hasWord(every, word.each));
      const sum = own.reduce((total, { weight }) => total + Math.round((weight / whole) * 1000), 0);
      const share = own.length === deciding.length ? 1000 : Math.min(999, sum);
      const within = (words: readonly string[]) => own.every(({ word }) => hasWord(words, word.each));
      const place = within(name) ? 2 : within([...title, ...every.filter((each) => each.startsWith('='))]) ? 1 : 0;
      return { row, share: own.length === 0 ? 0 : share, place, has: own.length > 0 };
    });
    const best = (some: typeof shares) => Math.max(0, ...some.map(({ share }) => share));
    const enough = Math.floor(Math.min(500, best(shares.filter(({ row }) => isProvenRow(row))) || best(shares)) / 50);
    const found = new Map(
      shares
        .filter(({ share, has }) => has && Math.floor(share / 50) >= enough)
        .map(({ row, share, place }) => [row, Math.floor(share / 50) * 3 + place]),
    );
    ranked.set(all, found);
    return found;
  };
  const matches = ({ wanted, words: text, filter }: ListingQuestion) =>
    rows.filter(
      (row) =>
        wanted.all.every((each) => row.capabilities.includes(each)) &&
        (wanted.any.length === 0 || wanted.any.some((each) => row.capabilities.includes(each))) &&
        wanted.texts.every((term) => term === `@home:${row.home ?? 'this'}`) &&
        (text === null || (text.length > 0 && rankOf(text).has(row))) &&
        filter.isOnline.includes(row.isOnline) &&
        filter.isVerified.includes(row.isVerified) &&
        filter.limits.every(({ field, key }) => {
          if (field === 'reputation') return row.reputation >= key;
          return (field === 'rates.perHour' ? row.perHourMicro : row.perRequestMicro) <= amountOf(key);
        }),
    );
  const sorted = (question: ListingQuestion, { keys, byId }: SearchOrder) => {
    const all = question.words ?? [];
    const relevance = (row: ListingRow) => rankOf(all).get(row) ?? 0;
    const values = {
      reputation: (row: ListingRow) => row.reputation,
      'rates.perRequest': (row: ListingRow) => row.perRequestMicro,
      'rates.perHour': (row: ListingRow) => row.perHourMicro,
      responseTime: (row: ListingRow) => row.responseMs ?? Number.POSITIVE_INFINITY,
      createdAt: (row: ListingRow) => row.createdAt.getTime(),
      relevance,
    };
    const compare = (a: ListingRow, b: ListingRow, field: (typeof fields)[number]) => {
      if (field === 'name') return bytes(a.name.toLowerCase(), b.name.toLowerCase());
      const [ofA, ofB] = [values[field](a), values[field](b)];
      return ofA < ofB ? -1 : ofA > ofB ? 1 : 0;
    };
    return matches(question).sort((a, b) => {
      for (const { field, order } of keys) {
        const difference = compare(a, b, field);
        if (difference !== 0) return order === 'asc' ? difference : -difference;
      }
      return byId === 'asc' ? bytes(a.id, b.id) : bytes(b.id, a.id);
    });
  };
  return { matches, sorted };
}

function expectSearch(index: ListingIndex, rows: readonly ListingRow[], search: ListingSearch): void {
  const wanted = model(rows).sorted(search, search.order);
  const page = index.search(search);
  expect(page.total).toBe(wanted.length);
  const shown = wanted.slice(search.offset, search.offset + search.limit);
  expect(page.hits.map(({ id }) => id)).toEqual(shown.map(({ id }) => id));
  expect(page.hits.map(({ item }) => item)).toEqual(shown.map(({ item }) => item));
  expect(page.next === null).toBe(search.offset + search.limit >= wanted.length);
  const walked: string[] = [];
  for (let after: PageEnd | null = null, pages = 0; pages === 0 || after; pages++) {
    expect(pages).toBeLessThanOrEqual(wanted.length);
    const next = index.search({ ...search, after, offset: 0 });
    walked.push(...next.hits.map(({ id }) => id));
    after = next.next;
  }
  expect(walked).toEqual(wanted.map(({ id }) => id));
}

function expectFacets(index: ListingIndex, rows: readonly ListingRow[], question: FacetQuestion): void {
  const { matches } = model(rows);
  const count = (change: { filter?: object; wanted?: object }) =>
    matches({
      ...question,
      filter: { ...question.filter, ...change.filter },
      wanted: { ...question.wanted, ...change.wanted },
    }).length;
  const facets = index.facets(question);
  expect(facets.total).toBe(count({}));
  expect(facets.status).toEqual({
    online: count({ filter: { isOnline: [true] } }),
    offline: count({ filter: { isOnline: [false] } }),
  });
  expect(facets.verified).toEqual({
    yes: count({ filter: { isVerified: [true] } }),
    no: count({ filter: { isVerified: [false] } }),
  });
  const counted = capabilities
    .map((value) => ({ value, count: count({ wanted: { any: [], all: [...question.beside, value] } }) }))
    .filter((each) => each.count > 0)
    .sort((a, b) => b.count - a.count || bytes(a.value, b.value));
  expect(facets.capabilities).toEqual(counted);
  const others = ['node_a', 'node_b'].map((home) => ({ home, count: count({ wanted: { texts: [`@home:${home}`] } }) }));
  const local = { home: null, count: count({ wanted: { texts: ['@home:this'] } }) };
  expect(facets.homes).toEqual(
    [local, ...others.sort((a, b) => b.count - a.count || bytes(a.home, b.home))].filter((each) => each.count > 0),
  );
}

type Change = { readonly put: ListingRow } | { readonly remove: string };
const changesOf = (anId: fc.Arbitrary<string>, maxLength: number): fc.Arbitrary<Change[]> =>
  fc.array(
    fc.oneof(
      { weight: 4, arbitrary: rowOf(anId).map((put) => ({ put })) },
      { weight: 1, arbitrary: anId.map((remove) => ({ remove })) },
    ),
    { maxLength },
  );

function apply(index: ListingIndex, rows: Map<string, ListingRow>, changes: readonly Change[]): void {
  for (const change of changes) {
    if ('put' in change) {
      index.put(change.put);
      rows.set(change.put.id, change.put);
    } else {
      index.remove(change.remove);
      rows.delete(change.remove);
    }
  }
}

const manyIds = fc.integer({ min: 0, max: 400 }).map((number) => `agt_${number.toString(36).padStart(6, '0')}`);

/** With these, each way to a page is taken wherever there is one. */
const extremeCosts = [
  undefined,
  { ofBits: 0, ofList: 0 },
  { ofBits: 1e9, ofList: 1e9 },
  { ofBits: 0.05, ofList: 0.05 },
];

describe('the listing index', () => {
  it('finds what filtering and sorting every row gives, after any changes', () => {
    fc.assert(
      fc.property(
        changesOf(ids, 25),
        changesOf(ids, 10),
        fc.array(searches, { minLength: 1, maxLength: 6 }),
        fc.record({ question: questions, beside: fc.subarray(capabilities, { maxLength: 2 }) }),
        fc.constantFrom(...extremeCosts),
        (first, second, questions_, { question, beside }, costs) => {
          const index = createListingIndex(7, costs);
          const rows = new Map<string, ListingRow>();
          for (const changes of [first, second]) {
            apply(index, rows, changes);
            expect(index.size).toBe(rows.size);
            for (const search of questions_) expectSearch(index, [...rows.values()], search);
            expectFacets(index, [...rows.values()], { ...question, beside });
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it('finds the same among hundreds, where sets are bits and equal values make large groups', () => {
    fc.assert(
      fc.property(
        fc.array(rowOf(manyIds), { minLength: 300, maxLength: 500 }),
        changesOf(manyIds, 200),
        fc.array(searches, { minLength: 1, maxLength: 4 }),
        fc.constantFrom(...extremeCosts),
        (loaded, changes, questions_, costs) => {
          const index = createListingIndex(7, costs);
          const rows = new Map<string, ListingRow>();
          apply(
            index,
            rows,
            loaded.map((put) => ({ put })),
          );
          index.settle();
          apply(index, rows, changes);
          for (const search of questions_)
            expectSearch(index, [...rows.values()], { ...search, limit: search.limit * 7 });
          expectFacets(index, [...rows.values()], { ...(questions_[0] as ListingSearch), beside: [] });
        },
      ),
      { numRuns: 10 },
    );
  });

  it('knows the facts of each agent, and how many each node has', () => {
    fc.assert(
      fc.property(changesOf(ids, 30), (changes) => {
        const index = createListingIndex(7);
        const rows = new Map<string, ListingRow>();
        apply(index, rows, changes);
        for (const row of rows.values()) {
          const terms = termsOf({ ...row, capabilities: [...row.capabilities], metadata: { tags: [...row.tags] } });
          const facts = index.facts(row.id);
          expect({ ...facts, terms: new Set(facts?.terms), capabilities: new Set(facts?.capabilities) }).toEqual({
            ...{ id: row.id, isOnline: row.isOnline, perRequestMicro: row.perRequestMicro, reputation: row.reputation },
            ...{ terms: new Set(terms), capabilities: new Set(row.capabilities) },
          });
          expect(index.item(row.id)).toEqual(row.item);
        }
        const of = (home: string | null) => [...rows.values()].filter((row) => row.home === home).length;
        expect(new Map(index.homes().map(({ home, count }) => [home, count]))).toEqual(
          new Map(homes.map((home) => [home, of(home)] as const).filter(([, count]) => count > 0)),
        );
        expect([index.has('agt_none'), index.item('agt_none'), index.facts('agt_none')]).toEqual([false, null, null]);
      }),
    );
  });

  it('names online agents that share capabilities, or have terms, and fit the wish', () => {
    const wish = fc.record({
      maxPerRequestMicro: fc.constantFrom(null, ...prices),
      except: fc.subarray(['agt_', 'agt_0', 'agt_z']),
    });
    const wanted = fc.record({ capabilities: fc.subarray(capabilities), perRequestMicro: fc.constantFrom(...prices) });
    const terms = fc.subarray(['=text', '=audio', 'alpha', 'beta', 'nothing']);
    fc.assert(
      fc.property(
        changesOf(ids, 30),
        wanted,
        terms,
        wish,
        (changes, { capabilities: some, perRequestMicro }, any, wish_) => {
          const index = createListingIndex(7);
          const rows = new Map<string, ListingRow>();
          apply(index, rows, changes);
          const { maxPerRequestMicro: most, except } = wish_;
          const fitting = [...rows.values()]
            .filter((row) => row.isOnline && !except.includes(row.id) && (most === null || row.perRequestMicro <= most))
            .sort((a, b) => b.reputation - a.reputation || bytes(a.id, b.id));
          const shared = (row: ListingRow) => row.capabilities.filter((each) => some.includes(each)).length;
          const sharing = fitting.filter((row) => shared(row) > 0).sort((a, b) => shared(b) - shared(a));
          expect(index.sharing({ capabilities: some, perRequestMicro }, wish_)).toEqual(sharing.map(({ id }) => id));
          const having = fitting.filter((row) => any.some((term) => ownWords(row).every.includes(term)));
          expect(index.withTerms(any, wish_)).toEqual(having.map(({ id }) => id));
        },
      ),
    );
  });

  describe('a word that only agents without a proof have', () => {
    const planted = 'transl translat trnaslate translatex weahter';
    const found = (index: ListingIndex, text: string, isOnline: readonly boolean[] = [true, false]) => {
      const filter = { isOnline, isVerified: [true, false], limits: [] };
      const question = { wanted: wantedOf({}), words: searchWords(text), filter, order: orderOf([], true) };
      return index.search({ ...question, after: null, limit: 10, offset: 0 }).hits.map(({ id }) => id);
    };

    it.each([
      ['online', { isOnline: true, isVerified: false }],
      ['verified', { isOnline: false, isVerified: true }],
    ])('hides neither beginnings nor mistakes of words that an %s agent has', (_name, state) => {
      const index = createListingIndex(7);
      index.put(named('agt_planted', planted, pending));
      index.put(named('agt_real', 'Translate documents', state));
      index.put(named('agt_weather', 'Weather', state));
      for (const text of ['transl', 'translat', 'trnaslate', 'trnaslate documents'])
        expect(found(index, text, [state.isOnline]), text).toContain('agt_real');
      expect(found(index, 'weahter').toSorted()).toEqual(['agt_planted', 'agt_weather']);
    });

    it('is no mistake nor beginning once an agent that has it is online', () => {
      const index = createListingIndex(7);
      index.put(named('agt_a', 'Translate', { isOnline: true, isVerified: true }));
      index.put(named('agt_b', 'transl translatx', { isOnline: true, isVerified: false }));
      expect(found(index, 'transl')).toEqual(['agt_b']);
      expect(found(index, 'translatx')).toEqual(['agt_b']);
      index.put(named('agt_b', 'transl translatx', pending));
      expect(found(index, 'transl')).toEqual(['agt_a', 'agt_b']);
      expect(found(index, 'translatx')).toEqual(['agt_a', 'agt_b']);
    });

    it('stands for no other word that only such agents have', () => {
      const index = createListingIndex(7);
      index.put(named('agt_a', 'probe1 probe10', pending));
      index.put(named('agt_b', 'probe2 probe10', pending));
      expect(found(index, 'probe1')).toEqual(['agt_a']);
      expect(found(index, 'probe10')).toEqual(['agt_a', 'agt_b']);
      expect(found(index, 'prob')).toEqual(['agt_a', 'agt_b']);
    });
  });
});
