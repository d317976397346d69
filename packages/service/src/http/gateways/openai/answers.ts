import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { readToolCalls, type ToolCall } from '../../../calls/protocols/openai/openai-result.ts';
import type { ShownFile } from '../common/gateway-files.ts';
import { textOf } from '../common/text-of.ts';
import { responseFailure } from './errors.ts';
import { openAiFileId } from './files.ts';
import { questionCall, responseIdOf } from './questions.ts';

/** Characters per token, for agents that do not count tokens. */
const CHARS_PER_TOKEN = 4;

interface Tokens {
  readonly prompt: number;
  readonly cached: number;
  readonly completion: number;
  readonly reasoning: number;
}

/** Tokens as the record has them; null: it has none. Here cached ones are part of the prompt, and reasoning of the completion. */
function tokensOf({ usage }: RequestRecord): Tokens | null {
  const count = (unit: string) => Number(usage?.units.find((each) => each.unit === unit)?.quantity ?? Number.NaN);
  const [input, output] = [count('input_token'), count('output_token')];
  if (Number.isNaN(input) || Number.isNaN(output)) return null;
  const [cached, reasoning] = [count('cached_input_token') || 0, count('reasoning_token') || 0];
  return { prompt: input + cached, cached, completion: output + reasoning, reasoning };
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Tokens as an agent without usage counts them in `result.usage`, else estimated from the lengths of the texts. */
function tokensIn({ result }: RequestRecord, promptChars: number): Tokens {
  const told = (result as { usage?: Record<string, unknown> } | null)?.usage;
  const prompt = told?.prompt_tokens ?? told?.input_tokens;
  const completion = told?.completion_tokens ?? told?.output_tokens;
  if (isCount(prompt) && isCount(completion)) return { prompt, cached: 0, completion, reasoning: 0 };
  const tokens = (characters: number) => Math.ceil(characters / CHARS_PER_TOKEN);
  return { prompt: tokens(promptChars), cached: 0, completion: tokens(textOf(result).length), reasoning: 0 };
}

/** The usage of a call: as its record has it, else as its result tells, else estimated. `cost` is in USDC. */
export function usageOf(record: RequestRecord, promptChars: number) {
  const { prompt, cached, completion, reasoning } = tokensOf(record) ?? tokensIn(record, promptChars);
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    ...(cached > 0 ? { prompt_tokens_details: { cached_tokens: cached } } : {}),
    ...(reasoning > 0 ? { completion_tokens_details: { reasoning_tokens: reasoning } } : {}),
    cost: Number(record.cost ?? 0),
  };
}

const finishReasons = ['stop', 'length', 'content_filter', 'tool_calls'] as const;
type FinishReason = (typeof finishReasons)[number];

/** A result as the answer of a model: its text, or the tools that it asks its caller to call, and why it ended. */
export interface ModelAnswer {
  readonly text: string;
  readonly refusal: string | null;
  readonly toolCalls: readonly ToolCall[];
  readonly finishReason: FinishReason;
}

/** `toolCalls`, `refusal` and `finishReason` of a result count as those of a model; others ended as they should. */
export function answerOf(result: unknown): ModelAnswer {
  const told = (typeof result === 'object' && result !== null ? result : {}) as Readonly<Record<string, unknown>>;
  const toolCalls = (Array.isArray(told.toolCalls) ? readToolCalls(told.toolCalls) : null) ?? [];
  const finishReason = finishReasons.find((reason) => reason === told.finishReason);
  return {
    text: textOf(result),
    refusal: typeof told.refusal === 'string' && told.refusal !== '' ? told.refusal : null,
    toolCalls,
    finishReason:
      toolCalls.length > 0 ? 'tool_calls' : finishReason === 'tool_calls' ? 'stop' : (finishReason ?? 'stop'),
  };
}

/** A record with the files of its result, as its reader gets them. */
export type WithFiles<R> = R & { readonly files?: readonly ShownFile[] };

