import { MAX_QUESTIONS } from '@agent-network/contracts/invocations/turns';
import type { NodeIdentity } from '../../chain/chain-info.ts';
import type { Dispatcher } from '../../events/deliveries/dispatcher.ts';
import { emit } from '../../events/outbox/outbox.ts';
import { newId } from '../../lib/id.ts';
import { judgeSchema } from '../../lib/json-schema/schema-thread.ts';
import { failpoint } from '../../lib/process/failpoint.ts';
import type { Store } from '../../store/database.ts';
import type { Asked, Failure, Invocation } from '../invocation.ts';
import { toRecord } from '../invocation-view.ts';
import { failed } from '../protocols/agent-answer.ts';
import { findRecord } from '../record-store.ts';
import type { ChangeHub } from '../stream/change-hub.ts';
import { storeQuestion } from './turn-store.ts';
import { timesOfQuestion } from './turn-times.ts';

export interface AskContext extends Store, NodeIdentity {
  readonly changeHub: ChangeHub;
  readonly webhookDispatcher: Pick<Dispatcher, 'requestRun'>;
}

/** A request with its question stored, or the reason for which its caller is not asked. */
export type AskAnswer = { readonly kind: 'asked' } | { readonly kind: 'lost' } | Failure;

/**
 * Stores a question of an agent: it, what its agent wants back, the event and the new state of the request are one transaction. From then on
 * nothing runs until the caller answers. `lost`: another process has the request, or it has ended. A failure ends the call: its caller does
 * not answer questions, the agent asks too much, or the question can't be shown.
 */
export async function askCaller(ctx: AskContext, invocation: Invocation, asked: Asked): Promise<AskAnswer> {
  const { question } = asked;
  if (invocation.inputTimeoutS === null) return needsInput(question.message);
  if (invocation.turn > MAX_QUESTIONS)
    return failed('agent_needs_input', `The agent asked more than ${MAX_QUESTIONS} questions.`);
  const fault = await faultOfSchema(invocation.agentId, question.schema);
  if (fault !== null) return failed('invalid_response', `The agent asked a question with a schema that ${fault}.`);
  const askedAt = ctx.clock.now();
  const times = timesOfQuestion(invocation, question, askedAt, {
    longestChannelCallS: ctx.chain.channels?.longestCallS,
  });
  if (times === null)
    return failed('deadline_exceeded', 'The agent asked a question when no time was left to answer it.');
  failpoint('before-ask-commit');
  const isToTell = await ctx.db.transaction(async (tx) => {
    if (!(await storeQuestion(tx, invocation, { ...asked, ...times, inputId: newId('inp'), askedAt }))) return null;
    const record = await findRecord(tx, invocation.id);
    if (!record) return null;
    const { id, accountId, webhookUrl } = invocation;
    const event = {
      type: 'invocation.input_required',
      accountId,
      subjectId: id,
      data: toRecord(record),
      webhookUrl,
    } as const;
    return emit(tx, [event], askedAt);
  });
  failpoint('after-ask-commit');
  if (isToTell === null) return { kind: 'lost' };
  ctx.changeHub.changed(invocation.id);
  if (isToTell) ctx.webhookDispatcher.requestRun();
  return { kind: 'asked' };
}

/** The failure of a call that is not interactive. */
export const needsInput = (message: string): Failure =>
  failed('agent_needs_input', `The agent asked: ${message.replaceAll(/\s+/g, ' ').slice(0, 500).toWellFormed()}`);

/** Judged in a thread, as the schemas that agents declare: it is a stranger's program. */
async function faultOfSchema(agentId: string, schema: unknown): Promise<string | null> {
  if (schema === null) return null;
  const judged = await judgeSchema(schema, [], agentId);
  const [first] = 'refused' in judged ? judged.refused : [];
  return first ? `is refused: ${['schema', ...first.at].join('.')} ${first.message}` : null;
}
