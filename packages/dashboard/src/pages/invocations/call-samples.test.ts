import { expect, it } from 'vitest';
import { againText, bodyAgain, callSamples, maxCostAgain, samplesOf, shellQuote } from './call-samples.ts';
import type { DetailedRecord } from './invocation.ts';

const body = { task: `it's "that" $HOME` };
const codeOf = (mode: 'sync' | 'async' | 'stream', byWallet?: { maxPerCall: string }) => {
  const call = { agentId: 'agt_1', body, mode, ...(byWallet ? { byWallet } : {}) };
  return Object.fromEntries(samplesOf(call, 'http://node').map(({ label, code }) => [label, code]));
};

it('quotes what was typed, so that no shell takes it for its own', () => {
  expect(codeOf('async').curl).toContain(`--data-raw '{"task":"it'\\''s \\"that\\" $HOME"}'`);
});

it.each([
  ['stream', "-H 'Accept: text/event-stream'", 'client.invokeStreaming("agt_1", '],
  ['sync', "-H 'X-Sync: true'", 'invokeAndWait(client, "agt_1", '],
  ['async', '/invoke/agt_1', 'client.invokeAgent({ params: { agentId: "agt_1" }'],
] as const)('makes the call in the mode that was chosen: %s', (mode, curl, sdk) => {
  const code = codeOf(mode);
  expect(code.curl).toContain(curl);
  expect(code.SDK).toContain(sdk);
  expect(code.SDK).not.toContain('createPayer');
});

it.each(['stream', 'sync', 'async'] as const)('pays by wallet, up to a cap: %s', (mode) => {
  const code = codeOf(mode, { maxPerCall: '0.05' });
  expect(code.curl).toContain("-H 'X-Payment-Method: x402'");
  expect(code.SDK).toContain("maxPerCall: '0.05'");
  expect(code.SDK).toContain("headers: { 'x-payment-method': 'x402' }");
});

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

it('allows the agreed price once more, also after a call that failed or cost less', () => {
  const detail = { price: '0.05' } as NonNullable<DetailedRecord['detail']>;
  for (const cost of ['0.00', '0.02', '0.05', null]) expect(maxCostAgain({ ...record, detail, cost })).toBe('0.05');
  expect(maxCostAgain({ ...record, detail: undefined, cost: '0.02' })).toBe('0.02');
});

it('says before a call is paid again that its input was removed', () => {
  const record = { task: 'say hello' } as DetailedRecord;
  expect(againText(record)).toContain('With the same input');
  const removed = againText({ ...record, contentRemovedAt: '2026-11-21T10:00:00.000Z' });
  expect(removed).toContain('only the task is sent');
  expect(removed).not.toContain('same input');
});
