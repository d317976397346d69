import { hash } from 'node:crypto';
import { isObject, type Json, scalarText } from '../../../lib/json/json-object.ts';
import type { AgentOutcome } from '../../invocation.ts';
import { type AgentCall, keyOf } from '../adapter.ts';
import { failed, readAsked } from '../agent-answer.ts';
import { type A2aMessage, type A2aTask, partsOf, textsOf } from './a2a-wire.ts';

const needsInput = failed('agent_needs_input', 'The agent asked for more input, which a call does not have.');

/** A question of a task that waits for its caller; a failure where the call is not asked, or the question can't be shown. */
export function questionOf({ invocation }: Pick<AgentCall, 'invocation'>, task: A2aTask): AgentOutcome {
  if (invocation.inputTimeoutS === null) return needsInput;
  const parts = partsOf(task.message);
  const said = textsOf(parts).join('\n');
  const isSignIn = task.state === 'auth-required';
  const url = isSignIn ? linkIn(parts, said) : null;
  if (isSignIn && url === null)
    return failed('agent_needs_input', 'The agent asked its caller to sign in, without a link at which that is done.');
  const message =
    said === '' ? (url === null ? 'The agent asks for more input.' : 'The agent asks you to sign in.') : said;
  const schema = parts.map(schemaIn).find((each) => each !== null);
  const input = { id: questionIdOf(task), message, ...(schema ? { schema } : {}), ...(url === null ? {} : { url }) };
  const asked = readAsked({ input, state: { contextId: task.contextId } });
  return asked.kind === 'asks' ? { ...asked, handle: task.id } : asked;
}

/** Equal for the same question of a task: by the id of its message, or its time if the agent gives no id, and by its parts. */
const questionIdOf = ({ message, at }: A2aTask): string =>
  hash('sha256', JSON.stringify([scalarText(message?.messageId) || at, partsOf(message)]), 'base64url');

/** True while a task still shows the question that this call answers: the agent has not got to the answer. */
export const isAnswered = ({ answers }: Pick<AgentCall, 'answers'>, task: A2aTask): boolean =>
  answers.length > 0 && answers.at(-1)?.agentInputId === questionIdOf(task);

/** A JSON Schema in a part of data: as such, or in a field that agents put it in. */
function schemaIn({ data }: Json): Json | null {
  if (!isObject(data)) return null;
  const found = [data.schema, data.requestedSchema, data.form].find(isObject);
  return found ?? (data.type === 'object' && isObject(data.properties) ? data : null);
}

/** The link of a sign-in: a part of its own, a field of data, or the first one in the text; null: none. */
function linkIn(parts: readonly Json[], said: string): string | null {
  const links = parts.flatMap(({ url, file, data }) => [
    url,
    isObject(file) ? file.uri : null,
    isObject(data) ? (data.url ?? data.authorizationUrl) : null,
  ]);
  return links.find((each) => typeof each === 'string') ?? /\bhttps?:\/\/[^\s<>"')\]]+/i.exec(said)?.[0] ?? null;
}

/** The message with an answer. */
export function answerMessage({ invocation, answers }: AgentCall): A2aMessage {
  const last = answers.at(-1);
  const isDeclined = last?.action === 'decline';
  const input = last?.input ?? {};
  const texts = Object.values(input);
  const [only] = texts;
  const words = texts.length === 1 && typeof only === 'string' ? only : JSON.stringify(input);
  const text = last?.note ?? (isDeclined ? 'Declined.' : texts.length === 0 ? 'Accepted.' : words);
  const contextId = isObject(last?.state) ? last.state.contextId : null;
  return {
    id: messageIdOf(invocation),
    text,
    data: isDeclined ? { action: 'decline' } : texts.length === 0 ? null : input,
    task: { id: last?.handle ?? '', contextId: typeof contextId === 'string' ? contextId : null },
    metadata: null,
  };
}

/**
 * Id of the message with an answer. It is made of the request and the turn that are stored before the message is sent, so that every
 * process knows which message may have been sent.
 */
export function messageIdOf(invocation: Parameters<typeof keyOf>[0]): string {
  const hex = hash('sha256', `a2a ${keyOf(invocation)}`, 'hex');
  const variant = ((Number.parseInt(hex.slice(16, 17), 16) & 3) | 8).toString(16);
  return [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `8${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20, 32),
  ].join('-');
}

/**
 * True if the answer of this call certainly did not reach the agent: its task waits at the same question, and lists the messages that it
 * got, without the answer.
 */
export const isUnsent = (call: AgentCall, task: A2aTask): boolean =>
  isAnswered(call, task) &&
  task.messageIds.includes(call.invocation.id) &&
  !task.messageIds.includes(messageIdOf(call.invocation));
