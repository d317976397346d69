import { ChatRequest, type Message, ResponseRequest } from '@agent-network/contracts/openai';
import type { z } from 'zod';
import { agentIdOf } from '../../../agents/agent-slug.ts';
import type { ToolCall } from '../../../calls/protocols/openai/openai-result.ts';
import { AppError, invalidFields } from '../../../lib/app-error.ts';
import type { Json } from '../../../lib/json/json-object.ts';
import { problemsOf, problemText } from '../../../lib/json/problem-text.ts';
import { withFiles } from './files.ts';
import { messagesOf, textOfOutput, toolParameters } from './items.ts';
import { type SentAnswer, sentAnswer, withoutAgentInput } from './questions.ts';

/** A request as the invocation that it is. */
export interface OpenAiRequest {
  readonly agentId: string;
  readonly isStreamed: boolean;
  readonly includesUsage: boolean;
  readonly isBackground: boolean;
  /** Body of POST /invoke/{agentId}. */
  readonly body: { readonly task: string; readonly [field: string]: unknown };
}

/** Form in which a client gets the answer. */
type Sending = Omit<OpenAiRequest, 'agentId' | 'body'>;

/** An answer to a question of an agent, in place of a purchase. */
export interface AnswerRequest extends Sending {
  readonly answer: SentAnswer;
  readonly previousId: string | null;
}

/** `canBeAsked`: the caller has an API key, by which it can answer. */
interface Asker {
  readonly canBeAsked: boolean;
}

/** Reads the body of POST /v1/chat/completions. Throws VALIDATION_ERROR with the field of the request. */
export function readChatRequest(given: unknown, { canBeAsked }: Asker): OpenAiRequest | AnswerRequest {
  const request = parse(ChatRequest, given);
  const { model, messages, stream, stream_options, max_cost, metadata, ...rest } = request;
  const sending = {
    isStreamed: stream ?? false,
    includesUsage: stream_options?.include_usage ?? false,
    isBackground: false,
  };
  const last = messages.at(-1);
  const answer = last?.role === 'tool' ? sentAnswer(last.tool_call_id, textOfContent(last.content)) : null;
  if (answer) return { ...sending, answer, previousId: null };
  const { parameters, isInteractive } = withoutAgentInput(rest);
  const { task, context } = readConversation(messages);
  if (task === null) throw invalidFields([{ path: 'messages', message: 'has no message of the user with text' }]);
  return {
    agentId: modelIdOf(model),
    ...sending,
    body: bodyOf({
      ...{ task, context, max_cost, metadata },
      input: { messages: messages.map(naming), ...parameters },
      isInteractive: isInteractive && canBeAsked,
    }),
  };
}

/** The response that a new one continues. */
export interface PreviousResponse {
  readonly task: string;
  readonly answer: string;
  /** Tool calls that it asks its caller for. */
  readonly toolCalls: readonly ToolCall[];
}

/** Reads the body of POST /v1/responses. `findPrevious` reads the response that it names. */
export async function readResponseRequest(
  given: unknown,
  { canBeAsked, findPrevious }: Asker & { readonly findPrevious: (id: string) => Promise<PreviousResponse> },
): Promise<(OpenAiRequest & { readonly previousId: string | null }) | AnswerRequest> {
  const request = parse(ResponseRequest, given);
  const { model, input, instructions, stream, background, previous_response_id, max_cost, metadata, ...rest } = request;
  if (stream && background)
    throw invalidFields([{ path: 'background', message: 'cannot be used together with stream' }]);
  const sending = { isStreamed: stream ?? false, includesUsage: true, isBackground: background ?? false };
  const last: Json | undefined = typeof input === 'string' ? undefined : input.at(-1);
  const answer = last?.type === 'function_call_output' ? sentAnswer(last.call_id, textOfOutput(last.output)) : null;
  if (answer) return { ...sending, answer, previousId: previous_response_id ?? null };
  const { parameters, isInteractive } = withoutAgentInput(rest);
  const previous = previous_response_id ? await findPrevious(previous_response_id) : null;
  const messages = [
    ...(instructions ? [{ role: 'system', content: instructions }] : []),
    ...(previous ? messagesBefore(previous) : []),
    ...messagesOf(typeof input === 'string' ? [{ role: 'user', content: input }] : input),
  ];
  const { task, context } = readConversation(messages);
  if (task === null) throw invalidFields([{ path: 'input', message: 'has no message of the user with text' }]);
  return {
    agentId: modelIdOf(model),
    previousId: previous_response_id ?? null,
    ...sending,
    body: bodyOf({
      ...{ task, context, max_cost, metadata },
      input: { messages: messages.map(naming), ...parameters, ...toolParameters(parameters) },
      isInteractive: isInteractive && canBeAsked,
    }),
  };
}

