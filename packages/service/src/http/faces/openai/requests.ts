import { ChatRequest, ResponseRequest } from '@agent-network/contracts/openai';
import type { z } from 'zod';
import { AppError, invalidFields } from '../../../lib/app-error.ts';
import { problemsOf, problemText } from '../../../lib/json/problem-text.ts';
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
    agentId: model,
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
  const messages = typeof input === 'string' ? [{ role: 'user', content: input }] : input;
  const previous = previous_response_id ? await findPrevious(previous_response_id) : null;
  const before = [
    ...(instructions ? [`system: ${instructions}`] : []),
    ...(previous ? [`user: ${previous.task}`, `assistant: ${previous.answer}`] : []),
  ];
  const { task, context } = readConversation(messages, before);
  if (task === null) throw invalidFields([{ path: 'input', message: 'has no message of the user with text' }]);
  const all = [...(instructions ? [{ role: 'system', content: instructions }] : []), ...messages];
  return {
    agentId: model,
    previousId: previous_response_id ?? null,
    isStreamed: stream ?? false,
    includesUsage: true,
    isBackground: background ?? false,
    body: bodyOf({ task, context, input: { messages: all, ...parameters }, max_cost, metadata }),
  };
}

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
