import { CAPABILITIES, VOCABULARY, wordOf } from './seed-search.ts';

/** Common things come up more often, as they do among the agents. */
const rank = (from: number, to: number) => Math.floor(from * (to / from) ** Math.random());
const capability = () => `capability-${rank(1, CAPABILITIES)}`;
const one = () => ({ capabilities: { any: [capability()] } });
const word = (from: number) => wordOf(rank(from, VOCABULARY));
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
  other('one capability up to a price', () => ({ query: { ...one(), rates: { perRequest: { max: '0.05' } } } })),
  other('one capability from a reputation', () => ({ query: { ...one(), reputation: { min: 900 } } })),
  other('one capability and one word', () => ({ query: { ...one(), text: word(20) } })),
  other('all of two capabilities', () => ({ query: { capabilities: { all: [capability(), capability()] } } })),
  other('any of two capabilities', () => ({ query: { capabilities: { any: [capability(), capability()] } } })),
  other('the beginning of a word', () => ({ query: { text: word(100).slice(0, 5) } })),
];
