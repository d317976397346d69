import { describe, expect, test } from 'vitest';
import { createHeadWatch } from './head-watch.ts';

function chain() {
  const state: { hash: `0x${string}`; requests: number; isAway: boolean } = { hash: '0x1', requests: 0, isAway: false };
  const headHash = async () => {
    state.requests += 1;
    if (state.isAway) throw new Error('away');
    return state.hash;
  };
  return { state, watch: createHeadWatch({ usdc: { headHash } }) };
}

describe('work that follows the head', () => {
  test('is due until it has seen the present head, and again with the next', async () => {
    const { state, watch } = chain();
    const { work, isDue } = watch.follow(async () => true);
    expect(await isDue()).toBe(true);
    await work();
    expect(await isDue()).toBe(false);
    state.hash = '0x2';
    expect(await isDue()).toBe(true);
  });

  test('is due again when it was not complete, or failed', async () => {
    const { watch } = chain();
    const outcomes = [async () => false, () => Promise.reject(new Error('chain away')), async () => true];
    const { work, isDue } = watch.follow(() => outcomes.shift()?.() ?? Promise.resolve(true));
    expect(await isDue()).toBe(true);
    await work();
    expect(await isDue()).toBe(true);
    await expect(work()).rejects.toThrow('chain away');
    expect(await isDue()).toBe(true);
    await work();
    expect(await isDue()).toBe(false);
  });

  test('is due for a head that came while it ran', async () => {
    const { state, watch } = chain();
    const { work, isDue } = watch.follow(async () => {
      state.hash = '0x2';
      return true;
    });
    await isDue();
    await work();
    expect(await isDue()).toBe(true);
  });

  test('asks the chain once for all who look at the same moment, and each learns that it is away', async () => {
    const { state, watch } = chain();
    const followers = [1, 2, 3].map(() => watch.follow(async () => true));
    await Promise.all(followers.map(({ isDue }) => isDue()));
    expect(state.requests).toBe(1);
    state.isAway = true;
    const answers = await Promise.allSettled(followers.map(({ isDue }) => isDue()));
    expect(answers.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  });
});
