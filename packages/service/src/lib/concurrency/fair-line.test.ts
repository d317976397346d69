import { describe, expect, it } from 'vitest';
import { createFairLine, type FairLine } from './fair-line.ts';

const RANKS = 4;
function lineOf(...entries: readonly [name: string, lane: string, rank: number][]): FairLine<string> {
  const line = createFairLine<string>(RANKS);
  for (const [name, lane, rank] of entries) line.add(name, { lane, rank }, 0);
  return line;
}
const allOf = (line: FairLine<string>) => Array.from({ length: line.size }, () => line.take());

describe('a line in which lanes take turns', () => {
  it('a lane with many entries does not delay one with few', () => {
    const line = lineOf(['a1', 'a', 2], ['a2', 'a', 2], ['a3', 'a', 2], ['b1', 'b', 2]);
    expect(allOf(line)).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('an entry that takes several turns waits for as many of the others', () => {
    const line = lineOf(['b1', 'b', 2], ['b2', 'b', 2], ['b3', 'b', 2]);
    line.add('large', { lane: 'a', rank: 2, turns: 3 }, 0);
    line.add('small', { lane: 'a', rank: 2 }, 0);
    expect(allOf(line)).toEqual(['b1', 'b2', 'b3', 'large', 'small']);
    line.add('alone', { lane: 'a', rank: 2, turns: 16 }, 0);
    expect(line.take()).toBe('alone');
  });

  it('serves the better rank of a lane first, and no lane gains by it', () => {
    const line = lineOf(['a2', 'a', 2], ['b2', 'b', 2], ['a0', 'a', 0], ['a1', 'a', 1]);
    expect(allOf(line)).toEqual(['a0', 'b2', 'a1', 'a2']);
  });

  it('serves the last rank when no lane has any other', () => {
    const line = lineOf(['a3', 'a', 3], ['b2', 'b', 2], ['b2b', 'b', 2]);
    expect(allOf(line)).toEqual(['b2', 'b2b', 'a3']);
  });

  it('tells about how many are served before a newcomer', () => {
    const line = lineOf(['a', 'a', 2], ['b', 'a', 2], ['c', 'a', 1], ['d', 'b', 2], ['e', 'c', 3]);
    const ahead = (lane: string, rank: number) => line.ahead({ lane, rank });
    expect([ahead('new', 2), ahead('a', 2), ahead('a', 0), ahead('b', 2), ahead('c', 3)]).toEqual([2, 4, 2, 4, 5]);
  });

  it('tells since when a lane stands; emptied, it begins anew', () => {
    const line = lineOf(['a1', 'a', 2]);
    line.add('a2', { lane: 'a', rank: 2 }, 50);
    expect(line.standingMs({ lane: 'a', rank: 2 }, 100)).toBe(100);
    allOf(line);
    expect(line.standingMs({ lane: 'a', rank: 2 }, 100)).toBe(0);
    line.add('a3', { lane: 'a', rank: 2 }, 120);
    expect(line.standingMs({ lane: 'a', rank: 2 }, 150)).toBe(30);
  });

  it('makes room by the newest and worst of the longest lane, never by one that is better off than the newcomer', () => {
    const line = lineOf(['a1', 'a', 1], ['a2', 'a', 2], ['a3', 'a', 2], ['b', 'b', 2]);
    expect(line.makeRoom({ lane: 'a', rank: 2 })).toBeNull();
    expect(line.makeRoom({ lane: 'b', rank: 2 })).toBe('a3');
    expect(line.makeRoom({ lane: 'new', rank: 2 })).toBe('a2');
    expect(line.makeRoom({ lane: 'new', rank: 2 })).toBeNull();
    expect([line.size, allOf(line)]).toEqual([2, ['a1', 'b']]);
  });

  it('makes room for anything by what is of the last rank', () => {
    const line = lineOf(['a', 'a', 3], ['b', 'b', 2]);
    expect(line.makeRoom({ lane: 'b', rank: 3 })).toBeNull();
    expect(line.makeRoom({ lane: 'b', rank: 2 })).toBe('a');
  });

  it('expires the oldest of each lane and rank', () => {
    const line = lineOf(['old a', 'a', 2], ['new a', 'a', 2], ['old b', 'b', 1], ['old c', 'c', 3]);
    expect(line.expire((name) => name.startsWith('old'))).toEqual(['old a', 'old b', 'old c']);
    expect(allOf(line)).toEqual(['new a']);
  });
});
