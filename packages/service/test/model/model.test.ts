import { expect, it } from 'vitest';
import { runModel } from './run-model.ts';

const RUNS = 200;
/** A run has half as many as by command (`npm run model`): 200 short ones meet in as many states, in half the time. */
const COMMANDS = 12;

it(`${RUNS} runs of deposits, calls, withdrawals, cancellations, crashes, reorgs and lost answers leave all money where a small model has it`, {
  timeout: 300_000,
}, async () => {
  const { runs, failure, tally } = await runModel({
    runs: RUNS,
    commands: COMMANDS,
    seed: Number(process.env.MODEL_SEED ?? 4),
  });
  expect(failure).toBeNull();
  expect(runs).toBe(RUNS);
  expect([...tally.keys()].sort()).toEqual([
    'answer',
    'cancel',
    'crash',
    'deposit',
    'duplicate',
    'expire',
    'invoke',
    'lostAnswer',
    'refundsArrive',
    'reorder',
    'reorg',
    'restart',
    'transfer',
    'withdraw',
  ]);
});
