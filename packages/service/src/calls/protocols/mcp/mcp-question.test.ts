import { expect, it } from 'vitest';
import type { Invocation } from '../../invocation.ts';
import type { GivenAnswer } from '../../turns/turn-store.ts';
import { questionOf, responsesTo } from './mcp-question.ts';
import { readError } from './mcp-result.ts';

const call = { invocation: { inputTimeoutS: 60 } as Invocation };
const elicit = (params: object) => ({ method: 'elicitation/create', params });
const form = elicit({ message: 'Which?', requestedSchema: { type: 'object', properties: { a: { type: 'string' } } } });
const link = elicit({ mode: 'url', message: 'Sign.', url: 'https://a.example/' });

it.each<[string, object, string]>([
  ['a model', { inputRequests: { a: { method: 'sampling/createMessage', params: {} } } }, 'agent_needs_input'],
  ['roots beside a form', { inputRequests: { a: form, b: { method: 'roots/list' } } }, 'agent_needs_input'],
  ['acts at two links', { inputRequests: { a: link, b: link } }, 'agent_needs_input'],
  ['nothing', { inputRequests: {} }, 'invalid_response'],
  ['what is no request', { inputRequests: { a: 1 } }, 'invalid_response'],
  ['a link that is none', { inputRequests: { a: elicit({ mode: 'url', message: 'x' }) } }, 'invalid_response'],
  ['no words', { inputRequests: { a: elicit({}) } }, 'invalid_response'],
  ['a state that is no text', { inputRequests: { a: form }, requestState: {} }, 'invalid_response'],
  ['a state of 16 KiB', { inputRequests: { a: form }, requestState: 'x'.repeat(16_384) }, 'invalid_response'],
  [
    '21 forms',
    { inputRequests: Object.fromEntries(Array.from({ length: 21 }, (_, n) => [n, form])) },
    'invalid_response',
  ],
])('a server that asks for %s fails', (_name, result, reason) => {
  expect(questionOf(call, { ...result }, null)).toMatchObject({ kind: 'failed', reason });
});

it('a server whose call is not interactive fails, also by an error', () => {
  const asked = questionOf({ invocation: { inputTimeoutS: null } as Invocation }, { inputRequests: { a: form } }, null);
  expect(asked).toMatchObject({ kind: 'failed', reason: 'agent_needs_input' });
  for (const code of [-32021, -32042])
    expect(readError({ code, message: 'x' })).toMatchObject({ kind: 'failed', reason: 'agent_needs_input' });
});

it.each<[string, object, object, Partial<GivenAnswer>, object]>([
  ['a form', { a: form }, { kind: 'input' }, { input: { a: 'x' } }, { a: { action: 'accept', content: { a: 'x' } } }],
  ['a link', { a: link }, { kind: 'link' }, { input: null }, { a: { action: 'accept' } }],
  [
    'both',
    { a: form, b: link },
    { kind: 'link' },
    { input: { a: { a: 'x' } } },
    { a: { action: 'accept', content: { a: 'x' } }, b: { action: 'accept' } },
  ],
  [
    'a refusal',
    { a: form, b: link },
    { kind: 'link' },
    { action: 'decline', input: null },
    { a: { action: 'decline' }, b: { action: 'decline' } },
  ],
  [
    'a key that objects have',
    { constructor: form, b: form },
    { kind: 'input' },
    { input: {} },
    { constructor: { action: 'accept', content: {} }, b: { action: 'accept', content: {} } },
  ],
])('the answer to %s goes to each request, with the state', (_name, inputRequests, question, given, inputResponses) => {
  const asked = questionOf(call, { inputRequests, requestState: 's' }, null);
  expect(asked).toMatchObject({ kind: 'asks', question });
  const { state } = asked as { state: unknown };
  const answer = {
    agentInputId: null,
    action: 'accept',
    input: {},
    note: null,
    handle: null,
    state,
    ...given,
  } as GivenAnswer;
  expect(responsesTo(answer)).toEqual({ inputResponses, requestState: 's' });
});
