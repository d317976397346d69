import { setTimeout as sleep } from 'node:timers/promises';
import { buy } from './buyer.ts';
import type { Fault } from './fault.ts';
import { inLanes } from './purchase.ts';

const TIMEOUT_MS = 4000;
const SLOW_MS = 6000;
/** They mostly wait. */
const LANES = 20;

export const clientTimeOut: Fault = {
  name: 'client time-out',
  what: `the first run of each purchase takes ${SLOW_MS / 1000} s, its buyer gives the first call up after ${TIMEOUT_MS / 1000} s and repeats it`,
  isWorkLost: false,
  async run({ contender, worker, purchases, note }) {
    worker.behave(async ({ nth }) => {
      if (nth === 1) await sleep(SLOW_MS);
      return 200;
    });
    await inLanes(purchases, LANES, async (purchase) =>
      note(purchase, await buy(contender, purchase, { firstTimeoutMs: TIMEOUT_MS })),
    );
  },
};
