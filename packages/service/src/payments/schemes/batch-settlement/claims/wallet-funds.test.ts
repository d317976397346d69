import { expect, it, vi } from 'vitest';
import type { ClaimContext } from './claim-context.ts';
import type { ChannelClaimer } from './claimer.ts';
import { createWalletFunds } from './wallet-funds.ts';

const CHANNEL = 'channel';

/** Funds of a wallet whose channel owes this much. `covered` is what the books answer, `gas` whether there is any within the cap. */
function site({ owedMicro = 100_000n, hasGas = true } = {}) {
  const state = { isCovered: false };
  const claimAhead = vi.fn<ChannelClaimer['claimAhead']>(() => new Promise(() => undefined));
  const row = { id: CHANNEL, payer: '0xpayer', chargedMicro: owedMicro, reservedMicro: 0n, claimedMicro: 0n };
  const query = async (name: string) => (name === 'is-bill-covered' ? (state.isCovered ? [{}] : []) : [row]);
  const ctx = {
    db: { query },
    log: { warn: () => undefined },
    gas: { requireGas: async () => (hasGas ? undefined : Promise.reject(new Error('no gas'))) },
    channelClaimSettings: { minMicro: 10_000n },
  } as unknown as ClaimContext;
  const funds = createWalletFunds(ctx, { claimAhead } as unknown as ChannelClaimer);
  return { state, claimAhead, cover: (signal = new AbortController().signal) => funds.cover(CHANNEL, 1n, signal) };
}

it('a bill waits for its own claim, not for the end of a run that others keep going', async () => {
  const { state, claimAhead, cover } = site();
  const covered = cover();
  await expect.poll(() => claimAhead.mock.calls.length).toBe(1);
  state.isCovered = true;
  expect(await covered).toBe(true);
  // Its calls in flight are claimed ahead no longer.
  expect(claimAhead.mock.calls[0]?.[1].aborted).toBe(true);
});

it('a bill whose call has ended waits no longer', async () => {
  const { claimAhead, cover } = site();
  const ended = new AbortController();
  const covered = cover(ended.signal);
  await expect.poll(() => claimAhead.mock.calls.length).toBe(1);
  ended.abort();
  expect(await covered).toBe(false);
});

it('nothing is claimed for a bill without gas, or beyond the cap of gas', async () => {
  const { claimAhead, cover } = site({ hasGas: false });
  expect(await cover()).toBe(false);
  expect(claimAhead).not.toHaveBeenCalled();
});

it('bills of a payer cause 20 claims a day that are not worth their gas, and no more', async () => {
  const { state, claimAhead, cover } = site({ owedMicro: 9_999n });
  for (let nth = 1; nth <= 20; nth++) {
    state.isCovered = false;
    const covered = cover();
    await expect.poll(() => claimAhead.mock.calls.length).toBe(nth);
    state.isCovered = true;
    expect(await covered).toBe(true);
  }
  state.isCovered = false;
  expect(await cover()).toBe(false);
  expect(claimAhead).toHaveBeenCalledTimes(20);
});
