import { createListingIndex } from '@agent-network/search-index/create-listing-index';
import type { ListingIndex, ListingSearch } from '@agent-network/search-index/listing';
import { amountKey, textTerm } from '@agent-network/search-index/listing-fields';
import { orderOf } from '@agent-network/search-index/search-order';
import { capabilityOf, indexRow, randomFrom, wordOf } from './index-rows.ts';

/**
 * The listing index by itself, in this process: time to load, memory, and microseconds of each question. Arguments: numbers of agents
 * (default 10000 1000000).
 */
type Query = Partial<ListingSearch>;

const everything: ListingSearch = {
  ...{
    wanted: { any: [], all: [], texts: [] },
    words: null,
    order: orderOf([], false),
    after: null,
    limit: 20,
    offset: 0,
  },
  filter: {
    isOnline: [true, false],
    isVerified: [true, false],
    limits: [],
  },
};
const atMost = (micro: bigint) => ({ field: 'rates.perRequest', key: amountKey(micro) }) as const;
const atLeast = (reputation: number) => ({ field: 'reputation', key: reputation }) as const;
const filter = (change: Partial<ListingSearch['filter']>) => ({ ...everything.filter, ...change });
const all = (...numbers: number[]) => ({ any: [], all: numbers.map(capabilityOf), texts: [] });
const text = (...words: string[]): Query => ({ words, order: orderOf([], true) });
const pickFrom = (random: () => number) => (most: number) => Math.floor(random() * most);

/** Generators of queries: a new query for each run; `hot`: always the same. */
function questions(random: () => number): Record<string, () => Query> {
  const pick = pickFrom(random);
  return {
    'list, first page': () => ({}),
    'list of one capability': () => ({ wanted: all(pick(50)) }),
    'three filters, hot': () => ({ wanted: all(3), filter: filter({ isOnline: [true], limits: [atMost(50_000n)] }) }),
    'three filters, each time others': () => ({
      wanted: all(pick(200)),
      filter: filter({ isOnline: [true], limits: [atMost(BigInt(pick(1e6))), atLeast(pick(900))] }),
    }),
    'range only, each time another': () => ({ filter: filter({ limits: [atMost(BigInt(pick(1e7)))] }) }),
    'common word, hot': () => text(wordOf(0)),
    'common words, each time others': () => text(wordOf(pick(10))),
    'rare word': () => text(wordOf(100_000 + pick(300_000))),
    'two words': () => text(wordOf(pick(40)), wordOf(pick(40))),
    'beginning of a word': () => text(wordOf(pick(400_000)).slice(0, 3)),
    'word with a mistake': () => text(mistaken(wordOf(pick(400_000)), pick)),
    'sorted by two keys': () => ({
      order: orderOf(
        [
          { field: 'rates.perHour', order: 'asc' },
          { field: 'name', order: 'desc' },
        ],
        false,
      ),
      filter: filter({ isVerified: [true] }),
    }),
    'by reputation, then price': () => ({
      order: orderOf(
        [
          { field: 'reputation', order: 'desc' },
          { field: 'rates.perRequest', order: 'asc' },
        ],
        false,
      ),
    }),
    'offset 10,000': () => ({ wanted: all(pick(50)), offset: 10_000 }),
    'offset 10,000 by match': () => ({ ...text(wordOf(pick(10))), offset: 10_000 }),
    'deep cursor': () => ({ wanted: all(pick(20)), after: { keys: [String(pick(1000))], id: 'agt_0' } }),
    '50 capabilities': () => ({
      wanted: {
        any: Array.from({ length: 25 }, () => capabilityOf(pick(300))),
        all: [],
        texts: [textTerm('home', 'this')],
      },
    }),
    'text of 100 words': () => text(...Array.from({ length: 100 }, () => wordOf(pick(40)))),
    'text of 40 mistakes': () => text(...Array.from({ length: 40 }, () => mistaken(wordOf(pick(400_000)), pick))),
  };
}

function mistaken(word: string, pick: (most: number) => number): string {
  const at = pick(word.length);
  return `${word.slice(0, at)}q${word.slice(at + 1)}`;
}

/** Time of the processor that this thread has used: other programs on the machine do not count. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

function load(agents: number): ListingIndex {
  const index = createListingIndex(1);
  const random = randomFrom(1);
  let inPuts = 0;
  for (let number = 0; number < agents; number++) {
    const row = indexRow(number, random);
    const start = cpuMs();
    index.put(row);
    inPuts += cpuMs() - start;
  }
  const start = cpuMs();
  index.settle();
  console.log(`${agents} agents: puts ${inPuts.toFixed(0)} ms, settle ${(cpuMs() - start).toFixed(0)} ms`);
  globalThis.gc?.();
  const { rss, heapUsed, arrayBuffers, external } = process.memoryUsage();
  const mb = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MB`;
  console.log(
    `memory: ${mb(rss)} resident, ${mb(heapUsed)} heap, ${mb(arrayBuffers)} arrays, ${mb(external)} external`,
  );
  return index;
}

function timed(act: () => void, rounds: number): number[] {
  const times: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = cpuMs();
    act();
    times.push((cpuMs() - start) * 1000);
  }
  return times.sort((a, b) => a - b);
}

function tell(name: string, times: readonly number[]): void {
  const at = (share: number) => (times[Math.floor((times.length - 1) * share)] as number).toFixed(0).padStart(8);
  const mean = times.reduce((sum, each) => sum + each, 0) / times.length;
  console.log(
    `${name.padEnd(36)} mean ${mean.toFixed(0).padStart(7)}  p50 ${at(0.5)}  p99 ${at(0.99)}  most ${at(1)} µs`,
  );
}

for (const agents of process.argv.length > 2 ? process.argv.slice(2).map(Number) : [10_000, 1_000_000]) {
  const index = load(agents);
  const random = randomFrom(2);
  for (const [name, make] of Object.entries(questions(random))) {
    const rounds = name.startsWith('text') ? 30 : 300;
    timed(() => index.search({ ...everything, ...make() }), 20);
    tell(
      name,
      timed(() => index.search({ ...everything, ...make() }), rounds),
    );
  }
  const pick = pickFrom(random);
  tell(
    'facets of all',
    timed(() => index.facets({ ...everything, beside: [] }), 50),
  );
  tell(
    'facets of a capability',
    timed(() => index.facets({ ...everything, wanted: all(pick(50)), beside: [] }), 50),
  );
  tell(
    'facets, three filters',
    timed(
      () =>
        index.facets({ ...everything, filter: filter({ isOnline: [true], limits: [atLeast(pick(900))] }), beside: [] }),
      50,
    ),
  );
  tell(
    'alternatives',
    timed(
      () =>
        index.sharing(
          { capabilities: Array.from({ length: 12 }, () => capabilityOf(pick(200))), perRequestMicro: 1000n },
          { maxPerRequestMicro: null, except: [] },
        ),
      50,
    ),
  );
  const rowsAnew = randomFrom(3);
  tell(
    'put, all of an agent changes',
    timed(() => index.put({ ...indexRow(pick(agents), rowsAnew) }), 2000),
  );
  const row = indexRow(7, rowsAnew);
  tell(
    'put, reputation and time change',
    timed(() => index.put({ ...row, reputation: pick(1000), responseMs: random() * 1000 }), 2000),
  );
}