/** A message with its files named as files of the node. */
const naming = (message: Message): Message => ({
  ...message,
  content: withFiles(message.content) as Message['content'],
});

/** The conversation of a response that another one continues. */
function messagesBefore({ task, answer, toolCalls }: PreviousResponse): Message[] {
  const tools = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  return [
    { role: 'user', content: task },
    { role: 'assistant', content: answer === '' ? null : answer, ...tools },
  ];
}

/** The agent id in a model name: an id, or a slug that ends with the id. `auto` lets the node choose. */
export const modelIdOf = (model: string): string => agentIdOf(model) ?? model;

function bodyOf(parts: {
  readonly task: string;
  readonly context: string | null;
  readonly input: object;
  readonly max_cost: string | number | null | undefined;
  readonly metadata: Record<string, unknown> | null | undefined;
  readonly isInteractive: boolean;
}): OpenAiRequest['body'] {
  const { task, context, input, max_cost, metadata, isInteractive } = parts;
  return {
    ...{ task, input },
    ...(context === null ? {} : { context }),
    ...(max_cost === null || max_cost === undefined ? {} : { maxCost: String(max_cost) }),
    ...(metadata ? { metadata } : {}),
    ...(isInteractive ? { interactive: true } : {}),
  };
}

function parse<T extends z.ZodType>(schema: T, given: unknown): z.output<T> {
  const parsed = schema.safeParse(given, { error: problemText });
  if (parsed.success) return parsed.data;
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw new AppError('VALIDATION_ERROR', 'Invalid request: the body must be a JSON object.', {
      details: { fields: [{ path: 'body', message: 'must be a JSON object' }] },
    });
  throw invalidFields(problemsOf(parsed.error, 'body'));
}

/** Names of the invocation's fields in requests of this gateway. */
const requestNames: Readonly<Record<string, string>> = {
  task: 'messages',
  context: 'messages',
  maxCost: 'max_cost',
  agentId: 'model',
};

/** The name of a field that the invocation refused, in the request. */
export const requestNameOf = (path: string): string => {
  const [head = path] = path.replace(/^(body|params)\./, '').split('.');
  return requestNames[head] ?? path;
};

/** Longest task and context of an invocation. */
const MAX_CHARS = 100_000;

/**
 * Characters that a context must not contain. Answers of agents and tools may have them, and the caller that continues a conversation can't
 * remove them.
 */
// biome-ignore lint/suspicious/noControlCharactersInRegex: replacing control characters is the point
const UNFIT = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u202a-\u202e\u2066-\u2069]/g;

/** The end of the earlier conversation, as text that is valid in a context; null: it is empty. */
const contextOf = (text: string): string | null =>
  text === '' ? null : text.slice(-MAX_CHARS).replace(UNFIT, ' ').toWellFormed();

/** The text of a message: a string, or its text parts. */
function textOfContent(content: Message['content']): string {
  if (typeof content === 'string') return content;
  return (content ?? []).flatMap(({ text }) => (text === undefined ? [] : [text])).join('\n');
}

interface Conversation {
  /** Text of the last message of the user; null: there is none. */
  readonly task: string | null;
  /** The earlier messages, as `role: text` lines; null: none. */
  readonly context: string | null;
}

/**
 * The task of a conversation, and the conversation before it. A context beyond the limit loses its beginning, and unprintable characters
 * are replaced: the whole conversation is in the input.
 */
export function readConversation(messages: readonly Message[]): Conversation {
  const last = messages.findLastIndex(({ role, content }) => role === 'user' && textOfContent(content).trim() !== '');
  if (last < 0) return { task: null, context: null };
  const lines = messages.slice(0, last).flatMap(({ role, content }) => {
    const text = textOfContent(content);
    return text === '' ? [] : [`${role ?? 'user'}: ${text}`];
  });
  return { task: textOfContent(messages[last]?.content), context: contextOf(lines.join('\n')) };
}
