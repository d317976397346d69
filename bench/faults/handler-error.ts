import { buy } from './buyer.ts';
import type { Fault } from './fault.ts';
import { inLanes } from './purchase.ts';

/** They mostly wait before they repeat a call. */
const LANES = 40;

export const handlerError: Fault = {
  name: 'handler 500',
  what: 'the work fails with 500, every time',
  isWorkLost: true,
  async run({ contender, worker, purchases, note }) {
    worker.behave(() => 500);
    await inLanes(purchases, LANES, async (purchase) => note(purchase, await buy(contender, purchase)));
  },
};
