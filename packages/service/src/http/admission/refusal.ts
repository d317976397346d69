import { AppError } from '../../lib/app-error.ts';
import { newId } from '../../lib/id.ts';
import { STALLED_MS } from '../answer/answer-watch.ts';
import { commonHeaders } from '../answer/common-headers.ts';
import { retryAfterOf, toErrorAnswer } from '../answer/errors.ts';
import type { Held } from './held-request.ts';
import type { ShedReason } from './wait-limit.ts';

const messages: Readonly<Record<ShedReason, string>> = {
  queue_time: 'The node is overloaded, and the request would wait too long.',
  full: 'The node is overloaded, and too many requests wait.',
  deadline: 'The node is overloaded, and the deadline is before the turn of the request.',
};

/** Time for the rest of a body that nobody reads, after which its connection ends. */
const REST_OF_BODY_MS = 500;

/** All ASCII. */
interface Prepared {
  readonly beforeId: string;
  readonly afterId: string;
}

const headers = Object.entries({ ...commonHeaders, 'content-type': 'application/json' }).flat();
const prepared = Object.fromEntries(
  Object.entries(messages).map(([reason, message]) => [reason, prepare(message)]),
) as Record<ShedReason, Prepared>;

function prepare(message: string): Prepared {
  const error = new AppError('UNAVAILABLE', `${message} Nothing was done; repeat the request later.`, {
    details: { outcome: 'nothing' },
  });
  const mark = '<id>';
  const [beforeId = '', afterId = ''] = JSON.stringify(toErrorAnswer(error, mark).body).split(mark);
  return { beforeId, afterId };
}

/**
 * Answers a request that was not begun: 503, `outcome: nothing`, and a `Retry-After` that differs from caller to caller. An overloaded
 * node does this more often than all else, so the text is ready, and nothing but Node's own server has seen the request.
 */
export function refuse({ incoming, outgoing }: Pick<Held, 'incoming' | 'outgoing'>, reason: ShedReason): void {
  const givenId = incoming.headers['x-request-id'];
  const requestId = typeof givenId === 'string' && /^[\w-]{8,128}$/.test(givenId) ? givenId : newId('req');
  const { beforeId, afterId } = prepared[reason];
  const body = beforeId + requestId + afterId;
  const ofThis = ['x-request-id', requestId, 'retry-after', retryAfterOf('UNAVAILABLE') ?? '5'];
  outgoing.writeHead(503, [...headers, ...ofThis, 'content-length', String(body.length)]);
  outgoing.end(body, 'latin1');
  const { socket } = incoming;
  if (!outgoing.writableFinished) socket.setTimeout(STALLED_MS);
  if (!incoming.complete) setTimeout(() => incoming.complete || socket.destroy(), REST_OF_BODY_MS).unref();
}
