import { buy } from './buyer.ts';
import type { Fault, Scene } from './fault.ts';
import { payersIn, SENDING } from './raw-transactions.ts';

const AT_ONCE = 25;
const SETTLED_WITHIN_MS = 60_000;
const RECEIPT = 'eth_getTransactionReceipt';

export const killAfterSettle: Fault = {
  name: 'kill after settle',
  what: `kill -9 of the server when the payments of ${AT_ONCE} purchases are in blocks and none is answered; it starts again`,
  isWorkLost: false,
  async run(scene) {
    for (let from = 0; from < scene.purchases.length; from += AT_ONCE)
      await killOnce({ ...scene, purchases: scene.purchases.slice(from, from + AT_ONCE) });
  },
};

/** Keeps every answer back until all payments are mined, kills, and lets the buyers go on with the server that starts again. */
async function killOnce(scene: Scene): Promise<void> {
  const { contender, worker, purchases, note } = scene;
  const release = Promise.withResolvers<void>();
  const mined = holdUntilMined(scene, release.promise);
  worker.behave(async ({ nth }) => {
    if (contender.answersAfter === 'work' && nth === 1) await release.promise;
    return 200;
  });
  const bought = Promise.all(purchases.map(async (purchase) => note(purchase, await buy(contender, purchase))));
  await Promise.race([mined, bought.then(() => Promise.reject(new Error('answered before the kill')))]);
  await contender.kill();
  contender.proxy.rule(SENDING, null);
  contender.proxy.rule(RECEIPT, null);
  release.resolve();
  await contender.restart();
  await bought;
}

/**
 * Resolves when the chain has the payments of all. Receipts are kept back from a server that answers as soon as it has one; from
 * one that has work to do first, only the last ones are, so that some payments are known to be settled and others are not.
 */
async function holdUntilMined({ contender, purchases }: Scene, released: Promise<void>): Promise<void> {
  const unmined = new Set(purchases.map(({ payer }) => payer));
  const all = Promise.withResolvers<void>();
  contender.proxy.rule(SENDING, async (call) => {
    const answer = await call.forward();
    for (const payer of payersIn(call, unmined)) unmined.delete(payer);
    if (unmined.size > 0 || contender.answersAfter === 'receipt') {
      if (unmined.size === 0) all.resolve();
      return answer;
    }
    all.resolve();
    await released;
    return null;
  });
  contender.proxy.rule(RECEIPT, async (call) => {
    if (contender.answersAfter === 'work' && unmined.size > 0) return call.forward();
    await released;
    return null;
  });
  const late = setTimeout(() => all.reject(new Error(`${unmined.size} payments were not sent`)), SETTLED_WITHIN_MS);
  await all.promise.finally(() => clearTimeout(late));
}
