import { describe, expect, it } from 'vitest';
import { createMutex } from './mutex.ts';

const soon = { timeoutMs: 1, maxWaiting: 9 };
const patient = { timeoutMs: 60_000, maxWaiting: 9 };

describe('work on one key', () => {
  it('that waited too long leaves the queue, and what came behind it still waits for the work in front', async () => {
    const mutex = createMutex();
    const release = await mutex.acquire('key');
    expect(await mutex.acquireWithin('key', soon)).toBeNull();
    const done: string[] = [];
    const behind = mutex.acquireWithin('key', patient).then((releaseToo) => {
      done.push('behind');
      return releaseToo;
    });
    expect(await mutex.acquireWithin('key', soon)).toBeNull();
    done.push('in front');
    release();
    (await behind)?.();
    expect(done).toEqual(['in front', 'behind']);
    expect(await mutex.acquireWithin('key', soon)).toBeTypeOf('function');
  });

  it('does not wait where as many wait as may; one that has left makes room', async () => {
    const mutex = createMutex();
    const release = await mutex.acquire('key');
    const few = { timeoutMs: 60_000, maxWaiting: 1 };
    const waiting = mutex.acquireWithin('key', few);
    expect(await mutex.acquireWithin('key', few)).toBeNull();
    expect(await mutex.acquireWithin('another key', few)).toBeTypeOf('function');
    release();
    const releaseToo = await waiting;
    const next = mutex.acquireWithin('key', few);
    releaseToo?.();
    expect(await next).toBeTypeOf('function');
  });
});

it('work of one key runs one at a time, also behind work that failed, and other work beside it', async () => {
  const mutex = createMutex();
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
    mutex.run('a', work('a1', gate.promise)),
    mutex.run('a', work('a2')),
    mutex.run('a', work('a3')),
    mutex.run('b', work('b')),
  ];
  a1.catch(() => undefined);
  expect(await b).toBe('b');
  expect(log).toEqual(['a1 begins', 'b begins', 'b ends']);
  gate.resolve();
  await expect(a1).rejects.toThrow('a1');
  expect([await a2, await a3]).toEqual(['a2', 'a3']);
  expect(log.slice(3)).toEqual(['a1 ends', 'a2 begins', 'a2 ends', 'a3 begins', 'a3 ends']);
});
