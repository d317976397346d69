import { createHmac, timingSafeEqual } from 'node:crypto';
import { AgentError } from './agent-error.ts';
import type { Answer, AnswerOnce, RunOnce } from './answer-once.ts';
import { withResolvers } from './with-resolvers.ts';

const proofOf = (identityToken: string, requestId: string): string =>
  createHmac('sha256', identityToken).update(`status\n${requestId}`).digest('hex');

/**
 * Returns the status URL of an accepted call: a reference relative to the endpoint, which keeps the query of the call. It carries a proof
 * that only the agent can make, because anyone with the URL may read the result or cancel the work.
 */
function statusUrl(identityToken: string, requestId: string, calledUrl: string): string {
  const query = new URLSearchParams(calledUrl.split('?')[1]);
  query.set('request_id', requestId);
  query.set('proof', proofOf(identityToken, requestId));
  return `?${query}`;
}

/** Returns the request that a status URL names: `undefined` when the URL is not a status URL, `null` when its proof is wrong. */
function requestOfStatusUrl(identityToken: string, url: string): string | null | undefined {
  const query = new URLSearchParams(url.split('?')[1]);
  const requestId = query.get('request_id');
  const proof = query.get('proof');
  if (requestId === null || proof === null) return undefined;
  const expected = Buffer.from(proofOf(identityToken, requestId));
  const given = Buffer.from(proof);
  return given.length === expected.length && timingSafeEqual(given, expected) ? requestId : null;
}

/** A node that polls reads a failure from a 200, so that it is not taken for trouble on the way. */
const failedAnswer = ({ status, body }: Answer): Answer =>
  status === 200 ? { status, body } : { status: 200, body: JSON.stringify({ status: 'failed', ...JSON.parse(body) }) };

/** Calls that were answered with 202: each runs on without its caller, who asks at the status URL and may cancel there. */
export class Deferred {
  readonly #answers: AnswerOnce;
  /** Deferred calls with a result that can still be read and has not been. */
  readonly #open = new Set<string>();
  #allRead = withResolvers<void>();

  constructor(answers: AnswerOnce) {
    this.#answers = answers;
    answers.onForgotten = (requestId) => this.#close(requestId);
  }

  /** Starts the call unless it is known, and returns its status URL. */
  accept(call: { requestId: string; identityToken: string; url: string }, run: RunOnce): Answer {
    const { requestId, identityToken, url } = call;
    if (!this.#answers.find(requestId)) this.#open.add(requestId);
    void this.#answers.join(requestId, null, (signal, said) => run(signal, said).then(failedAnswer));
    return { status: 202, body: JSON.stringify({ status_url: statusUrl(identityToken, requestId, url) }) };
  }

  /** Answers at a status URL; null when the URL is none. Throws `AgentError` when it is forged or its request is not known. */
  async answer(method: string, url: string, identityToken: string): Promise<Answer | null> {
    const requestId = requestOfStatusUrl(identityToken, url);
    if (requestId === undefined) return null;
    const known = requestId === null ? undefined : this.#answers.find(requestId);
    if (requestId === null || !known) throw new AgentError('not_found', 'Call not found', 404);
    if (method === 'DELETE') this.#answers.abort(requestId, new Error('the request was cancelled'));
    else if (this.#answers.isRunning(requestId))
      return { status: 200, body: JSON.stringify({ status: 'processing', status_url: url.slice(url.indexOf('?')) }) };
    this.#close(requestId);
    return method === 'DELETE' ? { status: 200, body: JSON.stringify({ status: 'cancelled' }) } : known.answer;
  }

  /** Resolves when the end of every accepted call has been read, or its answer is evicted. */
  async whenAllRead(): Promise<void> {
    this.#answers.forgetOld();
    if (this.#open.size > 0) await this.#allRead.promise;
  }

  #close(requestId: string): void {
    if (!this.#open.delete(requestId) || this.#open.size > 0) return;
    this.#allRead.resolve();
    this.#allRead = withResolvers<void>();
  }
}