/** Adds the links of files to the text of an answer. */
function withLinks(answer: ModelAnswer, files: readonly ShownFile[]): ModelAnswer {
  if (files.length === 0) return answer;
  const links = files.map(({ url, name, mediaType }) => {
    const link = `[${(name ?? 'file').replace(/[[\]\\]/g, '')}](${url})`;
    return mediaType?.startsWith('image/') ? `!${link}` : link;
  });
  return { ...answer, text: [answer.text, ...links].filter((each) => each !== '').join('\n\n') };
}

/** The answer of a request so far: its result, or the question that it waits with. */
export const modelAnswerOf = ({ result, inputRequest, files = [] }: WithFiles<Partial<RequestRecord>>): ModelAnswer =>
  inputRequest
    ? { text: '', refusal: null, toolCalls: [questionCall(inputRequest)], finishReason: 'tool_calls' }
    : withLinks(answerOf(result), files);

const filesPart = (files: readonly ShownFile[] = []) =>
  files.length === 0
    ? {}
    : {
        files: files.map(({ fileId, url, mediaType, name, size }) => ({
          ...{ id: fileId === null ? null : openAiFileId(fileId), url, media_type: mediaType, name, size },
        })),
      };

/** Fields that this node adds to an answer. `repeated`: the answer is of a purchase from before this call, which bought nothing. */
export const ourPart = (
  { requestId, status, cost, refund, usage, result, inputRequest, files }: WithFiles<RequestRecord>,
  isRepeated: boolean,
) => ({
  request_id: requestId,
  status,
  cost,
  refund,
  ...(usage ? { usage } : {}),
  ...(isRepeated ? { repeated: true } : {}),
  ...filesPart(files),
  ...(inputRequest ? { input_request: inputRequest } : { result }),
});

/** True for a request that has ended without a result. */
export const isFailed = ({ status }: Pick<RequestRecord, 'status'>): boolean =>
  status === 'failed' || status === 'cancelled';

const secondsOf = (timestamp: string) => Math.floor(Date.parse(timestamp) / 1000);

const chatHead = (object: string, record: ChunkHead) => ({
  id: responseIdOf(record),
  object,
  created: secondsOf(record.createdAt),
  model: record.agentId,
});

/** A request that is completed, or asks, as a chat completion. Its cost and usage are in the last one alone. */
export function chatCompletion(record: WithFiles<RequestRecord>, promptChars: number, isRepeated: boolean) {
  const { text, refusal, toolCalls, finishReason } = modelAnswerOf(record);
  const content = text === '' && toolCalls.length > 0 ? null : text;
  const tools = toolCalls.length === 0 ? {} : { tool_calls: toolCalls };
  const message = { role: 'assistant', content, refusal, ...tools };
  return {
    ...chatHead('chat.completion', record),
    choices: [{ index: 0, message, logprobs: null, finish_reason: finishReason }],
    ...(record.inputRequest ? {} : { usage: usageOf(record, promptChars) }),
    agent_network: ourPart(record, isRepeated),
  };
}

type ChunkHead = Pick<RequestRecord, 'requestId' | 'agentId' | 'createdAt' | 'turn'>;

/** A piece of the answer, as a chunk of a chat completion. */
export const chatChunk = (head: ChunkHead, delta: object, finish: FinishReason | null = null) => ({
  ...chatHead('chat.completion.chunk', head),
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});

/** The last chunks: tool calls for the caller, the end with this node's fields, then the usage if requested. */
export function lastChatChunks(
  record: WithFiles<RequestRecord>,
  { promptChars, includesUsage, isRepeated }: LastChunks,
): object[] {
  const { toolCalls, finishReason } = modelAnswerOf(record);
  const tools = toolCalls.map((call, index) => ({ index, ...call }));
  const end = { ...chatChunk(record, {}, finishReason), agent_network: ourPart(record, isRepeated) };
  const usage = { ...chatHead('chat.completion.chunk', record), choices: [], usage: usageOf(record, promptChars) };
  return [
    ...(tools.length > 0 ? [chatChunk(record, { tool_calls: tools })] : []),
    end,
    ...(includesUsage && !record.inputRequest ? [usage] : []),
  ];
}

