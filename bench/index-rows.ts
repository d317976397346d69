import type { ListingRow } from '@agent-network/search-index/listing-fields';

const CAPABILITIES = 2000;
const VOCABULARY = 500_000;
const PER_AGENT = { capabilities: 12, nameWords: 3, tags: 2, descriptionWords: 15 };
const ITEM_BYTES = 700;

/** Numbers from 0 to 1 that are the same in each run (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The lower a number, the more often it comes: each tenth of the logarithmic scale as often as the next. */
const skewed = (random: () => number, most: number): number => Math.floor(most ** random()) - 1;

const LETTERS = 'etaoinshrdlucmfwypvbgkqjxz';

/** A word of its own for each number; four letters or more. */
export function wordOf(number: number): string {
  let word = '';
  for (let rest = number + 26 ** 3; rest > 0; rest = Math.floor(rest / 26))
    word += LETTERS[(rest * 7 + word.length * 11) % 26];
  return word + (number % 97).toString(36);
}

export const capabilityOf = (number: number): string => `capability-${number}`;

/** An agent of the index bench: 12 capabilities and 20 words, common ones more often than rare ones. */
export function indexRow(number: number, random: () => number): ListingRow {
  const words = (count: number) => Array.from({ length: count }, () => wordOf(skewed(random, VOCABULARY)));
  const capabilities = new Set<string>();
  while (capabilities.size < PER_AGENT.capabilities) capabilities.add(capabilityOf(skewed(random, CAPABILITIES)));
  const id = `agt_${number.toString(36).padStart(10, '0')}${Math.floor(random() * 36 ** 10)
    .toString(36)
    .padStart(16, '0')}`;
  const row = {
    id,
    name: words(PER_AGENT.nameWords).join(' '),
    description: words(PER_AGENT.descriptionWords).join(' '),
    capabilities: [...capabilities],
    tags: words(PER_AGENT.tags),
    exampleQuestions: [],
    home: random() < 0.8 ? null : `node_${Math.floor(random() * 20)}`,
    isOnline: random() < 0.7,
    isVerified: random() < 0.5,
    reputation: Math.floor(random() * 1001),
    perRequestMicro: BigInt(Math.floor(10 ** (random() * 7))),
    perHourMicro: BigInt(Math.floor(10 ** (random() * 8))),
    responseMs: random() < 0.05 ? null : Math.floor(random() * 1e6) / 1000,
    createdAt: new Date(1_700_000_000_000 + number * 1000),
  };
  const shown = JSON.stringify({ id, name: row.name, capabilities: row.capabilities, reputation: row.reputation });
  return { ...row, item: Buffer.from(shown.padEnd(ITEM_BYTES)) };
}
