import { ApiError, isApiError, NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import type { Payer } from './payer.ts';
import type { Send, SendOptions } from './send-request.ts';

/** A paid call is repeated more often: giving up on it leaves the caller unsure of its money. */
const paidRetries = 8;

export interface Sent<T> {
  readonly answer: T;
  /** The request that was answered, with its payment: sent again, it is the same call and is not paid again. */
  readonly request: HttpRequest;
}

function shownPayment(request: HttpRequest): boolean {
  return Object.keys(request.headers).some((name) => /^(payment-signature|x-payment)$/i.test(name));
}

/**
 * Sends a request and, when it is answered with 402, once more with a payment: the same request, the same Idempotency-Key.
 * A payment is signed at most once; an error after that carries its headers. Throws `PaymentRefusedError` from the payer.
 */
export async function sendPaying<T>(
  payer: Payer | undefined,
  request: HttpRequest,
  options: SendOptions,
  send: Send<T>,
): Promise<Sent<T>> {
  let terms: string | null = null;
  const onResponse = (response: Response) => {
    terms = response.headers.get('payment-required');
  };
  try {
    return { answer: await send(request, { ...options, onResponse }), request };
  } catch (error) {
    if (!payer || !isApiError(error, 'PAYMENT_REQUIRED') || shownPayment(request)) throw error;
  }
  const payment = await payer.pay(terms ?? '');
  const paid = { ...request, headers: { ...request.headers, ...payment } };
  try {
    const maxRetries = Math.max(options.maxRetries, paidRetries);
    return { answer: await send(paid, { ...options, maxRetries }), request: paid };
  } catch (error) {
    if (error instanceof ApiError || error instanceof NoAnswerError) error.paymentHeaders = payment;
    throw error;
  }
}
