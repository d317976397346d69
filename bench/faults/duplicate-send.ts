import { buy, type Send } from './buyer.ts';
import type { Fault } from './fault.ts';
import { inLanes } from './purchase.ts';

const COPIES = 5;
/** One purchase after another: what a server makes of purchases at the same time is another matter. */
const LANES = 1;

/** The buyer takes the first good answer: the kindest reading for a server that refuses all copies but one. */
const sendCopies: Send = async (request) => {
  if (!request.headers.has('payment-signature')) return fetch(request);
  const copies = Array.from({ length: COPIES }, () => fetch(request.clone()));
  const good = copies.map(async (copy) => {
    const answer = await copy;
    if (!answer.ok) throw new Error(`answered ${answer.status}`);
    return answer;
  });
  return Promise.any(good).catch(() => Promise.race(copies));
};

export const duplicateSend: Fault = {
  name: 'duplicate send',
  what: `each paid request arrives ${COPIES} times at once; the buyer takes the first good answer, and then makes the next purchase`,
  isWorkLost: false,
  run: ({ contender, purchases, note }) =>
    inLanes(purchases, LANES, async (purchase) => note(purchase, await buy(contender, purchase, { send: sendCopies }))),
};
