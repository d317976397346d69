import { expect, it } from 'vitest';
import { createKeyTurns } from './key-turns.ts';

it('work of one key runs in turn, also behind work that failed, and other work beside it', async () => {
  const turns = createKeyTurns();
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
