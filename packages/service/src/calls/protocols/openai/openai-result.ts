import { isObject, type Json } from '../../../lib/json/json-object.ts';
import type { Outcome } from '../../invocation.ts';
import { claimOfUpstream } from '../../usage/usage-claim.ts';
import { completed, failed } from '../agent-answer.ts';

/** The answer of a model, whole or assembled from a stream. */
export interface Completion {
  readonly text: string;
  /** The model's reason to decline; empty: it did not. */
  readonly refusal: string;
  /** Calls of tools that it asks for, as they came. */
  readonly toolCalls: readonly unknown[];
  readonly finishReason: unknown;
  readonly usage: unknown;
  readonly model: unknown;
}

/**
 * The end of a completion. A refusal counts as text. Calls of tools that the caller offered are part of the result, for the caller to run;
 * others, which a caller could have requested in its prompt, are left out. Failed, and so refunded: an answer with nothing left in it, and
 * one that its server ended with an error.
 */
export function toResult(completion: Completion, isOffered: (tool: string) => boolean): Outcome {
  const { finishReason, usage, model, refusal } = completion;
  if (finishReason === 'error') return failed('agent_error', 'The model ended its answer with an error.');
  const toolCalls = (readToolCalls(completion.toolCalls) ?? []).filter((call) => isOffered(call.function.name));
  const text = completion.text.trim() === '' ? refusal : completion.text;
  if (text.trim() === '' && toolCalls.length === 0)
    return failed('invalid_response', completion.toolCalls.length > 0 ? NOT_OFFERED : emptyBecause(finishReason));
  const said = {
    text,
    ...(refusal === '' ? {} : { refusal }),
    ...(toolCalls.length === 0 ? {} : { toolCalls }),
    finishReason: reasonOf(finishReason, toolCalls.length > 0),
    usage: isObject(usage) ? usage : null,
    model: typeof model === 'string' ? model : null,
  };
  return completed(said, claimOfUpstream({ usage, model }));
}

/** The finish reason. It is not `tool_calls` without a tool call, as the client would wait for one. */
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

/** A call of a function that a model asks its caller for, as in the API reference of OpenAI. */
export interface ToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; readonly arguments: string };
}

const MAX_TOOL_CALLS = 128;

/** Calls of tools in a message. null: one of them is none. Some servers leave ids out, or write arguments as an object. */
export function readToolCalls(given: readonly unknown[]): ToolCall[] | null {
  const calls = given.map(readToolCall);
  return calls.length <= MAX_TOOL_CALLS && calls.every((call) => call !== null) ? calls : null;
}

function readToolCall(given: unknown, index: number): ToolCall | null {
  if (!isObject(given) || !isObject(given.function)) return null;
  const { name, arguments: args } = given.function;
  if (typeof name !== 'string' || name === '') return null;
  const text = typeof args === 'string' ? args : isObject(args) ? JSON.stringify(args) : '{}';
  const id = typeof given.id === 'string' && given.id !== '' ? given.id : `call_${index}`;
  return { id, type: 'function', function: { name, arguments: text } };
}

/** Puts calls of tools together from the deltas of a stream. */
export interface ToolCallDeltas {
  /** Adds `delta.tool_calls` of an event; returns its length in bytes. */
  add(deltas: unknown): number;
  whole(): unknown[];
}

interface Begun {
  id: unknown;
  name: string;
  text: string;
}

export function createToolCallDeltas(): ToolCallDeltas {
  const calls = new Map<unknown, Begun>();
  return {
    add(deltas) {
      if (!Array.isArray(deltas)) return 0;
      for (const [position, delta] of deltas.filter(isObject).entries()) {
        const index = typeof delta.index === 'number' ? delta.index : position;
        const begun = calls.get(index) ?? { id: undefined, name: '', text: '' };
        calls.set(index, continued(begun, delta));
      }
      return Buffer.byteLength(JSON.stringify(deltas));
    },
    whole: () => [...calls.values()].map(({ id, name, text }) => ({ id, function: { name, arguments: text } })),
  };
}

function continued({ id, name, text }: Begun, delta: Json): Begun {
  const more = isObject(delta.function) ? delta.function : {};
  const args = more.arguments ?? '';
  return {
    id: delta.id ?? id,
    name: name + (typeof more.name === 'string' ? more.name : ''),
    text: text + (typeof args === 'string' ? args : JSON.stringify(args)),
  };
}
