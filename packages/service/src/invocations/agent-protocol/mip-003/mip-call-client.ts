import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { readFields } from '../../../agents/upstream/mip-client.ts';
import { urlBelow } from '../../../agents/upstream/upstream.ts';
import { whileAway } from '../../../db/while-away.ts';
import { parseObject } from '../../../lib/json/json-object.ts';
import type { Outcome } from '../../invocation.ts';
import type { Adapter } from '../adapter.ts';
import type { AgentCall, CallContext } from '../agent-call.ts';
import { post, refused } from '../exchange.ts';
import { deadlinePassed, getPatiently, pollPauses } from '../poll.ts';
import { noteHandle } from '../upstream-call-store.ts';
import { jobIdIn, readJob, toInput } from './mip-wire.ts';

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
      await whileAway(signal, () => noteHandle(ctx.db, invocation.id, jobId));
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
