import { expect, it } from 'vitest';
import { runModel } from './run-model.ts';

/** Of up to 24 commands each: about as many as 200 runs of half the length. More of them: `npm run model -- --runs 5000`. */
const RUNS = 100;
const SEED = 4;

it('whatever clients, agents, processes and the chain do, in any order, all money is where a small model has it', {
  timeout: 300_000,
}, async () => {
  const { runs, failure, tally } = await runModel({ runs: RUNS, seed: SEED });
  expect(failure).toBeNull();
  expect(runs).toBe(RUNS);
  expect([...tally.keys()].sort()).toEqual([
    ...['answer', 'cancel', 'crash', 'deposit', 'duplicate', 'expire', 'invoke', 'lostAnswer'],
    ...['refundsArrive', 'reorder', 'reorg', 'restart', 'transfer', 'withdraw'],
  ]);
});
