import { describe, expect, it } from 'vitest';
import { createFairQueue, type FairQueue } from './fair-queue.ts';

const PRIORITIES = 4;
function queueOf(...entries: readonly [name: string, tenant: string, priority: number][]): FairQueue<string> {
  const queue = createFairQueue<string>(PRIORITIES);
  for (const [name, tenant, priority] of entries) queue.add(name, { tenant, priority }, 0);
  return queue;
}
const allOf = (queue: FairQueue<string>) => Array.from({ length: queue.size }, () => queue.take());

describe('a fair queue', () => {
  it('a tenant with many entries does not delay one with few', () => {
    const queue = queueOf(['a1', 'a', 2], ['a2', 'a', 2], ['a3', 'a', 2], ['b1', 'b', 2]);
    expect(allOf(queue)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('an entry that costs several rounds waits for as many of the others', () => {
    const queue = queueOf(['b1', 'b', 2], ['b2', 'b', 2], ['b3', 'b', 2]);
    queue.add('large', { tenant: 'a', priority: 2, cost: 3 }, 0);
    queue.add('small', { tenant: 'a', priority: 2 }, 0);
    expect(allOf(queue)).toEqual(['b1', 'b2', 'b3', 'large', 'small']);
    queue.add('alone', { tenant: 'a', priority: 2, cost: 16 }, 0);
    expect(queue.take()).toBe('alone');
  });

  it("serves a tenant's higher priority first, and no tenant gains by it", () => {
    const queue = queueOf(['a2', 'a', 2], ['b2', 'b', 2], ['a0', 'a', 0], ['a1', 'a', 1]);
    expect(allOf(queue)).toEqual(['a0', 'b2', 'a1', 'a2']);
  });

  it('serves the last priority when no tenant has any other', () => {
    const queue = queueOf(['a3', 'a', 3], ['b2', 'b', 2], ['b2b', 'b', 2]);
    expect(allOf(queue)).toEqual(['b2', 'b2b', 'a3']);
  });

  it('estimates how many are served before a newcomer', () => {
    const queue = queueOf(['a', 'a', 2], ['b', 'a', 2], ['c', 'a', 1], ['d', 'b', 2], ['e', 'c', 3]);
    const ahead = (tenant: string, priority: number) => queue.countAhead({ tenant, priority });
    expect([ahead('new', 2), ahead('a', 2), ahead('a', 0), ahead('b', 2), ahead('c', 3)]).toEqual([2, 4, 2, 4, 5]);
  });

  it('knows how long a tenant has had a backlog; emptied, it begins anew', () => {
    const queue = queueOf(['a1', 'a', 2]);
    queue.add('a2', { tenant: 'a', priority: 2 }, 50);
    expect(queue.backlogMs({ tenant: 'a', priority: 2 }, 100)).toBe(100);
    allOf(queue);
    expect(queue.backlogMs({ tenant: 'a', priority: 2 }, 100)).toBe(0);
    queue.add('a3', { tenant: 'a', priority: 2 }, 120);
    expect(queue.backlogMs({ tenant: 'a', priority: 2 }, 150)).toBe(30);
  });

  it('evicts the newest and worst of the longest tenant, never one that is better off than the newcomer', () => {
    const queue = queueOf(['a1', 'a', 1], ['a2', 'a', 2], ['a3', 'a', 2], ['b', 'b', 2]);
    expect(queue.evictFor({ tenant: 'a', priority: 2 })).toBeNull();
    expect(queue.evictFor({ tenant: 'b', priority: 2 })).toBe('a3');
    expect(queue.evictFor({ tenant: 'new', priority: 2 })).toBe('a2');
    expect(queue.evictFor({ tenant: 'new', priority: 2 })).toBeNull();
    expect([queue.size, allOf(queue)]).toEqual([2, ['a1', 'b']]);
  });

  it('evicts entries of the last priority for anything else', () => {
    const queue = queueOf(['a', 'a', 3], ['b', 'b', 2]);
    expect(queue.evictFor({ tenant: 'b', priority: 3 })).toBeNull();
    expect(queue.evictFor({ tenant: 'b', priority: 2 })).toBe('a');
  });

  it('removes the expired, oldest first, of each tenant and priority', () => {
    const queue = queueOf(['old a', 'a', 2], ['new a', 'a', 2], ['old b', 'b', 1], ['old c', 'c', 3]);
    expect(queue.removeExpired((name) => name.startsWith('old'))).toEqual(['old a', 'old b', 'old c']);
    expect(allOf(queue)).toEqual(['new a']);
  });
});
