import { describe, expect, it } from 'vitest';
import type { GateName, GateRow } from './gate-store.ts';
import { gatesOf, safeBlockOf } from './gates.ts';

const now = new Date('2026-11-28T12:00:00Z');
const row = (name: GateName, block: bigint, ageS: number, reason: string | null = null): GateRow => {
  return { name, block, movedAt: new Date(now.getTime() - ageS * 1000), reason };
};
const stalledIn = (rows: readonly GateRow[], isLocal = false) =>
  gatesOf(rows, now, isLocal).flatMap(({ name, state }) => (state === 'stalled' ? [name] : []));

describe('the safe block', () => {
  it.each([
    ['that is reported counts while it is less than 600 deep', 10_000n, 9_900n, 9_900n],
    ['that stands still is replaced by depth', 10_000n, 9_000n, 9_400n],
    ['that stands at 0 is replaced by depth', 10_000n, 0n, 9_400n],
    ['that is not reported is replaced by depth', 10_000n, null, 9_400n],
    ['of a young chain is the first', 100n, 0n, 0n],
  ])('%s', (_, head, reported, safe) => expect(safeBlockOf(head, reported)).toBe(safe));
});

describe('a gate without progress is stalled, with its reason', () => {
  it('the head after a minute, the safe block after ten', () => {
    expect(stalledIn([row('head', 9n, 59), row('safe', 0n, 599)])).toEqual([]);
    expect(stalledIn([row('head', 9n, 60), row('safe', 0n, 600)])).toEqual(['head', 'safe']);
    const [, safe] = gatesOf([row('head', 9n, 1), row('safe', 0n, 600)], now, false);
    expect(safe).toMatchObject({ ageS: 600, reason: expect.stringContaining('`safe` block has been 0 for 600 s') });
  });

  it('but neither on a local chain, which makes blocks when it has something to put in them', () => {
    expect(stalledIn([row('head', 9n, 6000), row('safe', 0n, 6000)], true)).toEqual([]);
  });

  it('a reader when it is behind and has not moved for a minute, with what kept it', () => {
    const head = row('head', 100n, 1);
    expect(stalledIn([head, row('transfers', 95n, 600)])).toEqual([]);
    expect(stalledIn([head, row('transfers', 94n, 59)])).toEqual([]);
    const [, gate] = gatesOf([head, row('transfers', 94n, 60, 'no logs of block 95')], now, true);
    expect(gate).toMatchObject({
      state: 'stalled',
      reason: expect.stringContaining('6 blocks behind the head for 60 s: no logs of block 95'),
    });
  });
});
