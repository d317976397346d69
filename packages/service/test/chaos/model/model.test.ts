import { expect, it } from 'vitest';
import { isLong } from '../../support/long.ts';
import { runModel } from './run-model.ts';

/** Of up to 24 commands each. More of them: `npm run model -- --runs 5000`. */
const RUNS = isLong ? 400 : 18;
const SEED = 7;

it('whatever clients, agents, processes and the chain do, in any order, all money is where a small model has it', {
  timeout: isLong ? 1_800_000 : 300_000,
}, async () => {
  const { runs, failure, tally } = await runModel({ runs: RUNS, seed: SEED });
  expect(failure).toBeNull();
  expect(runs).toBe(RUNS);
  expect([...tally.keys()].sort()).toEqual([
    ...['answer', 'cancel', 'crash', 'deposit', 'duplicate', 'expire', 'invoke', 'lostAnswer'],
    ...['refundsArrive', 'reorder', 'reorg', 'restart', 'transfer', 'withdraw'],
  ]);
});
