import { type A2aAgent, readA2aAgent } from '../../../agents/health/a2a-card-client.ts';
import { invariant } from '../../../lib/invariant.ts';
import { isObject, parseObject, scalarText } from '../../../lib/json/json-object.ts';
import type { PaymentProof } from '../../../payments/x402/payment-proof.ts';
import { whileAway } from '../../../store/while-away.ts';
import type { AgentOutcome, Outcome } from '../../invocation.ts';
import { type ChunkRecorder, createChunkRecorder } from '../../stream/record-chunks.ts';
import { claimOfAgent } from '../../usage/usage-claim.ts';
import { type Adapter, type AgentCall, type Billed, type CallContext, isStopping, keyOf } from '../adapter.ts';
import { completed } from '../agent-answer.ts';
import { invalidAnswer, post, postForEvents, refused } from '../exchange.ts';
import { payloadOf } from '../pay-agent-bill.ts';
import { isPointless, untilAnswered } from '../poll.ts';
import { recordHandle } from '../upstream-call-store.ts';
import { answerMessage, isAnswered, isUnsent } from './a2a-question.ts';
import { followA2aStream } from './a2a-stream.ts';
import { cancelTask, type FollowedTask, followTask, readTaskAgain } from './a2a-task-client.ts';
import {
  type A2aMessage,
  type A2aTask,
  bound,
  firstMessage,
  hasRested,
  readSaid,
  resultIn,
  resultOfMessage,
} from './a2a-wire.ts';

/** Messages of a task that show whether an answer arrived: more than a call has turns. */
const HISTORY = 100;

/** A message to an agent of A2A 1.0 or 0.3, and its task to the end. Answers to its questions are further messages to the task. */
export const a2aAdapter: Adapter = {
  async prepare(ctx, call) {
    const agent = await readA2aAgent(ctx, call.target);
    // One for both messages: after a payment the agent goes on behind what it told before.
    const recorder = call.invocation.isStreamed && agent.isStreaming ? await createChunkRecorder(ctx, call) : null;
    let billed: A2aTask | null = null;
    return async (proof) => {
      const first = call.answers.length > 0 ? answerMessage(call) : firstMessage(call.invocation);
      const message = billed && proof ? paymentMessage(call, billed, proof) : first;
      const sent = await sendMessage(ctx, call, agent, { message, proof, recorder }).catch((error) => {
        // The task that an answer was for is known, also when its agent says nothing.
        if (first.task && isPointless(ctx, call) && !isStopping(call.signal))
          void cancelTask(ctx, call, agent, first.task.id);
        throw error;
      });
      if (!('outcome' in sent)) return sent;
      billed = sent.task ?? billed;
      return sent.outcome;
    };
  },
  async resume(ctx, call, taskId) {
    // The agent has the task, and may be restarting itself.
    const agent = await untilAnswered(ctx, call, () => readA2aAgent(ctx, call.target));
    const isLater = call.answers.length > 0;
    const task = await readTaskAgain(ctx, call, agent, taskId, isLater ? HISTORY : null);
    if (isLater && isUnsent(call, task)) return 'unsent';
    const { outcome } = await followTask(ctx, call, agent, task);
    return outcome.kind === 'billed' ? unpaidTask : outcome;
  },
  async cancel(ctx, call, taskId) {
    await cancelTask(ctx, call, await readA2aAgent(ctx, call.target), taskId);
  },
};

const unpaidTask: Outcome = {
  kind: 'failed',
  reason: 'agent_needs_input',
  message: 'The agent still waited for its payment when the process that called it had ended.',
};

/** The payment of a task, as the x402 extension of A2A has it. */
function paymentMessage({ invocation }: AgentCall, task: A2aTask, proof: PaymentProof): A2aMessage {
  return {
    id: `${keyOf(invocation)}-payment`,
    text: 'Payment',
    data: null,
    task,
    metadata: { 'x402.payment.status': 'payment-submitted', 'x402.payment.payload': payloadOf(proof) },
  };
}

interface Sending {
  readonly message: A2aMessage;
  readonly proof: PaymentProof | null;
  /** null: the answer is not streamed. */
  readonly recorder: ChunkRecorder | null;
}

type Sent = Billed | { readonly outcome: AgentOutcome | Billed; readonly task: A2aTask | null };

async function sendMessage(
  ctx: CallContext,
  call: AgentCall,
  agent: A2aAgent,
  { message, proof, recorder }: Sending,
): Promise<Sent> {
  const { invocation } = call;
  const { url, body, headers } = bound.message(agent, keyOf(invocation), message, recorder !== null);
  const posted = { url, body, headers: { ...headers, ...extensionHeaders(agent) }, proof };
  const reply = recorder ? await postForEvents(ctx, call, posted) : await post(ctx, call, posted);
  if (reply.kind === 'billed') return reply;
  const record = (taskId: string) => whileAway(call.signal, () => recordHandle(ctx.db, invocation, taskId));
  if (reply.kind === 'events') {
    invariant(recorder !== null, 'the agent returned events for a message that was not streamed');
    const streamed = await followA2aStream(reply.bytes, recorder, record, {
      resultIn: (value) => resultIn(agent, value),
      media: call.media,
      isRested: (task) => hasRested(task) && !isAnswered(call, task),
    });
    if (streamed.outcome) return { outcome: streamed.outcome, task: null };
    if (!streamed.task) return invalidAnswer('with a stream of nothing');
    return followTask(ctx, call, agent, await wholeTask(ctx, call, agent, streamed.task));
  }
  const value = parseObject(reply.body.toString('utf8'));
  if (reply.status !== 200 || isObject(value?.error)) return refused(reply.status, value);
  const said = readSaid(resultIn(agent, value));
  if (said?.kind === 'message')
    return { outcome: completed(resultOfMessage(said.parts), claimOfAgent(said.usage)), task: null };
  if (said?.kind !== 'task') return invalidAnswer('without a task or a message');
  await record(said.task.id);
  return followTask(ctx, call, agent, said.task) satisfies Promise<FollowedTask>;
}

/** The whole task: the stream that follows an answer lacks the artifacts from before the question. As streamed if it can't be read. */
async function wholeTask(ctx: CallContext, call: AgentCall, agent: A2aAgent, task: A2aTask): Promise<A2aTask> {
  if (call.answers.length === 0 || task.state !== 'completed') return task;
  return readTaskAgain(ctx, call, agent, task.id).catch(() => task);
}

/** Extensions of payment that the card offers, asked for by header. */
function extensionHeaders({ version, extensions }: A2aAgent): Record<string, string> {
  const uris = extensions
    .map(({ uri }) => scalarText(uri))
    .filter((uri) => /a2a-x402/.test(uri) && /^[\x21-\x7e]{1,300}$/.test(uri));
  if (uris.length === 0) return {};
  return { [version === '1.0' ? 'a2a-extensions' : 'x-a2a-extensions']: uris.slice(0, 4).join(', ') };
}
