import { describe, expect, it } from 'vitest';
import type { Said } from '../../stream/record-chunks.ts';
import { type Completion, offeredIn, toResult } from './openai-result.ts';
import { followCompletion } from './openai-stream.ts';

const answered: Completion = {
  text: '',
  refusal: '',
  toolCalls: [],
  finishReason: 'stop',
  usage: { total_tokens: 3 },
  model: 'm',
};
const call = { id: 'call_a', type: 'function', function: { name: 'weather', arguments: '{"city":"Rome"}' } };
const isOffered = offeredIn({ tools: [{ type: 'function', function: { name: 'weather' } }] });

describe('what a model answers', () => {
  it.each<[string, Partial<Completion>, object]>([
    ['a text', { text: 'Hi' }, { text: 'Hi', finishReason: 'stop' }],
    ['a text that was cut off', { text: 'Hi', finishReason: 'length' }, { text: 'Hi', finishReason: 'length' }],
    ['a filtered text', { text: 'Hi', finishReason: 'content_filter' }, { text: 'Hi', finishReason: 'content_filter' }],
    [
      'a text of a server that says no reason',
      { text: 'Hi', finishReason: undefined },
      { text: 'Hi', finishReason: null },
    ],
    ['a refusal', { refusal: 'I cannot.' }, { text: 'I cannot.', refusal: 'I cannot.' }],
    ['calls of tools', { toolCalls: [call], finishReason: 'tool_calls' }, { text: '', toolCalls: [call] }],
    [
      'a text and calls of tools',
      { text: 'Let me see.', toolCalls: [call] },
      { text: 'Let me see.', toolCalls: [call] },
    ],
    [
      'a text with a call that has another form, or that nobody offered, which a prompt can ask for',
      {
        text: 'All of it.',
        finishReason: 'tool_calls',
        toolCalls: [{ id: 'x' }, { ...call, function: { name: 'shell', arguments: '{}' } }],
      },
      { text: 'All of it.', finishReason: 'stop' },
    ],
    [
      'calls of tools without ids, with objects for arguments',
      { toolCalls: [{ function: { name: 'weather', arguments: { city: 'Rome' } } }] },
      { toolCalls: [{ ...call, id: 'call_0' }] },
    ],
  ])('%s is its result', (_what, given, result) => {
    const outcome = toResult({ ...answered, ...given }, isOffered);
    expect(outcome).toMatchObject({ kind: 'completed', result });
  });

  it.each<[string, Partial<Completion>, reason: string, message: RegExp]>([
    ['nothing', {}, 'invalid_response', /answered nothing/],
    ['white space', { text: ' \n\t' }, 'invalid_response', /answered nothing/],
    ['nothing but thoughts, which used its tokens up', { finishReason: 'length' }, 'invalid_response', /tokens/],
    ['nothing that its filter let through', { finishReason: 'content_filter' }, 'invalid_response', /filter/],
    ['a text that an error ended', { text: 'Hel', finishReason: 'error' }, 'agent_error', /error/],
    [
      'a call of a tool that was not offered',
      { toolCalls: [{ ...call, function: { name: 'shell', arguments: '{}' } }] },
      'invalid_response',
      /did not offer/,
    ],
    ['a call of no tool', { toolCalls: [{ id: 'x' }] }, 'invalid_response', /not understood/],
  ])('%s is a failure, which is refunded', (_what, given, reason, message) => {
    const outcome = toResult({ ...answered, ...given }, isOffered);
    expect(outcome).toMatchObject({ kind: 'failed', reason, message: expect.stringMatching(message) });
  });
});

/** The outcome of a stream of these deltas. */
async function streamed(deltas: readonly object[], finish_reason = 'stop') {
  const stored: string[] = [];
  async function* bytes() {
    for (const delta of deltas) yield Buffer.from(`data: ${JSON.stringify({ choices: [{ delta }] })}\n\n`);
    yield Buffer.from(`data: ${JSON.stringify({ choices: [{ delta: {}, finish_reason }] })}\n\ndata: [DONE]\n\n`);
  }
  const add = async (said: readonly Said[]) => {
    stored.push(...said.map(({ data }) => (data as { chunk: string }).chunk));
    return true;
  };
  return { outcome: await followCompletion(bytes(), { add, isTooMuch: () => false }, isOffered), stored };
}

describe('what a model streams', () => {
  it('as pieces of calls of tools is put together', async () => {
    const { outcome } = await streamed(
      [
        { tool_calls: [{ index: 0, id: 'call_a', type: 'function', function: { name: 'weather', arguments: '' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] },
        { tool_calls: [{ index: 1, id: 'call_b', function: { name: 'weather', arguments: '{}' } }] },
        { tool_calls: [{ index: 0, function: { arguments: '"Rome"}' } }] },
      ],
      'tool_calls',
    );
    const second = { ...call, id: 'call_b', function: { name: 'weather', arguments: '{}' } };
    expect(outcome).toMatchObject({ kind: 'completed', result: { text: '', toolCalls: [call, second] } });
  });

  it('as a refusal is shown as it comes, and is the text', async () => {
    const { outcome, stored } = await streamed([{ refusal: 'I ' }, { refusal: 'cannot.' }]);
    expect(stored.join('')).toBe('I cannot.');
    expect(outcome).toMatchObject({ kind: 'completed', result: { text: 'I cannot.', refusal: 'I cannot.' } });
  });

  it.each([
    ['nothing', [], 'stop', 'invalid_response'],
    ['thoughts only', [{ reasoning_content: 'hm' }], 'length', 'invalid_response'],
    ['a text that an error ends', [{ content: 'Hel' }], 'error', 'agent_error'],
  ] as const)('as %s is a failure', async (_what, deltas, finish, reason) => {
    expect((await streamed(deltas, finish)).outcome).toMatchObject({ kind: 'failed', reason });
  });
});
