import type { Message, ResponseRequest } from '@agent-network/contracts/openai';
import type { z } from 'zod';
import { isObject, type Json } from '../../../lib/json/json-object.ts';

type Item = Exclude<z.output<typeof ResponseRequest>['input'], string>[number];

/**
 * Converts items of the Responses API to messages of chat completions, the one form in which agents get a conversation: tool calls are the
 * assistant's, their results messages of the role `tool`. Reasoning items are left out.
 */
export function messagesOf(items: readonly Item[]): Message[] {
  const messages: Message[] = [];
  for (const item of items) {
    const { type, role, content, ...rest } = item;
    if (type === 'reasoning') continue;
    if (type === 'function_call') addToolCall(messages, rest);
    else if (type === 'function_call_output')
      messages.push({ role: 'tool', tool_call_id: rest.call_id, content: textOfOutput(rest.output) });
    else messages.push({ ...rest, ...(role === undefined ? {} : { role }), content: contentOf(content) });
  }
  return messages;
}

/** Calls that follow each other are of one message, after which their results come. */
function addToolCall(messages: Message[], { call_id, name, arguments: args }: Json): void {
  const call = { id: call_id, type: 'function', function: { name, arguments: args } };
  const last = messages.at(-1);
  const calls = last?.role === 'assistant' && Array.isArray(last.tool_calls) ? last.tool_calls : null;
  if (calls) calls.push(call);
  else messages.push({ role: 'assistant', content: null, tool_calls: [call] });
}

const textTypes: ReadonlySet<unknown> = new Set(['input_text', 'output_text']);

const contentOf = (content: Message['content']): Message['content'] =>
  Array.isArray(content)
    ? content.map((part) => (textTypes.has(part.type) ? { type: 'text', text: part.text } : part))
    : content;

/** The text of the result of a tool. */
export function textOfOutput(output: unknown): string {
  if (typeof output === 'string') return output;
  const parts = Array.isArray(output) ? output : [];
  const texts = parts.flatMap((part) => (isObject(part) && typeof part.text === 'string' ? [part.text] : []));
  return texts.length > 0 ? texts.join('\n') : JSON.stringify(output ?? null);
}

/** `tools` and `tool_choice` of the Responses API as those of chat completions. */
export function toolParameters({ tools, tool_choice }: Json): Json {
  return {
    ...(Array.isArray(tools) ? { tools: tools.map(chatTool) } : {}),
    ...(tool_choice === undefined ? {} : { tool_choice: chatChoice(tool_choice) }),
  };
}

function chatTool(tool: unknown): unknown {
  if (!isObject(tool) || tool.type !== 'function' || 'function' in tool) return tool;
  const { type, ...declared } = tool;
  return { type, function: declared };
}

const chatChoice = (choice: unknown): unknown =>
  isObject(choice) && choice.type === 'function' && typeof choice.name === 'string'
    ? { type: 'function', function: { name: choice.name } }
    : choice;
