import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { toErrorAnswer } from '../answer/errors.ts';
import type { ShedReason } from './wait-limit.ts';

const messages: Readonly<Record<ShedReason, string>> = {
  queue_time: 'The node is overloaded, and the request would wait too long.',
  full: 'The node is overloaded, and too many requests wait.',
  deadline: 'The node is overloaded, and the deadline is before the turn of the request.',
};

/** The answer to a request that was not begun: 503, `outcome: nothing`, and a `Retry-After` that differs from caller to caller. */
export function refusal(reason: ShedReason, givenId: string | string[] | undefined): Response {
  const requestId = typeof givenId === 'string' && /^[\w-]{8,128}$/.test(givenId) ? givenId : newId('req');
  const message = `${messages[reason]} Nothing was done; repeat the request later.`;
  const error = new AppError('UNAVAILABLE', message, { details: { outcome: 'nothing' } });
  const { status, headers, body } = toErrorAnswer(error, requestId);
  const all = { ...commonHeaders, ...headers, 'content-type': 'application/json', 'x-request-id': requestId };
  return new Response(JSON.stringify(body), { status, headers: all });
}
