import { expect, it } from 'vitest';
import { fundingOptions, isIdle, nameTreasuries, statementPeriod } from './treasury.ts';

it.each([
  [{}, {}],
  [{ from: '2026-11-01' }, { from: '2026-11-01T00:00:00.000Z' }],
  [{ to: '2026-02-28' }, { to: '2026-03-01T00:00:00.000Z' }],
  [
    { from: '2026-11-21', to: '2026-11-21' },
    { from: '2026-11-21T00:00:00.000Z', to: '2026-11-22T00:00:00.000Z' },
  ],
  [{ from: 'yesterday', to: '2026-13-01' }, {}],
])('the days %j are the period %j', (days, period) => expect(statementPeriod(days)).toEqual(period));

const treasury = (treasuryId: string, agentId: string | null, available = '0.00') => ({
  ...{ treasuryId, agentId, agentName: agentId && 'Echo', label: null, available, held: '0.00' },
});

it.each([
  ['an account that only sells', [treasury('trs_e', 'agt_e', '0.03')], ['Account: 0.00 USDC', 'Echo: 0.03 USDC']],
  [
    'one with a treasury',
    [treasury('trs_e', 'agt_e'), treasury('trs_a', null, '2.00')],
    ['Account: 2.00 USDC', 'Echo: 0.00 USDC'],
  ],
  ['a new one', [], ['Account: 0.00 USDC']],
] as const)('funds of %s go to the account first', (_, treasuries, labels) =>
  expect(fundingOptions(nameTreasuries([...treasuries])).map(({ label }) => label)).toEqual(labels),
);

it("leaves out agents' treasuries without money only", () =>
  expect(
    nameTreasuries([treasury('a', null), treasury('b', 'agt_b'), treasury('c', 'agt_c', '0.01')]).map(isIdle),
  ).toEqual([false, true, false]));
