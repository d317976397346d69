import { InvocationRequest } from '@agent-network/contracts/invocations/invocations';
import { describe, expect, it } from 'vitest';
import { readConversation } from './requests.ts';

const asked = { role: 'user', content: 'Go on.' };

describe('the context of a conversation is one that an invocation takes', () => {
  it.each([
    ['that is cut within a character', { role: 'assistant', content: `${'💥'.repeat(60_000)}a` }],
    ['with the colours of a terminal', { role: 'tool', content: '\u001b[31mred\u001b[0m' }],
    ['with NUL, a change of direction and half of a character', { role: 'tool', content: 'a\u0000b\u202ec\ud800d' }],
  ])('%s', (_, message) => {
    const { task, context } = readConversation([message, asked]);
    expect(InvocationRequest.safeParse({ task, context }).error).toBeUndefined();
    expect(task).toBe('Go on.');
  });
});

it('line breaks and characters beyond the first plane stay as they are', () => {
  const { context } = readConversation([
    { role: 'system', content: 'short' },
    { role: 'tool', content: 'a\n\tb 💥' },
    asked,
  ]);
  expect(context).toBe('system: short\ntool: a\n\tb 💥');
});

it('the task is the words of the caller, unchanged', () => {
  expect(readConversation([{ role: 'user', content: 'a\u0000' }]).task).toBe('a\u0000');
});
