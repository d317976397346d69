import {
  type CallToolResult,
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  Server,
} from '@modelcontextprotocol/server';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { plainAnswer, plainCallOf } from './plain-call.ts';

const serverInfo = { name: 'node', title: 'A node', version: '1.2.3' };
const key = (name: string) => `io.modelcontextprotocol/${name}`;

interface Sent {
  readonly headers: Record<string, string>;
  readonly message: object;
}

/** What the SDK's handler answers, and what its tool was called with. */
async function bySdk({ headers, message }: Sent, result: CallToolResult | InputRequiredResult) {
  const calls: object[] = [];
  const handler = createMcpHandler(() => {
    const server = new Server(serverInfo, { capabilities: { tools: {} } });
    server.setRequestHandler('tools/call', async ({ params }, { mcpReq }) => {
      calls.push({ name: params.name, args: params.arguments ?? {}, envelope: mcpReq.envelope });
      return result;
    });
    return server;
  });
  const all = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...headers };
  const request = new Request('http://127.0.0.1/mcp', { method: 'POST', headers: all });
  const response = await handler.fetch(request, { parsedBody: structuredClone(message) });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text(), calls };
}

/** Compares our answer with that of the SDK; false: the message is left to the SDK. */
async function isAnsweredAlike(sent: Sent, result: CallToolResult | InputRequiredResult): Promise<boolean> {
  const plain = plainCallOf(new Headers(sent.headers), sent.message);
  if (!plain) return false;
  const { id: _, ...call } = plain;
  expect({
    ...{ status: 200, type: 'application/json', text: plainAnswer(plain, result, serverInfo), calls: [call] },
  }).toEqual(await bySdk(sent, result));
  return true;
}

const record = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5, noNullPrototype: true });
/** `JSON.parse` makes an own property of `__proto__`, which the SDK drops: such arguments are left to it. */
const args = record.filter((each) => !Object.hasOwn(each, '__proto__'));
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('\u2028', '\ud800', '"\\'));
const name = fc.constantFrom('invoke_agent', 'get_agent', 'invoke');
const clientInfo = fc.record(
  { name: text, version: text, title: text, websiteUrl: text },
  { requiredKeys: ['name', 'version'] },
);
const capabilities = fc.record(
  {
    roots: fc.constant({}),
    sampling: fc.constant({}),
    elicitation: fc.constant({ form: {} }),
    experimental: fc.constant({ x: {} }),
  },
  { requiredKeys: [] },
);
const envelope = fc
  .record({ clientInfo, capabilities }, { requiredKeys: ['capabilities'] })
  .map(({ clientInfo: info, capabilities: able }) => ({
    [key('protocolVersion')]: '2026-07-28',
    ...(info ? { [key('clientInfo')]: info } : {}),
    [key('clientCapabilities')]: able,
  }));
const result: fc.Arbitrary<CallToolResult> = fc.record(
  {
    content: fc.array(
      text.map((each) => ({ type: 'text' as const, text: each })),
      { minLength: 1, maxLength: 2 },
    ),
    structuredContent: record,
    isError: fc.boolean(),
    _meta: fc.constant({ 'x402/payment-response': { success: true } }),
  },
  { requiredKeys: ['content', 'structuredContent'], noNullPrototype: true },
);
const valid = fc
  .record({ id: fc.oneof(fc.string(), fc.maxSafeInteger()), name, args, envelope })
  .map(({ id, name: tool, args, envelope: _meta }) => ({
    headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': tool },
    message: { jsonrpc: '2.0', id, method: 'tools/call', params: { name: tool, arguments: args, _meta } },
  }));

it('answers a plain valid call with the bytes of the SDK', async () => {
  await fc.assert(
    fc.asyncProperty(valid, result, async (sent, given) => {
      expect(await isAnsweredAlike(sent, given)).toBe(true);
    }),
    { numRuns: 300 },
  );
});

it('asks a client with the bytes of the SDK', async () => {
  const message = 'Which day?';
  const requestedSchema = { type: 'object', properties: { day: { type: 'string', enum: ['Monday'] } } } as const;
  const inputRequests = {
    inp_1: inputRequired.elicit({ message, requestedSchema }),
    'inp_1-open': inputRequired.elicitUrl({ message, url: 'https://bank.example/' }),
  };
  const able = {
    [key('protocolVersion')]: '2026-07-28',
    [key('clientCapabilities')]: { elicitation: { form: {}, url: {} } },
  };
  const sent = changed(asked, ['message', 'params', '_meta'], able) as Sent;
  const question = inputRequired({ inputRequests, requestState: 'state' });
  for (const given of [question, { ...question, _meta: { 'x402/payment-response': { success: true } } }])
    expect(await isAnsweredAlike(sent, given)).toBe(true);
});

