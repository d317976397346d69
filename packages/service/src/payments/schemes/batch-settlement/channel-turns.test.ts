import { expect, it } from 'vitest';
import type { TurnWish } from './channel-turn-store.ts';
import { createChannelTurns, type TurnStore } from './channels.ts';

/** The turns of all processes. */
function createStore(): TurnStore & { readonly turns: Map<string, string> } {
  const turns = new Map<string, string>();
  return {
    turns,
    async take({ channelId, requestId }: TurnWish) {
      if ((turns.get(channelId) ?? requestId) !== requestId) return false;
      turns.set(channelId, requestId);
      return true;
    },
    async end({ channelId, requestId }) {
      if (turns.get(channelId) === requestId) turns.delete(channelId);
    },
  };
}

it('an unused turn passes on, and one with a correction waits for the corrected call, in any process', async () => {
  const store = createStore();
  const [here, there] = [createChannelTurns(store), createChannelTurns(store)];
  expect(await here.take('a', 'req_1')).toBe(true);
  expect(await here.take('b', 'req_9')).toBe(true);
  const order: string[] = [];
  const second = here.take('a', 'req_2').then(() => order.push('second'));
  const third = here.take('a', 'req_3').then(() => order.push('third'));
  await here.end('a', 'req_1');
  await second;
  // Not the one whose turn it is.
  await there.end('a', 'req_3');
  expect([order, store.turns.get('a')]).toEqual([['second'], 'req_2']);
  // Its answer came to another process, whose admission ends the turn.
  store.turns.delete('a');
  there.admitted('a', 'req_2');
  await third;
  expect([order, store.turns.get('a')]).toEqual([['second', 'third'], 'req_3']);
  const fourth = there.take('a', 'req_4');
  store.turns.delete('a');
  here.admitted('a', 'req_3');
  expect(await fourth).toBe(true);
});
