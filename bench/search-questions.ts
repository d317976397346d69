import { CAPABILITIES, VOCABULARY, wordOf } from './seed-search.ts';

/** Common things come up more often, as they do among the agents. */
const rank = (from: number, to: number) => Math.floor(from * (to / from) ** Math.random());
const capability = () => `capability-${rank(1, CAPABILITIES)}`;
const one = () => ({ capabilities: { any: [capability()] } });
const word = (from: number) => wordOf(rank(from, VOCABULARY));
const capabilities = (count: number) => Array.from({ length: count }, capability);
const hottest = ['capability-1', 'capability-2', 'capability-3'];
const oneOf = <T>(list: readonly T[]): T => list[Math.floor(Math.random() * list.length)] as T;
const max = () => oneOf(['0.001', '0.01', '0.05', '0.123456', '0.2', '0.5']);
const least = () => oneOf([100, 500, 777, 900, 990]);
const filters = () => ({
  rates: { perRequest: { max: max() } },
  reputation: { min: least() },
  online: true,
  verified: true,
});
const by = (field: string, order: string) => [{ field, order }];

export interface SearchKind {
  readonly name: string;
  /** Whether it is one of those that must answer within 5 ms among a million agents. */
  readonly isCommon: boolean;
  body(): object;
}

const common = (name: string, body: () => object): SearchKind => ({ name, isCommon: true, body });
const other = (name: string, body: () => object): SearchKind => ({ name, isCommon: false, body });

export const searchKinds: readonly SearchKind[] = [
  common('every agent, by reputation', () => ({})),
  common('every agent, newest first', () => ({ sort: by('createdAt', 'desc') })),
  common('one capability, by reputation', () => ({ query: one() })),
  common('the hottest capability, by reputation', () => ({ query: { capabilities: { any: ['capability-1'] } } })),
  common('one capability, by price', () => ({ query: one(), sort: by('rates.perRequest', 'asc') })),
  common('one capability, dearest first', () => ({ query: one(), sort: by('rates.perRequest', 'desc') })),
  common('one capability online, by price', () => ({
    query: { ...one(), online: true },
    sort: by('rates.perRequest', 'asc'),
  })),
  common('one capability verified, by reputation then price', () => ({
    query: { ...one(), verified: true },
    sort: [...by('reputation', 'desc'), ...by('rates.perRequest', 'asc')],
  })),
  common('one word', () => ({ query: { text: word(1) } })),
  common('one word, online', () => ({ query: { text: word(1), online: true } })),
  common('the hottest word', () => ({ query: { text: wordOf(1) } })),
  common('two words', () => ({ query: { text: `${word(20)} ${word(20)}` } })),
  common('two words online', () => ({ query: { text: `${word(1)} ${word(20)}`, online: true } })),
  common('one capability up to a price', () => ({ query: { ...one(), rates: { perRequest: { max: max() } } } })),
  common('one capability from a reputation', () => ({ query: { ...one(), reputation: { min: least() } } })),
  common('one capability, all filters, by price', () => ({
    query: { ...one(), ...filters() },
    sort: by('rates.perRequest', 'asc'),
  })),
  common('one capability and one word', () => ({ query: { ...one(), text: word(1) } })),
  common('one capability and two words, online', () => ({
    query: { ...one(), text: `${word(1)} ${word(20)}`, online: true },
  })),
  common('any of two capabilities', () => ({ query: { capabilities: { any: capabilities(2) } } })),
  common('any of three capabilities, by price', () => ({
    query: { capabilities: { any: capabilities(3) } },
    sort: by('rates.perRequest', 'asc'),
  })),
  common('any of the three hottest capabilities', () => ({ query: { capabilities: { any: hottest } } })),
  common('all of two capabilities', () => ({ query: { capabilities: { all: capabilities(2) } } })),
  common('all of three capabilities', () => ({ query: { capabilities: { all: capabilities(3) } } })),
  common('all of the three hottest capabilities', () => ({ query: { capabilities: { all: hottest } } })),
  common('any of two capabilities, all filters', () => ({
    query: { capabilities: { any: capabilities(2) }, ...filters() },
  })),
  other('the two hottest words', () => ({ query: { text: `${wordOf(1)} ${wordOf(2)}` } })),
  other('one capability, newest first', () => ({ query: one(), sort: by('createdAt', 'desc') })),
  other('one word and all filters', () => ({ query: { text: word(1), ...filters() } })),
  other('every agent up to a price by the hour', () => ({ query: { rates: { perHour: { max: '0.777' } } } })),
  other('the beginning of a word', () => ({ query: { text: word(100).slice(0, 5) } })),
  other('one capability, quickest first', () => ({ query: one(), sort: by('responseTime', 'asc') })),
];
