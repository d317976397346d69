import { describe, expect, it } from 'vitest';
import { type ClaimMode, planClaim, type UnclaimedChannel, type Voucher } from './claim-plan.ts';
import { claimStates, nextClaimState } from './claim-state.ts';

const now = new Date('2026-11-22T12:00:00Z');
const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);
const voucher = (maxMicro: bigint): Voucher => ({ maxMicro, signature: `0x${maxMicro}` });
const rules = { thresholdMicro: 1000n, minMicro: 10n, intervalMs: 3_600_000 };
const config = {
  payer: '0x01',
  payerAuthorizer: '0x01',
  receiver: '0x02',
  receiverAuthorizer: '0x02',
  token: '0x03',
  withdrawDelayS: 7200,
  salt: '0x04',
};

/** Of 5,000 deposited, 2,100 charged: vouchers of 900, 2,000, 2,100 and 3,000, of which the last is in flight. */
const channel: UnclaimedChannel = {
  channelId: '0xcc',
  config,
  balanceMicro: 5000n,
  claimedMicro: 0n,
  chargedMicro: 2100n,
  reservedMicro: 900n,
  within: null,
  highest: voucher(3000n),
  covered: voucher(2100n),
  below: voucher(2000n),
  oldestAt: minutesAgo(1),
  withdrawRequestedAt: null,
};
const withdrawn = { withdrawRequestedAt: minutesAgo(1) };

describe('the claim of a channel', () => {
  it.each<[string, ClaimMode, Partial<UnclaimedChannel>, [bigint, bigint, string] | null]>([
    ['at the threshold leaves the voucher for all that is charged', 'due', {}, [2000n, 2000n, 'threshold']],
    ['at exactly the threshold', 'due', { claimedMicro: 1000n }, [2000n, 2000n, 'threshold']],
    ['one unit below the threshold waits', 'due', { claimedMicro: 1001n }, null],
    ['of one voucher waits', 'due', { below: null }, null],
    ['of old money takes all that is charged', 'due', { oldestAt: minutesAgo(60) }, [2000n, 2000n, 'threshold']],
    ['of a little old money', 'due', { claimedMicro: 2000n, oldestAt: minutesAgo(60) }, [2100n, 2100n, 'age']],
    ['of old dust waits', 'due', { claimedMicro: 2091n, oldestAt: minutesAgo(60) }, null],
    ['for a payout takes all that is charged', 'payout', {}, [2100n, 2100n, 'payout']],
    ['for a payout leaves dust', 'payout', { claimedMicro: 2091n }, null],
    ['as the node stops', 'stop', { claimedMicro: 2000n }, [2100n, 2100n, 'stop']],
    ['takes no more than the channel holds', 'payout', { balanceMicro: 1500n }, [2100n, 1500n, 'payout']],
    ['without a voucher that is covered', 'stop', { covered: null, below: null }, null],
    [
      'at the end takes what is charged and in flight by the highest voucher',
      'due',
      withdrawn,
      [3000n, 3000n, 'withdrawal'],
    ],
    ['at the end, for whatever reason', 'stop', withdrawn, [3000n, 3000n, 'withdrawal']],
    ['at the end lets dust wait for company', 'due', { ...withdrawn, claimedMicro: 2995n }, null],
    [
      'of dust in the second half of the delay',
      'due',
      { withdrawRequestedAt: minutesAgo(60), claimedMicro: 2995n },
      [3000n, 3000n, 'withdrawal'],
    ],
    ['at the end, of nothing', 'due', { ...withdrawn, claimedMicro: 3000n }, null],
    ['at the end, of calls in flight only', 'due', { ...withdrawn, chargedMicro: 0n }, [3000n, 900n, 'withdrawal']],
    ['of calls in flight that pay a bill', 'due', { within: voucher(3000n) }, [3000n, 3000n, 'payout']],
  ])('%s', (_what, mode, changes, expected) => {
    const claim = planClaim({ ...channel, ...changes }, mode, rules, now);
    expect(claim && [claim.voucher.maxMicro, claim.totalMicro, claim.reason]).toEqual(expected);
  });

  it('never publishes a voucher of an open channel beyond its charges', () => {
    for (const mode of ['due', 'payout', 'stop'] as const)
      for (const covered of [null, voucher(2100n), voucher(500n)]) {
        const claim = planClaim({ ...channel, covered, oldestAt: minutesAgo(600) }, mode, rules, now);
        expect(claim?.voucher.maxMicro ?? 0n).toBeLessThanOrEqual(channel.chargedMicro);
      }
  });
});

it('a claim whose outcome is not known is never failed', () => {
  for (const state of claimStates) expect(nextClaimState(state, 'open')).toBe('sent');
  expect(nextClaimState('done', 'moved')).toBe('sent');
  expect(nextClaimState('sent', 'reverted')).toBe('failed');
});
