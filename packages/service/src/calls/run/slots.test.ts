import { describe, expect, it } from 'vitest';
import { createSlots, LONG_MS } from './slots.ts';

const limits = { max: 8, maxPerTenant: 2, maxPerAgent: 4 };
const call = (accountId: string, agentId: string, callerAgentId: string | null = null) => ({
  ...{ accountId, agentId, callerAgentId },
});

describe('slots', () => {
  it('are for everybody: a tenant and an agent have their shares, others the rest', () => {
    const slots = createSlots(limits);
    const first = slots.take(call('a', 'x'), 'back');
    slots.take(call('a', 'x'), 'back');
    expect(slots.hasRoomFor(call('a', 'y'), 'back')).toBe(false);
    expect(slots.hasRoomFor(call('a', 'y', 'agent of a'), 'back')).toBe(true);
    for (const other of ['b', 'c']) slots.take(call(other, 'x'), 'back');
    expect(slots.hasRoomFor(call('d', 'x'), 'back')).toBe(false);
    expect(slots.hasRoomFor(call('d', 'y'), 'back')).toBe(true);
    first.leave();
    first.leave();
    expect(slots.hasRoomFor(call('a', 'y'), 'back')).toBe(true);
    expect(slots.free('back')).toBe(5);
  });

  it('in front are for awaited calls until they are detached; limits per tenant and agent count both sides', () => {
    const slots = createSlots({ max: 1, maxPerTenant: 2, maxPerAgent: 2 });
    slots.take(call('a', 'x'), 'back');
    expect([slots.hasRoomFor(call('a', 'x'), 'back'), slots.hasRoomFor(call('a', 'x'), 'front')]).toEqual([
      false,
      true,
    ]);
    const awaited = slots.take(call('a', 'x'), 'front');
    expect([slots.free('front'), slots.hasRoomFor(call('b', 'y'), 'front')]).toEqual([0, false]);
    awaited.toBack();
    expect([slots.free('front'), slots.free('back')]).toEqual([1, -1]);
    expect([slots.hasRoomFor(call('a', 'y'), 'front'), slots.hasRoomFor(call('b', 'y'), 'front')]).toEqual([
      false,
      true,
    ]);
    awaited.leave();
    expect(slots.free('back')).toBe(0);
  });

  it('are left by calls that run long; what tenant and agent have stays counted', () => {
    let nowMs = 0;
    const slots = createSlots(limits, () => nowMs);
    const taken = ['a', 'b', 'c', 'd'].flatMap((account) =>
      [1, 2].map((n) => slots.take(call(account, `x${n}`), 'back')),
    );
    expect(slots.free('back')).toBe(0);
    nowMs = LONG_MS;
    expect(slots.free('back')).toBe(8);
    expect(slots.hasRoomFor(call('a', 'y'), 'back')).toBe(false);
    expect(slots.hasRoomFor(call('e', 'x1'), 'back')).toBe(false);
    expect(slots.hasRoomFor(call('e', 'y'), 'back')).toBe(true);
    for (const each of taken) each.leave();
    expect([slots.free('back'), slots.load().tenants.size, slots.load().agents.size]).toEqual([8, 0, 0]);
  });

  it('are not left by ever more calls: four times as many may run long', () => {
    let nowMs = 0;
    const slots = createSlots({ max: 2, maxPerTenant: 100, maxPerAgent: 100 }, () => nowMs);
    for (let nth = 0; nth < 10; nth++) {
      expect(slots.free('back')).toBeGreaterThan(0);
      slots.take(call('a', 'x'), 'back');
      nowMs += LONG_MS;
    }
    expect(slots.free('back')).toBe(0);
  });
});
