import { type Connection, headerOf, headerPattern, openConnection, requestText } from './http-connection.ts';
import type { LoadResult, PaidJob } from './load-jobs.ts';
import { measure } from './measure.ts';
import { requireAnswer } from './plain-job.ts';
import { type Offer, type SignedTransfer, signTransfers } from './sign-transfers.ts';

const FIRST_CALLS = 20;
const MAX_SIGNED = 5000;
const requiredHeader = headerPattern('payment-required');
export const responseHeader = headerPattern('payment-response');

interface PaymentRequired<Asked> {
  readonly resource: unknown;
  readonly accepts: readonly [Asked, ...Asked[]];
}

/**
 * Pays one call after the other. A signature covers neither the memo nor the offer's code, so it is made before the clock runs, for the
 * terms of the first 402; every later 402 must have the same terms, and gets one signature of the stock.
 */
export async function runPaidJob(job: PaidJob): Promise<LoadResult> {
  const url = new URL(job.request.url);
  const connections = await Promise.all(Array.from({ length: job.callers }, () => openConnection(url)));
  const first = await readOffers<Offer>(connections[0] as Connection, requestText(job.request));
  let stock: SignedTransfer[] = [];
  const pay = async (caller: number) => {
    const transfer = stock.pop();
    if (transfer) await payOnce(job, connections[caller] as Connection, transfer, first.accepts[0]);
    return transfer !== undefined;
  };
  try {
    stock = (await signTransfers(first.accepts[0], job.payerKeys, FIRST_CALLS + 2 * job.callers)).transfers;
    const warmUp = await measure(pay, { ...job, seconds: 30 });
    const enough = Math.ceil(warmUp.perSecond * job.seconds * 1.5) + job.callers;
    const signed = await signTransfers(first.accepts[0], job.payerKeys, Math.min(MAX_SIGNED, enough));
    stock = signed.transfers;
    return { ...(await measure(pay, job)), signMs: signed.eachMs };
  } finally {
    for (const connection of connections) connection.close();
  }
}

async function payOnce(job: PaidJob, connection: Connection, transfer: SignedTransfer, terms: Offer): Promise<void> {
  const { resource, accepts } = await readOffers<Offer>(connection, requestText(job.request));
  const [accepted] = accepts;
  if (accepted.payTo !== terms.payTo || accepted.amount !== terms.amount) throw new Error('the terms changed');
  const payment = encode({ x402Version: 2, resource, accepted, payload: transfer });
  const headers = { ...job.request.headers, 'payment-signature': payment };
  const answer = await connection.send(requestText({ ...job.request, headers }));
  requireAnswer(answer, { status: 200, includes: job.includes });
  const settled = decode(headerOf(answer.head, responseHeader)) as { success: boolean; transaction: string };
  if (!settled.success || !/^0x[0-9a-f]{64}$/.test(settled.transaction))
    throw new Error('an answer without a settled payment');
}

/** Asks without a payment, and answers what is asked for. */
export async function readOffers<Asked>(connection: Connection, text: string): Promise<PaymentRequired<Asked>> {
  const answer = await connection.send(text);
  requireAnswer(answer, { status: 402, includes: '' });
  return decode(headerOf(answer.head, requiredHeader)) as PaymentRequired<Asked>;
}

export const decode = (header: string | null): unknown => JSON.parse(Buffer.from(header ?? '', 'base64').toString());
export const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
