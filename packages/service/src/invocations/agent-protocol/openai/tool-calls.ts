import { isObject, type Json } from '../../../lib/json/json-object.ts';

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
