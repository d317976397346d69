import { describe, expect, it } from 'vitest';
import { askedBy, kindOf, MAX_BYTES } from './request-kind.ts';

it.each([
  ['GET', '/agents/agt_1', 'free'],
  ['GET', '/invoke/req_1', 'free'],
  ['HEAD', '/readyz', 'free'],
  ['POST', '/invoke/req_1/cancel', 'free'],
  ['POST', '/agents/search', 'free'],
  ['POST', '/agents/searched', 'write'],
  ['POST', '/invoke/agt_1', 'invocation'],
  ['POST', '/invoke/agt_1?quote=quo_1', 'invocation'],
  ['POST', '/invoke/agt_1#/cancel', 'invocation'],
  ['POST', '/invoke/auto', 'invocation'],
  ['POST', '/x402/agt_1', 'invocation'],
  ['POST', '/mcp', 'invocation'],
  ['POST', '/agents/agt_1/mcp', 'invocation'],
  ['POST', '/v1/chat/completions', 'invocation'],
  ['POST', '/a2a/agt_1', 'invocation'],
  ['POST', '/agents', 'write'],
  ['POST', '/invoked', 'write'],
  ['DELETE', '/webhooks/whk_1', 'write'],
])('%s %s: %s', (method, url, kind) => expect(kindOf(method, url)).toBe(kind));

describe('the priority and deadline of an invocation', () => {
  const asked = (body: unknown) => askedBy(Buffer.from(JSON.stringify(body)));
  it.each([
    ['nothing', { task: 'x' }, { priority: 'normal', deadlineMs: null }],
    ['a priority', { task: 'x', priority: 'low' }, { priority: 'low', deadlineMs: null }],
    ['a deadline', { deadline: '2026-01-01T00:00:00Z' }, { priority: 'normal', deadlineMs: Date.UTC(2026, 0, 1) }],
    ['by MCP', { params: { arguments: { priority: 'high' } } }, { priority: 'high', deadlineMs: null }],
    [
      'input of its own',
      { input: { priority: 'low', deadline: '2020-01-01T00:00:00Z' } },
      { priority: 'normal', deadlineMs: null },
    ],
    ['no priority that there is', { priority: 'urgent', deadline: 'soon' }, { priority: 'normal', deadlineMs: null }],
  ])('%s', (_, body, expected) => expect(asked(body)).toEqual(expected));
  it.each([
    ['not JSON', Buffer.from('{"priority":')],
    ['null', Buffer.from('null "priority"')],
    ['long', Buffer.from(JSON.stringify({ priority: 'low', task: 'x'.repeat(MAX_BYTES) }))],
    ['not there', null],
  ])('a body that is %s asks for nothing', (_, body) =>
    expect(askedBy(body)).toEqual({ priority: 'normal', deadlineMs: null }),
  );
});
