import { expect, it } from 'vitest';
import { createChannelTurns } from './channel-turns.ts';

it('a turn in which nothing is told is passed on at once, and one that was told waits for its answer', async () => {
  const turns = createChannelTurns();
  expect(await turns.take('a')).toBe(true);
  const order: string[] = [];
  const second = turns.take('a').then((isInTurn) => order.push(`second ${isInTurn}`));
  const third = turns.take('a').then((isInTurn) => order.push(`third ${isInTurn}`));
  turns.pass('a');
  await second;
  turns.told('a', 'req_2');
  turns.pass('a');
  expect([turns.isOthers('a', 'req_2'), turns.isOthers('a', 'req_3'), order]).toEqual([false, true, ['second true']]);
  turns.answered('a', 'req_2');
  await third;
  turns.pass('a');
  expect([order, await turns.take('a')]).toEqual([['second true', 'third true'], true]);
  turns.pass('a');
});
