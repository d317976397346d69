import { expect, it } from 'vitest';
import { ApiError, NoAnswerError } from './api-error.ts';
import { InvocationTimeoutError, InvocationUnknownError } from './invoke-and-wait.ts';
import { mayHaveHappened } from './may-have-happened.ts';

const answer = (code: 'CONFLICT', status: number, message: string, extra: object) =>
  new ApiError({ code, status, message, extra, requestId: undefined, retryAfterS: undefined });
const codes = (code: string, status: number, message = 'x', extra = {}) =>
  answer(code as 'CONFLICT', status, message, extra);
const because = (reason: string) => codes('CONFLICT', 409, 'x', { details: { reason } });
const stillRunning = 'A request with this Idempotency-Key is still running; repeat it later.';
const answerLost =
  'The call under this Idempotency-Key was done, and is not done again. Its answer was sealed with an earlier SECRET_KEY of this node and cannot be read: read what the call made.';

it.each([
  ['no answer came', new NoAnswerError('gone'), true],
  ['its caller stopped waiting', AbortSignal.abort().reason, true],
  ['the time of its caller ran out', new DOMException('late', 'TimeoutError'), true],
  ['its end is not known yet', new InvocationTimeoutError('req_1', 1), true],
  ['the node does not tell its end', new InvocationUnknownError('req_1', 'x', codes('UNAUTHORIZED', 401)), true],
  ['the node failed', codes('INTERNAL_ERROR', 500), true],
  ['the payment is on its way', codes('PAYMENT_PENDING', 503), true],
  ['the node counts no more calls', codes('RATE_LIMITED', 429), true],
  ['the first attempt still runs', because('still_running'), true],
  ['it was done, and its answer is lost', because('answer_lost'), true],
  ['an older node says that the first attempt still runs', codes('CONFLICT', 409, stillRunning), true],
  ['an older node says that it was done, and its answer is lost', codes('CONFLICT', 409, answerLost), true],
  ['another took it', codes('CONFLICT', 409), false],
  ['the payment was refused', codes('PAYMENT_REQUIRED', 402), false],
  ['there is not enough', codes('INSUFFICIENT_FUNDS', 402), false],
  ['the proof is none', codes('VALIDATION_ERROR', 400), false],
  ['the wallet declined', new Error('The request was declined in the wallet. Nothing was signed.'), false],
])('whether a call may have happened is told when %s', (_what, error, expected) =>
  expect(mayHaveHappened(error)).toBe(expected),
);

it('a call of an agent that is offline was not made, unless it showed a payment', () => {
  const error = codes('AGENT_UNAVAILABLE', 503);
  expect(mayHaveHappened(error)).toBe(false);
  error.paymentHeaders = { 'payment-signature': 'p1' };
  expect(mayHaveHappened(error)).toBe(true);
});