it('an argument named __proto__ is left to the SDK', async () => {
  for (const { headers, message } of fc.sample(valid, 3)) {
    const params = { ...message.params, arguments: JSON.parse('{"__proto__":[],"task":"x"}') };
    expect(plainCallOf(new Headers(headers), { ...message, params })).toBeNull();
  }
});

const strange = fc.oneof(
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom<unknown>(
    null,
    '2.0',
    '1.0',
    'tools/call',
    'tools/list',
    1.5,
    2 ** 60,
    '2025-11-25',
    '2031-01-01',
    [],
    {},
  ),
  fc.constantFrom<unknown>({ extensions: {} }, { roots: 5 }, { name: 1 }, { x: { y: 'z' } }),
);
const places = [
  [],
  ['jsonrpc'],
  ['id'],
  ['method'],
  ['result'],
  ['error'],
  ['params'],
  ['params', 'name'],
  ['params', 'arguments'],
  ['params', 'task'],
  ['params', 'inputResponses'],
  ['params', 'requestState'],
  ['params', '_meta'],
  ['params', '_meta', 'progressToken'],
  ['params', '_meta', 'x402/payment'],
  ['params', '_meta', key('protocolVersion')],
  ['params', '_meta', key('clientInfo')],
  ['params', '_meta', key('clientInfo'), 'name'],
  ['params', '_meta', key('clientInfo'), 'icons'],
  ['params', '_meta', key('clientCapabilities')],
  ['params', '_meta', key('clientCapabilities'), 'roots'],
  ['params', '_meta', key('clientCapabilities'), 'extensions'],
  ['params', '_meta', key('logLevel')],
] as const;

/** A copy with something else at a place; `undefined` removes it. */
function changed(value: unknown, [field, ...rest]: readonly string[], to: unknown): unknown {
  if (field === undefined || typeof value !== 'object' || value === null) return to;
  const { [field]: old, ...others } = value as Record<string, unknown>;
  const made = rest.length > 0 ? changed(old, rest, to) : to;
  return made === undefined ? others : { ...others, [field]: made };
}

it('answers a changed call as the SDK does, or leaves it to the SDK', async () => {
  let left = 0;
  const header = fc.constantFrom('mcp-protocol-version', 'mcp-method', 'mcp-name');
  const change = fc.record({ place: fc.constantFrom(...places), to: fc.oneof(strange, fc.constant(undefined)) });
  const given: CallToolResult = { content: [{ type: 'text', text: '{}' }], structuredContent: {} };
  await fc.assert(
    fc.asyncProperty(
      valid,
      fc.option(change),
      fc.option(fc.record({ header, to: fc.constantFrom('', ' tools/call', 'ping', '2025-11-25') })),
      async ({ headers, message }, at, other) => {
        const sent = {
          headers: other ? { ...headers, [other.header]: other.to } : headers,
          message: at ? changed(message, at.place, at.to) : message,
        };
        if (typeof sent.message !== 'object' || sent.message === null || Array.isArray(sent.message)) return;
        if (!(await isAnsweredAlike(sent as Sent, given))) left += 1;
      },
    ),
    { numRuns: 1500 },
  );
  expect(left).toBeGreaterThan(500);
});

const asked: Sent = {
  headers: { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'invoke' },
  message: {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: {
      name: 'invoke',
      arguments: {},
      _meta: { [key('protocolVersion')]: '2026-07-28', [key('clientCapabilities')]: {} },
    },
  },
};

it.each([
  ['asks for progress', ['params', '_meta', 'progressToken'], 1],
  ['carries a payment', ['params', '_meta', 'x402/payment'], {}],
  ['declares an extension', ['params', '_meta', key('clientCapabilities'), 'extensions'], { x: {} }],
  ['has a malformed client', ['params', '_meta', key('clientInfo')], { name: 1 }],
  ['is a batch of parameters', ['params'], []],
  ['lists', ['method'], 'tools/list'],
  ['has no id', ['id'], undefined],
])('leaves a call that %s to the SDK', (_, place, to) => {
  expect(plainCallOf(new Headers(asked.headers), asked.message)).not.toBeNull();
  expect(plainCallOf(new Headers(asked.headers), changed(asked.message, place, to) as object)).toBeNull();
});
