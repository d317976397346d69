import { setTimeout as sleep } from 'node:timers/promises';
import { peersFolder } from '../peers.ts';
import type { Asked, Contender } from './contender.ts';
import type { TestPurchase } from './purchase.ts';
import { resultOf } from './worker.ts';

export type Send = (request: Request) => Promise<Response>;

export interface Bought {
  readonly hasResult: boolean;
  /** The end of the story, for whoever asks why there is none. */
  readonly lastAnswer: string;
  /** Has what is left in the channel refunded, where one was paid through. */
  readonly close?: () => Promise<void>;
}

export interface BuyerOptions {
  /** Time limit of the buyer's first call. */
  readonly firstTimeoutMs?: number;
  /** Sends a request to the server. */
  readonly send?: Send;
}

const MAX_FAILURES = 5;
const TIMEOUT_MS = 30_000;
const PATIENCE_MS = 60_000;
/** The answers that tell nothing about the purchase but when to ask again. */
const LATER = new Set([409, 425, 429]);

/** Rules that every buyer follows, the same for each seller; printed with the figures. */
export const policy = [
  'One wallet and one Idempotency-Key per purchase; @x402/fetch 2.27 signs, and signs anew whenever it is asked to pay again.',
  `Time-out (${TIMEOUT_MS / 1000} s unless said otherwise), 5xx, or a 402 to the payment: the call is repeated through it after 0.5, 1, 2, 4 s (${MAX_FAILURES} calls at most).`,
  'Server not reached or connection broken, 409, 425, 429: repeated after 1 s, for a minute.',
  'By channel: no key, and the same client with both schemes registered. It signs anew after a 503, too, and has the rest of its channel refunded in the end.',
  '503 with Retry-After to a payment: the identical request is sent again after that time. Any other answer ends it.',
] as const;

type CallOutcome = {
  readonly kind: 'result' | 'end' | 'failure' | 'later';
  readonly text: string;
  readonly waitMs?: number;
};

/** Has a purchase made by the stock client, until there is a result or nothing more to hope for. */
export async function buy(contender: Contender, purchase: TestPurchase, options: BuyerOptions = {}): Promise<Bought> {
  const asked = contender.ask(purchase);
  const { firstTimeoutMs = TIMEOUT_MS, send = fetch } = options;
  const stock = await stockClient(contender, purchase, send);
  const untilMs = performance.now() + PATIENCE_MS;
  let outcome: CallOutcome = { kind: 'later', text: 'never sent' };
  for (let calls = 0, failures = 0; failures < MAX_FAILURES && performance.now() < untilMs; calls++) {
    const timeoutMs = calls === 0 ? firstTimeoutMs : TIMEOUT_MS;
    outcome = await inTime(timeoutMs, (signal) => judged(purchase, () => stock.call(asked, signal)));
    if (outcome.kind === 'result' || outcome.kind === 'end') break;
    if (outcome.kind === 'failure') await sleep(500 * 2 ** failures++);
    else await sleep(outcome.waitMs ?? 1000);
  }
  const bought = { hasResult: outcome.kind === 'result', lastAnswer: outcome.text };
  return stock.close ? { ...bought, close: stock.close } : bought;
}

/** The stock client of one purchase, and what is sent by hand: the payment again that the server asked to see again. */
async function stockClient(contender: Contender, purchase: TestPurchase, send: Send) {
  const { stockFetch, stockChannelFetch } = await import(`${peersFolder}stock-fetch.mjs`);
  let paidHeaders: Headers | null = null;
  let isToBeShownAgain = false;
  const noting: Send = (request) => {
    if (request.headers.has('payment-signature')) paidHeaders = new Headers(request.headers);
    return send(request);
  };
  const { payerKey } = purchase;
  const { channelChain } = contender;
  const channels = channelChain && stockChannelFetch(noting, payerKey, channelChain);
  const fetchPaying = (channels ? channels.pay : stockFetch(noting, payerKey)) as typeof fetch;
  const close = async () => void (await channels.close(contender.ask(purchase).url));
  return {
    ...(channels ? { close } : {}),
    async call({ url, headers, body }: Asked, signal: AbortSignal): Promise<Response> {
      const init = { method: 'POST', body, signal };
      // Sent by hand, an answer tells the client nothing of its channel: it signs anew.
      const again = isToBeShownAgain && !channels ? paidHeaders : null;
      if (!again) paidHeaders = null;
      const response = await (again
        ? send(new Request(url, { ...init, headers: again }))
        : fetchPaying(url, { ...init, headers }));
      isToBeShownAgain = response.status === 503 && response.headers.has('retry-after') && paidHeaders !== null;
      return response;
    },
  };
}

async function judged({ id }: TestPurchase, call: () => Promise<Response>): Promise<CallOutcome> {
  try {
    const response = await call();
    const { status, headers } = response;
    const body = await response.text();
    const text = `${status} ${body.slice(0, 300)}`;
    if (status === 200 && body.includes(resultOf(id))) return { kind: 'result', text };
    const retryAfter = headers.get('retry-after');
    if (status === 503 && retryAfter !== null) return { kind: 'later', text, waitMs: Number(retryAfter) * 1000 };
    if (LATER.has(status)) return { kind: 'later', text };
    return { kind: status === 402 || status >= 500 ? 'failure' : 'end', text };
  } catch (error) {
    const cause = error instanceof Error && error.cause ? `: ${error.cause}` : '';
    return { kind: 'later', text: `${error}${cause}` };
  }
}

/** Calls that are given up are failures, also when the signal does not reach them: copies of a request can lose it. */
async function inTime(timeoutMs: number, call: (signal: AbortSignal) => Promise<CallOutcome>): Promise<CallOutcome> {
  const giveUp = new AbortController();
  const late = Promise.withResolvers<CallOutcome>();
  const timer = setTimeout(() => {
    late.resolve({ kind: 'failure', text: `no answer in ${timeoutMs} ms` });
    giveUp.abort();
  }, timeoutMs);
  return Promise.race([call(giveUp.signal), late.promise]).finally(() => clearTimeout(timer));
}
