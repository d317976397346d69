import { urlBelow } from '../../../agents/health/upstream.ts';
import { invariant } from '../../../lib/invariant.ts';
import { isObject, type Json, parseObject } from '../../../lib/json/json-object.ts';
import type { Invocation, Outcome } from '../../invocation.ts';
import { createChunkRecorder } from '../../stream/record-chunks.ts';
import type { Adapter } from '../adapter.ts';
import { invalidAnswer, post, postForEvents, refused } from '../exchange.ts';
import { offeredIn, toResult } from './openai-result.ts';
import { followCompletion } from './openai-stream.ts';

/** Chat completions of the OpenAI API, as many servers of models answer them. */
export const openaiAdapter: Adapter = {
  async prepare(ctx, call) {
    const { target, invocation } = call;
    const url = urlBelow(target.endpoint, '/chat/completions');
    const body = toCompletionRequest(invocation, target.model ?? '');
    const isOffered = offeredIn(body);
    const recorder = invocation.isStreamed ? await createChunkRecorder(ctx, call) : null;
    return async (proof) => {
      const reply = recorder
        ? await postForEvents(ctx, call, { url, body, proof })
        : await post(ctx, call, { url, body, proof });
      if (reply.kind === 'billed') return reply;
      if (reply.kind === 'events') {
        invariant(recorder !== null, 'the agent returned events for a call that was not streamed');
        return followCompletion(reply.bytes, recorder, isOffered);
      }
      const value = parseObject(reply.body.toString('utf8'));
      if (reply.status !== 200) return refused(reply.status, value);
      return readCompletion(value, isOffered);
    };
  },
};

/** Parameters of a call in the API's own form that are passed on. Others could change who answers, or how. */
const passedOn = [
  ...['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'stop', 'seed', 'presence_penalty'],
  ...['frequency_penalty', 'response_format', 'reasoning_effort'],
];

/** The tools of a call as this API has them: others, such as those that another API hosts, make servers refuse all of it. */
function functionTools({ tools, tool_choice, parallel_tool_calls }: Json): Json {
  const isFunction = (tool: unknown): boolean => isObject(tool) && tool.type === 'function' && isObject(tool.function);
  const own = Array.isArray(tools) ? tools.filter(isFunction) : [];
  if (own.length === 0) return {};
  const isOffered = offeredIn({ tools: own });
  const named = isObject(tool_choice) ? (isObject(tool_choice.function) ? tool_choice.function.name : null) : undefined;
  const isChoice = tool_choice != null && (named === undefined || (typeof named === 'string' && isOffered(named)));
  return {
    tools: own,
    ...(isChoice ? { tool_choice } : {}),
    ...(parallel_tool_calls == null ? {} : { parallel_tool_calls }),
  };
}

function toCompletionRequest(invocation: Invocation, model: string): Json {
  const { input, isStreamed } = invocation;
  const isNative = Array.isArray(input.messages) && input.messages.length > 0;
  const own = isNative ? passedOn.filter((name) => input[name] != null).map((name) => [name, input[name]]) : [];
  return {
    ...Object.fromEntries(own),
    ...(isNative ? functionTools(input) : {}),
    model,
    messages: isNative ? input.messages : messagesOf(invocation),
    stream: isStreamed,
    ...(isStreamed ? { stream_options: { include_usage: true } } : {}),
  };
}

function messagesOf({ task, context, input }: Invocation): Json[] {
  const data = Object.keys(input).length === 0 ? '' : `\n\n${JSON.stringify(input)}`;
  const user = { role: 'user', content: task + data };
  return context === null || context === '' ? [user] : [{ role: 'system', content: context }, user];
}

function readCompletion(value: Json | undefined, isOffered: (tool: string) => boolean): Outcome {
  const [choice] = Array.isArray(value?.choices) ? value.choices : [];
  const message = isObject(choice) ? choice.message : undefined;
  if (!isObject(message)) return invalidAnswer('without choices[0].message');
  const text = textIn(message.content);
  if (text === null) return invalidAnswer('with a message that has no text');
  const refusal = typeof message.refusal === 'string' ? message.refusal : '';
  const toolCalls = Array.isArray(message.tool_calls) ? message.tool_calls : [];
  const about = { finishReason: choice.finish_reason, usage: value?.usage, model: value?.model };
  return toResult({ text, refusal, toolCalls, ...about }, isOffered);
}

/** Text of a message's content: a text, parts with texts, or none. */
function textIn(content: unknown): string | null {
  if (content === null || content === undefined) return '';
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return null;
  return content.map(textOfPart).join('');
}

function textOfPart(part: unknown): string {
  if (!isObject(part)) return '';
  return [part.text, part.refusal].find((text) => typeof text === 'string') ?? '';
}
