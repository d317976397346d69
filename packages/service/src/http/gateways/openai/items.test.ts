import { expect, it } from 'vitest';
import { messagesOf, toolParameters } from './items.ts';

it('items of a response are messages of a chat: calls of tools stand together, their results behind', () => {
  const items = [
    { role: 'user', content: [{ type: 'input_text', text: 'Rome or Oslo?' }] },
    { type: 'reasoning', summary: [] },
    { type: 'function_call', call_id: 'a', name: 'weather', arguments: '{"city":"Rome"}' },
    { type: 'function_call', call_id: 'b', name: 'weather', arguments: '{"city":"Oslo"}' },
    { type: 'function_call_output', call_id: 'a', output: 'sun' },
    { type: 'function_call_output', call_id: 'b', output: [{ type: 'input_text', text: 'snow' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Rome.' }] },
  ];
  const called = (id: string, city: string) => ({
    id,
    type: 'function',
    function: { name: 'weather', arguments: JSON.stringify({ city }) },
  });
  expect(messagesOf(items)).toEqual([
    { role: 'user', content: [{ type: 'text', text: 'Rome or Oslo?' }] },
    { role: 'assistant', content: null, tool_calls: [called('a', 'Rome'), called('b', 'Oslo')] },
    { role: 'tool', tool_call_id: 'a', content: 'sun' },
    { role: 'tool', tool_call_id: 'b', content: 'snow' },
    { role: 'assistant', content: [{ type: 'text', text: 'Rome.' }] },
  ]);
});

it('tools of a response are those of a chat; what the node does not know is passed on', () => {
  const declared = { name: 'weather', description: 'd', parameters: { type: 'object' } };
  expect(
    toolParameters({
      tools: [{ type: 'function', ...declared }, { type: 'web_search' }],
      tool_choice: { type: 'function', name: 'weather' },
    }),
  ).toEqual({
    tools: [{ type: 'function', function: declared }, { type: 'web_search' }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
  });
  expect(toolParameters({ tool_choice: 'auto' })).toEqual({ tool_choice: 'auto' });
  expect(toolParameters({})).toEqual({});
});
