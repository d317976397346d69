import { describe, expect, it } from 'vitest';
import { judgeReserves, nextEpisode } from './reserves.ts';

describe('reserves', () => {
  it.each([
    // on chain, booked, booked after the block, unbooked: difference, drift, status
    [0n, 0n, 0n, 0n, 0n, 0n, 'balanced'],
    [100n, 100n, 0n, 0n, 0n, 0n, 'balanced'],
    // A payment that came after the block is in the books already.
    [100n, 130n, 30n, 0n, 0n, 0n, 'balanced'],
    // A payout that left after the block.
    [100n, 80n, -20n, 0n, 0n, 0n, 'balanced'],
    // The chain has a payment that the books don't have yet.
    [130n, 100n, 0n, 30n, 30n, 0n, 'settling'],
    // It has a payout.
    [80n, 100n, 0n, -20n, -20n, 0n, 'settling'],
    [110n, 100n, 0n, 10n, 10n, 0n, 'settling'],
    [99n, 100n, 0n, 0n, -1n, -1n, 'drift'],
    [101n, 100n, 0n, 0n, 1n, 1n, 'drift'],
    // Something is on its way, but it is not that.
    [131n, 100n, 0n, 30n, 31n, 1n, 'drift'],
    [80n, 100n, 0n, 30n, -20n, -50n, 'drift'],
    // What is missing is as much as what came: the sum is right, and yet money is gone.
    [100n, 100n, 0n, 30n, 0n, -30n, 'drift'],
    [70n, 130n, 30n, 0n, -30n, -30n, 'drift'],
  ] as const)(
    'on chain %s, booked %s, of that after the block %s, unbooked %s: difference %s, drift %s, %s',
    (onChainMicro, bookedMicro, bookedAfterBlockMicro, unbookedMicro, differenceMicro, driftMicro, status) => {
      const judged = judgeReserves({
        onChainMicro,
        bookedMicro,
        bookedAfterBlockMicro,
        unbookedMicro,
        uncoveredLossMicro: 0n,
      });
      expect(judged).toEqual({ differenceMicro, driftMicro, status });
    },
  );
});

describe('a loss', () => {
  const view = { bookedMicro: 100n, bookedAfterBlockMicro: 0n, unbookedMicro: 0n, uncoveredLossMicro: 1n };

  it('that fees do not cover is never balanced, though the books know of it', () => {
    expect(judgeReserves({ ...view, onChainMicro: 100n })).toMatchObject({ driftMicro: 0n, status: 'drift' });
    expect(judgeReserves({ ...view, onChainMicro: 130n, unbookedMicro: 30n }).status).toBe('drift');
  });
});

describe('an episode of drift', () => {
  const told = (statuses: readonly ('balanced' | 'settling' | 'drift')[]) => {
    let episode = { driftedChecks: 0, isTold: false };
    return statuses.map((status) => {
      const { tells, ...next } = nextEpisode(episode, status);
      episode = next;
      return tells;
    });
  };

  it.each([
    [['drift'], [false]],
    [
      ['drift', 'drift'],
      [false, true],
    ],
    [
      ['drift', 'drift', 'drift', 'drift'],
      [false, true, false, false],
    ],
    [
      ['drift', 'balanced', 'drift', 'settling', 'drift'],
      [false, false, false, false, false],
    ],
    [
      ['drift', 'drift', 'balanced', 'drift', 'drift'],
      [false, true, false, false, true],
    ],
  ] as const)('%j tells %j', (statuses, expected) => {
    expect(told(statuses)).toEqual(expected);
  });
});
