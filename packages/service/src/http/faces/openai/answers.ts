import type { RequestRecord } from '@agent-network/contracts/invocations/invocations';
import { textOf } from '../common/text-of.ts';

/** Characters that stand for one token where the agent counts none. */
const CHARS_PER_TOKEN = 4;

interface Usage {
  readonly prompt_tokens: number;
  readonly completion_tokens: number;
  readonly total_tokens: number;
  /** USDC. */
  readonly cost: number;
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

/** Tokens as the agent counted them in `result.usage`, else estimated from the lengths of the texts. */
export function usageOf(record: RequestRecord, promptChars: number): Usage {
  const { result, cost } = record;
  const told = (result as { usage?: Record<string, unknown> } | null)?.usage;
  const prompt = told?.prompt_tokens ?? told?.input_tokens;
  const completion = told?.completion_tokens ?? told?.output_tokens;
  const isTold = isCount(prompt) && isCount(completion);
  const prompt_tokens = isTold ? prompt : Math.ceil(promptChars / CHARS_PER_TOKEN);
  const completion_tokens = isTold ? completion : Math.ceil(textOf(result).length / CHARS_PER_TOKEN);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens, cost: Number(cost ?? 0) };
}

/** Fields that this node adds to an answer. */
export const ourPart = ({ requestId, status, cost, refund, result }: RequestRecord) => ({
  request_id: requestId,
  status,
  cost,
  refund,
  result,
});

const secondsOf = (timestamp: string) => Math.floor(Date.parse(timestamp) / 1000);

const chatHead = (object: string, record: Pick<RequestRecord, 'requestId' | 'agentId' | 'createdAt'>) => ({
  id: record.requestId,
  object,
  created: secondsOf(record.createdAt),
  model: record.agentId,
});

/** A completed request as a chat completion. */
export const chatCompletion = (record: RequestRecord, promptChars: number) => ({
  ...chatHead('chat.completion', record),
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: textOf(record.result), refusal: null },
      logprobs: null,
      finish_reason: 'stop',
    },
  ],
  usage: usageOf(record, promptChars),
  agent_network: ourPart(record),
});

type ChunkHead = Pick<RequestRecord, 'requestId' | 'agentId' | 'createdAt'>;

/** A piece of the answer, as a chunk of a chat completion. */
export const chatChunk = (head: ChunkHead, delta: object, finish: 'stop' | null = null) => ({
  ...chatHead('chat.completion.chunk', head),
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
});

/** The last chunks: the end with our part, then the usage if it was asked for. */
export function lastChatChunks(record: RequestRecord, promptChars: number, includesUsage: boolean): object[] {
  const end = { ...chatChunk(record, {}, 'stop'), agent_network: ourPart(record) };
  if (!includesUsage) return [end];
  return [end, { ...chatHead('chat.completion.chunk', record), choices: [], usage: usageOf(record, promptChars) }];
}

const responseStatus = {
  pending: 'queued',
  processing: 'in_progress',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;

type ResponseRecord = Pick<RequestRecord, 'requestId' | 'agentId' | 'createdAt' | 'status'> & Partial<RequestRecord>;

/** The message of an answer; `text`: null while it is being written. */
export const outputMessage = (requestId: string, text: string | null) => ({
  id: `msg_${requestId}`,
  type: 'message',
  role: 'assistant',
  status: text === null ? 'in_progress' : 'completed',
  content: text === null ? [] : [outputText(text)],
});

export const outputText = (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] });

/** A request as a response, in any state. */
export function responseOf(record: ResponseRecord, promptChars: number, previousId: string | null = null) {
  const isDone = record.status === 'completed';
  const { prompt_tokens, completion_tokens, total_tokens, cost } = isDone
    ? usageOf(record as RequestRecord, promptChars)
    : { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0, cost: 0 };
  return {
    id: record.requestId,
    object: 'response',
    created_at: secondsOf(record.createdAt),
    status: responseStatus[record.status],
    model: record.agentId,
    error: record.status === 'failed' && record.error ? record.error : null,
    incomplete_details: null,
    instructions: null,
    metadata: record.metadata ?? {},
    output: isDone ? [outputMessage(record.requestId, textOf(record.result))] : [],
    parallel_tool_calls: false,
    previous_response_id: previousId,
    temperature: null,
    tool_choice: 'none',
    tools: [],
    top_p: null,
    usage: isDone
      ? {
          input_tokens: prompt_tokens,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: completion_tokens,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens,
          cost,
        }
      : null,
    agent_network: {
      request_id: record.requestId,
      status: record.status,
      cost: record.cost ?? null,
      refund: record.refund ?? null,
      ...(isDone ? { result: record.result } : {}),
    },
  };
}
