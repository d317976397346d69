import { isObject, type Json } from '../../../lib/json/json-object.ts';
import type { Outcome } from '../../invocation.ts';
import { completed, failed } from '../agent-answer.ts';
import { readToolCalls } from './tool-calls.ts';

/** What a model has answered, whole or put together from a stream. */
export interface Completion {
  readonly text: string;
  /** Why the model declined; empty: it did not. */
  readonly refusal: string;
  /** Calls of tools that it asks for, as they came. */
  readonly toolCalls: readonly unknown[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly model: unknown;
}

/**
 * The end of a completion. A refusal is a text. Tools that the caller offered are the caller's to call: what the model asks of them is part of
 * the result; others, which a caller could have asked for in its prompt, are left out. Failed, and so refunded: an answer with nothing left in
 * it, and one that its server ended with an error.
 */
export function toResult(completion: Completion, isOffered: (tool: string) => boolean): Outcome {
  const { finishReason, usage, model, refusal } = completion;
  if (finishReason === 'error') return failed('agent_error', 'The model ended its answer with an error.');
  const toolCalls = (readToolCalls(completion.toolCalls) ?? []).filter((call) => isOffered(call.function.name));
  const text = completion.text.trim() === '' ? refusal : completion.text;
  if (text.trim() === '' && toolCalls.length === 0)
    return failed('invalid_response', completion.toolCalls.length > 0 ? NOT_OFFERED : emptyBecause(finishReason));
  return completed({
    text,
    ...(refusal === '' ? {} : { refusal }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: reasonOf(finishReason, toolCalls.length > 0),
    usage: isObject(usage) ? usage : null,
    model: typeof model === 'string' ? model : null,
  });
}

/** A client that is told of calls of tools, and gets none, would wait for them. */
function reasonOf(given: unknown, hasToolCalls: boolean): string | null {
  if (typeof given !== 'string') return null;
  return given === 'tool_calls' && !hasToolCalls ? 'stop' : given;
}

const NOT_OFFERED = 'The model asked for a tool that the call did not offer, or in a form that is not understood.';

function emptyBecause(finishReason: unknown): string {
  if (finishReason === 'length') return 'The model answered nothing: its tokens were used up before the answer began.';
  if (finishReason === 'content_filter') return 'The model answered nothing: its content filter left nothing over.';
  return 'The model answered nothing.';
}

/** The names of the tools of a call in the API's own form. */
export function offeredIn(input: Json): (tool: string) => boolean {
  const tools = Array.isArray(input.tools) ? input.tools : [];
  const names = new Set(
    tools.map((tool) => (isObject(tool) && isObject(tool.function) ? tool.function.name : undefined)),
  );
  return (tool) => names.has(tool);
}
