import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFields } from '../../../agents/health/mip-client.ts';
import { urlBelow } from '../../../agents/health/upstream.ts';
import { invariant } from '../../../lib/invariant.ts';
import { isObject, type Json, parseObject, scalarText } from '../../../lib/json/json-object.ts';
import { errorIn } from '../../../lib/net/error-text.ts';
import type { PaymentProof } from '../../../payments/x402/payment-proof.ts';
import { whileAway } from '../../../store/while-away.ts';
import type { AgentOutcome, Invocation, Outcome } from '../../invocation.ts';
import { keepWithQuestion } from '../../turns/turn-store.ts';
import { type Adapter, type AgentCall, type Billed, type CallContext, CallFailedError } from '../adapter.ts';
import { completed, describeError } from '../agent-answer.ts';
import { invalidAnswer, post, refused } from '../exchange.ts';
import { deadlinePassed, getPatiently, pollPauses } from '../poll.ts';
import { isHandle, recordHandle } from '../upstream-call-store.ts';
import { inputFor, isAnswered, isBound, proofOf, questionOf } from './mip-question.ts';

/** A job of an agent of MIP-003 (Masumi). Its own payments are in Cardano, which this node does not hold. */
export const mipAdapter: Adapter = {
  async prepare(ctx, call) {
    const { target, invocation, answers, signal } = call;
    if (answers.length > 0) return (proof) => provideInput(ctx, call, proof);
    const fields = await readFields(ctx, target, signal);
    const body = {
      identifier_from_purchaser: createHash('sha256').update(invocation.id).digest('hex').slice(0, 20),
      input_data: toInput(fields ?? [], invocation),
    };
    return async (proof) => {
      const reply = await post(ctx, call, { url: urlBelow(target.endpoint, '/start_job'), body, proof });
      if (reply.kind === 'billed') return reply;
      const value = parseObject(reply.body.toString('utf8'));
      if (reply.status !== 200 && reply.status !== 201) return refused(reply.status, value);
      const jobId = jobIdIn(value);
      await whileAway(signal, () => recordHandle(ctx.db, invocation, jobId));
      return followJob(ctx, call, jobId);
    };
  },
  async resume(ctx, call, jobId) {
    const { answers } = call;
    if (isBound(answers.at(-1)) && isAnswered(call, await readJobAgain(ctx, call, jobId))) return 'unsent';
    return followJob(ctx, call, jobId);
  },
};

/** Brings an answer to its job, and follows that. The agent's hash and signature of it are kept with the question. */
async function provideInput(
  ctx: CallContext,
  call: AgentCall,
  proof: PaymentProof | null,
): Promise<AgentOutcome | Billed> {
  const { target, invocation, answers, signal } = call;
  const answer = answers.at(-1);
  invariant(answer !== undefined && answer.handle !== null, 'an answer to a job is for a job');
  if (answer.action === 'decline')
    throw new CallFailedError('input_declined', 'The answer was declined, which agents of MIP-003 cannot be told.');
  const { handle: jobId } = answer;
  const url = urlBelow(target.endpoint, '/provide_input');
  const reply = await post(ctx, call, { url, body: inputFor(answer, jobId), proof });
  if (reply.kind === 'billed') return reply;
  const value = withoutEnvelope(parseObject(reply.body.toString('utf8')) ?? {});
  if (reply.status !== 200 && reply.status !== 201) return refused(reply.status, value);
  if (isFailure(value.status))
    throw new CallFailedError('agent_error', `The agent failed${describeError(errorIn(value))}.`);
  const state = proofOf(answer, value);
  await whileAway(signal, () => keepWithQuestion(ctx.db, invocation.id, { turn: invocation.turn - 1, state }));
  return followJob(ctx, call, jobId);
}

/** The job as the agent has it now. */
async function readJobAgain(ctx: CallContext, call: AgentCall, jobId: string): Promise<Json> {
  const url = new URL(urlBelow(call.target.endpoint, '/status'));
  url.searchParams.set('job_id', jobId);
  const answer = await getPatiently(ctx, call, url.href);
  const value = parseObject(answer.body.toString('utf8'));
  return answer.status === 200 ? withoutEnvelope(value ?? {}) : refused(answer.status, value);
}

async function followJob(ctx: CallContext, call: AgentCall, jobId: string): Promise<AgentOutcome> {
  for (const pauseMs of pollPauses(ctx, call)) {
    const job = await readJobAgain(ctx, call, jobId);
    const outcome = readJob(job);
    if (outcome === 'asks' && !isAnswered(call, job)) return questionOf(call, job, jobId);
    if (outcome !== null && outcome !== 'asks') return outcome;
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
  throw deadlinePassed();
}

const textTypes = new Set(['string', 'text', 'textarea']);

/** The caller's input; without one, its task in the only text field that the agent requires. */
export function toInput(fields: readonly Json[], { task, input }: Pick<Invocation, 'task' | 'input'>): Json {
  if (Object.keys(input).length > 0) return input;
  const required = fields.filter((field) => !isOptional(field));
  const [field, another] = required.filter(({ type }) => textTypes.has(scalarText(type).toLowerCase()));
  const isOnly = field !== undefined && another === undefined && typeof field.id === 'string';
  return isOnly ? { [field.id as string]: task } : {};
}

const isOptional = ({ validations }: Json): boolean =>
  Array.isArray(validations) &&
  validations.some((each) => each?.validation === 'optional' && (each.value === true || each.value === 'true'));

/** An answer without the envelope that some agents put around it. */
const withoutEnvelope = (value: Json): Json =>
  isObject(value.data) && value.result === undefined ? { ...value, ...value.data } : value;

/** The id of a job that was started. Throws CallFailedError when the agent refused it, or names none. */
export function jobIdIn(value: Json | undefined): string {
  const { job_id: id, id: other, jobId, status } = withoutEnvelope(value ?? {});
  const found = [id, jobId, other].map(scalarText).find(isHandle);
  if (found !== undefined) return found;
  if (isFailure(status)) throw new CallFailedError('agent_error', `The agent failed${describeError(errorIn(value))}.`);
  return invalidAnswer('without a job_id');
}

const failures = new Set([
  'failed',
  'failure',
  'error',
  'cancelled',
  'canceled',
  'rejected',
  'expired',
  'timeout',
  'refunded',
]);
const isFailure = (status: unknown): boolean => failures.has(scalarText(status).toLowerCase());

/** The end of a job; `asks`: it awaits input; null: it is still running, as in any unknown state. */
export function readJob(value: Json | undefined): Outcome | 'asks' | null {
  const job = withoutEnvelope(value ?? {});
  const status = scalarText(job.status).toLowerCase();
  if (isFailure(status)) throw new CallFailedError('agent_error', `The agent failed${describeError(errorIn(job))}.`);
  switch (status) {
    case 'completed':
      return readResult(job.result);
    case 'awaiting_payment':
      throw new CallFailedError(
        'bill_not_payable',
        "The agent's bill cannot be paid: it asks for a payment on Cardano.",
      );
    case 'awaiting_input':
      return 'asks';
    case '':
      return invalidAnswer('without a status of the job');
    default:
      return null;
  }
}

function readResult(result: unknown): Outcome {
  if (typeof result === 'string') return completed(parseObject(result) ?? { text: result });
  return result === undefined || result === null ? invalidAnswer('without a result') : completed(result);
}
