import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evidenceOf, type PayerOutcomes, weightOf } from './evidence.ts';
import { type Party, partiesOf, type Tie } from './payer-ties.ts';
import { type Liveness, outcomesOf, scoreOf } from './reputation.ts';

const healthy: Liveness = { probes: 10n, probesPassed: 10n, responseMs: 0 };
const anyLiveness = fc
  .record({
    passed: fc.bigInt(0n, 10n ** 6n),
    missed: fc.bigInt(0n, 10n ** 6n),
    responseMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
  })
  .map(({ passed, missed, responseMs }) => ({ probes: passed + missed, probesPassed: passed, responseMs }));

/** Outcomes of a payer's calls of one day. */
interface OutcomeDay {
  readonly accountId: string;
  readonly ageDays: number;
  readonly goodMicro: bigint;
  readonly badMicro: bigint;
  readonly goodCalls: bigint;
  readonly badCalls: bigint;
}
const weighted = ({ ageDays, goodMicro, badMicro, ...counts }: OutcomeDay): PayerOutcomes => ({
  ...counts,
  ...{ good: goodMicro * weightOf(ageDays), bad: badMicro * weightOf(ageDays), records: 1n },
});

const anyAmount = fc.bigInt(0n, 10n ** 13n);
const anyDay = fc.record({
  accountId: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
  ageDays: fc.integer({ min: 0, max: 300 }),
  goodMicro: anyAmount,
  badMicro: anyAmount,
  goodCalls: fc.bigInt(1n, 100n),
  badCalls: fc.bigInt(1n, 100n),
});
const anyCredibility = fc.array(fc.double({ min: 0.02, max: 1, noNaN: true }), { minLength: 8, maxLength: 8 });
const anyMarket = fc.record({
  days: fc.array(anyDay, { maxLength: 30 }),
  ties: fc.array(fc.constantFrom<Tie>('none', 'none', 'same', 'money'), { minLength: 8, maxLength: 8 }),
  credibility: anyCredibility,
  liveness: anyLiveness,
});
type Market = typeof anyMarket extends fc.Arbitrary<infer Value> ? Value : never;

const index = (accountId: string) => 'abcdefgh'.indexOf(accountId);
const partiesIn = ({ ties }: Market): Party[] =>
  [...'abcdefgh'].map((id) => ({ accountIds: [id], tie: ties[index(id)] as Tie }));

function scoreIn(market: Market, days: readonly OutcomeDay[] = market.days): number {
  const parties = partiesIn(market);
  const { payers } = evidenceOf(days.map(weighted), parties, (id) => market.credibility[index(id)] as number);
  return scoreOf(outcomesOf(payers), market.liveness).score;
}

const oneDay = (day: Partial<OutcomeDay>): OutcomeDay => ({
  ...{ accountId: 'a', ageDays: 0, goodMicro: 0n, badMicro: 0n, goodCalls: 0n, badCalls: 0n },
  ...day,
});

