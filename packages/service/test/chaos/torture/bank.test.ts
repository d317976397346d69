import { expect, it } from 'vitest';
import { runBank } from './bank.ts';

/** Five seconds of trouble; as long as one likes: `npm run torture`. */
const ACTS_FOR_MS = 5000;

it('whatever dies, hangs or lies: every purchase is run and paid once, and every micro-USDC is accounted for', async () => {
  const tally = await runBank({ seed: 'short', actsForMs: ACTS_FOR_MS, restsWithinMs: 120_000, faultPauseMs: 900 });
  expect(tally.violations, tally.print()).toEqual([]);
  expect(tally.of('a process killed')).toBeGreaterThan(0);
});
