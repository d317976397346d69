import { describe, expect, test } from 'vitest';
import { createHeadWatch } from './head-watch.ts';

function chain() {
  const state: { hash: `0x${string}`; requests: number; isAway: boolean } = { hash: '0x1', requests: 0, isAway: false };
  const noted: [name: string, block: bigint | null, reason: string | null][] = [];
  const newestBlock = async () => {
    state.requests += 1;
    if (state.isAway) throw new Error('away');
    return { number: BigInt(state.hash), hash: state.hash };
  };
  const record = async (...news: (typeof noted)[number]) => void noted.push(news);
  return { state, noted, watch: createHeadWatch({ usdc: { newestBlock }, record }) };
}

describe('work that follows the head', () => {
  test('is due until it has seen the present head, and again with the next', async () => {
    const { state, watch } = chain();
    const { work, isDue } = watch.follow('transfers', async () => true);
    expect(await isDue()).toBe(true);
    await work();
    expect(await isDue()).toBe(false);
    state.hash = '0x2';
    expect(await isDue()).toBe(true);
  });

  test('is due again when it was not complete, or failed', async () => {
    const { watch, noted } = chain();
    const outcomes = [async () => false, () => Promise.reject(new Error('chain away')), async () => true];
    const { work, isDue } = watch.follow('transfers', () => outcomes.shift()?.() ?? Promise.resolve(true));
    expect(await isDue()).toBe(true);
    await work();
    expect(await isDue()).toBe(true);
    await expect(work()).rejects.toThrow('chain away');
    expect(await isDue()).toBe(true);
    await work();
    expect(await isDue()).toBe(false);
    expect(noted).toEqual([
      ['transfers', null, null],
      ['transfers', null, 'chain away'],
      ['transfers', 1n, null],
    ]);
  });

  test('is due for a head that came while it ran', async () => {
    const { state, watch } = chain();
    const { work, isDue } = watch.follow('transfers', async () => {
      state.hash = '0x2';
      return true;
    });
    await isDue();
    await work();
    expect(await isDue()).toBe(true);
  });

  test('asks the chain once for concurrent callers, and each gets the error if it is away', async () => {
    const { state, watch } = chain();
    const followers = [1, 2, 3].map(() => watch.follow('transfers', async () => true));
    await Promise.all(followers.map(({ isDue }) => isDue()));
    expect(state.requests).toBe(1);
    state.isAway = true;
    const answers = await Promise.allSettled(followers.map(({ isDue }) => isDue()));
    expect(answers.map(({ status }) => status)).toEqual(Array(3).fill('rejected'));
  });
});