describe('a reputation', () => {
  it('is a whole number from 0 to 1000, the sum of its parts, whatever the evidence', () => {
    fc.assert(
      fc.property(anyMarket, (market) => {
        const score = scoreIn(market);
        expect(Number.isInteger(score)).toBe(true);
        expect(score >= 0 && score <= 1000).toBe(true);
        const { outcomes, uptime, latency, score: sum } = scoreOf({ quality: 0.5 }, market.liveness);
        expect(outcomes.contribution + uptime.contribution + latency.contribution).toBe(sum);
      }),
      { numRuns: 500 },
    );
  });

  it('never falls for a success and never rises for a failure, whoever pays', () => {
    fc.assert(
      fc.property(anyMarket, anyDay, (market, { accountId, ageDays, goodMicro: amount }) => {
        const good = oneDay({ accountId, ageDays, goodMicro: amount, goodCalls: 1n });
        const bad = oneDay({ accountId, ageDays, badMicro: amount, badCalls: 1n });
        const before = scoreIn(market);
        expect(scoreIn(market, [...market.days, good])).toBeGreaterThanOrEqual(before);
        expect(scoreIn(market, [...market.days, bad])).toBeLessThanOrEqual(before);
      }),
      { numRuns: 500 },
    );
  });

  it('does not move by what one of the owner says, nor up by those that got its money', () => {
    fc.assert(
      fc.property(anyMarket, fc.array(anyDay, { maxLength: 20 }), (market, more) => {
        const before = scoreIn(market);
        const isOf = (tie: Tie) => (day: OutcomeDay) => market.ties[index(day.accountId)] === tie;
        expect(scoreIn(market, [...market.days, ...more.filter(isOf('same'))])).toBe(before);
        const praise = more.filter(isOf('money')).map((day) => ({ ...day, badMicro: 0n, badCalls: 0n }));
        expect(scoreIn(market, [...market.days, ...praise])).toBe(before);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same in whatever order outcomes come', () => {
    fc.assert(
      fc.property(anyMarket, fc.array(fc.nat(), { minLength: 30, maxLength: 30 }), (market, keys) => {
        const shuffled = market.days.map((day, at) => ({ day, key: keys[at] as number }));
        const days = shuffled.sort((a, b) => a.key - b.key).map(({ day }) => day);
        const credibilityOf = (id: string) => market.credibility[index(id)] as number;
        const { payers } = evidenceOf(days.map(weighted), partiesIn(market), credibilityOf);
        expect(outcomesOf(payers.toReversed())).toEqual(outcomesOf(payers));
        expect(scoreIn(market, days)).toBe(scoreIn(market));
      }),
    );
  });

  it('weighs outcomes of a day half as much after 30 days, and as much in one sum as in parts', () => {
    const days = Array.from({ length: 300 }, (_, ageDays) =>
      oneDay({ ageDays, goodMicro: 7n, badMicro: 10n ** 13n, goodCalls: 1n, badCalls: 1n }),
    );
    const sum = evidenceOf(days.map(weighted), [{ accountIds: ['a'], tie: 'none' }], () => 1).payers[0];
    const expected = days.reduce((total, { ageDays }) => total + 0.5 ** (ageDays / 30), 0) / 50_000;
    expect(sum?.good).toBeCloseTo(7 * expected, 12);
    expect((sum?.bad ?? 0) / (1e13 * expected)).toBeCloseTo(1, 12);
    const parts = days.map((day, nth) => ({ ...weighted(day), accountId: nth % 2 === 0 ? 'a' : 'b' }));
    const party = [{ accountIds: ['a', 'b'], tie: 'none' as const }];
    expect(evidenceOf(parts, party, () => 1).payers).toEqual([sum]);
  });

  it('moves by no more than a quarter of what the known say, or two calls, for any number of payers hardly known', () => {
    const known = fc.array(fc.record({ good: fc.nat(100), bad: fc.nat(100), credibility: fc.constant(1) }));
    const crowd = fc.record({ good: fc.nat(100), bad: fc.nat(100), credibility: fc.double({ min: 0.02, max: 0.24 }) });
    fc.assert(
      fc.property(known, fc.array(crowd, { maxLength: 200 }), (payers, sybils) => {
        const [before, after] = [outcomesOf(payers), outcomesOf([...payers, ...sybils])];
        const most = Math.max(2, 0.25 * (before.good + before.bad)) + 1e-9;
        expect(after.good + after.bad - before.good - before.bad).toBeLessThanOrEqual(most);
      }),
    );
  });

  it('gains by uptime and speed, as lesser parts', () => {
    const { score, outcomes } = scoreOf({ quality: 0.5 }, healthy);
    expect(score - outcomes.contribution).toBe(200);
    expect(scoreOf({ quality: 0.5 }, { ...healthy, responseMs: 60_000 }).score).toBe(score - 80);
    expect(scoreOf({ quality: 0.5 }, { ...healthy, probesPassed: 5n }).score).toBe(score - 60);
  });
});

describe('the caps are needed: without them', () => {
  const quality = (good: number) => {
    const mean = (4 + good) / (8 + good);
    return mean - Math.sqrt((mean * (1 - mean)) / (9 + good));
  };
  const scoreWith = (good: number) => scoreOf({ quality: quality(good) }, healthy).score;
  const ours = (payers: Parameters<typeof outcomesOf>[0]) => scoreOf(outcomesOf(payers), healthy).score;

  it('one payer with 10,000 calls, counted by their square root, would make an agent excellent', () => {
    expect(scoreWith(Math.sqrt(10_000))).toBeGreaterThan(900);
    expect(ours([{ good: 10_000, bad: 0, credibility: 1 }])).toBeLessThanOrEqual(600);
  });

  it('1,000 fresh wallets, each capped but not pooled, would do so as well', () => {
    const sybils = Array.from({ length: 1000 }, () => ({ good: 3, bad: 0, credibility: 0.02 }));
    expect(scoreWith(1000 * 3 * 0.02)).toBeGreaterThan(900);
    expect(ours(sybils)).toBeLessThanOrEqual(565);
  });
});

describe('parties', () => {
  const nothing = { contacts: [], gifts: [], trades: [] };
  const tieOf = (accountId: string, books: Partial<Parameters<typeof partiesOf>[2]>, stated: string | null = null) =>
    partiesOf(['owner', '0xowner'], ['owner', 'a', 'b'], { ...nothing, ...books }, stated).find(({ accountIds }) =>
      accountIds.includes(accountId),
    );
  const contact = (accountId: string, wallet: string) => ({ accountId, wallet });

  it('are joined by wallets that both acted with, over any number of steps', () => {
    expect(tieOf('owner', {})?.tie).toBe('same');
    expect(tieOf('a', {})).toEqual({ accountIds: ['a'], tie: 'none' });
    expect(tieOf('a', { contacts: [contact('a', '0xowner')] })?.tie).toBe('same');
    const chain = [contact('a', '0x1'), contact('b', '0x1'), contact('b', '0x2'), contact('owner', '0x2')];
    expect(tieOf('a', { contacts: chain })?.tie).toBe('same');
    expect(tieOf('a', { contacts: chain.slice(0, 2) })).toEqual({ accountIds: ['a', 'b'], tie: 'none' });
  });

  it('are tied by money that went either way, and by what the owner bought of them', () => {
    const contacts = [contact('a', '0xa'), contact('owner', '0xowner')];
    expect(tieOf('a', { contacts, gifts: [{ from: 'owner', to: '0xa' }] })?.tie).toBe('money');
    expect(tieOf('a', { contacts, gifts: [{ from: 'a', to: '0xowner' }] })?.tie).toBe('money');
    expect(tieOf('a', { trades: [{ from: 'owner', to: 'a' }] })?.tie).toBe('money');
    expect(tieOf('a', { trades: [{ from: 'a', to: 'owner' }] })?.tie).toBe('none');
  });

  it('are tied by money at most to who only states a wallet of theirs, as are those that they pay', () => {
    const contacts = [contact('a', '0xa'), contact('b', '0xb'), contact('owner', '0xowner')];
    expect(tieOf('a', { contacts }, '0xa')).toEqual({ accountIds: ['a'], tie: 'money' });
    expect(tieOf('b', { contacts }, '0xa')?.tie).toBe('none');
    expect(tieOf('b', { contacts, gifts: [{ from: 'a', to: '0xb' }] }, '0xa')?.tie).toBe('money');
    expect(tieOf('b', { trades: [{ from: 'a', to: 'b' }], contacts }, '0xa')?.tie).toBe('money');
    expect(tieOf('owner', { contacts }, '0xowner')?.tie).toBe('same');
  });

  it('are not tied by what a third one sends to both', () => {
    const contacts = [contact('a', '0xa'), contact('b', '0xb'), contact('owner', '0xowner')];
    const gifts = ['0xa', '0xb', '0xowner'].map((to) => ({ from: 'rival', to }));
    expect(tieOf('a', { contacts, gifts })).toEqual({ accountIds: ['a'], tie: 'none' });
  });
});
