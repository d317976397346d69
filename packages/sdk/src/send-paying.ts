import { ApiError, isApiError, NoAnswerError } from './api-error.ts';
import type { HttpRequest } from './build-request.ts';
import type { PaidAnswer } from './channels/channel-payments.ts';
import type { Payer } from './payer.ts';
import type { Send, SendOptions } from './send-request.ts';

/** A paid call is repeated more often: giving up on it leaves the caller unsure of its money. */
const paidRetries = 8;

export interface Sent<T> {
  readonly answer: T;
  /** The request that was answered, with its payment: sent again, it is the same call and is not paid again. */
  readonly request: HttpRequest;
}

function readPresentedPayment(request: HttpRequest): boolean {
  return Object.keys(request.headers).some((name) => /^(payment-signature|x-payment)$/i.test(name));
}

/** Error of a failed request. One that its caller gave up may be done and paid all the same: the reason of an abort does not say so. */
function endOf(given: unknown, request: HttpRequest, signal: AbortSignal | undefined): unknown {
  const isGivenUp = signal?.aborted && given === signal.reason;
  if (!isGivenUp || (request.headers['idempotency-key'] === undefined && !readPresentedPayment(request))) return given;
  return new NoAnswerError('The call was given up before its answer', { cause: given });
}

/**
 * Notes in the error of a request that was sent the payment that it showed, if any, and its Idempotency-Key. Returns the error; for the
 * reason of its caller's abort, a `NoAnswerError` of that cause.
 */
export function withPayment(given: unknown, request: HttpRequest, signal: AbortSignal | undefined): unknown {
  const error = endOf(given, request, signal);
  if (!(error instanceof ApiError || error instanceof NoAnswerError)) return error;
  const { headers } = request;
  const signature = headers['payment-signature'];
  if (signature !== undefined) error.paymentHeaders = { 'payment-signature': signature };
  error.idempotencyKey = headers['idempotency-key'];
  return error;
}

/** Statuses after which it is unknown whether the call ran. */
const doubtful = [500, 502, 504];

/** Records the payment parts of the answers to a request's attempts. */
function listen({ fetch }: SendOptions) {
  const answers: (PaidAnswer | null)[] = [];
  const sending: Pick<SendOptions, 'fetch' | 'onResponse'> = {
    fetch: (...args) => {
      answers.push(null);
      return fetch(...args);
    },
    onResponse: ({ status, headers }) => {
      const [paymentRequired, paymentResponse] = [headers.get('payment-required'), headers.get('payment-response')];
      answers[answers.length - 1] = { status, paymentRequired, paymentResponse };
    },
  };
  const last = (): PaidAnswer | null => {
    const earlier = answers.slice(0, -1);
    const mayHaveRun = earlier.some((answer) => answer === null || doubtful.includes(answer.status));
    const answer = answers.at(-1);
    return answer ? { ...answer, mayHaveRun } : null;
  };
  return { sending, last };
}

/**
 * Sends a request and, on 402, sends it again with a payment and the same Idempotency-Key. If the payment is refused and the payer has a
 * better one, tries that. Later errors carry the headers of the last payment, as does the `NoAnswerError` of an aborted call. Throws
 * `PaymentRefusedError` from the payer.
 */
export async function sendPaying<T>(
  payer: Payer | undefined,
  given: HttpRequest,
  options: SendOptions,
  send: Send<T>,
): Promise<Sent<T>> {
  const request = payer?.schemes
    ? { ...given, headers: { 'x-payment-scheme': payer.schemes.join(', '), ...given.headers } }
    : given;
  const { signal } = options;
  // Nothing was sent: the reason stays as it is.
  signal?.throwIfAborted();
  const first = listen(options);
  try {
    return { answer: await send(request, { ...options, ...first.sending }), request };
  } catch (error) {
    if (!payer || !isApiError(error, 'PAYMENT_REQUIRED') || readPresentedPayment(request))
      throw withPayment(error, request, signal);
  }
  const maxRetries = Math.max(options.maxRetries, paidRetries);
  let payment = await payer.pay(first.last()?.paymentRequired ?? '', request.url);
  for (;;) {
    const paid = { ...request, headers: { ...request.headers, ...payment } };
    const { sending, last } = listen(options);
    try {
      const answer = await send(paid, { ...options, ...sending, maxRetries });
      // The call is done: books that could not be kept show at the next payment.
      await payer.answered?.(payment, last()).catch(() => undefined);
      return { answer, request: paid };
    } catch (error) {
      const told = last();
      // A call that was given up is not paid again: without terms there is nothing to sign.
      const next = await payer.answered?.(payment, told && signal?.aborted ? { ...told, paymentRequired: null } : told);
      if (!next) throw withPayment(error, paid, signal);
      payment = next;
    }
  }
}
