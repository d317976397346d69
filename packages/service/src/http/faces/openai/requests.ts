import { ChatRequest, type Message, ResponseRequest } from '@agent-network/contracts/openai';
import type { z } from 'zod';
import { agentIdOf } from '../../../agents/agent-slug.ts';
import type { ToolCall } from '../../../invocations/agent-protocol/openai/tool-calls.ts';
import { AppError, invalidFields } from '../../../lib/app-error.ts';
import { problemsOf, problemText } from '../../../lib/json/problem-text.ts';
import { messagesOf, toolParameters } from './items.ts';
import { readConversation } from './messages.ts';

/** A request as the invocation that it is. */
export interface OpenAiRequest {
  readonly agentId: string;
  readonly isStreamed: boolean;
  readonly includesUsage: boolean;
  readonly isBackground: boolean;
  /** Body of POST /invoke/{agentId}. */
  readonly body: { readonly task: string; readonly [field: string]: unknown };
}

/** Reads the body of POST /v1/chat/completions. Throws VALIDATION_ERROR with the field of the request. */
export function readChatRequest(given: unknown): OpenAiRequest {
  const request = parse(ChatRequest, given);
  const { model, messages, stream, stream_options, max_cost, metadata, ...parameters } = request;
  const { task, context } = readConversation(messages);
  if (task === null) throw invalidFields([{ path: 'messages', message: 'has no message of the user with text' }]);
  return {
    agentId: modelIdOf(model),
    isStreamed: stream ?? false,
    includesUsage: stream_options?.include_usage ?? false,
    isBackground: false,
    body: bodyOf({ task, context, input: { messages, ...parameters }, max_cost, metadata }),
  };
}

/** A response that the new one goes on from. */
export interface PreviousResponse {
  readonly task: string;
  readonly answer: string;
  /** What it asks its caller's tools for. */
  readonly toolCalls: readonly ToolCall[];
}

/** Reads the body of POST /v1/responses. `findPrevious` reads the response that it names. */
export async function readResponseRequest(
  given: unknown,
  findPrevious: (id: string) => Promise<PreviousResponse>,
): Promise<OpenAiRequest & { readonly previousId: string | null }> {
  const request = parse(ResponseRequest, given);
  const { model, input, instructions, stream, background, previous_response_id, max_cost, metadata, ...parameters } =
    request;
  if (stream && background)
    throw invalidFields([{ path: 'background', message: 'cannot be used together with stream' }]);
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
    isStreamed: stream ?? false,
    includesUsage: true,
    isBackground: background ?? false,
    body: bodyOf({
      ...{ task, context, max_cost, metadata },
      input: { messages, ...parameters, ...toolParameters(parameters) },
    }),
  };
}

/** The conversation of a response that another one goes on from. */
function messagesBefore({ task, answer, toolCalls }: PreviousResponse): Message[] {
  const tools = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  return [
    { role: 'user', content: task },
    { role: 'assistant', content: answer === '' ? null : answer, ...tools },
  ];
}

/** The agent that a model names: by its id, or by its slug, whose end the id is. `auto` is the node's choice. */
export const modelIdOf = (model: string): string => agentIdOf(model) ?? model;

function bodyOf(parts: {
  readonly task: string;
  readonly context: string | null;
  readonly input: object;
  readonly max_cost: string | number | null | undefined;
  readonly metadata: Record<string, unknown> | null | undefined;
}): OpenAiRequest['body'] {
  const { task, context, input, max_cost, metadata } = parts;
  return {
    ...{ task, input },
    ...(context === null ? {} : { context }),
    ...(max_cost === null || max_cost === undefined ? {} : { maxCost: String(max_cost) }),
    ...(metadata ? { metadata } : {}),
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

/** Names of fields of the invocation, as they are called in a request of this face. */
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
