import { describe, expect, it } from 'vitest';
import type { Invocation } from '../../invocation.ts';
import type { AgentCall } from '../adapter.ts';
import { answerMessage, isUnsent, messageIdOf, questionOf } from './a2a-question.ts';
import { type A2aTask, readTask } from './a2a-wire.ts';

const invocation = { id: 'req_1', turn: 2, inputTimeoutS: 60 } as Invocation;
const taskOf = (parts: object[], state = 'input-required', more: object = {}): A2aTask => {
  const status = { state, message: { messageId: 'q1', parts }, timestamp: '2026-11-30T10:00:00Z' };
  return readTask({ id: 't', contextId: 'c', status, ...more }) as A2aTask;
};

describe('a question of A2A', () => {
  const schema = { type: 'object', properties: { a: { type: 'string' } } };
  it.each<[string, object[], string, object]>([
    [
      'words',
      [{ text: 'Which?' }, { kind: 'text', text: 'Now.' }],
      'input-required',
      { message: 'Which?\nNow.', kind: 'input' },
    ],
    ['no words', [], 'input-required', { message: 'The agent asks for more input.', schema: null }],
    ['a schema', [{ text: 'x' }, { data: { schema } }], 'input-required', { schema }],
    ['a form', [{ text: 'x' }, { kind: 'data', data: { type: 'form', form: schema } }], 'input-required', { schema }],
    ['a schema as such', [{ text: 'x' }, { data: schema }], 'input-required', { schema }],
    ['other data', [{ text: 'x' }, { data: { a: 1 } }], 'input-required', { schema: null }],
    [
      'a link in words',
      [{ text: 'Go to https://a.example/x?y=1.' }],
      'auth-required',
      { kind: 'link', url: 'https://a.example/x?y=1.' },
    ],
    [
      'a link of 0.3',
      [{ kind: 'file', file: { uri: 'https://a.example/' } }],
      'auth-required',
      { kind: 'link', url: 'https://a.example/' },
    ],
    [
      'a link in words of a mere question',
      [{ text: 'Is https://a.example/ right?' }],
      'input-required',
      { kind: 'input', url: null },
    ],
  ])('has %s', (_name, parts, state, question) => {
    const asked = { kind: 'asks', handle: 't', state: { contextId: 'c' }, question };
    expect(questionOf({ invocation }, taskOf(parts, state))).toMatchObject(asked);
  });

  it.each<[string, object[], string, string]>([
    ['a sign-in without a link', [{ text: 'Sign in.' }], 'auth-required', 'agent_needs_input'],
    ['a link that is not https', [{ text: 'Go to http://a.example/' }], 'auth-required', 'invalid_response'],
  ])('fails as %s', (_name, parts, state, reason) => {
    expect(questionOf({ invocation }, taskOf(parts, state))).toMatchObject({ kind: 'failed', reason });
  });
});

const callOf = (task: A2aTask, given: object): AgentCall => {
  const asked = questionOf({ invocation }, task);
  const agentInputId = asked.kind === 'asks' ? asked.question.agentInputId : null;
  const answer = {
    agentInputId,
    action: 'accept',
    input: {},
    note: null,
    state: { contextId: 'c' },
    handle: 't',
    ...given,
  };
  return { invocation, answers: [answer] } as unknown as AgentCall;
};

describe('an answer in A2A', () => {
  it.each<[string, object, string, object | null]>([
    ['a text', { input: { day: 'Monday' } }, 'Monday', { day: 'Monday' }],
    ['several values', { input: { a: 1, b: 'x' } }, '{"a":1,"b":"x"}', { a: 1, b: 'x' }],
    ['a note', { input: { a: 1 }, note: 'At noon.' }, 'At noon.', { a: 1 }],
    ['nothing', { input: null }, 'Accepted.', null],
    ['a refusal', { action: 'decline', input: null }, 'Declined.', { action: 'decline' }],
  ])('says %s', (_name, given, text, data) => {
    expect(answerMessage(callOf(taskOf([]), given))).toMatchObject({ text, data, task: { id: 't', contextId: 'c' } });
  });

  it('is a message of its own in each turn, with the id that every process gives it', () => {
    const id = answerMessage(callOf(taskOf([]), {})).id;
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(id).toBe(messageIdOf({ id: 'req_1', turn: 2 }));
    expect(id).not.toBe(messageIdOf({ id: 'req_1', turn: 3 }));
  });

  const asked = [{ text: 'Which?' }];
  const listed = (...ids: string[]) => ({ history: ids.map((messageId) => ({ messageId })) });
  const ours = messageIdOf(invocation);
  it.each<[string, A2aTask, boolean]>([
    ['the task lists its messages, and this is none of them', taskOf(asked, 'input-required', listed('req_1')), true],
    ['it is listed', taskOf(asked, 'input-required', listed('req_1', ours)), false],
    ['the task lists nothing', taskOf(asked), false],
    ['the task lists only others', taskOf(asked, 'input-required', listed('q1')), false],
    ['the task goes on', taskOf(asked, 'working', listed('req_1', ours)), false],
    ['the task asks something else', taskOf([{ text: 'And then?' }], 'input-required', listed('req_1')), false],
  ])('is sent again only if it certainly did not arrive: %s', (_name, task, isExpected) => {
    expect(isUnsent(callOf(taskOf(asked), {}), task)).toBe(isExpected);
  });
});