export interface LastChunks {
  readonly promptChars: number;
  readonly includesUsage: boolean;
  readonly isRepeated: boolean;
}

const responseStatus = {
  pending: 'queued',
  processing: 'in_progress',
  // Its question is a tool call, as that of a model.
  input_required: 'completed',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

type ResponseRecord = WithFiles<
  Pick<RequestRecord, 'requestId' | 'agentId' | 'createdAt' | 'status'> & Partial<RequestRecord>
>;

/** The message of an answer; `text`: null while it is being written. */
export const outputMessage = (requestId: string, text: string | null) => ({
  id: `msg_${requestId}`,
  type: 'message',
  role: 'assistant',
  status: text === null ? 'in_progress' : 'completed',
  content: text === null ? [] : [outputText(text)],
});

export const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

/** A tool that a response asks its caller to call. */
export const functionCall = ({ id, function: { name, arguments: args } }: ToolCall) => ({
  id: `fc_${id}`,
  type: 'function_call',
  call_id: id,
  name,
  arguments: args,
  status: 'completed',
});

/** Items of a response: its message, unless it is empty and there are tool calls, then the tool calls. */
export function outputOf(requestId: string, { text, toolCalls }: ModelAnswer) {
  const hasMessage = text !== '' || toolCalls.length === 0;
  return [...(hasMessage ? [outputMessage(requestId, text)] : []), ...toolCalls.map(functionCall)];
}

/** Reason for an incomplete response, by the model's finish reason; null: it is complete. */
const incompleteBecause: Readonly<Record<FinishReason, string | null>> = {
  stop: null,
  tool_calls: null,
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

/** Facts of a call that its response repeats. */
export interface Responded {
  readonly promptChars: number;
  readonly previousId?: string | null;
  /** True when the call bought nothing: the purchase is from before it. */
  readonly isRepeated?: boolean;
}

/** A request as a response, in any state. */
export function responseOf(record: ResponseRecord, { promptChars, previousId = null, isRepeated = false }: Responded) {
  const isDone = record.status === 'completed';
  const id = responseIdOf(record);
  const answer = isDone || record.inputRequest ? modelAnswerOf(record) : null;
  const reason = answer && incompleteBecause[answer.finishReason];
  return {
    id,
    object: 'response',
    created_at: secondsOf(record.createdAt),
    status: reason ? 'incomplete' : responseStatus[record.status],
    model: record.agentId,
    error: record.status === 'failed' ? responseFailure(record) : null,
    incomplete_details: reason ? { reason } : null,
    instructions: null,
    metadata: record.metadata ?? {},
    output: answer ? outputOf(id, answer) : [],
    parallel_tool_calls: true,
    previous_response_id: previousId,
    temperature: null,
    tool_choice: 'auto',
    tools: [],
    top_p: null,
    usage: isDone ? responseUsage(record as RequestRecord, promptChars) : null,
    agent_network: {
      request_id: record.requestId,
      status: record.status,
      cost: record.cost ?? null,
      refund: record.refund ?? null,
      ...(record.usage ? { usage: record.usage } : {}),
      ...(isRepeated ? { repeated: true } : {}),
      ...filesPart(record.files),
      ...(isDone ? { result: record.result } : {}),
      ...(record.inputRequest ? { input_request: record.inputRequest } : {}),
    },
  };
}

function responseUsage(record: RequestRecord, promptChars: number) {
  const told = usageOf(record, promptChars);
  const { prompt_tokens, completion_tokens, total_tokens, cost } = told;
  return {
    input_tokens: prompt_tokens,
    input_tokens_details: { cached_tokens: 0, ...told.prompt_tokens_details },
    output_tokens: completion_tokens,
    output_tokens_details: { reasoning_tokens: 0, ...told.completion_tokens_details },
    total_tokens,
    cost,
  };
}
