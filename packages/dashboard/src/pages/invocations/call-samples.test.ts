import { expect, it } from 'vitest';
import { bodyAgain, callSamples, shellQuote } from './call-samples.ts';
import type { DetailedRecord } from './invocation.ts';

it.each([
  ['plain', "'plain'"],
  ["it's", "'it'\\''s'"],
  ['$HOME `id` "x" \\', `'$HOME \`id\` "x" \\'`],
  ["'", "''\\'''"],
])('%s stands in quotes that no shell leaves', (text, quoted) => {
  expect(shellQuote(text)).toBe(quoted);
});

const record = {
  ...{ task: 'do', agentId: 'agt_2', requestedAgentId: null, priority: 'normal', metadata: {} },
  detail: { input: {}, context: null, webhookUrl: null },
} as unknown as DetailedRecord;

it('says only what was said', () => {
  expect(bodyAgain(record)).toEqual({ task: 'do' });
  const all = { input: { a: 1 }, context: 'c', webhookUrl: 'https://x.test' };
  const detail = all as unknown as NonNullable<DetailedRecord['detail']>;
  expect(bodyAgain({ ...record, detail, priority: 'high', metadata: { m: 1 } })).toEqual({
    ...{ task: 'do', ...all, priority: 'high', metadata: { m: 1 } },
  });
});

it('asks the agent that was asked for, not the one that took its place', () => {
  for (const { code } of callSamples({ ...record, requestedAgentId: 'agt_1' }, 'http://node.test')) {
    expect(code).toContain('agt_1');
    expect(code).not.toContain('agt_2');
  }
});
