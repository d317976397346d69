import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFields } from '../../../agents/upstream/mip-client.ts';
import { urlBelow } from '../../../agents/upstream/upstream.ts';
import { whileAway } from '../../../db/while-away.ts';
import { type Json, parseObject } from '../../../lib/json/json-object.ts';
import { scalarText } from '../../../lib/json/json-text.ts';
import type { Invocation, Outcome } from '../../invocation.ts';
import { type Adapter, CallFailedError } from '../adapter.ts';
import { completed, describeError } from '../agent-answer.ts';
import type { AgentCall, CallContext } from '../agent-call.ts';
import { invalidAnswer, post, refused } from '../exchange.ts';
import { deadlinePassed, getPatiently, pollPauses } from '../poll.ts';
import { isHandle, noteHandle } from '../upstream-call-store.ts';

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
      if (reply.status !== 200 && reply.status !== 201) return refused(reply.status, value?.error ?? value?.detail);
      const jobId = value?.job_id;
      if (!isHandle(jobId)) return invalidAnswer('without a job_id');
      await whileAway(signal, () => noteHandle(ctx.db, invocation.id, jobId));
      return followJob(ctx, call, jobId);
    };
  },
  resume: followJob,
};

const textTypes = new Set(['string', 'text', 'textarea']);

/** The caller's input; without one, its task in the only text field that the agent requires. */
function toInput(fields: readonly Json[], { task, input }: Invocation): Json {
  if (Object.keys(input).length > 0) return input;
  const required = fields.filter((field) => !isOptional(field));
  const [field, another] = required.filter(({ type }) => textTypes.has(scalarText(type)));
  const isOnly = field !== undefined && another === undefined && typeof field.id === 'string';
  return isOnly ? { [field.id as string]: task } : {};
}

const isOptional = ({ validations }: Json): boolean =>
  Array.isArray(validations) &&
  validations.some((each) => each?.validation === 'optional' && (each.value === true || each.value === 'true'));

async function followJob(ctx: CallContext, call: AgentCall, jobId: string): Promise<Outcome> {
  const url = new URL(urlBelow(call.target.endpoint, '/status'));
  url.searchParams.set('job_id', jobId);
  for (const pauseMs of pollPauses(ctx, call)) {
    const answer = await getPatiently(ctx, call, url.href);
    const value = parseObject(answer.body.toString('utf8'));
    if (answer.status !== 200) return refused(answer.status, value?.error ?? value?.detail);
    const outcome = readJob(value);
    if (outcome) return outcome;
    await sleep(pauseMs, undefined, { signal: call.signal }).catch(() => undefined);
  }
  throw deadlinePassed();
}

/** The end of a job; null: it goes on. */
function readJob(value: Json | undefined): Outcome | null {
  switch (value?.status) {
    case 'completed':
      return readResult(value.result);
    case 'failed':
      throw new CallFailedError(
        'agent_error',
        `The agent failed${describeError({ message: value.error ?? value.message })}.`,
      );
    case 'awaiting_payment':
      throw new CallFailedError(
        'bill_not_payable',
        "The agent's bill cannot be paid: it asks for a payment on Cardano.",
      );
    case 'awaiting_input':
      throw new CallFailedError('agent_needs_input', 'The agent asked for more input, which a call does not have.');
    case 'running':
    case 'pending':
    case 'working':
      return null;
    default:
      return invalidAnswer('with a status that MIP-003 does not have');
  }
}

function readResult(result: unknown): Outcome {
  if (typeof result === 'string') return completed(parseObject(result) ?? { text: result });
  return result === undefined || result === null ? invalidAnswer('without a result') : completed(result);
}
