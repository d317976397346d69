import { describe, expect, it } from 'vitest';
import { createPlaces, LONG_MS } from './places.ts';

const limits = { most: 8, mostOfLane: 2, mostOfAgent: 4 };
const call = (accountId: string, agentId: string, callerAgentId: string | null = null) => ({
  ...{ accountId, agentId, callerAgentId },
});

describe('places', () => {
  it('are for everybody: a lane and an agent have their shares, others the rest', () => {
    const places = createPlaces(limits);
    const first = places.take(call('a', 'x'), 'back');
    places.take(call('a', 'x'), 'back');
    expect(places.hasRoomFor(call('a', 'y'), 'back')).toBe(false);
    expect(places.hasRoomFor(call('a', 'y', 'agent of a'), 'back')).toBe(true);
    for (const other of ['b', 'c']) places.take(call(other, 'x'), 'back');
    expect(places.hasRoomFor(call('d', 'x'), 'back')).toBe(false);
    expect(places.hasRoomFor(call('d', 'y'), 'back')).toBe(true);
    first.leave();
    first.leave();
    expect(places.hasRoomFor(call('a', 'y'), 'back')).toBe(true);
    expect(places.free('back')).toBe(5);
  });

  it('in front are for awaited calls, until nobody waits any more; the shares are of both sides', () => {
    const places = createPlaces({ most: 1, mostOfLane: 2, mostOfAgent: 2 });
    places.take(call('a', 'x'), 'back');
    expect([places.hasRoomFor(call('a', 'x'), 'back'), places.hasRoomFor(call('a', 'x'), 'front')]).toEqual([
      false,
      true,
    ]);
    const awaited = places.take(call('a', 'x'), 'front');
    expect([places.free('front'), places.hasRoomFor(call('b', 'y'), 'front')]).toEqual([0, false]);
    awaited.toBack();
    expect([places.free('front'), places.free('back')]).toEqual([1, -1]);
    expect([places.hasRoomFor(call('a', 'y'), 'front'), places.hasRoomFor(call('b', 'y'), 'front')]).toEqual([
      false,
      true,
    ]);
    awaited.leave();
    expect(places.free('back')).toBe(0);
  });

  it('are left by calls that run long; what lane and agent have stays counted', () => {
    let nowMs = 0;
    const places = createPlaces(limits, () => nowMs);
    const taken = ['a', 'b', 'c', 'd'].flatMap((account) =>
      [1, 2].map((n) => places.take(call(account, `x${n}`), 'back')),
    );
    expect(places.free('back')).toBe(0);
    nowMs = LONG_MS;
    expect(places.free('back')).toBe(8);
    expect(places.hasRoomFor(call('a', 'y'), 'back')).toBe(false);
    expect(places.hasRoomFor(call('e', 'x1'), 'back')).toBe(false);
    expect(places.hasRoomFor(call('e', 'y'), 'back')).toBe(true);
    for (const each of taken) each.leave();
    expect([places.free('back'), places.load().lanes.size, places.load().agents.size]).toEqual([8, 0, 0]);
  });

  it('are not left by ever more calls: four times as many may run long', () => {
    let nowMs = 0;
    const places = createPlaces({ most: 2, mostOfLane: 100, mostOfAgent: 100 }, () => nowMs);
    for (let nth = 0; nth < 10; nth++) {
      expect(places.free('back')).toBeGreaterThan(0);
      places.take(call('a', 'x'), 'back');
      nowMs += LONG_MS;
    }
    expect(places.free('back')).toBe(0);
  });
});
