import { buy } from './buyer.ts';
import type { Fault } from './fault.ts';
import { inLanes } from './purchase.ts';
import { payersIn, SENDING } from './raw-transactions.ts';

const LANES = 10;

export const lostSettleAnswer: Fault = {
  name: 'lost settle answer',
  what: "the chain takes the transaction of each first payment, and the connection breaks before it has answered; the server's own repetitions are answered",
  isWorkLost: false,
  async run({ contender, purchases, note }) {
    const unlost = new Set(purchases.map(({ payer }) => payer));
    contender.proxy.rule(SENDING, async (call) => {
      const answer = await call.forward();
      const payers = payersIn(call, unlost);
      for (const payer of payers) unlost.delete(payer);
      return payers.length > 0 ? null : answer;
    });
    await inLanes(purchases, LANES, async (purchase) => note(purchase, await buy(contender, purchase)));
    contender.proxy.rule(SENDING, null);
    if (unlost.size > 0) throw new Error(`${unlost.size} purchases never met the fault`);
  },
};
