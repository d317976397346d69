import { expect, test } from 'vitest';
import { createListingIndex } from './create-listing-index.ts';
import type { ListingSearch, PageEnd } from './listing.ts';
import type { ListingRow } from './listing-fields.ts';
import { orderOf } from './search-order.ts';
import { searchWords } from './words/task-words.ts';

const rowOf = (id: string, name: string, more: Partial<ListingRow> = {}): ListingRow => ({
  ...{ id, name, description: '', capabilities: [], tags: [], exampleQuestions: [], home: null },
  ...{ isOnline: true, isVerified: true, reputation: 500, perRequestMicro: 1n, perHourMicro: 1n },
  ...{ responseMs: 1, createdAt: new Date(0), item: Buffer.from('{}') },
  ...more,
});

const vector = (storedMs = 1) => ({ bytes: new Uint8Array([1, 2, 3, 4]), storedMs });

/** An index of agents that all have vectors, and one that has none yet. */
function newIndex() {
  const index = createListingIndex(1);
  for (const row of [
    rowOf('agt_flight', 'Flight Finder'),
    rowOf('agt_hotel', 'Hotel Booker'),
    rowOf('agt_weather', 'Weather Forecaster'),
    rowOf('agt_offline', 'Train Tickets', { isOnline: false }),
  ]) {
    index.put(row);
    index.setVector(row.id, vector());
  }
  index.put(rowOf('agt_new', 'Zorblax Lookup'));
  index.settle();
  return index;
}

function searchOf(text: string, cosines: Record<string, number>, more: Partial<ListingSearch> = {}): ListingSearch {
  const hits = Object.entries(cosines).map(([id, cosine]) => ({ id: `agt_${id}`, cosine }));
  return {
    wanted: { any: [], all: [], texts: [] },
    words: searchWords(text),
    filter: { isOnline: [true, false], isVerified: [true, false], limits: [] },
    order: orderOf([], true),
    after: null,
    limit: 10,
    offset: 0,
    meant: { hits, asOfMs: 1 },
    ...more,
  };
}

const found = (search: ListingSearch, index = newIndex()) => {
  const { hits, total } = index.search(search);
  expect(total).toBe(hits.length);
  return hits.map(({ id }) => id.slice('agt_'.length));
};

test.each<[string, Record<string, number>, string[]]>([
  ['plane to Lisbon', { flight: 0.6, hotel: 0.4, weather: 0.36 }, ['flight', 'hotel', 'weather']],
  ['plane to Lisbon', { flight: 0.6, hotel: 0.3, weather: 0.1 }, ['flight']],
  ['plane to Lisbon', { flight: 0.25, hotel: 0.2, weather: 0.19 }, ['flight', 'hotel']],
  ['plane to Lisbon', { flight: 0.19, hotel: 0.1 }, []],
  ['plane to Lisbon', {}, []],
  // All words weigh .3.
  ['hotel', { flight: 0.5, hotel: 0.3 }, ['hotel', 'flight']],
  ['hotel', { flight: 0.5, hotel: 0.1 }, ['flight', 'hotel']],
  ['hotel', { flight: 0.5 }, ['flight', 'hotel']],
  // One without a vector counts as just close enough.
  ['zorblax lookup', { flight: 0.5, hotel: 0.3 }, ['new', 'flight', 'hotel']],
  ['zorblax lookup', {}, ['new']],
  ['zorblax', { flight: 0.4, unknown: 0.9 }, ['new', 'flight']],
])('"%s" where %o', (text, cosines, wanted) => {
  expect(found(searchOf(text, cosines))).toEqual(wanted);
});

test('conditions hold for what is close, and among equals the reputation decides', () => {
  const index = newIndex();
  const online = { filter: { isOnline: [true], isVerified: [true, false], limits: [] } };
  const cosines = { offline: 0.6, flight: 0.501, hotel: 0.502 };
  expect(found(searchOf('journey', cosines, online), index)).toEqual(['flight', 'hotel']);
  index.put(rowOf('agt_hotel', 'Hotel Booker', { reputation: 501 }));
  expect(found(searchOf('journey', cosines, online), index)).toEqual(['hotel', 'flight']);
  expect(found(searchOf('journey', { ...cosines, flight: 0.52 }, online), index)).toEqual(['flight', 'hotel']);
});

test('pages are parts of one list, and vectors that are stored later change none of it', () => {
  const index = createListingIndex(1);
  const cosines: Record<string, number> = {};
  for (let nth = 0; nth < 60; nth++) {
    const id = `${nth}`.padStart(2, '0');
    index.put(rowOf(`agt_${id}`, nth % 3 === 0 ? 'Hotel' : 'Agent', { reputation: nth % 5 }));
    if (nth % 4 > 0) index.setVector(`agt_${id}`, vector());
    if (nth % 4 > 1) cosines[id] = 0.3 + (nth % 7) / 30;
  }
  const search = searchOf('hotel', cosines, { limit: 100 });
  const whole = found(search, index);
  expect(whole.length).toBeGreaterThan(30);
  const paged: string[] = [];
  for (let after: PageEnd | null = null, nth = 0; ; nth++) {
    const { hits, next, total } = index.search({ ...search, limit: 7, after });
    expect(total).toBe(whole.length);
    paged.push(...hits.map(({ id }) => id.slice('agt_'.length)));
    if (!next) break;
    after = next;
    index.setVector(`agt_${4 * nth}`.padEnd(6, '0'), vector(2));
  }
  expect(paged).toEqual(whole);
});

test('an agent that was removed is not found by its place, nor is the next one there', () => {
  const index = newIndex();
  const { words, wanted, filter } = searchOf('journey', {});
  const question = index.meaning({ words, wanted, filter });
  expect(question).toMatchObject({ dimensions: 4, among: null, newestMs: 1 });
  expect(question.idsAt([0, 1])).toEqual(['agt_flight', 'agt_hotel']);
  index.remove('agt_hotel');
  index.put(rowOf('agt_other', 'Other'));
  expect(question.idsAt([0, 1])).toEqual(['agt_flight', null]);
  expect(index.meaning({ words, wanted, filter }).idsAt([0, 1])).toEqual(['agt_flight', 'agt_other']);
  expect(found(searchOf('journey', { hotel: 0.5, flight: 0.4 }), index)).toEqual(['flight']);
});

test('the score falls from one agent to the next, from at most 1', () => {
  const { hits } = newIndex().search(searchOf('hotel', { flight: 1, hotel: 1, weather: 0.9 }));
  expect(hits.map(({ score }) => Math.round(score * 100))).toEqual([100, 77, 69]);
  const byWords = newIndex().search({ ...searchOf('hotel booker', {}), meant: null });
  expect(byWords.hits.map(({ score }) => score)).toEqual([1]);
});
