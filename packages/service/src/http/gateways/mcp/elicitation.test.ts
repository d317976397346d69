import type { InputRequest } from '@agent-network/contracts/invocations/turns';
import { expect, it } from 'vitest';
import type { HttpContext } from '../../request/http-context.ts';
import { answerOfResponse, elicitationsOf } from './elicitation.ts';

const asked: InputRequest = {
  ...{ inputId: 'inp_1', turn: 1, kind: 'input', message: 'Which?' },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-01T01:00:00.000Z' },
};
const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: {} } };
const call = { mcpReq: { id: 1, envelope: capabilities, signal: new AbortController().signal } };
/** The form of a question with these fields; the agent is not found, and so named by its id. */
const formOf = async (properties: object, more: object = {}) => {
  const question = { ...asked, schema: { type: 'object', properties, ...more } };
  const elicitations = await elicitationsOf({} as HttpContext, call, { agentId: 'agt_1', question });
  const { params } = elicitations?.inp_1 ?? expect.fail('it is not asked');
  return (params as { requestedSchema: { properties: object } }).requestedSchema;
};

it.each([
  ['text', { type: 'string', minLength: 1, maxLength: 9, title: 'T', description: 'D', default: 'x' }],
  ['mail address', { type: 'string', format: 'email' }],
  ['whole number', { type: 'integer', minimum: 1, maximum: 9 }],
  ['number', { type: 'number' }],
  ['yes or no', { type: 'boolean', default: true }],
  ['choice', { type: 'string', enum: ['a', 'b'] }],
  ['choice with titles', { type: 'string', oneOf: [{ const: 'a', title: 'A' }] }],
  ['choice of several', { type: 'array', items: { type: 'string', enum: ['a'] }, minItems: 1, maxItems: 2 }],
  ['choice of several with titles', { type: 'array', items: { anyOf: [{ const: 'a', title: 'A' }] } }],
])('a form has a field for a %s as it is', async (_, field) => {
  expect(await formOf({ x: field }, { required: ['x'] })).toEqual({
    ...{ type: 'object', properties: { x: field }, required: ['x'] },
  });
});

it('leaves out what only narrows a field, which the node checks', async () => {
  const { properties } = await formOf(
    { x: { type: 'string', pattern: '^a', format: 'ipv4' }, y: { enum: ['a'] } },
    { additionalProperties: false },
  );
  expect(properties).toEqual({ x: { type: 'string' }, y: { type: 'string', enum: ['a'] } });
});

it.each([
  ['an object', { type: 'object' }],
  ['a list of anything', { type: 'array' }],
  ['a list of numbers', { type: 'array', items: { type: 'number' } }],
  ['a number of several', { type: 'integer', enum: [1, 2] }],
  ['a reference', { $ref: '#/$defs/x' }],
  ['one of several types', { type: ['string', 'null'] }],
  ['anything', {}],
  ['anything at all', true],
])('a form has one text for %s', async (_, field) => {
  expect(Object.keys((await formOf({ x: field })).properties)).toEqual(['answer']);
});

it('a schema with more than fields is answered by one text', async () => {
  expect(Object.keys((await formOf({ x: { type: 'string' } }, { minProperties: 1 })).properties)).toEqual(['answer']);
});

it.each([
  ['nothing', undefined, null],
  ['a cancellation', { action: 'cancel' }, null],
  ['another action', { action: 'maybe' }, null],
  ['a refusal', { action: 'decline', content: { answer: 'x' } }, { action: 'decline' }],
  ['a text', { action: 'accept', content: { answer: 'x' } }, { action: 'accept', message: 'x' }],
])('%s is read as an answer to a question without a schema', (_, response, answer) => {
  expect(answerOfResponse(asked, response)).toEqual(answer);
});
