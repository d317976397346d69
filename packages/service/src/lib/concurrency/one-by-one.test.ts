import { describe, expect, it } from 'vitest';
import { createOneByOne } from './one-by-one.ts';

const soon = { timeoutMs: 1, mostWaiting: 9 };
const patient = { timeoutMs: 60_000, mostWaiting: 9 };

describe('work on one key', () => {
  it('that waited too long leaves the line, and what came behind it still waits for the work in front', async () => {
    const line = createOneByOne();
    const leave = await line.enter('key');
    expect(await line.enterWithin('key', soon)).toBeNull();
    const done: string[] = [];
    const behind = line.enterWithin('key', patient).then((leaveToo) => {
      done.push('behind');
      return leaveToo;
    });
    expect(await line.enterWithin('key', soon)).toBeNull();
    done.push('in front');
    leave();
    (await behind)?.();
    expect(done).toEqual(['in front', 'behind']);
    expect(await line.enterWithin('key', soon)).toBeTypeOf('function');
  });

  it('does not wait where as many wait as may; one that has left makes room', async () => {
    const line = createOneByOne();
    const leave = await line.enter('key');
    const few = { timeoutMs: 60_000, mostWaiting: 1 };
    const waiting = line.enterWithin('key', few);
    expect(await line.enterWithin('key', few)).toBeNull();
    expect(await line.enterWithin('another key', few)).toBeTypeOf('function');
    leave();
    const leaveToo = await waiting;
    const next = line.enterWithin('key', few);
    leaveToo?.();
    expect(await next).toBeTypeOf('function');
  });
});

it('work of one key runs in turn, also behind work that failed, and other work beside it', async () => {
  const turns = createOneByOne();
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const work =
    (name: string, until: Promise<void> = Promise.resolve()) =>
    async () => {
      log.push(`${name} begins`);
      await until;
      log.push(`${name} ends`);
      if (name === 'a1') throw new Error(name);
      return name;
    };
  const [a1, a2, a3, b] = [
    turns.run('a', work('a1', gate.promise)),
    turns.run('a', work('a2')),
    turns.run('a', work('a3')),
    turns.run('b', work('b')),
  ];
  a1.catch(() => undefined);
  expect(await b).toBe('b');
  expect(log).toEqual(['a1 begins', 'b begins', 'b ends']);
  gate.resolve();
  await expect(a1).rejects.toThrow('a1');
  expect([await a2, await a3]).toEqual(['a2', 'a3']);
  expect(log.slice(3)).toEqual(['a1 ends', 'a2 begins', 'a2 ends', 'a3 begins', 'a3 ends']);
});
