import type { Answer } from '../../support/harness.ts';
import type { ModelRun } from './model-run.ts';
import type { Reply } from './money-model.ts';
import { finalAnswer, type Prepared, type PreparedCall, post, replyOf } from './perform.ts';

/**
 * `at once`: twice at the same moment. `later`: again once it was answered. `same payment`: under another key, or none at all.
 * `other body`: the key, and the payment if there is one, for something else.
 */
export type Duplication = 'at once' | 'later' | 'same payment' | 'other body';

/** Does an operation, and repeats its call: however it is repeated, it is done once, and who repeats it learns of the same thing. */
export async function performTwice(run: ModelRun, prepared: Prepared, how: Duplication): Promise<Reply> {
  const { call } = prepared;
  if (call === null) return prepared.perform();
  if (how === 'at once') await Promise.all([post(run, call), post(run, call)]).then(requireAlike);
  const reply = await prepared.perform();
  const first = await finalAnswer(run, call);
  requireAlike([first]);
  if (replyOf(first) !== reply) throw new Error(`first ${reply}, then answered with ${first.status}`);
  if (how === 'same payment') await showAgain(run, call, first);
  if (how === 'other body' && reply === 'done') await useForAnother(run, call);
  return reply;
}

/** Requires that all answers to concurrent calls are about the same thing. */
function requireAlike(answers: readonly Answer[]): void {
  const things = new Set(answers.filter(({ status }) => status === 200).map(thingOf));
  if (things.size > 1) throw new Error(`repeated, and made more than one thing: ${[...things].join(', ')}`);
}

const thingOf = ({ body }: Answer): string => {
  const { requestId, paymentId, withdrawalId } = body.data;
  return String(requestId ?? paymentId ?? withdrawalId);
};

const paymentOf = ({ options }: PreparedCall): string | undefined => options.headers['payment-signature'];

async function showAgain(run: ModelRun, call: PreparedCall, first: Answer): Promise<void> {
  if (paymentOf(call) === undefined) return;
  const { 'idempotency-key': _key, ...headers } = call.options.headers;
  const again = await finalAnswer(run, { ...call, options: { ...call.options, headers } });
  if (replyOf(again) !== replyOf(first)) throw new Error(`the payment shown again is answered with ${again.status}`);
  requireAlike([first, again]);
}

async function useForAnother(run: ModelRun, call: PreparedCall): Promise<void> {
  const { body } = call.options;
  if (body === undefined) return;
  const { 'idempotency-key': key, ...withoutKey } = call.options.headers;
  const other = { ...(body as object), ...('amount' in (body as object) ? { amount: '0.77' } : { task: 'another' }) };
  const withKey = await post(run, { ...call, options: { ...call.options, body: other } });
  if (withKey.status === 200) throw new Error(`the key ${key} was good for two requests`);
  if (paymentOf(call) === undefined) return;
  const paid = await post(run, { ...call, options: { ...call.options, body: other, headers: withoutKey } });
  if (paid.status === 200) throw new Error('one payment was good for two requests');
}
