import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFields } from '../../agents/health/mip-client.ts';
import { urlBelow } from '../../agents/health/upstream.ts';
import { isObject, type Json, parseObject, scalarText } from '../../lib/json/json-object.ts';
import { errorIn } from '../../lib/net/error-text.ts';
import { whileAway } from '../../store/while-away.ts';
import type { Invocation, Outcome } from '../invocation.ts';
import { type Adapter, type AgentCall, type CallContext, CallFailedError } from './adapter.ts';
import { completed, describeError } from './agent-answer.ts';
import { invalidAnswer, post, refused } from './exchange.ts';
import { deadlinePassed, getPatiently, pollPauses } from './poll.ts';
import { isHandle, recordHandle } from './upstream-call-store.ts';

/** A job of an agent of MIP-003 (Masumi). Its own payments are in Cardano, which this node does not hold. */
export const mipAdapter: Adapter = {
  async prepare(ctx, call) {
    const { target, invocation, signal } = call;
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
  resume: followJob,
};

async function followJob(ctx: CallContext, call: AgentCall, jobId: string): Promise<Outcome> {
  const url = new URL(urlBelow(call.target.endpoint, '/status'));
  url.searchParams.set('job_id', jobId);
  for (const pauseMs of pollPauses(ctx, call)) {
    const answer = await getPatiently(ctx, call, url.href);
    const value = parseObject(answer.body.toString('utf8'));
    if (answer.status !== 200) return refused(answer.status, value);
    const outcome = readJob(value);
    if (outcome) return outcome;
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

/** The end of a job; null: it is still running, as in any unknown state. */
export function readJob(value: Json | undefined): Outcome | null {
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
      throw new CallFailedError('agent_needs_input', 'The agent asked for more input, which a call does not have.');
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
